//! What is known of the way to a host: how long its packets wait in the mesh, and whether that depends on the rate.

use super::super::pace::Pace;
use super::{By, Find, PACKET, law, within};
use meshpace_pacing::{DelayRate, DelayRateConfig, Least};
use meshpace_units::{Instant, Rate, Span};

/// Round trips of a host of which the least counts: a delayed acknowledgement, or a frame sent seven times, is no queue. Echoes are not
/// delayed, and come seldom: each counts.
const LATEST: usize = 3;
const LATEST_ECHOES: usize = 1;
/// These tell of no longer ago.
const LAG: Span = Span::from_secs(2);
/// A host counts as heard for so long after a round trip. After so many round trips it has a say in the rate, for so long each
/// time. A host that sends little sleeps in between, and its radio with it.
const HEARD: Span = Span::from_secs(10);
const FEWEST: u32 = 5;
const SAY: Span = Span::from_secs(1);
/// After an echo it has a say until the next two echoes might have come.
const SAY_OF_ECHO: Span = Span::from_millis(500);
/// A host that does not answer while packets to it are sent again keeps its say for this long each time, and for this long in all. Others
/// may have taken its air, or the host may have left.
const UNANSWERED: (Span, Span) = (Span::from_secs(3), Span::from_secs(10));
/// Round trips, and the time, after which it is seen what a lower rate did.
const SEEN: (u32, Span) = (5, Span::from_secs(2));
/// A host whose packets wait so many times longer than they should is looked at. If the rate has fallen to this share, and
/// less than this share of the wait has gone in the mean, the rate is not the cause of the wait.
const LONG: f64 = 3.0;
const FALLEN: f64 = 0.3;
const GONE: f64 = 1.0 / 3.0;
/// Then the host has no say for so long: the first time, and at the most. Each time lasts twice as long as the one before.
const DEAF: (Span, Span) = (Span::from_secs(60), Span::from_secs(960));

/// A host that is looked at.
#[derive(Debug)]
struct Look {
    /// The rate, and how long its packets waited, seconds, when that began.
    rate: f64,
    queue: f64,
    since: Instant,
    /// What it had said when the rate had just not fallen enough, and when that was.
    seen: (u32, Instant),
    /// How long its packets wait since then: the sum of so many looks.
    sum: f64,
    times: f64,
}

/// See the module's description.
#[derive(Debug)]
pub(super) struct Path {
    /// The least round trip of packets; and of packets and echoes, which are shorter and so faster where nothing waits.
    least: Least,
    least_of_all: Least,
    base: Span,
    /// The latest round trips, all of them of echoes or none.
    latest: [Option<Span>; LATEST],
    are_echoes: bool,
    /// When the latest came that was of no echo.
    told: Option<Instant>,
    /// Since when what went to it is sent again without an answer.
    unanswered: Option<Instant>,
    /// Round trips since it is heard.
    said: u32,
    queue: Span,
    price: f64,
    look: Option<Look>,
    /// It has no say before this, and how long that is the next time.
    deaf: Option<Instant>,
    deaf_for: Span,
    /// What it may have then.
    law: Option<DelayRate>,
    /// Packets that went to it since it is looked at.
    gone: f64,
    /// Packets to the host, and packets among them that are sent again.
    pace: Pace,
    lost: Pace,
    /// When something was answered last.
    answered: Option<Instant>,
    /// Hops to it; `None`: nobody told.
    pub hops: Option<u32>,
    /// When the latest round trips came, the last first.
    times: [Instant; LATEST],
}

impl Path {
    pub fn new(now: Instant) -> Self {
        Self {
            least: Least::new(DelayRateConfig::CALM.horizon),
            least_of_all: Least::new(DelayRateConfig::CALM.horizon),
            base: Span::ZERO,
            latest: [None; LATEST],
            are_echoes: false,
            told: None,
            unanswered: None,
            said: 0,
            queue: Span::ZERO,
            price: 1.0,
            look: None,
            deaf: None,
            deaf_for: DEAF.0,
            law: None,
            gone: 0.0,
            pace: Pace::default(),
            lost: Pace::default(),
            answered: None,
            hops: None,
            times: [now; LATEST],
        }
    }

    /// Whether it said anything of late.
    pub fn is_heard(&self, now: Instant) -> bool {
        now.saturating_since(self.times[0]) < HEARD
    }

    /// Whether anything of it is worth keeping.
    pub fn is_known(&self, now: Instant) -> bool {
        self.is_heard(now) || self.is_deaf(now)
    }

    fn is_deaf(&self, now: Instant) -> bool {
        self.deaf.is_some_and(|until| now < until)
    }

    pub fn has_a_say(&self, now: Instant) -> bool {
        let silent = now.saturating_since(self.times[0]);
        let says = match self.unanswered {
            None => silent < if self.are_echoes { SAY_OF_ECHO } else { SAY },
            Some(since) => {
                let (each, all) = UNANSWERED;
                silent < each && now.saturating_since(since) < all
            }
        };
        says && self.said >= FEWEST && !self.is_deaf(now)
    }

    /// Packets a second that leave for it.
    pub fn pace(&self, now: Instant) -> f64 {
        self.pace.rate(now)
    }

    /// The least round trip of half a minute.
    pub const fn base(&self) -> Span {
        self.base
    }

    /// How long its packets wait in the mesh.
    pub const fn queue(&self) -> Span {
        self.queue
    }

    /// What a byte to it costs.
    pub const fn price(&self) -> f64 {
        self.price
    }

    /// The rate of the host's own law, packets a second, while the host has no say.
    pub fn own_rate(&self, now: Instant) -> Option<f64> {
        self.law.as_ref().filter(|_| self.is_deaf(now)).map(DelayRate::rate)
    }

    pub fn keep_within(&mut self, find: Find) {
        if let Some(law) = &mut self.law {
            within(law, Find { least: Rate::bits_per_sec(PACKET.bits()), ..find });
        }
    }

    /// So many packets leave for it.
    pub fn leaves(&mut self, now: Instant, packets: f64) {
        self.pace.on_packet(now, packets);
        self.gone += packets;
        if let Some(law) = &mut self.law {
            law.on_arrived(packets);
        }
    }

    /// What went to it leaves again.
    pub const fn on_again(&mut self, now: Instant) {
        if self.unanswered.is_none() {
            self.unanswered = Some(now);
        }
    }

    /// What went to it was answered.
    pub fn on_answer(&mut self, now: Instant) {
        self.unanswered = None;
        self.answered = Some(now);
    }

    /// What went to it was lost.
    pub fn on_lost(&mut self, now: Instant) {
        self.lost.on_packet(now, 1.0);
    }

    /// Packets to it a second that are lost.
    pub fn losses(&self, now: Instant) -> f64 {
        self.lost.rate(now)
    }

    /// The share of its packets that is lost.
    pub fn loses(&self, now: Instant) -> f64 {
        self.losses(now) / self.pace(now).max(f64::MIN_POSITIVE)
    }

    /// Something was answered since what has been gone for so long left.
    pub fn has_answered_since(&self, now: Instant, gone: Span) -> bool {
        self.answered.is_some_and(|at| now.saturating_since(at) < gone)
    }

    /// How long the round trips took to come that tell how long its packets wait.
    pub fn lag(&self) -> Span {
        let took = self.times[0].saturating_since(self.times[LATEST - 1]);
        if self.are_echoes { Span::ZERO } else { took.min(LAG) }
    }

    /// How long ago it told a round trip without having been asked for an echo.
    pub fn told(&self, now: Instant) -> Option<Span> {
        self.told.map(|told| now.saturating_since(told))
    }

    /// A round trip was measured. Of its own it goes by `config`.
    pub fn on_round_trip(&mut self, now: Instant, rtt: Span, by: By, price: f64, config: &DelayRateConfig) {
        if !self.is_heard(now) {
            (self.latest, self.said, self.look) = ([None; LATEST], 0, None);
        }
        let is_echo = by == By::Probe;
        if core::mem::replace(&mut self.are_echoes, is_echo) != is_echo {
            self.latest = [None; LATEST];
        }
        if !is_echo {
            self.told = Some(now);
        }
        self.price = price;
        self.said = self.said.saturating_add(1);
        self.latest.rotate_right(1);
        self.latest[0] = Some(rtt);
        self.times.rotate_right(1);
        self.times[0] = now;
        let least_of_all = self.least_of_all.on_sample(now, rtt);
        let base = if is_echo { least_of_all } else { self.least.on_sample(now, rtt) };
        self.base = base;
        let latest = if is_echo { LATEST_ECHOES } else { LATEST };
        let least = self.latest[..latest].iter().flatten().copied().fold(rtt, Span::min);
        let queue = least.saturating_sub(base).min(super::LONGEST);
        self.queue = queue;
        if self.is_deaf(now) {
            if let Some(law) = &mut self.law {
                law.set_config(*config);
                law.on_round_trip_over(now, base, base + self.queue.max(super::SHORTEST));
            }
        } else {
            self.law = None;
        }
    }

    /// Its packets wait longest of all, at this rate, where they should for so many seconds. Whether that has to do with the rate.
    pub fn judge(&mut self, now: Instant, rate: f64, wanted: f64) {
        let queue = self.queue.as_secs_f64();
        let Some(look) = &mut self.look else {
            if queue >= LONG * wanted {
                self.look =
                    Some(Look { rate, queue, since: now, seen: (self.said, now), sum: 0.0, times: 0.0 });
                self.gone = 0.0;
            }
            return;
        };
        let passed = now.saturating_since(look.since);
        if rate > FALLEN * look.rate {
            look.seen = (self.said, now);
            return;
        }
        (look.sum, look.times) = (look.sum + queue, look.times + 1.0);
        let (said, at) = look.seen;
        if self.said < said.saturating_add(SEEN.0) || now.saturating_since(at) < SEEN.1 {
            return;
        }
        if look.sum / look.times > (1.0 - GONE) * look.queue {
            self.deaf = Some(now + self.deaf_for);
            self.deaf_for = (self.deaf_for * 2).min(DEAF.1);
            self.law = Some(law((self.gone / passed.as_secs_f64().max(1e-3)).max(1.0)));
        }
        self.look = None;
    }
}
