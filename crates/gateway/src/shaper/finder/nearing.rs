//! How fast the rate rises where packets began to wait before.
//!
//! Up to some rate hardly any packet waits in a mesh, and at a tenth more a queue grows at every hop. The time until that is told is as long
//! as a few packets take to be answered. A rate that goes up as fast as ever would be beyond it again and again, and whoever talks meanwhile would
//! wait each time. So there it goes slowly, as CUBIC's window does around the one at which packets were lost (RFC 9438, section 4.1).

/// That is from this part of that rate on, and up to this part.
const NEAR: (f64, f64) = (0.8, 1.2);
/// The rate rises by so much of what it rises elsewhere.
const SLOWER: f64 = 0.1;

/// The rate at which packets began to wait too long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nearing {
    met: Option<f64>,
    /// They do now.
    is_beyond: bool,
}

impl Nearing {
    /// At this rate packets wait so many times as long as they should.
    pub fn waits(&mut self, rate: f64, times: f64) {
        let was_beyond = core::mem::replace(&mut self.is_beyond, times > 1.0);
        if self.is_beyond && !was_beyond {
            self.met = Some(rate);
        }
    }

    /// How many times as fast as elsewhere a rate rises from here.
    pub fn slower(&self, rate: f64) -> f64 {
        let (from, to) = NEAR;
        let is_near = self.met.is_some_and(|met| (from * met..=to * met).contains(&rate));
        if is_near { SLOWER } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_rises_slowly_where_packets_began_to_wait() {
        let mut nearing = Nearing::default();
        assert_eq!(nearing.slower(40.0), 1.0, "nothing has waited yet");
        for (rate, times) in [(30.0, 0.4), (40.0, 1.5), (38.0, 3.0), (30.0, 1.1), (29.0, 0.9)] {
            nearing.waits(rate, times);
        }
        assert_eq!(
            [31.0, 33.0, 40.0, 47.0, 49.0].map(|rate| nearing.slower(rate)),
            [1.0, 0.1, 0.1, 0.1, 1.0]
        );
        nearing.waits(60.0, 1.2);
        assert_eq!([40.0, 60.0].map(|rate| nearing.slower(rate)), [1.0, 0.1]);
    }
}
