//! Which frames make an exchange. A listener hears some of RTS, CTS, data and acknowledgement; control frames name one
//! station, so it has to remember which station reserved the medium.

use super::{Station, capacity};
use alloc::vec::Vec;
use meshpace_units::{Bytes, Instant, Span};

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Data that are acknowledged.
    Data,
    /// Acknowledgement.
    Ack,
    /// Anything else that takes time on the air.
    Other,
}

/// A frame that was read to its last bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is.
    pub kind: Kind,
    /// Whom it is for; `None`: a group.
    pub receiver: Option<Station>,
    /// The sender; CTS and acknowledgement do not say.
    pub transmitter: Option<Station>,
    /// Its duration field: how long the medium is reserved after it.
    pub duration: Span,
    /// First bit, of the preamble.
    pub began: Instant,
    /// Last bit.
    pub ended: Instant,
    /// The whole frame from header to check sequence.
    pub size: Bytes,
    /// What a data frame carries.
    pub payload: Bytes,
}

/// An exchange that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// The sender of the data.
    pub from: Station,
    /// The receiver that acknowledged them.
    pub to: Station,
    /// First bit of what was heard of it.
    pub began: Instant,
    /// Last bit of the acknowledgement.
    pub ended: Instant,
    /// The data frame.
    pub size: Bytes,
    /// What it carries.
    pub payload: Bytes,
    /// What the link can carry by this exchange, bit/s; `None` if the times cannot be.
    pub capacity: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    from: Station,
    to: Option<Station>,
    began: Instant,
    rts_ended: Option<Instant>,
    cts_ended: Option<Instant>,
    data: Option<Frame>,
    /// What comes later does not belong to it.
    until: Instant,
}

/// Finds exchanges in what a listener reads, in the order of time.
#[derive(Clone, Debug)]
pub struct Exchanges {
    sifs: Span,
    open: Vec<Open>,
}

/// Rounding of times in files, and propagation.
const SLACK: Span = Span::from_micros(20);
/// More exchanges than this are not under way where one listener is.
const MOST: usize = 16;

impl Exchanges {
    /// With this short interframe space.
    #[must_use]
    pub const fn new(sifs: Span) -> Self {
        Self { sifs, open: Vec::new() }
    }

    /// A frame was read; the exchange that it completes.
    pub fn on_frame(&mut self, frame: &Frame) -> Option<Exchange> {
        let reserved = frame.ended + frame.duration + SLACK;
        match (frame.kind, frame.transmitter, frame.receiver) {
            (Kind::Rts, Some(from), to) => {
                self.take(|open| open.from == from);
                self.push(Open {
                    from,
                    to,
                    began: frame.began,
                    rts_ended: Some(frame.ended),
                    cts_ended: None,
                    data: None,
                    until: reserved,
                });
            }
            (Kind::Cts, _, Some(from)) => {
                let began = frame.began;
                let known = self.take(|open| open.from == from && open.data.is_none() && began <= open.until);
                let new = Open {
                    from,
                    to: None,
                    began,
                    rts_ended: None,
                    cts_ended: None,
                    data: None,
                    until: reserved,
                };
                self.push(Open { cts_ended: Some(frame.ended), until: reserved, ..known.unwrap_or(new) });
            }
            (Kind::Data, Some(from), Some(to)) => {
                let fits = |open: &Open| open.to.is_none_or(|other| other == to) && frame.began <= open.until;
                let known =
                    self.take(|open| open.from == from).filter(|open| open.data.is_none() && fits(open));
                let new = Open {
                    from,
                    to: Some(to),
                    began: frame.began,
                    rts_ended: None,
                    cts_ended: None,
                    data: None,
                    until: reserved,
                };
                // An acknowledgement begins a pause after the data.
                let until = frame.ended + self.sifs + SLACK;
                self.push(Open { to: Some(to), data: Some(*frame), until, ..known.unwrap_or(new) });
            }
            (Kind::Ack, _, Some(from)) => {
                let open = self.take(|open| open.from == from)?;
                let (data, to) = (open.data?, open.to?);
                // Simulated radios of Linux acknowledge before the air time is over: they have none.
                if frame.began > open.until || frame.began < data.began {
                    return None;
                }
                let capacity = match (open.cts_ended, open.rts_ended) {
                    (Some(cts), _) => capacity::of_sender(data.size, cts, frame.ended, self.sifs),
                    (None, Some(rts)) => capacity::of_receiver(data.size, rts, data.ended, self.sifs, 2),
                    (None, None) => {
                        let on_air = |frame: &Frame| frame.ended.saturating_since(frame.began);
                        // The duration of a data frame tells how long its acknowledgement takes, unless it reserves time for a
                        // further fragment or the rest of a transmission opportunity, or nothing (IEEE 802.11-2020, 9.2.5).
                        let heard = self.sifs + on_air(frame);
                        let told = Some(data.duration).filter(|duration| *duration > self.sifs);
                        let after = told.map_or(heard, |told| told.min(heard));
                        capacity::unprotected(data.size, on_air(&data), after, self.sifs)
                    }
                };
                let Frame { size, payload, .. } = data;
                return Some(Exchange {
                    from,
                    to,
                    began: open.began,
                    ended: frame.ended,
                    size,
                    payload,
                    capacity,
                });
            }
            _ => {}
        }
        None
    }

    fn push(&mut self, open: Open) {
        if self.open.len() >= MOST {
            self.open.remove(0);
        }
        self.open.push(open);
    }

    fn take(&mut self, which: impl FnMut(&Open) -> bool) -> Option<Open> {
        self.open.iter().position(which).map(|at| self.open.remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIFS: Span = Span::from_micros(10);
    const CONTROL: Span = Span::from_micros(304);
    const DATA: Span = Span::from_micros(1303);

    /// RTS, CTS, data, acknowledgement from station 1 to station 2, from `began` on.
    fn exchange(began: Instant) -> [Frame; 4] {
        let rts = Span::from_micros(352);
        let frame = |kind, transmitter, receiver, began: Instant, airtime, duration, size| Frame {
            kind,
            receiver: Some(receiver),
            transmitter,
            duration,
            began,
            ended: began + airtime,
            size: Bytes(size),
            payload: Bytes(size.saturating_sub(36)),
        };
        let nav = SIFS * 3 + CONTROL + DATA + CONTROL;
        let first = frame(Kind::Rts, Some(1), 2, began, rts, nav, 20);
        let cts = frame(Kind::Cts, None, 1, first.ended + SIFS, CONTROL, nav - SIFS - CONTROL, 14);
        let data = frame(Kind::Data, Some(1), 2, cts.ended + SIFS, DATA, SIFS + CONTROL, 1528);
        let ack = frame(Kind::Ack, None, 1, data.ended + SIFS, CONTROL, Span::ZERO, 14);
        [first, cts, data, ack]
    }

    fn found(frames: &[Frame]) -> Vec<Exchange> {
        let mut exchanges = Exchanges::new(SIFS);
        frames.iter().filter_map(|frame| exchanges.on_frame(frame)).collect()
    }

    #[test]
    fn an_exchange_is_found_with_rts_or_cts_or_both_missing_and_not_without_data_or_acknowledgement() {
        let all = exchange(Instant::from_nanos(5_000_000));
        for missing in 0..16_u8 {
            let heard: Vec<Frame> = all
                .iter()
                .enumerate()
                .filter(|(at, _)| missing & (1 << at) == 0)
                .map(|(_, frame)| *frame)
                .collect();
            let complete = missing & 0b1100 == 0;
            let found = found(&heard);
            assert_eq!(found.len(), usize::from(complete), "{missing:04b}");
            if let [exchange] = found[..] {
                assert_eq!((exchange.from, exchange.to, exchange.ended), (1, 2, all[3].ended));
                let capacity = exchange.capacity.unwrap();
                assert!((capacity - 1528.0 * 8.0 / 1607e-6).abs() < 1.0, "{missing:04b}: {capacity}");
            }
        }
    }

    #[test]
    fn what_does_not_follow_belongs_to_nothing() {
        let [rts, cts, data, ack] = exchange(Instant::from_nanos(0));
        let late = |frame: Frame, by: u64| Frame {
            began: frame.began + Span::from_micros(by),
            ended: frame.ended + Span::from_micros(by),
            ..frame
        };
        assert_eq!(found(&[rts, cts, data, late(ack, 500)]), [], "the acknowledgement of something else");
        // Data long after a reservation that came to nothing: an exchange without one.
        let alone = found(&[rts, cts, late(data, 5000), late(ack, 5000)]);
        assert_eq!(alone[0].began, late(data, 5000).began);
        let other = Frame { receiver: Some(7), ..data };
        assert_eq!(found(&[rts, cts, other, ack])[0].to, 7);
        // Two senders at once, out of each other's range.
        let mut second = exchange(Instant::from_nanos(100_000));
        for frame in &mut second {
            frame.receiver = frame.receiver.map(|station| station + 10);
            frame.transmitter = frame.transmitter.map(|station| station + 10);
        }
        let mut both: Vec<Frame> = [rts, cts, data, ack].into_iter().chain(second).collect();
        both.sort_by_key(|frame| frame.ended);
        assert_eq!(found(&both).iter().map(|e| (e.from, e.to)).collect::<Vec<_>>(), [(1, 2), (11, 12)]);
    }
}
