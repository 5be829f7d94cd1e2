//! Saturated stations on one spot, simulated and in closed form.

mod model;

use crate::air::{Air, Setup};
use meshpace_radio::BackoffRange;
use meshpace_radio::{Position, Propagation};
use meshpace_units::{Bytes, Instant, Span};

pub use model::{Model, Prediction};

/// Packets of 1506 bytes make frames of 1540 bytes, 1120 us at 11 Mbit/s: where a frame does not last whole
/// microseconds, the rounded duration field holds up the bystanders by a part of one, which keeps them from
/// colliding with the last sender: an effect of ns-2 that no closed form has.
const PACKET: u64 = 1506;

/// Seconds that the stations get to spread their windows.
const WARM_UP: Span = Span::from_secs(2);

/// One line of the table.
pub struct Case {
    pub standard: &'static str,
    pub rate: f64,
    pub rts: bool,
    pub range: BackoffRange,
    pub stations: u32,
}

/// What came out.
pub struct Outcome {
    pub simulated: Prediction,
    pub classic: Prediction,
    pub refined: Prediction,
}

/// The whole table.
pub fn cases() -> Vec<Case> {
    let standard = BackoffRange::Standard;
    let radios = [
        ("802.11b", 1.0, standard),
        ("802.11b", 11.0, standard),
        ("802.11b", 11.0, BackoffRange::Ns2),
        ("802.11a", 6.0, standard),
        ("802.11a", 54.0, standard),
    ];
    let mut cases = Vec::new();
    for (standard, rate, range) in radios {
        for rts in [false, true] {
            cases.extend([2, 3, 5, 10, 15, 20].map(|stations| Case { standard, rate, rts, range, stations }));
        }
    }
    cases
}

impl Case {
    fn setup(&self) -> Setup {
        let mut setup = match self.standard {
            "802.11a" => Setup::ofdm(self.rate, self.rts),
            _ => Setup::dsss(self.rate, self.rts),
        };
        setup.phy.backoff_range = self.range;
        // Everybody equally strong: nothing is captured over.
        setup.propagation = Propagation::Ranges;
        setup
    }

    /// Basic access, or RTS/CTS.
    pub fn access(&self) -> &'static str {
        if self.rts { "rts" } else { "basic" }
    }

    /// Simulates until about `packets` are through.
    pub fn run(&self, packets: u32) -> Outcome {
        let setup = self.setup();
        let model = Model::new(&setup.phy, self.stations, Bytes(PACKET), setup.mode());
        let (classic, refined) = (model.classic(), model.refined());
        let bits = Bytes(PACKET).bits() as f64;
        let length = Span::from_secs_f64(f64::from(packets) * bits / refined.throughput_bps);

        let mut air = Air::new(&setup, &vec![Position::flat(0.0, 0.0); self.stations as usize]);
        air.recording = false;
        for node in 0..self.stations {
            air.saturate(node, (node + 1) % self.stations, PACKET, setup.mode());
        }
        let count =
            |air: &Air| (air.sent.iter().sum::<u64>() as f64, air.attempts.iter().sum::<u64>() as f64);
        air.run_until(Instant::ZERO + WARM_UP);
        let before = count(&air);
        air.run_until(Instant::ZERO + WARM_UP + length);
        let after = count(&air);
        let (sent, attempts) = (after.0 - before.0, after.1 - before.1);
        let simulated = Prediction {
            throughput_bps: sent * bits / length.as_secs_f64(),
            failures: 1.0 - sent / attempts,
        };
        Outcome { simulated, classic, refined }
    }
}

impl Outcome {
    /// How far the simulation is above a prediction, as a share of it.
    pub fn deviation(&self, from: Prediction) -> f64 {
        self.simulated.throughput_bps / from.throughput_bps - 1.0
    }
}
