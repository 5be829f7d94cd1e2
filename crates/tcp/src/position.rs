//! Positions in a stream of sequence numbers, counted in 64 bits so that nothing inside wraps.
//!
//! Position 0 is the SYN, position 1 the first byte of data, the position after the last byte the FIN. The byte at
//! position `p` has stream offset `p - 1`. Only segments carry the wrapping 32-bit numbers.

use meshpace_units::Seq;

/// The sequence number of `position` in the stream that started with `initial`.
pub(crate) fn sequence(initial: Seq, position: u64) -> Seq {
    initial + position as u32 // modulo 2^32 is the meaning
}

/// The position nearest to `near` that has sequence number `seq`; `None` if it lies before the start of the stream.
pub(crate) fn position(initial: Seq, near: u64, seq: Seq) -> Option<u64> {
    let distance = seq.since(sequence(initial, near)) as i32;
    near.checked_add_signed(i64::from(distance))
}

/// The stream offset of the byte at `position`; `None` for the SYN.
pub(crate) const fn offset(position: u64) -> Option<u64> {
    position.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn before_the_start_there_is_nothing() {
        assert_eq!(position(Seq(5), 3, Seq(4)), None);
        assert_eq!(position(Seq(5), 3, Seq(5)), Some(0));
        assert_eq!((offset(0), offset(1)), (None, Some(0)));
    }

    proptest! {
        #[test]
        fn survives_every_wrap(initial: u32, near in 0u64..1 << 40, ahead in -0x7fff_ffff_i64..0x7fff_ffff) {
            let Some(there) = near.checked_add_signed(ahead) else { return Ok(()) };
            prop_assert_eq!(position(Seq(initial), near, sequence(Seq(initial), there)), Some(there));
        }
    }
}
