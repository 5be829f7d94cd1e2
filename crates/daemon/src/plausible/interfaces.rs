//! The traffic of the mesh's interfaces, compared with the traffic that the daemon sees.

use super::Facts;
use super::doubt::{Evidence, Name};
use super::machine::Link;
use crate::text::size;
use meshpace_units::{Instant, Span};
use std::collections::VecDeque;

/// Bytes are compared over this time, and not over less than the shorter one.
const WINDOW: Span = Span::from_secs(10);
const SHORTEST: Span = Span::from_secs(4);
/// What interfaces carry without anybody's traffic (routing, neighbours, a shell) is less than this a second.
const BYTES_A_SECOND: f64 = 100_000.0;
/// The daemon sees nothing to speak of if it sees less than one part in so many: acknowledgements alone are two hundredths of a
/// download, and four if each segment gets one.
const SEEN: u64 = 20;
/// And this machine's IP, which sees more than the mesh's, less than one in so many.
const RECEIVED: u64 = 4;

/// Counters at one moment.
#[derive(Clone, Debug)]
struct Counted {
    at: Instant,
    /// Of the mesh's interfaces, both directions.
    carried: u64,
    /// Taken from the kernel's queue, or looked at in the kernel.
    seen: u64,
    /// Received by IP, on all interfaces.
    received: Option<u64>,
    /// Of interfaces above one of them that are not the mesh's, by name.
    above: Vec<(String, String, u64)>,
}

/// What was counted within the latest [`WINDOW`].
#[derive(Debug, Default)]
pub(super) struct Carried(VecDeque<Counted>);

impl Carried {
    /// Looks whether the interfaces are there, and whether the daemon sees what they carry.
    pub fn look(&mut self, facts: &Facts<'_>) -> Vec<Evidence> {
        let Facts { snapshot, config, machine } = facts;
        let names = &config.mesh.interfaces;
        if names.is_empty() || config.is_off() || machine.interfaces.is_empty() {
            self.0.clear();
            return Vec::new();
        }
        let mut found: Vec<_> = missing(facts).into_iter().chain(masters(facts)).collect();
        if snapshot.is_of_a_sample() {
            self.0.clear(); // what is not seen may be what nobody wants to see
            return found;
        }
        let links = || names.iter().filter_map(|name| Some((name, machine.interfaces.get(name)?)));
        let above = links().flat_map(|(name, link)| link.uppers.iter().map(move |upper| (name, upper)));
        let above = above.filter(|(_, upper)| !names.contains(upper));
        let counted = Counted {
            at: snapshot.at,
            carried: links().map(|(_, link)| link.bytes()).sum(),
            seen: snapshot.driver.bytes.0,
            received: machine.received,
            above: above
                .filter_map(|(name, upper)| {
                    Some((name.clone(), upper.clone(), machine.interfaces.get(upper)?.bytes()))
                })
                .collect(),
        };
        if self.0.back().is_some_and(|last| last.carried > counted.carried || last.seen > counted.seen) {
            self.0.clear(); // an interface was made anew, or is gone
        }
        while self.0.front().is_some_and(|first| counted.at.saturating_since(first.at) > WINDOW) {
            self.0.pop_front();
        }
        if let Some(first) = self.0.front() {
            let below = found.iter().any(|evidence: &Evidence| evidence.name == Name::InterfaceBelow);
            let unseen = compared(first, &counted, &names.join(", "), below);
            found.extend(unseen);
        }
        self.0.push_back(counted);
        found
    }
}

fn missing(facts: &Facts<'_>) -> Option<Evidence> {
    let there = &facts.machine.interfaces;
    let missing: Vec<_> =
        facts.config.mesh.interfaces.iter().filter(|name| !there.contains_key(*name)).cloned().collect();
    let found = || format!("{} does not exist (any more): nothing of it is seen", missing.join(", "));
    let remedy = || {
        let others: Vec<_> = there.keys().filter(|name| *name != "lo").map(String::as_str).collect();
        format!("make it, or correct mesh.interfaces; interfaces here: {}", others.join(", "))
    };
    (!missing.is_empty()).then(|| Evidence { name: Name::InterfaceMissing, found: found(), remedy: remedy() })
}

/// A port of a bridge, of batman-adv, of a bond: to the firewall its packets are its master's.
fn masters(facts: &Facts<'_>) -> Option<Evidence> {
    let names = &facts.config.mesh.interfaces;
    let port = names.iter().find_map(|name| {
        let master = facts.machine.interfaces.get(name)?.master.as_ref()?;
        (!names.contains(master)).then_some((name, master))
    });
    port.map(|(name, master)| Evidence {
        name: Name::InterfaceBelow,
        found: format!(
            "{name} is a part of {master}: what it carries is {master}'s to the firewall, and not seen"
        ),
        remedy: name_instead(master),
    })
}

/// What to do about an interface that is a part of another.
pub(crate) fn name_instead(master: &str) -> String {
    format!(
        "name {master} in mesh.interfaces in its place, if all hosts behind it are the mesh's; else name the mesh's addresses in mesh.subnets"
    )
}

fn compared(first: &Counted, last: &Counted, names: &str, below: bool) -> Option<Evidence> {
    let span = last.at.saturating_since(first.at);
    let (carried, seen) = (last.carried - first.carried, last.seen - first.seen);
    if span < SHORTEST
        || below
        || (carried as f64) < BYTES_A_SECOND * span.as_secs_f64()
        || seen >= carried / SEEN
    {
        return None;
    }
    let told = format!("{names} carried {} within {:.0} s", size(carried as f64), span.as_secs_f64());
    let of_upper = |(name, upper, bytes): &(String, String, u64)| {
        let before = first.above.iter().find(|(_, known, _)| known == upper)?.2;
        (bytes.saturating_sub(before) > carried / 2).then_some((name.clone(), upper.clone()))
    };
    if let Some((name, upper)) = last.above.iter().find_map(of_upper) {
        return Some(Evidence {
            name: Name::InterfaceBelow,
            found: format!("{told}, most of it {upper}'s, which stands on {name}: that is not seen"),
            remedy: format!("name {upper} in mesh.interfaces"),
        });
    }
    let received = last.received.zip(first.received).map(|(now, before)| now.saturating_sub(before));
    if received.is_some_and(|received| received < carried / RECEIVED) {
        return Some(Evidence {
            name: Name::Switched,
            found: format!("{told} that IP of this machine never saw: it is switched below, by a bridge or an offload"),
            remedy: "on a bridge: net.bridge.bridge-nf-call-iptables=1 (and -ip6tables), and the mesh's addresses in mesh.subnets in place of \
                     interfaces; switch flow offload off"
                .to_owned(),
        });
    }
    Some(Evidence {
        name: Name::Unseen,
        found: format!("{told}, of which {} were seen", size(seen as f64)),
        remedy: "nothing, if that is UDP, QUIC or this machine's own; else look for a flow offload or a tunnel (`meshpaced doctor`), and name the \
                 interface on which TCP passes"
            .to_owned(),
    })
}

impl Link {
    const fn bytes(&self) -> u64 {
        self.received.saturating_add(self.sent)
    }
}
