//! A frame on its way to all who hear it.

use super::far_frames::OnAir;
use super::{Air, sent_last};
use crate::event::{Event, EventQueue};
use meshpace_radio::{Frame, Header, Hearer, Signal};
use meshpace_relay::packet::Packets;
use meshpace_units::{Instant, NodeId, Span};
use std::fmt::Debug;

/// A receiver nearer than this (6 km) has read a frame before its transmitter sends another or gives its packet up:
/// that takes DIFS after the end, 28 us at the least (schemes.md 17.3).
const NEAR: Span = Span::from_micros(20);

/// Where the ends of frames go, and the packets that frames carry.
pub(crate) struct Ends<'a, T> {
    /// The events.
    pub queue: &'a mut EventQueue<T>,
    /// All packets under way.
    pub packets: &'a mut Packets,
}

impl Air {
    /// The frame with this header is the one that a station sends now. It is made where it
    /// stays: it is too large to be copied without need.
    #[inline]
    pub(crate) fn begins(&mut self, station: u32, header: &Header) -> &Frame {
        let frame = self.stations[station as usize].station.frame(header);
        &self.on_air[station as usize].insert(OnAir { frame, erased: None }).frame
    }

    /// A station sends the frame that it has [begun](Air::begins). All stations that hear it note its beginning, and its end is
    /// scheduled at the stations that it is for.
    #[inline]
    pub(crate) fn send<T: Copy + Debug>(
        &mut self,
        now: Instant,
        station: u32,
        frame: &Header,
        ends: &mut Ends<'_, T>,
    ) {
        self.frames += 1;
        let to = frame.to.and_then(|to| self.station_of(to));
        if let (Some(to), true) = (to, !self.listening && !self.losses.any()) {
            self.spread_among_bystanders(now, (station, to), frame, ends);
        } else {
            self.spread(now, (station, to), frame, ends);
        }
    }

    /// Every station in range hears a frame. Which MPDUs of one with several packets its receiver's link loses is noted with it.
    fn spread<T: Copy + Debug>(
        &mut self,
        now: Instant,
        (from, to): (u32, Option<u32>),
        frame: &Header,
        ends: &mut Ends<'_, T>,
    ) {
        let signal = Signal::of(frame);
        for hearer in self.hearers.of(NodeId(from)) {
            let station = hearer.node.0;
            let at = self.interface(station);
            let unicast = to == Some(station);
            let mut lost = false;
            if hearer.lossy && hearer.decodable {
                let node = self.node(station);
                if unicast && frame.is_several() {
                    let Some(OnAir { frame, erased }) = &mut self.on_air[from as usize] else {
                        panic!("station {from} has begun nothing")
                    };
                    let lost = self.losses.lose_mpdus(now, node, frame, &self.config.phy);
                    *erased = Some(Box::new(lost));
                } else {
                    lost = self.losses.lose(now, frame.from, node, frame.size);
                }
            }
            let decodable = hearer.decodable && !lost;
            let arrival = signal.at(now + hearer.delay, hearer.power, decodable, unicast);
            let mine = arrival.mine();
            if mine && hearer.delay < NEAR {
                if let (None, Some(mpdu)) = (frame.to, &frame.packet) {
                    ends.packets.expect_reader(mpdu.packet.handle);
                }
                ends.queue.schedule(arrival.end(), Event::FrameEnds { at, from });
            } else if mine {
                let copy = self.far.add(sent_last(&self.on_air, from), ends.packets);
                ends.queue.schedule(arrival.end(), Event::FarFrameEnds { at, copy });
            } else if decodable && self.listens(station).to(frame.kind) {
                let event = if hearer.delay < NEAR {
                    Event::Overheard { at, from }
                } else {
                    Event::FarOverheard {
                        at,
                        copy: self.far.add(sent_last(&self.on_air, from), ends.packets),
                    }
                };
                ends.queue.schedule(arrival.end(), event);
            }
            if let Some(not_before) = self.stations[station as usize].station.hear(now, arrival, &self.config)
            {
                ends.queue.postpone_station(at, arrival.start, not_before);
            }
        }
    }

    /// The same for a frame to one station, where no relay listens and no link loses frames: the loop over all hearers only looks
    /// for that station. Not inlined, since what surrounds it would leave it too few registers.
    #[inline(never)]
    fn spread_among_bystanders<T: Copy + Debug>(
        &mut self,
        now: Instant,
        (from, to): (u32, u32),
        frame: &Header,
        ends: &mut Ends<'_, T>,
    ) {
        let signal = Signal::of(frame);
        let mut addressee = None;
        for hearer in self.hearers.of(NodeId(from)) {
            let station = hearer.node.0;
            if station == to {
                addressee = Some(hearer);
                continue;
            }
            let arrival = signal.passing(now + hearer.delay, hearer.power, hearer.decodable);
            if let Some(not_before) = self.stations[station as usize].station.hear(now, arrival, &self.config)
            {
                ends.queue.postpone_station(self.interface(station), arrival.start, not_before);
            }
        }
        let Some(Hearer { delay, power, decodable, .. }) = addressee else { return };
        let arrival = signal.at(now + delay, power, decodable, true);
        let at = self.interface(to);
        if arrival.mine() {
            let event = if delay < NEAR {
                Event::FrameEnds { at, from }
            } else {
                Event::FarFrameEnds { at, copy: self.far.add(sent_last(&self.on_air, from), ends.packets) }
            };
            ends.queue.schedule(arrival.end(), event);
        }
        if let Some(not_before) = self.stations[to as usize].station.hear(now, arrival, &self.config) {
            ends.queue.postpone_station(at, arrival.start, not_before);
        }
    }
}
