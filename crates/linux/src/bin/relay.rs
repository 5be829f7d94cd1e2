//! Links between network namespaces with delays, and with a model of a mesh if wanted: for tests and the gateway's demo,
//! on kernels without netem.
//!
//! ```text
//! relay LINK...       LINK = NS/DEVICE,NS/DEVICE[,delay=20ms][,mtu=1500][,log=FILE][,airtime=..,rate=..,hops=4,queue=50[,ways=2]]
//! ```
//!
//! Each link is a TUN device in either namespace; what one end sends comes out of the other after `delay`. With `rate` the
//! link is a chain of `hops` radios on one channel. A packet occupies a hop for `airtime` and the time that its size takes
//! at `rate`. The next packet, in either direction, starts when the one before is four hops away or at its end (in range of
//! 250 m/550 m, schemes.md section 2). The interface queue at either end holds `queue` packets and drops what comes when it
//! is full. With `ways=2` each direction has a channel of its own: a wire, which is never two packets wide. With
//! `rate=4Mbps+1Mbps@30s` another rate is in force from 30 s after the start on. What this leaves out: collisions, retries,
//! fading. It has the queues and the shared air of a mesh, not its losses.
//!
//! Says `ready` on standard output, ends at SIGTERM with a line of counters a link: `late` packets came out more than a
//! millisecond after their time, the worst of them `late_max_s`. `log` is a pcap file (raw IP, nanoseconds of
//! CLOCK_MONOTONIC) of the moments at which the ends' packets were taken from their devices.

use meshpace_linux::{Deadline, Namespace, Poller, Signals, Tun, TunOptions, monotonic_now, realtime};
use meshpace_units::quantity::{RATE, TIME};
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Hops after which another packet may start.
const REUSE: u64 = 4;
/// What comes out later than that is counted.
const IN_TIME: Span = Span::from_millis(1);
/// Bytes of each packet that the log keeps.
const SNAP: usize = 160;
const SIGNALS: u64 = u64::MAX;
const DEADLINE: u64 = u64::MAX - 1;

/// One radio channel, used by both directions; or one wire a direction.
struct Channel {
    airtime: Span,
    /// From when on each is in force, the latest last.
    rates: Vec<(Instant, Rate)>,
    hops: u64,
    queue: usize,
    /// By direction; a channel that both use has the first alone.
    free_at: Vec<Instant>,
    /// By direction, when the packets that wait will start.
    waiting: [VecDeque<Instant>; 2],
}

struct Link {
    ends: [Tun; 2],
    delay: Span,
    channel: Option<Channel>,
    log: Option<BufWriter<File>>,
    /// By direction, when the latest packet comes out: nothing overtakes.
    latest: [Instant; 2],
    packets: [u64; 2],
    dropped: [u64; 2],
    waited: [Span; 2],
    longest: [usize; 2],
    late: u64,
    latest_by: Span,
}

/// `RATE+RATE@TIME...`, the times since now.
fn rates(text: &str) -> Option<Vec<(Instant, Rate)>> {
    let begun = monotonic_now();
    let of = |(number, word): (usize, &str)| {
        let (rate, after) = word.split_once('@').unwrap_or((word, "0s"));
        let after = Span::try_from_secs_f64(TIME.parse(after)?)?;
        let at = if number == 0 { Instant::ZERO } else { begun + after };
        Some((at, Rate::bits_per_sec(RATE.parse(rate)? as u64)))
    };
    text.split('+').enumerate().map(of).collect()
}

impl Channel {
    /// When a packet that is there now starts and when it is through; `None` if the queue is full.
    fn take(&mut self, now: Instant, direction: usize, length: usize) -> Option<(Instant, Instant)> {
        let waiting = &mut self.waiting[direction];
        while waiting.front().is_some_and(|&start| start <= now) {
            waiting.pop_front();
        }
        if waiting.len() >= self.queue {
            return None;
        }
        let (_, rate) =
            self.rates.iter().rfind(|(from, _)| *from <= now).expect("the first is in force from the start");
        let hop = self.airtime + rate.time_to_send(Bytes(length as u64)).expect("a rate above zero");
        let way = direction % self.free_at.len();
        let start = now.max(self.free_at[way]);
        self.free_at[way] = start + hop * self.hops.min(REUSE);
        waiting.push_back(start);
        Some((start, start + hop * self.hops))
    }
}

impl Link {
    fn open(text: &str) -> Result<Self, String> {
        let mut words = text.split(',');
        let mut end = || {
            let word = words.next().unwrap_or_default();
            word.split_once('/').ok_or_else(|| format!("{text}: \"{word}\" is not NAMESPACE/DEVICE"))
        };
        let ends = [end()?, end()?];
        let keys: BTreeMap<&str, &str> = words.filter_map(|word| word.split_once('=')).collect();
        let time = |key: &str, default: &'static str| {
            let seconds = TIME.parse(keys.get(key).unwrap_or(&default));
            seconds.and_then(Span::try_from_secs_f64).ok_or_else(|| format!("{text}: {key} is no time"))
        };
        let number = |key: &str, default: u64| match keys.get(key) {
            None => Ok(default),
            Some(word) => word.parse().map_err(|_| format!("{text}: {key} is no number")),
        };
        let channel = match keys.get("rate") {
            None => None,
            Some(word) => Some(Channel {
                airtime: time("airtime", "0s")?,
                rates: rates(word).ok_or_else(|| format!("{text}: rate"))?,
                hops: number("hops", 1)?,
                queue: number("queue", 50)? as usize,
                free_at: vec![Instant::ZERO; number("ways", 1)?.clamp(1, 2) as usize],
                waiting: [VecDeque::new(), VecDeque::new()],
            }),
        };
        let mtu = number("mtu", 1500)? as u32;
        let tun = |(namespace, name): (&str, &str)| {
            // What the kernel queues in front of the device is not part of the model.
            let options =
                TunOptions { name, mtu, queue_length: Some(20_000), ethernet: None, addresses: &[] };
            Namespace::named(namespace)?.within(|| Tun::open(&options))
        };
        let broken = |why: io::Error| format!("{text}: {why}");
        let mut log = keys.get("log").map(File::create).transpose().map_err(broken)?.map(BufWriter::new);
        if let Some(log) = &mut log {
            // The header of a pcap file with nanoseconds (pcap-savefile(5)), link type LINKTYPE_RAW.
            let words = [0xa1b2_3c4d, 0x0004_0002, 0, 0, SNAP as u32, 101u32];
            words.iter().try_for_each(|word| log.write_all(&word.to_le_bytes())).map_err(broken)?;
        }
        Ok(Self {
            ends: [tun(ends[0]).map_err(broken)?, tun(ends[1]).map_err(broken)?],
            delay: time("delay", "0s")?,
            channel,
            log,
            latest: [Instant::ZERO; 2],
            packets: [0; 2],
            dropped: [0; 2],
            waited: [Span::ZERO; 2],
            longest: [0; 2],
            late: 0,
            latest_by: Span::ZERO,
        })
    }

    /// When the packet that end `from` sent is to come out of the other, if it does.
    fn arrival(&mut self, now: Instant, from: usize, packet: &[u8]) -> io::Result<Option<Instant>> {
        self.packets[from] += 1;
        if let Some(log) = &mut self.log {
            let nanos = now.as_nanos();
            let kept = packet.len().min(SNAP);
            let words = [nanos / 1_000_000_000, nanos % 1_000_000_000, kept as u64, packet.len() as u64];
            words.iter().try_for_each(|&word| log.write_all(&(word as u32).to_le_bytes()))?;
            log.write_all(&packet[..kept])?;
        }
        let mut through = now;
        if let Some(channel) = &mut self.channel {
            let Some((start, end)) = channel.take(now, from, packet.len()) else {
                self.dropped[from] += 1;
                return Ok(None);
            };
            self.waited[from] += start.saturating_since(now);
            self.longest[from] = self.longest[from].max(channel.waiting[from].len());
            through = end;
        }
        self.latest[from] = self.latest[from].max(through + self.delay);
        Ok(Some(self.latest[from]))
    }

    fn report(&self, index: usize) -> String {
        let mean = [0, 1].map(|from| {
            let carried = (self.packets[from] - self.dropped[from]).max(1);
            self.waited[from].as_secs_f64() / carried as f64
        });
        format!(
            "{{\"link\": {index}, \"packets\": {:?}, \"dropped\": {:?}, \"queueing_mean_s\": {mean:?}, \"queue_max\": {:?}, \
             \"late\": {}, \"late_max_s\": {}}}",
            self.packets,
            self.dropped,
            self.longest,
            self.late,
            self.latest_by.as_secs_f64()
        )
    }
}

/// Packets on their way, by when they come out; ties in the order of arrival.
type Travelling = BTreeMap<(Instant, u64), (usize, usize, Vec<u8>)>;

fn run(links: &mut [Link]) -> io::Result<()> {
    let signals = Signals::new()?;
    let (mut poller, mut deadline) = (Poller::new()?, Deadline::new()?);
    poller.add(&signals, SIGNALS)?;
    poller.add(&deadline, DEADLINE)?;
    for (index, link) in (0..).zip(links.iter()) {
        poller.add(&link.ends[0], 2 * index)?;
        poller.add(&link.ends[1], 2 * index + 1)?;
    }
    eprintln!("relay: {}", realtime());
    println!("ready");
    let mut buffer = vec![0; 65_536];
    let (mut travelling, mut number) = (Travelling::new(), 0);
    loop {
        let ready: Vec<u64> = poller.wait(None)?.collect();
        for token in ready {
            match token {
                SIGNALS => {
                    while signals.next()?.is_some() {}
                    return Ok(());
                }
                DEADLINE => drop(deadline.acknowledge()?),
                end => {
                    let (index, from) = ((end / 2) as usize, (end % 2) as usize);
                    let link = &mut links[index];
                    // Not more than a batch: what is due must not wait for a flood to end.
                    for _ in 0..64 {
                        let Some(length) = link.ends[from].receive(&mut buffer)? else { break };
                        let packet = &buffer[..length];
                        if let Some(at) = link.arrival(monotonic_now(), from, packet)? {
                            number += 1;
                            travelling.insert((at, number), (index, 1 - from, packet.to_vec()));
                        }
                    }
                }
            }
        }
        let now = monotonic_now();
        while let Some(entry) = travelling.first_entry().filter(|entry| entry.key().0 <= now) {
            let behind = now - entry.key().0;
            let (index, to, packet) = entry.remove();
            links[index].late += u64::from(behind > IN_TIME);
            links[index].latest_by = links[index].latest_by.max(behind);
            // A device that is down loses what arrives, as any interface does.
            let _ = links[index].ends[to].send(&packet);
        }
        deadline.set(travelling.first_key_value().map(|(&(at, _), _)| at))?;
    }
}

fn main() -> Result<(), String> {
    let links: Result<Vec<Link>, String> = std::env::args().skip(1).map(|text| Link::open(&text)).collect();
    let mut links = links?;
    run(&mut links).map_err(|why| why.to_string())?;
    for (index, link) in links.iter_mut().enumerate() {
        println!("{}", link.report(index));
        if let Some(log) = &mut link.log {
            log.flush().map_err(|why| why.to_string())?;
        }
    }
    Ok(())
}
