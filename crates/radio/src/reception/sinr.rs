//! Summed interference: a frame survives if its power stays at least 10 dB above noise plus everything else on the
//! air, for all of its length. The receiver locks on the first decodable frame that it could start to receive and
//! does not change over to a later one (schemes.md 17.1, "sensitivity"). With an error curve there is no threshold: every bit
//! of it survives with the probability that its rate has at the ratio of the moment ([`super::curve`]).
//!
//! Of a frame of several packets each is judged by what it met itself: the receiver keeps the course of the ratio until the
//! frame ends. Before that comes its header, without which nothing is read: with the threshold its first bit decides, with a
//! curve a draw of its own. A bystander reads such a frame's duration field if its header survives.

use super::{Arrival, Begun, Curve, ReceptionLimits, Verdict};
use crate::burst::Bitmap;
use meshpace_units::{Instant, NodeId};

#[derive(Clone, Copy, Debug)]
struct Lock {
    from: NodeId,
    end: Instant,
    /// It carries several packets.
    several: bool,
    /// Overlapped the own transmission.
    damaged: bool,
    /// The ratio fell below the threshold at some time.
    drowned: bool,
    /// Another frame was on the air, with an error curve.
    disturbed: bool,
}

/// State of the receiver: all frames on the air, and the one that it follows.
#[derive(Clone, Debug, Default)]
pub struct Sinr {
    on_air: Vec<Arrival>,
    /// The one of them that ends first, if there is any.
    first: u32,
    lock: Option<Lock>,
    sensed: bool,
    /// `None`: a threshold decides, and there was no frame of several packets.
    judge: Option<Box<Judge>>,
}

/// What decides beside a threshold.
#[derive(Clone, Debug, Default)]
struct Judge {
    /// `None`: the threshold.
    curve: Option<Curve>,
    /// Of a frame of several packets from when on, since its first bit, the ratio was what.
    course: Vec<(Instant, f64)>,
}

impl Sinr {
    /// A receiver whose bits survive by an error curve.
    #[must_use]
    pub fn with_curve(curve: Curve) -> Self {
        let judge = Judge { curve: Some(curve), course: Vec::new() };
        Self { judge: Some(Box::new(judge)), ..Self::default() }
    }

    pub(super) fn busy(&self) -> bool {
        self.lock.is_some() || self.sensed
    }

    fn first_to_end(&self) -> Option<usize> {
        (!self.on_air.is_empty()).then_some(self.first as usize)
    }

    fn is_locked_on(&self, arrival: &Arrival) -> bool {
        self.lock.is_some_and(|lock| lock.from == arrival.from() && lock.end == arrival.end())
    }

    pub(super) fn next_end(&self) -> Option<(Instant, bool)> {
        self.first_to_end().map(|i| {
            let arrival = &self.on_air[i];
            (arrival.end(), arrival.mine() && self.is_locked_on(arrival))
        })
    }

    pub(super) fn idle_not_before(&self) -> Option<Instant> {
        // The medium may fall below the sense threshold as soon as one of several frames ends.
        self.busy().then(|| self.lock.map(|lock| lock.end).or_else(|| self.next_end().map(|e| e.0))).flatten()
    }

    fn power(&self) -> f64 {
        self.on_air.iter().map(|a| a.power).sum()
    }

    /// Checks the ratio of the locked frame against everything on the air from now on.
    fn judge(&mut self, now: Instant, limits: &ReceptionLimits) {
        let total = self.power();
        self.sensed = total >= limits.thresholds.sense;
        let Some(lock) = &mut self.lock else { return };
        let locked = self.on_air.iter().find(|a| lock.from == a.from() && lock.end == a.end());
        if let Some(signal) = locked.map(|a| a.power) {
            let others = (total - signal).max(0.0);
            let mut begun = true;
            if lock.several {
                let course = &mut self.judge.get_or_insert_default().course;
                begun = course.first().is_none_or(|(begin, _)| *begin == now);
                course.push((now, signal / (limits.noise + others)));
            }
            match self.judge.as_mut().and_then(|judge| judge.curve.as_mut()) {
                None if !begun => {}
                None => lock.drowned |= signal < limits.ratio * (limits.noise + others),
                Some(curve) => {
                    curve.ratio_is(now, signal / (limits.noise + others));
                    lock.disturbed |= self.on_air.len() > 1;
                }
            }
        }
    }

    /// Apart from the caller: with `ns2-capture`, which nearly everybody has, that stays small enough to become part of its loops.
    #[inline(never)]
    pub(super) fn begins(&mut self, new: Arrival, transmitting: bool, limits: &ReceptionLimits) -> Begun {
        if self.on_air.get(self.first as usize).is_none_or(|first| new.end() < first.end()) {
            self.first = self.on_air.len() as u32;
        }
        self.on_air.push(new);
        let free = self.lock.is_none() && !transmitting;
        if free && new.decodable() {
            self.lock = Some(Lock {
                from: new.from(),
                end: new.end(),
                several: new.is_several(),
                damaged: false,
                drowned: false,
                disturbed: false,
            });
            if let Some(judge) = &mut self.judge {
                judge.course.clear();
                if let Some(curve) = &mut judge.curve {
                    curve.begins(new.start, new.mode(), new.is_several());
                }
            }
        }
        self.judge(new.start, limits);
        let missed = !free && self.lock.is_some();
        Begun { nav: None, lost: if missed { new.collision(transmitting) } else { None } }
    }

    pub(super) fn transmitter_starts(&mut self) {
        if let Some(lock) = &mut self.lock {
            lock.damaged = true;
        }
    }

    #[inline(never)]
    pub(super) fn ends(&mut self, limits: &ReceptionLimits) -> Option<(Arrival, Verdict)> {
        let index = self.first_to_end()?;
        let arrival = self.on_air[index];
        let locked = self.lock.filter(|_| self.is_locked_on(&arrival));
        // A frame in progress draws once, at its end, whatever else became of it: the stream does not depend on that.
        let curve = self.judge.as_mut().and_then(|judge| judge.curve.as_mut());
        let survives = match (curve, locked) {
            (Some(curve), Some(_)) => curve.survives(arrival.end()),
            _ => true,
        };
        let verdict = match locked {
            None => Verdict::Energy,
            Some(Lock { damaged: true, .. }) => Verdict::Bad,
            Some(Lock { drowned: true, .. }) => Verdict::Collided,
            Some(Lock { disturbed, .. }) if !survives => {
                if disturbed {
                    Verdict::Collided
                } else {
                    Verdict::Garbled
                }
            }
            Some(_) => Verdict::Good,
        };
        if verdict != Verdict::Energy {
            self.lock = None;
        }
        self.on_air.remove(index);
        let first = (0..self.on_air.len()).min_by_key(|i| self.on_air[*i].end());
        self.first = first.unwrap_or(0) as u32;
        self.judge(arrival.end(), limits);
        Some((arrival, verdict))
    }

    pub(super) fn mpdus_read(
        &mut self,
        times: impl Iterator<Item = (Instant, Instant)>,
        limits: &ReceptionLimits,
    ) -> (Bitmap, Verdict) {
        let mut read = Bitmap::NONE;
        let mut all = true;
        let Judge { curve, course } = &mut **self.judge.get_or_insert_default();
        for (at, (from, to)) in times.enumerate() {
            let survives = match curve {
                Some(curve) => curve.packet_survives(course, from, to),
                None => met(course, from, to).all(|(_, _, ratio)| ratio >= limits.ratio),
            };
            all &= survives;
            if survives {
                read.set(at);
            }
        }
        let noise_alone = curve.is_some() && self.lock.is_some_and(|lock| !lock.disturbed);
        let cause = match (all, noise_alone) {
            (true, _) => Verdict::Good,
            (false, true) => Verdict::Garbled,
            (false, false) => Verdict::Collided,
        };
        (read, cause)
    }

    pub(super) fn is_receiving(&self, from: NodeId, end: Instant) -> bool {
        self.lock.is_some_and(|lock| lock.from == from && lock.end == end)
    }
}

/// The parts of a course between two times, and the ratio in each.
pub(super) fn met(
    course: &[(Instant, f64)],
    from: Instant,
    to: Instant,
) -> impl Iterator<Item = (Instant, Instant, f64)> + '_ {
    let ends = course.iter().skip(1).map(|(at, _)| *at).chain([to]);
    let parts = course.iter().zip(ends).map(move |((at, ratio), end)| ((*at).max(from), end.min(to), *ratio));
    parts.filter(|(from, to, _)| from < to)
}
