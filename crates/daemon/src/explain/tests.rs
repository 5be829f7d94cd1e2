use super::*;
use crate::control::tests::example;

#[test]
fn the_formulas_come_with_their_numbers() {
    // schemes.md section 2: FHD_hat 30 ms then FHD 40 ms is 33 ms; 10, 12, 14 ms have cov 1/6, factor 4/3.
    let text = render(&example::detail());
    for line in [
        "  policy    mode pace, of whose flows 50 % are paced: this one drew 0.250, so it is in the paced group; treated as pace",
        "  path      4 wireless hops (ttl), links 2 Mbit/s",
        "Rate to the mesh: one packet each 44 ms, that is 22.7 packet/s or 265 kbit/s in segments of 1,460 bytes.",
        "Set by the rate law.",
        "         RTT = 56.6 ms, h = 4, b = 2 Mbit/s,",
        "         s_data = 12,224 bit, s_ack = 544 bit, n = 4, k = 4",
        "  (1.2)  t_q = (RTT - air time) / 2h = (56.6 ms - 25.5 ms) / 8 = 3.89 ms",
        "  (2.1)  FHD = k * (t_q + s_data/b) = 4 * 3.89 ms + 24.4 ms = 40 ms",
        "  (2.2)  FHD_hat = 0.7 * 30 ms + 0.3 * 40 ms = 33 ms",
        "  (2.3)  cov = deviation / mean of the last 3 round trips (at most 50) = 2 ms / 12 ms = 0.167",
        "         latest round trips: 10 12 14 ms",
        "  (2.4)  R = 1 / (FHD_hat * (1 + 2 * cov)) = 1 / (33 ms * 1.333) = 22.7 packet/s, one each 44 ms",
        "  goodput 240 kbit/s over the mean 240 kbit/s of 2 flows compared = 1.00, not above the threshold 1.1",
        "  not capped",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
}

#[test]
fn a_watched_flow_is_told_what_pacing_would_do() {
    let mut detail = example::detail();
    detail.flow.treatment = "observe".into();
    detail.flow.paced = false;
    detail.policy.draw = 0.75;
    detail.forecast = Some(Forecast {
        interval_s: Some(0.0234),
        rate_bps: Some(500_000),
        base_rtt_s: Some(0.041),
        sharing: Some(2),
        unknown: None,
    });
    let text = render(&detail);
    assert!(text.contains("so it is in the watched group; treated as observe"), "{text}");
    assert!(text.contains("Rate to the mesh: not limited, as the flow is only watched.\n"), "{text}");
    assert!(
        text.contains(
            "Paced, it would get about 500 kbit/s, one packet each 23.4 ms: the rate law with the least round trip, 41 ms, and no \
             variation, shared by the 2 flows to this host.\nIt gets less now."
        ),
        "{text}"
    );
    assert!(!text.contains("each 44 ms."), "its own samples are not what it would be paced by: {text}");
    assert!(!text.contains("Held against"), "none was: {text}");
    detail.forecasts =
        Some(Forecasts { compared: 1, mean_error: -0.3, mean_error_size: 0.3, undecided: 0, latest: None });
    let text = render(&detail);
    assert!(
        text.contains("this host.\nHeld against what came: of 1 forecast so far what came was 30 % less.\n"),
        "{text}"
    );
}

#[test]
fn a_flow_left_to_the_shaper_has_its_hosts_share() {
    let mut detail = example::detail();
    (detail.flow.treatment, detail.flow.paced) = ("shape".into(), false);
    let text = render(&detail);
    assert!(
        text.contains("treated as shape\n")
            && text.contains("Rate to the mesh: its part of its host's share."),
        "{text}"
    );
    assert!(
        !text.contains("Rate law") && !text.contains("only watched") && !text.contains("Paced, it would"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_told_says_why() {
    let mut detail = example::detail();
    detail.flow.treatment = "observe".into();
    detail.flow.paced = false;
    for (unknown, why) in [
        ("too-young", "Too few round trips were measured."),
        (
            "never-alone",
            "Every round trip was that of a path which the flow itself had filled. A pause, or another",
        ),
        ("not-measured", "This data path does not tell what was on its way."),
    ] {
        let nothing =
            Forecast { interval_s: None, rate_bps: None, base_rtt_s: None, sharing: None, unknown: None };
        detail.forecast = Some(Forecast { unknown: Some(unknown.into()), ..nothing });
        let text = render(&detail);
        assert!(text.contains(&format!("Paced, it would get: that cannot be told. {why}")), "{text}");
    }
}

#[test]
fn the_cap_says_why() {
    let mut detail = example::detail();
    detail.flow.interval_s = Some(0.050);
    let standing = detail.goodput_control.as_mut().unwrap();
    (standing.goodput_bps, standing.cap_interval_s, standing.capped_runs) =
        (Some(320e3), Some(0.050), Some(0));
    let text = render(&detail);
    assert!(
        text.contains("Set by goodput control's cap; the rate law alone would allow one each 44 ms."),
        "{text}"
    );
    assert!(text.contains("= 1.33, above the threshold 1.1"), "{text}");
    assert!(text.contains("  capped at 20 packet/s in that run"), "{text}");
    let standing = detail.goodput_control.as_mut().unwrap();
    (standing.cap_interval_s, standing.capped_runs, standing.left_alone_runs) = (None, None, Some(3));
    assert!(render(&detail).contains("left alone for 3 more runs"), "{}", render(&detail));
}

#[test]
fn an_upward_flow_is_paced_by_its_sender() {
    let mut detail = example::detail();
    detail.law = None;
    detail.flow.direction = "up".into();
    detail.flow.options_written = 1_234;
    let text = render(&detail);
    assert!(text.contains("set by the host in the mesh") && text.contains("1,234 options written"), "{text}");
    assert!(!text.contains("Rate law"), "{text}");
    assert!(text.contains("not capped: only flows to the mesh are"), "{text}");
}

#[test]
fn before_the_first_sample_nothing_is_limited() {
    let mut detail = example::detail();
    detail.flow.interval_s = None;
    let law = detail.law.as_mut().unwrap();
    (law.last, law.smoothed_s, law.interval_s, law.history_s) = (None, None, None, Vec::new());
    let text = render(&detail);
    assert!(text.contains("nothing is held before the first"), "{text}");
}

#[test]
fn a_round_trip_below_the_air_time_is_told() {
    let mut detail = example::detail();
    let step = detail.law.as_mut().unwrap().last.as_mut().unwrap();
    (step.rtt_s, step.queueing_s, step.k_hop_delay_s) = (0.020, 0.0, 0.024_448);
    let text = render(&detail);
    assert!(text.contains("= -692 us < 0: the round trip is shorter than the air time, so 0"), "{text}");
}

#[test]
fn a_host_with_several_flows_lists_them_and_one_with_a_single_flow_is_explained() {
    let flows = vec![example::report(1, 900), example::report(2, 100)];
    let running = example::Running::start(flows);
    let control =
        crate::config::Control { socket: running.directory().join("run/control.sock"), group: None };
    let server = crate::control::Server::start(&control, running.daemon()).unwrap();
    let mut client = Client::connect(&control.socket).unwrap();
    let line = several(&mut client, "192.0.2.1").unwrap().expect("both go there");
    let Reply::Flows(list) = &line.answer else { panic!("{line:?}") };
    let text = choice(list);
    for part in ["10.1.2.1:5001-192.0.2.1:443", "10.1.2.2:5001-192.0.2.1:443", "2 flows fit: explain one"] {
        assert!(text.contains(part), "{text}");
    }
    for name in ["10.1.2.1", "10.9.9.9", "10.1.2.1:5001-192.0.2.1:443", "5001-"] {
        assert_eq!(several(&mut client, name).unwrap(), None, "{name} is asked for as one flow");
    }
    server.stop();
}

#[test]
fn another_law_is_named_and_tells_what_it_goes_by() {
    let mut detail = example::detail();
    let interval_s = detail.law.take().and_then(|law| law.interval_s);
    let figures = vec![("least round trip, s".to_owned(), 0.012), ("queue, s".to_owned(), 0.003)];
    detail.other_law = Some(OtherLaw { name: "delay-rate".to_owned(), interval_s, figures });
    let text = render(&detail);
    assert!(text.contains("Set by the law delay-rate."), "{text}");
    let figures =
        format!("\nThe law delay-rate: least round trip, s {}; queue, s {}\n", digits(0.012), digits(0.003));
    assert!(text.contains(&figures), "{text}");
}
