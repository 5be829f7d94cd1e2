//! What packets the way to a host carries (RFC 1191, RFC 8201).

use crate::MTU_MIN_V6;
use meshpace_units::{Instant, Span};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Bytes of an IP header without options, and of a TCP header without options.
const IPV4_HEADER: u32 = 20;
const IPV6_HEADER: u32 = 40;
const TCP_HEADER: u32 = 20;
/// The smallest MTU believed of an IPv4 path: the last but one in the table of RFC 1191, section 7.1. The very last, 68
/// bytes, is no link's; it would only multiply the packets.
const MTU_MIN_V4: u32 = 296;
/// The sizes that links carry (RFC 1191, section 7.1), for routers that do not report theirs.
const PLATEAUS: [u32; 6] = [4352, 2002, 1492, 1006, 508, MTU_MIN_V4];
/// How long a path's MTU is remembered for new connections (RFC 1191, section 6.3: ten minutes).
const LIFETIME: Span = Span::from_secs(600);
/// Hosts remembered at most; the one told first goes first.
const HOSTS_MAX: usize = 1024;

/// The payload of a full segment, before options, in packets of `mtu` bytes (RFC 6691).
pub(super) const fn mss(mtu: u32, v6: bool) -> u32 {
    mtu.saturating_sub(if v6 { IPV6_HEADER } else { IPV4_HEADER } + TCP_HEADER)
}

/// What a router's report makes of a path that carried packets of `current` bytes so far; `None` if it is not to be
/// believed or changes nothing.
pub(super) fn lowered(current: u32, reported: Option<u32>, v6: bool) -> Option<u32> {
    let least = if v6 { MTU_MIN_V6 } else { MTU_MIN_V4 };
    let mtu = match reported {
        Some(mtu) => mtu,
        None => PLATEAUS.into_iter().find(|plateau| *plateau < current)?,
    };
    (least..current).contains(&mtu).then_some(mtu)
}

/// What is known of the ways to hosts.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// MTU, and when it was learned.
    hosts: BTreeMap<IpAddr, (u32, Instant)>,
}

impl Paths {
    pub(super) fn learn(&mut self, now: Instant, host: IpAddr, mtu: u32) {
        if self.hosts.len() >= HOSTS_MAX && !self.hosts.contains_key(&host) {
            let oldest = self.hosts.iter().min_by_key(|(_, (_, at))| *at).map(|(host, _)| *host);
            oldest.and_then(|host| self.hosts.remove(&host));
        }
        self.hosts.insert(host, (mtu, now));
    }

    /// The largest packet on the way to `host`, if a router has told it not too long ago.
    pub(super) fn mtu(&self, now: Instant, host: IpAddr) -> Option<u32> {
        let fresh = |(_, at): &&(u32, Instant)| now.saturating_since(*at) <= LIFETIME;
        self.hosts.get(&host).filter(fresh).map(|(mtu, _)| *mtu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_only_lower_and_not_below_what_links_carry() {
        assert_eq!(lowered(1500, Some(1400), false), Some(1400));
        assert_eq!(lowered(1500, Some(1500), false), None);
        assert_eq!(lowered(1500, Some(9000), false), None);
        assert_eq!(lowered(1500, Some(295), false), None);
        assert_eq!(lowered(1500, Some(1279), true), None);
        assert_eq!(lowered(1500, Some(1280), true), Some(1280));
        assert_eq!((lowered(1500, None, false), lowered(1492, None, false)), (Some(1492), Some(1006)));
        assert_eq!(lowered(296, None, false), None);
    }

    #[test]
    fn memory_is_bounded_and_fades() {
        let mut paths = Paths::default();
        let at = |secs| Instant::ZERO + Span::from_secs(secs);
        for n in 0..2000_u32 {
            paths.learn(at(n.into()), IpAddr::from(n.to_be_bytes()), 1400);
        }
        assert_eq!(paths.hosts.len(), HOSTS_MAX);
        let (first, last) = (IpAddr::from(0_u32.to_be_bytes()), IpAddr::from(1999_u32.to_be_bytes()));
        assert_eq!(paths.mtu(at(2000), first), None);
        assert_eq!(paths.mtu(at(2599), last), Some(1400));
        assert_eq!(paths.mtu(at(2600), last), None);
    }
}
