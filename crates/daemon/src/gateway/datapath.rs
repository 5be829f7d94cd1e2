//! The data thread: the kernel's packet queue on one side, the engine on the other.
//!
//! It sleeps until packets wait, something is due, or a client asks. Verdicts are sent in batches, departures are by absolute
//! deadline. A packet whose handling fails goes on as it came; so does everything that the engine held, and an engine without
//! flows takes over: all state is soft (schemes.md 3.1).

use super::dispatcher::Dispatcher;
use super::sampling::Sampling;
use crate::config::Config;
use crate::data_thread::{Asking, Channel};
use crate::hops::Directory;
use crate::rules::REPAIR_MARK;
use crate::state::{Page, Request, Snapshot};
use crate::text::counted;
use meshpace_linux::{Deadline, NfQueue, Options, Poller, RawSender, monotonic_now, realtime};
use meshpace_units::Instant;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Batches taken from the queue before timers and questions get their turn.
const TURNS: usize = 8;

/// Bytes of a packet that are copied where nothing else of it is needed: all headers, with IPv6's extension headers.
const HEADERS: u16 = 512;

/// Flows told between two looks at packets and departures: each takes a microsecond.
const PAGE: usize = 128;

const QUEUE: u64 = 0;
const DEADLINE: u64 = 1;
const WAKER: u64 = 2;
const ECHOES: u64 = 3;

/// See the module's description.
#[derive(Debug)]
pub struct Datapath {
    queue: NfQueue,
    sender: RawSender,
    poller: Poller,
    deadline: Deadline,
    channel: Channel,
    dispatcher: Dispatcher,
    started: Instant,
    /// Whether packets come as the kernel has them, and how much of each is copied.
    manner: (bool, u16),
    /// It was said that repairs are refused.
    refused: bool,
    asking: Asking,
    sampling: Sampling,
}

/// Binds the queue. To be done before rules lead packets to it.
///
/// # Errors
/// What the kernel refuses.
pub fn open(config: &Config) -> io::Result<NfQueue> {
    let Config { nfqueue, .. } = config;
    let options = Options {
        length: nfqueue.length,
        socket_buffer: usize::try_from(nfqueue.socket_buffer.0).unwrap_or(usize::MAX),
        copy_range: None,
        fail_open: true,
    };
    NfQueue::open(nfqueue.queue, &options)
}

impl Datapath {
    /// A data path over a bound queue; to be called in the thread that runs it.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn new(queue: NfQueue, config: Arc<Config>, hops: Directory, channel: Channel) -> io::Result<Self> {
        let (poller, deadline) = (Poller::new()?, Deadline::new()?);
        poller.add(&queue, QUEUE)?;
        poller.add(&deadline, DEADLINE)?;
        poller.add(&channel.waker, WAKER)?;
        let sender = RawSender::open(Some(REPAIR_MARK))?;
        if config.nfqueue.realtime {
            eprintln!("meshpaced: data thread: {}", realtime());
        }
        let dispatcher = Dispatcher::new(config, hops);
        let mut this = Self {
            queue,
            sender,
            poller,
            deadline,
            channel,
            dispatcher,
            started: monotonic_now(),
            manner: (false, u16::MAX),
            refused: false,
            asking: Asking::default(),
            sampling: Sampling::default(),
        };
        this.follow_find();
        this.follow_mode()?;
        Ok(this)
    }

    /// Has packets come whole while they leave so: what the kernel does not cut, nobody has to put through one by one. Where all of them pass at
    /// once, their headers do.
    fn follow_mode(&mut self) -> io::Result<()> {
        let config = self.dispatcher.engine().config();
        let whole = config.leaves_whole();
        let copied = if whole && config.shaper().is_none() { HEADERS } else { u16::MAX };
        if (whole, copied) != self.manner {
            self.queue.set_whole(whole, copied)?;
            self.manner = (whole, copied);
        }
        Ok(())
    }

    /// Runs until it is stopped and nothing is left in the queue.
    ///
    /// # Errors
    /// What the kernel answers; packets pass by bypass then.
    pub fn run(mut self) -> io::Result<()> {
        loop {
            let ready = self.poller.wait(None)?.fold(0u64, |ready, token| ready | 1 << token);
            if ready & 1 << DEADLINE != 0 {
                self.deadline.expired();
                self.dispatcher.woke(monotonic_now());
            }
            if ready & 1 << WAKER != 0 {
                self.channel.waker.acknowledge()?;
                self.answer()?;
            }
            if ready & 1 << ECHOES != 0 {
                self.listen()?;
            }
            let left = ready & 1 << QUEUE != 0 && self.receive()?;
            self.sampling.on_packets(monotonic_now(), self.dispatcher.received());
            self.dispatcher.on_time(monotonic_now(), self.queue.verdicts());
            self.send_off()?;
            if !left && self.channel.finish.load(Ordering::Acquire) && self.queue.statistics()?.waiting == 0 {
                return Ok(());
            }
            self.channel.heartbeat.on_time(monotonic_now());
            let due = [self.dispatcher.wake_at(), self.channel.heartbeat.due()].into_iter().flatten().min();
            self.deadline.set(due)?;
        }
    }

    /// Takes packets from the queue; true if there are more.
    fn receive(&mut self) -> io::Result<bool> {
        for _ in 0..TURNS {
            let Self { queue, dispatcher, .. } = self;
            let received =
                queue.receive(|packet, verdicts| dispatcher.decide(monotonic_now(), packet, verdicts))?;
            self.dispatcher.missed(received.missed);
            self.dispatcher.on_time(monotonic_now(), self.queue.verdicts());
            self.send_off()?;
            if !received.more {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn follow_find(&mut self) {
        let find = self.dispatcher.engine().config().shaper().and_then(|shaper| shaper.find);
        self.asking.follow(find, &self.poller, ECHOES);
    }

    /// Takes answers to requests for echoes.
    fn listen(&mut self) -> io::Result<()> {
        let Self { queue, dispatcher, asking, .. } = self;
        asking.receive(|from, number| dispatcher.on_echo(monotonic_now(), from, number, queue.verdicts()))
    }

    /// Sends verdicts, repairs and requests for echoes.
    fn send_off(&mut self) -> io::Result<()> {
        let count = self.queue.verdicts().waiting();
        if count > 0 {
            let before = monotonic_now();
            self.queue.flush()?;
            self.dispatcher.sent(before, monotonic_now(), count);
        }
        for request in self.dispatcher.requests() {
            self.asking.ask(request);
        }
        for repair in self.dispatcher.repairs() {
            // A repair is a favour: one that cannot be sent (no route, a full buffer) is a loss like any on the air. But a
            // firewall that drops all of them is worth a word.
            if let Err(why) = self.sender.send(&repair)
                && why.kind() == io::ErrorKind::PermissionDenied
                && !std::mem::replace(&mut self.refused, true)
            {
                eprintln!(
                    "meshpaced: the firewall's OUTPUT drops what is sent again from the cache (mark {REPAIR_MARK:#x})"
                );
            }
        }
        Ok(())
    }

    fn answer(&mut self) -> io::Result<()> {
        while let Ok(request) = self.channel.requests.try_recv() {
            let now = monotonic_now();
            // The client may have gone: then the answer is not missed.
            match request {
                Request::Snapshot(answer) => drop(answer.send(self.snapshot(now))),
                Request::Page(after, answer) => {
                    let (flows, complete) = self.dispatcher.engine().page(after.as_ref(), PAGE);
                    drop(answer.send(Page { flows, complete }));
                    // The client will ask for the next page at once: packets come first.
                    return self.channel.waker.wake();
                }
                Request::Flow(key, answer) => {
                    drop(answer.send(self.dispatcher.engine().flow(now, &key).map(Box::new)));
                }
                Request::Reload(config, answer) => {
                    self.dispatcher.reload(now, Arc::from(config), self.queue.verdicts());
                    self.follow_find();
                    self.follow_mode()?;
                    let kept = self.dispatcher.engine().flow_count();
                    drop(answer.send(Ok(format!("in force; {} kept", counted(kept as u64, "flow")))));
                }
                Request::Sign(answer) => {
                    self.channel.heartbeat.beat(now);
                    let _ = answer.send(());
                }
                Request::Stop => {
                    self.dispatcher.let_pass(now, self.queue.verdicts());
                    self.send_off()?;
                    self.channel.stopping.wake()?;
                }
            }
        }
        Ok(())
    }

    fn snapshot(&mut self, now: Instant) -> Snapshot {
        self.sampling.on_packets(now, self.dispatcher.received());
        let engine = self.dispatcher.engine();
        let (counters, round_trips, waits) = engine.totals();
        let mut driver = self.dispatcher.counters();
        if let Ok(statistics) = self.queue.statistics() {
            driver.kernel_dropped += u64::from(statistics.queue_dropped);
        }
        Snapshot {
            at: now,
            started: self.started,
            mode: engine.config().mode,
            counters: *counters,
            driver,
            round_trips: *round_trips,
            waits: Some(*waits),
            hosts: self.dispatcher.hosts(now),
            sample: engine.config().samples().map(|most| self.sampling.told(most)),
            held: engine.held() + self.dispatcher.shaping(),
            buffered: engine.buffered(),
            known: engine.flow_count(),
            flows: Vec::new(),
            complete: engine.flow_count() == 0,
        }
    }
}
