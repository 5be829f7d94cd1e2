//! Names, links, roles and flows that contradict each other.

use super::check;

#[test]
fn names_that_do_not_resolve() {
    check(&[
        (
            2,
            "flow[0].to",
            "the unknown node \"n3\"",
            "n0, n1, n2",
            "CHAIN\nflow = [{ from = \"n0\", to = \"n3\" }]\n",
        ),
        (
            2,
            "flow[0].from",
            "the unknown node \"B2\"",
            "n0, n1, n2",
            "CHAIN\nflow = [{ from = \"B2\", to = \"n0\" }]\n",
        ),
        (1, "flow[0].from", "the unknown node", "the file has none", "FLOW\n"),
        (
            2,
            "flow[0].to",
            "a flow from \"n0\" to itself",
            "another node",
            "CHAIN\nflow = [{ from = \"n0\", to = \"n0\" }]\n",
        ),
        (
            2,
            "flow[1].id",
            "a second flow \"1\"",
            "no other flow",
            "CHAIN\nflow = [{ from = \"n0\", to = \"n1\" }, { id = \"1\", from = \"n0\", to = \"n1\" }]\n",
        ),
        (
            3,
            "node[0].id",
            "a second node \"n1\"",
            "no other node",
            "CHAIN\nFLOW\nnode = [{ id = \"n1\", x = 0, y = 9 }]\n",
        ),
        (
            3,
            "node[0].address",
            "10.77.0.2, which n0 has",
            "of its own",
            "CHAIN\nFLOW\nnode = [{ id = \"z\", x = 0, y = 9, address = \"10.77.0.2\" }]\n",
        ),
        (
            3,
            "node[0].address",
            "\"10.77.0\"",
            "an IPv4 address",
            "CHAIN\nFLOW\nnode = [{ id = \"z\", x = 0, y = 9, address = \"10.77.0\" }]\n",
        ),
        (3, "node[0].y", "nothing", "a length", "CHAIN\nFLOW\nnode = [{ id = \"z\", x = 0 }]\n"),
        (
            3,
            "radio.link_rates[0].to",
            "unknown node",
            "n0, n1, n2",
            "CHAIN\nFLOW\nradio.link_rates = [{ from = \"n0\", to = \"q\", rate = \"1Mbps\" }]\n",
        ),
        (
            3,
            "radio.link_rates[1].from",
            "a second rate",
            "one rate each",
            "CHAIN\nFLOW\nradio.link_rates = [{ from = \"n0\", rate = 1e6 }, { from = \"n0\", rate = 2e6 }]\n",
        ),
        (
            1,
            "topology.gateway",
            "unknown node \"q\"",
            "n0, n1, n2",
            "topology = { kind = \"chain\", hops = 2, gateway = \"q\" }\nFLOW\n",
        ),
        (
            3,
            "mobility.nodes",
            "the unknown node \"q\"",
            "n0",
            "CHAIN\nFLOW\nmobility = { model = \"random-waypoint\", nodes = [\"q\"], area = [9, 9] }\n",
        ),
        (
            3,
            "mobility.model",
            "outside the area of 9 m x 9 m",
            "start in mobility.area",
            "CHAIN\nFLOW\nmobility = { model = \"random-waypoint\", area = [9, 9] }\n",
        ),
    ]);
}

#[test]
fn links_and_roles_that_contradict() {
    check(&[
        (
            3,
            "link[0].b",
            "a wired link between the mesh nodes n0 and n2",
            "wired nodes and gateways",
            "CHAIN\nFLOW\nlink = [{ a = \"n0\", b = \"n2\" }]\n",
        ),
        (3, "link[0].b", "the unknown node \"B\"", "n0", "CHAIN\nFLOW\nlink = [{ a = \"n0\", b = \"B\" }]\n"),
        (
            3,
            "link[0].b",
            "a link from a node to itself",
            "two different",
            "CHAIN\nFLOW\nlink = [{ a = \"n0\", b = \"n0\" }]\n",
        ),
        (
            4,
            "link[1].b",
            "a second link between B and n2",
            "one link",
            "CHAIN\nFLOW\nnode = [{ id = \"B\", role = \"wired\" }]\nlink = [{ a = \"n2\", b = \"B\" }, { a = \"B\", b = \"n2\" }]\n",
        ),
        (
            3,
            "node[0].role",
            "\"z\" without a link",
            "of every gateway",
            "CHAIN\nFLOW\nnode = [{ id = \"z\", x = 0, y = 9, role = \"gateway\" }]\n",
        ),
        (
            3,
            "node[0].role",
            "\"z\" without a link",
            "of every wired node",
            "CHAIN\nFLOW\nnode = [{ id = \"z\", role = \"wired\" }]\n",
        ),
        (
            2,
            "topology",
            "a wired part without a gateway",
            "gateway =",
            "FLOW\ntopology = { kind = \"explicit\", wired = true }\nnode = [{ id = \"n0\", x = 0, y = 9 }]\n",
        ),
    ]);
}

#[test]
fn flows_that_cannot_arrive() {
    check(&[
        (
            1,
            "flow[0].to",
            "\"n2\", which \"n0\" cannot reach",
            "radio.tx_range = 250 m",
            "FLOW\ntopology = { kind = \"chain\", hops = 2, spacing = 251 }\n",
        ),
        (
            2,
            "flow[0].to",
            "\"B\", which \"far\" cannot reach",
            "and links",
            "CHAIN\nflow = [{ from = \"far\", to = \"B\" }]\nnode = [{ id = \"far\", x = 9999, y = 0 }]\n",
        ),
        (
            2,
            "flow[0].from",
            "more random ends than the 1 nodes",
            "at least 2 hops",
            "CHAIN\nflow = [{ from = \"random\", to = \"B\", count = 2 }]\n",
        ),
        (
            1,
            "topology",
            "no connected graph of 5 nodes in 1000 placements with seed 1",
            "radio.tx_range = 250 m",
            "topology = { kind = \"random\", nodes = 5, width = 99999, height = 99999 }\nFLOW\n",
        ),
    ]);
}

#[test]
fn what_happens_to_emulated_nodes() {
    let event = |keys: &str| format!("CHAIN\nFLOW\n[[emulate.event]]\nat = \"1s\"\nnode = \"n1\"\n{keys}\n");
    let goes = "x = 1\ny = 2\n";
    let nowhere = "node = [{ id = \"n0\" }, { id = \"n1\" }]\nradio_link = [{ from = \"n0\", to = \"n1\" }]";
    let nowhere = event(goes).replace("CHAIN\nFLOW", nowhere);
    check(&[
        (5, "emulate.event[0].node", "an event at which nothing happens", "radios, or x and y", &event("")),
        (6, "emulate.event[0].x", "x without y", "both, or none of them", &event("x = 1")),
        (6, "emulate.event[0].y", "y without x", "both, or none of them", &event("y = 1")),
        (
            6,
            "emulate.event[0].takes",
            "the key without x and y",
            "where the node goes",
            &event("takes = \"1s\""),
        ),
        (6, "emulate.event[0].x", "a place in a mesh whose nodes have none", "all have places", &nowhere),
        (
            6,
            "emulate.event[0].x",
            "a place beside [mobility]",
            "one of the two",
            &event(&format!("{goes}[mobility]\nmodel = \"random-waypoint\"\narea = [900, 900]")),
        ),
        (
            6,
            "emulate.event[0].x",
            "links fade or have a margin",
            "neither",
            &event(&format!("{goes}[radio]\nfading_db = 2")),
        ),
    ]);
}
