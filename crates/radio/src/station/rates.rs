//! The station as its rate control sees it: which frame is about to go out, in which mode it goes, how each exchange ended.
//!
//! A frame keeps its packets when its mode changes. A slower mode may have no time for all of them. The packets that do not fit
//! wait [aside](super::ahead) until the frame before them is over, or until a faster mode has room for them again.

use super::{Action, Station, StationConfig};
use crate::burst::{Burst, Mpdu};
use crate::phy::mpdus;
use crate::rate_control::Exchange;
use crate::standard::Mode;

impl Station {
    /// The first packet of the unicast frame that goes out, now that the station [wins](Station::wins); `None`: something else goes out.
    #[must_use]
    pub fn upcoming(&self) -> Option<&Mpdu> {
        if self.request().is_some() || self.answer.is_some() {
            return None;
        }
        self.burst.first().filter(|mpdu| mpdu.packet.to.is_some())
    }

    /// The frame that goes out goes in this mode, as far as it fits; `alone`: with its first MPDU only.
    pub fn send_in(&mut self, mode: &'static Mode, alone: bool, config: &StationConfig) {
        if let Some(several) = &mut self.several {
            several.lane.ahead.bring_back(&mut self.burst);
        }
        if self.burst.as_slice().iter().any(|mpdu| mpdu.packet.mode != mode) {
            self.burst.change(|mpdu| mpdu.packet.mode = mode);
        }
        if let Some(several) = &mut self.several {
            let packets = self.burst.as_slice();
            let fitting = if alone { first_mpdu(packets) } else { config.phy.fitting(packets) };
            if fitting < packets.len() {
                let mut parts = [Burst::EMPTY; 2];
                for (at, mpdu) in packets.iter().enumerate() {
                    parts[usize::from(at >= fitting)].push(*mpdu);
                }
                let [now, later] = parts;
                self.burst = now;
                several.lane.ahead.put_aside(later);
            }
        }
        self.needs_rts = self.is_protected(config);
    }

    /// The exchange of the frame in hand has ended: so many of its MPDUs arrived. The rate control learns of it, if there
    /// is one.
    #[inline]
    pub(super) fn exchange_ends(
        &self,
        arrived: impl FnOnce(&[Mpdu]) -> usize,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        if config.told_of_exchanges {
            self.tell_exchange(arrived(self.burst.as_slice()), out);
        }
    }

    #[cold]
    fn tell_exchange(&self, arrived: usize, out: &mut Vec<Action>) {
        let packets = self.burst.as_slice();
        let Some((to, packet)) = packets.first().and_then(|mpdu| Some((mpdu.packet.peer()?, mpdu.packet)))
        else {
            return;
        };
        let (sent, acknowledged) = (mpdus(packets).count() as u16, arrived as u16);
        out.push(Action::Exchanged(Exchange { to, mode: packet.mode, sent, acknowledged }));
    }
}

/// Packets of the first MPDU.
fn first_mpdu(packets: &[Mpdu]) -> usize {
    mpdus(packets).next().map_or(0, <[Mpdu]>::len)
}
