//! Hooks where packets pass: what lets them go on, holds, drops or rewrites them, both ways, with deadlines of its own.
//!
//! A hook does not know where it runs. At a queue of the mesh or of a wired link it stands before drop-tail
//! (`meshpace_relay::hooked`), at a simulated gateway and in the daemon on NFQUEUE between the gateway's machine and the Internet; a
//! scheme chooses it by one word at either place, the daemon by `hook`. [`Hooked`] is what all of them drive: it keeps the packets
//! that wait. What runs inside the kernel (`datapath = "ebpf"`) calls no hooks.
//!
//! A new one is a file and a row of [`HOOKS`].
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

/// Which packet it is at this hook: counted from 0 in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A packet that passes, as far as it can be read.
#[derive(Clone, Copy, Debug)]
pub struct Passing<'a> {
    /// Address that it comes from.
    pub source: IpAddr,
    /// Address that it goes to.
    pub destination: IpAddr,
    /// The TCP header and the length of the payload; `None`: it is no TCP, or cannot be read.
    pub segment: Option<&'a Segment>,
    /// Its header says what the segment has no field for: urgent data, a reserved flag (AccECN's is one of them, RFC 9768), an
    /// option that is neither time stamps nor TCP-GAP's.
    pub says_more: bool,
    /// Length of the IP packet.
    pub length: Bytes,
}

/// What to change in a packet that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rewrite {
    /// The window field, as it is to be on the wire; `None` leaves it.
    pub window: Option<u16>,
    /// Whether it is to tell congestion, where its transport allows that (RFC 3168, section 5).
    pub mark: bool,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on as it is.
    Pass,
    /// It goes on, so changed.
    Rewrite(Rewrite),
    /// It waits, and goes on then unless it is [ordered](Orders) otherwise before.
    HoldUntil(Instant),
    /// It goes nowhere.
    Drop,
}

/// What becomes of packets that were held before; orders about others are none.
#[derive(Debug, Default)]
pub struct Orders(Vec<(Ticket, bool)>);

impl Orders {
    /// It goes on now.
    pub fn pass(&mut self, held: Ticket) {
        self.0.push((held, true));
    }

    /// It goes nowhere.
    pub fn drop(&mut self, held: Ticket) {
        self.0.push((held, false));
    }
}

/// What sees packets where they pass. Equal calls must give equal answers.
pub trait PacketHook: fmt::Debug + Send {
    /// A packet passes. What is ordered about packets held before is done first: they go on before this one.
    fn on_packet(
        &mut self,
        direction: Direction,
        ticket: Ticket,
        packet: &Passing<'_>,
        now: Instant,
        orders: &mut Orders,
    ) -> Verdict;

    /// A packet that was held until now goes on without an order: its time has come, or there is no room for more.
    fn on_gone(&mut self, _held: Ticket) {}

    /// When [`on_deadline`](Self::on_deadline) is to be called next.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Its deadline has come.
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
