//! Periods, paths and the applications that they do not fit.

use super::check;

#[test]
fn periods() {
    let on = |on: &str| format!("CHAIN\nflow = [{{ from = \"n0\", to = \"n2\", start_jitter = 0, {on} }}]\n");
    for (keys, key, found, allowed) in [
        ("on = [[0, 1]], start = 0", "flow[0].on", "on together with start", "either on, or start and stop"),
        ("on = [[0, 1]], stop = 9", "flow[0].on", "on together with stop", "either on, or start and stop"),
        ("on = [[5, 5]]", "flow[0].on", "[5, 5]", "from before to"),
        ("on = [[0, 5], [4, 6]]", "flow[0].on", "[4, 6]", "from not before 5 s"),
        ("on = [[9, 10], [0, 1]]", "flow[0].on", "[0, 1]", "one after the other"),
        ("on = [[0]]", "flow[0].on", "a list of 1", "a list of 2"),
        ("on = []", "flow[0].on", "a list of 0", "a list of 1 to 10000"),
        ("on = [[200, 300]]", "flow[0].on", "a list of 1", "before measure.duration = 200 s"),
        (
            "on = [[0, 1]], app = \"http\"",
            "flow[0].on",
            "the key with app = \"http\"",
            "ftp, cbr, echo, self-similar",
        ),
        (
            "app = \"ftp\", connection_per_file = true",
            "flow[0].connection_per_file",
            "the key with app = \"ftp\"",
            "only with app = http",
        ),
    ] {
        check(&[(2, key, found, allowed, &on(keys))]);
    }
    // Every period must outlast the jitter that shifts its beginning.
    let jitter = "CHAIN\nflow = [{ from = \"n0\", to = \"n2\", on = [[0, 9], [10, 10.5]] }]\n";
    check(&[(2, "flow[0].on", "a list of 2", "after start + start_jitter = 11 s", jitter)]);
}

#[test]
fn paths() {
    let wired = "topology = { kind = \"chain\", hops = 2, wired = true }\n";
    for (from, to, path, found, allowed) in [
        (
            "n0",
            "n2",
            "[\"n0\", \"n2\"]",
            "\"n2\" after \"n0\", which do not hear each other",
            "radio.tx_range",
        ),
        ("n0", "n2", "[\"n0\", \"n1\"]", "a path that ends at \"n1\"", "ends at \"n2\""),
        ("n0", "n2", "[\"n1\", \"n2\"]", "a path that begins at \"n1\"", "begins at \"n0\""),
        ("n0", "n2", "[\"n0\", \"n1\", \"n0\", \"n1\", \"n2\"]", "\"n0\" twice", "each node once"),
        ("n0", "n2", "[\"n0\", \"q\"]", "the unknown node \"q\"", "n0, n1, n2"),
        ("n0", "n2", "[\"n0\"]", "a list of 1", "a list of 2"),
        ("n0", "B", "[\"n0\", \"n1\"]", "a path that ends at \"n1\"", "at a gateway"),
        ("n0", "B", "[\"n0\", \"n1\", \"n2\", \"RT1\", \"B\"]", "the wired node \"RT1\"", "a mesh node"),
        ("RT1", "B", "[\"RT1\", \"n2\", \"B\"]", "a path between wired nodes", "an end in the mesh"),
        ("RT1", "B", "[\"RT1\", \"B\"]", "a path without a mesh node", "that the data pass"),
    ] {
        let flow = format!("flow = [{{ from = \"{from}\", to = \"{to}\", path = {path} }}]\n");
        check(&[(
            2,
            "flow[0].path",
            found,
            allowed,
            &format!("{wired}{flow}routing.protocol = \"static\"\n"),
        )]);
    }
    let aodv = "CHAIN\nflow = [{ from = \"n0\", to = \"n2\", path = [\"n0\", \"n1\", \"n2\"] }]\n";
    check(&[(2, "flow[0].path", "a list of 3", "only with routing.protocol = static", aodv)]);
}

#[test]
fn ways_back() {
    let flow = "routing = { protocol = \"static\" }\nCHAIN\n[[flow]]\nfrom = \"n0\"\nto = \"n2\"\n";
    let text = |keys: &str| format!("{flow}{keys}");
    let alone = text("path_back = [\"n2\", \"n1\", \"n0\"]\n");
    let short = text("path = [\"n0\", \"n1\", \"n2\"]\npath_back = [\"n2\", \"n1\"]\n");
    check(&[
        (6, "flow[0].path_back", "the key without path", "the way of the data, beside it", &alone),
        (7, "flow[0].path_back", "a path that ends at \"n1\"", "a path that ends at \"n0\"", &short),
    ]);
}
