//! Stations on one air: the smallest driver that keeps a [`Station`]'s contract, for tests.
//!
//! A node is a station, or a *puppet*: a transmitter that does what the script says and nothing else. Everything that
//! a station does is logged with its time; silence is a log without the entry. The driver is deliberately strict: a
//! timer is called at the very time of the deadline, never earlier (unless the test asks for it), deadlines are put off
//! wherever the station allows it, and one that lies in the past is a failure.

mod script;
mod setup;

use meshpace_radio::{
    Bitmap, Exchange, Frame, FrameKind, Hearer, MacPacket, Mode, Peer, Position, Priority, Reception, Signal,
    Station, reception, station,
};
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

pub use script::{Draws, What};
pub use setup::{Setup, line, mbps, standard};

/// `us` microseconds after time zero, to the nanosecond.
pub fn at(us: f64) -> Instant {
    Instant::ZERO + Span::from_secs_f64(us * 1e-6)
}

/// Microseconds from `earlier` to `later`.
pub fn us_between(earlier: Instant, later: Instant) -> f64 {
    later.as_nanos() as f64 / 1e3 - earlier.as_nanos() as f64 / 1e3
}

/// What a station asked for, frames as they went on the air. `more`: another packet of the same MPDU follows.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Transmit(Frame),
    Deliver { packet: MacPacket, from: NodeId, seq: Option<u16>, more: bool },
    Release { from: Peer, start: u16 },
    Sent(MacPacket),
    GaveUp(MacPacket),
    Exchanged(Exchange),
}

/// What a station did.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub at: Instant,
    pub node: u32,
    pub action: Action,
}

impl Entry {
    /// The frame, if it sent one.
    pub fn frame(&self) -> Option<&Frame> {
        match &self.action {
            Action::Transmit(frame) => Some(frame),
            _ => None,
        }
    }
}

/// Packets that a node has for its station.
#[derive(Clone, Debug)]
enum Source {
    /// What the script put there.
    Scripted(VecDeque<MacPacket>),
    /// Always another one like this.
    Saturated(MacPacket),
}

/// In the order in which they are handled at the same time. (Not in that in which they were scheduled: it would depend
/// on how often a deadline is looked at.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The frame number `frame` ends at `node`, to which it is addressed.
    FrameEnds { node: u32, frame: u64 },
    /// The frame number `frame` ends at `node`, which listens to the others'.
    Overheard { node: u32, frame: u64 },
    /// A scripted packet comes to `node`.
    Offer(u32, usize),
    /// A scripted frame is sent by a puppet.
    Say(usize),
    /// `node`'s deadline may have come.
    Deadline(u32),
    /// An uncalled-for call of `timer`.
    Poke(u32),
    /// An uncalled-for call of `settle`.
    Settle(u32),
}

/// Nodes, the events to come, and the log.
pub struct Air {
    pub config: station::StationConfig,
    pub log: Vec<Entry>,
    /// Entries of the log that the script has accounted for.
    checked: usize,
    /// False: nothing is logged, only counted.
    pub recording: bool,
    /// True: a deadline is put off where [`Station::hear`] says that it has become pointless.
    pub postponing: bool,
    /// True: every hearer catches up at every frame's beginning and end, so that nothing is left lazy.
    pub eager: bool,
    /// Frames for others that a listening node read: when, who, what.
    pub overheard: Vec<(Instant, u32, Frame)>,
    /// The MPDUs that the links lose of the data frames of several packets, frame after frame.
    pub erased: VecDeque<Bitmap>,
    /// The modes in which unicast frames go, one after another, each with all its packets or with the first MPDU alone; the packets' own
    /// once there is no more.
    pub choices: VecDeque<(&'static Mode, bool)>,
    /// The nodes that listen: see [`Air::listen`].
    listeners: Vec<bool>,
    /// Packets acknowledged (or broadcast) and given up, by node.
    pub sent: Vec<u64>,
    pub given_up: Vec<u64>,
    /// Times that a station opened an exchange: RTS, and data without one.
    pub attempts: Vec<u64>,
    /// `None`: a puppet.
    stations: Vec<Option<Station>>,
    hearers: Vec<Vec<Hearer>>,
    sources: Vec<Source>,
    offers: Vec<MacPacket>,
    lines: Vec<Frame>,
    /// Frames on the air that somebody has to hear the end of.
    frames: VecDeque<Frame>,
    first_frame: u64,
    events: BinaryHeap<Reverse<(Instant, Event)>>,
    /// When each station's timer has to be called.
    deadlines: Vec<Option<Instant>>,
    now: Instant,
}

impl Air {
    /// A station at each position.
    pub fn new(setup: &Setup, positions: &[Position]) -> Self {
        let config = setup.station_config();
        let table = setup.links().table(positions);
        let rows = (0..positions.len()).map(|node| table.of(NodeId::from_index(node)).collect());
        let mut hearers: Vec<Vec<Hearer>> = rows.collect();
        if setup.no_delay {
            hearers.iter_mut().flatten().for_each(|h| h.delay = Span::ZERO);
        }
        let stations = (0..positions.len() as u32).map(|i| {
            let model = if setup.sinr {
                Reception::Sinr(reception::Sinr::default())
            } else {
                Reception::Capture(reception::Capture::default())
            };
            let stream = Stream::new(setup.seed, "backoff", u64::from(i));
            Some(Station::new(NodeId(i), model, stream, &config))
        });
        let n = positions.len();
        Self {
            stations: stations.collect(),
            config,
            log: Vec::new(),
            checked: 0,
            recording: true,
            postponing: true,
            eager: false,
            overheard: Vec::new(),
            erased: VecDeque::new(),
            choices: VecDeque::new(),
            listeners: vec![false; n],
            sent: vec![0; n],
            given_up: vec![0; n],
            attempts: vec![0; n],
            hearers,
            sources: vec![Source::Scripted(VecDeque::new()); n],
            offers: Vec::new(),
            lines: Vec::new(),
            frames: VecDeque::new(),
            first_frame: 0,
            events: BinaryHeap::new(),
            deadlines: vec![None; n],
            now: Instant::ZERO,
        }
    }

    /// Turns nodes into puppets.
    pub fn puppets(mut self, nodes: &[u32]) -> Self {
        for node in nodes {
            self.stations[*node as usize] = None;
        }
        self
    }

    /// From now on `node` listens to what the others send, and says how long it has found the medium busy.
    pub fn listen(&mut self, node: u32) {
        self.listeners[node as usize] = true;
        self.stations[node as usize].as_mut().expect("a station").watch();
    }

    /// Microseconds that a listening node has found the medium busy.
    pub fn busy(&mut self, node: u32) -> f64 {
        let station = self.stations[node as usize].as_mut().expect("a station");
        station.busy_time(self.now, &self.config).as_nanos() as f64 / 1e3
    }

    /// The station of a node that is not a puppet.
    pub fn station(&self, node: u32) -> &Station {
        self.stations[node as usize].as_ref().expect("a station")
    }

    /// A packet comes to `node` at `when`; it waits in a queue until the station takes it.
    pub fn offer(&mut self, when: Instant, node: u32, packet: MacPacket) {
        self.offers.push(packet);
        self.schedule(when, Event::Offer(node, self.offers.len() - 1));
    }

    /// From time zero on `node` always has a packet for `to`.
    pub fn saturate(&mut self, node: u32, to: u32, size: u64, mode: &'static Mode) {
        let priority = Priority::BEST_EFFORT;
        let packet = MacPacket { handle: node, to: Some(NodeId(to)), size: Bytes(size), mode, priority };
        self.sources[node as usize] = Source::Saturated(packet);
        self.feed(node);
    }

    /// A puppet sends `frame` at `when`.
    pub fn say(&mut self, when: Instant, frame: Frame) {
        self.lines.push(frame);
        self.schedule(when, Event::Say(self.lines.len() - 1));
    }

    /// Calls `timer` at a time of the test's choice. (At the time of another event it would decide a tie.)
    pub fn poke(&mut self, when: Instant, node: u32) {
        self.schedule(when, Event::Poke(node));
    }

    /// Calls `settle` at a time of the test's choice.
    pub fn settle(&mut self, when: Instant, node: u32) {
        self.schedule(when, Event::Settle(node));
    }

    /// Handles everything up to `end` inclusive.
    pub fn run_until(&mut self, end: Instant) {
        while self.events.peek().is_some_and(|Reverse((at, _))| *at <= end) {
            let Reverse((now, event)) = self.events.pop().expect("just seen");
            self.now = now;
            self.handle(event);
        }
        self.now = end;
    }

    /// Frames that `node` sent, in order of time.
    pub fn frames_of(&self, node: u32) -> Vec<(Instant, Frame)> {
        let of_node = self.log.iter().filter(|entry| entry.node == node);
        of_node.filter_map(|entry| entry.frame().map(|frame| (entry.at, frame.clone()))).collect()
    }

    /// Times at which `node` sent a frame of this kind.
    pub fn times(&self, node: u32, kind: FrameKind) -> Vec<Instant> {
        self.frames_of(node).into_iter().filter(|(_, frame)| frame.kind == kind).map(|(at, _)| at).collect()
    }

    fn schedule(&mut self, when: Instant, event: Event) {
        assert!(when >= self.now, "{event:?} at {when:?}, but it is {:?}", self.now);
        self.events.push(Reverse((when, event)));
    }

    fn handle(&mut self, event: Event) {
        let now = self.now;
        let mut actions = Vec::new();
        let node = match event {
            Event::Say(line) => return self.transmit(&self.lines[line].clone()),
            Event::Offer(node, index) => {
                let packet = self.offers[index];
                match &mut self.sources[node as usize] {
                    Source::Scripted(queue) => queue.push_back(packet),
                    Source::Saturated(_) => panic!("node {node} is saturated"),
                }
                // A station that is not called is not asked for its deadline either: it may not have looked at what
                // has put the last one off.
                let Some(station) = &mut self.stations[node as usize] else { return };
                station.expect(packet.priority.category(), &self.config);
                if station.takes().has(packet.priority.category()) {
                    self.feed(node);
                }
                return;
            }
            Event::Overheard { node, frame } => {
                let frame = self.frames[(frame - self.first_frame) as usize].clone();
                let station = self.stations[node as usize].as_mut().expect("a station");
                if station.overhear(now, frame.from, &self.config) {
                    self.overheard.push((now, node, frame));
                }
                return;
            }
            Event::FrameEnds { node, .. }
            | Event::Deadline(node)
            | Event::Poke(node)
            | Event::Settle(node) => node,
        };
        let Some(station) = self.stations[node as usize].as_mut() else { return };
        match event {
            Event::FrameEnds { frame, .. } => {
                let frame = self.frames[(frame - self.first_frame) as usize].clone();
                let several = frame.is_several();
                let erased = if several { self.erased.pop_front() } else { None };
                station.frame_ends(now, &frame, erased.as_ref(), &self.config, &mut actions);
            }
            Event::Deadline(_) => {
                // Never earlier than asked: a deadline that has moved meanwhile must not need the call.
                if self.deadlines[node as usize] != Some(now) {
                    return;
                }
                self.fill(now, node);
                let station = self.stations[node as usize].as_mut().expect("just seen");
                station.timer(now, &self.config, &mut actions);
            }
            Event::Poke(_) => {
                self.fill(now, node);
                let station = self.stations[node as usize].as_mut().expect("just seen");
                station.timer(now, &self.config, &mut actions);
            }
            _ => station.settle(now, &self.config),
        }
        for action in actions {
            let action = self.named(node, &action);
            self.carry_out(node, action);
        }
        if self.fixes_ahead() {
            self.fix_ahead(node);
        }
        self.feed(node);
    }

    /// A station that wins the medium now has its frame filled, in the mode that is chosen for it.
    fn fill(&mut self, now: Instant, node: u32) {
        let station = self.stations[node as usize].as_mut().expect("a station");
        if !station.wins(now, &self.config) {
            return;
        }
        if station.upcoming().is_some()
            && let Some((mode, alone)) = self.choices.pop_front()
        {
            station.send_in(mode, alone, &self.config);
            if alone {
                return;
            }
        }
        self.join(node);
    }

    fn named(&self, node: u32, action: &station::Action) -> Action {
        match *action {
            station::Action::Transmit(header) => Action::Transmit(self.station(node).frame(&header)),
            station::Action::Deliver { packet, from, seq, more } => {
                Action::Deliver { packet, from, seq, more }
            }
            station::Action::Release { from, start } => Action::Release { from, start },
            station::Action::Sent(packet) => Action::Sent(packet),
            station::Action::GaveUp(packet) => Action::GaveUp(packet),
            station::Action::Exchanged(exchange) => Action::Exchanged(exchange),
        }
    }

    fn carry_out(&mut self, node: u32, action: Action) {
        if self.recording {
            self.log.push(Entry { at: self.now, node, action: action.clone() });
        }
        match action {
            Action::Transmit(frame) => {
                let opens =
                    frame.kind == FrameKind::Rts || (frame.kind == FrameKind::Data && !frame.protected);
                self.attempts[node as usize] += u64::from(opens);
                self.transmit(&frame);
            }
            Action::Sent(_) => self.sent[node as usize] += 1,
            Action::GaveUp(_) => self.given_up[node as usize] += 1,
            Action::Deliver { .. } | Action::Release { .. } | Action::Exchanged(_) => {}
        }
    }

    /// Hands the station its next packet if it takes one, and sees to its deadline.
    fn feed(&mut self, node: u32) {
        let Some(station) = self.stations[node as usize].as_mut() else { return };
        if station.accepts() {
            let next = match &mut self.sources[node as usize] {
                Source::Scripted(queue) => {
                    let takes = station.takes();
                    let next = queue.iter().position(|packet| takes.has(packet.priority.category()));
                    next.and_then(|at| queue.remove(at))
                }
                Source::Saturated(packet) => Some(*packet),
            };
            if let Some(packet) = next {
                station.offer(self.now, packet, &self.config);
                if self.fixes_ahead() {
                    self.fix_ahead(node);
                }
                return self.feed(node);
            }
        }
        let Some(station) = self.stations[node as usize].as_mut() else { return };
        let deadline = station.next_deadline(&self.config);
        assert!(
            deadline.is_none_or(|at| at >= self.now),
            "node {node} missed {deadline:?}: it is {:?}",
            self.now
        );
        self.set_deadline(node, deadline);
    }

    fn fixes_ahead(&self) -> bool {
        self.config.phy.standard.aggregation.is_some_and(|aggregation| aggregation.ahead > 0)
    }

    /// The frame that was begun, or has lost packets, gets what waits now, and nothing later.
    fn fix_ahead(&mut self, node: u32) {
        self.join(node);
        if let Some(station) = self.stations[node as usize].as_mut() {
            station.categories().iter().for_each(|category| station.fix(category, &self.config));
        }
    }

    /// Hands the station what goes in one frame with the packets that it has.
    fn join(&mut self, node: u32) {
        let Some(station) = self.stations[node as usize].as_mut() else { return };
        let queue = match &mut self.sources[node as usize] {
            Source::Scripted(queue) => queue,
            Source::Saturated(packet) => {
                let mut left = station.room(&self.config);
                while let Some((_, room)) = left.filter(|(_, room)| packet.size <= *room) {
                    left = station.join(*packet, room, &self.config);
                }
                return;
            }
        };
        let categories = if self.config.phy.standard.aggregation.is_some_and(|it| it.ahead > 0) {
            station.categories().iter().map(Some).collect()
        } else {
            vec![None]
        };
        for category in categories {
            let mut left = match category {
                None => station.room(&self.config),
                Some(category) => station.room_of(category, &self.config),
            };
            while let Some((to, room)) = left {
                // Packets of a priority wait in a queue of their own.
                let next = queue.iter().position(|packet| packet.priority == to.priority);
                let fits = |packet: &MacPacket| packet.to == Some(to.node) && packet.size <= room;
                let Some(next) = next.filter(|at| fits(&queue[*at])) else { break };
                left = station.join(queue.remove(next).expect("just seen"), room, &self.config);
            }
        }
    }

    fn set_deadline(&mut self, node: u32, deadline: Option<Instant>) {
        self.deadlines[node as usize] = deadline;
        if let Some(deadline) = deadline {
            self.schedule(deadline, Event::Deadline(node));
        }
    }

    fn transmit(&mut self, frame: &Frame) {
        while self.frames.len() > 4 * self.stations.len() + 64 {
            self.frames.pop_front();
            self.first_frame += 1;
        }
        let number = self.first_frame + self.frames.len() as u64;
        self.frames.push_back(frame.clone());
        for index in 0..self.hearers[frame.from.index()].len() {
            let hearer = self.hearers[frame.from.index()][index];
            let unicast = frame.to == Some(hearer.node);
            let mine = hearer.decodable && (unicast || frame.to.is_none());
            let start = self.now + hearer.delay;
            let arrival = Signal::of(frame).at(start, hearer.power, hearer.decodable, unicast);
            if mine {
                self.schedule(arrival.end(), Event::FrameEnds { node: hearer.node.0, frame: number });
            }
            if self.listeners[hearer.node.index()] && hearer.decodable && !mine {
                self.schedule(arrival.end(), Event::Overheard { node: hearer.node.0, frame: number });
            }
            if self.eager {
                self.settle(start + Span::NANOSECOND, hearer.node.0);
                self.settle(arrival.end() + Span::NANOSECOND, hearer.node.0);
            }
            let Some(station) = self.stations[hearer.node.index()].as_mut() else { continue };
            let not_before = station.hear(self.now, arrival, &self.config);
            let deadline = self.deadlines[hearer.node.index()];
            if let (true, Some(deadline), Some(not_before)) = (self.postponing, deadline, not_before) {
                if deadline > start && deadline < not_before {
                    self.set_deadline(hearer.node.0, Some(not_before));
                }
            }
        }
    }
}
