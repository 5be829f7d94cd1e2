//! `congestion.h`: what calm in the kernel and user space share.

use super::{Address, structs};
use zerocopy::network_endian::U16;

/// No queue has shown itself yet (`enum calm_flag`).
pub const STARTING: u8 = 2;
/// The rate is in use.
pub const IN_USE: u8 = 4;
/// A delay's unit, of which a microsecond has so many.
pub const TICKS: u32 = 32;
/// Binary digits of a logarithm behind the point.
pub const LG_BITS: u32 = 25;
const PARTS: usize = 8;
const INTERVALS: usize = 8;

structs! {
    "congestion.h", where "PARTS" = PARTS, "INTERVALS" = INTERVALS, "(int)CALM_STARTING" = STARTING, "(int)CALM_IN_USE" = IN_USE, "TICKS" = TICKS, "LG_BITS" = LG_BITS;

    /// The one entry of `calm_settings`. Only user space writes it.
    Settings = "settings" {
        /// Connections go on with `instead`.
        over: u32,
        /// Segments that travel together.
        unit: u32,
        /// A congestion control's name and a zero.
        instead: [u8; 16],
        /// The control group whose connections are switched by their destination, and a zero; empty: none.
        cgroup: [u8; 256],
    }

    /// A key of `calm_subnets`.
    Subnet = "subnet" {
        /// Its length, bits.
        bits: u32,
        /// Its address.
        address: Address,
    }

    /// Calm's state of a flow (`calm.h`).
    Calm = "calm" {
        /// The round trips since the rate was changed last.
        step: u64,
        /// Packets a second, a logarithm.
        rate: i32,
        /// When the rate was changed last.
        stepped: u32,
        /// When it was judged last whether the rate is in use.
        judged: u32,
        /// Packets since then.
        arrived: u32,
        /// The queueing delay of the latest step, ticks; 0: none yet.
        queue: u32,
        /// One train may be on its way: no second one before this; more: since when `brought` counts.
        trial: u32,
        /// Packets that arrived since then.
        brought: u32,
        /// The least round trip of the part that time is in, and of those before.
        least: [u32; PARTS + 1],
        /// That part.
        part: u16,
        /// Packets since the last loss, before that since the one before.
        intervals: [u16; INTERVALS + 1],
        /// Steps that the path counts as a wire still.
        wire: u16,
        /// How many trains may be on their way.
        trains: u16,
        /// A second one waits 2^held empty round trips after it was taken back.
        held: u8,
        /// Packets that travelled together when the latest round trip was measured.
        unit: u8,
        /// Steps with an empty queue, up to now, and steps that it counts as a newcomer still: three and five bits.
        empty_and_young: u8,
        /// Losses that are remembered.
        losses: u8,
        /// `enum calm_flag`.
        flags: u8,
        /// Round trips with no more than jitter in them, up to now.
        prompt: u8,
        /// Packets that came marked before.
        marked: u16,
    }

    /// A connection, as `calm_list` tells of it.
    Flow = "flow" {
        /// This host's end.
        local: Address,
        /// The other end.
        remote: Address,
        /// See `local`.
        local_port: u16,
        /// See `remote`.
        remote_port: U16,
        /// Payload of a full segment.
        segment: u32,
        /// Bytes a second.
        pace: u64,
        /// Segments.
        window: u32,
        /// Segments.
        in_flight: u32,
        /// Segments so far.
        delivered: u32,
        /// Segments so far.
        sent_again: u32,
        /// The empty path's round trip, ticks.
        base: u32,
        /// Packets a second, in units of 1/256; 0: none.
        floor: u32,
        /// Segments that the kernel hands down at once.
        burst: u32,
        /// Nothing.
        spare: u32,
        /// The law's state.
        law: Calm,
    }
}
