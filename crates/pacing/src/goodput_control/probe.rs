//! Whether a throttling helped the flows that were slow.

use super::{Cap, GoodputControl, HoldOff, Profile};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The flows below the mean when others were throttled, and their goodput then.
#[derive(Clone, Debug)]
pub(super) struct Probe<Id> {
    /// The run that throttled.
    pub run: u64,
    pub slow: Vec<(Id, f64)>,
}

impl<Id: PartialEq> Probe<Id> {
    /// True if the flow is one that is to get more.
    pub fn awaits(&self, id: &Id) -> bool {
        self.slow.iter().any(|(slow, _)| slow == id)
    }
}

/// What a probe tells in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// The slow flows got more.
    Improved,
    /// They did not: the caps are of no use.
    Useless,
    /// None of them wants more: the caps have no reason left.
    Moot,
    /// All that want more back off in silence: the next run may tell.
    Later,
}

impl<Id: Copy + Ord> GoodputControl<Id> {
    /// In the first run that can tell after a throttling: without improvement of the flows that were slow then, the cap
    /// was useless (there is no shared bottleneck) and is removed, and the flow is left alone for a while. A cap that
    /// this run set anew is not judged.
    pub(super) fn judge(
        &mut self,
        probe: Option<Probe<Id>>,
        goodput: &BTreeMap<Id, f64>,
    ) -> Option<Judgement> {
        let probe = probe?;
        let judgement = match self.config.profile {
            Profile::Paper => self.compare(&probe.slow, goodput),
            Profile::Robust => self.compare_those_heard(&probe.slow, goodput),
        };
        let judged = |cap: &Cap| cap.since_run == probe.run;
        for flow in self.flows.values_mut().filter(|flow| flow.cap.as_ref().is_some_and(judged)) {
            match judgement {
                Judgement::Improved => flow.hold_off = None,
                Judgement::Useless => {
                    flow.cap = None;
                    let earlier = flow.hold_off.map(|earlier| earlier.runs.saturating_mul(2));
                    let runs = earlier.unwrap_or(self.config.hold_off).min(self.config.hold_off_max);
                    flow.hold_off = Some(HoldOff { runs, until_run: self.runs + u64::from(runs) });
                }
                Judgement::Moot => flow.cap = None,
                Judgement::Later => {}
            }
        }
        if judgement == Judgement::Later {
            self.probe = Some(probe);
        }
        Some(judgement)
    }

    /// Whether the flows that were slow got more; one that is no longer compared gets nothing.
    fn compare(&self, slow: &[(Id, f64)], goodput: &BTreeMap<Id, f64>) -> Judgement {
        let before = slow.iter().map(|(_, before)| before).sum::<f64>() / slow.len() as f64;
        let after: f64 = slow.iter().filter_map(|(id, _)| goodput.get(id)).sum();
        let after = after / slow.len() as f64;
        // Flows that got nothing before must get something: 0 is no improvement on 0.
        let improved = after >= self.config.improvement * before && after > before;
        if improved { Judgement::Improved } else { Judgement::Useless }
    }

    /// The same of those that still want more, without those that back off: their silence says nothing about a cap that came in
    /// the meantime. Any other silence does: a flow that was given an interval and sent nothing has not used it.
    fn compare_those_heard(&self, slow: &[(Id, f64)], goodput: &BTreeMap<Id, f64>) -> Judgement {
        let wanting: Vec<(Id, f64)> =
            slow.iter().filter(|(id, _)| goodput.contains_key(id)).copied().collect();
        if wanting.is_empty() {
            let fell_silent = |(id, _): &(Id, f64)| {
                self.flows.get(id).is_some_and(|flow| flow.demand.fell_silent(&self.config))
            };
            // A flow that backed off and never came back was not helped; the next one that does so finds the others left alone.
            return if slow.iter().any(fell_silent) { Judgement::Useless } else { Judgement::Moot };
        }
        let tells = |(id, _): &(Id, f64)| {
            let flow = &self.flows[id];
            flow.interval.is_active() || !flow.demand.starves(flow.direction)
        };
        let telling: Vec<(Id, f64)> = wanting.into_iter().filter(tells).collect();
        if telling.is_empty() { Judgement::Later } else { self.compare(&telling, goodput) }
    }
}
