//! Every check, on machines made up for it.

mod calm;

use super::*;
use crate::config::HopSource;
use crate::doctor::facts::{Calm, Daemon, FlowOffload, Interface, Part, Presence};
use crate::doctor::finding::Severity::{self, Good, Note, Serious, Warning};
use crate::hops::SourceReport;
use crate::rights::Rights;
use crate::rules::{Form, Found, Hook};

fn config(text: &str) -> Config {
    Config::parse("a.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

const BEST: Form = Form::BEST;

const MESH: &str = "[mesh]\ninterfaces = [\"mesh0\"]\n";

/// A machine on which everything is as it should be.
fn good() -> Facts {
    let parts = [
        Part::Nfqueue,
        Part::XtNfqueue,
        Part::NftQueue,
        Part::SchFq,
        Part::Bpf,
        Part::CgroupBpf,
        Part::BpfJit,
        Part::Btf,
    ];
    let tools = ["nft", "iptables-nft", "ip", "iw", "tc", "ethtool"];
    let all = Rights {
        net_admin: true,
        net_raw: true,
        bpf: true,
        perfmon: true,
        sys_admin: true,
        sys_nice: true,
        ipc_lock: true,
    };
    let known = SourceReport { source: HopSource::Mpath, entries: 3, answered: None, problem: None };
    Facts {
        missing_file: None,
        kernel: crate::doctor::Kernel {
            release: "6.18.1".to_owned(),
            parts: parts.map(|part| (part, Presence::Present)).into(),
            clock_source: Some("tsc".to_owned()),
            cgroup2: Some("/sys/fs/cgroup".to_owned()),
        },
        rights: all,
        tools: tools.map(|tool| (tool, true)).into(),
        interfaces: Some(vec![
            Interface {
                name: "mesh0".to_owned(),
                up: true,
                mtu: 1500,
                wireless: Some("mesh point".to_owned()),
                ..Interface::default()
            },
            Interface { name: "eth0".to_owned(), up: true, mtu: 1500, ..Interface::default() },
        ]),
        forwards_v4: Some(true),
        forwards_v6: Some(true),
        flow_offloads: Vec::new(),
        rules: Some(Found::InForce(BEST)),
        queue_owner: Some(4711),
        hop_sources: vec![known],
        daemon: Some(Daemon { flows: 10, ..Daemon::default() }),
        edge: None,
        calm: Calm::default(),
    }
}

/// The worst finding about a subject: how bad, and its words with the remedy's.
fn worst(text: &str, facts: &Facts, subject: &str) -> Option<(Severity, String)> {
    let findings = all(&config(text), facts).into_iter().filter(|finding| finding.subject == subject);
    findings.map(|finding| (finding.severity, finding.to_string())).max_by_key(|(severity, _)| *severity)
}

/// Changes one thing about the good machine and expects one complaint with these words.
fn expect(text: &str, change: impl Fn(&mut Facts), subject: &str, severity: Severity, words: &str) {
    let mut facts = good();
    change(&mut facts);
    let found = worst(text, &facts, subject);
    let (found, message) = found.unwrap_or_else(|| panic!("nothing said about {subject}"));
    assert_eq!(found, severity, "{message}");
    assert!(message.contains(words), "{message}\ndoes not say {words}");
    if severity >= Warning {
        assert!(message.contains("-> "), "no remedy: {message}");
    }
}

fn mesh0(facts: &mut Facts) -> &mut Interface {
    &mut facts.interfaces.as_mut().unwrap()[0]
}

#[test]
fn nothing_is_said_against_a_good_machine() {
    let ebpf = "datapath = \"ebpf\"\n[mesh]\ninterfaces = [\"mesh0\"]\n[gateway]\ngap_queue = \"fifo\"\ngap_window = \"receiver\"\n\
                gc_profile = \"paper\"\nlocal_retransmission = \"off\"\n";
    for text in [MESH, ebpf] {
        let findings = all(&config(text), &good());
        assert!(findings.iter().all(|finding| finding.severity == Good), "{findings:#?}");
        assert!(findings.len() > 8);
    }
}

#[test]
fn rights() {
    expect(MESH, |f| f.rights = Rights::default(), "rights", Serious, "no CAP_NET_ADMIN");
    expect(MESH, |f| f.rights.sys_nice = false, "rights", Warning, "late by up to 15 ms");
    expect(MESH, |f| f.rights.net_raw = false, "rights", Warning, "local_retransmission = \"off\"");
    let off = "[mesh]\ninterfaces = [\"mesh0\"]\n[gateway]\nlocal_retransmission = \"off\"\n";
    expect(off, |f| f.rights.net_raw = false, "rights", Good, "CAP_NET_ADMIN");
    let ebpf = "datapath = \"ebpf\"\n[mesh]\ninterfaces = [\"mesh0\"]\n";
    expect(ebpf, |f| f.rights.perfmon = false, "rights", Serious, "datapath = \"nfqueue\"");
}

#[test]
fn what_goodput_control_sees() {
    let ebpf = "datapath = \"ebpf\"\n[mesh]\ninterfaces = [\"mesh0\"]\n";
    expect(ebpf, |_| (), "goodput control", Note, "a download that backs off is not waited for");
    let said = |text| worst(text, &good(), "goodput control");
    assert_eq!((said(MESH), said(&format!("{ebpf}[gateway]\ngoodput_control = false\n"))), (None, None));
}

#[test]
fn what_the_kernel_does_not_do_about_uploads() {
    let ebpf = "datapath = \"ebpf\"\n[mesh]\ninterfaces = [\"mesh0\"]\n";
    let hosts = format!("{MESH}[hosts]\nrate = \"2Mbps\"\n");
    expect(&hosts.replace(MESH, ebpf), |_| (), "uploads", Note, "not what they send");
    let said = |text: &str| worst(text, &good(), "uploads");
    assert_eq!((said(ebpf), said(&hosts)), (None, None));
}

#[test]
fn a_port_of_a_bridge_is_told_before_a_daemon_sees_nothing() {
    let port = |facts: &mut Facts| mesh0(facts).master = Some("br-lan".to_owned());
    expect(MESH, port, "mesh interface", Serious, "-> name br-lan in mesh.interfaces in its place");
    expect(
        "[mesh]\ninterfaces = [\"mesh0\", \"br-lan\"]\n",
        port,
        "mesh interface",
        Serious,
        "br-lan does not exist",
    );
}

#[test]
fn a_rate_that_no_driver_tells_is_told() {
    let asks = "[mesh]\ninterfaces = [\"mesh0\"]\nrate = \"nl80211\"\n";
    let wired = |facts: &mut Facts| mesh0(facts).wireless = None;
    expect(asks, wired, "link rate", Warning, "11 Mbit/s is taken");
    let said = |text: &str, facts: &Facts| worst(text, facts, "link rate");
    let mut facts = good();
    assert_eq!(said(asks, &facts), None);
    mesh0(&mut facts).master = Some("br-lan".to_owned());
    assert_eq!(
        said(&asks.replace("mesh0", "br-lan"), &facts),
        None,
        "the bridge's port has a driver that tells"
    );
    wired(&mut facts);
    assert_eq!(said(MESH, &facts), None, "the file tells");
}

#[test]
fn what_becomes_of_the_pace_of_flows_is_told_where_hosts_share() {
    let shaped = format!("{MESH}[hosts]\nrate = \"auto\"\n");
    let paced = format!("{shaped}flows = \"paced\"\n");
    expect(&paced, |_| (), "hosts", Note, "-> flows = \"free\" in [hosts]");
    let law = format!("{shaped}[law]\nflow_law = \"delay-rate\"\n");
    expect(&law, |_| (), "hosts", Note, "the law delay-rate paces none");
    let said = |text: &str| worst(text, &good(), "hosts");
    assert_eq!((said(MESH), said(&shaped)), (None, None));
}

#[test]
fn kernel_parts() {
    let absent = |part| move |facts: &mut Facts| facts.kernel.parts.extend([(part, Presence::Absent)]);
    expect(MESH, absent(Part::Nfqueue), "packet queue", Serious, "kmod-nfnetlink-queue");
    expect(MESH, absent(Part::NftQueue), "packet queue", Note, "iptables makes the rules");
    expect(MESH, |f| f.tools.extend([("nft", false)]), "packet queue", Note, "iptables makes the rules");
    let neither = |facts: &mut Facts| {
        absent(Part::NftQueue)(facts);
        absent(Part::XtNfqueue)(facts);
    };
    expect(MESH, neither, "packet queue", Serious, "no rule can queue packets");
    expect(MESH, absent(Part::SchFq), "eBPF data path", Note, "CONFIG_NET_SCH_FQ");
    let ebpf = "datapath = \"ebpf\"\n[mesh]\ninterfaces = [\"mesh0\"]\n";
    expect(ebpf, absent(Part::SchFq), "eBPF data path", Serious, "CONFIG_NET_SCH_FQ");
    let paced = format!("mode = \"pace\"\n{ebpf}");
    expect(&paced, absent(Part::SchFq), "eBPF data path", Note, "NFQUEUE in place of it");
    expect(ebpf, |f| f.tools.extend([("tc", false)]), "eBPF data path", Serious, "the program tc");
    let repairs = worst(ebpf, &good(), "eBPF data path");
    assert!(
        repairs.is_some_and(|(severity, words)| severity == Note && words.contains("local_retransmission"))
    );
    let without = format!("{ebpf}[gateway]\nlocal_retransmission = \"off\"\n");
    assert_eq!(worst(&without, &good(), "eBPF data path").map(|(severity, _)| severity), Some(Good));
    expect(MESH, absent(Part::CgroupBpf), "meshpaced host", Note, "CONFIG_CGROUP_BPF");
    expect(MESH, |f| f.kernel.cgroup2 = None, "meshpaced host", Note, "no cgroup2");
    expect(MESH, |f| f.kernel.clock_source = Some("acpi_pm".to_owned()), "clock", Warning, "acpi_pm");
}

#[test]
fn verdicts_of_old_kernels() {
    let release = |release: &'static str| move |facts: &mut Facts| facts.kernel.release = release.to_owned();
    expect(MESH, release("6.1.0-13-amd64"), "verdict search", Warning, "6.1.0-13-amd64 searches");
    expect(MESH, release("6.6.30"), "verdict search", Warning, "may search");
    expect(MESH, release("7.0.0"), "verdict search", Good, "quickly");
    let few = "[mesh]\ninterfaces = [\"mesh0\"]\n[gateway]\ngap_held_max = 1000\n";
    expect(few, release("5.10.1"), "verdict search", Good, "suits");
    let tight =
        "[mesh]\ninterfaces = [\"mesh0\"]\n[gateway]\ngap_held_max = 30000\n[nfqueue]\nlength = 32768\n";
    expect(tight, |_| {}, "queue length", Warning, "set nfqueue.length = 60000");
}

#[test]
fn interfaces_and_forwarding() {
    expect("", |_| {}, "configuration", Serious, "nothing is mesh");
    let none = |f: &mut Facts| f.missing_file = Some("/etc/meshpaced.toml".into());
    expect("", none, "configuration", Serious, "meshpaced init writes one");
    expect("[mesh]\ninterfaces = [\"mesh9\"]\n", |_| {}, "mesh interface", Serious, "mesh9 does not exist");
    expect(MESH, |f| mesh0(f).up = false, "mesh interface", Warning, "ip link set mesh0 up");
    expect(MESH, |f| mesh0(f).mtu = 1_000, "mesh interface", Warning, "IPv6 needs 1280");
    expect(MESH, |f| mesh0(f).mtu = 9_000, "mesh interface", Warning, "carries more than 2304");
    expect(MESH, |f| f.interfaces = None, "mesh interface", Warning, "ip-full");
    expect(MESH, |f| f.forwards_v4 = Some(false), "forwarding", Serious, "net.ipv4.ip_forward=1");
    expect(MESH, |f| f.forwards_v6 = Some(false), "forwarding", Note, "no IPv6");
    let v6 = "[mesh]\nsubnets = [\"fd00::/16\"]\n";
    expect(v6, |f| f.forwards_v6 = Some(false), "forwarding", Serious, "net.ipv6.conf.all.forwarding=1");
    expect(v6, |f| f.forwards_v4 = Some(false), "forwarding", Good, "IPv6");
}

#[test]
fn offloads_of_interfaces() {
    let merging = |facts: &mut Facts| mesh0(facts).offloads = vec!["generic-receive-offload"];
    expect(MESH, merging, "offloads", Good, "single segments");
    let ebpf = "datapath = \"ebpf\"\n[mesh]\ninterfaces = [\"mesh0\"]\n";
    expect(ebpf, merging, "offloads", Warning, "gso_max_segs 1");
    expect(MESH, |f| mesh0(f).offloads = vec!["large-receive-offload"], "offloads", Warning, "lro off");
}

#[test]
fn ways_past_the_daemon() {
    let offload = |hardware| {
        move |facts: &mut Facts| {
            facts.flow_offloads = vec![FlowOffload { what: "flowtable ft".to_owned(), hardware }];
        }
    };
    expect(MESH, offload(true), "flow offload", Serious, "flowtable ft (hardware)");
    expect(MESH, offload(false), "flow offload", Serious, "flow_offloading=0");
    let tunnel = |facts: &mut Facts| {
        let (kind, name) = (Some("wireguard".to_owned()), "wg0".to_owned());
        facts.interfaces.as_mut().unwrap().push(Interface { name, kind, up: true, ..Interface::default() });
    };
    expect(MESH, tunnel, "tunnel", Note, "add it to mesh.interfaces");
    let mut facts = good();
    tunnel(&mut facts);
    assert_eq!(worst("[mesh]\ninterfaces = [\"mesh0\", \"wg0\"]\n", &facts, "tunnel"), None);
    expect(MESH, |f| mesh0(f).strict_rp_filter = true, "reverse path filter", Note, "strict on mesh0");
    let one_way = |one_way| move |facts: &mut Facts| facts.daemon.as_mut().unwrap().one_way = one_way;
    expect(MESH, one_way(1), "asymmetric routing", Warning, "1 of 10 flows");
    expect(MESH, one_way(9), "asymmetric routing", Serious, "9 of 10 flows");
}

#[test]
fn hop_counts() {
    let none = |facts: &mut Facts| facts.hop_sources.clear();
    expect(MESH, none, "hop counts", Note, "inferred from TTLs, else 4");
    let without = "[mesh]\ninterfaces = [\"mesh0\"]\n[hops]\nsources = [\"olsr\"]\n";
    expect(without, none, "hop counts", Warning, "taken to be 4 hops away");
    let fixed = "[mesh]\ninterfaces = [\"mesh0\"]\n[hops]\nsources = [\"static\"]\n[hops.static]\n\"10.0.0.0/8\" = 2\n";
    expect(fixed, none, "hop counts", Good, "[hops.static]");
    let batman = |facts: &mut Facts| {
        none(facts);
        mesh0(facts).kind = Some("batadv".to_owned());
    };
    expect(MESH, batman, "hop counts", Warning, "mesh0 is batman-adv");
    let old_iw = |facts: &mut Facts| {
        facts.hop_sources[0].entries = 0;
        facts.hop_sources[0].problem = Some("mesh0: this iw or kernel does not tell".to_owned());
    };
    expect(MESH, old_iw, "hop counts", Warning, "install a newer iw");
}

#[test]
fn queue_and_rules() {
    expect(MESH, |f| f.daemon = None, "queue", Serious, "queue 19792 is bound by netlink port 4711");
    expect(MESH, |f| f.rules = Some(Found::Otherwise), "rules", Serious, "reloaded the firewall");
    expect(MESH, |f| f.rules = Some(Found::NotLast), "rules", Warning, "behind the jump");
    let stand = |form| move |f: &mut Facts| f.rules = Some(Found::InForce(form));
    let best = BEST;
    let early = Form { hook: Hook::BeforeFilter, ..best };
    expect(MESH, stand(early), "rules", Warning, "places in the table of flows");
    expect(MESH, stand(Form { leased: false, ..best }), "rules", Warning, "the service manager's watchdog");
    expect(MESH, stand(Form { repairs_untracked: false, ..best }), "rules", Warning, "another port");
    expect(MESH, stand(Form { spares_invalid: false, ..best }), "rules", Warning, "invalid packets too");
    let old_iptables = |f: &mut Facts| {
        f.kernel.parts.extend([Part::NftQueue, Part::SecurityTable].map(|part| (part, Presence::Absent)));
        f.tools.extend([("iptables-nft", false), ("iptables-legacy", true)]);
    };
    expect(MESH, old_iptables, "packet queue", Warning, "no table `security`");
    expect(MESH, |f| f.daemon = None, "rules", Note, "meshpaced undo");
    expect(MESH, |f| f.daemon = None, "asymmetric routing", Note, "no daemon answers");
}

#[test]
fn an_edge_is_possible_by_what_the_kernel_has_and_says_what_troubles_it() {
    type Change = fn(&mut crate::edge::Status);
    let subject = "meshpaced edge";
    let said = |text: &str, facts: &Facts| worst(text, facts, subject).expect("it says something");
    let lacking = |parts: &[Part]| {
        let mut facts = good();
        facts.kernel.parts.extend(parts.iter().map(|part| (*part, Presence::Absent)));
        facts
    };
    let by_queue = "[edge]\ndatapath = \"nfqueue\"\n";
    let by_ebpf = "[edge]\ndatapath = \"ebpf\"\n";
    let way = if cfg!(feature = "ebpf") { "by eBPF" } else { "by NFQUEUE" };
    for (text, parts, severity, words) in [
        ("", &[][..], Good, way),
        ("", &[Part::Bpf], Good, "by NFQUEUE"),
        (by_queue, &[Part::Bpf], Good, "by NFQUEUE"),
        ("", &[Part::Bpf, Part::Nfqueue], Note, "not possible"),
        (by_queue, &[Part::Nfqueue], Note, "not possible"),
        (by_ebpf, &[Part::Bpf], Note, "not possible"),
    ] {
        let (found, text) = said(text, &lacking(parts));
        assert_eq!(found, severity, "{text}");
        assert!(text.contains(words), "{text}");
    }
    let healthy = || {
        let mut status = crate::edge::example_status();
        status.interfaces.truncate(1);
        let counters = &mut status.counters;
        for counter in
            [&mut counters.no_place, &mut counters.lost_events, &mut counters.failed, &mut counters.late]
        {
            *counter = 0;
        }
        status
    };
    let with = |change: Change| {
        let mut status = healthy();
        change(&mut status);
        said("", &Facts { edge: Some(status), ..good() })
    };
    let (severity, text) = with(|_| {});
    assert!(severity == Good && text.contains("by eBPF on mesh0, 90 % thinned"), "{text}");
    let troubles: [(Change, Severity, &str); 5] = [
        (|status| status.counters.late = 2, Warning, "found 2 times"),
        (|status| status.counters.failed = 3, Warning, "3 acknowledgements could not be sent"),
        (
            |status| status.counters.no_place = 4,
            Warning,
            "4 acknowledgements passed because there was no room to keep them",
        ),
        (
            |status| status.counters.lost_events = 5,
            Note,
            "5 acknowledgements passed because the daemon could not be told",
        ),
        (|status| status.interfaces = vec!["mesh7".to_owned()], Warning, "mesh7, which it thins towards"),
    ];
    for (change, severity, words) in troubles {
        let (found, text) = with(change);
        assert!(found == severity && text.contains(words), "{text}");
    }
}

#[test]
fn what_a_daemon_doubts_is_told_as_badly_as_it_is() {
    let doubt = |name: &str, contradicts| crate::control::protocol::Doubt {
        name: name.to_owned(),
        for_s: 3.0,
        found: format!("{name} was found"),
        remedy: "mend it".to_owned(),
        contradicts,
    };
    let with = |name: &'static str, contradicts| {
        move |facts: &mut Facts| facts.daemon.as_mut().unwrap().doubts = vec![doubt(name, contradicts)]
    };
    expect(MESH, with("rate", true), "plausibility", Serious, "rate was found");
    expect(MESH, with("unseen", false), "plausibility", Warning, "unseen was found");
    expect(MESH, with("one-sided", false), "asymmetric routing", Warning, "one-sided was found");
}

#[test]
fn forecasts_that_are_far_off_are_told_with_what_is_wrong() {
    let with = |compared, mean_error, mean_error_size| {
        move |facts: &mut Facts| {
            let forecasts = crate::control::protocol::Forecasts {
                compared,
                mean_error,
                mean_error_size,
                undecided: 0,
                latest: None,
            };
            facts.daemon.as_mut().unwrap().forecasts = Some(forecasts);
        }
    };
    expect(
        MESH,
        with(9, -0.1, 0.2),
        "forecast",
        Good,
        "of 9 forecasts so far what came was 10 % less on the mean, 20 % off",
    );
    expect(MESH, with(9, -0.53, 0.53), "forecast", Warning, "believed better than they are");
    expect(MESH, with(9, 1.5, 1.5), "forecast", Warning, "believed worse than they are");
    expect(MESH, with(2, -0.53, 0.53), "forecast", Good, "53 % less");
}
