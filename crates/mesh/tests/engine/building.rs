//! Gradual loss, and a building instead of a plane.

use super::support::{cbr, close, json, measure, node, row, run, run_seed, scenario};
use meshpace_radio::coding;
use meshpace_units::NodeId;

/// Two nodes with 802.11a at 24 Mbit/s, no retries and an error curve, `metres` apart.
fn pair(metres: f64) -> String {
    let head = measure(20.0, 0.0);
    let radio = "[radio]\nstandard = \"802.11a\"\nrate = \"24Mbps\"\nrts = \"never\"\nretry_short = 0\nreception = \"sinr\"\n\
                 error_model = \"curve\"\npropagation = \"log-distance\"\npath_loss_exponent = 2\ntx_power = 0\n\
                 sensitivity = -90\ncs_sensitivity = -95\n[routing]\nprotocol = \"static\"\n[defaults]\nscheme = \"newreno\"\n";
    let nodes = format!("{}{}", node("a", 0.0, 0.0), node("b", metres, 0.0));
    format!("{head}{radio}{nodes}{}", cbr("a", "b", 2e6, 1000))
}

/// Thermal noise and a noise figure of 7 dB over 20 MHz, W.
const NOISE: f64 = 4e-13;

#[test]
fn a_link_loses_what_its_curve_says() {
    for metres in [49.0, 51.0, 53.0] {
        let text = pair(metres);
        let resolved = scenario(&text, 1);
        let positions: Vec<_> = resolved.mesh.iter().map(|node| node.position.expect("a place")).collect();
        let power = resolved.radio.links(1, &[]).power(NodeId(0), NodeId(1), &positions);
        let per_bit = coding::OFDM24.ln_success(power / NOISE);
        // An MPDU of 1,056 bytes fills 89 symbols of 96 bits, a MAC ACK of 14 two.
        let expected = (91.0 * 96.0 * per_bit).exp();
        assert!((0.02..0.98).contains(&expected), "{metres} m: {expected} says little");
        let result = run(&text);
        let link = row(&result, "a", "b").expect("a row");
        let attempts = link.attempts.expect("a radio link") as f64;
        let acknowledged = 1.0 - link.retry_drops as f64 / attempts;
        assert!((acknowledged - expected).abs() < 0.03, "{metres} m: {acknowledged}, {expected}");
        assert_eq!(link.collisions, 0, "noise is no collision");
    }
    // 10 dB more: nothing is lost.
    let near = run(&pair(15.0));
    assert_eq!(row(&near, "a", "b").expect("a row").retry_drops, 0);
}

#[test]
fn a_run_repeats_itself_and_a_seed_is_another_building() {
    let keys = "asymmetry_db = 3\ngain_spread_db = 2\nceiling_db = 15\nshadowing_db = 4\nsensitivity";
    let text = pair(30.0).replacen("sensitivity", keys, 1);
    assert_eq!(json(run(&text)), json(run(&text)));
    assert_ne!(json(run_seed(&text, 1)), json(run_seed(&text, 2)));
}

/// `retry_short = 0` is one transmission: what it loses, TCP has to send again.
#[test]
fn without_retries_a_frame_is_sent_once() {
    let head = "[radio]\nrts = \"never\"\nretry_short = 0\nretry_long = 0\n[routing]\nprotocol = \"static\"\n\
                [defaults]\nscheme = \"newreno\"\n";
    let link = "[[radio_link]]\nfrom = \"a\"\nto = \"b\"\nloss = 0.25\nsymmetric = false\n";
    let nodes = format!("{}{}", node("a", 0.0, 0.0), node("b", 200.0, 0.0));
    let result = run(&format!("{}{head}{nodes}{link}{}", measure(40.0, 0.0), cbr("a", "b", 8e5, 1000)));
    let link = row(&result, "a", "b").expect("a row");
    // The last datagram may still wait for its backoff at the end.
    let attempts = link.attempts.expect("a radio link");
    assert!(
        result.flows[0].segments_sent.abs_diff(attempts) <= 1,
        "{attempts} of {}",
        result.flows[0].segments_sent
    );
    close("lost", link.retry_drops as f64 / attempts as f64, 0.25, 0.06);
}

/// A link as long as its range fades in and out; what is sent is delivered while it is in.
#[test]
fn a_link_that_fades_carries_less() {
    let text = |keys: &str| {
        let nodes = format!("{}{}", node("a", 0.0, 0.0), node("b", 249.0, 0.0));
        let head = "[routing]\nprotocol = \"static\"\n[defaults]\nscheme = \"newreno\"\n";
        format!("{}[radio]\n{keys}\n{head}{nodes}{}", measure(60.0, 0.0), cbr("a", "b", 1e5, 1000))
    };
    let delivered = |keys: &str| run(&text(keys)).flows[0].delivered_bytes as f64 * 8.0 / 60.0;
    let (steady, fading) = (delivered(""), delivered("fading_db = 6\nfading_time = 1"));
    close("without fading", steady, 1e5, 0.02);
    assert!((0.2 * steady..0.8 * steady).contains(&fading), "{fading}");
}
