//! What clients' requests lead to.

use super::data::{DataThread, Unanswered};
use super::flow_name::find_flow;
use super::protocol::{Answer, Flows, Refusal, Request};
use super::report;
use super::sort::{Filter, SortKey};
use crate::Failure;
use crate::config::{Config, Mode, Subnet};
use crate::events::{By, Event, Sink};
use crate::state;
use ipnet::IpNet;
use meshpace_linux::{Peer, effective_user};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The daemon, as its clients see it: the data thread, and the configuration in force.
#[derive(Debug)]
pub struct Daemon {
    data: DataThread,
    events: Sink,
    /// The configuration's file.
    file: PathBuf,
    /// In force; held while it is being changed, so that changes come one after the other.
    config: Mutex<Arc<Config>>,
    /// The user that the daemon runs as, who besides root may change something.
    owner: u32,
}

/// What a successful reload tells.
pub type Reloaded = String;

impl Daemon {
    /// A daemon that runs with `config`, read from `file`.
    #[must_use]
    pub fn new(data: DataThread, events: Sink, file: PathBuf, config: Config) -> Self {
        Self { data, events, file, config: Mutex::new(Arc::new(config)), owner: effective_user() }
    }

    /// The data thread.
    #[must_use]
    pub const fn data(&self) -> &DataThread {
        &self.data
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// True for root and the daemon's own user; others that the socket's permissions let in may look.
    #[must_use]
    pub const fn may_change(&self, peer: Peer) -> bool {
        peer.uid == 0 || peer.uid == self.owner
    }

    /// Carries out a request of `peer`.
    #[must_use]
    pub fn answer(&self, request: Request, peer: Peer) -> Answer {
        let by = By::from(peer);
        if let Some(command) = request.changes().filter(|_| !self.may_change(peer)) {
            self.events.emit(Event::ChangeDenied { command, by });
            let (owner, uid) = (self.owner, peer.uid);
            let message = format!(
                "{command}: only root and the daemon's user (uid {owner}) may change something; uid {uid} may look"
            );
            return Answer::Error(Refusal { mendable: false, message });
        }
        let answer = match request {
            Request::Status {} => self.status(),
            Request::Flows { filter, sort, reverse, limit } => {
                self.flows(filter.as_deref(), sort, reverse, limit)
            }
            Request::Flow { flow } => self.flow(&flow),
            Request::Reload {} => self.reload(Some(by)).map(Answer::Done),
            Request::Mode { mode, subnet } => self.set_mode(&mode, subnet, by).map(Answer::Done),
            Request::Stop {} => self.stop("control socket", Some(by)).map(Answer::Done),
        };
        answer.unwrap_or_else(Answer::Error)
    }

    fn status(&self) -> Result<Answer, Refusal> {
        let snapshot = self.data.snapshot()?;
        Ok(Answer::Status(Box::new(report::status(&snapshot, &self.config()))))
    }

    fn flows(
        &self,
        filter: Option<&str>,
        sort: SortKey,
        reverse: bool,
        limit: Option<usize>,
    ) -> Result<Answer, Refusal> {
        let filter = filter.map(Filter::parse).transpose().map_err(mendable)?;
        let snapshot = self.data.snapshot()?;
        let fits = |flow: &&state::FlowReport| {
            let key = &flow.stats.key;
            let ends = [key.wireless, key.wired].map(|end| SocketAddr::new(end.address, end.port));
            filter.is_none_or(|filter| filter.fits(ends))
        };
        let chosen = snapshot.flows.iter().filter(fits);
        let mut list: Vec<_> = chosen.map(|flow| report::flow(flow, snapshot.at)).collect();
        sort.sort(&mut list, reverse);
        let matching = list.len();
        list.truncate(limit.unwrap_or(usize::MAX));
        Ok(Answer::Flows(Flows { matching, known: snapshot.flows.len(), list }))
    }

    fn flow(&self, name: &str) -> Result<Answer, Refusal> {
        let snapshot = self.data.snapshot()?;
        let keys = snapshot.flows.iter().map(|flow| &flow.stats.key);
        let key = find_flow(name, &keys).map_err(mendable)?;
        let detail = self.data.flow(key)?;
        let detail =
            detail.ok_or_else(|| mendable(format!("the flow that {name:?} means has just ended")))?;
        Ok(Answer::Flow(Box::new(report::detail(&detail, &self.config(), snapshot.at))))
    }

    /// Reads the file again and puts it in force; flows are kept. Modes set at run time are the file's again. The event
    /// log is opened anew, for rotation. `by` is who asked; `None` for a signal.
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
            let mut current = self.config.lock().unwrap_or_else(PoisonError::into_inner);
            let fixed = needs_restart(&current, &config);
            let said = self.put_in_force(&mut current, config)?;
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

    /// Changes the mode of the mesh hosts of `subnet`, or of all that no subnet says otherwise about, until the next
    /// reload, as `by` asked.
    ///
    /// # Errors
    /// If there is no such mode, or the data thread keeps the earlier one.
    pub fn set_mode(&self, mode: &str, subnet: Option<IpNet>, by: By) -> Result<String, Refusal> {
        let known = [Mode::Off, Mode::Observe, Mode::Pace].into_iter().find(|known| known.name() == mode);
        let mode = known.ok_or_else(|| {
            mendable(format!("{mode:?} is no mode; allowed: \"off\", \"observe\", \"pace\""))
        })?;
        let mut current = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        let config = with_mode(&current, mode, subnet);
        self.put_in_force(&mut current, config)?;
        let said = said_of_mode(&current, mode, subnet);
        let subnet = subnet.map(|subnet| subnet.to_string());
        self.events.emit(Event::ModeChanged { mode: mode.name(), subnet, by });
        Ok(said)
    }

    /// Ends the daemon: what is held is released, in order. `by` is who asked; `None` for a signal.
    ///
    /// # Errors
    /// If the data thread has ended already.
    pub fn stop(&self, reason: &'static str, by: Option<By>) -> Result<String, Refusal> {
        self.data.tell(state::Request::Stop)?;
        self.events.emit(Event::Stopped { reason, by });
        Ok("stopping: what is held leaves now".into())
    }

    fn put_in_force(&self, current: &mut Arc<Config>, config: Config) -> Result<String, Refusal> {
        let sent = Box::new(config.clone());
        let said = self.data.ask(|answer| state::Request::Reload(sent, answer))?;
        let said = said.map_err(|message| Refusal { mendable: false, message })?;
        *current = Arc::new(config);
        Ok(said)
    }
}

impl From<Unanswered> for Refusal {
    fn from(unanswered: Unanswered) -> Self {
        Self { mendable: false, message: unanswered.to_string() }
    }
}

fn mendable(message: String) -> Refusal {
    Refusal { mendable: true, message }
}

/// The configuration with another mode for a subnet or for the whole.
fn with_mode(config: &Config, mode: Mode, subnet: Option<IpNet>) -> Config {
    let mut config = config.clone();
    let Some(prefix) = subnet.map(|subnet| subnet.trunc()) else {
        config.mode = mode;
        return config;
    };
    if let Some(known) = config.subnets.iter_mut().find(|known| known.prefix == prefix) {
        known.mode = Some(mode);
        return config;
    }
    // Longest prefix first, as `Config::policy` expects.
    let at = config.subnets.partition_point(|known| known.prefix.prefix_len() >= prefix.prefix_len());
    config.subnets.insert(at, Subnet { mode: Some(mode), ..Subnet::of(prefix) });
    config
}

/// What is told of a mode that is in force now; of one for all, which subnets keep another one.
fn said_of_mode(config: &Config, mode: Mode, subnet: Option<IpNet>) -> String {
    let changed = |whose: &str| format!("{whose}: {}, until the next reload", mode.name());
    if let Some(subnet) = subnet {
        return changed(&subnet.to_string());
    }
    let keeps = config.subnets.iter().filter_map(|subnet| Some((subnet.prefix, subnet.mode?)));
    let kept: Vec<_> = keeps
        .filter(|(_, own)| *own != mode)
        .map(|(prefix, own)| format!("{prefix} keeps {}", own.name()))
        .collect();
    match kept.is_empty() {
        true => changed("all"),
        false => format!("{}; {}", changed("all but these"), kept.join(", ")),
    }
}

/// What a running daemon cannot change.
fn needs_restart(before: &Config, after: &Config) -> Vec<&'static str> {
    let changes = [
        ("datapath", before.datapath != after.datapath),
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

    fn config() -> Config {
        let text = "mode = \"observe\"\n[mesh]\ninterfaces = [\"mesh0\"]\n\
                    [[subnet]]\nprefix = \"10.1.0.0/16\"\nmode = \"off\"\npaced_share = 0.5";
        Config::parse("test", text.as_bytes()).unwrap()
    }

    #[test]
    fn a_mode_is_set_for_all_for_a_known_subnet_or_for_a_new_one() {
        let mode = |config: &Config, host: &str| config.policy(host.parse().unwrap()).mode;
        let all = with_mode(&config(), Mode::Pace, None);
        assert_eq!((mode(&all, "10.2.0.1"), mode(&all, "10.1.0.1")), (Mode::Pace, Mode::Off));
        let known = with_mode(&config(), Mode::Pace, Some("10.1.0.0/16".parse().unwrap()));
        assert_eq!(known.subnets.len(), 1);
        assert_eq!((mode(&known, "10.2.0.1"), mode(&known, "10.1.0.1")), (Mode::Observe, Mode::Pace));
        assert_eq!(known.policy("10.1.0.1".parse().unwrap()).paced_share, 0.5, "the rest stays");
        let new = with_mode(&config(), Mode::Pace, Some("10.1.2.7/24".parse().unwrap()));
        assert_eq!((mode(&new, "10.1.2.1"), mode(&new, "10.1.3.1")), (Mode::Pace, Mode::Off));
        assert_eq!(new.policy("10.1.2.1".parse().unwrap()).paced_share, 0.5, "as the wider subnet says");
        let wider = with_mode(&config(), Mode::Pace, Some("10.0.0.0/8".parse().unwrap()));
        assert_eq!((mode(&wider, "10.9.0.1"), mode(&wider, "10.1.0.1")), (Mode::Pace, Mode::Off));
    }

    #[test]
    fn a_mode_for_all_names_the_subnets_that_keep_another() {
        let said = |mode, subnet| said_of_mode(&config(), mode, subnet);
        assert_eq!(
            said(Mode::Pace, None),
            "all but these: pace, until the next reload; 10.1.0.0/16 keeps off",
            "nothing of it is paced"
        );
        assert_eq!(said(Mode::Off, None), "all: off, until the next reload");
        let subnet = "10.2.0.0/16".parse().ok();
        assert_eq!(said(Mode::Pace, subnet), "10.2.0.0/16: pace, until the next reload");
    }

    #[test]
    fn what_needs_a_restart_is_named() {
        let mut after = config();
        assert!(needs_restart(&config(), &after).is_empty());
        after.metrics.listen = None;
        after.nfqueue.queue += 1;
        assert_eq!(needs_restart(&config(), &after), ["[nfqueue]", "[metrics]"]);
    }
}
