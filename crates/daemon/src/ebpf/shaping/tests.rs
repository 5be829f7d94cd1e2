use super::*;

#[test]
fn slots_are_as_long_as_a_packet_and_cover_what_may_wait() {
    let longest = Span::from_millis(250);
    // 12 ms and 1.2 ms a packet; the shortest.
    let shifts = [1, 10, 100, 1_000].map(|rate| shift(Rate::bits_per_sec(rate * 1_000_000), longest));
    assert_eq!(shifts, [23, 21, 21, 21]);
    for longest in [Span::from_millis(10), longest, Span::from_secs(1), LONGEST] {
        let all = SLOTS << shift(Rate::bits_per_sec(1_000_000_000), longest);
        assert!(all >= longest.as_nanos() * 5 / 2, "{longest:?}");
    }
}

#[test]
fn a_rate_is_of_the_time_that_has_passed() {
    let at = |ms| Instant::ZERO + Span::from_millis(ms);
    let looked = Looked { at: at(0), bytes: Bytes(1_000), rate: Rate::bits_per_sec(7) };
    assert_eq!(rate(looked, at(0), Bytes(1_000)), Rate::bits_per_sec(7));
    assert_eq!(rate(looked, at(500), Bytes(2_000)), Rate::bits_per_sec(16_000));
    assert_eq!(rate(looked, at(500), Bytes(500)), Rate::bits_per_sec(8_000), "counted anew");
}
