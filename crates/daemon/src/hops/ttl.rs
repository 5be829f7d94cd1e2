//! Hops from the TTL (IPv4) or hop limit (IPv6) of a packet that a mesh host sent.

/// Initial values in use (schemes.md 1.2).
const INITIAL: [u8; 4] = [32, 64, 128, 255];
/// More wireless hops than any mesh carries TCP over: rather an initial value that is not in the list.
const MOST: u32 = 32;

/// The TTL of a packet as it arrived from the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedTtl(u8);

impl ReceivedTtl {
    /// From a packet that has not been routed yet, as tc's ingress sees it.
    #[must_use]
    pub const fn on_arrival(ttl: u8) -> Self {
        Self(ttl)
    }

    /// From a packet at netfilter's FORWARD hook, where the kernel has already taken one off (`ip_forward` in
    /// net/ipv4/ip_forward.c, `ip6_forward` in net/ipv6/ip6_output.c).
    #[must_use]
    pub const fn at_forward(ttl: u8) -> Self {
        Self(ttl.saturating_add(1))
    }

    /// Hops that the packet came, the one to the gateway included: initial - received + 1, the initial value being the
    /// next of 32, 64, 128, 255. `None` if that is no plausible number.
    ///
    /// Source: schemes.md 1.2. Right where mesh nodes are routers; switches (802.11s, batman-adv) leave the TTL alone.
    #[must_use]
    pub fn hops(self) -> Option<u32> {
        let initial = INITIAL.into_iter().find(|initial| self.0 <= *initial)?;
        let hops = u32::from(initial - self.0) + 1;
        (self.0 > 0 && hops <= MOST).then_some(hops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_minus_received_plus_one() {
        for (received, hops) in
            [(64, Some(1)), (61, Some(4)), (128, Some(1)), (125, Some(4)), (255, Some(1)), (30, Some(3))]
        {
            assert_eq!(ReceivedTtl::on_arrival(received).hops(), hops, "{received}");
        }
        assert_eq!(ReceivedTtl::at_forward(63).hops(), Some(1));
        assert_eq!(ReceivedTtl::at_forward(254).hops(), Some(1));
        assert_eq!(ReceivedTtl::at_forward(255).hops(), Some(1));
        for implausible in [0, 65, 90, 200] {
            assert_eq!(ReceivedTtl::on_arrival(implausible).hops(), None, "{implausible}");
        }
    }
}
