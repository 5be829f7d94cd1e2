//! Segments that fill a hole, and acknowledgements of a single segment.

use super::*;

/// As `segments.rs` of the shaper's finder has it. The third segment was dropped before it came here.
#[test]
fn what_fills_a_hole_and_never_left_is_timed_and_what_is_acknowledged_alone_is_told() {
    let Some(mut bench) = bench() else { return };
    let mut base = START;
    for (finds, again, tells) in [(true, false, true), (true, true, false), (false, false, false)] {
        bench.finds = finds;
        bench.act(Handling::Treat(Treatment::Observe));
        let at = |n: u32| base + n * 1000;
        for n in [0, 1, 3, 4, 5] {
            bench.down(&segment(at(n), 1, 1000));
        }
        bench.up(&segment(1, at(2), 0));
        bench.told();
        let left = monotonic_now();
        bench.down(&segment(at(2), 1, 1000));
        if again {
            bench.down(&segment(at(2), 1, 1000));
        }
        bench.up(&segment(1, at(2), 0));
        bench.told();
        std::thread::sleep(std::time::Duration::from_millis(3));
        bench.up(&segment(1, at(6), 0));
        let passed = monotonic_now() - left;
        match bench.told()[..] {
            [EventKind::Sample(rtt)] if tells => {
                assert!(rtt >= Span::from_millis(3) && rtt <= passed, "{rtt:?}");
            }
            [] if !tells => {}
            ref other => panic!("{finds} {again}: {other:?}"),
        }
        // One segment, then two at once.
        (6..9).for_each(|n| drop(bench.down(&segment(at(n), 1, 1000))));
        let mut single = |n: u32| {
            bench.up(&segment(1, at(n), 0));
            std::iter::from_fn(|| bench.kernel.next_event()).map(|event| event.is_single).collect::<Vec<_>>()
        };
        assert_eq!([7, 9].map(&mut single), [[true], [false]]);
        base = at(9);
    }
    // While something before it is missing, too, that may be why the acknowledgement comes.
    bench.finds = true;
    bench.act(Handling::Treat(Treatment::Observe));
    for n in [0, 2, 4, 3] {
        bench.down(&segment(base + n * 1000, 1, 1000));
    }
    bench.told();
    bench.up(&segment(1, base + 5000, 0));
    assert_eq!(bench.told(), []);
}
