//! Every packet's way ends: once the applications are done and the network has calmed down, the store is empty.

use crate::schemes::ChosenSchemes;
use crate::simulation::Simulation;
use meshpace_network::NoWatch;
use meshpace_scenario::{Overrides, ScenarioFile};
use meshpace_units::{Instant, Span};

/// Packets (but for those that wait for an address) and far frames left after 300 s, and the largest number of packets there were at a second's end.
fn left(text: &str) -> (usize, usize, usize) {
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
    let scenario = file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let schemes = ChosenSchemes::of(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut probe = NoWatch;
    let mut simulation = Simulation::new(&scenario, &schemes, &|queue| schemes.relay(queue), &mut probe);
    let mut most = 0;
    for second in 1..=300 {
        simulation.run(Instant::ZERO + Span::from_secs(second));
        most = most.max(simulation.network.under_way());
    }
    let network = &simulation.network;
    (network.under_way() - network.unresolved(), simulation.network.far_frames(), most)
}

const MEASURE: &str = "[measure]\nduration = 300\nwarmup = 0\n";
const LOSSY: &str = "[radio]\nrate = \"2Mbps\"\nqueue = 5\nretry_short = 3\n";

/// Flows both ways that offer nothing after 20 s: three applications over TCP, two of datagrams.
fn flows(from: &str, to: &str) -> String {
    apps(from, to, 0)
}

fn apps(from: &str, to: &str, skip: usize) -> String {
    let apps = [
        "app = \"transfer\"\nbytes = 60000",
        "stop = 20",
        "app = \"http\"\nstop = 20",
        "app = \"cbr\"\nrate = 200000\npacket = 700\nstop = 20",
        "app = \"self-similar\"\nrate = 500000\npacket = 700\nstop = 20",
    ];
    let flow = |(from, to), app| format!("[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\n{app}\n");
    apps.into_iter().skip(skip).flat_map(|app| [flow((from, to), app), flow((to, from), app)]).collect()
}

#[test]
fn nothing_is_left_of_any_scheme() {
    for scheme in meshpace_schemes::names() {
        for routing in
            ["protocol = \"static\"", "protocol = \"aodv\"", "protocol = \"aodv\"\nprofile = \"rfc3561\""]
        {
            let head = format!(
                "{MEASURE}{LOSSY}[scheme.throttle]\not_crit = \"6Mbps\"\not_alpha = 1\n[defaults]\nscheme = \"{scheme}\"\n[routing]\n{routing}\n"
            );
            let topology = "[topology]\nkind = \"chain\"\nhops = 4\nwired_queue = 3\n";
            let (packets, far, most) = left(&format!("{head}{topology}{}", flows("n0", "B")));
            assert_eq!((packets, far), (0, 0), "{scheme}, {routing}");
            assert!(most > 5, "{scheme}, {routing}: at most {most}");
        }
    }
}

#[test]
fn nothing_is_left_where_nodes_move_apart_or_never_meet() {
    let walk =
        "[mobility]\nmodel = \"random-waypoint\"\nspeed_min = 10\nspeed_max = 40\narea = [1200, 1200]\n";
    for profile in ["ns2", "rfc3561"] {
        let head =
            format!("{MEASURE}[defaults]\nscheme = \"tcp-gap\"\n[routing]\nprofile = \"{profile}\"\n{walk}");
        let topology = "[topology]\nkind = \"random\"\nnodes = 12\nwidth = 500\nheight = 500\n";
        // Datagrams alone: a connection whose ends are apart goes on trying.
        let (packets, _, most) = left(&format!("{head}{topology}{}", apps("n0", "B", 3)));
        assert_eq!(packets, 0, "{profile}");
        assert!(most > 5);
    }
}

#[test]
fn nothing_is_left_of_broadcasts_and_of_frames_from_far_away() {
    let radio = "[topology]\nkind = \"explicit\"\nconnected = false\n[radio]\nrts = \"never\"\ntx_range = 1000000\ncs_range = 1000000\n";
    let nodes = "[[node]]\nid = \"a\"\nx = 0\ny = 0\n[[node]]\nid = \"b\"\nx = 300000\ny = 0\n[[node]]\nid = \"c\"\nx = 100\ny = 0\n";
    let (packets, far, _) =
        left(&format!("{MEASURE}[defaults]\nscheme = \"newreno\"\n{radio}{nodes}{}", flows("a", "b")));
    assert_eq!((packets, far), (0, 0));
}
