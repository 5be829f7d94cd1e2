//! TCP-DAA's sender: it reads fewer acknowledgements as more, and waits longer for them.

use super::part::WindowPart;
use super::{Allowance, Congestion, Window};
use meshpace_keys::{Brings, Key};
use meshpace_units::Span;

pub(super) static PART: WindowPart = WindowPart::new(
    "daa",
    "NewReno with a small window, an early fast retransmit and a long timeout, for receivers that acknowledge rarely.",
    "schemes.md 7.2; de Oliveira and Braun 2005, from memory",
    |values, surroundings| {
        Daa {
            window: Window::new(surroundings.rules),
            limit: values.count("daa_window"),
            factor: values.real("daa_rto_factor"),
        }
        .into()
    },
)
.brings(&[Brings { key: "recovery", word: Some("early") }])
.keys(&[&KEYS]);

static KEYS: [Key; 2] = [
    Key::number(
        "daa_rto_factor",
        (1.0, 100.0),
        5.0,
        "Factor of the retransmission timeout (schemes.md 7.2).",
    ),
    Key::count("daa_window", (1, 1_000), 4, "Limit of the window, segments (schemes.md 7.2)."),
];

/// TCP-DAA's sender (schemes.md 7.2), but for its early fast retransmit.
#[derive(Clone, Debug)]
struct Daa {
    window: Window,
    /// Segments.
    limit: u32,
    factor: f64,
}

impl Congestion for Daa {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn limited(&self, allowance: Allowance, mss: u32) -> Allowance {
        Allowance { bytes: allowance.bytes.min(u64::from(self.limit) * u64::from(mss)), ..allowance }
    }

    fn timeout(&self, rto: Span) -> Span {
        rto.checked_mul_f64(self.factor).unwrap_or(Span::MAX)
    }

    fn cwnd(&self) -> f64 {
        self.window.cwnd().min(f64::from(self.limit))
    }
}
