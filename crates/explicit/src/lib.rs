//! Explicit control: queues compute what senders may send, and tell them in a header that the receiver returns.
//!
//! Here are the headers, and the controllers of the queues as state machines without clock, packets or queue of their own.
//! The senders are parts of `meshpace-tcp`, the queues parts of `meshpace-relay`.
//!
//! | module | idea |
//! |---|---|
//! | [`xcp`] | every packet takes a change of its sender's throughput along (Katabi, Handley, Rohrs 2002) |
//! | [`rcp`] | a queue keeps one rate for all flows (Dukkipati, McKeown) |
//! | [`wcp`] | a queue marks what passes near congestion, and sources answer with a rate (Rangwala et al. 2008) |
//! | [`wcpcap`] | a controller that knows the whole mesh gives every flow its max-min share of the air (an air-time surrogate) |
//! | [`winf`] | what a link can carry, and what is free of it, by the times of 802.11 exchanges (rt-Winf) |
//! | [`SmoothedRtt`] | the round trip that a sender writes into each header |
//!
//! Rates are bytes per second, times seconds, both as real numbers: what the controllers compute with.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod rcp;
pub mod wcp;
pub mod wcpcap;
pub mod winf;
pub mod xcp;

use meshpace_units::Span;

/// A sender's smoothed round trip, an eighth of each sample (RFC 6298, section 2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SmoothedRtt(Option<f64>);

impl SmoothedRtt {
    /// A round trip was measured.
    pub fn on_sample(&mut self, rtt: Span) {
        let rtt = rtt.as_secs_f64();
        self.0 = Some(self.0.map_or(rtt, |old| old + (rtt - old) / 8.0));
    }

    /// The smoothed round trip, seconds; `None` before the first sample.
    #[must_use]
    pub const fn seconds(&self) -> Option<f64> {
        self.0
    }
}

/// Numbers as a header carries them: eight bytes each, in network order.
fn numbers<const N: usize>(bytes: &[u8]) -> Option<[f64; N]> {
    let mut numbers = [0.0; N];
    if bytes.len() != 8 * N {
        return None;
    }
    for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = f64::from_be_bytes(bytes.try_into().ok()?);
        if number.is_nan() {
            return None;
        }
    }
    Some(numbers)
}

fn write(numbers: &[f64], bytes: &mut [u8]) {
    for (number, bytes) in numbers.iter().zip(bytes.chunks_exact_mut(8)) {
        bytes.copy_from_slice(&number.to_be_bytes());
    }
}
