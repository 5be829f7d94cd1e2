//! The edge by NFQUEUE, for kernels that take no program: short packets on their way into the mesh come to user space, where the
//! hook `ack-filter` itself decides.

use super::Thinner;
use super::status::Counters;
use crate::Failure;
use crate::config::Edge;
use crate::lease::Beacon;
use crate::rules::{self, Installed, Owner, Plan, Trouble};
use meshpace_hook::{Direction, HookMaker, Hooked, Leaving, Met, Passing};
use meshpace_linux::{NfQueue, Options, PacketId, Poller, Queued, Verdicts, monotonic_now};
use meshpace_units::{Bytes, Instant, Span};
use meshpace_wire::NotTcp;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Batches taken from the queue before anything else gets its turn.
const TURNS: usize = 8;
/// Time between two looks at the kernel's rules.
const VERIFY: Span = Span::from_secs(10);
/// What is copied of each packet: more than the rules let into the queue.
const COPIED: u16 = 256;

/// See the module's description.
#[derive(Debug)]
pub struct ByQueue {
    queue: NfQueue,
    filter: Filter,
    plan: Plan,
    beacon: Option<Beacon>,
    installed: Option<Installed>,
    verified: Instant,
    lock: std::path::PathBuf,
    /// It was said that the lease cannot be renewed.
    complained: bool,
}

/// The hook, and what of the kernel's packets waits there.
#[derive(Debug)]
struct Filter {
    maker: HookMaker,
    most: usize,
    hook: Hooked<PacketId>,
    held: BTreeSet<PacketId>,
    counters: Counters,
}

impl ByQueue {
    /// A bound queue. The rules that lead packets there come with the first sign of life.
    ///
    /// # Errors
    /// [`Failure::Operational`] where the kernel or the rights of this process do not allow it.
    pub fn open(edge: &Edge, interfaces: &[String]) -> Result<Self, Failure> {
        let options = Options { copy_range: Some(COPIED), fail_open: true, ..Options::default() };
        let queue =
            NfQueue::open(edge.queue, &options).map_err(|why| Failure::Operational(why.to_string()))?;
        let opened = Beacon::open().and_then(|beacon| beacon.ports().map(|ports| (beacon, ports)));
        let (beacon, ports) = match opened {
            Ok((beacon, ports)) => (Some(beacon), Some(ports)),
            Err(why) => {
                eprintln!("meshpaced: no lease of the queue: no sockets on the loopback interface: {why}");
                (None, None)
            }
        };
        let mut opened = Self {
            queue,
            filter: Filter::new(edge),
            plan: Plan::of_edge(edge, interfaces).leased(ports),
            beacon,
            installed: None,
            verified: Instant::ZERO,
            lock: rules::lock_beside(&edge.socket),
            complained: false,
        };
        opened.install().map_err(Failure::from)?;
        Ok(opened)
    }

    fn install(&mut self) -> Result<(), Trouble> {
        let installed = rules::install(&self.plan, self.installed.as_ref())?;
        eprintln!("meshpaced: {installed}");
        (self.installed, self.verified) = (Some(installed), monotonic_now());
        Ok(())
    }

    /// Looks from time to time whether the rules are still there, and puts them back. Packets pass meanwhile.
    fn verify(&mut self, now: Instant) {
        if now.saturating_since(self.verified) < VERIFY {
            return;
        }
        self.verified = now;
        let found = self.installed.as_ref().map(|installed| rules::verify(&self.plan, installed));
        if let Some(Err(Trouble::Lasting(missing))) = &found {
            eprintln!("meshpaced: the rules are not as they were made ({missing}): making them again");
        }
        if !matches!(found, Some(Ok(()) | Err(Trouble::Passing(_))))
            && let Err(why) = self.install()
        {
            self.installed = None;
            eprintln!("meshpaced: rules: will be tried again in {} s: {}", VERIFY.as_secs_f64(), why.why());
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.queue.flush().map_err(|why| Failure::operational("packet queue", why))
    }
}

impl Thinner for ByQueue {
    fn watch(&self, poller: &Poller, token: u64) -> Result<(), Failure> {
        poller.add(&self.queue, token).map_err(|why| Failure::operational("packet queue", why))
    }

    fn work(&mut self) -> Result<(), Failure> {
        for _ in 0..TURNS {
            let Self { queue, filter, .. } = self;
            let received = queue
                .receive(|packet, verdicts| filter.decide(monotonic_now(), &packet, verdicts))
                .map_err(|why| Failure::operational("packet queue", why))?;
            self.filter.counters.lost_events += u64::from(received.missed);
            self.flush()?;
            if !received.more {
                break;
            }
        }
        Ok(())
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.filter.hook.poll_timeout()
    }

    fn on_time(&mut self, now: Instant) -> Result<(), Failure> {
        self.filter.on_time(now, self.queue.verdicts());
        self.flush()
    }

    fn sign(&mut self, now: Instant) -> Result<(), Failure> {
        if let Some(Err(why)) = self.beacon.as_ref().map(Beacon::give)
            && !std::mem::replace(&mut self.complained, true)
        {
            eprintln!("meshpaced: the lease of the queue cannot be renewed, packets pass unqueued: {why}");
        }
        self.verify(now);
        Ok(())
    }

    fn counters(&self) -> Result<Counters, Failure> {
        Ok(Counters { waiting: self.filter.held.len() as u64, ..self.filter.counters })
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // First no rule leads to the queue any more, then what is in it goes.
        rules::remove(Owner::Edge, &self.lock)?;
        self.work()?;
        self.filter.let_go(self.queue.verdicts());
        self.flush()
    }
}

impl Filter {
    fn new(edge: &Edge) -> Self {
        let (maker, most) = (edge.hook(), edge.held as usize);
        Self { hook: hooked(&maker, most), maker, most, held: BTreeSet::new(), counters: Counters::default() }
    }

    fn decide(&mut self, now: Instant, packet: &Queued<'_>, verdicts: &mut Verdicts) {
        self.counters.packets += 1;
        let read = match meshpace_wire::parse(packet.payload) {
            Ok(read) => read,
            Err(why) => {
                *self.unread(why) += 1;
                return verdicts.accept(packet.id);
            }
        };
        let pure = read.segment.is_pure_ack() && !read.segment.flags.syn && !read.segment.flags.fin;
        self.counters.acknowledgements += u64::from(pure);
        let passing = Passing {
            source: read.source,
            destination: read.destination,
            segment: Some(&read.segment),
            says_more: read.says_more,
            length: Bytes(packet.length.into()),
        };
        let id = packet.id;
        let decided = self.guarded(verdicts, |this, verdicts| {
            match this.hook.handle(now, Direction::Along, &passing, id) {
                Met::Passes(id, _) => verdicts.accept(id),
                Met::Dropped(id) => verdicts.drop(id),
                Met::Held => drop(this.held.insert(id)),
            }
            this.drain(Some(id), verdicts);
            // It may have gone on already, behind what it does not stand for.
            this.counters.withheld += u64::from(this.held.contains(&id));
        });
        if !decided {
            verdicts.accept(id);
        }
    }

    fn on_time(&mut self, now: Instant, verdicts: &mut Verdicts) {
        if self.hook.poll_timeout().is_some_and(|due| due <= now) {
            self.guarded(verdicts, |this, verdicts| {
                this.hook.handle_timeout(now);
                this.drain(None, verdicts);
            });
        }
    }

    fn let_go(&mut self, verdicts: &mut Verdicts) {
        self.guarded(verdicts, |this, verdicts| {
            this.hook.let_go();
            this.drain(None, verdicts);
        });
    }

    /// What leaves the hook; `now` is the packet that has just come.
    fn drain(&mut self, now: Option<PacketId>, verdicts: &mut Verdicts) {
        while let Some(leaving) = self.hook.poll() {
            match leaving {
                Leaving::Passes(id, _) => {
                    self.held.remove(&id);
                    self.counters.sent_later += u64::from(now != Some(id));
                    verdicts.accept(id);
                }
                Leaving::Dropped(id) => {
                    self.held.remove(&id);
                    verdicts.drop(id);
                }
            }
        }
    }

    /// Runs `work`; if that panics, everything that waits goes on and the hook begins anew. True if it did not.
    fn guarded(&mut self, verdicts: &mut Verdicts, work: impl FnOnce(&mut Self, &mut Verdicts)) -> bool {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(self, verdicts)));
        if outcome.is_err() {
            self.counters.failed += 1;
            self.hook = hooked(&self.maker, self.most);
            std::mem::take(&mut self.held).into_iter().for_each(|id| verdicts.accept(id));
        }
        outcome.is_ok()
    }

    fn unread(&mut self, why: NotTcp) -> &mut u64 {
        let Counters { fragments, other_protocol, truncated, malformed, .. } = &mut self.counters;
        match why {
            NotTcp::Fragment => fragments,
            NotTcp::OtherProtocol(_) => other_protocol,
            NotTcp::Truncated => truncated,
            NotTcp::Super | NotTcp::Malformed(_) => malformed,
        }
    }
}

/// The hook, at which so many may wait.
fn hooked(maker: &HookMaker, most: usize) -> Hooked<PacketId> {
    Hooked::new(maker.hook().expect("the filter is a hook"), most)
}
