//! Clocks. This is the only place of the live part that reads a clock, besides drivers that are asked to.

use meshpace_units::{Instant, Span};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

/// The current time on `CLOCK_MONOTONIC`, whose zero is about the machine's start: never set back, slewed at most.
///
/// [`crate::Deadline`] takes instants of this clock.
#[must_use]
pub fn monotonic_now() -> Instant {
    Instant::from_nanos(nanos(read(ClockId::CLOCK_MONOTONIC)))
}

/// Processor time that the calling thread has used so far, user and kernel together (`CLOCK_THREAD_CPUTIME_ID`).
#[must_use]
pub fn thread_cpu_time() -> Span {
    Span::from_nanos(nanos(read(ClockId::CLOCK_THREAD_CPUTIME_ID)))
}

fn read(clock: ClockId) -> TimeSpec {
    // Fails only for an unknown clock or a bad address (clock_gettime(2)); both clocks are in every Linux of this century.
    clock_gettime(clock).unwrap_or_else(|error| panic!("clock_gettime({clock}): {error}"))
}

/// Nanoseconds of a reading that the kernel made: neither field is negative, and 64 bits last 584 years.
fn nanos(time: TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_and_work_costs_time() {
        let (start, used) = (monotonic_now(), thread_cpu_time());
        let mut sum = 0_u64;
        while thread_cpu_time().saturating_sub(used) < Span::from_millis(2) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        // A thread cannot use more processor time than passes; the two clocks are not read at the same instant.
        assert!(monotonic_now() - start + Span::from_micros(100) >= Span::from_millis(2), "{sum} rounds");
    }
}
