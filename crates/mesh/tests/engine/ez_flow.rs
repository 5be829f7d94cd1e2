//! What EZ-flow is for: relays whose queues stand while a source sends more than the chain carries (Aziz et al. 2009, section 2).

use super::support::{cbr, chain, measure, run};

/// Packets that found the queue of a relay full, and goodput in bit/s.
fn saturated(scheme: &str) -> (u64, f64) {
    let radio = "[radio]\nrate = \"11Mbps\"\nrts = \"always\"\n";
    let flow = cbr("n0", "n8", 3e6, 1000);
    let result = run(&format!("{}{radio}{}{flow}scheme = \"{scheme}\"\n", measure(90.0, 30.0), chain(8)));
    let relays = result.links.iter().filter(|link| link.from != "n0");
    (relays.map(|link| link.queue_drops).sum(), result.flows[0].goodput_bps)
}

#[test]
fn over_eight_hops_it_empties_the_relays_and_more_arrives() {
    let (lost, before) = saturated("newreno");
    let (left, after) = saturated("ez-flow");
    assert!(lost > 1_000 && left < lost / 10, "{left} instead of {lost} packets found a relay's queue full");
    assert!(after > 1.15 * before, "{after} instead of {before} bit/s");
}
