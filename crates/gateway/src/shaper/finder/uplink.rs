//! What hosts send beside what they fetch.
//!
//! Nothing holds uploads: their senders fill queues of their own, and take the more of the air, the more packets wait there. A rate that goes by
//! few waiting packets would leave them all of it. So where more comes out of the mesh than goes in, as many times more packets may wait: the
//! way in which Copa competes with flows that fill queues (Arun and Balakrishnan, NSDI 2018, section 2.2).

use libm::exp;
use meshpace_units::{Instant, Span};

/// So long both ways are remembered.
const LASTS: Span = Span::from_secs(2);
/// So many times more packets may wait at the most.
const MOST: f64 = 4.0;

/// Packets of both ways, those of long ago counting less.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uplink {
    at: Instant,
    out: f64,
    into: f64,
}

impl Uplink {
    /// So many packets came out of the mesh.
    pub fn comes(&mut self, now: Instant, packets: f64) {
        self.forget(now);
        self.out += packets;
    }

    /// So many left for there.
    pub fn leaves(&mut self, now: Instant, packets: f64) {
        self.forget(now);
        self.into += packets;
    }

    /// How many times more packets may wait.
    pub fn times(&self) -> f64 {
        (self.out / self.into.max(1.0)).clamp(1.0, MOST)
    }

    fn forget(&mut self, now: Instant) {
        let stays = exp(-now.saturating_since(self.at).as_secs_f64() / LASTS.as_secs_f64());
        (self.out, self.into, self.at) = (self.out * stays, self.into * stays, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many packets a second each way for ten seconds.
    fn after(out: u32, into: u32) -> f64 {
        let mut uplink = Uplink::default();
        for ms in 0..10_000 {
            let now = Instant::ZERO + Span::from_millis(ms);
            uplink.comes(now, f64::from(out) / 1e3);
            uplink.leaves(now, f64::from(into) / 1e3);
        }
        uplink.times()
    }

    #[test]
    fn as_many_times_more_wait_as_more_comes_than_goes() {
        assert_eq!(after(20, 80), 1.0, "acknowledgements");
        assert_eq!(after(80, 80), 1.0);
        assert!((after(200, 80) - 2.5).abs() < 1e-6);
        assert_eq!(after(800, 80), MOST);
        assert_eq!(after(80, 0), MOST);
    }

    #[test]
    fn what_came_long_ago_does_not_count() {
        let mut uplink = Uplink::default();
        uplink.comes(Instant::ZERO, 100.0);
        uplink.leaves(Instant::ZERO, 50.0);
        assert_eq!(uplink.times(), 2.0);
        uplink.leaves(Instant::ZERO + Span::from_secs(4), 20.0);
        assert_eq!(uplink.times(), 1.0);
    }
}
