//! Channels, and nodes of several radios.

use super::check;

/// Two nodes on a line each, and a flow; `keys` are those of the second node.
fn two(radio: &str, first: &str, second: &str) -> String {
    format!(
        "radio = {{ {radio} }}\nnode = [\n{{ id = \"n0\", x = 0, y = 0{first} }},\n{{ id = \"n2\", x = 100, y = 0{second} }},\n]\nFLOW\n"
    )
}

#[test]
fn channels() {
    for (keys, key, found, allowed) in [
        ("channel = 20", "radio.channel", "20", "1 to 14 in the band of 2.4 GHz"),
        ("channel = 36", "radio.channel", "36", "2.4 GHz for 802.11b"),
        ("standard = \"802.11a\", channel = 6", "radio.channel", "6", "5 GHz for 802.11a"),
        (
            "standard = \"802.11n\", channel = 6, frequency = \"5.2GHz\"",
            "radio.frequency",
            "frequency beside channel",
            "channel or frequency",
        ),
        ("standard = \"802.11n\", channel = 177, mcs = 3, streams = 2", "radio.streams", "2", "1, which"),
    ] {
        check(&[(1, key, found, allowed, &two(keys, "", ""))]);
    }
}

#[test]
fn radios_of_nodes() {
    let table = |keys: &str| format!(", radio = [{{ {keys} }}]");
    for (keys, key, found, allowed) in [
        ("rate = \"2Mbps\"", "channel", "nothing", "channel or frequency"),
        (
            "channel = 3, frequency = \"2.4GHz\"",
            "frequency",
            "frequency beside channel",
            "channel or frequency",
        ),
        ("channel = 36", "channel", "36", "2.4 GHz for 802.11b"),
        ("frequency = \"5.18GHz\"", "frequency", "\"5.18GHz\"", "2.4 GHz for 802.11b"),
        ("channel = 3, mcs = 2", "mcs", "the key with radio.standard = \"802.11b\"", "only with 802.11n"),
        ("channel = 3, rate = \"54Mbps\"", "rate", "\"54Mbps\"", "5.5Mbps, 11Mbps for 802.11b"),
        ("channel = 3, queue = 4", "queue", "the unknown key \"queue\"", "channel, frequency"),
    ] {
        let key = format!("node[1].radio[0].{key}");
        check(&[(4, &key, found, allowed, &two("", "", &table(keys)))]);
    }
    for (keys, key, found, allowed) in [
        ("channel = 36, width = \"30MHz\"", "width", "\"30MHz\"", "20MHz, 40MHz"),
        ("channel = 36, mcs = 3, streams = 2", "streams", "2", "1, which"),
        ("channel = 36, rate = \"13.5Mbps\"", "rate", "\"13.5Mbps\"", "6.5Mbps, 13Mbps"),
    ] {
        let key = format!("node[1].radio[0].{key}");
        check(&[(4, &key, found, allowed, &two("standard = \"802.11n\"", "", &table(keys)))]);
    }
    let chain = |channels: &str| {
        format!("FLOW\ntopology = {{ kind = \"chain\", hops = 2, channels = {channels} }}\n")
    };
    check(&[
        (2, "topology.channels", "a list of 2", "2.4 GHz for 802.11b", &chain("[1, 36]")),
        (2, "topology.channels", "a list of 0", "a list of 1 to 16", &chain("[]")),
    ]);
    let wired = two("", "", "").replace("x = 100, y = 0", "role = \"wired\", radio = [{ channel = 1 }]");
    let twice = two("", "", ", radio = [{ channel = 1 }, { frequency = \"2.412GHz\" }]");
    let apart = two("", ", radio = [{ channel = 1 }]", ", radio = [{ channel = 6 }]");
    let narrow = ", radio = [{ channel = 38 }]";
    let wide = ", radio = [{ channel = 38, width = \"40MHz\" }]";
    let widths = two("standard = \"802.11n\"", narrow, wide);
    let link = format!("{apart}radio_link = [{{ from = \"n0\", to = \"n2\" }}]\n");
    check(&[
        (4, "node[1].radio", "the key with role = \"wired\"", "only with role = mesh", &wired),
        (
            4,
            "node[1].radio[1].frequency",
            "a second radio of \"n2\" at 2412 MHz",
            "a channel of its own",
            &twice,
        ),
        (6, "flow[0].to", "which \"n0\" cannot reach", "a node joined to it", &apart),
        (7, "radio_link[0].to", "a radio link between \"n0\" and \"n2\"", "radios on one channel", &link),
        (4, "node[1].radio[0].width", "40 MHz at 5190 MHz", "20 MHz, as other radios", &widths),
    ]);
}

#[test]
fn rates_of_links_exist_on_their_channels() {
    let wide = ", radio = [{ channel = 38, width = \"40MHz\" }]";
    let text =
        two("standard = \"802.11n\", link_rates = [{ from = \"n0\", rate = \"6.5Mbps\" }]", wide, wide);
    let own = |keys: &str| {
        let text = two("standard = \"802.11n\"", wide, wide);
        format!("{text}radio_link = [{{ from = \"n0\", to = \"n2\", {keys} }}]\n")
    };
    check(&[
        (1, "radio.link_rates[0].from", "6500000 bit/s for a link on 40 MHz", "13.5Mbps, 27Mbps", &text),
        // Without a channel a link's rate is one of those of [radio], and of all channels that it holds on.
        (7, "radio_link[0].rate", "\"13.5Mbps\"", "6.5Mbps", &own("rate = \"13.5Mbps\"")),
        (
            7,
            "radio_link[0].rate",
            "6500000 bit/s for a link on 40 MHz",
            "13.5Mbps",
            &own("rate = \"6.5Mbps\""),
        ),
        (
            7,
            "radio_link[0].rate",
            "6500000 bit/s for a link on 40 MHz",
            "13.5Mbps",
            &own("channel = 38, rate = \"6.5Mbps\""),
        ),
    ]);
}

#[test]
fn a_link_is_on_a_channel_of_both_its_ends() {
    let (one, both) = (", radio = [{ channel = 1 }]", ", radio = [{ channel = 1 }, { channel = 6 }]");
    let links = |radio: &str, nodes: [&str; 2], links: &[&str]| {
        let links: Vec<_> =
            links.iter().map(|keys| format!("{{ from = \"n0\", to = \"n2\", {keys} }}")).collect();
        two(radio, nodes[0], nodes[1]) + &format!("radio_link = [{}]\n", links.join(", "))
    };
    let twice = "a second radio link from \"n0\" to \"n2\"";
    check(&[
        (
            7,
            "radio_link[0].channel",
            "a radio link at 2437 MHz between \"n0\" and \"n2\"",
            "both nodes have a radio on",
            &links("", [one, both], &["channel = 6"]),
        ),
        (
            7,
            "radio_link[0].frequency",
            "a radio link at 2437 MHz",
            "a radio on",
            &links("", ["", ""], &["frequency = \"2.437GHz\""]),
        ),
        (
            7,
            "radio_link[0].channel",
            "a radio link at 2437 MHz",
            "a radio on",
            &links("channel = 1", ["", ""], &["channel = 6"]),
        ),
        (
            7,
            "radio_link[0].frequency",
            "frequency beside channel",
            "channel or frequency",
            &links("", [one, one], &["channel = 1, frequency = \"2.412GHz\""]),
        ),
        (
            7,
            "radio_link[1].to",
            twice,
            "one a direction and channel",
            &links("", [both, both], &["channel = 6", "loss = 0.1"]),
        ),
        (
            7,
            "radio_link[1].to",
            twice,
            "one a direction and channel",
            &links("", [both, both], &["loss = 0.1", "channel = 6"]),
        ),
        (
            7,
            "radio_link[1].to",
            twice,
            "one a direction and channel",
            &links("", [both, both], &["channel = 6", "frequency = \"2.437GHz\""]),
        ),
    ]);
}
