//! `host.h`: what the host's program and user space share.

use super::{Address, structs};

/// A limit that is none.
pub const UNLIMITED: u32 = u32::MAX;
/// Entries of `counters`.
pub const COUNTERS: usize = 12;

structs! {
    "host.h", where "UNLIMITED" = UNLIMITED, "COUNTERS" = COUNTERS;

    /// A connection by its ends.
    Ends = "ends" {
        /// This host's.
        local: Address,
        /// The other host's.
        remote: Address,
        /// See `local`.
        local_port: u16,
        /// See `remote`.
        remote_port: u16,
    }

    /// What the program knows of a connection. Only the program writes it.
    Connection = "connection" {
        /// The connection.
        ends: Ends,
        /// The limit that the application itself had set, bytes a second.
        own: u32,
        /// The limit that the socket has.
        in_force: u32,
        /// The acknowledgement that an option came with.
        wired_ack: u32,
        /// The kernel's `srtt_us` when it was last looked at.
        srtt: u32,
        /// That option's `RTT_wired`, milliseconds.
        wired: u16,
        /// `wired_ack` and `wired` hold.
        has_wired: u8,
        /// The kernel's `srtt_us` is not made of samples as expected.
        opaque: u8,
    }

    /// What user space wants of a connection.
    Order = "order" {
        /// Bytes a second at the most.
        rate: u32,
        /// Round trips without the option need not be reported.
        quiet: u8,
        /// Nothing.
        unused: [u8; 3],
    }

    /// The one entry of `settings`.
    Settings = "settings" {
        /// Until when the program acts.
        alive_until: u64,
    }

    /// What the program tells.
    Report = "report" {
        /// When it happened.
        at: u64,
        /// To whom (`SO_COOKIE`).
        cookie: u64,
        /// The connection.
        ends: Ends,
        /// A round trip, microseconds.
        rtt: u32,
        /// Payload of a full segment.
        mss: u32,
        /// `RTT_wired`, milliseconds.
        wired: u16,
        /// `enum report_kind`.
        kind: u8,
        /// `wired` holds.
        has_wired: u8,
        /// It is older than the program.
        adopted: u8,
        /// Nothing.
        unused: [u8; 7],
    }
}
