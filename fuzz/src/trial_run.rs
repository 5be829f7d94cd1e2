//! The first half second of a scenario, if that is bounded work.

use meshpace_mesh::{Probe, run_with};
use meshpace_network::{AirId, Watch};
use meshpace_radio::Frame;
use meshpace_relay::packet::Packet;
use meshpace_scenario::{App, Plan, Scenario};
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What is simulated of a scenario.
const DURATION: Span = Span::from_millis(500);
/// Flows that would start later start within this time instead.
const START: Span = Span::from_millis(20);
/// Frames after which a run is cut off.
const FRAMES: u32 = 5_000;
/// Most mesh nodes, flows, wired links of a scenario that is run.
const COUNT: usize = 24;
/// Fastest wired link of a scenario that is run.
const LINK_RATE: Rate = Rate::bits_per_sec(20_000_000);
/// Highest rate of a source.
const SOURCE_RATE: Rate = Rate::bits_per_sec(2_000_000);
/// Smallest packet of a source, mean burst or file, and segment.
const SIZE: Bytes = Bytes(50);
/// Shortest mean pause of a source.
const PAUSE: Span = Span::from_millis(1);

/// Ends a run that has sent enough frames. The engine knows no such limit, and a panic would be a finding, so the probe
/// unwinds without one.
struct Enough {
    frames: u32,
}

impl Probe for Enough {}

impl Watch for Enough {
    fn frame(&mut self, _: Instant, _: AirId, _: &Frame, _: &[&Packet]) {
        self.frames += 1;
        if self.frames > FRAMES {
            resume_unwind(Box::new(()));
        }
    }
}

/// Runs the beginning of `scenario`, unless it is large.
///
/// # Panics
/// If the engine does, or its figures are not what they are by definition.
pub fn trial_run(mut scenario: Scenario) {
    if !is_small(&scenario) {
        return;
    }
    scenario.measure.plan = Plan::Time { duration: DURATION, warmup: START };
    scenario.measure.windows = vec![DURATION / 4];
    for flow in &mut scenario.flows {
        flow.start = flow.start.min(Instant::ZERO + START);
    }
    let run = || run_with(&scenario, &mut Enough { frames: 0 });
    let Ok(result) = catch_unwind(AssertUnwindSafe(run)) else { return };
    let result = result.unwrap_or_else(|error| panic!("checked, yet refused: {error}"));
    let unit = |index: Option<f64>| index.is_none_or(|index| (0.0..=1.000_001).contains(&index));
    assert!(unit(result.jain) && unit(result.jain_per_hop), "{result:?}");
    assert!(result.aggregate_goodput_bps.is_finite(), "{result:?}");
    for flow in &result.flows {
        assert!(flow.goodput_bps.is_finite() && unit(flow.loss_ratio), "{flow:?}");
    }
}

fn is_small(scenario: &Scenario) -> bool {
    [scenario.mesh.len(), scenario.links.len(), scenario.flows.len()].iter().all(|&count| count <= COUNT)
        && scenario.links.iter().all(|link| link.rate <= LINK_RATE)
        && scenario.flows.iter().all(|flow| flow.segment >= SIZE && is_slow(&flow.app))
}

/// True if the application asks for few events a second by itself.
fn is_slow(app: &App) -> bool {
    match *app {
        App::Ftp | App::Transfer { .. } => true,
        App::Http { file_mean, pause_mean, .. } => file_mean >= SIZE && pause_mean >= PAUSE,
        App::Cbr { rate, packet, .. } => rate <= SOURCE_RATE && packet >= SIZE,
        App::Echo { packet, interval, .. } => packet >= SIZE && interval >= PAUSE,
        App::SelfSimilar { rate, packet, burst_mean, pause_mean, .. } => {
            rate <= SOURCE_RATE && packet >= SIZE && burst_mean >= SIZE && pause_mean >= PAUSE
        }
    }
}
