//! What listening costs: runs a scenario with drop-tail queues, and with queues that listen to every frame, ask for every
//! report and do nothing with it. `listening FILE [ROUNDS]` prints the fastest wall times and their ratio; the runs take
//! turns, so that a slow minute of the machine hits both alike.

use meshpace_mesh::{RunResult, run_with_relays};
use meshpace_network::NoWatch;
use meshpace_relay::packet::{Handle, Packet};
use meshpace_relay::{Asks, DropTail, Heard, Here, QueueConfig, Relay, Report};
use meshpace_scenario::{Overrides, Scenario, ScenarioError, ScenarioFile};
use std::process::ExitCode;

/// Drop-tail that counts what it hears.
#[derive(Debug)]
struct Listener {
    queue: DropTail,
    heard: u64,
    told: u64,
}

impl Relay for Listener {
    fn asks(&self) -> Asks {
        Asks { frames: true, reports: true, busy_time: true, ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.queue.enqueue(here, packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.queue.dequeue(here)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.queue.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn heard(&mut self, _here: &mut Here<'_>, _heard: &Heard<'_>) {
        self.heard += 1;
    }

    fn reported(&mut self, _here: &mut Here<'_>, _report: &Report) {
        self.told += 1;
    }
}

fn deaf(queue: &QueueConfig) -> Box<dyn Relay> {
    Box::new(DropTail::new(queue))
}

fn listening(queue: &QueueConfig) -> Box<dyn Relay> {
    Box::new(Listener { queue: DropTail::new(queue), heard: 0, told: 0 })
}

fn compare(file: &str, rounds: u32) -> Result<(), ScenarioError> {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let scenario: Scenario = ScenarioFile::parse(file, &bytes, &Overrides::none())?.resolve(1)?;
    let run = |relays: &dyn Fn(&QueueConfig) -> Box<dyn Relay>| -> Result<RunResult, ScenarioError> {
        run_with_relays(&scenario, relays, &mut NoWatch)
    };
    let (mut without, mut with) = (f64::INFINITY, f64::INFINITY);
    let mut events = (0, 0);
    for _ in 0..rounds {
        let (plain, heard) = (run(&deaf)?, run(&listening)?);
        without = without.min(plain.wall_s);
        with = with.min(heard.wall_s);
        events = (plain.events, heard.events);
    }
    println!(
        "without {without:.3} s, {} events; with {with:.3} s, {} events; ratio {:.2}",
        events.0,
        events.1,
        with / without
    );
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = arguments.get(1).map_or(Ok(5), |rounds| rounds.parse());
    let (Some(file), Ok(rounds)) = (arguments.first(), rounds) else {
        eprintln!("usage: listening FILE [ROUNDS]");
        return ExitCode::from(2);
    };
    match compare(file, rounds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
