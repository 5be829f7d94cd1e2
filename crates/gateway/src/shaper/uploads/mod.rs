//! What hosts send: who sends more than its share while another host wants more of the mesh goes slower.
//!
//! Nothing that came out of the mesh is held here, as it has taken the air already. But acknowledgements that pass to a host say how far its
//! senders may go. Where a host has more of the mesh than its share, both ways together, and another one wants more, the edge of its
//! senders' windows moves on no faster than the host's share. A sender keeps to that whatever its round trip is (TCP rate control:
//! Karandikar et al., ACM CCR 30(1), 2000), nothing is dropped, and no edge is ever taken back ([`crate::sender_window`]).
//!
//! A host wants more while packets with data wait for it at the shaper, where the rate is found by delay: then the mesh is full. A given rate is
//! what an operator wants to go into the mesh, and says nothing of that. And it wants more if some of what it sends or fetches was lost.

mod connection;
mod gain;
mod level;

use super::CALLS;
use super::pace::Pace;
use crate::{FlowKey, Side};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use connection::{Connection, Purse};
use core::net::IpAddr;
use gain::Gain;
use level::{Use, level};
use libm::exp;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Ecn, Instant, Rate, Span};

/// Shares are worked out no more often than this.
const LOOKS: Span = Span::from_millis(100);
/// A host wants more from when it does so for the first part of the time, of about a second, until it does for less than the second.
const WANTS: (f64, f64, Span) = (0.3, 0.1, Span::from_secs(1));
/// It does so while something was lost and has not been made up for, and was sent again in this time: a sender's timer may have doubled a few times.
const LOST: Span = Span::from_secs(30);
/// A host is held back from so many times its share on, until it has no more than so much of it.
const KEEPS: (f64, f64) = (1.05, 0.8);
/// A host that uses this part of what it may send would send more.
const USED: f64 = 0.7;
/// A host that nobody wants more beside may send so many times more with each look, until it may send so many times what it does.
const LETS_GO: (f64, f64) = (1.1, 2.0);
/// Of its share a host may always send this part, whatever it fetches.
const LEAST: f64 = 0.5;
/// A host or connection of which nothing came is forgotten after so long, where room is needed.
const SILENT: Span = Span::from_secs(10);
/// That is looked at no more often than this.
const TIDIES: Span = Span::from_secs(1);
/// Connections that are followed, for each host that is remembered.
const EACH: usize = 4;

/// A packet that came from a host of the mesh.
#[derive(Clone, Copy, Debug)]
pub struct Coming<'a> {
    /// The host, or the address that stands for several.
    pub host: IpAddr,
    /// Length of the IP packet.
    pub size: Bytes,
    /// Whether it may be marked in place of being dropped.
    pub ecn: Ecn,
    /// Its connection and itself, if it is a whole segment of TCP.
    pub segment: Option<(&'a FlowKey, &'a Segment)>,
}

/// What becomes of a packet that came from the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "it may have to be dropped"]
pub enum Passage {
    /// It goes on.
    Passes,
    /// It goes on, and is to tell that there is too much (RFC 3168, section 5).
    Marked,
    /// It is dropped, to tell that.
    Dropped,
}

/// What one host sends.
#[derive(Clone, Copy, Debug, Default)]
struct Sends {
    pace: Pace,
    /// What its senders may go on by; `None`: nothing is held back.
    purse: Option<Purse>,
    /// For which part of the time it wants more, and whether that is often.
    wants: (f64, bool),
    seen: Instant,
}

/// What goes to a host, as the shaper knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gets {
    pub host: IpAddr,
    /// What it costs a second.
    pub cost: f64,
    /// What a byte costs.
    pub price: f64,
    pub shares: u64,
    /// Packets with data wait for it, and nothing but the mesh holds them.
    pub waits: bool,
}

/// What a host has of the mesh, in costs a second.
#[derive(Clone, Copy, Debug)]
struct Seen {
    sends: f64,
    all: f64,
    shares: f64,
    wants: bool,
    /// It sends as much as it may.
    is_held: bool,
}

/// See the module's description.
#[derive(Debug)]
pub(super) struct Uploads {
    hosts: BTreeMap<IpAddr, Sends>,
    connections: BTreeMap<FlowKey, Connection>,
    /// Those of which something was lost that has not been made up for: the host, and when the latest segment came.
    missing: BTreeMap<FlowKey, (IpAddr, Instant)>,
    most: usize,
    gain: Gain,
    looked: Instant,
    tidied: Instant,
}

/// A smoothed part of the time, with what was the case since it was looked at.
fn smoothed(before: f64, is: bool, passed: Span) -> f64 {
    let stays = exp(-passed.as_secs_f64() / WANTS.2.as_secs_f64());
    before * stays + f64::from(u8::from(is)) * (1.0 - stays)
}

impl Uploads {
    pub const fn new(most: usize) -> Self {
        Self {
            hosts: BTreeMap::new(),
            connections: BTreeMap::new(),
            missing: BTreeMap::new(),
            most,
            gain: Gain::new(),
            looked: Instant::ZERO,
            tidied: Instant::ZERO,
        }
    }

    /// A packet of this cost came from a host: what becomes of it.
    pub fn comes(&mut self, now: Instant, coming: &Coming<'_>, cost: u64) -> Passage {
        let bound = coming.segment.is_some_and(|(key, segment)| {
            let follows = self.follow(now, coming.host, Side::Wireless, key, segment);
            follows && self.connections.get(key).is_some_and(Connection::is_bound)
        });
        if !self.has_place(now, coming.host) {
            return Passage::Passes;
        }
        let sends = self.hosts.entry(coming.host).or_default();
        sends.pace.on_packet(now, cost as f64);
        sends.seen = now;
        let purse = sends.purse.as_mut().filter(|_| !bound && coming.size > CALLS.longest);
        match purse.is_some_and(|purse| purse.pays(now, coming.size)) {
            false => Passage::Passes,
            true if coming.ecn.is_capable() => Passage::Marked,
            true => Passage::Dropped,
        }
    }

    /// A segment is on its way to a host: the window field that it is to have in place of its own, if it is to have another and `changes`: if it may be
    /// changed.
    pub fn announces(
        &mut self,
        now: Instant,
        host: IpAddr,
        key: &FlowKey,
        segment: &Segment,
        changes: bool,
    ) -> Option<u16> {
        if !self.follow(now, host, Side::Wired, key, segment) {
            return None;
        }
        let purse = self.hosts.get_mut(&host).and_then(|sends| sends.purse.as_mut()).filter(|_| changes);
        let ip = if key.wireless.address.is_ipv4() { 20 } else { 40 };
        let headers = Bytes(ip + u64::from(segment.header_length()));
        self.connections.get_mut(key)?.announces(now, segment, headers, purse)
    }

    /// Follows a connection from its SYN on; false: nothing is believed of this segment.
    fn follow(&mut self, now: Instant, host: IpAddr, side: Side, key: &FlowKey, segment: &Segment) -> bool {
        if let Some(known) = self.connections.get_mut(key) {
            let (missed, believed) = (known.misses(), known.believes(now, side, segment));
            let (misses, is_over) = (known.misses(), believed && segment.flags.rst);
            if misses && !is_over && segment.sequence_length() > 0 {
                self.missing.insert(*key, (host, now));
            } else if missed && (!misses || is_over) {
                self.missing.remove(key);
            }
            if is_over {
                self.connections.remove(key);
            }
            return believed && !is_over;
        }
        // Without its SYN the unit of its windows is unknown (RFC 7323, section 2.2).
        if !segment.flags.syn || segment.flags.rst || !self.has_room(now) {
            return false;
        }
        self.connections.insert(*key, Connection::new(now, side, segment));
        true
    }

    /// Whether there is a place for a host.
    fn has_place(&mut self, now: Instant, host: IpAddr) -> bool {
        if self.hosts.contains_key(&host) {
            return true;
        }
        if self.hosts.len() >= self.most {
            self.tidy(now);
        }
        self.hosts.len() < self.most
    }

    /// Whether there is one for a connection.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.connections.len() >= self.most * EACH {
            self.tidy(now);
        }
        self.connections.len() < self.most * EACH
    }

    /// Forgets what has been silent, once a second at the most.
    fn tidy(&mut self, now: Instant) {
        if now.saturating_since(self.tidied) >= TIDIES {
            self.tidied = now;
            let speaks = |seen: Instant| now.saturating_since(seen) < SILENT;
            self.hosts.retain(|_, sends| speaks(sends.seen));
            self.connections.retain(|_, connection| speaks(connection.seen));
        }
    }

    /// The most that a host may send, in bytes, while it is held back.
    pub fn may_send(&self, host: IpAddr) -> Option<Rate> {
        let purse = self.hosts.get(&host)?.purse?;
        Some(Rate::bits_per_sec((purse.rate * 8.0) as u64))
    }

    /// Whether shares are to be worked out again.
    pub fn is_due(&self, now: Instant) -> bool {
        now.saturating_since(self.looked) >= LOOKS
    }

    /// Works out how much each host may send.
    pub fn share(&mut self, now: Instant, mut gets: Vec<Gets>) {
        let known: BTreeSet<_> = gets.iter().map(|gets| gets.host).collect();
        let others = self
            .hosts
            .iter()
            .filter(|(host, of)| !known.contains(host) && now.saturating_since(of.seen) < SILENT);
        // Nothing goes to them, and nothing is agreed about them.
        gets.extend(others.map(|(host, _)| Gets {
            host: *host,
            cost: 0.0,
            price: 1.0,
            shares: 1,
            waits: false,
        }));
        self.look(now, &gets);
        let seen: Vec<_> = gets.iter().map(|gets| self.seen(now, gets)).collect();
        let wants = |seen: &&Seen| seen.wants;
        let held = seen
            .iter()
            .any(|seen| seen.is_held)
            .then(|| seen.iter().filter(|seen| seen.is_held).map(|seen| seen.sends).sum());
        let had = seen.iter().filter(wants).map(|seen| seen.all).sum();
        let helps = self.gain.helps(now, held, had) && seen.iter().any(|seen| seen.wants);
        let uses = seen.iter().map(|seen| Use {
            cost: seen.all,
            weight: seen.shares,
            wants: seen.wants || seen.is_held,
        });
        let level = if helps { level(&mut uses.collect::<Vec<_>>()) } else { None };
        for (gets, seen) in gets.iter().zip(&seen) {
            let Some(sends) = self.hosts.get_mut(&gets.host) else { continue };
            let share = level.map(|level| level * seen.shares);
            sends.purse = match (share, sends.purse) {
                (Some(share), purse)
                    if seen.all > if purse.is_some() { KEEPS.1 } else { KEEPS.0 } * share =>
                {
                    let rate = (share - gets.cost).max(LEAST * share) / gets.price;
                    Some(purse.map_or(Purse::new(now, rate), |purse| purse.at(rate)))
                }
                (_, Some(purse)) if purse.rate * gets.price < LETS_GO.1 * seen.sends => {
                    Some(purse.at(LETS_GO.0 * purse.rate))
                }
                _ => None,
            };
        }
    }

    /// Looks who wants more.
    fn look(&mut self, now: Instant, gets: &[Gets]) {
        let passed = now.saturating_since(self.looked);
        self.looked = now;
        self.missing.retain(|_, (_, seen)| now.saturating_since(*seen) < LOST);
        let miss: BTreeSet<_> = self.missing.values().map(|(host, _)| *host).collect();
        for gets in gets {
            let wants = gets.waits || miss.contains(&gets.host);
            if wants && self.has_place(now, gets.host) {
                self.hosts.entry(gets.host).or_default().seen = now;
            }
            if let Some(of) = self.hosts.get_mut(&gets.host) {
                let (part, wanted) = (smoothed(of.wants.0, wants, passed), of.wants.1);
                of.wants = (part, part >= if wanted { WANTS.1 } else { WANTS.0 });
            }
        }
    }

    /// What a host has, and whether it wants more.
    fn seen(&self, now: Instant, gets: &Gets) -> Seen {
        let sends = self.hosts.get(&gets.host);
        let cost = sends.map_or(0.0, |sends| sends.pace.rate(now));
        let most = sends.and_then(|sends| sends.purse).map(|purse| purse.rate * gets.price);
        Seen {
            sends: cost,
            all: cost + gets.cost,
            shares: gets.shares as f64,
            wants: sends.is_some_and(|sends| sends.wants.1),
            is_held: most.is_some_and(|most| cost >= USED * most),
        }
    }
}
