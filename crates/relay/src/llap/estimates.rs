//! How long packets for one egress take here and at the next hop, and the core's delay that follows: (8.1) to (8.3).

use super::options::{Core, Options, Update};
use meshpace_units::Span;

/// Averages, none before its first sample, and the delay.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Estimates {
    /// HT: from a relayed packet's arrival to its departure.
    pub here: Option<Span>,
    /// HT0: of this the part after it left the Input Queue.
    pub unheld: Option<Span>,
    /// NHT: from a packet's departure to that from the next hop.
    pub next: Option<Span>,
    /// PD.
    pub delay: Span,
}

impl Estimates {
    /// A relayed packet is through.
    pub fn passed(&mut self, here: Span, unheld: Span, options: &Options) {
        self.here = Some(average(self.here, here, options.alpha));
        self.unheld = Some(average(self.unheld, unheld, options.alpha));
        if options.update == Update::Packet {
            self.control(options);
        }
    }

    /// The next hop took so long for a packet.
    pub fn overheard(&mut self, next: Span, options: &Options) {
        self.next = Some(average(self.next, next, options.alpha));
        self.control(options);
    }

    /// The next hop is another one, or gone.
    pub fn forget_next_hop(&mut self) {
        (self.next, self.delay) = (None, Span::ZERO);
    }

    /// (8.3), or what the option puts in its place.
    fn control(&mut self, options: &Options) {
        let Some(next) = self.next else { return };
        self.delay = match options.core {
            Core::Hold => self.unheld.map_or(self.delay, |unheld| next.saturating_sub(unheld)),
            Core::Integrator | Core::Spacing | Core::SpacingClamped => {
                self.here.map_or(self.delay, |here| (self.delay + next).saturating_sub(here))
            }
        };
        if options.core == Core::SpacingClamped {
            self.delay = self.delay.min(next);
        }
    }
}

/// `alpha` is the weight of the old value.
fn average(old: Option<Span>, sample: Span, alpha: f64) -> Span {
    let Some(old) = old else { return sample };
    Span::from_secs_f64(alpha * old.as_secs_f64() + (1.0 - alpha) * sample.as_secs_f64())
}
