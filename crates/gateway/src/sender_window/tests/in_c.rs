//! What is announced stands twice: here, and for the kernel (`bpf/include/announced.h`), compiled for this machine. Told the same, both
//! announce the same.

extern crate std;

#[path = "../../../../../bpf/compiled.rs"]
mod compiled;

use super::*;
use alloc::string::String;
use alloc::vec::Vec;
use compiled::compiled;
use core::fmt::Write as _;
use proptest::prelude::*;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    compiled(env!("CARGO_MANIFEST_DIR"), "src/sender_window/tests/in_c.c", &std::env::temp_dir())
});

fn in_c(told: &str) -> Vec<u16> {
    let mut child =
        Command::new(&*PROGRAM).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("compiled");
    child.stdin.take().expect("piped").write_all(told.as_bytes()).expect("it reads");
    let done = child.wait_with_output().expect("it ends");
    String::from_utf8(done.stdout)
        .expect("text")
        .lines()
        .map(|line| line.parse().expect("a number"))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn both_announce_the_same(
        scale in 0u8..15,
        acks in prop::collection::vec((0u32..5_000, prop::bool::weighted(0.2), any::<bool>(), 0u16..2_000, 0u64..40), 1..60),
    ) {
        let (mut window, mut ack, mut lines, mut expected) = (SenderWindow::default(), FIRST, String::new(), Vec::new());
        for (step, is_old, is_pure, field, segments) in acks {
            let this = if is_old { ack + 0u32.wrapping_sub(step % 700) } else { ack + step };
            ack = ack.later(this);
            let payload = u32::from(!is_pure);
            let segment = Segment { ack: this, window: field, payload, ..tests::ack(0, 0) };
            let allowed = allowed(segments).filter(|_| segments > 0);
            expected.push(window.on_passing(ms(0), &segment, scale, allowed).unwrap_or(field));
            let of = if allowed.is_some() { (segments * SEGMENT.0, SEGMENT.0) } else { (0, 0) };
            writeln!(lines, "{} {field} {scale} {} {} {}", this.0, u8::from(is_pure), of.0, of.1).expect("room");
        }
        prop_assert_eq!(in_c(&lines), expected);
    }
}
