//! Saturation throughput, simulated and in closed form, as JSON lines.

#[allow(dead_code, unused_imports, reason = "every user of the harness has its own part of it")]
#[path = "../tests/air/mod.rs"]
mod air;
#[path = "../tests/saturation/mod.rs"]
mod saturation;

use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for case in saturation::cases() {
        let outcome = case.run(50_000);
        writeln!(
            out,
            "{{\"standard\": \"{}\", \"rate_bps\": {}, \"backoff_range\": \"{}\", \"access\": \"{}\", \"stations\": {}, \
             \"simulated_bps\": {:.0}, \"bianchi_bps\": {:.0}, \"refined_bps\": {:.0}, \
             \"bianchi_deviation\": {:.4}, \"refined_deviation\": {:.4}, \
             \"simulated_failures\": {:.4}, \"refined_failures\": {:.4}}}",
            case.standard,
            case.rate * 1e6,
            format!("{:?}", case.range).to_lowercase(),
            case.access(),
            case.stations,
            outcome.simulated.throughput_bps,
            outcome.classic.throughput_bps,
            outcome.refined.throughput_bps,
            outcome.deviation(outcome.classic),
            outcome.deviation(outcome.refined),
            outcome.simulated.failures,
            outcome.refined.failures,
        )?;
    }
    Ok(())
}
