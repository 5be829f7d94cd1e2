//! Captures as other tools, other machines and bad luck leave them.

use crate::common::{Blocks, Order, close, exchange_of, pcap, pcap_as, pcapng, report, ten, without_clock};
use meshpace_monitor::{Error, Options, measure};

const CAPACITY: f64 = 7.605e6;

/// Without the radio's clock, so that the file's decides.
fn by_the_file() -> Vec<(u64, Vec<u8>)> {
    ten().iter().map(without_clock).collect()
}

#[test]
fn either_order_of_bytes_and_either_unit_of_time() {
    let expected = report(&pcap(&by_the_file()));
    assert!(!expected.counts.radio_clock);
    close(expected.links[0].capacity, CAPACITY);
    for order in [Order::Little, Order::Big] {
        for nanos in [false, true] {
            // 127 and, above it, that check sequences of four bytes follow.
            for link in [127, 127 | 0x2400_0000] {
                assert_eq!(
                    report(&pcap_as(order, nanos, link, &by_the_file())),
                    expected,
                    "{order:?} {nanos}"
                );
            }
        }
    }
}

#[test]
fn interfaces_tell_how_they_count_time() {
    // Powers of ten and of two; a little more than a microsecond is not seen.
    for (resolution, per_second) in
        [(6_u8, 1_000_000_u64), (9, 1_000_000_000), (0x94, 1 << 20), (0xa0, 1 << 32)]
    {
        for (order, offset_s) in [(Order::Little, 0_i64), (Order::Little, 1000), (Order::Big, 1_700_000_000)]
        {
            let mut file = Blocks::new(order);
            let offset = order.of(offset_s.to_le_bytes());
            // The second one counts from another time: without that its frames are from elsewhere.
            file.interface(127, &[(9, &[resolution])]);
            file.interface(127, &[(9, &[resolution]), (14, &offset)]);
            for (at, (micros, bytes)) in by_the_file().iter().enumerate() {
                let (interface, micros) = match at % 2 {
                    0 => (0, micros + offset_s as u64 * 1_000_000),
                    _ => (1, *micros),
                };
                let ticks = (u128::from(micros) * u128::from(per_second) / 1_000_000) as u64;
                file.packet(interface, ticks, bytes);
            }
            let report = report(&file.0);
            assert_eq!(report.links[0].samples, 10, "{resolution:#x} {offset_s}");
            close(report.links[0].capacity, CAPACITY);
            assert!((report.duration.as_secs_f64() - 0.092_294).abs() < 1e-5, "{:?}", report.duration);
        }
    }
}

#[test]
fn other_interfaces_are_counted_and_not_read() {
    let mut file = Blocks::new(Order::Little);
    file.interface(1, &[]); // Ethernet
    file.interface(127, &[]);
    file.interface(127, &[(9, &[20])]); // 10^20 ticks a second do not fit
    file.block(3, &[4, 0, 0, 0, 1, 2, 3, 4]); // a simple packet has no time
    for (micros, bytes) in ten() {
        file.packet(0, micros, &[0; 60]);
        file.packet(1, micros, &bytes);
        file.packet(2, micros, &bytes);
        file.packet(7, micros, &bytes);
    }
    let found = report(&file.0);
    assert_eq!((found.counts.frames, found.counts.foreign, found.links[0].samples), (40, 121, 10));
    let mut ethernet = Blocks::new(Order::Big);
    ethernet.interface(1, &[]);
    ethernet.packet(0, 1_000_000, &[0; 60]);
    assert_eq!(measure(&ethernet.0[..], &Options::default()), Err(Error::LinkType(1)));
}

#[test]
fn two_radios_are_compared_by_the_clock_of_the_file() {
    let mut file = Blocks::new(Order::Little);
    file.interface(127, &[]);
    file.interface(127, &[]);
    for (at, ((micros, other), (_, bytes))) in by_the_file().into_iter().zip(ten()).enumerate() {
        // The second radio's clock began half a second later.
        let mut bytes = bytes;
        if at % 2 == 1 {
            let late = u64::from_le_bytes(bytes[8..16].try_into().unwrap()) - 500_000;
            bytes[8..16].copy_from_slice(&late.to_le_bytes());
        }
        assert!(bytes.len() > other.len());
        file.packet(at as u32 % 2, micros, &bytes);
    }
    let found = report(&file.0);
    assert!(!found.counts.radio_clock);
    assert_eq!(found.links[0].samples, 10);
    close(found.links[0].capacity, CAPACITY);
}

#[test]
fn a_clock_that_stands_still_is_none() {
    let mut frames = ten();
    for (micros, bytes) in &mut frames {
        bytes[8..16].fill(0);
        *micros += 192;
    }
    let found = report(&pcap(&frames));
    assert!(!found.counts.radio_clock);
    close(found.links[0].capacity, CAPACITY);
}

/// A burst of quality of service and a fragment reserve more than their own acknowledgement; some senders reserve nothing.
#[test]
fn the_duration_of_data_may_tell_anything() {
    for (kind, duration) in [(0x08, 314), (0x88, 3000), (0x08, 2266), (0x08, 0), (0x08, 0xc001), (0x08, 5)] {
        let frames: Vec<_> = (0..10)
            .flat_map(|at| exchange_of(1_000_000 + at * 10_000, kind, duration).into_iter().skip(2))
            .collect();
        let found = report(&pcap(&frames));
        assert_eq!(found.links[0].samples, 10, "{duration}");
        close(found.links[0].capacity, CAPACITY);
    }
}

#[test]
fn bytes_that_were_not_sent_are_not_counted() {
    let mut frames: Vec<_> = (0..10).flat_map(|at| exchange_of(1_000_000 + at * 10_000, 0x88, 314)).collect();
    let plain = report(&pcap(&frames));
    close(plain.links[0].capacity, CAPACITY);
    for (at, (_, bytes)) in frames.iter_mut().enumerate() {
        bytes[16] |= 0x20; // headers of 26 bytes are followed by two; those of control frames by none
        if at % 4 == 2 {
            bytes.splice(crate::common::RADIOTAP + 26..crate::common::RADIOTAP + 26, [0, 0]);
        }
    }
    let padded = report(&pcap(&frames));
    assert_eq!((&padded.links, padded.busy, padded.counts.bad), (&plain.links, plain.busy, 0));
}

#[test]
fn channels_are_told() {
    let mut frames = ten();
    frames[3].1[18..20].copy_from_slice(&2437_u16.to_le_bytes());
    assert_eq!(report(&pcap(&frames)).channels.into_iter().collect::<Vec<_>>(), [2412, 2437]);
}

/// Cut off anywhere: what came before it with a word on where it ends, or that there is nothing.
#[test]
fn cut_anywhere() {
    let frames: Vec<_> = ten().into_iter().take(8).collect();
    for (whole, head, around) in [(pcap(&frames), 24, 16), (pcapng(&frames), 28 + 20, 32)] {
        let mut ends = vec![head];
        for (_, bytes) in &frames {
            let length = if around == 16 { bytes.len() } else { bytes.len().next_multiple_of(4) };
            ends.push(ends.last().unwrap() + around + length);
        }
        assert_eq!(ends.last(), Some(&whole.len()));
        for end in 0..whole.len() {
            let read = ends.iter().filter(|other| **other <= end).count().saturating_sub(1);
            match measure(&whole[..end], &Options::default()) {
                // Within the file's own header it may be anything.
                Err(error) => {
                    assert_eq!(read, 0, "cut after {end}: {error}");
                    assert!(error == Error::Empty || end < head, "cut after {end}: {error}");
                }
                Ok(report) => {
                    assert_eq!(report.counts.frames, read as u64, "cut after {end}");
                    assert_eq!(report.partial.is_none(), ends.contains(&end), "cut after {end}");
                }
            }
        }
    }
}

/// They took a minute where the others take a millisecond: each one's hours on the air were laid over the last one's.
#[test]
fn frames_longer_than_any_take_no_time() {
    let whole = report(&pcap(&ten()));
    let (micros, bytes) = ten().remove(2);
    let mut file = pcap(&ten());
    for at in 0..10_000 {
        let seconds = (micros / 1_000_000) as u32 + 1;
        for word in [seconds, at, bytes.len() as u32, u32::MAX] {
            file.extend(word.to_le_bytes());
        }
        file.extend(&bytes);
    }
    let claimed = report(&file);
    assert_eq!((claimed.links, claimed.busy), (whole.links, whole.busy));
    assert_eq!((claimed.counts.frames, claimed.counts.unreadable), (10_040, 10_000));
}
