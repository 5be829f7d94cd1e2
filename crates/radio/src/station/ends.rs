//! The ends of frames that are meant for a station.

use super::{Action, Station, StationConfig};
use crate::burst::{Bitmap, Mpdu};
use crate::frame::Frame;
use crate::phy::mpdus;
use crate::reception::{Arrival, Outcome, Verdict};
use meshpace_units::Instant;

/// What became of a frame that was meant for a station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameEnd {
    /// Read, if every packet of it was; else what befell it, or those of its packets that were not.
    pub outcome: Outcome,
    /// The packets that were read, by their place in the frame, if some were and others were not.
    pub partly: Option<Box<Bitmap>>,
}

impl FrameEnd {
    /// A frame that was read, or lost, as a whole.
    #[must_use]
    pub const fn whole(outcome: Outcome) -> Self {
        Self { outcome, partly: None }
    }

    /// True if any packet of the frame was read.
    #[must_use]
    pub fn any(&self) -> bool {
        self.outcome == Outcome::Read || self.partly.is_some()
    }

    /// The packets of this frame that were read, by their place in it.
    #[must_use]
    pub fn read(&self, frame: &Frame) -> Bitmap {
        match (&self.partly, self.outcome) {
            (Some(some), _) => **some,
            (None, Outcome::Read) => Bitmap::first(frame.packets().len()),
            (None, _) => Bitmap::NONE,
        }
    }
}

impl Station {
    /// The frame of `frame.from` whose last bit arrives now was `mine` when it began. Tells what became of it. The link has
    /// lost those MPDUs of it that are `erased`, by their place in it, whatever the receiver makes of the frame; of a frame of one
    /// packet that is none, since such a frame is lost as one that cannot be decoded.
    pub fn frame_ends(
        &mut self,
        now: Instant,
        frame: &Frame,
        erased: Option<&Bitmap>,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) -> FrameEnd {
        self.catch_up(now, config);
        let deaf_until = self.on_air_until;
        if !self.reception.is_receiving(frame.from, now) {
            // Captured over, replaced by a frame that ends later, or not noticed while transmitting.
            let deaf = now < deaf_until + frame.airtime;
            return FrameEnd::whole(if deaf { Outcome::Deaf } else { Outcome::Overlapped });
        }
        self.count_busy(now);
        if frame.is_several() {
            return self.several_end(now, frame, erased, config, out);
        }
        let (arrival, verdict) = self.reception_ends(now, config);
        FrameEnd::whole(match verdict {
            Verdict::Good if now >= deaf_until => {
                self.receive(now, frame, config, out);
                Outcome::Read
            }
            Verdict::Good | Verdict::Energy => Outcome::Deaf,
            Verdict::Bad | Verdict::Collided | Verdict::Garbled => {
                self.bad_end(&arrival, verdict, config);
                outcome(verdict)
            }
        })
    }

    /// What is being received ends now: the receiver is idle from here on.
    #[inline(always)]
    fn reception_ends(&mut self, now: Instant, config: &StationConfig) -> (Arrival, Verdict) {
        let ended = self.reception.ends(&config.limits);
        self.radio_idle_since = now;
        ended.unwrap_or_else(|| panic!("{:?}: no reception ends at {now:?}", self.id))
    }

    /// The end of a frame of several packets that is being received.
    #[cold]
    #[inline(never)]
    fn several_end(
        &mut self,
        now: Instant,
        frame: &Frame,
        erased: Option<&Bitmap>,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) -> FrameEnd {
        let deaf = now < self.on_air_until;
        let (read, cause) = self.mpdus_read(now, frame, erased, config);
        let (arrival, header) = self.reception_ends(now, config);
        // Its header was read, and nothing behind it: that is a frame lost.
        let verdict = if header == Verdict::Good && read.is_empty() { cause } else { header };
        match verdict {
            Verdict::Good if !deaf => {
                self.receive_several(now, frame, &read, config, out);
                let partly = (cause != Verdict::Good).then(|| Box::new(by_packet(frame.packets(), &read)));
                FrameEnd { outcome: outcome(cause), partly }
            }
            Verdict::Good | Verdict::Energy => FrameEnd::whole(Outcome::Deaf),
            Verdict::Bad | Verdict::Collided | Verdict::Garbled => {
                self.bad_end(&arrival, verdict, config);
                FrameEnd::whole(outcome(verdict))
            }
        }
    }

    /// Which MPDUs of a frame of several packets that ends now are read, if its header is, and what befell the others.
    fn mpdus_read(
        &mut self,
        now: Instant,
        frame: &Frame,
        erased: Option<&Bitmap>,
        config: &StationConfig,
    ) -> (Bitmap, Verdict) {
        let begun = Instant::from_nanos(now.as_nanos() - frame.airtime.as_nanos());
        let times = config.phy.times(frame).map(|(from, to)| (begun + from, begun + to));
        let (mut read, mut cause) = self.reception.mpdus_read(times, &config.limits);
        let before = read;
        read.remove(erased.unwrap_or(&Bitmap::NONE));
        if cause == Verdict::Good && read != before {
            cause = Verdict::Garbled;
        }
        (read, cause)
    }
}

/// Of a set of MPDUs, the packets in them.
fn by_packet(packets: &[Mpdu], some: &Bitmap) -> Bitmap {
    let (mut found, mut at) = (Bitmap::NONE, 0);
    for (place, mpdu) in mpdus(packets).enumerate() {
        if some.has(place) {
            (at..at + mpdu.len()).for_each(|at| found.set(at));
        }
        at += mpdu.len();
    }
    found
}

/// What became of a frame, or of packets in it, by the verdict on their reception.
const fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Good => Outcome::Read,
        // A frame that is meant for this node can be decoded: only its own transmission makes it `Bad`.
        Verdict::Bad | Verdict::Energy => Outcome::Deaf,
        Verdict::Garbled => Outcome::Garbled,
        Verdict::Collided => Outcome::Overlapped,
    }
}
