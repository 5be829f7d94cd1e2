//! What programs in the kernel tell: events of rings, connections of an iterator, the kernel's own types.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpaced::foreign::programs::{connections, events, member};

/// Kinds of events are the first bytes of their kind.
const KINDS: [usize; 4] = [60, 100, 48, 62];

fuzz_target!(|bytes: &[u8]| {
    // A ring hands over events of one length each.
    for size in [56, 64, 72, 104] {
        if let Some(event) = bytes.get(..size) {
            let told = events(event);
            for (kind, _) in KINDS.into_iter().zip(told).filter(|(_, told)| *told) {
                assert!(event[kind] < 5, "kind {}", event[kind]);
            }
            assert!(told.iter().filter(|told| **told).count() <= 1, "{told:?}: the lengths differ");
        }
    }
    assert_eq!(events(bytes).contains(&true), false_unless_of_a_length(bytes));
    for (rate, base, queue) in connections(bytes) {
        assert!(rate > 0.0 && rate.is_finite(), "{rate}");
        assert!([base, queue].into_iter().flatten().all(|delay| delay > 0.0 && delay < 135.0));
    }
    if let Some((_, size, arguments)) = member(bytes, "a", "b") {
        assert!(size <= u32::MAX as usize && arguments.is_none_or(|count| count <= 0xffff));
    }
});

/// Whether these bytes are an event by length and kind.
fn false_unless_of_a_length(bytes: &[u8]) -> bool {
    let kinds = |at: usize| bytes.get(at).copied().unwrap_or(u8::MAX);
    match bytes.len() {
        56 => kinds(48) < 2,
        64 => kinds(60) < 5,
        72 => kinds(62) < 3,
        104 => kinds(100) < 3,
        _ => false,
    }
}
