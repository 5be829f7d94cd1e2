//! What hosts send beside what they fetch.
//!
//! Nothing holds uploads: their senders fill queues of their own, and take the more of the air, the more packets wait there. A rate that goes by
//! few waiting packets would leave them all of it. So while more comes out of the mesh than goes in, ever more packets may wait: the
//! way in which Copa competes with flows that fill queues (Arun and Balakrishnan, NSDI 2018, section 2.2). It comes to rest where both ways
//! carry as much.

use core::f64::consts::LN_2;
use libm::{exp, log};
use meshpace_units::{Instant, Span};

/// So long both ways are remembered.
const LASTS: Span = Span::from_secs(2);
/// So many times more packets may wait at the most, as a natural logarithm.
const MOST: f64 = 2.0 * LN_2;
/// Of the logarithm of what more comes out, this part is added each second; no more than one counts.
const GAIN: f64 = 0.5;
/// That is looked at no more often than this.
const LOOKS: Span = Span::from_millis(200);

/// Packets of both ways, those of long ago counting less.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uplink {
    at: Instant,
    out: f64,
    into: f64,
    /// How many times more packets may wait, as a logarithm, and when that was looked at.
    more: f64,
    looked: Instant,
}

impl Uplink {
    /// So many packets came out of the mesh.
    pub fn comes(&mut self, now: Instant, packets: f64) {
        self.forget(now);
        self.out += packets;
        let passed = now.saturating_since(self.looked);
        if passed >= LOOKS {
            self.looked = now;
            let way = log(self.out / self.into.max(1.0)).clamp(-1.0, 1.0);
            self.more = (self.more + GAIN * way * passed.min(LASTS).as_secs_f64()).clamp(0.0, MOST);
        }
    }

    /// So many left for there.
    pub fn leaves(&mut self, now: Instant, packets: f64) {
        self.forget(now);
        self.into += packets;
    }

    /// How many times more packets may wait.
    pub fn times(&self) -> f64 {
        exp(self.more)
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
    fn ever_more_wait_while_more_comes_than_goes() {
        assert_eq!(after(20, 80), 1.0, "acknowledgements");
        assert!(after(80, 80) < 1.05);
        let more = after(100, 80);
        assert!((2.0..3.5).contains(&more), "{more}");
        assert!((after(800, 80) - 4.0).abs() < 1e-9);
        assert!((after(80, 0) - 4.0).abs() < 1e-9);
    }

    /// As soon as as much goes in, no more may wait than before; when more does, fewer.
    #[test]
    fn it_rests_where_both_ways_carry_as_much() {
        let mut uplink = Uplink::default();
        let mut run = |seconds: u64, out: f64, into: f64, from: u64| {
            for ms in from..from + 1_000 * seconds {
                let now = Instant::ZERO + Span::from_millis(ms);
                uplink.comes(now, out / 1e3);
                uplink.leaves(now, into / 1e3);
            }
            uplink.times()
        };
        run(10, 100.0, 80.0, 0);
        let rests = run(10, 80.0, 80.0, 10_000);
        let stays = run(10, 80.0, 80.0, 20_000);
        assert!(stays > 2.0 && (stays / rests - 1.0).abs() < 0.02, "{rests} {stays}");
        assert_eq!(run(20, 20.0, 80.0, 30_000), 1.0);
    }
}
