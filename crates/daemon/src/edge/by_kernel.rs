//! The edge by eBPF: the program keeps and lets pass; here what waits is sent at its deadline.

use super::Thinner;
use super::exchange::{Ends, Held, SENT_MARK, Thinning};
use super::frame::frame;
use super::kernel::{Kernel, Sizes};
use super::status::Counters;
use super::tails::{Keeper, Tails};
use crate::Failure;
use crate::config::Edge;
use crate::rights::Rights;
use meshpace_linux::{FrameSender, Poller};
use meshpace_units::{Instant, Span};

/// The program acts this long after the last sign of life. Longer than a busy machine makes a thread wait.
const ALIVE: Span = Span::from_secs(5);
/// Events taken before anything else gets its turn.
const TURN: usize = 4096;

/// See the module's description.
pub struct ByKernel {
    tails: Tails,
    side: Side,
    thinning: Thinning,
}

/// The kernel, as far as what waits is concerned.
struct Side {
    kernel: Kernel,
    sender: FrameSender,
}

impl Keeper for Side {
    fn held(&self, ends: &Ends) -> Option<Held> {
        self.kernel.held(ends)
    }

    fn send(&mut self, held: Held) -> bool {
        let Some(header) = self.kernel.link_header(held.interface) else { return false };
        let (bytes, protocol) = frame(&held, header as usize);
        self.sender.send(held.interface, protocol, &bytes).is_ok()
    }

    fn forget(&mut self, ends: &Ends) {
        self.kernel.forget(ends);
    }
}

impl ByKernel {
    /// The program on its interfaces, ready to act.
    ///
    /// # Errors
    /// [`Failure::Operational`] where the kernel or the rights of this process do not allow it.
    pub fn open(edge: &Edge, interfaces: &[String]) -> Result<Self, Failure> {
        Rights::here().require_bpf()?;
        let sender = FrameSender::open(SENT_MARK).map_err(|why| {
            Failure::operational("packet socket (it takes CAP_NET_RAW and CONFIG_PACKET)", why)
        })?;
        let mut kernel = Kernel::load(Sizes { flows: edge.flows, held: edge.held })?;
        for interface in interfaces {
            kernel.programs.attach(interface)?;
        }
        let Edge { bytes, share, wait, tail, .. } = *edge;
        let thinning = Thinning { alive_until: Instant::ZERO, bytes, wait, tail, share };
        Ok(Self { tails: Tails::new(tail), side: Side { kernel, sender }, thinning })
    }

    fn set(&mut self, alive_until: Instant) -> Result<(), Failure> {
        let thinning = Thinning { alive_until, ..self.thinning };
        self.side.kernel.set(thinning).map_err(|why| Failure::operational("eBPF map settings", why))
    }
}

impl Thinner for ByKernel {
    fn watch(&self, poller: &Poller, token: u64) -> Result<(), Failure> {
        poller
            .add(self.side.kernel.events(), token)
            .map_err(|why| Failure::operational("eBPF ring buffer", why))
    }

    fn work(&mut self) -> Result<(), Failure> {
        for _ in 0..TURN {
            let Some(event) = self.side.kernel.next_event() else { break };
            self.tails.on_event(&event, &mut self.side);
        }
        Ok(())
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.tails.poll_timeout()
    }

    fn on_time(&mut self, now: Instant) -> Result<(), Failure> {
        self.tails.on_time(now, &mut self.side);
        Ok(())
    }

    fn sign(&mut self, now: Instant) -> Result<(), Failure> {
        self.set(now + ALIVE)?;
        for interface in self.side.kernel.programs.follow()? {
            eprintln!("meshpaced: interface {interface} was made anew: attached again");
        }
        Ok(())
    }

    fn counters(&self) -> Result<Counters, Failure> {
        let seen =
            self.side.kernel.counters().map_err(|why| Failure::operational("eBPF map counters", why))?;
        let [packets, acknowledgements, fragments, other, truncated, malformed, rest @ ..] = seen;
        let [news, withheld, sent_later, overtaken, no_place, lost_events, late] = rest;
        Ok(Counters {
            packets,
            acknowledgements,
            fragments,
            other_protocol: other,
            truncated,
            malformed,
            news: Some(news),
            withheld,
            sent_later,
            overtaken,
            no_place,
            lost_events,
            late,
            failed: self.tails.failed(),
            waiting: self.tails.len() as u64,
        })
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // The program keeps no more acknowledgements; those that wait, and those reported until then, are
        // sent.
        self.set(Instant::ZERO)?;
        self.work()?;
        self.tails.let_go(&mut self.side);
        self.side.kernel.programs.detach();
        Ok(())
    }
}
