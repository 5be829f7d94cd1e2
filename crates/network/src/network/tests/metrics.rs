//! Static routes by metrics of links, held against all ways there are.

use super::{chain_of, network};
use meshpace_scenario::{Overrides, Scenario, ScenarioFile};
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId};
use std::fmt::Write;

/// A directed link as the file has it.
#[derive(Clone, Copy, Debug)]
struct Link {
    mbps: f64,
    loss: f64,
}

/// By sender and receiver.
type Graph = Vec<Vec<Option<Link>>>;

/// A connected graph whose links differ by direction.
fn graph(nodes: usize, seed: u64) -> Graph {
    let mut stream = Stream::new(seed, "graph", 0);
    let mut links = vec![vec![None; nodes]; nodes];
    for (a, b) in (1..nodes).flat_map(|a| (0..a).map(move |b| (a, b))) {
        if b + 1 == a || stream.unit() < 0.4 {
            for (from, to) in [(a, b), (b, a)] {
                let mbps = [1.0, 2.0, 5.5, 11.0][(stream.unit() * 4.0) as usize];
                // Few values: ties, too.
                let loss = [0.0, 0.0, 0.1, 0.5, 0.8][(stream.unit() * 5.0) as usize];
                links[from][to] = Some(Link { mbps, loss });
            }
        }
    }
    links
}

fn scenario(graph: &Graph, metric: &str) -> Scenario {
    let mut text = format!(
        "measure = {{ duration = \"5s\", warmup = \"0s\" }}\nradio = {{ rts = \"never\" }}\n\
         routing = {{ protocol = \"static\", metric = \"{metric}\" }}\n"
    );
    (0..graph.len()).for_each(|node| writeln!(text, "[[node]]\nid = \"{node}\"").expect("a string"));
    for (from, row) in graph.iter().enumerate() {
        for (to, link) in row.iter().enumerate() {
            let Some(Link { mbps, loss }) = link else { continue };
            let ends = format!("from = \"{from}\"\nto = \"{to}\"\nsymmetric = false");
            writeln!(text, "[[radio_link]]\n{ends}\nrate = \"{mbps}Mbps\"\nloss = {loss}").expect("a string");
        }
    }
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
    file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What a link costs, by hand.
fn cost(metric: &str, there: Link, back: Link) -> u64 {
    let attempts = 1.0 / ((1.0 - there.loss) * (1.0 - back.loss));
    // 1,024 bytes, us.
    let bits = 8192.0 / there.mbps;
    let units = match metric {
        "hops" => 1.0,
        "etx" => 1000.0 * attempts,
        "ett" => 1000.0 * bits * attempts,
        // DIFS, preamble, 34 bytes around the packet, SIFS, an acknowledgement of 14 bytes at 1 Mbit/s.
        "airtime" => (50.0 + 192.0 + 272.0 / there.mbps + bits + 10.0 + 192.0 + 112.0) * attempts / 10.24,
        other => panic!("{other}"),
    };
    units.round() as u64
}

/// All ways without a node twice, each with its cost.
fn ways(
    graph: &Graph,
    metric: &str,
    way: &[usize],
    to: usize,
    spent: u64,
    found: &mut Vec<(u64, usize, Vec<usize>)>,
) {
    let here = way[way.len() - 1];
    if here == to {
        found.push((spent, way.len(), way.to_vec()));
        return;
    }
    for next in (0..graph.len()).filter(|next| !way.contains(next)) {
        if let (Some(there), Some(back)) = (graph[here][next], graph[next][here]) {
            let longer = [way, &[next]].concat();
            ways(graph, metric, &longer, to, spent + cost(metric, there, back), found);
        }
    }
}

/// Least cost, then fewest hops, then the lowest node first.
#[test]
fn a_way_by_a_metric_is_a_least_one_of_all_there_are() {
    let mut other_than_hops = [0; 3];
    for seed in 0..100 {
        let graph = graph(3 + seed as usize % 5, seed);
        let mut by_metric = Vec::new();
        for metric in ["hops", "etx", "ett", "airtime"] {
            let network = network(&scenario(&graph, metric), &[None]);
            let mut taken = Vec::new();
            for (from, to) in (0..graph.len()).flat_map(|a| (0..graph.len()).map(move |b| (a, b))) {
                if from == to {
                    continue;
                }
                let mut found = Vec::new();
                ways(&graph, metric, &[from], to, 0, &mut found);
                let least = found.into_iter().min().expect("the graph is connected").2;
                let [from, to] = [from, to].map(NodeId::from_index);
                let way = network.routing.way(Instant::ZERO, from, to).expect("a way");
                let way: Vec<_> = way.iter().map(|node| node.index()).collect();
                assert_eq!(way, least, "{metric}, seed {seed}: {graph:?}");
                taken.push(way);
            }
            by_metric.push(taken);
        }
        for (count, taken) in other_than_hops.iter_mut().zip(&by_metric[1..]) {
            *count += u32::from(*taken != by_metric[0]);
        }
    }
    assert!(
        other_than_hops.iter().all(|count| *count > 50),
        "{other_than_hops:?}: the metrics hardly matter"
    );
}

/// Where frames are lost by error curves, a metric knows what noise takes: the way over the middle is the better although the ends
/// decode each other.
#[test]
fn a_weak_link_costs_what_noise_takes() {
    let hops = |metric: &str, spacing: &str| {
        let radio = r#"
            [radio]
            standard = "802.11a"
            rate = "24Mbps"
            reception = "sinr"
            error_model = "curve"
            propagation = "log-distance"
            path_loss_exponent = 3
            tx_power = 15
            sensitivity = -90
            cs_sensitivity = -95
        "#;
        let routing = format!("routing = {{ protocol = \"static\", metric = \"{metric}\" }}");
        let network = network(&chain_of(spacing, radio, &routing), &[None]);
        network.routing.way(Instant::ZERO, NodeId(0), NodeId(2)).expect("a way").len() - 1
    };
    for metric in ["etx", "ett", "airtime"] {
        assert_eq!((hops("hops", "40m"), hops(metric, "40m")), (1, 2), "{metric}");
        assert_eq!(hops(metric, "5m"), 1, "{metric}: near enough for 24 Mbit/s");
    }
}
