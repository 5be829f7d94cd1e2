//! Random small scenarios: never a panic, only finite numbers, counters that fit together.

use super::support::{run_seed, scenario};
use meshpace_mesh::RunResult;
use proptest::prelude::*;

fn topology() -> impl Strategy<Value = (String, Vec<String>)> {
    let names =
        |count: usize| (0..count).map(|i| format!("n{i}")).chain(["B".to_owned()]).collect::<Vec<_>>();
    let chain = (1usize..6)
        .prop_map(move |hops| (format!("[topology]\nkind = \"chain\"\nhops = {hops}\n"), names(hops + 1)));
    let random = (6usize..14, 300u32..500).prop_map(move |(nodes, side)| {
        let text = format!("[topology]\nkind = \"random\"\nnodes = {nodes}\nwidth = {side}\nheight = {side}\nwired_hops = 1\nwired_delay = \"5ms\"\n");
        (text, names(nodes))
    });
    let parallel = (1usize..4).prop_map(|hops| {
        let text = format!(
            "[topology]\nkind = \"parallel-chains\"\nhops = {hops}\nwired_queue = 3\nwired_rate = \"1Mbps\"\n"
        );
        (text, ["A1", "A2", "IG", "B"].map(str::to_owned).to_vec())
    });
    prop_oneof![chain, random, parallel]
}

fn radio() -> impl Strategy<Value = String> {
    let standards = prop_oneof![
        Just("standard = \"802.11b\"\nrate = \"1Mbps\""),
        Just("standard = \"802.11b\"\nrate = \"2Mbps\"\npreamble = \"short\""),
        Just("standard = \"802.11b\"\nrate = \"11Mbps\""),
        Just("standard = \"802.11a\"\nrate = \"6Mbps\""),
        Just("standard = \"802.11a\"\nrate = \"54Mbps\""),
        Just("standard = \"802.11g\"\nrate = \"24Mbps\""),
        Just("standard = \"802.11g-ns2\""),
    ];
    let reception = prop_oneof![Just("ns2-capture"), Just("sinr")];
    let propagation = prop_oneof![
        Just("propagation = \"two-ray\""),
        Just("propagation = \"ranges\""),
        Just("propagation = \"log-distance\"\npath_loss_exponent = 3.5"),
        Just("propagation = \"log-distance\"\nshadowing_db = 6"),
    ];
    let rts = prop_oneof![Just("\"always\""), Just("\"never\""), Just("300")];
    let numbers = (1u32..60, 0u32..8, 0u32..8, 250u32..600);
    (standards, reception, propagation, rts, numbers).prop_map(|(standard, reception, propagation, rts, n)| {
        format!(
            "[radio]\nack_timeout = \"20us\"\n{standard}\nreception = \"{reception}\"\n{propagation}\nrts = {rts}\nqueue = {}\nretry_short = {}\nretry_long = {}\ncs_range = {}\n",
            n.0, n.1, n.2, n.3
        )
    })
}

fn app() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("app = \"ftp\"".to_owned()),
        (1u32..40).prop_map(|window| format!("app = \"ftp\"\nwindow = {window}\nstop = 1.5")),
        (1u64..100_000).prop_map(|bytes| format!("app = \"transfer\"\nbytes = {bytes}")),
        (1u32..100_000).prop_map(|mean| format!("app = \"http\"\nfile_mean = {mean}\npause_mean = 0.1")),
        (1u32..2200, 3u32..8).prop_map(|(packet, rate)| {
            format!("app = \"cbr\"\npacket = {packet}\nrate = {}\nudp_header = 0", 10u64.pow(rate).min(3_000_000))
        }),
        (1u32..2200, 1u32..200).prop_map(|(packet, interval)| format!(
            "app = \"echo\"\npacket = {packet}\ninterval = \"{interval}ms\""
        )),
        (100u32..2000).prop_map(|packet| format!(
            "app = \"self-similar\"\npacket = {packet}\nrate = \"2Mbps\"\nfile_mean = 20000\npause_mean = 0.05"
        )),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let schemes: Vec<&'static str> = meshpace_schemes::names().collect();
    let flow = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        app(),
        prop::sample::select(schemes),
        1u32..3,
    );
    let flows = prop::collection::vec(flow, 1..5);
    let routing = prop_oneof![
        Just("protocol = \"static\""),
        Just("protocol = \"dsdv\""),
        Just("protocol = \"babel\""),
        Just("protocol = \"aodv\""),
        Just("protocol = \"aodv\"\nprofile = \"rfc3561\""),
    ];
    let mobility = prop_oneof![
        Just(""),
        Just(
            "[mobility]\nmodel = \"random-waypoint\"\nspeed_min = 10\nspeed_max = 300\narea = [2000, 2000]\n"
        ),
        Just("[mobility]\nmodel = \"random-waypoint\"\npause = \"500ms\"\narea = [2000, 600]\n"),
    ];
    let plan = prop_oneof![
        Just("duration = 2\nwarmup = 0"),
        Just("duration = 3\nwarmup = 1\nwindows = [0.3, 1, 5]"),
        Just("packets = 120\nbatches = 4\nlimit = 3"),
    ];
    (topology(), radio(), flows, routing, mobility, plan).prop_map(
        |((topology, names), radio, flows, routing, mobility, plan)| {
            let mut text = format!("[measure]\n{plan}\n[mesh]\nscheme = \"tcp-gap\"\n[defaults]\nscheme = \"tcp-gap\"\nstart_jitter = 0.2\n");
            text += &format!("{radio}{topology}wired = true\n[routing]\n{routing}\n{mobility}");
            for (from, to, app, scheme, count) in flows {
                let from = from.get(&names);
                let others: Vec<_> = names.iter().filter(|name| *name != from).collect();
                let to = to.get(&others);
                text += &format!("[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\n{app}\nscheme = \"{scheme}\"\ncount = {count}\n");
            }
            text
        },
    )
}

/// serde writes what is not finite as null: look at the numbers themselves.
fn is_sound(result: &RunResult, packets: &[u64]) -> Result<(), TestCaseError> {
    let share = |value: Option<f64>| value.is_none_or(|value| (0.0..=1.0 + 1e-9).contains(&value));
    let positive = |value: Option<f64>| value.is_none_or(|value| value.is_finite() && value >= 0.0);
    prop_assert!(share(result.jain) && share(result.jain_per_hop) && share(result.jain_times_hops));
    prop_assert!(result.jain_windows.values().all(|index| share(*index)));
    prop_assert!(result.log_utility.is_finite());
    prop_assert!(result.measured_s >= 0.0 && result.measured_s <= result.simulated_s);
    let sum: f64 = result.flows.iter().map(|f| f.goodput_bps).sum();
    prop_assert!((sum - result.aggregate_goodput_bps).abs() <= 1e-6 * sum);
    for (f, packet) in result.flows.iter().zip(packets) {
        let numbers = [f.goodput_ci95_bps, f.delay_mean_s, f.delay_std_s, f.srtt_s];
        let paced = [f.pacing_rate_bps, f.pacing_interval_s, f.cwnd_mean, f.completed_s, Some(f.goodput_bps)];
        prop_assert!(numbers.into_iter().chain(paced).all(positive), "{:?}", f);
        prop_assert!(share(f.loss_ratio), "{:?}", f);
        prop_assert_eq!(f.loss_ratio.is_some(), f.segments_sent > 0);
        prop_assert_eq!(f.delay_mean_s.is_some(), f.hops.is_some());
        if let (Some(again), Some(timeouts), Some(fast)) = (f.retransmits, f.timeouts, f.fast_retransmits) {
            prop_assert!(again <= f.segments_sent, "{:?}", f);
            prop_assert!(timeouts + fast <= f.segments_sent + 64, "{:?}", f);
        }
        if result.measured_s == result.simulated_s {
            prop_assert!(f.delivered_bytes <= f.segments_sent * packet, "{:?}", f);
        }
    }
    for l in &result.links {
        prop_assert!(l.from != l.to);
        prop_assert!(l.data_drops + l.ack_drops <= l.retry_drops.max(l.queue_drops), "{:?}", l);
        prop_assert_eq!(
            l.collisions,
            l.collisions_rts + l.collisions_cts + l.collisions_data + l.collisions_ack
        );
        prop_assert!(l.collisions <= result.frames);
    }
    let pairs = |l: &meshpace_mesh::result::LinkResult| (l.from.clone(), l.to.clone());
    let mut rows: Vec<_> = result.links.iter().map(pairs).collect();
    rows.sort();
    let count = rows.len();
    rows.dedup();
    prop_assert_eq!(rows.len(), count, "a pair has two rows");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_scenarios_run_and_their_results_are_sound(text in text(), seed in 1u64..1000) {
        let resolved = meshpace_scenario::ScenarioFile::parse("r.toml", text.as_bytes(), &meshpace_scenario::Overrides::none())
            .map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?
            .resolve(seed);
        // Some random graphs are not connected: refused, which the scenario crate tests.
        prop_assume!(resolved.is_ok());
        let result = run_seed(&text, seed);
        let packets: Vec<u64> = scenario(&text, seed)
            .flows
            .iter()
            .map(|flow| match flow.app {
                meshpace_scenario::App::Cbr { packet, .. }
                | meshpace_scenario::App::Echo { packet, .. }
                | meshpace_scenario::App::SelfSimilar { packet, .. } => packet.0,
                _ => flow.segment.0,
            })
            .collect();
        is_sound(&result, &packets)?;
    }
}
