//! A packet on its way to the mesh, while it waits and as it leaves; what CoDel does to it.

use super::Sign;
use alloc::collections::VecDeque;
use core::net::IpAddr;
use meshpace_codel::{Fate, FlowHash};
use meshpace_units::{Bytes, Ecn, Instant};

/// A packet on its way to a host of the mesh.
#[derive(Clone, Copy, Debug)]
pub struct Parcel<P> {
    /// The host, or the address that stands for several.
    pub host: IpAddr,
    /// Which of its flows.
    pub flow: FlowHash,
    /// Length of the IP packet.
    pub size: Bytes,
    /// Whether it may be marked in place of being dropped.
    pub ecn: Ecn,
    /// The round trip that begins when it leaves, if one does.
    pub sign: Option<Sign>,
    /// The packet.
    pub packet: P,
}

/// A packet that leaves the shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaped<P> {
    /// It goes on.
    Passes {
        /// The packet.
        packet: P,
        /// It has waited too long and is to tell so (RFC 3168, section 5).
        mark: bool,
        /// When it came.
        since: Instant,
        /// When it might leave: the driver's lateness is now minus this.
        due: Instant,
    },
    /// It is dropped: its flow's packets wait too long, or too many wait.
    Dropped(P),
}

/// A packet that waits.
#[derive(Clone, Debug)]
pub(super) struct Held<P> {
    pub packet: P,
    pub ecn: Ecn,
    pub mark: bool,
    pub since: Instant,
    pub sign: Option<Sign>,
}

/// What CoDel does to packets of the shaper.
pub(super) struct Judged<'a, P> {
    pub leaving: &'a mut VecDeque<Shaped<P>>,
    pub dropped: u64,
    pub marked: u64,
}

impl<P> Fate<Held<P>> for Judged<'_, P> {
    fn mark(&mut self, packet: &mut Held<P>) -> bool {
        packet.mark |= packet.ecn.is_capable();
        self.marked += u64::from(packet.mark);
        packet.mark
    }

    fn drop(&mut self, packet: Held<P>) {
        self.dropped += 1;
        self.leaving.push_back(Shaped::Dropped(packet.packet));
    }
}
