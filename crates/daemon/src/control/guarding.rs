//! The configuration in force, and the guard of what was switched on: it has the data thread go by the earlier modes for a while.

use super::data::{DataThread, Unanswered};
use super::foretelling;
use super::modes::{is_newly_paced, paces_more, with_modes_of};
use super::protocol::{Guard as GuardStatus, Refusal};
use crate::config::Config;
use crate::events::Event;
use crate::foresight::Foresight;
use crate::guard::{Acknowledged, Guard, Order, Side, Verdict};
use crate::state::{Request, Snapshot};
use crate::text::{counted, time};
use meshpace_linux::monotonic_now;
use meshpace_units::Instant;
use std::sync::Arc;

/// The configuration in force, as operators see it, and the guard that compares it with the one before.
#[derive(Debug)]
pub(super) struct InForce {
    /// What was asked for last. In the guard's other blocks the data thread alone goes by the earlier modes.
    pub config: Arc<Config>,
    guarding: Option<Guarding>,
    ended: Option<Ended>,
    /// Comparisons begun.
    number: u64,
    /// What was foretold of flows that pacing was then switched on for.
    pub foresight: Foresight,
}

#[derive(Debug)]
struct Guarding {
    guard: Guard,
    /// What was in force before pacing was switched on.
    before: Arc<Config>,
    acknowledged: Acknowledged,
    since: Instant,
}

/// How the latest comparison ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    went_back: bool,
    verdict: Verdict,
    at: Instant,
}

impl InForce {
    pub fn new(config: Config, foresight: Foresight) -> Self {
        Self { config: Arc::new(config), guarding: None, ended: None, number: 0, foresight }
    }

    /// Puts another configuration in force. Flows that it paces and the configuration before did not are `guarded` from now on. A
    /// comparison under way keeps the configuration before it.
    pub fn switch(&mut self, data: &DataThread, config: Config, guarded: bool) -> Result<String, Refusal> {
        let said = self.go_by(data, &config)?;
        let before = self.guarding.take().map_or_else(|| Arc::clone(&self.config), |earlier| earlier.before);
        self.config = Arc::new(config);
        self.ended = None;
        if let Some(terms) = self.config.guard.filter(|_| guarded && paces_more(&self.config, &before)) {
            let since = monotonic_now();
            let guard = Guard::new(terms, self.config.ab_seed, self.number, since);
            self.number += 1;
            self.guarding = Some(Guarding { guard, before, acknowledged: Acknowledged::default(), since });
        }
        Ok(said)
    }

    /// Lets the guard look.
    pub fn attend(&mut self, data: &DataThread, snapshot: &Snapshot) -> Option<Event> {
        let Guarding { guard, before, acknowledged, .. } = self.guarding.as_mut()?;
        let concerns =
            |key: &meshpace_gateway::FlowKey| is_newly_paced(&self.config, before, key.wireless.address);
        let look = acknowledged.look(snapshot, concerns);
        let side = guard.side();
        let order = guard.look(snapshot.at, look)?;
        let back = Arc::new(with_modes_of(&self.config, before));
        let next = match order {
            Order::Change(Side::Before) | Order::GoesBack(_) => Some(Arc::clone(&back)),
            Order::Change(Side::Paced) => Some(Arc::clone(&self.config)),
            Order::Stays(_) => Some(Arc::clone(&self.config)).filter(|_| side == Side::Before),
        };
        if let Some(Err(refusal)) = next.map(|config| self.go_by(data, &config)) {
            eprintln!("meshpaced: guard: {}", refusal.message);
        }
        let (went_back, verdict) = match order {
            Order::Change(_) => return None,
            Order::Stays(verdict) => (false, verdict),
            Order::GoesBack(verdict) => (true, verdict),
        };
        if went_back {
            self.config = back;
        }
        self.guarding = None;
        let ended = Ended { went_back, verdict, at: snapshot.at };
        self.ended = Some(ended);
        let message = in_words(&ended);
        eprintln!("meshpaced: guard: {message}");
        Some(Event::Guarded { went_back, pairs: verdict.pairs, ratio: verdict.ratio, message })
    }

    /// Has the data thread go by a configuration. What is foretold of the flows that it paces, and that were only watched, is noted.
    fn go_by(&mut self, data: &DataThread, config: &Config) -> Result<String, Refusal> {
        let told = foretelling::of_watched(data, config);
        let said = go_by(data, config)?;
        self.foresight.foretell(monotonic_now(), told);
        Ok(said)
    }

    /// The message to an operator who has switched pacing on, if the guard compares the two modes.
    pub fn said_of_guard(&self) -> Option<String> {
        let (terms, _) = (self.config.guard?, self.guarding.as_ref()?);
        let length = time(Guard::length(&terms).as_secs_f64());
        Some(format!(
            "guarded: for {length} of traffic or so blocks with and without it take turns, and if it brings {:.0} % less it goes back \
             (`meshpaced status` tells; [guard])",
            100.0 * terms.loss
        ))
    }

    /// The guard, for the status.
    pub fn report(&self, at: Instant) -> Option<GuardStatus> {
        let told = |state: &str, since: Instant, verdict: Verdict, message: String| GuardStatus {
            state: state.to_owned(),
            for_s: at.saturating_since(since).as_secs_f64(),
            pairs: verdict.pairs,
            less: verdict.less,
            ratio: verdict.ratio,
            message,
        };
        if let Some(Guarding { guard, since, .. }) = &self.guarding {
            let verdict = guard.verdict();
            let now = if guard.side() == Side::Paced { "with it" } else { "without" };
            let result = match verdict.pairs {
                0 => "no pair of blocks with traffic on both sides is complete".to_owned(),
                _ => so_far(&verdict),
            };
            let message = format!("compares pacing with what was before, now {now}; so far {result}");
            return Some(told(GuardStatus::COMPARES, *since, verdict, message));
        }
        let ended = self.ended.as_ref()?;
        let state = if ended.went_back { GuardStatus::WENT_BACK } else { GuardStatus::STAYS };
        Some(told(state, ended.at, ended.verdict, in_words(ended)))
    }
}

/// Has the data thread go by a configuration.
fn go_by(data: &DataThread, config: &Config) -> Result<String, Refusal> {
    let sent = Box::new(config.clone());
    let said =
        data.ask(|answer| Request::Reload(sent, answer)).map_err(|why: Unanswered| Refusal::from(why))?;
    said.map_err(|message| Refusal { mendable: false, message })
}

fn so_far(verdict: &Verdict) -> String {
    match verdict.ratio {
        None => "no pair of blocks had traffic on both sides".to_owned(),
        Some(ratio) => format!(
            "in {} of blocks pacing brought {:.0} % of what came without, less in {} of them",
            counted(verdict.pairs.into(), "pair"),
            100.0 * ratio,
            verdict.less
        ),
    }
}

fn in_words(ended: &Ended) -> String {
    let told = so_far(&ended.verdict);
    match ended.went_back {
        true => format!("went back to the modes of before: {told}"),
        false => format!("pacing stays: {told}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::How;
    use crate::control::protocol::{Reply, Request as Asked};
    use crate::control::tests::example::{self, Running};
    use crate::events::By;
    use crate::plausible::{Doubt, Name};
    use meshpace_gateway::Treatment;
    use meshpace_linux::{Peer, effective_user};
    use meshpace_units::{Bytes, Span};

    const ME: By = By { uid: 0, pid: 1 };

    fn guard(running: &Running) -> Option<GuardStatus> {
        let asked = running.daemon().answer(Asked::Status {}, Peer { uid: effective_user(), pid: 1 });
        let Reply::Status(status) = asked else { panic!("{asked:?}") };
        status.guard
    }

    /// Lets seconds pass in which a flow of `host` gets `with` when paced and `without` when not, until the guard has
    /// compared.
    fn compare(running: &Running, host: u8, with: u64, without: u64) -> GuardStatus {
        let begun = monotonic_now();
        let mut report = example::report(host, 0);
        for second in 1..1_000 {
            let told = guard(running).expect("a guard");
            if told.state != GuardStatus::COMPARES {
                return told;
            }
            let got = if told.message.contains("now with it") { with } else { without };
            report.stats.goodput_down.as_mut().unwrap().on_acked(begun, Bytes(got));
            let at = begun + Span::from_secs(second);
            running.daemon().attend(&Snapshot { at, ..example::snapshot(vec![report.clone()]) });
        }
        panic!("it never ends");
    }

    #[test]
    fn what_costs_too_much_goes_back_and_what_does_not_stays() {
        let running = Running::start(Vec::new());
        let daemon = running.daemon();
        assert_eq!(guard(&running), None, "what the file says is not guarded");
        daemon.set_mode("observe", None, How::default(), ME).unwrap();
        assert_eq!(guard(&running), None);
        let said = daemon.set_mode("pace", "10.1.2.0/24".parse().ok(), How::default(), ME).unwrap();
        assert!(said.contains("until the next reload; guarded: for 2 min 10 s of traffic"), "{said}");
        let told = compare(&running, 1, 30, 100);
        assert_eq!((told.state.as_str(), told.pairs, told.less), (GuardStatus::WENT_BACK, 4, 4));
        assert!(told.message.contains("pacing brought 30 % of what came without"), "{told:?}");
        assert!(!daemon.config().is_pacing(), "observe again");
        daemon.set_mode("pace", "10.1.2.0/24".parse().ok(), How::default(), ME).unwrap();
        let told = compare(&running, 1, 90, 100);
        assert_eq!((told.state.as_str(), told.pairs), (GuardStatus::STAYS, 6));
        assert!(daemon.config().is_pacing());
        daemon.set_mode("observe", None, How::default(), ME).unwrap();
        assert_eq!(guard(&running), None, "another mode, another guard");
        daemon.set_mode("pace", None, How { unguarded: true, ..How::default() }, ME).unwrap();
        assert_eq!(guard(&running), None, "somebody compares by himself");
    }

    #[test]
    fn hosts_that_were_paced_before_are_not_compared() {
        let running = Running::start(Vec::new());
        let daemon = running.daemon();
        daemon.set_mode("observe", "10.1.0.0/16".parse().ok(), How::default(), ME).unwrap();
        daemon.set_mode("pace", "10.1.9.0/24".parse().ok(), How::default(), ME).unwrap();
        // All else but 10.1.0.0/16 was paced before; 10.1.2.1 is only watched.
        let told = compare(&running, 1, 1, 100);
        assert_eq!((told.state.as_str(), told.pairs), (GuardStatus::STAYS, 0));
    }

    #[test]
    fn what_cannot_be_keeps_from_pacing_unless_somebody_insists() {
        let running = Running::start(Vec::new());
        let daemon = running.daemon();
        let doubt = |name| Doubt {
            name,
            since: monotonic_now(),
            found: "a gets 2 over links of 1".into(),
            remedy: "set mesh.rate".into(),
        };
        daemon.set_doubts(vec![doubt(Name::Unseen), doubt(Name::OneSided)]);
        daemon.set_mode("pace", None, How::default(), ME).unwrap();
        daemon.set_doubts(vec![doubt(Name::Unseen), doubt(Name::Rate)]);
        let refused = daemon.set_mode("pace", None, How::default(), ME).unwrap_err();
        assert!(
            refused.mendable
                && refused.message.contains("(rate): a gets 2 over links of 1; set mesh.rate; --anyway"),
            "{refused:?}"
        );
        daemon.set_mode("observe", None, How::default(), ME).unwrap();
        daemon.set_mode("pace", None, How { anyway: true, ..How::default() }, ME).unwrap();
    }

    #[test]
    fn a_forecast_is_held_against_what_came_and_is_told_and_kept() {
        let watched = crate::state::FlowReport { treatment: Treatment::Observe, ..example::report(1, 0) };
        let running = Running::start(vec![watched.clone()]);
        let daemon = running.daemon();
        let me = Peer { uid: effective_user(), pid: 1 };
        let told = || {
            let Reply::Status(status) = daemon.answer(Asked::Status {}, me) else { panic!() };
            status.forecasts
        };
        daemon.set_mode("observe", None, How::default(), ME).unwrap();
        daemon.set_mode("pace", None, How { unguarded: true, ..How::default() }, ME).unwrap();
        let begun = monotonic_now();
        let mut paced = crate::state::FlowReport { treatment: Treatment::Pace, ..watched };
        paced.stats.queued = 1;
        for second in 1..=63 {
            assert_eq!(told(), None, "in the first minute");
            let at = begun + Span::from_secs(second);
            paced.stats.goodput_down.as_mut().unwrap().on_acked(at, Bytes(250_000));
            paced.last_activity = at;
            daemon.attend(&Snapshot { at, ..example::snapshot(vec![paced.clone()]) });
        }
        let forecasts = told().expect("after a minute");
        let latest = forecasts.latest.expect("this daemon's");
        assert_eq!((latest.foretold_bps, latest.measured_bps), (4e6, 2e6));
        assert_eq!((forecasts.compared, forecasts.mean_error, forecasts.mean_error_size), (1, -0.5, 0.5));
        let Reply::Flow(detail) = daemon.answer(Asked::Flow { flow: "10.1.2.1".into() }, me) else {
            panic!()
        };
        assert_eq!(detail.forecasts.map(|forecasts| forecasts.mean_error), Some(-0.5));
        let kept = crate::foresight::Kept::within(running.directory()).read().unwrap();
        assert_eq!(kept.iter().map(crate::foresight::Outcome::error).collect::<Vec<_>>(), [-0.5]);
    }
}
