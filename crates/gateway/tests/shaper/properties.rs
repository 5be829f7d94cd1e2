//! Whatever arrives: every packet comes out once, none too early, hosts that want more than they get share evenly.

use super::*;
use meshpace_gateway::ShareBy;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Put { host: u8, port: u16, size: u64, capable: bool },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (0u64..40_000).prop_map(Step::Wait),
        3 => (1u8..8, 1u16..5, 40u64..=1_500, any::<bool>())
            .prop_map(|(host, port, size, capable)| Step::Put { host, port, size, capable }),
    ]
}

fn terms() -> impl Strategy<Value = Terms> {
    let cap = prop_oneof![2 => Just(None), 1 => (50_000u64..2_000_000).prop_map(|cap| Some(Rate::bits_per_sec(cap)))];
    (1u32..5, cap, 1u32..7, 500_000u64..60_000_000).prop_map(|(weight, cap, hops, link)| Terms {
        weight,
        cap,
        hops,
        link: Rate::bits_per_sec(link),
    })
}

fn config() -> impl Strategy<Value = ShaperConfig> {
    (50_000u64..20_000_000, any::<bool>(), 0u64..100, 1usize..60).prop_map(|(rate, bytes, overhead, most)| {
        ShaperConfig {
            by: if bytes { ShareBy::Bytes } else { ShareBy::Airtime },
            overhead: Bytes(overhead),
            packets_max: most,
            hosts_max: 3,
            ..ShaperConfig::at(Rate::bits_per_sec(rate))
        }
    })
}

proptest! {
    #[test]
    fn every_packet_comes_out_once_in_its_flows_order_and_none_too_early(
        config in config(),
        agreed in prop::collection::vec(terms(), 8),
        steps in prop::collection::vec(step(), 1..300),
    ) {
        let mut bench = Bench::new(config);
        bench.terms = (0u8..).zip(agreed.iter().copied()).collect();
        let mut sizes = Vec::new();
        for step in steps {
            match step {
                Step::Wait(us) => bench.run_until(bench.now + Span::from_micros(us)),
                Step::Put { host, port, size, capable } => {
                    sizes.push(size);
                    bench.put_with(host, port, size, if capable { Ecn::Ect0 } else { Ecn::NotEct });
                }
            }
            prop_assert!(bench.shaper.len() <= config.packets_max.max(1));
            prop_assert!(bench.shaper.host_count() <= 3 + 8);
            prop_assert_eq!(bench.shaper.len() + bench.passed.len() + bench.dropped.len(), sizes.len());
            // Work is conserved: what waits has a time at which it goes, and that is not past.
            prop_assert_eq!(bench.shaper.is_empty() || bench.shaper.poll_timeout() > Some(bench.now), true);
        }
        while !bench.shaper.is_empty() {
            let due = bench.shaper.poll_timeout().expect("what waits has a time");
            bench.run_until(due.max(bench.now));
        }
        let out: BTreeSet<u32> =
            bench.passed.iter().map(|(_, (.., n), _)| *n).chain(bench.dropped.iter().map(|(.., n)| *n)).collect();
        prop_assert_eq!(out.len(), sizes.len());
        let mut latest = BTreeMap::new();
        for (_, (host, port, number), _) in &bench.passed {
            let before = latest.insert((*host, *port), *number);
            prop_assert!(before < Some(*number), "{host} {port}: {number} after {before:?}");
        }
        // From any departure on: no more than the rate carries, the burst, a packet, and what calls are ahead.
        let ahead = agreed.iter().map(|terms| config.cost(Bytes(5_000), terms)).max().unwrap_or(0);
        let ahead = config.rate.time_to_send(Bytes(ahead)).expect("a rate");
        let cost = |(host, _, number): &Name| config.cost(Bytes(sizes[*number as usize]), &agreed[*host as usize]);
        for (first, (from, ..)) in bench.passed.iter().enumerate() {
            let mut sent = 0;
            for (at, name, _) in &bench.passed[first..] {
                let may = config.rate.time_to_send(Bytes(sent)).expect("a rate");
                prop_assert!(may <= *at - *from + config.burst + ahead + Span::from_micros(1), "{sent} from {from:?} to {at:?}");
                sent += cost(name);
            }
        }
    }

    /// Deficit round robin (Shreedhar and Varghese 1995): by what their packets cost over their weights, hosts that always have
    /// packets are within a turn and a packet of each of one another, at any time. So nobody starves.
    #[test]
    fn backlogged_hosts_share_by_their_weights_within_a_turn(
        agreed in prop::collection::vec(terms(), 2..6),
        sizes in prop::collection::vec(40u64..=1_500, 7),
        by_bytes in any::<bool>(),
    ) {
        let by = if by_bytes { ShareBy::Bytes } else { ShareBy::Airtime };
        let config = ShaperConfig { by, packets_max: 100_000, ..patient() };
        let mut bench = Bench::new(config);
        let hosts = agreed.len();
        bench.terms = (0u8..).zip(agreed.iter().map(|terms| Terms { cap: None, ..*terms })).collect();
        let size_of = |number: u32| sizes[number as usize % sizes.len()];
        // At time 0 the first packet leaves; then all have more than they can send.
        for round in 0..400 {
            for host in 0..hosts {
                let number = (round * hosts + host) as u32;
                bench.put(host as u8, (round % 3) as u16, size_of(number));
            }
        }
        bench.run_until(ms(20_000));
        let (mut got, mut left) = (vec![0f64; hosts], vec![400; hosts]);
        let dearest = |host: usize| config.cost(Bytes(1_500), &agreed[host]) as f64 / f64::from(agreed[host].weight);
        for (_, (host, _, number), _) in &bench.passed {
            let host = usize::from(*host);
            got[host] += config.cost(Bytes(size_of(*number)), &agreed[host]) as f64 / f64::from(agreed[host].weight);
            left[host] -= 1;
            if left[host] == 0 {
                // It no longer wants more than it gets.
                return Ok(());
            }
            for (a, b) in (0..hosts).flat_map(|a| (0..hosts).map(move |b| (a, b))) {
                let apart = got[a] - got[b];
                let bound = f64::from(config.quantum) + dearest(a) + dearest(b);
                prop_assert!(apart <= bound, "{a} has {} more than {b}, of {bound}: {got:?}", apart);
            }
        }
        prop_assert!(bench.by_host().len() == hosts, "{:?}", bench.by_host());
    }
}
