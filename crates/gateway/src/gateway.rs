//! The gateway: what happens to each packet, and when.

mod admission;
mod explain;
mod goodput_control;
mod shared;
mod told;

use crate::budget::Books;
use crate::connection::GoodputFeedback;
use crate::down::{Arrival, Down, DuplicateAckAction, FlowPlace};
use crate::hosts::Hosts;
use crate::incoming::{Incoming, Sack};
use crate::schedule::{Schedule, Slot};
use crate::table::Table;
use crate::up::Up;
use crate::{
    Action, Config, Counters, Departure, DiscardReason, FlowKey, Kept, Rewrite, RoundTrips, Route, RttOption,
    Side, TcpView, Treatment, Verdict, Waits,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::IpAddr;
use meshpace_pacing::{Direction, GoodputControl, LawMaker, Pending};
use meshpace_units::{Bytes, Instant, Seq, Span};

/// The gateway between a mesh and the Internet. `P` is a packet or a handle of one.
#[derive(Debug)]
pub struct Gateway<P> {
    config: Config,
    law: LawMaker,
    table: Table<P>,
    books: Books,
    schedule: Schedule,
    hosts: Hosts,
    /// Packets that leave at once: repairs, and what the queues of ended connections held.
    urgent: VecDeque<Departure<P>>,
    goodput: Option<GoodputControl<Slot>>,
    /// Connections ended so far; a flow that began unpaced may be paced once one more has ended (schemes.md 3.1).
    ended: u64,
    counters: Counters,
    round_trips: RoundTrips,
    waits: Waits,
}

impl<P: Clone> Gateway<P> {
    /// A gateway that knows no connection and paces each by this law.
    #[must_use]
    pub fn new(config: Config, law: LawMaker) -> Self {
        Self {
            config,
            law,
            table: Table::new(),
            books: Books::default(),
            schedule: Schedule::new(config.queues),
            hosts: Hosts::default(),
            urgent: VecDeque::new(),
            goodput: config.goodput_control.map(GoodputControl::new),
            ended: 0,
            counters: Counters::default(),
            round_trips: RoundTrips::default(),
            waits: Waits::default(),
        }
    }

    /// Sets another law. Each flow keeps its pace until its next packet, and follows the new law from then on.
    pub fn set_law(&mut self, law: LawMaker) {
        for (_, connection) in self.table.iter_mut() {
            connection.down.iter_mut().for_each(|down| down.wireless.set_law(&law));
        }
        self.hosts.set_law(&law);
        self.law = law;
    }

    /// Decides on a TCP packet that came from `side` at `now`. `treatment` says whether its flow is paced or only watched. `route`
    /// gives the hops and link rates to a host of the mesh; it is called only when a round trip was measured.
    pub fn handle(
        &mut self,
        now: Instant,
        side: Side,
        view: &TcpView<'_>,
        treatment: Treatment,
        route: impl FnOnce(IpAddr) -> Route,
        packet: P,
    ) -> Verdict<P> {
        let incoming = Incoming { side, view, treatment, ticket: self.counters.held, packet };
        let leaving = self.urgent.len();
        let admitted = self.admit(now, side, view, treatment);
        // What the ports' former connection held leaves now.
        let replaces = self.urgent.len() > leaving;
        let mut verdict = match admitted {
            None => incoming.forward(),
            Some(slot) if view.segment.flags.rst => self.on_reset(now, slot, incoming),
            Some(slot) => self.on_segment(now, slot, incoming, route),
        };
        if replaces && side == Side::Wired && view.segment.payload > 0 {
            verdict = self.behind_urgent(now, verdict);
        }
        match verdict {
            Verdict::Forward(_, changes) => {
                self.counters.forwarded += 1;
                self.counters.options_written += u64::from(matches!(changes.option, RttOption::Set(_)));
                self.counters.windows_lowered += u64::from(changes.window.is_some());
            }
            Verdict::Held => self.counters.held += 1,
            Verdict::Consumed(_) => self.counters.consumed += 1,
            Verdict::Dropped(_) => self.counters.dropped += 1,
            Verdict::Duplicate(_) => self.counters.duplicates += 1,
        }
        verdict
    }

    /// A packet that would pass leaves behind the packets that leave at once.
    fn behind_urgent(&mut self, now: Instant, verdict: Verdict<P>) -> Verdict<P> {
        let Verdict::Forward(packet, changes) = verdict else { return verdict };
        let action = Action::Release { strip: changes.option == RttOption::Strip, mark: false };
        self.urgent.push_back(Departure { packet, action, due: now, held_since: Some(now) });
        Verdict::Held
    }

    /// The next packet that may leave at `now`; call until `None`.
    #[must_use = "the packet has left the gateway"]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Departure<P>> {
        let departure = self.urgent.pop_front().or_else(|| self.next_due(now))?;
        match departure.action {
            Action::Release { mark, .. } => {
                self.counters.released += 1;
                self.counters.aqm_marks += u64::from(mark);
            }
            Action::Retransmit => self.counters.retransmitted += 1,
            Action::Discard(DiscardReason::Closed) => self.counters.discarded += 1,
            Action::Discard(DiscardReason::Duplicate) => self.counters.duplicates += 1,
            Action::Discard(DiscardReason::Waited) => self.counters.aqm_drops += 1,
        }
        Some(departure)
    }

    /// Segments of a connection from `start` to `end` leave for the mesh now. They came from the wired side, went on, and waited elsewhere
    /// (in the shaper), so their round trips in the mesh begin now.
    pub fn leaves(&mut self, now: Instant, key: &FlowKey, start: Seq, end: Seq) {
        let Some(slot) = self.table.find(key) else { return };
        self.table.get_mut(slot).down.iter_mut().for_each(|down| down.leaves(now, start, end));
    }

    /// When something is due next: a departure, a run of goodput control, the end of a silent connection.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let urgent = self.urgent.front().map(|departure| departure.due);
        let departure = self.schedule.first().map(|(due, _)| due);
        let goodput = self.goodput.as_ref().and_then(GoodputControl::poll_timeout);
        let silent = self.table.most_silent().and_then(|(since, _)| since.checked_add(self.config.idle));
        [urgent, departure, goodput, silent].into_iter().flatten().min()
    }

    /// The time until which a driver may put off [`Gateway::poll_timeout`], so that more packets leave at once. No departure is later then
    /// than its flow can bear ([`Config::patience`]).
    #[must_use]
    pub fn poll_latest(&self) -> Option<Instant> {
        let first = self.poll_timeout()?;
        let mut latest = first.checked_add(self.config.burst_time / 2)?;
        if !self.urgent.is_empty() {
            return Some(first);
        }
        for (due, slot) in self.schedule.following() {
            if due >= latest {
                break;
            }
            let down = self.table.get(slot).down.as_ref();
            let interval = down.and_then(Down::interval).unwrap_or(Span::ZERO);
            latest = latest.min(due + self.config.patience(interval));
        }
        Some(latest)
    }

    /// Does what is due at `now`, departures excepted. Early or repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.run_goodput_control(now);
        while let Some((since, slot)) = self.table.most_silent() {
            let silent_since = |instant: Instant| now.saturating_since(instant) >= self.config.idle;
            if !silent_since(since) {
                break;
            }
            if silent_since(self.table.get(slot).last_activity) {
                self.forget(now, slot, false);
            } else {
                self.table.refresh(slot);
            }
        }
    }

    /// Applies other parameters. Limits and the treatment of duplicate ACKs act at once, those of goodput control from its next run on. No
    /// packet is lost or moved.
    pub fn set_config(&mut self, now: Instant, config: Config) {
        let other_line = config.queues != self.config.queues;
        self.config = config;
        self.hosts.set_kept(config.kept);
        GoodputControl::reconfigure(&mut self.goodput, config.goodput_control);
        let uncontrolled = self.goodput.is_none();
        for (slot, connection) in self.table.iter_mut() {
            if uncontrolled {
                connection.told = None;
            }
            if let Some(down) = &mut connection.down {
                if uncontrolled {
                    let before = down.place();
                    down.set_cap(now, None);
                    self.schedule.moves(slot, before, down.place());
                }
            }
        }
        if other_line {
            self.schedule = Schedule::new(config.queues);
            for (slot, connection) in self.table.iter() {
                self.schedule.moves(slot, None, connection.place());
            }
        }
    }

    /// Judges every connection again: `judge` says how the connection is treated, or that it is forgotten (`None`). Held packets of a
    /// flow that is no longer paced leave at once, in order, by [`Gateway::poll_transmit`].
    pub fn review(&mut self, now: Instant, judge: impl Fn(&FlowKey) -> Option<Treatment>) {
        let known: Vec<(Slot, FlowKey)> = self.table.iter().map(|(slot, c)| (slot, c.key)).collect();
        for (slot, key) in known {
            match judge(&key) {
                None => self.forget(now, slot, false),
                Some(treatment) => {
                    self.treat(now, slot, treatment);
                    self.hurry(now, slot);
                }
            }
        }
    }

    /// The largest segment that both ends of a connection asked for in their SYNs, as far as these were seen.
    #[must_use]
    pub fn mss(&self, key: &FlowKey) -> Option<u16> {
        self.table.get(self.table.find(key)?).mss()
    }

    /// How much longer the RTT option makes an acknowledgement (schemes.md 3.2).
    #[must_use]
    pub fn option_length(&self) -> Bytes {
        Bytes(u64::from(self.config.option_length))
    }

    /// A RST ends the connection. From the wired side it follows the held data, all at once;
    /// from the wireless side the receiver is gone and the held data with it.
    fn on_reset(&mut self, now: Instant, slot: Slot, incoming: Incoming<'_, P>) -> Verdict<P> {
        let connection = self.table.get_mut(slot);
        let mut budget = self.books.of(connection.host);
        let queue = connection.down.as_mut().filter(|down| down.queue_len() > 0);
        if let (Side::Wired, Some(down)) = (incoming.side, queue) {
            down.append(incoming.outbound(now), &mut budget);
            self.forget(now, slot, false);
            return Verdict::Held;
        }
        self.forget(now, slot, true);
        incoming.forward()
    }

    fn on_segment(
        &mut self,
        now: Instant,
        slot: Slot,
        incoming: Incoming<'_, P>,
        route: impl FnOnce(IpAddr) -> Route,
    ) -> Verdict<P> {
        let (side, segment) = (incoming.side, incoming.view.segment);
        self.treat(now, slot, incoming.treatment);
        let connection = self.table.get_mut(slot);
        let before = connection.place();
        connection.note(now, side, incoming.view);
        // Data in a SYN (RFC 7413) travels with it, unpaced and untimed.
        if segment.payload > 0 && !segment.flags.syn {
            let direction = match side {
                Side::Wired => Direction::Down,
                Side::Wireless => Direction::Up,
            };
            connection.carries_data = true;
            let paces = connection.treatment == Treatment::Pace;
            if let Some(goodput) = self.goodput.as_mut().filter(|_| paces) {
                if connection.told.is_none() {
                    goodput.on_flow_started(now, slot, connection.key.wireless.address);
                    let (down, up) = (Pending::default(), Pending::default());
                    connection.told = Some(GoodputFeedback { down, up, ..connection.to_tell() });
                }
                goodput.on_payload(slot, direction, Bytes(u64::from(segment.payload)));
            }
        }
        let verdict = match side {
            Side::Wired => self.on_wired(now, slot, incoming),
            Side::Wireless => self.on_wireless(now, slot, incoming, route),
        };
        let connection = self.table.get_mut(slot);
        self.schedule.moves(slot, before, connection.place());
        self.table.touch(now, slot);
        self.tell_goodput_control(now, slot);
        self.hurry(now, slot);
        if self.table.get(slot).is_closed(self.config.sampled) {
            self.forget(now, slot, true);
        }
        verdict
    }

    /// Changes how a connection is treated. Packets that it holds stay until [`Gateway::hurry`], so that a packet
    /// which comes with the change goes behind them.
    fn treat(&mut self, now: Instant, slot: Slot, treatment: Treatment) {
        let connection = self.table.get_mut(slot);
        if connection.treatment == treatment {
            return;
        }
        let before = connection.place();
        connection.treat(now, treatment, &mut self.books.of(connection.host));
        self.schedule.moves(slot, before, connection.place());
        if let Some(goodput) = self.goodput.as_mut().filter(|_| connection.told.take().is_some()) {
            goodput.on_flow_ended(slot);
        }
    }

    /// Lets all held packets of a connection go that is only watched.
    fn hurry(&mut self, now: Instant, slot: Slot) {
        let connection = self.table.get_mut(slot);
        let watched = connection.treatment == Treatment::Observe;
        let mut budget = self.books.of(connection.host);
        if let Some(down) = connection.down.as_mut().filter(|_| watched) {
            self.schedule.moves(slot, down.place(), None);
            self.urgent.extend(core::iter::from_fn(|| down.hurry(now, &self.config, &mut budget)));
            self.table.refresh_rank(slot);
        }
    }

    fn on_wired(&mut self, now: Instant, slot: Slot, incoming: Incoming<'_, P>) -> Verdict<P> {
        let view = incoming.view;
        let segment = view.segment;
        let connection = self.table.get_mut(slot);
        let mut budget = self.books.of(connection.host);
        let mut option = incoming.arrived_option();
        if let Some(up) = connection.up.as_mut().filter(|_| segment.flags.ack) {
            let (acked, told) = up.on_ack(now, view, incoming.treatment, self.config.sampled, &mut budget);
            if let Some(rtt) = acked.rtt {
                self.round_trips.wired.record(rtt);
                connection.wired.on_sample(rtt);
            }
            if let Some(goodput) = &mut self.goodput {
                goodput.on_acked(slot, acked.bytes);
            }
            option = told.map_or(option, RttOption::Set);
        }
        if segment.payload > 0 && !segment.flags.syn && connection.down.is_none() {
            let refused = budget.is_exhausted(&self.config).then_some(self.ended);
            let (window, treatment) = (connection.window, connection.treatment);
            let mut down = Down::new(now, segment, &self.config, &self.law, window, treatment, refused);
            down.whole = connection.windows.scale(Side::Wireless).is_some();
            if self.config.kept == Kept::Host {
                let known = self.hosts.law(now, connection.key.wireless.address, self.config.idle);
                known.into_iter().for_each(|law| down.adopt(now, law.clone()));
            }
            connection.down = Some(down);
        }
        if segment.payload > 0 {
            connection.note_use(now, segment);
        }
        let occupies = segment.sequence_length() > 0 && !segment.flags.syn;
        let Some(down) = connection.down.as_mut().filter(|_| occupies) else {
            return Verdict::Forward(incoming.packet, option.into());
        };
        down.reconsider(self.ended, &self.config, &budget);
        let behind = self.schedule.blocks();
        match down.on_arrival(now, segment, incoming.outbound(now), behind, &self.config, &mut budget) {
            Arrival::Pass(packet) => {
                if down.is_paced() {
                    self.waits.0.record(Span::ZERO);
                }
                Verdict::Forward(packet, option.into())
            }
            Arrival::Held => Verdict::Held,
            Arrival::Unpaced(packet) => {
                self.counters.crowded += 1;
                Verdict::Forward(packet, option.into())
            }
            Arrival::Crowded(early) => {
                self.counters.crowded += early.len() as u64;
                self.urgent.extend(early);
                Verdict::Held
            }
            Arrival::Dropped(packet) => Verdict::Dropped(packet),
            Arrival::Duplicate(packet) => Verdict::Duplicate(packet),
        }
    }

    fn on_wireless(
        &mut self,
        now: Instant,
        slot: Slot,
        incoming: Incoming<'_, P>,
        route: impl FnOnce(IpAddr) -> Route,
    ) -> Verdict<P> {
        let segment = incoming.view.segment;
        let sharing = self.sharing(slot);
        let connection = self.table.get_mut(slot);
        let mut budget = self.books.of(connection.host);
        if segment.sequence_length() > 0 && !segment.flags.syn {
            if segment.payload > 0 && connection.up.is_none() {
                connection.up = Some(Box::new(Up::new(now, segment)));
            }
            if let Some(up) = &mut connection.up {
                up.on_data(now, segment, &self.config, &mut budget);
            }
        }
        connection.note_window(segment);
        let mut answer = DuplicateAckAction::Forward;
        let mut learnt = false;
        if segment.flags.ack {
            let duplicate = connection.is_duplicate_ack(segment);
            if let Some(down) = &mut connection.down {
                let route = || route(incoming.view.source);
                let of = FlowPlace { sharing, wired: connection.wired.shortest() };
                let acked = down.on_ack(now, segment.ack, route, of, &self.config, &mut budget);
                let changes = down.on_progress(now, acked.bytes, segment.flags.ece && !segment.flags.syn);
                learnt = acked.rtt.is_some() || changes;
                acked.rtt.into_iter().for_each(|rtt| self.round_trips.wireless.record(rtt));
                if let Some(goodput) = &mut self.goodput {
                    goodput.on_acked(slot, acked.bytes);
                    acked.rtt.into_iter().for_each(|rtt| goodput.on_round_trip(slot, rtt));
                }
                let sack = Sack::of(segment);
                if matches!(sack, Sack::Above { .. }) {
                    down.sacked = Some(now);
                }
                // A watched flow has no cache, so that its duplicates are forwarded as well.
                if duplicate {
                    answer = down.on_duplicate(now, sack, &self.config);
                }
            }
        }
        if learnt && self.config.kept == Kept::Host {
            self.share(now, slot);
        }
        match answer {
            DuplicateAckAction::Forward => {
                let changes = incoming.view.whole;
                let window = self.table.get_mut(slot).limit_window(now, segment, changes, &self.config);
                let option = incoming.arrived_option();
                Verdict::Forward(incoming.packet, Rewrite { option, window })
            }
            DuplicateAckAction::Suppress => Verdict::Consumed(incoming.packet),
            DuplicateAckAction::Repair(again) => {
                let again =
                    Departure { packet: again, action: Action::Retransmit, due: now, held_since: None };
                self.urgent.push_back(again);
                Verdict::Consumed(incoming.packet)
            }
        }
    }

    fn next_due(&mut self, now: Instant) -> Option<Departure<P>> {
        let (due, slot) = self.schedule.first().filter(|&(due, _)| due <= now)?;
        let connection = self.table.get_mut(slot);
        let down = connection.down.as_mut();
        let down = down.unwrap_or_else(|| panic!("flow {slot} is scheduled for {due:?} without a queue"));
        let before = down.place();
        let (wired, mut budget) = (connection.wired.shortest(), self.books.of(connection.host));
        let departure = down.depart(now, wired, &self.config, &mut budget, &mut self.urgent);
        self.schedule.moves(slot, before, down.place());
        self.table.refresh_rank(slot);
        self.tell_goodput_control(now, slot);
        let waited = departure.as_ref().and_then(|departure| departure.held_since);
        waited.into_iter().for_each(|since| self.waits.0.record(now.saturating_since(since)));
        // Behind what was dropped before it, in the order of the queue.
        self.urgent.extend(departure);
        self.urgent.pop_front()
    }

    /// Ends a connection here. Packets that it holds leave at once: to be passed on or, if `discard`, to be
    /// dropped.
    fn forget(&mut self, now: Instant, slot: Slot, discard: bool) {
        let mut connection = self.table.remove(slot);
        let mut budget = self.books.of(connection.host);
        connection.release(&mut budget);
        if let Some(down) = &mut connection.down {
            self.schedule.moves(slot, down.place(), None);
            while let Some(held) = down.pop(&mut budget) {
                self.urgent.push_back(if discard {
                    held.discard(DiscardReason::Closed, now)
                } else {
                    held.release(now)
                });
            }
        }
        self.books.close(connection.key.wireless.address, connection.host);
        if let Some(goodput) = self.goodput.as_mut().filter(|_| connection.told.is_some()) {
            goodput.on_flow_ended(slot);
        }
        self.ended += 1;
    }
}
