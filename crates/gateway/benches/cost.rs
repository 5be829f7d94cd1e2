//! What a packet costs where much of a connection is remembered: `cargo bench -p meshpace-gateway`.
//!
//! Every second segment of 8,192 is missing before a measurement begins. Each case then hands in segments of one kind.

#[allow(unused_imports, reason = "the tests' harness, of which a bench uses a part")]
#[path = "../tests/common/mod.rs"]
mod common;

use common::{Script, config};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use meshpace_gateway::{Config, Side};
use meshpace_tcp::Segment;

fn main() {
    divan::main();
}

/// Distance between the starts of segments that follow each other, and their length, in bytes: the other half is missing.
const STRIDE: u32 = 4;
const LENGTH: u32 = 2;
/// As many as the sequence has segments at first.
const SEGMENTS: u32 = 8_192;

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The first 8,192 segments themselves, one after another.
    InSequence,
    /// Segments that overlap two of those remembered.
    CutOtherwise,
    /// Segments that fill gaps in the middle.
    InGaps,
}

fn segments(script: &Script, kind: Kind) -> Vec<Segment> {
    let offsets: Vec<u32> = match kind {
        Kind::InSequence => (0..SEGMENTS).map(|n| STRIDE * n).collect(),
        Kind::CutOtherwise => (0..SEGMENTS).map(|n| STRIDE * n + 1).collect(),
        // 1,031 is prime and no divisor of 8,192: gaps are filled far from each other.
        Kind::InGaps => (0..SEGMENTS / 2).map(|n| STRIDE * (n * 1_031 % SEGMENTS) + LENGTH).collect(),
    };
    offsets.into_iter().map(|offset| script.up(offset, LENGTH, 0)).collect()
}

fn remembering(kind: Kind) -> Script {
    let mut script = Script::established(Config { segments_max: 20_000, ..config() });
    if !matches!(kind, Kind::InSequence) {
        for segment in segments(&script, Kind::InSequence) {
            script.hand_in(Side::Wireless, &segment);
        }
    }
    script
}

/// A packet's cost is the time shown divided by the items.
#[divan::bench(args = [Kind::InSequence, Kind::CutOtherwise, Kind::InGaps])]
fn handed_in(bencher: Bencher<'_, '_>, kind: Kind) {
    bencher
        .with_inputs(|| {
            let script = remembering(kind);
            let segments = segments(&script, kind);
            (script, segments)
        })
        .input_counter(|(_, segments)| ItemsCount::new(segments.len()))
        .bench_local_values(|(mut script, segments)| {
            for segment in &segments {
                black_box(script.hand_in(Side::Wireless, segment));
            }
        });
}
