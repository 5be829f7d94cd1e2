//! rt-Winf at a mesh node (schemes.md 9.2): the node's meter, fed by what its MAC does and hears.

use crate::here::{Here, NodeView};
use crate::packet::{Class, Packet};
use crate::relay::Listener;
use crate::report::{Exchange, Heard, Report};
use meshpace_explicit::winf::{Busy, Config, Link, Meter, Pair, capacity};
use meshpace_keys::{Key, Preset, Values, words};
use meshpace_radio::FrameKind;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::{BTreeMap, VecDeque};

words! {
    /// What becomes of the available bandwidth for backoff and DIFS of the node itself (`we_collision`; schemes.md 10.1).
    pub enum Collision {
        /// The share of time that they take is taken off: eq. 6 with its bracket in place.
        Reduce = "reduce",
        /// Nothing.
        Off = "off",
        /// It is added: the text calls this bandwidth unused.
        Add = "add",
    }
}

words! {
    /// Which backoffs count (`we_backoff`; schemes.md 10.1).
    pub enum Backoffs {
        /// All that were drawn.
        All = "all",
        /// Those after a failed attempt: the text ties the backoff to collisions.
        Retries = "retries",
    }
}

words! {
    /// Which time counts as busy (`rtwinf_busy`; schemes.md 9.2).
    pub enum BusyTime {
        /// All reservations, overlaps once.
        Union = "union",
        /// As printed: at a link's sender the durations of the CTS that it got, at its receiver those of the RTS; neither sees
        /// what neighbours use.
        Role = "role",
    }
}

/// The decisions, as keys of every relay that measures.
pub(crate) static KEYS: [Key; 6] = [
    Key::word(
        "rtwinf_busy",
        BusyTime::WORDS,
        BusyTime::Union.word(),
        "Which time counts as busy: all that anybody reserved, or by role as printed, the link's own exchanges (schemes.md 9.2).",
    ),
    Key::time_or(
        "rtwinf_window",
        &["inf"],
        Span::from_secs(1000),
        "How far back busy time counts; `inf`: since the start, as printed (schemes.md 9.2).",
    )
    .preset(Preset::Time(Span::from_secs(1))),
    Key::count(
        "rtwinf_receiver_sifs",
        (2, 3),
        Config::DECIDED.receiver_pauses,
        "Pauses that a receiver takes off its time: 3 as printed, which is one too many (schemes.md 9.2).",
    ),
    Key::size(
        "rtwinf_min_bytes",
        (0, 65_535),
        Config::DECIDED.least_payload,
        "Packets shorter than this tell no capacity (schemes.md 9.2).",
    ),
    Key::word(
        "we_collision",
        Collision::WORDS,
        Collision::Reduce.word(),
        "What becomes of the available bandwidth for the node's own backoff and DIFS (schemes.md 10.1).",
    ),
    Key::word(
        "we_backoff",
        Backoffs::WORDS,
        Backoffs::All.word(),
        "Which of the backoffs drawn count (schemes.md 10.1).",
    ),
];

/// Time over which the node's own backoffs are averaged (schemes.md 10.1).
const AVERAGED: Span = Span::from_secs(1);
/// C_extra takes no more than this share (schemes.md 10.1).
const MOST: f64 = 0.9;

/// What a node's own exchanges reserve.
#[derive(Clone, Debug)]
struct Roles {
    sender: Busy,
    receiver: Busy,
}

/// An attempt of the last while and the backoff before it, in 12 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Attempt {
    at: Instant,
    /// ns.
    backoff: u32,
}

const _: () = assert!(size_of::<Attempt>() == 12);

impl Attempt {
    fn new(at: Instant, backoff: Span) -> Self {
        let nanos = u32::try_from(backoff.as_nanos());
        Self { at, backoff: nanos.unwrap_or_else(|_| panic!("a backoff of {backoff:?}")) }
    }

    fn at(&self) -> Instant {
        self.at
    }

    fn backoff(&self) -> Span {
        Span::from_nanos(u64::from(self.backoff))
    }
}

/// What a node measures.
#[derive(Clone, Debug)]
pub(crate) struct Sense {
    collision: Collision,
    backoffs: Backoffs,
    meter: Meter,
    /// Busy times by role, if those count.
    roles: Option<Box<Roles>>,
    /// The measurements of our links' receivers, from their acknowledgements.
    told: BTreeMap<NodeId, Pair>,
    /// RTS that were for us and have not been followed by data, by sender: when they ended. Few at a time.
    asked: Vec<(NodeId, Instant)>,
    /// Start of the present attempt, and how long frames of the packet were on the air before it.
    attempt: Option<(Instant, Span)>,
    /// Time on the air of the frame that opens each attempt.
    opening: Span,
    /// Attempts of the last while: when, and the backoff before.
    attempts: VecDeque<Attempt>,
    /// The first of all.
    began: Option<Instant>,
    drawn: Span,
    node: NodeId,
}

impl Sense {
    pub(crate) fn new(values: &Values, node: NodeId) -> Self {
        let config = Config {
            window: values.span_given("rtwinf_window"),
            least_payload: values.bytes("rtwinf_min_bytes"),
            receiver_pauses: u64::from(values.count("rtwinf_receiver_sifs")),
            ..Config::DECIDED
        };
        Self {
            collision: values.word("we_collision"),
            backoffs: values.word("we_backoff"),
            meter: Meter::new(config),
            roles: (values.word::<BusyTime>("rtwinf_busy") == BusyTime::Role).then(|| {
                Box::new(Roles { sender: Busy::new(config.window), receiver: Busy::new(config.window) })
            }),
            told: BTreeMap::new(),
            asked: Vec::new(),
            attempt: None,
            opening: Span::ZERO,
            attempts: VecDeque::new(),
            began: None,
            drawn: Span::ZERO,
            node,
        }
    }

    /// What the link to a neighbour can carry, and AB' of it (10.3): the smaller of the pairs of its ends. Before anything was
    /// measured its data rate, all of it (schemes.md 9.2).
    pub(crate) fn pair(&self, now: Instant, node: &dyn NodeView, to: NodeId) -> Pair {
        let link = Link { from: station(self.node), to: station(to) };
        let nominal = node.rate_to(to).as_bits_per_sec() as f64;
        let own = self
            .known(now, link, |roles| &roles.sender)
            .unwrap_or(Pair { capacity: nominal, available: nominal });
        let pair = self.told.get(&to).map_or(own, |told| own.smaller(*told));
        Pair { available: pair.available * self.useful_share(now, node), ..pair }
    }

    /// Where it is.
    pub(crate) const fn node(&self) -> NodeId {
        self.node
    }

    fn known(&self, now: Instant, link: Link, role: fn(&Roles) -> &Busy) -> Option<Pair> {
        match &self.roles {
            Some(roles) => self.meter.pair_beside(now, link, role(roles)),
            None => self.meter.pair(now, link),
        }
    }

    /// 1 - C_extra/W, or what `we_collision` makes of it (10.3, 10.4): backoff and DIFS over the time between the starts of
    /// transmissions.
    fn useful_share(&self, now: Instant, node: &dyn NodeView) -> f64 {
        let Some(over) = self.began.map(|began| now.saturating_since(began).min(AVERAGED)) else {
            return 1.0;
        };
        if over.is_zero() || self.collision == Collision::Off {
            return 1.0;
        }
        let recent = self.attempts.iter().filter(|attempt| now.saturating_since(attempt.at()) <= AVERAGED);
        let spent: Span = recent.map(|attempt| node.intervals().difs + attempt.backoff()).sum();
        let extra = (spent.as_secs_f64() / over.as_secs_f64()).min(MOST);
        if self.collision == Collision::Add { 1.0 + extra } else { 1.0 - extra }
    }

    /// The attempt before this report used the medium: to its end if it got through, else for its own frames. `on_air`: how
    /// long those of the packet were so far.
    fn close_attempt(&mut self, now: Instant, on_air: Span, sent: bool) {
        let Some((began, before)) = self.attempt.take() else { return };
        let frames = on_air.saturating_sub(before);
        self.meter.busy.add(began, if sent { now } else { (began + frames).min(now) });
    }
}

impl Listener for Sense {
    /// A frame was read. Busy is the union of all reservations (schemes.md 9.2).
    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>) {
        let (now, frame) = (here.now, heard.frame);
        let Some(began) = now.as_nanos().checked_sub(frame.airtime.as_nanos()).map(Instant::from_nanos)
        else {
            return;
        };
        // Only RTS and CTS reserve: the duration of a data frame is the same whatever its size.
        let reserves = matches!(frame.kind, FrameKind::Rts | FrameKind::Cts);
        self.meter.busy.add(began, if reserves { now + frame.duration } else { now });
        if !heard.mine || frame.to.is_none() {
            return;
        }
        if let Some(roles) = &mut self.roles {
            match frame.kind {
                FrameKind::Rts => roles.receiver.add(now, now + frame.duration),
                FrameKind::Cts => roles.sender.add(now, now + frame.duration),
                // Without RTS, clock times (schemes.md 9.2).
                FrameKind::Data if !frame.protected => roles.receiver.add(began, now + frame.duration),
                FrameKind::Data | FrameKind::Ack | FrameKind::BlockAck | FrameKind::BlockAckReq => {}
            }
        }
        match frame.kind {
            FrameKind::Rts => {
                self.asked.retain(|(sender, _)| *sender != frame.from);
                self.asked.push((frame.from, now));
            }
            FrameKind::Data => {
                let place = self.asked.iter().position(|(sender, _)| *sender == frame.from);
                let asked = place.map(|place| self.asked.swap_remove(place).1).filter(|_| frame.protected);
                // Our acknowledgement follows.
                self.meter.busy.add(began, now + frame.duration);
                let sizes = here.carried(heard).filter(|packet| tells(packet)).map(|packet| packet.size);
                let payload = sizes.reduce(|all, size| all + size);
                let Some(sifs) = here.node().map(|node| node.intervals().sifs) else { return };
                let capacity = match asked {
                    Some(rts) => {
                        let pauses = self.meter.config().receiver_pauses;
                        capacity::of_receiver(frame.size, rts, now, sifs, pauses)
                    }
                    None if frame.protected => None,
                    None => capacity::unprotected(frame.size, frame.airtime, frame.duration, sifs),
                };
                if let (Some(payload), Some(capacity)) = (payload, capacity) {
                    let link = Link { from: station(frame.from), to: station(self.node) };
                    self.meter.on_capacity(link, payload, capacity);
                }
            }
            FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck | FrameKind::BlockAckReq => {}
        }
    }

    /// What became of a packet of ours.
    fn reported(&mut self, here: &mut Here<'_>, report: &Report) {
        let now = here.now;
        let (Report::Granted(exchange)
        | Report::Retry(exchange)
        | Report::Sent(exchange)
        | Report::GivenUp(exchange)) = report;
        let Some((sifs, drawn)) = here.node().map(|node| (node.intervals().sifs, node.backoff_drawn()))
        else {
            return;
        };
        // An attempt is reported as its first frame goes out, which `airtime` counts already.
        let before = match report {
            Report::Granted(_) => {
                self.opening = exchange.airtime;
                Span::ZERO
            }
            Report::Retry(_) => exchange.airtime.saturating_sub(self.opening),
            Report::Sent(_) | Report::GivenUp(_) => exchange.airtime,
        };
        let sent = matches!(report, Report::Sent(_));
        if let (Some(roles), Some((began, _)), true) =
            (&mut self.roles, self.attempt, sent && exchange.cts_ended.is_none())
        {
            roles.sender.add(began, now);
        }
        self.close_attempt(now, before, sent);
        match report {
            Report::Granted(_) | Report::Retry(_) => {
                let retry = matches!(report, Report::Retry(_));
                let backoff = drawn - self.drawn;
                self.drawn = drawn;
                let counts = retry || self.backoffs == Backoffs::All;
                self.began.get_or_insert(now);
                if self.attempts.len() == self.attempts.capacity() {
                    // Every node has such a list: doubling would leave up to half of it empty.
                    self.attempts.reserve_exact(8);
                }
                self.attempts.push_back(Attempt::new(now, if counts { backoff } else { Span::ZERO }));
                while self.attempts.front().is_some_and(|first| now.saturating_since(first.at()) > AVERAGED) {
                    self.attempts.pop_front();
                }
                self.attempt = Some((now, before));
            }
            Report::Sent(_) => {
                let Some(to) = exchange.next_hop else { return };
                if let Some(pair) = exchange.told {
                    self.told.insert(to, pair);
                }
                let told = tells(here.packets.get(exchange.packet));
                let capacity = of_sender(exchange, now, sifs).filter(|_| told);
                if let Some(capacity) = capacity {
                    let link = Link { from: station(self.node), to: station(to) };
                    self.meter.on_capacity(link, exchange.size, capacity);
                }
            }
            Report::GivenUp(_) => {}
        }
    }

    /// What this node measured of the link from a neighbour, for its acknowledgement.
    fn tells(&self, now: Instant, to: NodeId) -> Option<Pair> {
        self.known(now, Link { from: station(to), to: station(self.node) }, |roles| &roles.receiver)
    }
}

/// The capacity by an exchange of ours that was acknowledged just now.
fn of_sender(exchange: &Exchange, now: Instant, sifs: Span) -> Option<f64> {
    let size = exchange.data_size;
    match exchange.cts_ended {
        Some(cts) => capacity::of_sender(size, cts, now, sifs),
        None => {
            capacity::unprotected(size, exchange.data_airtime, now.checked_since(exchange.data_ended?)?, sifs)
        }
    }
}

/// Whether a packet that got through tells a capacity.
fn tells(packet: &Packet) -> bool {
    packet.class != Class::Control || packet.is_probe()
}

fn station(node: NodeId) -> u64 {
    u64::from(node.0)
}
