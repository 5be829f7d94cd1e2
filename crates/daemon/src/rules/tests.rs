//! The rules, put in force in network namespaces that the tests make and that vanish with their threads.

use super::*;
use crate::lease::{Beacon, LEASE, Ports};
use crate::tool::{run, run_with};
use nix::sched::{CloneFlags, unshare};
use std::net::UdpSocket;
use std::thread;

fn plan(queue: u16) -> Plan {
    queueing(&format!("queue = {queue}\nobserved_max = \"all\"\n"))
}

/// The same where a sample is watched.
fn sampled_plan() -> Plan {
    queueing("queue = 7\nobserved_max = 50000\n")
}

fn queueing(nfqueue: &str) -> Plan {
    let text = format!(
        "[mesh]\ninterfaces = [\"mesh0\", \"wlan0.1\"]\nsubnets = [\"10.1.0.0/16\", \"10.2.3.4\", \"fd00:1::/48\"]\n\
         [nfqueue]\n{nfqueue}[control]\nsocket = \"{}/control.sock\"\n",
        std::env::temp_dir().display()
    );
    Plan::of(&Config::parse("a.toml", text.as_bytes()).unwrap())
        .leased(Some(Ports { v4: 40_001, v6: Some(40_002) }))
}

/// The same where hosts are shaped: what goes into the mesh is queued whatever it is.
fn shaped() -> Plan {
    let config = Config::parse("a.toml", SHAPED.as_bytes()).unwrap();
    Plan::of(&config).leased(plan(7).ports())
}

const SHAPED: &str = "mode = \"pace\"\n[hosts]\nrate = \"1Mbps\"\n[nfqueue]\nqueue = 7\n\
    [mesh]\ninterfaces = [\"mesh0\", \"wlan0.1\"]\nsubnets = [\"10.1.0.0/16\", \"10.2.3.4\", \"fd00:1::/48\"]\n";

/// In a network namespace of its own; it takes CAP_SYS_ADMIN.
fn in_namespace<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let body = || {
        unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace: run this test as root");
        test()
    };
    thread::spawn(body).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn sh(line: &str) -> String {
    run("sh", &["-c", line]).unwrap_or_else(|error| panic!("{error}"))
}

fn saved(backend: Backend, table: &str) -> String {
    ["", "6"]
        .map(|six| sh(&format!("ip{six}tables{}-save -t {table} | grep -v '^[#:]'", &backend.name()[8..])))
        .concat()
}

const IPTABLES: [Backend; 2] = [Backend::IptablesNft, Backend::IptablesLegacy];
const BEST: Form = Form::BEST;
const FORMS: [Form; 2] = [
    BEST,
    Form {
        hook: Hook::BeforeFilter,
        leased: false,
        spares_invalid: false,
        repairs_untracked: false,
        samples: false,
    },
];

/// Datagrams that come from the mesh tell by QUIC's spin bit how long packets wait there.
#[test]
fn where_the_rate_is_found_both_ways_are_queued_whatever_they_are() {
    let config = Config::parse("a.toml", SHAPED.replace("\"1Mbps\"", "\"auto\"").as_bytes()).unwrap();
    let plan = Plan::of(&config);
    assert!(plan.matches().all(|rule| !plan.is_of_tcp(rule)));
    let observes = plan.clone().with_the_other_shaping(&config);
    assert!(observes.is_all_of_tcp());
    assert_eq!(observes.with_the_other_shaping(&config), plan);
    let from_mesh = Match::From("mesh0".into());
    assert!(shaped().is_of_tcp(&from_mesh), "at a given rate nothing has to be told");
    assert!(!shaped().is_of_tcp(&Match::To("mesh0".into())));
}

#[test]
fn iptables_of_both_kinds_install_verify_replace_and_remove() {
    for (backend, form) in IPTABLES.into_iter().flat_map(|backend| FORMS.map(|form| (backend, form))) {
        in_namespace(move || {
            let lock = std::env::temp_dir().join("xtables.lock");
            let (table, rules) = if form == BEST { ("security", 12) } else { ("mangle", 9) };
            // Somebody else's rules: one that must stay first, one with a comment that only looks like ours.
            let name = backend.name();
            sh(&format!(
                "{name} -t {table} -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j CONNMARK --set-mark 1"
            ));
            sh(&format!(
                "{name} -t {table} -A FORWARD -s 192.0.2.1 -m comment --comment 'not meshpaced' -j ACCEPT"
            ));
            let before = saved(backend, table);
            assert_eq!(backend.install_as(&plan(7), form), Ok(false));
            assert_eq!(backend.verify(&plan(7), form), Ok(()));
            assert!(backend.verify(&plan(8), form).unwrap_err().why().contains("is not as it was made"));
            let text = saved(backend, table);
            assert_eq!(text.matches("--queue-bypass").count(), 14, "{text}");
            assert_eq!(
                text.matches("--ctstate INVALID").count(),
                if form.spares_invalid { 2 } else { 0 },
                "{text}"
            );
            let jump = text.find("-j meshpaced").unwrap();
            assert!(text.find("CONNMARK").unwrap() < jump, "{text}");
            // Again, as after a crash, with another queue; a rule of somebody else has come behind the jump meanwhile.
            sh(&format!("{name} -t {table} -A FORWARD -s 192.0.2.2 -j ACCEPT"));
            let appended = backend.verify(&plan(7), form).unwrap_err();
            assert!(appended.why().contains("behind the jump"), "{appended}");
            assert_eq!(in_force(&plan(7)), Some(Found::NotLast));
            assert_eq!(backend.install_as(&plan(8), form), Ok(true));
            assert_eq!(backend.verify(&plan(8), form), Ok(()));
            let text = saved(backend, table);
            assert!(!text.contains("--queue-num 7 "), "{text}");
            assert_eq!(
                text.matches("-A FORWARD -p tcp -m comment --comment meshpaced -j meshpaced").count(),
                2,
                "{text}"
            );
            assert!(text.find("192.0.2.2").unwrap() < text.find("-j meshpaced").unwrap(), "{text}");
            // A firewall reload by somebody else is noticed.
            sh(&format!("{name} -t {table} -D FORWARD -p tcp -m comment --comment meshpaced -j meshpaced"));
            assert!(backend.verify(&plan(8), form).unwrap_err().why().contains("lacks -A FORWARD"));
            // A stray rule with our comment goes too; everything else stays.
            sh(&format!(
                "{name} -t {table} -A FORWARD -p tcp -m comment --comment meshpaced -j NFQUEUE --queue-num 3"
            ));
            let removed = backend.remove(Owner::Gateway, &lock).unwrap();
            assert_eq!(removed[0], format!("{name}: {rules} rules of table {table}"));
            if form == BEST {
                assert_eq!(removed[1], format!("{name}: 1 rule of table raw"));
            }
            assert_eq!(removed.len(), if form == BEST { 4 } else { 2 }, "{removed:?}");
            let after = saved(backend, table);
            assert_eq!(
                after,
                before.replace("-j ACCEPT\n", "-j ACCEPT\n-A FORWARD -s 192.0.2.2/32 -j ACCEPT\n")
            );
            assert_eq!(backend.remove(Owner::Gateway, &lock).unwrap(), Vec::<String>::new());
        });
    }
}

#[test]
fn where_hosts_are_shaped_all_that_goes_into_the_mesh_is_queued_and_of_the_rest_tcp() {
    for backend in IPTABLES {
        in_namespace(move || {
            assert_eq!(backend.install_as(&shaped(), BEST), Ok(false));
            assert_eq!(backend.verify(&shaped(), BEST), Ok(()));
            assert!(backend.verify(&plan(7), BEST).is_err());
            let text = saved(backend, "security");
            for (rule, count) in [
                ("-A meshpaced -o mesh0 -m comment", 2),
                ("-A meshpaced -i mesh0 -p tcp -m comment", 2),
                ("-A meshpaced -d 10.1.0.0/16 -m comment", 1),
                ("-A meshpaced -s 10.1.0.0/16 -p tcp -m comment", 1),
                ("-A FORWARD -m comment --comment meshpaced -j meshpaced", 2),
            ] {
                assert_eq!(text.matches(rule).count(), count, "{rule}: {text}");
            }
            // The file says observe, and the mode was set to pace at run time.
            let text = SHAPED.replace("\"pace\"", "\"observe\"");
            let watching = Config::parse("a.toml", text.as_bytes()).unwrap();
            assert_eq!(in_force_by_any_mode(&watching), Some(Found::InForce(BEST)));
            assert_eq!(in_force(&Plan::of(&watching)), Some(Found::Otherwise));
            // Back to what is paced alone.
            assert_eq!(backend.install_as(&plan(7), BEST), Ok(true));
            assert_eq!(backend.verify(&plan(7), BEST), Ok(()));
            assert!(backend.verify(&shaped(), BEST).is_err());
        });
    }
    let script = nft::replacing(&shaped(), BEST, "queue num 7 bypass");
    for line in ["oifname \"mesh0\" queue num 7", "iifname \"mesh0\" meta l4proto tcp queue num 7"] {
        assert!(script.contains(line), "{line}: {script}");
    }
}

/// An earlier version's rules were in the table `mangle`.
#[test]
fn rules_move_to_the_table_of_their_form() {
    for backend in IPTABLES {
        in_namespace(move || {
            let [after, before] = FORMS;
            assert_eq!(backend.install_as(&plan(7), before), Ok(false));
            assert_eq!(backend.install_as(&plan(7), after), Ok(true));
            assert!(!saved(backend, "mangle").contains("meshpaced"));
            assert_eq!(backend.verify(&plan(7), after), Ok(()));
            assert!(backend.verify(&plan(7), before).is_err());
            assert_eq!(in_force(&plan(7)), Some(Found::InForce(after)));
            assert_eq!(in_force(&plan(8)), Some(Found::Otherwise));
        });
    }
}

#[test]
fn the_first_way_that_works_is_taken_and_the_others_are_cleared() {
    in_namespace(|| {
        assert_eq!(Backend::IptablesLegacy.install_as(&plan(7), BEST), Ok(false));
        let installed = install(&plan(9), None).unwrap();
        assert_eq!(verify(&plan(9), &installed), Ok(()));
        assert_eq!((installed.form, &installed.lacking), (BEST, &None));
        // Which way that is depends on the kernel; what was tried before it says why it failed.
        assert_ne!(installed.backend, Backend::IptablesLegacy);
        assert_eq!(installed.refused.len(), usize::from(installed.backend == Backend::IptablesNft));
        let text = installed.to_string();
        assert!(
            text.starts_with(&format!("rules by {}, behind the firewall's filter", installed.backend.name())),
            "{text}"
        );
        let cleared = [
            "iptables-legacy: 12 rules of table security",
            "iptables-legacy: 1 rule of table raw",
            "ip6tables-legacy: 10 rules of table security",
            "ip6tables-legacy: 1 rule of table raw",
        ];
        assert_eq!(installed.replaced, cleared);
        // Other rules are made by the same way at once: a way that fails would empty the queue.
        let again = install(&sampled_plan(), Some(&installed)).unwrap();
        let sampled = Form { samples: true, ..BEST };
        assert_eq!((again.backend, again.form, &again.lacking), (installed.backend, sampled, &None));
        assert_eq!(again.refused, installed.refused);
        let removed = remove(Owner::Gateway, plan(9).lock()).unwrap();
        assert!(!removed.is_empty());
        assert_eq!(remove(Owner::Gateway, plan(9).lock()).unwrap(), Vec::<String>::new());
    });
}

/// A lock that somebody else holds must lead neither to a worse form nor to another way.
#[test]
fn a_taken_lock_is_a_passing_trouble() {
    in_namespace(|| {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("xtables.lock");
        let held = std::fs::File::create(&lock).unwrap();
        held.lock().unwrap();
        let xtables = Xtables::locking("-legacy", lock);
        let trouble = xtables.install(Family::V4, &plan(7), BEST).unwrap_err();
        assert!(matches!(&trouble, Trouble::Passing(why) if why.contains("xtables lock")), "{trouble:?}");
        drop(held);
        assert_eq!(xtables.install(Family::V4, &plan(7), BEST), Ok(false));
    });
}

#[test]
fn only_a_lack_of_rights_keeps_rules_from_being_gone() {
    // What nft and iptables-nft say on a kernel without nf_tables, and to a user without rights.
    let lacking = "netlink: Error: cache initialization failed: Protocol not supported";
    assert_eq!(nothing_unless_forbidden(Trouble::Lasting(lacking.to_owned())), Ok(Vec::new()));
    let passing = Trouble::Passing("another app holds the xtables lock".to_owned());
    assert_eq!(nothing_unless_forbidden(passing.clone()), Err(passing));
    for forbidden in
        ["Operation not permitted (you must be root)", "Fatal: can't open lock file: Permission denied"]
    {
        let trouble = Trouble::Lasting(forbidden.to_owned());
        assert_eq!(nothing_unless_forbidden(trouble.clone()), Err(trouble));
    }
}

/// The table as nftables takes it, but for the queue statement, which not every kernel has.
#[test]
fn nft_takes_the_table() {
    in_namespace(|| {
        let script = nft::replacing(&plan(7), BEST, "counter");
        for _ in 0..2 {
            run_with("nft", &["-f", "-"], &script, None).unwrap_or_else(|error| panic!("{error}\n{script}"));
        }
        let listed = sh("nft list table inet meshpaced");
        assert_eq!(listed.matches("counter packets").count(), 10, "{listed}");
        assert!(
            listed.contains("iifname \"wlan0.1\" meta l4proto tcp")
                && listed.contains("ip6 daddr fd00:1::/48"),
            "{listed}"
        );
        assert!(nft::verify(&plan(7), BEST).unwrap_err().why().contains("0 of 10 rules"));
        assert!(listed.contains("ct state invalid") && listed.contains("priority security + 1"), "{listed}");
        sh("nft add table inet other");
        assert_eq!(nft::remove(Owner::Gateway).unwrap(), ["nft: table inet meshpaced"]);
        assert_eq!(sh("nft list tables"), "table inet other\n");
        assert_eq!(nft::remove(Owner::Gateway).unwrap(), Vec::<String>::new());
    });
    assert!(
        nft::replacing(&plan(7), BEST, "queue num 7 bypass")
            .contains("oifname \"mesh0\" meta l4proto tcp queue num 7 bypass comment")
    );
}

/// Without `::1` nobody would renew the lease of IPv6's rules, and they would let everything by for good.
#[test]
fn rules_of_a_version_without_signs_of_life_have_no_lease() {
    for backend in IPTABLES {
        in_namespace(move || {
            let leased = plan(7).leased(Some(Ports { v4: 40_001, v6: None }));
            assert_eq!(backend.install_as(&leased, BEST), Ok(false));
            assert_eq!(backend.verify(&leased, BEST), Ok(()));
            let text = saved(backend, "security");
            assert_eq!(
                (text.matches("--rcheck").count(), text.matches("recent --set").count()),
                (1, 1),
                "{text}"
            );
        });
    }
}

/// The kernel itself, with a counter in place of the queue: packets are counted while signs of life come, and no longer.
#[test]
fn nfts_lease_ends_without_signs_of_life() {
    in_namespace(|| {
        sh("ip link set lo up");
        let beacon = Beacon::open().unwrap();
        let leased = plan(7).leased(Some(beacon.ports().unwrap()));
        // A look at the same lease from a chain that this namespace's own packets pass.
        let script = nft::replacing(&leased, BEST, "counter")
            + "add chain inet meshpaced look { type filter hook input priority 0; }\n\
             add rule inet meshpaced look meta mark and 0 @lease counter\n";
        run_with("nft", &["-f", "-"], &script, None).unwrap_or_else(|error| panic!("{error}\n{script}"));
        let counted = || {
            let listed = sh("nft list chain inet meshpaced look");
            let words: Vec<_> = listed.split_whitespace().collect();
            let at = words.iter().position(|word| *word == "packets").unwrap();
            words[at + 1].parse::<u64>().unwrap()
        };
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        let send = || stranger.send_to(b"x", "127.0.0.1:9").map(drop).unwrap();
        send();
        assert_eq!(counted(), 0, "nobody has given a sign");
        beacon.give().unwrap();
        send();
        assert!(counted() > 0);
        sh(&format!("sleep {}.3", LEASE.as_nanos() / 1_000_000_000));
        let before = counted();
        send();
        assert_eq!(counted(), before, "the lease is over");
        beacon.give().unwrap();
        send();
        assert!(counted() > before, "and begins anew");
    });
}

/// An edge beside a gateway: each has its own rules, and removing one's leaves the other's.
#[test]
fn an_edges_rules_stand_beside_a_gateways() {
    for backend in IPTABLES {
        in_namespace(move || {
            let lock = std::env::temp_dir().join("xtables.lock");
            let edge = Config::default().edge;
            let plan_of_edge = || {
                Plan::of_edge(&edge, &["mesh0".to_owned()])
                    .leased(Some(Ports { v4: 40_003, v6: Some(40_004) }))
            };
            // Behind the filter whatever the form, and behind a gateway that stands before it.
            let form = Form { repairs_untracked: false, hook: Hook::BeforeFilter, ..BEST };
            let gateways = Form { hook: Hook::BeforeFilter, ..BEST };
            assert_eq!(backend.install_as(&plan(7), gateways), Ok(false));
            assert_eq!(backend.install_as(&plan_of_edge(), form), Ok(false));
            assert_eq!(backend.verify(&plan(7), gateways), Ok(()));
            assert_eq!(backend.verify(&plan_of_edge(), form), Ok(()));
            let text = saved(backend, "mangle");
            assert_eq!(text.matches("-m length --length 0:120").count(), 2, "{text}");
            let jump = "-A POSTROUTING -p tcp -m comment --comment meshpaced_edge -j meshpaced_edge\n";
            assert_eq!(text.matches(jump).count(), 2, "{text}");
            // Behind the jump nobody's rule sees what was queued.
            let name = backend.name();
            sh(&format!("{name} -t mangle -A POSTROUTING -s 192.0.2.2 -j ACCEPT"));
            let appended = backend.verify(&plan_of_edge(), form).unwrap_err();
            assert!(appended.why().contains("behind the jump"), "{appended}");
            assert_eq!(backend.install_as(&plan_of_edge(), form), Ok(true));
            assert_eq!(backend.verify(&plan_of_edge(), form), Ok(()));
            assert!(!backend.remove(Owner::Gateway, &lock).unwrap().is_empty());
            assert_eq!(backend.verify(&plan_of_edge(), form), Ok(()));
            let removed = backend.remove(Owner::Edge, &lock).unwrap();
            assert_eq!(removed.len(), 2, "{removed:?}");
            assert_eq!(backend.remove(Owner::Edge, &lock).unwrap(), Vec::<String>::new());
            assert!(!saved(backend, "mangle").contains("meshpaced"));
        });
    }
}

#[test]
fn nft_takes_an_edges_table() {
    let plan = Plan::of_edge(&Config::default().edge, &["mesh0".to_owned()])
        .leased(Some(Ports { v4: 40_001, v6: None }));
    let form = Form { repairs_untracked: false, ..BEST };
    let script = nft::replacing(&plan, form, "counter");
    in_namespace(move || {
        run_with("nft", &["-f", "-"], &script, None).unwrap_or_else(|error| panic!("{error}\n{script}"));
        let listed = sh("nft list table inet meshpaced_edge");
        assert_eq!(listed.matches("oifname \"mesh0\" meta length <= 120").count(), 2, "{listed}");
        assert!(listed.contains("hook forward") && listed.contains("hook output"), "{listed}");
        assert_eq!(listed.matches("!= @lease accept").count(), 2, "{listed}");
        assert_eq!(nft::remove(Owner::Gateway).unwrap(), Vec::<String>::new());
        assert_eq!(nft::remove(Owner::Edge).unwrap(), ["nft: table inet meshpaced_edge"]);
    });
}

/// A chain that leaves its hook would empty the queue; and a lease that begins anew would let packets overtake those that wait.
#[test]
fn nfts_chains_stay_at_their_hooks_while_rules_change() {
    in_namespace(|| {
        sh("ip link set lo up");
        let beacon = Beacon::open().unwrap();
        let ports = Some(beacon.ports().unwrap());
        let (all, part) = (plan(7).leased(ports), sampled_plan().leased(ports));
        let sampled = Form { samples: true, ..BEST };
        let install = |plan: &Plan, form| nft::install_with(plan, form, "counter");
        // A table that was made anew has another handle, and so has a chain.
        let stand = || {
            let listed = sh("nft -a list table inet meshpaced");
            let stands = |line: &&str| ["table ", "chain "].iter().any(|word| line.contains(word));
            listed.lines().filter(stands).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(install(&part, sampled), Ok(false));
        beacon.give().unwrap();
        let made = stand();
        assert_eq!(made.len(), 4, "{made:?}");
        assert_eq!(install(&all, BEST), Ok(true));
        let listed = sh("nft list table inet meshpaced");
        assert!(!listed.contains("limit") && listed.contains("elements = {"), "the lease goes on: {listed}");
        assert_eq!(listed.matches("counter packets").count(), 10, "{listed}");
        assert_eq!(install(&part, sampled), Ok(true));
        assert_eq!(install(&part, sampled), Ok(true), "the same again");
        let text = "[nfqueue]\nqueue = 7\nobserved_max = 20000\n[mesh]\ninterfaces = [\"mesh0\"]";
        let fewer = Plan::of(&Config::parse("a.toml", text.as_bytes()).unwrap()).leased(ports);
        assert_eq!(install(&fewer, sampled), Ok(true));
        let listed = sh("nft list table inet meshpaced");
        assert!(listed.contains("limit samples_20000 {") && !listed.contains("50000"), "{listed}");
        assert_eq!(stand(), made);
        // What an earlier version had otherwise is replaced with its table.
        sh(
            "nft flush table inet meshpaced; nft delete set inet meshpaced lease; nft add set inet meshpaced lease '{ type mark; }'",
        );
        assert_eq!(install(&all, BEST), Ok(true));
        assert!(sh("nft list table inet meshpaced").contains("flags dynamic,timeout"));
        assert_ne!(stand(), made);
        assert_eq!(install(&all, Form { repairs_untracked: false, ..BEST }), Ok(true));
        assert_eq!(stand().len(), 3, "another form has other chains");
    });
}

/// While nothing is paced only so many packets a second are queued, and all that open and end connections.
#[test]
fn a_sample_is_queued_where_nothing_is_paced() {
    let sampled = Form { samples: true, ..BEST };
    for backend in IPTABLES {
        in_namespace(move || {
            assert_eq!(backend.install_as(&sampled_plan(), sampled), Ok(false));
            assert_eq!(backend.verify(&sampled_plan(), sampled), Ok(()));
            assert!(backend.verify(&plan(7), BEST).is_err());
            assert_eq!(in_force(&sampled_plan()), Some(Found::InForce(sampled)));
            let text = saved(backend, "security");
            let beyond =
                "--tcp-flags FIN,SYN,RST NONE -m hashlimit --hashlimit-above 50000/sec --hashlimit-burst 500";
            assert_eq!(text.matches(beyond).count(), text.matches("--queue-bypass").count(), "{text}");
            // Each stands before the rule that queues the rest.
            let lines: Vec<_> = text.lines().filter(|line| line.contains("-i mesh0")).collect();
            assert!(lines[0].ends_with("-j RETURN") && lines[1].ends_with("--queue-bypass"), "{text}");
            // Another limit is another one to the kernel, which keeps it by its name.
            let text = "[nfqueue]\nqueue = 7\nobserved_max = 20000\n[mesh]\ninterfaces = [\"mesh0\"]";
            let fewer = Config::parse("a.toml", text.as_bytes()).unwrap();
            assert_eq!(backend.install_as(&Plan::of(&fewer), sampled), Ok(true));
            assert!(saved(backend, "security").contains("--hashlimit-name samples_20000"));
            // The file says observe, and the mode was set to pace at run time.
            let text = text.replace("[nfqueue]", "mode = \"pace\"\n[nfqueue]");
            let paces = Config::parse("a.toml", text.as_bytes()).unwrap();
            assert_eq!(backend.install_as(&Plan::of(&paces), Form { leased: false, ..BEST }), Ok(true));
            let all = Form { leased: false, ..BEST };
            assert_eq!(in_force_by_any_mode(&fewer), Some(Found::InForce(all)));
            assert_eq!(in_force_by_any_mode(&paces), Some(Found::InForce(all)));
            // And the other way round.
            let part = Form { samples: true, ..all };
            assert_eq!(backend.install_as(&Plan::of(&fewer), part), Ok(true));
            assert_eq!(in_force(&Plan::of(&paces)), Some(Found::Otherwise));
            assert_eq!(in_force_by_any_mode(&paces), Some(Found::InForce(part)));
        });
    }
    in_namespace(move || {
        let script = nft::replacing(&sampled_plan(), sampled, "counter");
        run_with("nft", &["-f", "-"], &script, None).unwrap_or_else(|error| panic!("{error}\n{script}"));
        let listed = sh("nft -n list table inet meshpaced");
        assert!(listed.contains("rate over 50000/second burst 500 packets"), "{listed}");
        assert_eq!(listed.matches("limit name \"samples_50000\" accept").count(), 10, "{listed}");
    });
    let everything =
        "mode = \"observe\"\n[nfqueue]\nobserved_max = \"all\"\n[mesh]\ninterfaces = [\"mesh0\"]";
    assert_eq!(Plan::of(&Config::parse("a.toml", everything.as_bytes()).unwrap()).sample(), None);
    assert_eq!(shaped().sample(), None, "what is paced comes whole");
}
