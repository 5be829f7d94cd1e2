//! A run is a pure function of scenario and seed (design, section 1).

use super::support::{cbr, chain, flow, json, measure, run_seed, scenario};
use std::thread;

/// Scenarios with something of everything that draws: contention, AODV, mobility, web traffic, shadowing.
fn scenarios() -> [String; 4] {
    let measure = "[measure]\nduration = 4\nwarmup = 1\n";
    let contention = format!("{measure}{}{}", chain(6), flow("n0", "n6", "scheme = \"newreno\""));
    let web = "[[flow]]\nfrom = \"n0\"\nto = \"B\"\napp = \"http\"\nscheme = \"tcp-gap\"\ncount = 3\n";
    let aodv = format!("{measure}[topology]\nkind = \"chain\"\nhops = 4\n{web}");
    let bursts = "app = \"self-similar\"\nrate = \"1Mbps\"\npacket = 512\nscheme = \"newreno\"";
    let walking = "[topology]\nkind = \"random\"\nnodes = 12\nwidth = 500\nheight = 500\n\
                   [mobility]\nmodel = \"random-waypoint\"\nspeed_max = 30\n";
    let mobile = format!("{measure}{walking}{}", flow("n0", "n5", bursts));
    let radio = "[radio]\nreception = \"sinr\"\npropagation = \"log-distance\"\nshadowing_db = 4\n";
    let grid =
        "[topology]\nkind = \"grid\"\nrows = 3\ncols = 3\nspacing = 100\n[routing]\nprotocol = \"dsdv\"\n";
    let shadowed =
        format!("{measure}{radio}{grid}{}", flow("g0_0", "g2_2", "scheme = \"tcp-ap\"\napp = \"http\""));
    [contention, aodv, mobile, shadowed]
}

#[test]
fn the_same_seed_gives_the_same_bytes_alone_and_beside_others() {
    let texts = scenarios();
    let alone: Vec<_> = texts.iter().map(|text| json(run_seed(text, 7))).collect();
    let both: Vec<Vec<_>> = thread::scope(|scope| {
        let forward = || texts.iter().map(|text| json(run_seed(text, 7))).collect::<Vec<_>>();
        let backward = || texts.iter().rev().map(|text| json(run_seed(text, 7))).collect::<Vec<_>>();
        let threads = [scope.spawn(forward), scope.spawn(backward)];
        threads.into_iter().map(|thread| thread.join().expect("a run")).collect()
    });
    assert_eq!(both[0], alone);
    assert!(both[1].iter().rev().eq(&alone));
}

#[test]
fn one_resolved_scenario_runs_twice_alike() {
    for text in scenarios() {
        let scenario = scenario(&text, 3);
        let once = || json(meshpace_mesh::run(&scenario).expect("a run"));
        assert_eq!(once(), once());
    }
}

#[test]
fn another_seed_gives_another_run() {
    for text in scenarios() {
        let (one, two) = (run_seed(&text, 1), run_seed(&text, 2));
        assert_ne!((one.events, one.frames), (two.events, two.frames), "{text}");
    }
}

#[test]
fn another_seed_draws_other_backoffs() {
    // Nothing else is random here: datagrams at fixed times over fixed routes.
    let flows = format!("{}{}", cbr("n0", "n2", 4e5, 500), cbr("n2", "n0", 3e5, 500));
    let text = format!("[defaults]\nscheme = \"newreno\"\n{}{}{flows}", measure(1.0, 0.0), chain(2));
    let delay = |seed| run_seed(&text, seed).flows[0].delay_mean_s.expect("delivered");
    assert_ne!(delay(1), delay(2));
}

#[test]
fn looking_on_changes_nothing() {
    for text in scenarios() {
        let (watched, _) = super::support::record(&text);
        assert_eq!(json(watched), json(run_seed(&text, 1)));
    }
}
