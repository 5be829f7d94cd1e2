//! Between queue and engine: names of packets, verdicts, what is held, and what happens if the engine fails.

use super::held_limit::HeldLimit;
use super::interfaces::Interfaces;
use super::shaped::ShapedEngine;
use super::wakeups::Wakeups;
use super::{Arrival, Decision, Engine, Output};
use crate::config::Config;
use crate::data_thread::Request;
use crate::hops::Directory;
use crate::state::{DriverCounters, HostsReport, Lateness, no_lateness};
use meshpace_linux::{PacketId, Queued, Verdicts};
use meshpace_units::{Instant, Span};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

/// Where verdicts go.
pub trait Outlet {
    /// The packet goes on as it is.
    fn accept(&mut self, id: PacketId);
    /// `packet` goes on in its place.
    fn accept_with(&mut self, id: PacketId, packet: &[u8]);
    /// The packet is dropped.
    fn drop(&mut self, id: PacketId);
}

impl Outlet for Verdicts {
    fn accept(&mut self, id: PacketId) {
        Verdicts::accept(self, id);
    }

    fn accept_with(&mut self, id: PacketId, packet: &[u8]) {
        Verdicts::accept_with(self, id, packet);
    }

    fn drop(&mut self, id: PacketId) {
        Verdicts::drop(self, id);
    }
}

/// See the module's description.
#[derive(Debug)]
pub struct Dispatcher {
    engine: ShapedEngine,
    interfaces: Interfaces,
    limit: HeldLimit,
    /// The latest packet's number, without the wrap of the kernel's.
    latest: u64,
    received: u64,
    /// Packets that wait in the kernel, in the order in which they came.
    held: BTreeSet<u64>,
    /// Due times of the departures whose verdicts are not sent yet.
    departing: Vec<Instant>,
    wakeups: Wakeups,
    /// Packets to send again.
    repairs: Vec<Rc<[u8]>>,
    /// Everything passes: the end is near.
    passes: bool,
    verdict_batches: u64,
    missed: u64,
    failed: u64,
    lateness: Lateness,
}

impl Dispatcher {
    pub fn new(config: Arc<Config>, hops: Directory) -> Self {
        let limit = HeldLimit::new(config.nfqueue.length);
        Self {
            interfaces: Interfaces::new(&config.mesh.interfaces),
            engine: ShapedEngine::new(config, limit.get(), hops),
            limit,
            latest: 0,
            received: 0,
            held: BTreeSet::new(),
            departing: Vec::new(),
            wakeups: Wakeups::default(),
            repairs: Vec::new(),
            passes: false,
            verdict_batches: 0,
            missed: 0,
            failed: 0,
            lateness: no_lateness(),
        }
    }

    pub const fn engine(&self) -> &Engine {
        self.engine.engine()
    }

    /// Packets that have come.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Packets that wait for their host's turn.
    pub fn shaping(&self) -> usize {
        self.engine.shaping()
    }

    /// The hosts that have got most lately; `None` where they are not shaped.
    pub fn hosts(&self, now: Instant) -> Option<HostsReport> {
        self.engine.hosts(now)
    }

    /// Puts the verdict on a packet, unless it is to wait.
    pub fn decide(&mut self, now: Instant, packet: Queued<'_>, verdicts: &mut impl Outlet) {
        let Queued { id, indev, outdev, unfinished, payload, .. } = packet;
        self.latest += u64::from(id.0.wrapping_sub(self.latest as u32));
        self.received += 1;
        if self.passes {
            return verdicts.accept(id);
        }
        let name = self.latest;
        let decided = self.guarded(verdicts, |this, verdicts| {
            let arrival = Arrival {
                id: name,
                from_mesh: this.interfaces.is_mesh(now, indev),
                to_mesh: this.interfaces.is_mesh(now, outdev),
                unfinished,
                bytes: payload,
            };
            match this.engine.handle(now, arrival) {
                Decision::Accept => verdicts.accept(id),
                Decision::Rewrite(bytes) => verdicts.accept_with(id, bytes),
                Decision::Drop => verdicts.drop(id),
                Decision::Hold => drop(this.held.insert(name)),
            }
            this.drain(now, verdicts);
        });
        if !decided {
            // If it got its verdict before the failure, the kernel refuses this one.
            verdicts.accept(id);
        }
    }

    /// Does what is due.
    pub fn on_time(&mut self, now: Instant, verdicts: &mut impl Outlet) {
        if self.engine.poll_timeout().is_some_and(|due| due <= now) {
            self.guarded(verdicts, |this, verdicts| {
                this.engine.handle_timeout(now);
                this.drain(now, verdicts);
            });
        }
    }

    /// When [`Dispatcher::on_time`] is to be called next: on time, or, where that would be too often, with more that is due soon.
    pub fn wake_at(&self) -> Option<Instant> {
        let due = self.engine.poll_timeout()?;
        Some(self.wakeups.at(due, self.apart(), || self.engine.poll_latest()))
    }

    /// The timer has woken the driver.
    pub fn woke(&mut self, now: Instant) {
        self.wakeups.woke(now, self.apart());
    }

    /// Between two wake-ups where there are many: half of what is made up for, as timers are late, too.
    fn apart(&self) -> Span {
        let config = self.engine().config();
        let shaper = config.shaper().map(|shaper| shaper.burst);
        shaper.into_iter().chain([config.gateway.burst_time]).min().unwrap_or(Span::ZERO) / 2
    }

    /// Puts another configuration in force; what is no longer to be held goes.
    pub fn reload(&mut self, now: Instant, config: Arc<Config>, verdicts: &mut impl Outlet) {
        self.interfaces = Interfaces::new(&config.mesh.interfaces);
        self.guarded(verdicts, |this, verdicts| {
            this.engine.reload(now, config);
            this.drain(now, verdicts);
        });
    }

    /// Lets go what is held, in order, and everything that comes from now on.
    pub fn let_pass(&mut self, now: Instant, verdicts: &mut impl Outlet) {
        self.passes = true;
        self.guarded(verdicts, |this, verdicts| {
            this.engine.let_go(now);
            this.drain(now, verdicts);
        });
    }

    /// `count` verdicts were carried out between the two times.
    pub fn sent(&mut self, before: Instant, after: Instant, count: usize) {
        self.verdict_batches += 1;
        for due in self.departing.drain(..) {
            self.lateness.record(after.saturating_since(due));
        }
        if self.limit.on_verdicts(self.held.len(), count, after.saturating_since(before)) {
            let limit = self.limit.get();
            eprintln!("meshpaced: verdicts take long on this kernel: {limit} packets are held at most");
            self.engine.set_held_max(after, limit);
        }
    }

    /// Packets that the kernel could not deliver.
    pub fn missed(&mut self, packets: u32) {
        self.missed += u64::from(packets);
    }

    /// Packets to be sent again.
    pub fn repairs(&mut self) -> impl Iterator<Item = Rc<[u8]>> {
        self.repairs.drain(..)
    }

    /// Hosts to be asked for an echo.
    pub fn requests(&mut self) -> impl Iterator<Item = Request> {
        self.engine.requests()
    }

    /// A host has answered such a request.
    pub fn on_echo(&mut self, now: Instant, from: IpAddr, number: u32, verdicts: &mut impl Outlet) {
        self.guarded(verdicts, |this, _| this.engine.on_echo(now, from, number));
    }

    /// What was counted since the beginning; the queue's own counters are not among them.
    pub fn counters(&self) -> DriverCounters {
        let counted = self.engine().counted();
        DriverCounters {
            packets: counted.packets,
            bytes: counted.bytes,
            unread: counted.unread,
            verdict_batches: self.verdict_batches,
            kernel_dropped: 0,
            socket_dropped: self.missed,
            failed: self.failed,
            overflowed: self.engine().totals().0.crowded,
            lateness: self.lateness,
        }
    }

    fn drain(&mut self, now: Instant, verdicts: &mut impl Outlet) {
        while let Some(output) = self.engine.poll(now) {
            match output {
                Output::Release { id, bytes, due } => {
                    self.held.remove(&id);
                    self.departing.push(due);
                    match bytes {
                        None => verdicts.accept(kernel_id(id)),
                        Some(bytes) => verdicts.accept_with(kernel_id(id), &bytes),
                    }
                }
                Output::Drop { id } => {
                    self.held.remove(&id);
                    verdicts.drop(kernel_id(id));
                }
                Output::Send(bytes) => self.repairs.push(bytes),
            }
        }
    }

    /// Runs `work`; if that panics, everything held goes on and the engine begins anew. True if it did not.
    fn guarded<O: Outlet>(&mut self, verdicts: &mut O, work: impl FnOnce(&mut Self, &mut O)) -> bool {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(self, verdicts)));
        if outcome.is_err() {
            self.failed += 1;
            self.engine.begin_anew();
            while let Some(id) = self.held.pop_first() {
                verdicts.accept(kernel_id(id));
            }
        }
        outcome.is_ok()
    }
}

/// The kernel's number of a packet, from the one without wrap.
fn kernel_id(id: u64) -> PacketId {
    PacketId(id as u32)
}

#[cfg(test)]
mod tests;
