//! What cannot be, on made-up machines with made-up flows.

use super::*;
use crate::config::HopSource;
use crate::control::tests::example;
use crate::state::FlowReport;
use meshpace_units::{Bytes, Span};

const MESH: &str = "mode = \"pace\"\n[mesh]\ninterfaces = [\"mesh0\"]\nrate = \"11Mbps\"\n";

/// A machine, its daemon, and what is thought of both second by second.
struct Site {
    config: Config,
    snapshot: Snapshot,
    machine: Machine,
    plausibility: Plausibility,
}

impl Site {
    fn new(flows: Vec<FlowReport>) -> Self {
        let link = |name: &str| (name.to_owned(), Link::default());
        Self {
            config: Config::parse("test", MESH.as_bytes()).unwrap(),
            snapshot: example::snapshot(flows),
            machine: Machine { interfaces: ["lo", "mesh0", "up0"].map(link).into(), received: Some(0) },
            plausibility: Plausibility::default(),
        }
    }

    /// Nine times as fast as its links, in its latest seconds.
    fn too_fast() -> FlowReport {
        FlowReport { link_rate: Rate::bits_per_sec(1_000_000), ..example::report(1, 9_000) }
    }

    /// Another second, in which the flows' goodput goes on.
    fn second(&mut self, change: impl Fn(&mut Self)) -> Changes {
        let at = self.snapshot.at + Span::from_secs(1);
        self.snapshot.at = at;
        self.snapshot.flows.iter_mut().for_each(|flow| flow.last_activity = at);
        change(self);
        let Self { config, snapshot, machine, plausibility } = self;
        plausibility.look(&Facts { snapshot, config, machine })
    }

    fn seconds(&mut self, n: u32, change: impl Fn(&mut Self)) -> Changes {
        let mut all = Changes::default();
        for _ in 0..n {
            let Changes { begun, over } = self.second(&change);
            all.begun.extend(begun);
            all.over.extend(over);
        }
        all
    }

    fn link(&mut self, name: &str) -> &mut Link {
        self.machine.interfaces.get_mut(name).unwrap()
    }
}

/// A flow that gets nothing within these tests' times but what is said.
fn flow(host: u8) -> FlowReport {
    let mut flow = example::report(host, 0);
    flow.stats.goodput_down = None;
    flow
}

fn names(changes: &Changes) -> Vec<Name> {
    changes.begun.iter().map(|doubt| doubt.name).collect()
}

/// Both directions of a flow go on.
fn goes(site: &mut Site) {
    for flow in &mut site.snapshot.flows {
        flow.down.packets += 100;
        flow.down.bytes += Bytes(150_000);
        flow.up.packets += 50;
    }
    site.snapshot.driver.bytes += Bytes(152_000);
    site.machine.received = site.machine.received.map(|bytes| bytes + 152_000);
    let link = site.link("mesh0");
    (link.sent, link.received) = (link.sent + 150_000, link.received + 2_000);
}

#[test]
fn nothing_is_doubtful_of_what_can_be() {
    let mut site = Site::new(vec![example::report(1, 900), flow(2)]);
    assert_eq!(site.seconds(30, goes), Changes::default());
    assert_eq!(site.plausibility.doubts().count(), 0);
}

#[test]
fn goodput_above_the_links_rate_is_told_once() {
    let mut site = Site::new(vec![Site::too_fast()]);
    assert_eq!(names(&site.seconds(4, goes)), [], "a hole that is filled is one for three looks");
    let told = site.second(goes);
    assert_eq!(names(&told), [Name::Rate]);
    assert!(
        told.begun[0].found.contains("10.1.2.1:5001")
            && told.begun[0].found.contains("over links of 1 Mbit/s"),
        "{told:?}"
    );
    let remedy = &told.begun[0].remedy;
    assert!(remedy.contains("mesh.rate") && remedy.contains("more than 4 Mbit/s"), "{remedy}");
    assert_eq!(site.seconds(120, goes), Changes::default(), "once, whatever it gets later");
}

#[test]
fn another_figure_ends_the_doubt_though_flows_are_told_with_the_earlier_one_for_a_moment() {
    let mut site = Site::new(vec![Site::too_fast()]);
    assert_eq!(names(&site.seconds(5, goes)), [Name::Rate]);
    let believed = |site: &mut Site| site.config.mesh.rate = Rate::bits_per_sec(300_000_000);
    assert_eq!(site.seconds(5, believed), Changes::default());
    site.snapshot.flows[0].link_rate = Rate::bits_per_sec(300_000_000);
    assert_eq!(site.seconds(5, believed).over, [Name::Rate]);
    assert_eq!(site.plausibility.doubts().count(), 0);
}

#[test]
fn a_rate_that_nobody_wrote_is_not_held_to_and_steady_goodput_is_told_of() {
    let mut site = Site::new(vec![Site::too_fast()]);
    site.config.mesh.rate_source = crate::config::RateSource::Nl80211;
    site.snapshot.flows[0].stats.wireless_rtt = Some(Span::from_micros(10));
    assert_eq!(site.seconds(4, goes), Changes::default());
    assert_eq!(site.plausibility.steady(), [], "four looks");
    assert_eq!(site.second(goes), Changes::default());
    // The least of the five: 4.5 MB in nine seconds.
    let host = IpAddr::from([10, 1, 2, 1]);
    assert_eq!(site.plausibility.steady(), [(host, Rate::bits_per_sec(4_000_000), 3)]);
}

#[test]
fn all_flows_together_are_held_against_as_many_radios_as_there_are() {
    let flows = || (1..=6).map(|host| example::report(host, 9_000)).collect();
    let mut site = Site::new(flows());
    let told = site.seconds(5, goes);
    assert_eq!(names(&told), [Name::Rate]);
    assert!(told.begun[0].found.contains("all flows together"), "{told:?}");
    let mut several = Site::new(flows());
    let more = ["mesh0", "mesh1", "mesh2", "mesh3", "mesh4", "mesh5", "mesh6"];
    several.config.mesh.interfaces = more.map(str::to_owned).into();
    several.machine.interfaces.extend(more.map(|name| (name.to_owned(), Link::default())));
    assert_eq!(names(&several.seconds(5, goes)), []);
}

#[test]
fn a_round_trip_below_the_air_time_is_told_with_its_sum() {
    let near = |rtt| {
        let mut near = flow(1);
        near.stats.wireless_rtt = Some(Span::from_micros(rtt));
        let mut site = Site::new(vec![near]);
        site.seconds(3, goes)
    };
    // 3 hops x (1,500 + 40) bytes at 11 Mbit/s: 3.36 ms.
    assert_eq!(names(&near(3_500)), []);
    let told = near(3_300);
    assert_eq!(names(&told), [Name::RoundTrip]);
    let found = &told.begun[0].found;
    assert!(
        found.contains("of 3.3 ms") && found.contains("take 3.36 ms on the air over 3 hops (ttl)"),
        "{found}"
    );
}

#[test]
fn hops_that_nobody_has_are_told_with_who_tells_them() {
    let mut far = flow(1);
    far.stats.wireless_rtt = Some(Span::from_secs(1));
    (far.hops, far.hop_source) = (Some(29), HopSource::Ttl);
    let told = Site::new(vec![far]).seconds(2, goes);
    assert_eq!(names(&told), [Name::Hops]);
    assert_eq!(told.begun[0].found, "10.1.2.1 is said to be 29 hops away (ttl)");
    assert!(told.begun[0].remedy.contains("[hops.static]"));
}

#[test]
fn flows_of_which_one_direction_passes_are_told_as_long_as_they_do() {
    let mut site = Site::new(vec![flow(1), flow(2)]);
    assert_eq!(names(&site.seconds(3, goes)), []);
    let acks = |site: &mut Site| {
        goes(site);
        site.snapshot.flows[1].down = site.snapshot.flows[0].down;
        site.snapshot.flows[0].up.packets += 4;
        site.snapshot.flows[1].down.packets = 310;
    };
    let told = site.seconds(5, acks);
    assert_eq!(names(&told), [Name::OneSided]);
    let found = &told.begun[0].found;
    assert!(
        found.starts_with("1 of 2 active flows")
            && found.contains("10.1.2.2")
            && found.contains("from the mesh"),
        "{found}"
    );
    assert_eq!(site.seconds(6, goes).over, [Name::OneSided], "both directions again");
    // What waited here leaves and is acknowledged, while its sender waits for its timer.
    let drains = |site: &mut Site| {
        acks(site);
        site.snapshot.flows[1].stats.queued = 5;
    };
    assert_eq!(names(&site.seconds(5, drains)), []);
}

#[test]
fn a_flow_of_which_a_direction_falls_silent_is_told_once() {
    let mut site = Site::new(vec![flow(1), flow(2), flow(3)]);
    (site.snapshot.flows[2].stats.outstanding, site.snapshot.flows[1].stats.outstanding) = (false, true);
    site.seconds(2, goes);
    let data = |site: &mut Site| {
        goes(site);
        site.snapshot.flows[1].up.packets -= 50;
        site.snapshot.flows[2].up.packets -= 50;
    };
    let mut told = Vec::new();
    for _ in 0..6 {
        site.second(data);
        told.extend(site.plausibility.strayed().iter().map(|key| key.wireless.address.to_string()));
    }
    assert_eq!(told, ["10.1.2.2"], "nothing of the third is on its way");
}

#[test]
fn an_interface_that_is_gone_or_a_part_of_another_is_told() {
    let mut site = Site::new(Vec::new());
    let link = site.machine.interfaces.remove("mesh0").unwrap();
    let told = site.seconds(2, |_| {});
    assert_eq!(names(&told), [Name::InterfaceMissing]);
    assert!(told.begun[0].remedy.ends_with("interfaces here: up0"), "{told:?}");
    site.machine.interfaces.insert("mesh0".to_owned(), Link { master: Some("br-lan".to_owned()), ..link });
    let told = site.seconds(5, |_| {});
    assert_eq!((names(&told), told.over), (vec![Name::InterfaceBelow], vec![Name::InterfaceMissing]));
    site.config.mesh.interfaces.push("br-lan".to_owned());
    site.machine.interfaces.insert("br-lan".to_owned(), Link::default());
    assert_eq!(site.seconds(4, |_| {}).over, [Name::InterfaceBelow]);
}

/// What becomes of a megabyte a second over mesh0 of which IP receives so much and the daemon sees so much.
fn carried(received: u64, seen: u64, upper: u64) -> Vec<Name> {
    let mut site = Site::new(Vec::new());
    site.link("mesh0").uppers = vec!["mesh0.7".to_owned()];
    site.machine.interfaces.insert("mesh0.7".to_owned(), Link::default());
    names(&site.seconds(12, |site| {
        site.link("mesh0").sent += 1_000_000;
        site.link("mesh0.7").received += upper;
        site.machine.received = site.machine.received.map(|bytes| bytes + received);
        site.snapshot.driver.bytes += Bytes(seen);
    }))
}

#[test]
fn bytes_that_nobody_sees_are_told_by_where_they_go() {
    assert_eq!(carried(1_000_000, 990_000, 0), [], "seen");
    assert_eq!(carried(1_000_000, 60_000, 0), [], "some of it is");
    assert_eq!(carried(1_000_000, 0, 0), [Name::Unseen], "routed");
    assert_eq!(carried(1_000_000, 40_000, 0), [Name::Unseen], "but for the acknowledgements");
    assert_eq!(carried(10_000, 0, 0), [Name::Switched], "not routed");
    assert_eq!(carried(1_000_000, 0, 900_000), [Name::InterfaceBelow], "a VLAN's");
}

#[test]
fn counters_that_begin_anew_tell_nothing() {
    let mut site = Site::new(Vec::new());
    let mut begun = Vec::new();
    for n in 0..20 {
        let told = site.second(|site| {
            let link = site.link("mesh0");
            link.sent = if n % 3 == 0 { 0 } else { link.sent + 1_000_000 };
        });
        begun.extend(names(&told));
    }
    assert_eq!(begun, []);
}

#[test]
fn a_name_is_one_word_and_its_own() {
    let words: std::collections::BTreeSet<_> = Name::ALL.map(Name::word).into();
    assert_eq!(words.len(), Name::ALL.len());
    assert!(Name::Switched.contradicts() && !Name::Unseen.contradicts());
}
