//! The frame check sequence of IEEE 802.11 (IEEE 802.11-2016, 9.2.4.8): CRC-32, least significant bit first.

/// The generator polynomial, reflected.
const POLYNOMIAL: u32 = 0xedb8_8320;

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 1;
            remainder = (remainder >> 1) ^ (POLYNOMIAL * carry);
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
};

/// The CRC of a string of bytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_is_the_published_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn a_frame_with_its_fcs_leaves_the_fixed_residue() {
        // The receiver's check: whatever the frame, the CRC over frame and FCS is this.
        let mut frame = b"any frame".to_vec();
        frame.extend(crc32(&frame).to_le_bytes());
        assert_eq!(crc32(&frame), 0x2144_df1c);
    }
}
