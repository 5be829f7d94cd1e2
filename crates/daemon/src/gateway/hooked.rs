//! The engine with a hook between it and the Internet (`meshpace-hook`), sans I/O: what comes from the Internet meets the hook first,
//! what goes there meets it last. Its driver calls it as the [`Engine`] itself.
//!
//! A hook sees the whole TCP packets of flows that are paced; all else goes by it, as does everything where there is no hook.

use super::engine::side;
use super::{Arrival, Decision, Engine, Output};
use crate::config::Config;
use crate::hops::Directory;
use crate::treatment::is_chosen;
use meshpace_gateway::{FlowKey, Side, TcpView};
use meshpace_hook::{Direction, Hooked, Leaving, Met, Passing, Rewrite};
use meshpace_units::{Bytes, Ecn, Instant, Seq};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

/// At the hook waits at most this part of what the driver can hold.
const HOOK_PART: usize = 4;

/// A packet that waits at the hook.
#[derive(Debug)]
struct Waiting {
    id: u64,
    side: Side,
    from_mesh: bool,
    to_mesh: bool,
    bytes: Vec<u8>,
    /// Its bytes are others than the kernel's.
    changed: bool,
}

/// See the module's description.
#[derive(Debug)]
pub struct HookedEngine {
    engine: Engine,
    held_max: usize,
    hook: Option<Hooked<Waiting>>,
    /// What left a hook that is no longer in force.
    left: VecDeque<Leaving<Waiting>>,
    /// What the hook has rewritten and the engine holds: the kernel has it as it came.
    changed: BTreeMap<u64, Rc<[u8]>>,
    rewritten: Vec<u8>,
}

impl HookedEngine {
    pub fn new(config: Arc<Config>, held_max: usize, hops: Directory) -> Self {
        Self {
            hook: hook(&config, held_max),
            engine: Engine::new(config, held_max, hops),
            held_max,
            left: VecDeque::new(),
            changed: BTreeMap::new(),
            rewritten: Vec::new(),
        }
    }

    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// As [`Engine::leaves`].
    pub fn leaves(&mut self, now: Instant, key: &FlowKey, start: Seq, end: Seq) {
        self.engine.leaves(now, key, start, end);
    }

    /// Decides on a packet.
    pub fn handle<'a>(&'a mut self, now: Instant, arrival: Arrival<'a>) -> Decision<'a> {
        if self.hook.is_none() {
            return self.engine.handle(now, arrival);
        }
        let Some(side) = self.meets(&arrival) else { return self.engine.handle(now, arrival) };
        let Arrival { id, from_mesh, to_mesh, bytes, .. } = arrival;
        let packet = Waiting { id, side, from_mesh, to_mesh, bytes: bytes.to_vec(), changed: false };
        let decided = match side {
            Side::Wired => self.meet_hook(now, packet).and_then(|packet| self.meet_engine(now, packet)),
            Side::Wireless => self.meet_engine(now, packet).and_then(|packet| self.meet_hook(now, packet)),
        };
        match decided {
            Ok(Waiting { changed: false, .. }) => Decision::Accept,
            Ok(packet) => {
                self.rewritten = packet.bytes;
                Decision::Rewrite(&self.rewritten)
            }
            Err(Stays::Held) => Decision::Hold,
            Err(Stays::Dropped) => Decision::Drop,
        }
    }

    /// What leaves at `now`; call until `None`.
    pub fn poll(&mut self, now: Instant) -> Option<Output> {
        while let Some(leaving) = self.left.pop_front().or_else(|| self.hook.as_mut()?.poll()) {
            let (packet, changes) = match leaving {
                Leaving::Passes(packet, changes) => (packet, changes),
                Leaving::Dropped(packet) => return Some(Output::Drop { id: packet.id }),
            };
            let (id, packet) = (packet.id, changed(packet, changes));
            let goes = match packet.side {
                Side::Wired => self.meet_engine(now, packet),
                Side::Wireless => Ok(packet),
            };
            match goes {
                Ok(Waiting { bytes, changed, .. }) => {
                    return Some(Output::Release { id, bytes: changed.then(|| bytes.into()), due: now });
                }
                Err(Stays::Dropped) => return Some(Output::Drop { id }),
                Err(Stays::Held) => {}
            }
        }
        Some(match self.engine.poll(now)? {
            Output::Release { id, bytes, due } => {
                let rewritten = self.changed.remove(&id);
                Output::Release { id, bytes: bytes.or(rewritten), due }
            }
            Output::Drop { id } => {
                self.changed.remove(&id);
                Output::Drop { id }
            }
            again @ Output::Send(_) => again,
        })
    }

    /// When [`Self::handle_timeout`] or [`Self::poll`] has something to do next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let hook = self.hook.as_ref().and_then(Hooked::poll_timeout);
        hook.into_iter().chain(self.engine.poll_timeout()).min()
    }

    /// Until when the driver may put that off, so that more leaves at once.
    pub fn poll_latest(&self) -> Option<Instant> {
        let hook = self.hook.as_ref().and_then(Hooked::poll_timeout);
        hook.into_iter().chain(self.engine.poll_latest()).min()
    }

    /// Does what is due at `now`, departures excepted.
    pub fn handle_timeout(&mut self, now: Instant) {
        if let Some(hook) = &mut self.hook {
            hook.handle_timeout(now);
        }
        self.engine.handle_timeout(now);
    }

    /// Puts another configuration in force. What waits at a hook that is in it no longer goes on.
    pub fn reload(&mut self, now: Instant, config: Arc<Config>) {
        if self.engine.config().hook != config.hook {
            self.leave_hook();
            self.hook = hook(&config, self.held_max);
        }
        self.engine.reload(now, config);
    }

    /// As [`Engine::set_held_max`].
    pub fn set_held_max(&mut self, now: Instant, held_max: usize) {
        self.held_max = held_max;
        self.engine.set_held_max(now, held_max);
    }

    /// Forgets all flows; all that is held comes out of [`Self::poll`] now.
    pub fn let_go(&mut self, now: Instant) {
        self.leave_hook();
        self.engine.let_go(now);
    }

    /// Forgets everything, and without a word what was held: the driver lets that go.
    pub fn begin_anew(&mut self) {
        self.hook = hook(self.engine.config(), self.held_max);
        self.left.clear();
        self.changed.clear();
        self.engine.begin_anew();
    }

    fn leave_hook(&mut self) {
        if let Some(hook) = &mut self.hook {
            hook.let_go();
            self.left.extend(std::iter::from_fn(|| hook.poll()));
        }
    }

    /// From which side a packet comes that the hook is to see.
    fn meets(&self, arrival: &Arrival<'_>) -> Option<Side> {
        let config = self.engine.config();
        let packet = meshpace_wire::parse(arrival.bytes).ok()?;
        let whole = packet.wire_len <= Bytes(arrival.bytes.len() as u64);
        let side = side(config, (arrival.from_mesh, packet.source), (arrival.to_mesh, packet.destination))?;
        let view = TcpView {
            source: packet.source,
            destination: packet.destination,
            segment: &packet.segment,
            header_length: packet.header_length,
            wire_len: packet.wire_len,
            ecn: Ecn::NotEct,
            whole,
        };
        let chosen = is_chosen(config, &FlowKey::new(side, &view));
        (whole && !arrival.unfinished && chosen && !packet.signed).then_some(side)
    }

    fn meet_hook(&mut self, now: Instant, packet: Waiting) -> Result<Waiting, Stays> {
        let Some(hook) = &mut self.hook else { return Ok(packet) };
        let Ok(read) = meshpace_wire::parse(&packet.bytes) else { return Ok(packet) };
        let passing = Passing {
            source: read.source,
            destination: read.destination,
            segment: Some(&read.segment),
            says_more: read.says_more,
            length: read.wire_len,
        };
        let direction = match packet.side {
            Side::Wired => Direction::Down,
            Side::Wireless => Direction::Up,
        };
        match hook.handle(now, direction, &passing, packet) {
            Met::Passes(packet, changes) => Ok(changed(packet, changes)),
            Met::Held => Err(Stays::Held),
            Met::Dropped(_) => Err(Stays::Dropped),
        }
    }

    fn meet_engine(&mut self, now: Instant, mut packet: Waiting) -> Result<Waiting, Stays> {
        let Waiting { id, from_mesh, to_mesh, .. } = packet;
        let bytes = &mut packet.bytes;
        let before = packet.changed.then(|| Rc::<[u8]>::from(&**bytes));
        let rewritten =
            match self.engine.handle(now, Arrival { id, from_mesh, to_mesh, unfinished: false, bytes }) {
                Decision::Accept => return Ok(packet),
                Decision::Rewrite(bytes) => bytes.to_vec(),
                Decision::Drop => return Err(Stays::Dropped),
                Decision::Hold => {
                    before.into_iter().for_each(|bytes| drop(self.changed.insert(id, bytes)));
                    return Err(Stays::Held);
                }
            };
        Ok(Waiting { bytes: rewritten, changed: true, ..packet })
    }
}

/// Why a packet does not go on now.
enum Stays {
    Held,
    Dropped,
}

fn hook(config: &Config, held_max: usize) -> Option<Hooked<Waiting>> {
    let hook = config.hook.as_ref()?.hook()?;
    Some(Hooked::new(hook, config.gateway.held_max.min(held_max) / HOOK_PART))
}

/// The packet with what the hook wants changed.
fn changed(mut packet: Waiting, changes: Rewrite) -> Waiting {
    let bytes = &mut packet.bytes;
    packet.changed |= changes.window.is_some_and(|window| meshpace_wire::set_window(bytes, window));
    packet.changed |= changes.mark && meshpace_wire::mark(bytes);
    packet
}

#[cfg(test)]
mod tests;
