//! Modes that are chosen: over links that fade, beside links that are given theirs.

use super::support::{cbr, close, measure, row, run};
use meshpace_mesh::RunResult;

/// A chain at 5 GHz whose frames are lost by their modes' error curves, its links of 500 m 17.6 dB above the noise on the average.
fn chain(hops: u32, radio: &str) -> String {
    let head = "[radio]\nrts = \"never\"\nreception = \"sinr\"\nerror_model = \"curve\"\ntx_range = \"800m\"\ncs_range = \"1100m\"\n";
    let topology = format!("[topology]\nkind = \"chain\"\nhops = {hops}\nspacing = \"500m\"\n");
    format!("{head}{radio}\n{topology}[routing]\nprotocol = \"static\"\n[defaults]\nscheme = \"newreno\"\n")
}

fn saturated(radio: &str, seconds: f64) -> RunResult {
    run(&format!("{}{}{}", measure(seconds, 1.0), chain(1, radio), cbr("n0", "n1", 80e6, 1_472)))
}

const FADING: &str = "fading_db = 4\nfading_time = \"4s\"";

/// By how much of `ideal`'s goodput `minstrel-ht` has.
#[test]
fn minstrel_follows_links_that_fade() {
    let run = |control: &str| {
        let radio = format!("standard = \"802.11n\"\nrate_control = \"{control}\"\n{FADING}");
        saturated(&radio, 21.0)
    };
    let (ideal, minstrel) = (run("ideal"), run("minstrel-ht"));
    let share = minstrel.flows[0].goodput_bps / ideal.flows[0].goodput_bps;
    assert!(
        (0.85..1.05).contains(&share),
        "{share}: {} of {}",
        minstrel.flows[0].goodput_bps,
        ideal.flows[0].goodput_bps
    );
    for result in [&ideal, &minstrel] {
        let rates = &row(result, "n0", "n1").expect("the link was used").rates;
        assert!(rates.len() >= 4, "it fades by more than one mode: {rates:?}");
    }
}

/// A steady link: each mode that is given by itself, and what `ideal` makes of it. 17.6 dB bear MCS 4 (39 Mbit/s), and nothing faster.
#[test]
fn a_steady_link_has_its_best_mode() {
    let goodput =
        |radio: &str| saturated(&format!("standard = \"802.11n\"\n{radio}"), 3.0).flows[0].goodput_bps;
    let given: Vec<f64> = [3, 4, 5].iter().map(|mcs| goodput(&format!("mcs = {mcs}"))).collect();
    assert!(given[1] > given[0] && given[1] > given[2], "{given:?}");
    close("ideal", goodput("rate_control = \"ideal\""), given[1], 0.005);
    close("minstrel-ht", goodput("rate_control = \"minstrel-ht\""), given[1], 0.06);
}

/// Without aggregates, too: 24 Mbit/s of 802.11a need 13 dB, 36 need 16.5, 48 need 21.
#[test]
fn standards_without_aggregates_choose_as_well() {
    let result = saturated("standard = \"802.11a\"\nrate_control = \"ideal\"", 3.0);
    let rates = &row(&result, "n0", "n1").expect("the link was used").rates;
    assert_eq!(rates.iter().map(|rate| rate.rate_bps).collect::<Vec<_>>(), [36_000_000]);
    let carried = rates[0].acknowledged as f64 * 1_472.0 * 8.0 / 2.0;
    close("what arrived", carried, result.flows[0].goodput_bps, 0.01);
}

/// Wider channels, denser modulations: 802.11ac over 80 MHz, whose frames of one packet are aggregates, too. Noise grows by 6 dB, so that 11.6 dB are left.
#[test]
fn very_high_throughput_follows_as_well() {
    let goodput = |radio: &str| {
        let radio = format!("standard = \"802.11ac\"\nwidth = \"80MHz\"\nstreams = 2\n{radio}");
        run(&format!("{}{}{}", measure(4.0, 1.0), chain(1, &radio), cbr("n0", "n1", 300e6, 1_472))).flows[0]
            .goodput_bps
    };
    let (ideal, minstrel) = (goodput("rate_control = \"ideal\""), goodput("rate_control = \"minstrel-ht\""));
    assert!((0.9..1.02).contains(&(minstrel / ideal)), "{minstrel} of {ideal}");
    assert!(ideal > 100e6, "{ideal}");
}

/// Over several hops, with TCP, and with frames that are fixed ahead; packets of every frame are counted in its mode.
#[test]
fn chains_of_controlled_links_carry_tcp() {
    for ahead in [0, 2] {
        for control in ["ideal", "minstrel-ht"] {
            let radio = format!(
                "standard = \"802.11n\"\nstreams = 2\nrate_control = \"{control}\"\naggregates_ahead = {ahead}\n{FADING}"
            );
            let flow = "[[flow]]\nfrom = \"n0\"\nto = \"n2\"\n";
            let result = run(&format!("{}{}{flow}", measure(4.0, 1.0), chain(2, &radio)));
            assert!(result.flows[0].goodput_bps > 1e6, "{control}, {ahead} ahead: {:?}", result.flows[0]);
            for link in &result.links {
                let aggregates = link.aggregates.as_ref().expect("802.11n");
                let frames: u64 = link.rates.iter().map(|rate| rate.frames).sum();
                // One may have been on the air when counting began or ended.
                assert!(frames.abs_diff(aggregates.frames) <= 2, "{control}: {frames}, {aggregates:?}");
                assert!(link.rates.iter().all(|rate| rate.acknowledged <= rate.mpdus && rate.streams <= 2));
            }
        }
    }
}

/// Modes that are given leave no rows.
#[test]
fn given_modes_are_not_counted() {
    let result = saturated("standard = \"802.11n\"", 2.0);
    assert!(result.links.iter().all(|link| link.rates.is_empty()));
}
