//! The file: what is accepted, what is refused and in which words, and that its documents agree with it.

use super::describe::{default_file, reference};
use super::*;
use meshpace_units::{Bytes, Rate, Span};
use proptest::prelude::*;

fn parse(text: &str) -> Config {
    Config::parse("a.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_empty_file_observes_and_has_the_papers_parameters() {
    let config = parse("");
    assert_eq!((config.mode, config.datapath, config.paced_share), (Mode::Observe, Datapath::Nfqueue, 1.0));
    // A live gateway keeps its queues short, by windows, too, and in the order of sequence, holds fewer packets, and compares flows that want more;
    // all else is the paper's.
    let gateway = meshpace_gateway::Config {
        held_max: 16_384,
        codel: Some(meshpace_gateway::CodelConfig::BY_ROUND_TRIP),
        announced: meshpace_gateway::Announced::Pipe,
        retransmissions: meshpace_gateway::Retransmissions::First,
        goodput_control: Some(meshpace_pacing::GoodputControlConfig::ROBUST),
        ..meshpace_gateway::Config::PAPER
    };
    assert_eq!(config.gateway, gateway);
    let paper =
        meshpace_schemes::lookup("tcp-gap").and_then(|scheme| scheme.gateway().machine).expect("it acts");
    assert_eq!(config.law, paper.law);
    assert_eq!(config.host.initial_interval, Span::from_millis(50));
    assert_eq!((config.host.hops, config.host.rate), (None, Rate::bits_per_sec(11_000_000)));
    assert_eq!(config.nfqueue.socket_buffer, Bytes(8 << 20));
    assert_eq!(config.hops.sources, HopSource::ALL);
    assert_eq!(config.metrics.listen, Some("127.0.0.1:9733".parse().unwrap()));
    assert_eq!(config.events.file, None);
    // The edge's rules are the hook's, with its defaults.
    let filter = meshpace_hook::HOOKS.iter().find(|part| part.about.word == "ack-filter").expect("a hook");
    let defaults = meshpace_keys::Values::defaults(filter.about.keys());
    assert_eq!(config.edge.hook(), meshpace_hook::HookMaker::new(filter, defaults));
    assert_eq!((config.edge.interfaces.len(), config.edge.datapath), (0, EdgeDatapath::Auto));
    assert_eq!(config, Config::default());
}

#[test]
fn law_and_gateway_take_the_names_of_schemes_md() {
    let config = parse(
        "[law]\nalpha = 0.5\nn = 5\ninitial_interval = \"20ms\"\n[gateway]\nlocal_retransmission = \"off\"\ngc_interval = \"2s\"\n",
    );
    let law = config.law.fresh().rate_law().expect("TCP-GAP's").config();
    assert_eq!((law.alpha, law.n), (0.5, 5));
    // The gateway does not pace before the first sample, a sender does (schemes.md 1.5).
    assert_eq!(config.gateway.initial_interval, None);
    assert_eq!(config.host.initial_interval, Span::from_millis(20));
    assert_eq!(config.gateway.dupack, meshpace_gateway::DupAck::Off);
    assert_eq!(config.gateway.goodput_control.unwrap().interval, Span::from_secs(2));
    assert_eq!(parse("[gateway]\ngoodput_control = false").gateway.goodput_control, None);
    assert_eq!(parse("[gateway]\ngap_queue = \"fifo\"").gateway.codel, None);
    let receiver = parse("[gateway]\ngap_window = \"receiver\"").gateway.announced;
    assert_eq!(receiver, meshpace_gateway::Announced::Receiver);
    let codel =
        parse("[gateway]\ngap_queue_target = \"50ms\"\ngap_queue_interval = 0.2").gateway.codel.unwrap();
    assert_eq!((codel.target, codel.interval), (Some(Span::from_millis(50)), Some(Span::from_millis(200))));
    let codel = parse("[gateway]\ngap_queue_target = \"round-trip\"").gateway.codel.unwrap();
    assert_eq!(codel, meshpace_gateway::CodelConfig::BY_ROUND_TRIP);
}

#[test]
fn the_longest_prefix_that_gives_a_key_counts() {
    let config = parse(
        r#"
        mode = "observe"
        [[subnet]]
        prefix = "10.0.0.0/8"
        mode = "pace"
        rate = "2Mbps"
        [[subnet]]
        prefix = "10.1.2.0/24"
        hops = 3
        [[subnet]]
        prefix = "10.1.0.0/16"
        mode = "off"
        paced_share = 0.25
        [[subnet]]
        prefix = "fd00::/16"
        mode = "pace"
        "#,
    );
    let policy = |host: &str| config.policy(host.parse().unwrap());
    let rate = Some(Rate::bits_per_sec(2_000_000));
    let usual = Policy { mode: Mode::Pace, paced_share: 1.0, hops: None, rate, weight: 1, cap: None };
    assert_eq!(policy("10.9.0.1"), usual);
    assert_eq!(policy("10.1.9.1"), Policy { mode: Mode::Off, paced_share: 0.25, ..usual });
    assert_eq!(policy("10.1.2.1"), Policy { mode: Mode::Off, paced_share: 0.25, hops: Some(3), ..usual });
    assert_eq!(policy("192.168.1.1").mode, Mode::Observe);
    assert_eq!(policy("fd00::1").mode, Mode::Pace);
    assert!(!config.is_off());
    assert!(parse("mode = \"off\"").is_off());
}

#[test]
fn mistakes_name_file_line_key_found_and_allowed() {
    for (text, message) in [
        (
            "mod = \"pace\"",
            "a.toml:1: mod: found the unknown key \"mod\" (did you mean \"mode\"?); allowed: mode, paced_share",
        ),
        (
            "\nmode = \"pase\"",
            "a.toml:2: mode: found \"pase\" (did you mean \"pace\"?); allowed: off, observe, pace",
        ),
        ("paced_share = 1.5", "a.toml:1: paced_share: found 1.5; allowed: a number from 0 to 1"),
        (
            "[mesh]\ninterfaces = [\"mesh 0\"]",
            "a.toml:2: mesh.interfaces: found \"mesh 0\"; allowed: names of",
        ),
        (
            "[mesh]\nsubnets = [\"10.1.2.3/24\"]",
            "a.toml:2: mesh.subnets: found \"10.1.2.3/24\"; allowed: no bits behind the prefix: 10.1.2.0/24",
        ),
        ("[mesh]\nsubnets = [\"mesh\"]", "a.toml:2: mesh.subnets: found \"mesh\"; allowed: a prefix such as"),
        (
            "[mesh]\nrate = \"0Mbps\"",
            "a.toml:2: mesh.rate: found \"0Mbps\"; allowed: nl80211, or a whole number of bit/s",
        ),
        (
            "[mesh]\nfallback_rate = \"1Mbps\"",
            "a.toml:2: mesh.fallback_rate: found the key with mesh.rate = nothing, which means \"11Mbps\"; allowed: only with mesh.rate = \"nl80211\"",
        ),
        (
            "[hops]\nsources = [\"batman\"]",
            "a.toml:2: hops.sources: found a list of 1; allowed: a list of 0 to 6, each static, 802.11s",
        ),
        (
            "[hops]\nsources = [\"ttl\", \"ttl\"]",
            "a.toml:2: hops.sources: found \"ttl\" twice; allowed: each source once",
        ),
        (
            "[hops]\nrefresh = \"2min\"",
            "a.toml:1: hops.expiry: found nothing, which means \"60s\"; allowed: at least hops.refresh = 120 s",
        ),
        (
            "[hops.static]\n\"10.0.0.0/8\" = 0",
            "a.toml:2: hops.static.\"10.0.0.0/8\": found 0; allowed: a whole number from 1 to 255",
        ),
        (
            "[hops.static]\n\"10.0.0.0/8\" = 1\n\"10.0.0.0/08\" = 2",
            "a.toml:3: hops.static.\"10.0.0.0/08\": found",
        ),
        (
            "[hops]\nbabel = \"localhost:1\"",
            "a.toml:2: hops.babel: found \"localhost:1\"; allowed: an address and a port",
        ),
        (
            "[law]\nbeta = 1",
            "a.toml:2: law.beta: found the unknown key \"beta\"; allowed: flow_law, alpha, n",
        ),
        (
            "[law]\nflow_law = \"kdh\"",
            "a.toml:2: law.flow_law: found \"kdh\"; allowed: \"khd\", \"delay-rate\"",
        ),
        (
            "[gateway]\ngoodput_control = 1",
            "a.toml:2: gateway.goodput_control: found 1; allowed: true, false",
        ),
        ("[law]\nalpha = 1.5", "a.toml:2: law.alpha: found 1.5; allowed: a number from 0 to 0.999"),
        ("[gateway]\ngap_dupack = \"snoop\"", "a.toml:2: gateway.gap_dupack: found the unknown key"),
        (
            "[gateway]\nlocal_retransmission = \"literal\"",
            "a.toml:2: gateway.local_retransmission: found \"literal\"; allowed: \"snoop\", \"off\"",
        ),
        (
            "[gateway]\ngc_interval = 1\ngoodput_control = false",
            "a.toml:2: gateway.gc_interval: found a parameter of other schemes; allowed: gc_interval only with goodput_control = true",
        ),
        ("gateway = 1", "a.toml:1: gateway: found 1; allowed: a table"),
        (
            "datapath = \"ebpf\"\n[gateway]\ngap_trains = 4",
            "a.toml:1: datapath: found \"ebpf\" beside gateway.gap_trains = 4; allowed: \"nfqueue\" beside it: in the kernel packets leave one by one",
        ),
        (
            "[nfqueue]\nlength = 100",
            "a.toml:2: nfqueue.length: found 100; allowed: more than gateway.gap_held_max = 16384",
        ),
        (
            "[nfqueue]\nqueue = 65536",
            "a.toml:2: nfqueue.queue: found 65536; allowed: a whole number from 0 to 65535",
        ),
        (
            "[hosts]\nrate = \"auto\"\nby = \"airtime\"",
            "a.toml:3: hosts.by: found \"airtime\"; allowed: \"bytes\" with rate = \"auto\"",
        ),
        ("[[subnet]]\nmode = \"off\"", "a.toml:1: subnet[0].prefix: found nothing; allowed: a string"),
        (
            "[[subnet]]\nprefix = \"10.0.0.0/8\"\n[[subnet]]\nprefix = \"10.0.0.0/8\"",
            "a.toml:4: subnet[1].prefix: found 10.0.0.0/8 a second time; allowed: each prefix once",
        ),
        ("mode = ", "a.toml:1: TOML: found \"mode =\"; allowed: TOML 1.0 ("),
    ] {
        let error = Config::parse("a.toml", text.as_bytes()).expect_err(text).to_string();
        assert!(error.starts_with(message), "{text}\n  says    {error}\n  expects {message}");
    }
}

#[test]
fn a_gateway_needs_a_mesh() {
    let folder = std::env::temp_dir().join(format!("meshpaced-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("m.toml");
    std::fs::write(&file, "mode = \"observe\"\n").unwrap();
    let refused = Config::load_for_gateway(&file).unwrap_err().to_string();
    assert!(refused.ends_with("m.toml:1: mesh: found neither interfaces nor subnets; allowed: at least one of mesh.interfaces and mesh.subnets, such as interfaces = [\"mesh0\"]"), "{refused}");
    std::fs::write(&file, "[mesh]\nsubnets = [\"10.0.0.0/8\", \"192.0.2.1\"]\n").unwrap();
    let mesh = Config::load_for_gateway(&file).unwrap().mesh;
    assert!(mesh.contains("10.2.3.4".parse().unwrap()) && mesh.contains("192.0.2.1".parse().unwrap()));
    assert!(!mesh.contains("192.0.2.2".parse().unwrap()) && !mesh.contains("::1".parse().unwrap()));
    std::fs::remove_dir_all(&folder).unwrap();
    let missing = Config::load(&file).unwrap_err();
    assert!(
        matches!(&missing, Failure::User(message) if message.contains("m.toml: No such file")),
        "{missing}"
    );
}

/// The documents are printed by the code: `meshpaced check --print default-file` and `--print reference`.
#[test]
fn default_file_and_reference_agree_with_the_code() {
    let said = "run `cargo run -p meshpace-daemon -- check --print ...` into the file";
    assert!(
        default_file() == include_str!("../../../../packaging/meshpaced.toml"),
        "packaging/meshpaced.toml: {said}"
    );
    assert!(
        reference() == include_str!("../../../../docs/meshpaced-config.md"),
        "docs/meshpaced-config.md: {said}"
    );
}

/// Every commented line is a key with an acceptable value; those called defaults are the defaults.
#[test]
fn the_default_files_lines_are_what_it_says() {
    let text = default_file();
    assert_eq!(parse(&text), Config::default());
    let (mut table, mut keys, mut is_example) = (String::new(), 0, false);
    for line in text.lines() {
        if line.starts_with('[') || line.starts_with("#[") {
            table = line.trim_start_matches('#').to_owned();
        } else if let Some(assignment) =
            line.strip_prefix('#').filter(|rest| !rest.starts_with(' ') && !rest.is_empty())
        {
            keys += 1;
            let more = match assignment.split(' ').next() {
                Some("fallback_rate") => "rate = \"nl80211\"",
                Some(key) if table == "[[subnet]]" && key != "prefix" => "prefix = \"10.0.0.0/8\"",
                _ => "",
            };
            // Keys of a law or a hook that is not the default are its defaults beside it.
            let chosen = match assignment.split('_').next() {
                Some("dr") => "flow_law = \"delay-rate\"",
                Some("filter") => "hook = \"ack-filter\"",
                _ => "",
            };
            let without =
                if chosen.is_empty() { Config::default() } else { parse(&format!("{table}\n{chosen}")) };
            let config = parse(&format!("{table}\n{chosen}\n{assignment}\n{more}"));
            assert_eq!(config == without, !is_example || assignment.contains("\"11Mbps\""), "{assignment}");
        }
        is_example = line.ends_with("an example:");
    }
    assert!(keys > 50, "{keys} keys");
}

proptest! {
    #[test]
    fn no_text_panics(text in "(mode|mesh|hops|gateway|law|subnet|[\\[\\]={}\".,\n#a-z0-9:/ -]){0,60}") {
        let _ = Config::parse("a.toml", text.as_bytes());
    }

    #[test]
    fn policies_are_those_of_a_plain_search(prefixes in proptest::collection::btree_map((0u8..4, 0u8..=32), 0u32..3, 0..12), host in 0u8..4) {
        // All prefixes within 10.0-3.0.0, so that many overlap; hops 0 stands for "does not say".
        let net = |n: u8, len: u8| ipnet::Ipv4Net::new([10, n, 0, 0].into(), len).unwrap().trunc();
        let mut by_prefix = std::collections::BTreeMap::new();
        for ((n, len), hops) in prefixes {
            by_prefix.insert(net(n, len), hops);
        }
        let mut text = String::new();
        for (prefix, hops) in &by_prefix {
            text += &format!("[[subnet]]\nprefix = \"{prefix}\"\n");
            if *hops > 0 { text += &format!("hops = {hops}\n"); }
        }
        let host = std::net::Ipv4Addr::new(10, host, 0, 0);
        let best = by_prefix.iter().filter(|(prefix, hops)| prefix.contains(&host) && **hops > 0)
            .max_by_key(|(prefix, _)| prefix.prefix_len()).map(|(_, hops)| *hops);
        prop_assert_eq!(parse(&text).policy(host.into()).hops, best);
    }
}

#[test]
fn packets_stay_whole_where_nothing_of_them_is_changed_and_none_takes_longer_than_a_burst() {
    let whole = |text: &str| {
        let mesh = format!("{text}\n[mesh]\ninterfaces = [\"mesh0\"]\n");
        Config::parse("a.toml", mesh.as_bytes()).unwrap_or_else(|error| panic!("{error}")).leaves_whole()
    };
    let paced = |hosts: &str, subnet: &str| {
        whole(&format!("mode = \"pace\"\n[hosts]\n{hosts}\n[[subnet]]\nprefix = \"10.0.0.0/8\"\n{subnet}"))
    };
    let fast = "rate = \"1Gbps\"\nby = \"bytes\"\nflows = \"free\"";
    assert!(whole("mode = \"observe\"") && whole("mode = \"observe\"\n[hosts]\nrate = \"1Mbps\""));
    assert!(!whole("mode = \"pace\"") && !whole("[[subnet]]\nprefix = \"10.0.0.0/8\"\nmode = \"pace\""));
    assert!(paced(fast, "weight = 2"));
    assert!(paced(&fast.replace("1Gbps", "525Mbps"), ""), "65,536 bytes in a millisecond");
    assert!(!paced(&fast.replace("1Gbps", "524Mbps"), ""));
    assert!(!paced(fast, "cap = \"5Mbps\""));
    assert!(!paced(&fast.replace("free", "paced"), ""));
    assert!(!paced(&fast.replace("bytes", "airtime"), ""));
}
