//! Nodes of several radios: which they have, on which channels, with which rates.

use meshpace_scenario::*;
use meshpace_units::{NodeId, Rate};

fn resolve(text: &str) -> Scenario {
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
    file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A row of nodes 100 m apart, with these further keys each.
fn row(radio: &str, nodes: &[&str]) -> String {
    let mut text = format!("[radio]\n{radio}\n");
    for (index, keys) in nodes.iter().enumerate() {
        text += &format!("[[node]]\nid = \"n{index}\"\nx = {}\ny = 0\n{keys}\n", 100 * index);
    }
    text
}

fn table(keys: &str) -> String {
    format!("[[node.radio]]\n{keys}\n")
}

/// Of each channel its centre, and node and number of each of its radios.
fn radios(scenario: &Scenario) -> Vec<(u16, Vec<(u32, u16)>)> {
    let of = |channel: &Channel| channel.radios.iter().map(|radio| (radio.node.0, radio.number)).collect();
    scenario.channels.iter().map(|channel| (channel.mhz, of(channel))).collect()
}

#[test]
fn without_a_channel_for_all_tables_are_all_that_a_node_has() {
    let both = table("channel = 11") + &table("channel = 6");
    let text = row("", &["", &both, &table("frequency = \"2.412GHz\"")]);
    assert_eq!(
        radios(&resolve(&text)),
        [
            (2412, vec![(0, 0), (2, 0)]), // n0 has what [radio] says: channel 1
            (2437, vec![(1, 1)]),
            (2462, vec![(1, 0)]),
        ]
    );
    assert_eq!(radios(&resolve(&row("", &["", ""]))), [], "one channel for all");
}

#[test]
fn with_a_channel_for_all_tables_are_further_radios() {
    let text =
        row("channel = 6", &["", &table("channel = 11"), &(table("channel = 1") + &table("channel = 6"))]);
    assert_eq!(
        radios(&resolve(&text)),
        [
            (2412, vec![(2, 0)]),
            (2437, vec![(0, 0), (1, 0), (2, 1)]), // n2 says itself what its radio there is
            (2462, vec![(1, 1)]),
        ]
    );
}

#[test]
fn a_radio_says_how_its_data_go() {
    let mbps = |mbps: f64| Rate::bits_per_sec((mbps * 1e6) as u64);
    let rates = |text: &str| -> Vec<Vec<Rate>> {
        let of = |channel: &Channel| channel.radios.iter().map(|radio| radio.mode.rate).collect();
        resolve(text).channels.iter().map(of).collect()
    };
    let text = row("rate = \"2Mbps\"", &[&table("channel = 1"), &table("channel = 1\nrate = \"5.5Mbps\"")]);
    assert_eq!(rates(&text), [[mbps(2.0), mbps(5.5)]]);
    // The width, streams and MCS that a table gives replace those of [radio].
    let radio = "standard = \"802.11n\"\nmcs = 3";
    let wide = |keys: &str| table(&format!("channel = 38\nwidth = \"40MHz\"\n{keys}"));
    let nodes =
        [&table("channel = 6\nstreams = 2"), &wide(""), &wide("mcs = 9"), &wide("rate = \"13.5Mbps\"")];
    let nodes = nodes.map(String::as_str);
    let scenario = resolve(&row(radio, &nodes));
    let of =
        |channel: usize, node| scenario.channels[channel].radio_of(NodeId(node)).map(|radio| radio.mode.rate);
    assert_eq!(of(0, 0), Some(mbps(130.0)), "the fastest of two streams");
    assert_eq!([1, 2, 3].map(|node| of(1, node)), [54.0, 54.0, 13.5].map(|rate| Some(mbps(rate))));
    let mcs = |node| {
        scenario.channels[1].radio_of(NodeId(node)).and_then(|radio| radio.mode.mcs).map(|mcs| mcs.index)
    };
    assert_eq!([1, 2].map(mcs), [Some(3), Some(9)], "two modes of one rate");
    // A channel at 2.4 GHz has the timing of that band.
    let sifs = |channel: usize| scenario.channels[channel].standard.sifs.as_nanos();
    assert_eq!([sifs(0), sifs(1)], [10_000, 16_000]);
}

#[test]
fn a_channel_has_a_number_if_one_has_its_centre() {
    let text = row(
        "standard = \"802.11n\"",
        &[&(table("frequency = \"5.2GHz\"") + &table("frequency = \"5.203GHz\""))],
    );
    let numbers: Vec<_> = resolve(&text).channels.iter().map(Channel::number).collect();
    assert_eq!(numbers, [Some(40), None]);
}

#[test]
fn hops_of_a_chain_have_channels_in_turn() {
    let text = "[topology]\nkind = \"chain\"\nhops = 4\nchannels = [1, 6, 11]\n[[node]]\nid = \"m\"\nx = 50\ny = 50\n";
    assert_eq!(
        radios(&resolve(text)),
        [
            (2412, vec![(0, 0), (1, 1), (3, 0), (4, 0), (5, 0)]), // m has what [radio] says
            (2437, vec![(1, 0), (2, 1)]),
            (2462, vec![(2, 0), (3, 1)]),
        ]
    );
    let beside = format!("{text}[radio]\nchannel = 13\n");
    assert_eq!(
        radios(&resolve(&beside)).last(),
        Some(&(2472, vec![(5, 0)])),
        "hops go by their channels all the same"
    );
    assert_eq!(
        radios(&resolve(&text.replace("1, 6, 11", "6"))),
        [(2412, vec![(5, 0)]), (2437, (0..5).map(|node| (node, 0)).collect())]
    );
}

#[test]
fn the_command_line_sets_a_radio_of_a_node() {
    let text = row("", &[&table("channel = 1"), &table("channel = 1")]);
    let set = Overrides::none().with("node.1.radio.0.channel=6");
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &set).and_then(|file| file.resolve(1));
    assert_eq!(
        radios(&file.unwrap_or_else(|error| panic!("{error}"))),
        [(2412, vec![(0, 0)]), (2437, vec![(1, 0)])]
    );
}

#[test]
fn a_link_has_values_of_its_own_on_each_channel() {
    let both = table("channel = 36") + &table("channel = 46\nwidth = \"40MHz\"");
    let text = row("standard = \"802.11n\"", &[&both, &both])
        + "[[radio_link]]\nfrom = \"n0\"\nto = \"n1\"\nchannel = 46\nloss = 0.2\nrate = \"27Mbps\"\n"
        + "[[radio_link]]\nfrom = \"n1\"\nto = \"n0\"\nfrequency = \"5.18GHz\"\nrate = \"13Mbps\"\nsymmetric = false\n";
    let scenario = resolve(&text);
    let (a, b) = (NodeId(0), NodeId(1));
    let link =
        |from, to, mhz, loss| RadioLink { from, to, mhz: Some(mhz), loss, loss_length: None, burst: None };
    assert_eq!(scenario.radio_links, [link(a, b, 5230, 0.2), link(b, a, 5180, 0.0), link(b, a, 5230, 0.2)]);
    let rates = |channel: usize| {
        let radio = scenario.channels[channel].radio(&scenario.radio);
        [radio.rate_between(a, b), radio.rate_between(b, a)].map(|rate| rate.as_bits_per_sec() as f64 / 1e6)
    };
    assert_eq!((rates(0), rates(1)), ([65.0, 13.0], [27.0, 27.0]));
}

#[test]
fn of_one_channel_a_link_may_say_it() {
    let text = |channel: &str, link: &str| {
        format!(
            "[radio]\n{channel}\n[[node]]\nid = \"a\"\n[[node]]\nid = \"b\"\n[[radio_link]]\nfrom = \"a\"\nto = \"b\"\n{link}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n"
        )
    };
    let scenario = resolve(&text("channel = 6", "channel = 6"));
    assert!(scenario.channels.is_empty() && scenario.radio_links.len() == 2, "{:?}", scenario.radio_links);
}

#[test]
fn nodes_are_neighbours_where_both_directions_are_on_one_channel() {
    let nodes = |keys: &str| format!("[[node]]\nid = \"a\"\n{keys}[[node]]\nid = \"b\"\n{keys}");
    let text = |back: u16| {
        let both = table("channel = 1") + &table("channel = 6");
        let link = |from: &str, to: &str, channel| {
            format!(
                "[[radio_link]]\nfrom = \"{from}\"\nto = \"{to}\"\nchannel = {channel}\nsymmetric = false\n"
            )
        };
        nodes(&both) + &link("a", "b", 1) + &link("b", "a", back) + "[[flow]]\nfrom = \"a\"\nto = \"b\"\n"
    };
    let file = |back| {
        ScenarioFile::parse("test.toml", text(back).as_bytes(), &Overrides::none()).expect("well-formed")
    };
    assert!(file(1).resolve(1).is_ok());
    let error = file(6).resolve(1).expect_err("no exchange is possible").to_string();
    assert!(error.contains("which \"a\" cannot reach"), "{error}");
}

#[test]
fn a_way_leads_over_nodes_that_share_a_channel() {
    let flow = "[[flow]]\nfrom = \"n0\"\nto = \"n2\"\n[routing]\nprotocol = \"static\"\n";
    let (one, six) = (table("channel = 1"), table("channel = 6"));
    let nodes = [one.as_str(), &(one.clone() + &six), &six];
    let text = row("", &nodes) + flow;
    assert_eq!(radios(&resolve(&text)).len(), 2);
    let named =
        format!("{text}path = [\"n0\", \"n2\"]\n").replace("[routing]\nprotocol = \"static\"\npath", "path");
    let named = format!("{named}[routing]\nprotocol = \"static\"\n");
    let file = ScenarioFile::parse("test.toml", named.as_bytes(), &Overrides::none());
    let error = file.and_then(|file| file.resolve(1)).expect_err("100 m apart, on different channels");
    assert!(error.to_string().contains("which do not hear each other"), "{error}");
}
