//! Saturation throughput against Bianchi's closed form (docs/contract.md 4): both numbers are printed, and the test fails
//! outside the stated tolerances. `cargo run --release --example bianchi` prints the same table as JSON lines.

use crate::saturation::cases;

/// Bianchi 2000 with finite retries: it knows neither the anomalous slot nor the colliders' head start.
const CLASSIC: f64 = 0.03;
/// With both. What is left is chance (about 0.3 % at 10,000 packets) and the decoupling assumption (1.4 % at most, at
/// 54 Mbit/s, where backoffs are most of the time).
const REFINED: f64 = 0.02;
/// Failed attempts / attempts, absolute.
const FAILURES: f64 = 0.015;

#[test]
fn saturation_throughput_is_bianchis() {
    println!("standard rate range    access  n  simulated  classic          refined          failed  model");
    let mut outside = Vec::new();
    for case in cases() {
        let outcome = case.run(10_000);
        let (classic, refined) = (outcome.deviation(outcome.classic), outcome.deviation(outcome.refined));
        let failures = (outcome.simulated.failures, outcome.refined.failures);
        let mbps = |bps: f64| bps / 1e6;
        let row = format!(
            "{} {:>4} {:<8} {:<6} {:>2} {:>10.3} {:>8.3} {:>+6.2} % {:>8.3} {:>+6.2} % {:>7.3} {:>6.3}",
            case.standard,
            case.rate,
            format!("{:?}", case.range),
            case.access(),
            case.stations,
            mbps(outcome.simulated.throughput_bps),
            mbps(outcome.classic.throughput_bps),
            classic * 100.0,
            mbps(outcome.refined.throughput_bps),
            refined * 100.0,
            failures.0,
            failures.1,
        );
        println!("{row}");
        if classic.abs() > CLASSIC || refined.abs() > REFINED || (failures.0 - failures.1).abs() > FAILURES {
            outside.push(row);
        }
    }
    assert!(outside.is_empty(), "outside the tolerances:\n{}", outside.join("\n"));
}
