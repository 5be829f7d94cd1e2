//! Hooks where packets pass. A hook sees the packets of both directions; it lets each go on, holds, drops or rewrites it, and has
//! deadlines of its own.
//!
//! A hook does not know where it runs. At a queue of the mesh or of a wired link it stands before drop-tail
//! (`meshpace_relay::hooked`). At a simulated gateway, and in the daemon on NFQUEUE, it stands between the gateway's machine and the
//! Internet. A scheme chooses it by one word at either place, the daemon by the key `hook`. All drivers use [`Hooked`], which keeps the
//! packets that wait. The data path inside the kernel (`datapath = "ebpf"`) calls no hooks.
//!
//! A new hook is a file and a row of [`HOOKS`].
#![no_std]

extern crate alloc;

mod hooked;

pub use hooked::{Hooked, Leaving, Met};

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use meshpace_keys::{Part, Values};
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant};

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To the Internet.
    Up,
    /// From the Internet into the mesh.
    Down,
    /// At a queue: to the next node, wherever that is.
    Along,
}

/// The number of a packet at this hook: packets are counted from 0 in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A packet that passes, as far as it can be read.
#[derive(Clone, Copy, Debug)]
pub struct Passing<'a> {
    /// The address that the packet comes from.
    pub source: IpAddr,
    /// The address that the packet goes to.
    pub destination: IpAddr,
    /// The TCP header and the length of the payload; `None`: the packet is no TCP, or cannot be read.
    pub segment: Option<&'a Segment>,
    /// True if the header has something for which the segment has no field: urgent data, a reserved flag (AccECN's among them,
    /// RFC 9768), an option that is neither time stamps nor TCP-GAP's.
    pub says_more: bool,
    /// The length of the IP packet, bytes.
    pub length: Bytes,
}

/// What to change in a packet that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rewrite {
    /// The new window field, as it stands on the wire; `None` leaves the field as it is.
    pub window: Option<u16>,
    /// True if the packet is to be marked with congestion, where its transport allows that (RFC 3168, section 5).
    pub mark: bool,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet goes on as it is.
    Pass,
    /// The packet goes on with these changes.
    Rewrite(Rewrite),
    /// The packet waits, and goes on at that time unless an [order](Orders) comes before.
    HoldUntil(Instant),
    /// The packet is dropped.
    Drop,
}

/// Orders about packets that were held before; an order about another packet has no effect.
#[derive(Debug, Default)]
pub struct Orders(Vec<(Ticket, bool)>);

impl Orders {
    /// The held packet goes on now.
    pub fn pass(&mut self, held: Ticket) {
        self.0.push((held, true));
    }

    /// The held packet is dropped.
    pub fn drop(&mut self, held: Ticket) {
        self.0.push((held, false));
    }
}

/// A hook. Equal calls must give equal answers: no clock, no random source.
pub trait PacketHook: fmt::Debug + Send {
    /// A packet passes. The answer is what becomes of it. Orders about packets held before are carried out first, so that these
    /// packets go on before this one.
    fn on_packet(
        &mut self,
        direction: Direction,
        ticket: Ticket,
        packet: &Passing<'_>,
        now: Instant,
        orders: &mut Orders,
    ) -> Verdict;

    /// A held packet goes on without an order: its time has come, or there is no room for more packets.
    fn on_gone(&mut self, _held: Ticket) {}

    /// When [`on_deadline`](Self::on_deadline) is to be called next.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// The hook's deadline has come.
    fn on_deadline(&mut self, _now: Instant, _orders: &mut Orders) {}
}

/// A hook with its parameters; each place where packets pass makes a hook of its own from it.
#[derive(Clone, Debug)]
pub struct HookMaker {
    part: &'static HookPart,
    values: Values,
}

impl HookMaker {
    /// A hook of [`HOOKS`] with these parameters.
    #[must_use]
    pub const fn new(part: &'static HookPart, values: Values) -> Self {
        Self { part, values }
    }

    /// The hook of one place; `None`: packets pass as they come.
    #[must_use]
    pub fn hook(&self) -> Option<Box<dyn PacketHook>> {
        (self.part.build)(&self.values)
    }
}

impl PartialEq for HookMaker {
    /// The same hook with the same parameters.
    fn eq(&self, other: &Self) -> bool {
        self.part.about.word == other.part.about.word && self.values == other.values
    }
}

/// How a hook is built from the values of its keys; `None`: packets pass as they come.
pub type HookPart = Part<fn(&Values) -> Option<Box<dyn PacketHook>>>;

meshpace_keys::parts! {
    /// The hooks. Each but the first is a relay and a gateway by its word, and the daemon's `hook`.
    pub static HOOKS: HookPart = [none, ack_filter];
}
