//! `shaping.h`: what the shaper of hosts and user space share.

use super::{Address, structs};
#[cfg(test)]
use meshpace_gateway::CALLS;
use zerocopy::network_endian::U16;

/// Fractions of a nanosecond a byte, as a power of two.
pub const BYTE_SHIFT: u32 = 10;
/// Fractions of what a byte costs, as a power of two.
pub const PRICE_SHIFT: u32 = 8;
/// How many times longer the slots of flows are, as a power of two.
pub const COARSER: u32 = 2;
/// And those of packets that wait.
pub const COARSEST: u32 = 5;
const ALL_SLOTS: usize = 512;
const HOST_SLOTS: usize = 128;
const WAIT_SLOTS: usize = 16;

structs! {
    "shaping.h", where "BYTE_SHIFT" = BYTE_SHIFT, "PRICE_SHIFT" = PRICE_SHIFT, "COARSER" = COARSER, "COARSEST" = COARSEST, "ALL_SLOTS" = ALL_SLOTS, "HOST_SLOTS" = HOST_SLOTS, "WAIT_SLOTS" = WAIT_SLOTS,
        "ACK_MAX" = CALLS.longer_than.0, "CALL_MAX" = CALLS.longest.0, "CALLS_PART" = CALLS.part.0, "CALLS_OF" = CALLS.part.1,
        "CALLS_AHEAD" = CALLS.at_once.0, "CALLS_AHEAD_OF_ALL" = CALLS.at_once_of_all.0;

    /// A mesh host, or whoever stands for several.
    #[derive(PartialEq, Eq)]
    HostKey = "host_key" {
        /// Its address.
        address: Address,
    }

    /// A prefix of mesh hosts.
    PrefixKey = "prefix_key" {
        /// Its length, bits.
        bits: u32,
        /// Its address.
        address: Address,
    }

    /// What is agreed about a host. Only user space writes it.
    Terms = "terms" {
        /// Time that a byte may take at the least, `>> BYTE_SHIFT`; 0: it has no cap.
        cap: u64,
        /// Shares, at least 1.
        weight: u32,
        /// What a byte to it costs, `>> PRICE_SHIFT`.
        price: u32,
        /// Bits of the address that stand for all hosts of the prefix; 0: each for itself.
        mask: u32,
        /// Nothing.
        unused: u32,
    }

    /// The one entry of `settings`. Only user space writes it.
    Shaping = "shaping" {
        /// Until when the program acts.
        alive_until: u64,
        /// Time that a byte of cost takes at the rate of all, `>> BYTE_SHIFT`.
        per_byte: u64,
        /// What would wait longer is dropped.
        longest: u64,
        /// Unless all that waits takes no longer than this.
        fewest: u64,
        /// CoDel's.
        target: u64,
        /// See `target`.
        interval: u64,
        /// Bytes that a packet costs beside its own.
        overhead: u32,
        /// Most packets that wait.
        places: u32,
        /// How long slots are: 2 to the power of it.
        shift: u32,
        /// User space finds the rate.
        finds: u32,
        /// Of hosts of which nothing is agreed.
        terms: Terms,
    }

    /// How busy hosts or flows are in a slot of time, by its number.
    Slot = "slot" {
        /// The slot's number.
        time: u32,
        /// How busy they are in it.
        busy: u32,
    }

    /// What one of those who share has of the slot that is now.
    Own = "own" {
        /// The slot's number.
        time: u32,
        /// What it has of it.
        busy: u32,
    }

    /// What was done with packets. Only the programs write it.
    Shaped = "shaped" {
        /// Packets that went on.
        packets: u64,
        /// Their lengths together.
        bytes: u64,
        /// What they cost.
        cost: u64,
        /// Packets dropped.
        dropped: u64,
        /// Those of them for which there was no room.
        crowded: u64,
        /// Packets marked.
        marked: u64,
    }

    /// All hosts together.
    All = "all" {
        /// What was done.
        shaped: Shaped,
        /// When all that has come will have left, at the rate.
        work: u64,
        /// When the last flow will have had its share of that.
        latest: u64,
        /// When what waited for no turn will have left, at the rate.
        passed: u64,
        /// Packets that wait, by slots of their departure.
        waiting: [Slot; WAIT_SLOTS],
        /// Hosts that are busy.
        slots: [Slot; ALL_SLOTS],
        /// Bytes that came out of the mesh, less those that went in again.
        uplink: u64,
        /// When user space was told last of what leaves.
        tells: u64,
        /// And of a spin bit that turned.
        turned: u64,
        /// Since when no more than one connection sends into the mesh; 0: something else does, or nothing is known.
        alone: u64,
        /// Packets that waited for no turn, and whose round trips nothing measures.
        calls: u64,
        /// The flow of the latest packet.
        flow: u32,
        /// Nothing.
        unused: u32,
    }

    /// A host.
    Host = "host" {
        /// What was done.
        shaped: Shaped,
        /// Its latest packet.
        seen: u64,
        /// When all that has come for it will have left, at its share.
        work: u64,
        /// When the last of its flows will have had its share of that.
        latest: u64,
        /// When all will have left by its cap.
        capped: u64,
        /// From when on the next packet of a call waits for no turn.
        passed: u64,
        /// What calls had of its share lately.
        talk: u64,
        /// When that was looked at last.
        talked: u64,
        /// Of its packets, smoothed.
        wait: u64,
        /// What it has of its slot.
        own: Own,
        /// Its flows that are busy.
        flows: [Slot; HOST_SLOTS],
        /// When user space was told last of what leaves for it.
        tells: u64,
    }

    /// The ends of a connection.
    Ends = "ends" {
        /// Its end in the mesh.
        wireless: Address,
        /// Its other end.
        wired: Address,
        /// See `wireless`.
        wireless_port: U16,
        /// See `wired`.
        wired_port: U16,
    }

    /// What user space is told, that finds the rate by it.
    Told = "told" {
        /// When it happens.
        at: u64,
        /// What all that came so far costs.
        cost: u64,
        /// Its bytes.
        bytes: u64,
        /// When all of it will have left, at the rate.
        work: u64,
        /// Bytes that came out of the mesh, less those that went in again.
        uplink: u64,
        /// Bytes for this host.
        of_host: u64,
        /// As in [`All`].
        alone: u64,
        /// See `alone`.
        calls: u64,
        /// The host.
        host: HostKey,
        /// The connection; of a packet that leaves its destination alone.
        ends: Ends,
        /// `enum told_kind`.
        kind: u8,
        /// The spin bit.
        bit: u8,
        /// Nothing.
        unused: u16,
    }
}
