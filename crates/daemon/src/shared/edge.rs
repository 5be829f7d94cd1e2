//! `edge.h`: what the edge's program and user space share.

use super::{Address, structs};
use zerocopy::network_endian::U16;

/// What is sent in place of what the program kept bears this mark (`SO_MARK`).
pub const SENT_MARK: u32 = 0x4d50_4544;
/// The longest frame that is kept.
pub const FRAME_MAX: usize = 160;
/// Entries of `counters`.
pub const COUNTERS: usize = 13;

structs! {
    "edge.h", where "SENT_MARK" = SENT_MARK, "FRAME_MAX" = FRAME_MAX, "EDGE_COUNTERS" = COUNTERS;

    /// One way of a connection, as its acknowledgements go.
    #[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
    Ends = "ends" {
        /// The end that acknowledges.
        source: Address,
        /// The other one.
        destination: Address,
        /// See `source`.
        source_port: U16,
        /// See `destination`.
        destination_port: U16,
    }

    /// What is known of it. Only the program writes it.
    ThinFlow = "thin_flow" {
        /// When the newest acknowledgement came.
        at: u64,
        /// When the newest that passed did.
        passed_at: u64,
        /// When `half` was found.
        half_at: u64,
        /// Bytes acknowledged since the sender began.
        since: u64,
        /// The newest acknowledgement.
        newest: u32,
        /// The newest that passed.
        passed: u32,
        /// What the last brought that waited for its tail.
        stuck: u32,
        /// Half of a sender's window that was found small; 0 if none was.
        half: u32,
        /// The newest window field.
        window: u16,
        /// That of the newest that passed.
        passed_window: u16,
        /// The newest was kept, and nothing has passed since.
        held: u8,
        /// By how many bits window fields are scaled.
        scale: u8,
        /// Nothing but its SYN was seen.
        begins: u8,
        /// For how many waits for the tail `half` counts.
        lasts: u8,
    }

    /// The newest acknowledgement, which goes on if nothing newer comes.
    Held = "held" {
        /// When it came.
        at: u64,
        /// Where it was to leave.
        interface: u32,
        /// What it acknowledges.
        ack: u32,
        /// Of the frame, bytes.
        length: u16,
        /// Where its IP header begins.
        ip: u16,
        /// Of a VLAN tag that the kernel keeps beside it; 0 if there is none.
        vlan_protocol: U16,
        /// That tag's control information.
        vlan_tci: u16,
        /// The frame with its link-layer header.
        frame: [u8; FRAME_MAX],
    }

    /// The one entry of `settings`.
    Thinning = "thinning" {
        /// Until when the program acts.
        alive_until: u64,
        /// An acknowledgement that brings so many bytes passes.
        bytes: u64,
        /// And one so long after the last that passed.
        wait: u64,
        /// Others wait so long for a newer one.
        tail: u64,
        /// One that brings so large a part of `since`, one in so many, passes.
        share: u32,
        /// Nothing.
        unused: u32,
    }

    /// What the program tells.
    EdgeEvent = "edge_event" {
        /// When it happened.
        at: u64,
        /// Of which connection, which way.
        ends: Ends,
        /// What waits acknowledges this.
        ack: u32,
        /// `enum told`.
        told: u8,
        /// Nothing.
        unused: [u8; 7],
    }
}
