//! The air: who hears whom as nodes move and links fade, at which rate, and the frames on their way.
//!
//! An [`Air`] is one channel with its stations, numbered from 0; what one of them sends is not heard on another. [`Airs`] are all of
//! them. A station is one interface of a node: an air and a station's number on it name the interface, and so does its [`InterfaceId`]
//! among all. A node has one interface on an air at the most, so that frames go by nodes.

mod airs;
mod control;
mod fading;
mod far_frames;
mod listens;
mod movement;
mod quality;
mod rates;
mod spreading;
mod switched;

pub use airs::AirId;
pub(crate) use airs::Airs;
pub(crate) use control::Control;
pub use control::RateCount;
pub(crate) use fading::Fading;
pub(crate) use listens::Listens;
pub(crate) use movement::Movement;
pub(crate) use rates::RateTable;
pub(crate) use spreading::Ends;

use crate::event::InterfaceId;
use far_frames::{FarFrames, OnAir};
use meshpace_radio::{
    Action, Category, Exchange, Frame, FrameEnd, Hearer, Hearers, Links, Losses, MacPacket, Mode, Peer,
    Position, Station, StationConfig,
};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use switched::Switched;

/// A channel: it carries a frame of one station to all that hear it, and says what each makes of it.
pub(crate) struct Air {
    /// The interface that its first station is, those of the others following.
    first: InterfaceId,
    /// Whose each station is, in order; `None`: all nodes are on it, and a station has its node's number.
    members: Option<Box<[NodeId]>>,
    /// What all stations share.
    config: StationConfig,
    stations: Vec<Listener>,
    /// True if any relay listens.
    listening: bool,
    /// The frame that each station sent last, for those who receive it.
    on_air: Vec<Option<OnAir>>,
    /// Copies of frames, each with a packet of its own, on their way to receivers far away.
    far: FarFrames,
    /// Who hears whom, by stations' numbers.
    hearers: Hearers,
    /// What decides that, if nodes move.
    links: Option<Box<Links>>,
    /// How links' strengths change with time.
    fading: Option<Box<Fading>>,
    /// Which stations are switched off; `None`: none ever was.
    switched: Option<Box<Switched>>,
    /// Data rates.
    rates: RateTable,
    /// Links that lose frames.
    losses: Losses,
    /// What chooses the modes of data frames, by station; `None`: the links' rates do.
    controls: Option<Box<[Control]>>,
    /// Something is to be settled for a frame before it goes out: one flag, since every deadline of a station asks.
    settles_frames: bool,
    /// Frames sent.
    frames: u64,
}

/// A station, and which of the frames that it can read go to the relay behind it.
#[repr(C, align(64))]
struct Listener {
    station: Station,
    listens: Listens,
}

/// An odd number of cache lines: stations of a large mesh begin in all sets of the cache, not in every second or eighth.
const _: () = assert!(size_of::<Listener>() == 7 * 64);

/// What a channel is like, for its stations: everything by nodes, those of other channels included.
pub(crate) struct Channel {
    /// What all stations share.
    pub config: StationConfig,
    /// Who hears whom at the start.
    pub hearers: Hearers,
    /// What decides that, if nodes move.
    pub links: Option<Box<Links>>,
    /// How links' strengths change with time.
    pub fading: Option<Box<Fading>>,
    /// Data rates.
    pub rates: RateTable,
    /// Links that lose frames.
    pub losses: Losses,
}

impl Air {
    /// A channel with its stations, in the order of `members`; `None`: one for every node. `controls`: what chooses their modes, if anything.
    pub(crate) fn new(
        channel: Channel,
        members: Option<Box<[NodeId]>>,
        stations: impl Iterator<Item = (Station, Listens)>,
        controls: Option<Box<[Control]>>,
    ) -> Self {
        let stations: Vec<_> = stations.map(|(station, listens)| Listener { station, listens }).collect();
        let Channel { mut config, hearers, links, fading, rates, losses } = channel;
        config.told_of_exchanges = controls.is_some();
        let settles_frames = config.phy.standard.aggregation.is_some() || controls.is_some();
        let mut this = Self {
            first: InterfaceId(0),
            members,
            config,
            on_air: vec![None; stations.len()],
            listening: stations.iter().any(|behind| behind.listens != Listens::No),
            stations,
            far: FarFrames::default(),
            hearers: Hearers::default(),
            links,
            fading,
            switched: None,
            rates,
            losses,
            settles_frames,
            controls,
            frames: 0,
        };
        this.heard_by_node(hearers);
        this
    }

    /// Which node hears which, from now on.
    fn heard_by_node(&mut self, mut by_node: Hearers) {
        self.losses.mark(&mut by_node);
        let all = match &self.members {
            None => by_node,
            Some(members) => by_node.among(members),
        };
        self.hearers = match &mut self.switched {
            None => all,
            Some(switched) => {
                switched.becomes(all);
                switched.hearers()
            }
        };
    }

    /// A node's station, if it has one here, is on from now on, or off: then it hears no station, and no station hears it.
    pub(crate) fn switch(&mut self, node: NodeId, on: bool) {
        let Some(station) = self.station_of(node) else { return };
        let mut switched = self
            .switched
            .take()
            .unwrap_or_else(|| Box::new(Switched::new(std::mem::take(&mut self.hearers))));
        switched.switch(station, on);
        self.hearers = switched.hearers();
        self.switched = Some(switched);
    }

    /// The table to fill anew: in place if it goes by nodes anyway.
    fn emptied(&mut self) -> Hearers {
        if self.members.is_none() { std::mem::take(&mut self.hearers) } else { Hearers::default() }
    }

    /// Nodes have moved there.
    pub(crate) fn place(&mut self, positions: &[Position]) {
        let mut table = self.emptied();
        let links = self.links.as_ref().unwrap_or_else(|| panic!("nodes move on an air without links"));
        links.table_into(positions, &mut table);
        self.heard_by_node(table);
    }

    /// Links are as strong as they have become.
    pub(crate) fn fade(&mut self) {
        let Some(fading) = self.fading.take() else { return };
        let mut table = self.emptied();
        fading.table_into(&mut table);
        self.heard_by_node(table);
        self.fading = Some(fading);
    }

    /// One look later.
    pub(crate) fn fade_on(&mut self) {
        if let Some(fading) = &mut self.fading {
            fading.advance();
            self.fade();
        }
    }

    /// From one look at fading links to the next; `None`: they do not fade.
    pub(crate) fn fading_step(&self) -> Option<Span> {
        self.fading.as_ref().map(|fading| fading.step())
    }

    /// No station sends any more: the table of hearers is let go.
    pub(crate) fn end(&mut self) {
        self.hearers = Hearers::default();
    }

    /// Whose a station is.
    #[inline(always)]
    pub(crate) fn node(&self, station: u32) -> NodeId {
        match &self.members {
            None => NodeId(station),
            Some(members) => members[station as usize],
        }
    }

    /// A node's station, if it has one here.
    #[inline]
    pub(crate) fn station_of(&self, node: NodeId) -> Option<u32> {
        match &self.members {
            None => Some(node.0),
            Some(members) => members.binary_search(&node).ok().map(|at| at as u32),
        }
    }

    /// The interface that a station is.
    #[inline]
    fn interface(&self, station: u32) -> InterfaceId {
        InterfaceId(self.first.0 + station)
    }

    /// The interface that a node has here, if it has one.
    #[inline]
    fn interface_of(&self, node: NodeId) -> Option<InterfaceId> {
        self.station_of(node).map(|station| self.interface(station))
    }

    /// What all stations share.
    #[inline]
    pub(crate) fn config(&self) -> &StationConfig {
        &self.config
    }

    /// Data rates.
    #[inline]
    pub(crate) fn rates(&self) -> &RateTable {
        &self.rates
    }

    /// The mode of what a node sends to a neighbour, or to all.
    #[inline]
    pub(crate) fn mode(&self, from: NodeId, to: Option<NodeId>) -> &'static Mode {
        to.map_or(self.config.phy.basic, |to| self.mode_between(from, to))
    }

    /// The mode in which most of what a node sends to a neighbour goes.
    #[inline]
    pub(crate) fn mode_between(&self, from: NodeId, to: NodeId) -> &'static Mode {
        let controlled = self.controls.as_ref().and_then(|controls| {
            let station = self.station_of(from)?;
            controls[station as usize].expects(to)
        });
        controlled.unwrap_or_else(|| self.rates.between(from, to))
    }

    /// True if something is to be settled for a frame before it goes out: what goes in it, or how.
    #[inline]
    pub(crate) const fn settles_frames(&self) -> bool {
        self.settles_frames
    }

    /// The mode is chosen in which a station, which has won the medium, sends its frame, if it has one for a neighbour. True if the frame
    /// may take more packets.
    #[inline]
    pub(crate) fn choose_mode(&mut self, now: Instant, station: u32) -> bool {
        if self.controls.is_some() { self.choose(now, station) } else { true }
    }

    #[inline(never)]
    fn choose(&mut self, now: Instant, station: u32) -> bool {
        let Some(controls) = &mut self.controls else { return true };
        let sender = &mut self.stations[station as usize].station;
        let Some(first) = sender.upcoming().copied() else { return true };
        let to = first.packet.to.and_then(|to| match &self.members {
            None => Some(to),
            Some(members) => members.binary_search(&to).ok().map(NodeId::from_index),
        });
        let (hearers, noise) = (&self.hearers, self.config.limits.noise);
        let ratio = || Some(hearers.get(NodeId(station), to?)?.power / noise);
        let mpdu = self.config.phy.mpdu(first.packet.size);
        let (mode, alone) = controls[station as usize].choose(now, &first, mpdu, &ratio);
        sender.send_in(mode, alone, &self.config);
        !alone
    }

    /// An exchange of a station has ended.
    pub(crate) fn exchange_ended(&mut self, now: Instant, station: u32, exchange: &Exchange) {
        if let Some(controls) = &mut self.controls {
            controls[station as usize].ended(now, exchange);
        }
    }

    /// In which modes a station's frames to a neighbour went; nothing where they are given.
    pub(crate) fn rate_counts(&self, station: u32, to: NodeId) -> impl Iterator<Item = RateCount> + '_ {
        self.controls.iter().flat_map(move |controls| controls[station as usize].counts(to))
    }

    /// The nodes that can decode what a node sends here; none if it has no station here.
    pub(crate) fn neighbours(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let rows = self.station_of(node).into_iter().flat_map(|from| self.hearers.of(NodeId(from)));
        rows.filter(|hearer| hearer.decodable).map(|hearer| self.node(hearer.node.0))
    }

    /// How a node hears another here, if it does.
    pub(crate) fn heard(&self, from: NodeId, by: NodeId) -> Option<Hearer> {
        let (from, by) = (self.station_of(from)?, self.station_of(by)?);
        self.hearers.get(NodeId(from), NodeId(by))
    }

    /// True if two nodes decode each other here.
    pub(crate) fn joins(&self, a: NodeId, b: NodeId) -> bool {
        let decodes = |from, by| self.heard(from, by).is_some_and(|hearer| hearer.decodable);
        decodes(a, b) && decodes(b, a)
    }

    /// A station.
    #[inline(always)]
    pub(crate) fn station(&self, station: u32) -> &Station {
        &self.stations[station as usize].station
    }

    /// Which of the frames that a station can read go to the relay behind it.
    #[inline]
    pub(crate) fn listens(&self, station: u32) -> Listens {
        self.stations[station as usize].listens
    }

    /// How long the medium has been busy at a station.
    pub(crate) fn busy_time(&mut self, now: Instant, station: u32) -> Span {
        self.stations[station as usize].station.busy_time(now, &self.config)
    }

    /// Another smallest contention window of a station, as a power of 2.
    pub(crate) fn set_ecw_min(&mut self, station: u32, power: u8) {
        self.stations[station as usize].station.set_ecw_min(power);
    }

    /// A station gets its next packet.
    #[inline]
    pub(crate) fn offer(&mut self, now: Instant, station: u32, packet: MacPacket) {
        self.stations[station as usize].station.offer(now, packet, &self.config);
    }

    /// True if a station takes its next packet.
    #[inline(always)]
    pub(crate) fn takes(&self, station: u32) -> bool {
        self.station(station).accepts()
    }

    /// True if a station, which is called now, sends what it has: what goes with it has to join it before.
    pub(crate) fn wins(&mut self, now: Instant, station: u32) -> bool {
        self.stations[station as usize].station.wins(now, &self.config)
    }

    /// True if frames carry several packets here.
    #[inline]
    pub(crate) const fn aggregates(&self) -> bool {
        self.config.phy.standard.aggregation.is_some()
    }

    /// For whom a station takes one more packet into the latest frame that it has of a category, and how large that may be; `None`: of
    /// the one that has won the medium.
    pub(crate) fn room(&mut self, station: u32, category: Option<Category>) -> Option<(Peer, Bytes)> {
        let station = &mut self.stations[station as usize].station;
        match category {
            None => station.room(&self.config),
            Some(category) => station.room_of(category, &self.config),
        }
    }

    /// A packet of this category waits for a station.
    pub(crate) fn expect(&mut self, station: u32, category: Category) {
        self.stations[station as usize].station.expect(category, &self.config);
    }

    /// True if frames are fixed before their turn here.
    #[inline]
    pub(crate) const fn fixes_ahead(&self) -> bool {
        match self.config.phy.standard.aggregation {
            Some(aggregation) => aggregation.ahead > 0,
            None => false,
        }
    }

    /// A station gets no more packets into the frame of this category that it has begun.
    pub(crate) fn fix(&mut self, station: u32, category: Category) {
        self.stations[station as usize].station.fix(category, &self.config);
    }

    /// A station gets one more packet into the latest frame that it has, which had so much room: what it has now.
    pub(crate) fn join(&mut self, station: u32, packet: MacPacket, room: Bytes) -> Option<(Peer, Bytes)> {
        self.stations[station as usize].station.join(packet, room, &self.config)
    }

    /// A station's deadline has come, or may have.
    #[inline(always)]
    pub(crate) fn timer(&mut self, now: Instant, station: u32, out: &mut Vec<Action>) {
        self.stations[station as usize].station.timer(now, &self.config, out);
    }

    /// When a station wants to be called next.
    #[inline(always)]
    pub(crate) fn deadline(&self, station: u32) -> Option<Instant> {
        self.stations[station as usize].station.next_deadline(&self.config)
    }

    /// The frame that a station sent last.
    #[inline]
    pub(crate) fn latest(&self, from: u32) -> &Frame {
        &sent_last(&self.on_air, from).frame
    }

    /// The last bit of a station's latest frame arrives at another station, to which it is addressed. Returns what
    /// becomes of the frame, the frame, and what the MAC reports of it.
    #[inline]
    pub(crate) fn frame_ends(
        &mut self,
        now: Instant,
        (from, to): (u32, u32),
        out: &mut Vec<Action>,
    ) -> (FrameEnd, &Frame, Listens) {
        let OnAir { frame, erased } = sent_last(&self.on_air, from);
        let Listener { station, listens } = &mut self.stations[to as usize];
        (station.frame_ends(now, frame, erased.as_deref(), &self.config, out), frame, *listens)
    }

    /// The last bit of a frame from far away arrives at the station to which it is addressed. The packets in it are the caller's to free.
    pub(crate) fn far_frame_ends(
        &mut self,
        now: Instant,
        (copy, to): (u32, u32),
        out: &mut Vec<Action>,
    ) -> (FrameEnd, Frame) {
        let OnAir { frame, erased } = self.far.take(copy);
        (
            self.stations[to as usize].station.frame_ends(now, &frame, erased.as_deref(), &self.config, out),
            frame,
        )
    }

    /// A copy of a frame from far away that has arrived; the packets in it are the caller's to free.
    pub(crate) fn take_far(&mut self, copy: u32) -> Frame {
        self.far.take(copy).frame
    }

    /// Copies of frames on their way to receivers far away.
    pub(crate) fn far_frames(&self) -> usize {
        self.far.count()
    }

    /// The last bit of a frame for another station arrives at a station: true if that could read it.
    #[inline]
    pub(crate) fn overhear(&mut self, now: Instant, station: u32, from: NodeId) -> bool {
        self.stations[station as usize].station.overhear(now, from, &self.config)
    }

    /// Frames sent.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Brings the counters of all stations up to `now`.
    pub(crate) fn settle(&mut self, now: Instant) {
        self.stations.iter_mut().for_each(|behind| behind.station.settle(now, &self.config));
    }

    /// Stations count afresh.
    pub(crate) fn begin_counting(&mut self, now: Instant) {
        for Listener { station, .. } in &mut self.stations {
            station.settle(now, &self.config);
            station.reset_stats();
        }
        self.controls.iter_mut().flatten().for_each(Control::begin_counting);
    }
}

/// What a station sent last.
#[inline]
fn sent_last(on_air: &[Option<OnAir>], from: u32) -> &OnAir {
    on_air[from as usize].as_ref().unwrap_or_else(|| panic!("station {from} sent nothing"))
}
