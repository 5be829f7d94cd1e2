//! The bytes of small runs.

use super::*;
use crate::packet::Body;
use crate::run::run_with;
use meshpace_scenario::{Overrides, ScenarioFile};
use meshpace_units::Bytes;

/// A scenario out of a file's text.
pub fn scenario(text: &str) -> Scenario {
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
    file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}"))
}

/// A frame as the run had it.
pub struct Sent {
    pub at: Instant,
    pub frame: Frame,
    pub packet: Option<Packet>,
}

/// Keeps all frames of a run.
#[derive(Default)]
pub struct Record(pub Vec<Sent>);

impl Probe for Record {
    fn frame(&mut self, now: Instant, frame: &Frame, packet: Option<&Packet>) {
        self.0.push(Sent { at: now, frame: *frame, packet: packet.cloned() });
    }
}

/// Runs a scenario; its capture, and the frames as they were.
pub fn capture(scenario: &Scenario) -> (Vec<u8>, Vec<Sent>) {
    let mut bytes = Vec::new();
    let sent = capture_into(&mut bytes, scenario);
    (bytes, sent)
}

fn capture_into(bytes: &mut Vec<u8>, scenario: &Scenario) -> Vec<Sent> {
    let mut probe = (Capture::new(bytes, scenario), Record::default());
    let result = run_with(scenario, &mut probe).unwrap_or_else(|error| panic!("{error}"));
    let (capture, Record(sent)) = probe;
    let frames = capture.finish().expect("a vector takes everything");
    assert_eq!((frames, result.frames), (sent.len() as u64, sent.len() as u64));
    sent
}
