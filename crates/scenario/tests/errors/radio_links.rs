//! Places, radio links, time-outs.

use super::check;

const TWO: &str = "node = [{ id = \"n0\" }, { id = \"n2\" }]\nflow = [{ from = \"n0\", to = \"n2\" }]\n";

#[test]
fn places() {
    for (keys, key, found, allowed) in [
        ("x = 0", "node[0].y", "nothing", "a length"),
        ("lat = 1", "node[0].lon", "nothing", "an angle"),
        ("lat = 86, lon = 1", "node[0].lat", "86", "an angle from -85 degrees to 85 degrees"),
        ("lat = 1, lon = 1, x = 3", "node[0].lat", "lat together with x", "x and y, or lat and lon"),
        ("height = 3", "node[0].height", "a height without a place", "x and y, or lat and lon"),
        ("", "node[0].x", "nothing", "a [[radio_link]] for every pair"),
        (
            "role = \"wired\", lat = 1",
            "node[0].lat",
            "the key with role = \"wired\"",
            "only with role = mesh, gateway",
        ),
    ] {
        check(&[(2, key, found, allowed, &format!("FLOW\nnode = [{{ id = \"n0\", {keys} }}]\n"))]);
    }
    let mixed = "node = [{ id = \"n0\", x = 0, y = 0 }, { id = \"n2\", lat = 0, lon = 0 }]\nFLOW\n";
    let generated = "node = [{ id = \"m\", lat = 0, lon = 0 }]\nFLOW\nCHAIN\n";
    let far = "node = [{ id = \"n0\", lat = 0, lon = 0 }, { id = \"n2\", lat = 1, lon = 0 }]\nFLOW\n";
    check(&[
        (1, "node[1].lat", "beside nodes placed in metres", "at every node", mixed),
        (1, "node[0].lat", "beside nodes placed in metres", "no generator", generated),
        (1, "node[1].lat", "a node 111 km from the first", "at most 100 km", far),
    ]);
}

#[test]
fn radio_links() {
    let link = |keys: &str| format!("{TWO}radio_link = [{{ from = \"n0\", to = \"n2\", {keys} }}]\n");
    for (keys, key, found, allowed) in [
        ("loss = 1.1", "radio_link[0].loss", "1.1", "a number from 0 to 1"),
        ("burst = 2", "radio_link[0].burst", "bursts of no loss", "only with loss above 0"),
        (
            "loss = 0.1, loss_length = 0",
            "radio_link[0].loss_length",
            "0",
            "a whole number of bytes from 1 to 2560",
        ),
        ("loss_length = 1536", "radio_link[0].loss_length", "a length of no loss", "only with loss above 0"),
        (
            "loss = 0.1, burst = 2, loss_length = 9",
            "radio_link[0].loss_length",
            "loss by length in bursts",
            "without burst",
        ),
        ("loss = 0.1, burst = 0.5", "radio_link[0].burst", "0.5", "a number from 1"),
        (
            "decoded = false, loss = 0.1",
            "radio_link[0].loss",
            "the key of a link that is not decoded",
            "only with decoded = true",
        ),
        (
            "decoded = false, rate = \"2Mbps\"",
            "radio_link[0].rate",
            "the key of a link that is not decoded",
            "only with decoded = true",
        ),
        ("rate = \"7Mbps\"", "radio_link[0].rate", "\"7Mbps\"", "5.5Mbps, 11Mbps for 802.11b"),
    ] {
        check(&[(3, key, found, allowed, &link(keys))]);
    }
    let placed = "node = [{ id = \"n0\", x = 0, y = 0 }, { id = \"n2\", x = 1, y = 0 }]\nFLOW\n\
                  radio_link = [{ from = \"n0\", to = \"n2\", decoded = false }]\n";
    check(&[(
        3,
        "radio_link[0].decoded",
        "only sensed beside nodes with places",
        "no node has a place",
        placed,
    )]);
    let itself = format!("{TWO}radio_link = [{{ from = \"n0\", to = \"n0\" }}]\n");
    let twice = format!(
        "{TWO}radio_link = [{{ from = \"n0\", to = \"n2\" }}, {{ from = \"n2\", to = \"n0\", symmetric = false }}]\n"
    );
    let wired =
        "CHAIN\nflow = [{ from = \"n0\", to = \"B\" }]\nradio_link = [{ from = \"n0\", to = \"B\" }]\n";
    let rates = format!(
        "{}radio = {{ link_rates = [{{ from = \"n2\", to = \"n0\", rate = \"2Mbps\" }}] }}\n",
        link("rate = \"1Mbps\"")
    );
    let one_way = format!("{TWO}radio_link = [{{ from = \"n0\", to = \"n2\", symmetric = false }}]\n");
    let ranges = format!("{}radio = {{ tx_range = 300 }}\n", link(""));
    let moving = format!("{}mobility = {{ model = \"random-waypoint\" }}\n", link(""));
    let centre = "node = [{ id = \"n0\" }, { id = \"n2\" }]\nflow = [{ from = \"n0\", to = \"B\" }]\n\
         radio_link = [{ from = \"n0\", to = \"n2\" }]\ntopology = { kind = \"explicit\", gateway = \"centre\" }\n";
    check(&[
        (3, "radio_link[0].to", "from a node to itself", "two different nodes", &itself),
        (3, "radio_link[1].to", "a second radio link from \"n2\" to \"n0\"", "symmetric = true", &twice),
        (3, "radio_link[0].to", "the wired node \"B\"", "a mesh node", wired),
        (3, "radio_link[0].from", "a second rate", "one rate each", &rates),
        (2, "flow[0].to", "which \"n0\" cannot reach", "radio links both ways", &one_way),
        (4, "radio.tx_range", "no node has a place", "only with x and y", &ranges),
        (4, "mobility.model", "none has a place", "\"static\"", &moving),
        (4, "topology.gateway", "\"centre\" of nodes that have no places", "\"random\"", centre),
    ]);
}

#[test]
fn hops_longer_than_the_time_outs_allow() {
    let chain = "topology = { kind = \"chain\", hops = 2, spacing = 601 }\nFLOW\n";
    let radio = "radio = { tx_range = 700, cs_range = 700 }\n";
    let short = "topology = { kind = \"chain\", hops = 2, spacing = 601 }\nFLOW\n\
                 radio = { tx_range = 700, cs_range = 700, ack_timeout = \"4005ns\" }\n";
    let listed = "CHAIN\nFLOW\nnode = [{ id = \"far\", x = 9000, y = 0 }]\nradio_link = [{ from = \"n2\", to = \"far\" }]\n";
    let moving = "CHAIN\nFLOW\nmobility = { model = \"random-waypoint\" }\nradio = { tx_range = 700, cs_range = 700 }\n";
    let path = "topology = { kind = \"chain\", hops = 1, spacing = 601 }\n\
                flow = [{ from = \"n0\", to = \"n1\", path = [\"n0\", \"n1\"] }]\nrouting.protocol = \"static\"\n\
                radio = { tx_range = 700, cs_range = 700 }\n";
    check(&[
        (
            3,
            "radio.ack_timeout",
            "which means \"4us\"",
            "at least 4.1us: n0 and n1 hear each other 601 m",
            &format!("{chain}{radio}"),
        ),
        (3, "radio.ack_timeout", "\"4005ns\"", "topology.connected = false", short),
        (
            1,
            "radio.ack_timeout",
            "which means",
            "at least 57.4us: n2 and far hear each other 8600 m apart",
            listed,
        ),
        (4, "radio.ack_timeout", "which means", "moving nodes hear each other up to 700 m apart", moving),
        (4, "radio.ack_timeout", "which means", "n0 and n1", path),
    ]);
}
