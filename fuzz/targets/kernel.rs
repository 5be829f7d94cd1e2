//! What the kernel sends: datagrams of NFQUEUE, answers of rtnetlink, its file of counters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpaced::foreign::kernel::{Found, counters, queued, segments};

/// A netlink header.
const HEADER: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let found = queued(&mut bytes.to_vec());
    assert!(found.len() <= bytes.len() / HEADER + 1, "{} messages in {} bytes", found.len(), bytes.len());
    let last = found.len().saturating_sub(1);
    for (at, message) in found.iter().enumerate() {
        match message {
            Found::Packet(_, _, payload) => {
                assert!(payload.is_empty() || bytes.windows(payload.len()).any(|part| part == payload));
            }
            Found::Malformed => assert_eq!(at, last, "nothing is read behind what is malformed"),
            Found::Answer(_) | Found::Other => {}
        }
    }
    if let Err(errno) = segments(bytes) {
        assert_ne!(errno, 0);
    }
    let text = String::from_utf8_lossy(bytes);
    let queue = u16::from_ne_bytes([bytes.first().copied().unwrap_or(0), 0]);
    if counters(&text, queue).is_some() {
        let named =
            |line: &str| line.split_whitespace().next().and_then(|word| word.parse().ok()) == Some(queue);
        assert!(text.lines().any(named));
    }
});
