//! What a packet costs: `cargo bench -p meshpace-wire`.

use core::net::IpAddr;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use meshpace_tcp::{Flags, Options, Segment, Timestamps};
use meshpace_units::{Seq, Span};
use meshpace_wire::{build, checksum_ok, clamp_mss, parse, set_rtt, strip_rtt};

fn main() {
    divan::main();
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// 1,448 bytes with timestamps.
    Data,
    /// Timestamps alone.
    Ack,
    /// Timestamps and two SACK blocks.
    Sack,
    /// What Linux offers.
    Syn,
    /// With timestamps and TCP-GAP's option.
    Marked,
}

const KINDS: [Kind; 5] = [Kind::Data, Kind::Ack, Kind::Sack, Kind::Syn, Kind::Marked];

/// What `build` takes.
fn parts(kind: Kind, v6: bool) -> ([IpAddr; 2], Segment, Vec<u8>) {
    let stamps = Some(Timestamps { value: 0x1234_5678, echo: 0x9abc_def0 });
    let mut options = Options { timestamps: stamps, ..Options::default() };
    match kind {
        Kind::Data | Kind::Ack => {}
        Kind::Sack => options.sack[..2].fill(Some((Seq(5_000), Seq(9_000)))),
        Kind::Syn => {
            options = Options { mss: Some(1_460), window_scale: Some(7), sack_permitted: true, ..options };
        }
        Kind::Marked => options.rtt_wired = Some(Span::from_millis(42)),
    }
    let syn = matches!(kind, Kind::Syn);
    let segment = Segment {
        ack: Seq(if syn { 0 } else { 2_000 }),
        flags: Flags { syn, ack: !syn, ..Flags::default() },
        window: 501,
        payload: if matches!(kind, Kind::Data) { 1_448 } else { 0 },
        options,
        ..Segment::new(40_000, 443, Seq(1_000))
    };
    let payload = vec![0x5a; segment.payload as usize];
    let ends = if v6 { ["fd77::2", "2001:db8::1"] } else { ["10.77.0.2", "192.0.2.1"] };
    (ends.map(|address| address.parse().expect("an address")), segment, payload)
}

fn packet(kind: Kind, v6: bool) -> Vec<u8> {
    let ([source, destination], segment, payload) = parts(kind, v6);
    build(source, destination, 64, &segment, &payload)
}

#[divan::bench(args = KINDS)]
fn parse_v4(bencher: Bencher, kind: Kind) {
    let packet = packet(kind, false);
    bencher.counter(ItemsCount::new(1_u32)).bench(|| parse(black_box(&packet)));
}

#[divan::bench(args = KINDS)]
fn parse_v6(bencher: Bencher, kind: Kind) {
    let packet = packet(kind, true);
    bencher.counter(ItemsCount::new(1_u32)).bench(|| parse(black_box(&packet)));
}

#[divan::bench(args = [Kind::Ack, Kind::Marked])]
fn set(bencher: Bencher, kind: Kind) {
    let mut packet = packet(kind, false);
    packet.reserve(8);
    bencher
        .counter(ItemsCount::new(1_u32))
        .with_inputs(|| packet.clone())
        .bench_local_refs(|packet| set_rtt(packet, Span::from_millis(17)));
}

#[divan::bench(args = [Kind::Data, Kind::Ack, Kind::Marked])]
fn strip(bencher: Bencher, kind: Kind) {
    let packet = packet(kind, false);
    bencher
        .counter(ItemsCount::new(1_u32))
        .with_inputs(|| packet.clone())
        .bench_local_refs(|packet| strip_rtt(packet));
}

#[divan::bench]
fn clamp_syn(bencher: Bencher) {
    let packet = packet(Kind::Syn, false);
    bencher
        .counter(ItemsCount::new(1_u32))
        .with_inputs(|| packet.clone())
        .bench_local_refs(|packet| clamp_mss(packet, 1_452));
}

#[divan::bench(args = [Kind::Data, Kind::Ack])]
fn verify(bencher: Bencher, kind: Kind) {
    let packet = packet(kind, false);
    bencher.counter(ItemsCount::new(1_u32)).bench(|| checksum_ok(black_box(&packet)));
}

#[divan::bench(args = [Kind::Data, Kind::Ack])]
fn build_v4(bencher: Bencher, kind: Kind) {
    let ([source, destination], segment, payload) = parts(kind, false);
    bencher
        .counter(ItemsCount::new(1_u32))
        .bench(|| build(source, destination, 64, black_box(&segment), black_box(&payload)));
}
