use super::*;
use crate::control::tests::example;

const MBIT: f64 = 1e6;

/// A flow of host 10.1.2.1 that was foretold 4 Mbit/s, second by second.
struct Story {
    foresight: Foresight,
    at: Instant,
    flow: FlowReport,
}

impl Story {
    fn new() -> Self {
        let flow = FlowReport { treatment: Treatment::Observe, ..example::report(1, 0) };
        let mut this = Self { foresight: Foresight::default(), at: example::now(), flow };
        this.switch_on();
        this
    }

    fn switch_on(&mut self) {
        let (key, opened) = (self.flow.stats.key, self.flow.opened);
        let rate = Rate::bits_per_sec(4_000_000);
        self.foresight.foretell(self.at, [Foretold { key, opened, rate }]);
        self.flow.treatment = Treatment::Pace;
        (self.flow.stats.paced, self.flow.stats.queued) = (true, 3);
    }

    fn switch_off(&mut self) {
        self.flow.treatment = Treatment::Observe;
        self.flow.stats.paced = false;
    }

    /// Seconds pass in which it gets so much.
    fn pass(&mut self, seconds: u64, mbit_s: f64) -> Vec<Compared> {
        let mut told = Vec::new();
        for _ in 0..seconds {
            self.at += Span::from_secs(1);
            let bytes = Bytes((mbit_s * MBIT / 8.0) as u64);
            self.flow.stats.goodput_down.as_mut().unwrap().on_acked(self.at, bytes);
            if bytes > Bytes::ZERO {
                self.flow.last_activity = self.at;
            }
            let flows = vec![example::report(0, 100), self.flow.clone(), example::report(9, 100)];
            told.extend(self.foresight.look(&Snapshot { at: self.at, ..example::snapshot(flows) }));
        }
        told
    }
}

#[test]
fn what_was_foretold_is_held_against_what_came_once_it_has_settled() {
    let mut story = Story::new();
    assert_eq!(story.pass(3, 40.0), [], "the queue in the mesh empties");
    assert_eq!(story.pass(59, 3.0), []);
    let told = story.pass(1, 3.0);
    assert_eq!(told.len(), 1, "after a minute");
    assert_eq!(told[0].outcome, Outcome { foretold_bps: 4.0 * MBIT, measured_bps: 3.0 * MBIT });
    assert_eq!(story.foresight.latest(), told.last().copied());
    assert_eq!(story.pass(100, 1.0), [], "a forecast is held against what came once");
    assert_eq!(story.foresight.errors(), Some(Errors { compared: 1, mean: -0.25, mean_size: 0.25 }));
}

#[test]
fn blocks_of_a_guard_are_long_enough_and_errors_of_both_signs_have_a_mean() {
    let mut story = Story::new();
    for (mbit_s, compared) in [(3.0, 1), (5.0, 2), (1.0, 3)] {
        story.pass(10, mbit_s);
        story.switch_off();
        assert_eq!(story.pass(10, 9.0).len(), 1, "what comes unpaced is not counted");
        assert_eq!(story.foresight.errors().unwrap().compared, compared);
        story.switch_on();
    }
    let Errors { mean, mean_size, .. } = story.foresight.errors().unwrap();
    assert!((mean - -0.25).abs() < 1e-9, "-25, +25 and -75 %: {mean}");
    assert!((mean_size - 1.25 / 3.0).abs() < 1e-9, "{mean_size}");
}

#[test]
fn what_was_not_foretold_for_is_not_counted() {
    let mut short = Story::new();
    short.pass(7, 3.0);
    short.switch_off();
    short.pass(10, 3.0);
    assert_eq!((short.foresight.errors(), short.foresight.undecided()), (None, 0), "too short");

    let mut rests = Story::new();
    rests.pass(8, 3.0);
    rests.pass(100, 0.0);
    assert_eq!(rests.foresight.errors(), None, "it has had what it wanted");

    let mut another = Story::new();
    another.pass(8, 3.0);
    another.flow.opened = another.at;
    another.pass(100, 3.0);
    assert_eq!(another.foresight.errors(), None, "another connection between the same ends");

    // Its pace allows 1,460 bytes each 10 ms, 1.17 Mbit/s; nothing waits, and it gets a third of that.
    let mut held = Story::new();
    held.flow.stats.queued = 0;
    held.pass(70, 0.4);
    assert_eq!((held.foresight.errors(), held.foresight.undecided()), (None, 1), "its sender says no more");
    let mut used = Story::new();
    used.flow.stats.queued = 0;
    used.pass(70, 1.0);
    assert_eq!(used.foresight.errors().unwrap().compared, 1, "it has what its pace allows");
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut foresight = Foresight::with(
        (0..250).map(|n| Outcome { foretold_bps: MBIT, measured_bps: if n < 150 { 0.0 } else { MBIT } }),
    );
    assert_eq!(foresight.errors(), Some(Errors { compared: OUTCOMES, mean: 0.0, mean_size: 0.0 }));
    let told = (0..200).map(|host| {
        let report = example::report(host, 0);
        Foretold { key: report.stats.key, opened: report.opened, rate: Rate::bits_per_sec(1) }
    });
    foresight.foretell(example::now(), told);
    assert_eq!(foresight.pending.len(), FLOWS);
}

#[test]
fn outcomes_outlive_the_daemon_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::within(folder.path());
    assert_eq!(kept.read().unwrap(), [], "there is none yet");
    let outcome = Outcome { foretold_bps: 10.5 * MBIT, measured_bps: 4.9 * MBIT };
    kept.write(vec![outcome; 2]).unwrap();
    assert_eq!(kept.read().unwrap(), [outcome; 2]);
    for torn in [
        r#"{"schema":1,"comp"#,
        r#"{"schema":2,"compared":[]}"#,
        "",
        r#"{"schema":1,"compared":[{"foretold_bps":0,"measured_bps":1}]}"#,
    ] {
        std::fs::write(folder.path().join("forecasts.json"), torn).unwrap();
        let why = kept.read().unwrap_err().to_string();
        assert!(why.contains("forecasts.json: "), "{why}");
    }
    let nowhere = Kept::within(&folder.path().join("gone"));
    assert!(nowhere.write(Vec::new()).unwrap_err().to_string().contains("gone/forecasts.json"));
}
