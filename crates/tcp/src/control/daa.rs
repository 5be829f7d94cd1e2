//! TCP-DAA's sender: it reads fewer acknowledgements as more, and waits longer for them.

use super::part::WindowPart;
use super::{Ack, Allowance, Asks, Control, NewReno, Outstanding, Reaction, Rules};
use alloc::boxed::Box;
use meshpace_keys::Key;
use meshpace_units::{Instant, Span};

pub(super) static PART: WindowPart = WindowPart::new(
    "daa",
    "NewReno with a small window, an early fast retransmit and a long timeout, for receivers that acknowledge rarely.",
    "schemes.md 7.2; de Oliveira and Braun 2005, from memory",
    |values, surroundings| {
        let rules = Rules { duplicate_threshold: values.count("daa_duplicates"), ..surroundings.rules };
        Box::new(Daa {
            base: NewReno::new(rules),
            window: values.count("daa_window"),
            factor: values.real("daa_rto_factor"),
        })
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 3] = [
    Key::count(
        "daa_duplicates",
        (1, 10),
        2,
        "Duplicate acknowledgements that signal a loss (schemes.md 7.2).",
    ),
    Key::number(
        "daa_rto_factor",
        (1.0, 100.0),
        5.0,
        "Factor of the retransmission timeout (schemes.md 7.2).",
    ),
    Key::count("daa_window", (1, 1_000), 4, "Limit of the window, segments (schemes.md 7.2)."),
];

/// TCP-DAA's sender (schemes.md 7.2).
#[derive(Clone, Debug)]
struct Daa {
    base: NewReno,
    window: u32,
    factor: f64,
}

impl Control for Daa {
    fn asks(&self) -> Asks {
        self.base.asks()
    }

    fn on_connected(&mut self, syn_lost: bool, mss: u32) {
        self.base.on_connected(syn_lost, mss);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        self.base.on_ack(ack)
    }

    fn on_timeout(&mut self, now: Instant, out: &Outstanding) {
        self.base.on_timeout(now, out);
    }

    fn on_idle(&mut self, mss: u32) {
        self.base.on_idle(mss);
    }

    fn on_mss_change(&mut self, old: u32, new: u32) {
        self.base.on_mss_change(old, new);
    }

    fn window(&self, mss: u32, new_data: bool) -> Option<Allowance> {
        let allowance = self.base.window(mss, new_data)?;
        Some(Allowance { bytes: allowance.bytes.min(u64::from(self.window) * u64::from(mss)), ..allowance })
    }

    fn burst(&self) -> Option<u32> {
        self.base.burst()
    }

    fn timeout(&self, rto: Span) -> Span {
        rto.checked_mul_f64(self.factor).unwrap_or(Span::MAX)
    }

    fn cwnd(&self) -> Option<f64> {
        self.base.cwnd().map(|cwnd| cwnd.min(f64::from(self.window)))
    }

    fn ssthresh(&self) -> Option<f64> {
        self.base.ssthresh()
    }
}
