use super::*;
use crate::control::tests::example;
use meshpace_gateway::{Explanation, FlowHash, Parcel, Shaper, Terms};
use meshpace_units::Ecn;

#[test]
fn jains_index_is_over_active_flows_whose_goodput_is_known() {
    let mut idle = example::report(3, 5_000);
    idle.last_activity = example::now() - Span::from_secs(6);
    let mut silent = example::report(4, 5_000);
    (silent.stats.up, silent.stats.down) = (false, false);
    let snapshot = example::snapshot(vec![example::report(1, 300), example::report(2, 100), idle, silent]);
    let fairness = fairness(&snapshot);
    assert_eq!(fairness.active, 2);
    // (300 + 100)^2 / (2 * (300^2 + 100^2)).
    assert!((fairness.jain.unwrap() - 0.8).abs() < 1e-12);
    assert_eq!(fairness.mean_bps, Some(200_000.0));
    assert_eq!(fairness.smallest[0].flow, "10.1.2.2:5001-192.0.2.1:443");
    assert!((fairness.smallest[0].share - 0.5).abs() < 1e-12);
}

#[test]
fn nobody_shares_with_nobody() {
    let of = |flows| fairness(&example::snapshot(flows));
    assert_eq!((of(Vec::new()).jain, of(Vec::new()).mean_bps), (None, None));
    assert_eq!(of(vec![example::report(1, 10)]).jain, None);
    let stalled = of(vec![example::report(1, 0), example::report(2, 0)]);
    assert_eq!((stalled.active, stalled.jain, stalled.mean_bps), (2, None, None), "0 over 0 is no index");
}

#[test]
fn a_rate_is_payload_an_interval() {
    let (snapshot, config) = (example::snapshot(Vec::new()), gateway(""));
    let listed = flow(&example::report(1, 900), &snapshot, &config);
    // 1,460 bytes each 10 ms.
    assert_eq!(listed.rate_bps, Some(1_168_000));
    assert_eq!((listed.goodput_bps, listed.direction.as_str()), (Some(900_000), "down"));
    assert!((listed.age_s - 60.0).abs() < 1e-9 && (listed.idle_s - 0.01).abs() < 1e-9);
    let mut unseen = example::report(1, 900);
    unseen.segment = Bytes::ZERO;
    assert_eq!(flow(&unseen, &snapshot, &config).rate_bps, None);
}

fn gateway(more: &str) -> Config {
    let text = format!("mode = \"pace\"\n[mesh]\ninterfaces = [\"mesh0\"]\n{more}");
    Config::parse("test", text.as_bytes()).unwrap()
}

#[test]
fn a_flows_wait_has_that_of_its_host_where_hosts_are_shaped() {
    let config =
        gateway("[hosts]\nrate = \"1Mbps\"\n[[subnet]]\nprefix = \"10.1.2.0/28\"\ntogether = true\n");
    let shaper_config = config.shaper().expect("something is paced");
    let (mut shaper, came) = (Shaper::new(shaper_config), example::now());
    let host = config.counts_as([10, 1, 2, 1].into());
    let flow_hash = FlowHash::new(0, (host, 1).into(), (host, 2).into(), 17);
    let parcel =
        Parcel { host, flow: flow_hash, size: Bytes(1_500), ecn: Ecn::NotEct, sign: None, packet: () };
    let terms = Terms { weight: 1, cap: None, hops: 3, link: Rate::bits_per_sec(11_000_000) };
    shaper.handle(came, parcel, || terms);
    let left = came + Span::from_millis(12);
    assert!(shaper.poll(left).is_some());
    let hosts: Vec<_> = shaper.hosts(left).collect();
    let report = HostsReport {
        config: shaper_config,
        counters: *shaper.counters(),
        found: None,
        queued: 0,
        known: 1,
        hosts,
    };
    let snapshot = Snapshot { hosts: Some(report), ..example::snapshot(Vec::new()) };
    let wait = |report: &FlowReport| flow(report, &snapshot, &config).wait_s;
    assert_eq!(wait(&example::report(1, 900)), Some(0.024));
    let mut watched = example::report(1, 900);
    watched.stats.wait = None;
    assert_eq!(wait(&watched), Some(0.012), "no queue of its own");
    let mut elsewhere = example::report(200, 900);
    assert_eq!(wait(&elsewhere), Some(0.012), "no packet of that host");
    elsewhere.stats.wait = None;
    assert_eq!(wait(&elsewhere), None);
    // A flow that no law paces is not only watched where hosts are shaped.
    let unpaced = FlowReport { treatment: Treatment::Observe, ..watched };
    assert_eq!(flow(&unpaced, &snapshot, &config).treatment, "shape");
    assert_eq!(flow(&unpaced, &example::snapshot(Vec::new()), &config).treatment, "observe");
    let both = vec![example::report(1, 900), unpaced];
    let told =
        |hosts| status(&Snapshot { hosts, ..example::snapshot(both.clone()) }, &config, &[]).flows.in_words();
    assert_eq!(
        (told(snapshot.hosts), told(None)),
        ("1 paced, 1 shaped".into(), "1 paced, 1 observed".into())
    );
}

/// What a law would make of a flow is not foretold where none is to pace it.
#[test]
fn flows_left_to_the_shaper_have_no_forecast() {
    let forecast = |more: &str| {
        let forecast = Some(Err(Unforeseen::NeverAlone));
        let explanation = Explanation { law: None, law_interval: None, standing: None, forecast };
        let of = FlowDetail { report: example::report(1, 900), explanation };
        detail(&of, &example::snapshot(Vec::new()), &gateway(more)).forecast.is_some()
    };
    let shaped = "[hosts]\nrate = \"1Mbps\"\n";
    assert_eq!(
        [forecast(""), forecast(shaped), forecast(&format!("{shaped}flows = \"paced\"\n"))],
        [true, false, true]
    );
}

#[test]
fn answers_survive_the_wire() {
    use crate::control::protocol::{Line, Reply, SCHEMA};
    let config = Config::parse("test", b"[mesh]\ninterfaces = [\"mesh0\"]").unwrap();
    let snapshot = example::snapshot(vec![example::report(1, 900), example::report(2, 100)]);
    for answer in [
        Reply::Status(Box::new(status(&snapshot, &config, &[]))),
        Reply::Flow(Box::new(example::detail())),
        Reply::Done("done".into()),
    ] {
        let line = Line { schema: SCHEMA, answer };
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line, "{text}");
    }
}

/// Scripts read these; new ones may appear beside them (docs/meshpaced.md).
#[test]
fn status_keeps_its_keys() {
    let status = serde_json::to_value(example::status()).unwrap();
    assert_eq!(status["pid"], std::process::id());
    let has = |of: &str, keys: &[&str]| {
        for key in keys {
            assert!(status[of][key].is_number(), "{of}.{key}: {}", status[of]);
        }
    };
    has("flows", &["known", "paced", "shaped", "observed", "capped", "bypassing", "opened"]);
    let counted = [
        "packets",
        "bytes",
        "untracked",
        "implausible",
        "held_total",
        "held",
        "buffered_bytes",
        "dropped",
        "retransmitted",
        "duplicate_acks_kept",
        "queue_overflows",
        "socket_overflows",
        "held_limit",
        "failed",
    ];
    has("traffic", &counted);
    assert!(status["traffic"]["unread"].is_object());
}
