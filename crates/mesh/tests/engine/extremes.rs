//! Legal values at the ends of what is allowed: bounded time, bounded memory, no panic.

use super::support::{cbr, chain, close, flow, link, measure, node, run, wired};

const NEWRENO: &str = "[defaults]\nscheme = \"newreno\"\n";

#[test]
fn a_range_that_covers_everything_is_one_hop() {
    // 20 hops of 25 m: no farther than the 600 m that ns-2's timeouts allow (schemes.md 17.2).
    let radio = "[radio]\ntx_range = 1000000\ncs_range = 1000000\n";
    for routing in ["static", "aodv"] {
        let text = format!(
            "{NEWRENO}{}{radio}[topology]\nkind = \"chain\"\nhops = 20\nspacing = 25\n[routing]\nprotocol = \"{routing}\"\n{}",
            measure(2.0, 0.0),
            flow("n0", "n20", "")
        );
        let f = run(&text).flows[0].clone();
        assert_eq!(f.hops, Some(1));
        assert!(f.goodput_bps > 2e6, "{f:?}");
    }
}

#[test]
fn receivers_far_beyond_every_timeout_hear_what_was_sent() {
    // From 20 us to 3.3 ms of air. No CTS comes in time (from 300 km on, some in time for a later RTS), nor an ACK;
    // without RTS the datagrams arrive all the same, each up to seven times, of which six are duplicates.
    for km in [6.0, 17.0, 50.0, 100.0, 300.0, 1000.0] {
        let radio = "[topology]\nkind = \"explicit\"\nconnected = false\n[radio]\ntx_range = 1000000\ncs_range = 1000000\n";
        let nodes =
            format!("{}{}{}", node("a", 0.0, 0.0), node("b", km * 1e3, 0.0), node("c", km * 1e3, 100.0));
        for routing in ["static", "aodv", "dsdv"] {
            let text = |rts: &str| {
                let head = format!("{NEWRENO}{}{radio}rts = \"{rts}\"\n", measure(2.0, 0.0));
                let flows = [cbr("a", "b", 1e5, 500), cbr("a", "c", 1e6, 1000), flow("b", "a", "")];
                format!("{head}[routing]\nprotocol = \"{routing}\"\n{nodes}{}", flows.concat())
            };
            let with = run(&text("always"));
            let silent = with.flows.iter().all(|f| f.delivered_bytes == 0);
            assert!(silent || km >= 300.0, "{km} {routing}: {with:?}");
            let without = run(&text("never"));
            let arrived = without.flows[0].delivered_bytes + without.flows[1].delivered_bytes;
            assert!(arrived > 0 || routing != "static", "{km} {routing}: {without:?}");
            for f in &without.flows[..2] {
                let packets = f.delivered_bytes / if f.id == "1" { 500 } else { 1000 };
                assert!(packets <= f.segments_sent, "{km} {routing}: {f:?}");
            }
        }
    }
}

#[test]
fn the_smallest_windows_segments_and_queues_still_deliver() {
    let transfer = "app = \"transfer\"\nbytes = 300\nsegment = 1\nwindow = 1";
    let result = run(&format!("{NEWRENO}{}{}{}", measure(20.0, 0.0), chain(2), flow("n0", "n2", transfer)));
    assert_eq!((result.flows[0].delivered_bytes, result.flows[0].segments_sent), (300, 300));
    for scheme in ["newreno", "tcp-gap", "newreno-rfc", "tcp-ap-ns2-2005"] {
        let head = format!(
            "[defaults]\nscheme = \"{scheme}\"\n{}[radio]\narp = false\nqueue = 2\nretry_short = 0\nretry_long = 0\n",
            measure(20.0, 0.0)
        );
        let topology = "[topology]\nkind = \"chain\"\nhops = 3\nwired_queue = 1\nwired_delay = 0\n[routing]\nprotocol = \"static\"\n";
        let flows = format!("{}{}", flow("n0", "B", ""), flow("B", "n0", ""));
        for f in run(&format!("{head}{topology}{flows}")).flows {
            assert!(f.delivered_bytes > 10_000, "{scheme}: {f:?}");
        }
    }
}

#[test]
fn the_largest_windows_and_segments_deliver_too() {
    for scheme in ["newreno", "newreno-rfc", "tcp-gap"] {
        let keys = format!("scheme = \"{scheme}\"\nsegment = 2264\nwindow = 1000000");
        let text = format!(
            "[defaults]\nscheme = \"{scheme}\"\n{}{}{}",
            measure(10.0, 2.0),
            chain(2),
            flow("B", "n0", &keys)
        );
        assert!(run(&text).flows[0].goodput_bps > 3e5, "{scheme}");
    }
}

#[test]
fn slow_wired_links_are_slow() {
    let topology = "[topology]\nkind = \"chain\"\nhops = 2\nwired_rate = \"10kbps\"\nwired_delay = 0\n[routing]\nprotocol = \"static\"\n";
    for scheme in ["newreno", "tcp-gap"] {
        let text = format!(
            "[defaults]\nscheme = \"{scheme}\"\n{}{topology}{}",
            measure(300.0, 60.0),
            flow("n0", "B", "window = 8")
        );
        let f = run(&text).flows[0].clone();
        close(scheme, f.goodput_bps, 1e4 * 1460.0 / 1500.0, 0.05);
    }
    // Slower still: 12 s a packet.
    let crawl = topology.replace("10kbps", "1kbps");
    let text = format!("{NEWRENO}{}{crawl}{}", measure(400.0, 100.0), cbr("n0", "B", 1e3, 900));
    close("1 kbit/s", run(&text).flows[0].goodput_bps, 1e3 * 900.0 / 928.0, 0.05);
}

#[test]
fn the_shortest_runs_end() {
    for (duration, warmup) in [(1e-6, 0.0), (1e-6, 5e-7), (1e-9, 0.0), (1.0, 0.999_999_999)] {
        let text = format!("{NEWRENO}{}{}{}", measure(duration, warmup), chain(2), flow("n0", "n2", ""));
        let result = run(&text);
        close("simulated", result.simulated_s, duration, 1e-9);
        assert!(result.flows[0].goodput_bps.is_finite());
    }
}

#[test]
fn files_and_pauses_as_small_and_as_large_as_they_come() {
    let keys = [
        "app = \"http\"\nfile_mean = 1\npause_mean = \"1ms\"\nfile_shape = 1.0001",
        "app = \"http\"\nfile_mean = 1000000000000\npause_mean = 1000000\nfile_shape = 100",
        "app = \"self-similar\"\nrate = 1000\npacket = 1\nfile_mean = 1\npause_mean = \"1us\"\nfile_shape = 1.0001",
        "app = \"self-similar\"\nrate = \"1Mbps\"\npacket = 1000\nfile_mean = 1000000000\npause_mean = 1000000",
        "app = \"transfer\"\nbytes = 1",
        "app = \"transfer\"\nbytes = 1000000000000000",
        "app = \"cbr\"\nrate = 1000\npacket = 2276",
        "app = \"cbr\"\nrate = \"1Mbps\"\npacket = 1\nudp_header = 0",
    ];
    for key in keys {
        let f = run(&format!("{NEWRENO}{}{}{}", measure(5.0, 0.0), chain(1), flow("n0", "n1", key))).flows[0]
            .clone();
        assert!(f.delivered_bytes > 0, "{key}: {f:?}");
    }
}

#[test]
fn five_hundred_nodes_and_a_thousand_flows_run() {
    let head = format!("{NEWRENO}{}[radio]\nrate = \"1Mbps\"\n", measure(1.0, 0.0));
    let crowd = "[[flow]]\nfrom = \"n0\"\nto = \"n1\"\nstart_jitter = 0.5\ncount = 1000\n";
    let result = run(&format!("{head}{}{crowd}", chain(1)));
    assert_eq!(result.flows.len(), 1000);
    assert!(result.flows.iter().any(|f| f.delivered_bytes > 0));
    let grid = "[topology]\nkind = \"grid\"\nrows = 20\ncols = 25\n[[flow]]\nfrom = \"random\"\nto = \"B\"\nstart_jitter = 0.2\ncount = 20\n";
    for routing in ["aodv", "dsdv", "static"] {
        let result = run(&format!("{head}[routing]\nprotocol = \"{routing}\"\n{grid}"));
        assert!(result.frames > 100, "{routing}: {}", result.frames);
    }
}

#[test]
fn walkers_without_room_stand_still() {
    // The area that these nodes span is a point, or a millimetre.
    let nodes =
        [node("a", 0.0, 0.0), node("b", 0.0, 0.0), wired("B"), link("a", "B", "10Mbps", "1ms")].concat();
    for area in ["", "area = [0.001, 0.001]\n"] {
        let walk = format!("[mobility]\nmodel = \"random-waypoint\"\nspeed_max = 1000\n{area}");
        let text = format!("{NEWRENO}{}{nodes}{walk}{}", measure(2.0, 0.0), flow("b", "B", ""));
        assert!(run(&text).flows[0].goodput_bps > 1e6);
    }
}

#[test]
fn nodes_in_the_same_place_hear_each_other() {
    let nodes: String = (0..5).map(|i| node(&format!("n{i}"), 7.0, 7.0)).collect();
    for reception in ["ns2-capture", "sinr"] {
        for propagation in ["two-ray", "ranges", "log-distance"] {
            let radio = format!("[radio]\nreception = \"{reception}\"\npropagation = \"{propagation}\"\n");
            let flows = format!("{}{}", flow("n0", "n1", ""), flow("n2", "n3", ""));
            let result = run(&format!("{NEWRENO}{}{radio}{nodes}{flows}", measure(3.0, 0.0)));
            assert!(result.aggregate_goodput_bps > 2e6, "{reception} {propagation}: {result:?}");
        }
    }
}

#[test]
fn parameters_of_schemes_at_their_ends_run() {
    let settings = [
        "gc_interval = \"1ms\"",
        "gc_interval = 3600",
        "gc_threshold = 1",
        "gc_order = \"figure\"",
        "gc_reset = \"end\"",
        "gc_aging = \"additive-kbit\"",
        "gc_aging_factor = 1000",
        "gc_improvement = 1000",
        "gc_hold_off = 0\ngc_hold_off_max = 0",
        "gc_profile = \"robust\"",
        "gc_profile = \"robust\"\ngc_backlog_share = 0\ngc_idle_runs = 1\ngc_reset_share = 1",
        "gc_profile = \"robust\"\ngc_backlog_rtt = 1\ngc_reset_share = 0\ngc_cap_min = 1",
        "gap_buffer_total = 0",
        "gap_buffer_windows = 1",
        "gap_held_max = 0",
        "gap_flows_max = 0",
        "gap_segments_max = 0",
        "gap_segments_total = 0",
        "gap_pacer = \"timer\"",
        "gap_initial_interval = \"1us\"",
        "gap_queues = \"one\"",
        "gap_state = \"host\"",
        "gap_option_length = 0",
        "gap_option_length = 40",
        "gap_idle = \"1ms\"",
        "gap_late_tolerance = 1",
        "alpha = 0",
        "alpha = 0.999",
        "n = 1",
        "n = 64",
        "history = 1",
        "delaybound = \"1us\"",
        "delaybound = 60",
        "initial_interval = \"1us\"",
        "initial_interval = 60",
        "ap_overhead_bytes = 10000",
        "rto_min = \"1us\"",
        "rto_initial = \"1us\"",
        "rto_max = \"1us\"",
        "rto_max = 100000",
        "rto_backoff_max = 1",
        "window_cut = \"integer\"",
        "ap_rto_backoff = false",
    ];
    for setting in settings {
        let head =
            format!("[scheme.tcp-gap]\n{setting}\n[defaults]\nscheme = \"tcp-gap\"\n{}", measure(4.0, 0.0));
        let flows = format!("{}{}", flow("n0", "B", ""), flow("B", "n0", ""));
        let result = run(&format!("{head}{}{flows}", chain(3)));
        let slow = setting == "initial_interval = 60"
            || setting.starts_with("rto")
            || setting.starts_with("delaybound");
        assert!(
            slow || result.flows.iter().all(|f| f.delivered_bytes > 5_000),
            "{setting}: {:?}",
            result.flows
        );
    }
}

#[test]
fn a_flat_law_with_much_luck_reaches_farther_than_any_node() {
    // d^-1 and gains of up to 50 dB at both ends: heard from 3e16 light seconds away, if somebody were there.
    let radio = "[radio]\npropagation = \"log-distance\"\npath_loss_exponent = 1\ngain_spread_db = 50\nceiling_db = 0\n";
    let text = format!("{NEWRENO}{}{}{radio}{}", measure(2.0, 0.0), chain(2), flow("n0", "n2", ""));
    assert_eq!(run(&text).flows[0].hops, Some(1));
}

#[test]
fn a_peer_that_was_given_up_stays_so_in_later_periods() {
    // RFC 9293, section 3.8.3, gives up a SYN after 3 minutes and more; the connection was to last for both periods.
    let apart = format!("{}{}", node("a", 0.0, 0.0), node("b", 1000.0, 0.0));
    let topology = "[topology]\nkind = \"explicit\"\nconnected = false\n[routing]\nprotocol = \"static\"\n";
    let periods = "scheme = \"newreno-rfc\"\non = [[\"0s\", \"5s\"], [\"300s\", \"350s\"]]";
    let result = run(&format!("{}{topology}{apart}{}", measure(400.0, 0.0), flow("a", "b", periods)));
    assert_eq!((result.flows[0].delivered_bytes, result.flows[0].hops), (0, None));
}

#[test]
fn what_takes_ages_is_no_overflow() {
    // Walkers of a metre in 30 years, of no metre in the age of the universe; a link without losses for 10^14 s.
    for speed in ["1e-9", "1e-300"] {
        let walk =
            format!("[mobility]\nmodel = \"random-waypoint\"\nspeed_min = {speed}\nspeed_max = {speed}\n");
        let text = format!("{NEWRENO}{}{}{walk}{}", measure(2.0, 0.0), chain(2), flow("n0", "n2", ""));
        assert!(run(&text).flows[0].goodput_bps > 1e6, "{speed}");
    }
    let lossy = "[[radio_link]]\nfrom = \"n0\"\nto = \"n1\"\nloss = 1e-8\nburst = 1000000\n";
    let text = format!("{NEWRENO}{}{}{lossy}{}", measure(2.0, 0.0), chain(1), cbr("n0", "n1", 8e4, 1000));
    assert_eq!(run(&text).flows[0].delivered_bytes, 20_000);
}
