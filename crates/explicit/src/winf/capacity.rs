//! A link's capacity from one exchange (schemes.md 9.2, table). Each is the bits of the data frame over the time on the air
//! of that frame and one control frame: CTS and acknowledgement are equally long.

use meshpace_units::{Bytes, Instant, Span};

/// As its sender sees it: from the end of the CTS to the end of the acknowledgement, without the two pauses between.
#[must_use]
pub fn of_sender(size: Bytes, cts_ended: Instant, ack_ended: Instant, sifs: Span) -> Option<f64> {
    over(size, ack_ended.checked_since(cts_ended)?, sifs * 2)
}

/// As its receiver sees it: from the end of the RTS to the end of the data. Two pauses are between; the paper prints three,
/// which is one too many.
#[must_use]
pub fn of_receiver(
    size: Bytes,
    rts_ended: Instant,
    data_ended: Instant,
    sifs: Span,
    pauses: u64,
) -> Option<f64> {
    over(size, data_ended.checked_since(rts_ended)?, sifs * pauses)
}

/// Without RTS and CTS: the times on the air themselves (equation 1). The duration of a data frame is a pause and the
/// acknowledgement.
#[must_use]
pub fn unprotected(size: Bytes, data: Span, duration: Span, sifs: Span) -> Option<f64> {
    over(size, data + duration, sifs)
}

/// bit/s; `None` if the times cannot be.
fn over(size: Bytes, time: Span, pauses: Span) -> Option<f64> {
    let time = time.checked_sub(pauses).filter(|time| !time.is_zero())?;
    Some(size.bits() as f64 / time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 802.11b at 11 Mbit/s with long preambles: the vector of schemes.md 9.2.
    #[test]
    fn the_vector_of_schemes_md() {
        let (rts, sifs, control) =
            (Instant::from_nanos(1_000_000), Span::from_micros(10), Span::from_micros(304));
        for (size, data, expected) in [(1528, 1_303_273, 7.605e6), (1534, 1_307_636, 7.615e6)] {
            let (size, data) = (Bytes(size), Span::from_nanos(data));
            let cts = rts + sifs + control;
            let data_began = cts + sifs;
            let data_ended = data_began + data;
            let ack = data_ended + sifs + control;
            let sender = of_sender(size, cts, ack, sifs).unwrap();
            assert!((sender - expected).abs() < 500.0, "{sender}");
            assert_eq!(of_receiver(size, rts, data_ended, sifs, 2), Some(sender));
            assert_eq!(unprotected(size, data, sifs + control, sifs), Some(sender));
            let printed = of_receiver(size, rts, data_ended, sifs, 3).unwrap();
            assert!((printed / sender - 1.006).abs() < 0.001, "0.6 % too much: {printed}");
        }
    }

    #[test]
    fn impossible_times_give_nothing() {
        let at = Instant::from_nanos;
        assert_eq!(of_sender(Bytes(100), at(50_000), at(40_000), Span::ZERO), None);
        assert_eq!(of_sender(Bytes(100), at(40_000), at(50_000), Span::from_micros(5)), None);
    }
}
