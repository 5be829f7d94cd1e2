//! What clients' requests lead to.

use super::data::{DataThread, Unanswered};
use super::foretelling;
use super::guarding::InForce;
use super::modes::{said_of_mode, with_mode};
use super::protocol::{Detail, Flows, Refusal, Reply, Request, Status};
use super::report;
use super::sort::{Filter, SortKey};
use crate::Failure;
use crate::config::{Config, Datapath, Mode};
use crate::events::{By, Event, Sink};
use crate::flow_name::{find_flow, flow_name};
use crate::foresight::{Compared, Foresight, Kept};
use crate::plausible::Doubt;
use crate::state::{self, Snapshot};
use ipnet::IpNet;
use meshpace_linux::{Peer, effective_user};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The daemon, as its clients see it: the data thread, and the configuration in force.
#[derive(Debug)]
pub struct Daemon {
    data: DataThread,
    events: Sink,
    /// The configuration's file.
    file: PathBuf,
    /// In force; held while it is being changed, so that changes come one after the other.
    in_force: Mutex<InForce>,
    /// The doubts of the latest look: figures that are believed and cannot be true.
    doubts: Mutex<Vec<Doubt>>,
    /// Where outcomes of forecasts outlive the daemon.
    kept: Option<Kept>,
    /// The user that the daemon runs as. This user and root may change something.
    owner: u32,
}

/// How a mode is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct How {
    /// Although something that is believed cannot be.
    pub anyway: bool,
    /// Nothing compares what is paced then with what was before.
    pub unguarded: bool,
}

/// What a successful reload tells.
pub type Reloaded = String;

impl Daemon {
    /// A daemon that runs with `config`, read from `file`, and finds and leaves what came of forecasts where it is `kept`.
    #[must_use]
    pub fn new(data: DataThread, events: Sink, file: PathBuf, config: Config, kept: Option<Kept>) -> Self {
        let outcomes = kept.as_ref().map_or_else(Vec::new, |kept| {
            kept.read().unwrap_or_else(|why| {
                eprintln!("meshpaced: what came of earlier forecasts: {why}");
                Vec::new()
            })
        });
        let in_force = Mutex::new(InForce::new(config, Foresight::with(outcomes)));
        Self { data, events, file, in_force, doubts: Mutex::default(), kept, owner: effective_user() }
    }

    /// The data thread.
    #[must_use]
    pub const fn data(&self) -> &DataThread {
        &self.data
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.in_force().config)
    }

    fn in_force(&self) -> MutexGuard<'_, InForce> {
        self.in_force.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is doubtful now.
    #[must_use]
    pub fn doubts(&self) -> Vec<Doubt> {
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes what is doubtful now.
    pub fn set_doubts(&self, doubts: Vec<Doubt>) {
        *self.doubts.lock().unwrap_or_else(PoisonError::into_inner) = doubts;
    }

    /// True for root and the daemon's own user; others that the socket's permissions let in may look.
    #[must_use]
    pub const fn may_change(&self, peer: Peer) -> bool {
        peer.uid == 0 || peer.uid == self.owner
    }

    /// Carries out a request of `peer`.
    #[must_use]
    pub fn answer(&self, request: Request, peer: Peer) -> Reply {
        let by = By::from(peer);
        if let Some(command) = request.changes().filter(|_| !self.may_change(peer)) {
            self.events.emit(Event::ChangeDenied { command, by });
            let (owner, uid) = (self.owner, peer.uid);
            let message = format!(
                "{command}: only root and the daemon's user (uid {owner}) may change something; uid {uid} may look"
            );
            return Reply::Error(Refusal { mendable: false, message });
        }
        let answer = match request {
            Request::Status {} => self.status(),
            Request::Flows { filter, sort, reverse, limit } => {
                self.flows(filter.as_deref(), sort, reverse, limit)
            }
            Request::Flow { flow } => self.flow(&flow),
            Request::Reload {} => self.reload(Some(by)).map(Reply::Done),
            Request::Mode { mode, subnet, anyway, unguarded } => {
                let how = How { anyway, unguarded };
                self.set_mode(&mode, subnet, how, by).map(Reply::Done)
            }
            Request::Stop {} => self.stop("control socket", Some(by)).map(Reply::Done),
        };
        answer.unwrap_or_else(Reply::Error)
    }

    fn status(&self) -> Result<Reply, Refusal> {
        let snapshot = self.data.snapshot()?;
        let (config, guard, forecasts) = {
            let in_force = self.in_force();
            let forecasts = foretelling::report(&in_force.foresight, snapshot.at);
            (Arc::clone(&in_force.config), in_force.report(snapshot.at), forecasts)
        };
        let status = Status { guard, forecasts, ..report::status(&snapshot, &config, &self.doubts()) };
        Ok(Reply::Status(Box::new(status)))
    }

    fn flows(
        &self,
        filter: Option<&str>,
        sort: SortKey,
        reverse: bool,
        limit: Option<usize>,
    ) -> Result<Reply, Refusal> {
        let filter = filter.map(Filter::parse).transpose().map_err(mendable)?;
        let snapshot = self.data.snapshot()?;
        let fits = |flow: &&state::FlowReport| {
            let key = &flow.stats.key;
            let ends = [key.wireless, key.wired].map(|end| SocketAddr::new(end.address, end.port));
            filter.is_none_or(|filter| filter.fits(ends))
        };
        let chosen = snapshot.flows.iter().filter(fits);
        let config = self.config();
        let mut list: Vec<_> = chosen.map(|flow| report::flow(flow, &snapshot, &config)).collect();
        sort.sort(&mut list, reverse);
        let matching = list.len();
        list.truncate(limit.unwrap_or(usize::MAX));
        Ok(Reply::Flows(Flows { matching, known: snapshot.flows.len(), list }))
    }

    fn flow(&self, name: &str) -> Result<Reply, Refusal> {
        let snapshot = self.data.snapshot()?;
        let keys = snapshot.flows.iter().map(|flow| &flow.stats.key);
        let key = find_flow(name, &keys).map_err(mendable)?;
        let detail = self.data.flow(key)?;
        let detail =
            detail.ok_or_else(|| mendable(format!("the flow that {name:?} means has just ended")))?;
        let told = report::detail(&detail, &snapshot, &self.config());
        let forecasts = foretelling::report(&self.in_force().foresight, snapshot.at);
        Ok(Reply::Flow(Box::new(Detail { forecasts, ..told })))
    }

    /// Reads the file again and puts it in force; flows are kept. Modes set at run time are the file's again. The event
    /// log is opened anew, for rotation. `by` is the client's user; `None` for a signal.
    ///
    /// # Errors
    /// What is wrong with the file, or why the data thread keeps the earlier configuration.
    pub fn reload(&self, by: Option<By>) -> Result<Reloaded, Refusal> {
        let file = self.file.display().to_string();
        let read = Config::load_for_gateway(&self.file).map_err(|failure| match failure {
            Failure::User(message) => mendable(message),
            Failure::Operational(message) => Refusal { mendable: false, message },
        });
        self.events.reopen();
        let reloaded = read.and_then(|config| {
            let mut current = self.in_force();
            let fixed = needs_restart(&current.config, &config);
            // The queue is bound: rules for another would lead nowhere.
            let Config { datapath, fallen_back, nfqueue, .. } = *current.config;
            let said =
                current.switch(&self.data, Config { datapath, fallen_back, nfqueue, ..config }, true)?;
            Ok(if fixed.is_empty() {
                said
            } else {
                format!("{said}; takes effect at the next start: {}", fixed.join(", "))
            })
        });
        match &reloaded {
            Ok(_) => self.events.emit(Event::Reloaded { file, by }),
            Err(refusal) => self.events.emit(Event::ReloadRefused { message: refusal.message.clone(), by }),
        }
        reloaded
    }

    /// Changes the mode of the mesh hosts of `subnet`, or of all that no subnet says otherwise about, until the next reload, as
    /// `by` asked. If a figure that the daemon believes cannot be true, pacing is refused, unless the caller asks for it
    /// [anyway](How::anyway).
    ///
    /// # Errors
    /// If there is no such mode, if something contradicts it, or the data thread keeps the earlier one.
    pub fn set_mode(&self, mode: &str, subnet: Option<IpNet>, how: How, by: By) -> Result<String, Refusal> {
        let known = [Mode::Off, Mode::Observe, Mode::Pace].into_iter().find(|known| known.name() == mode);
        let mode = known.ok_or_else(|| {
            mendable(format!("{mode:?} is no mode; allowed: \"off\", \"observe\", \"pace\""))
        })?;
        if mode == Mode::Pace && !how.anyway {
            self.doubts().iter().find(|doubt| doubt.name.contradicts()).map_or(Ok(()), refuse)?;
        }
        let mut current = self.in_force();
        let config = with_mode(&current.config, mode, subnet);
        current.switch(&self.data, config, !how.unguarded)?;
        let said = said_of_mode(&current.config, mode, subnet);
        let said = current.said_of_guard().into_iter().fold(said, |said, guard| format!("{said}; {guard}"));
        let subnet = subnet.map(|subnet| subnet.to_string());
        self.events.emit(Event::ModeChanged { mode: mode.name(), subnet, by });
        Ok(said)
    }

    /// Ends the daemon: what is held is released, in order. `by` is the client's user; `None` for a signal.
    ///
    /// # Errors
    /// If the data thread has ended already.
    pub fn stop(&self, reason: &'static str, by: Option<By>) -> Result<String, Refusal> {
        self.data.tell(state::Request::Stop)?;
        self.events.emit(Event::Stopped { reason, by });
        Ok("stopping: what is held leaves now".into())
    }

    /// A second has passed, with what the data thread knows now: forecasts are held against it, and the guard of a mode that was switched
    /// on looks at it.
    pub fn attend(&self, snapshot: &Snapshot) {
        let (compared, outcomes, told) = {
            let mut in_force = self.in_force();
            let compared = in_force.foresight.look(snapshot);
            let outcomes = in_force.foresight.outcomes().collect();
            (compared, outcomes, in_force.attend(&self.data, snapshot))
        };
        if let Some(Err(why)) =
            self.kept.as_ref().filter(|_| !compared.is_empty()).map(|kept| kept.write(outcomes))
        {
            eprintln!("meshpaced: what came of forecasts: {why}");
        }
        compared.iter().map(event_of).chain(told).for_each(|event| self.events.emit(event));
    }
}

impl From<Unanswered> for Refusal {
    fn from(unanswered: Unanswered) -> Self {
        Self { mendable: false, message: unanswered.to_string() }
    }
}

fn event_of(Compared { key, outcome, .. }: &Compared) -> Event {
    Event::ForecastCompared {
        flow: flow_name(key),
        foretold_bps: outcome.foretold_bps,
        measured_bps: outcome.measured_bps,
        error: outcome.error(),
    }
}

fn mendable(message: String) -> Refusal {
    Refusal { mendable: true, message }
}

/// Pacing would go by what cannot be.
fn refuse(doubt: &Doubt) -> Result<(), Refusal> {
    let Doubt { name, found, remedy, .. } = doubt;
    let name = name.word();
    Err(mendable(format!(
        "mode pace: refused, since something that the daemon believes cannot be true ({name}): {found}; {remedy}; --anyway paces all the same"
    )))
}

/// What a running daemon cannot change.
fn needs_restart(before: &Config, after: &Config) -> Vec<&'static str> {
    let asked = if before.fallen_back { Datapath::Ebpf } else { before.datapath };
    let changes = [
        ("datapath", asked != after.datapath),
        ("[nfqueue]", before.nfqueue != after.nfqueue),
        ("[control]", before.control != after.control),
        ("[metrics]", before.metrics != after.metrics),
        ("[events]", before.events != after.events),
    ];
    changes.into_iter().filter(|&(_, changed)| changed).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_restart_is_named() {
        let before = Config::parse("test", b"[mesh]\ninterfaces = [\"mesh0\"]").unwrap();
        let mut after = before.clone();
        assert!(needs_restart(&before, &after).is_empty());
        after.metrics.listen = None;
        after.nfqueue.queue += 1;
        assert_eq!(needs_restart(&before, &after), ["[nfqueue]", "[metrics]"]);
        let file = Config { datapath: Datapath::Ebpf, ..before.clone() };
        assert_eq!(needs_restart(&before, &file), ["datapath"]);
        let fallen_back = Config { fallen_back: true, ..before };
        assert!(needs_restart(&fallen_back, &file).is_empty(), "the file says what it said at the start");
    }
}
