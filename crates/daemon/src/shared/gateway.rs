//! `gateway.h`: what the gateway's programs and user space share.

use super::{Address, structs};
use zerocopy::network_endian::U16;

/// Entries of `counters`.
pub const COUNTERS: usize = 16;

structs! {
    "gateway.h", where "COUNTERS" = COUNTERS;

    /// A connection by its ends.
    #[derive(PartialEq, Eq)]
    FlowKey = "flow_key" {
        /// Its end in the mesh.
        wireless: Address,
        /// Its other end.
        wired: Address,
        /// See `wireless`.
        wireless_port: U16,
        /// See `wired`.
        wired_port: U16,
    }

    /// What numbers a segment of one side can have.
    Window = "window" {
        /// Behind the highest byte that it sent.
        next: u32,
        /// As far as the other side lets it send.
        edge: u32,
        /// What of its bytes the other side has acknowledged.
        acked: u32,
        /// The largest that it announced, bytes.
        window: u32,
        /// What it sent last that was implausible.
        stray_from: u32,
        /// See `stray_from`.
        stray_to: u32,
        /// `next` is known.
        has_next: u8,
        /// `edge` is known.
        has_edge: u8,
        /// `acked` is known.
        has_acked: u8,
        /// `stray_from` and `stray_to` are known.
        has_stray: u8,
        /// Its SYN was seen.
        seen: u8,
        /// And had a window scale in it.
        offers: u8,
        /// That scale.
        scale: u8,
        /// Nothing.
        unused: u8,
    }

    /// Those of both sides.
    Windows = "windows" {
        /// By `enum side`.
        halves: [Window; 2],
    }

    /// What is missing of the data towards the mesh, as it never left.
    Hole = "hole" {
        /// From here.
        from: u32,
        /// To here.
        to: u32,
        /// When a segment of it leaves that the receiver waits for; 0: none is on its way.
        filled: u64,
        /// Its end.
        end: u32,
        /// Nothing.
        unused: u32,
    }

    /// The data of one direction.
    Half = "half" {
        /// The cumulative acknowledgement.
        una: u32,
        /// The end of the highest segment that passed.
        end: u32,
        /// Bytes that passed again or out of order.
        late_from: u32,
        /// See `late_from`.
        late_to: u32,
        /// Packets, with and without data.
        packets: u64,
        /// Their IP lengths.
        bytes: u64,
        /// Their payload.
        payload: u64,
        /// Bytes cumulatively acknowledged.
        acked: u64,
        /// The sequence number after its FIN.
        fin: u32,
        /// Data were seen.
        begun: u8,
        /// A FIN was seen.
        has_fin: u8,
        /// And is acknowledged.
        fin_acked: u8,
        /// Nothing.
        unused: u8,
    }

    /// CoDel's state (`codel.h`).
    Codel = "codel" {
        /// RFC 8289's names.
        first_above_time: u64,
        /// See `first_above_time`.
        drop_next: u64,
        /// See `first_above_time`.
        count: u32,
        /// See `first_above_time`.
        last_count: u32,
        /// See `first_above_time`.
        dropping: u8,
        /// `enum after`.
        after: u8,
        /// Nothing.
        unused: u16,
        /// Nothing.
        unused_too: u32,
    }

    /// What the wired sender was told that it may have on its way (`announced.h`).
    Announced = "announced" {
        /// The rightmost edge that was told.
        told: u32,
        /// The highest acknowledgement.
        latest: u32,
        /// And the edge that it may announce.
        edge: u32,
        /// The bytes that it acknowledged.
        acked: u32,
        /// The acknowledgement that passed last.
        passed: u32,
        /// The receiver's window field in it.
        own: u16,
        /// And that with which it passed.
        field: u16,
        /// `told` is known.
        has_told: u8,
        /// `latest` is known.
        has_latest: u8,
        /// `edge` limits it.
        has_edge: u8,
        /// `passed` is known.
        has_passed: u8,
    }

    /// One connection. Only the programs write it.
    Flow = "flow" {
        /// Its first data.
        opened: u64,
        /// Its latest packet.
        active: u64,
        /// When its latest data towards the mesh leave; may lie ahead.
        departure: u64,
        /// Towards the mesh.
        down: Half,
        /// Towards the Internet.
        up: Half,
        /// The latest wired round trip; 0 before the first.
        wired_rtt: u64,
        /// RTT options written.
        options: u64,
        /// Packets given a departure in the future.
        delayed: u64,
        /// Packets dropped because too much would wait.
        drops: u64,
        /// Names it in `departures`.
        id: u32,
        /// Largest payload towards the mesh.
        segment: u32,
        /// Largest window that the wireless end announced, bytes; 0 before the first.
        window: u32,
        /// It does not cross the gateway.
        ignored: u8,
        /// Of the wireless end's latest packet; 0 before the first.
        ttl: u8,
        /// Nothing.
        unused: u16,
        /// What its segments can be.
        windows: Windows,
        /// Packets dropped because packets waited too long (CoDel).
        aged: u64,
        /// Packets marked for that.
        marks: u64,
        /// What drops and marks them.
        codel: Codel,
        /// What its sender was told.
        announced: Announced,
        /// The window last announced in the receiver's stead, bytes; 0: its own.
        limited: u32,
        /// The turn of the packet at hand.
        turn: u64,
        /// And what CoDel said of it.
        fate: u64,
        /// Packets that came as soon as the window announced here let them, and did not wait.
        used: u64,
        /// When the latest segment towards the mesh leaves that was sent again; 0: none was.
        again_at: u64,
        /// Its end.
        again_end: u32,
        /// And how far data had gone then.
        untimed: u32,
        /// What never left.
        hole: Hole,
    }

    /// How a connection is to be treated. Only user space writes it.
    Pace = "pace" {
        /// Between departures; 0 before the first sample.
        interval: u64,
        /// Most packets that may wait.
        packets: u32,
        /// `enum treatment`.
        treatment: u32,
        /// CoDel's; 0: what waits is dropped by its number alone.
        target: u64,
        /// CoDel's interval.
        stands: u64,
        /// Most bytes that the wired sender is to have on its way; 0: as its receiver says.
        window: u32,
        /// The segment that they are counted in, bytes.
        segment: u32,
    }

    /// The one entry of `settings`. Only user space writes it.
    Settings = "settings" {
        /// Until when the programs act.
        alive_until: u64,
        /// The farthest departure ahead.
        horizon: u64,
        /// `enum treatment`, of packets whose connection has no `pace`.
        treatment: u32,
        /// Most packets of all connections that may wait.
        places: u32,
        /// Round trips of a host that no law paces are told no closer.
        apart: u64,
        /// What is sent again is told, too, and the round trip of what fills a hole.
        finds: u32,
        /// Nothing.
        unused: u32,
    }

    /// What the programs tell.
    Event = "event" {
        /// When it happened.
        at: u64,
        /// The round trip, or the time that data have been gone for.
        rtt: u64,
        /// The connection.
        key: FlowKey,
        /// Its largest payload towards the mesh.
        segment: u32,
        /// The largest window of its wireless end.
        window: u32,
        /// `enum event_kind`.
        kind: u8,
        /// Of the wireless end's latest packet.
        ttl: u8,
        /// No other segment was acknowledged with it.
        single: u8,
        /// Nothing.
        unused: u8,
    }
}
