//! Links of a capture, over time.

use crate::airtime::{self, Airtime};
use crate::dot11::{self, Header};
use crate::file::{self, Error, Raw};
use crate::radiotap::{self, Radiotap};
use meshpace_explicit::winf::{Busy, Config, Exchanges, Frame, Kind, Link, Meter};
use meshpace_units::{Bytes, Instant, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// How to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Over which time busy time counts, and how far apart the rows of the series are.
    pub window: Span,
    /// The least payload whose exchange tells a capacity, bytes.
    pub least_payload: Bytes,
}

impl Default for Options {
    /// As at the nodes of the simulation (schemes.md 9.2).
    fn default() -> Self {
        Self { window: Span::from_secs(1), least_payload: Config::DECIDED.least_payload }
    }
}

/// What a capture says.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Links with at least one capacity, by address.
    pub links: Vec<LinkReport>,
    /// The same in each window in which something was measured.
    pub series: Vec<Row>,
    /// From the first to the last frame.
    pub duration: Span,
    /// Share of that time in which the medium was used or reserved.
    pub busy: f64,
    /// Centres of the channels of its frames, MHz. With several the busy time is that of all of them together.
    pub channels: BTreeSet<u16>,
    /// How much was read, and how much was of no use.
    pub counts: Counts,
    /// Why and where the file broke off; `None`: it is whole.
    pub partial: Option<String>,
}

/// One link over the whole capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkReport {
    /// Which one.
    pub link: Link,
    /// Bits of its exchanges over the time that they took, bit/s.
    pub capacity: f64,
    /// What of that the medium left free, bit/s.
    pub available: f64,
    /// Exchanges that told a capacity.
    pub samples: u64,
}

/// One link in one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// End of the window, after the first frame.
    pub at: Span,
    /// Which one.
    pub link: Link,
    /// Smoothed capacity, bit/s.
    pub capacity: f64,
    /// What of that is free, bit/s.
    pub available: f64,
    /// Exchanges in the window that told a capacity.
    pub samples: u64,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames of the file.
    pub frames: u64,
    /// Frames that failed their check sequence: they take time, and say nothing.
    pub bad: u64,
    /// Frames whose headers are cut off or of a kind that is not known, or that claim to be longer than frames can be.
    pub unreadable: u64,
    /// Frames of which nothing says how fast they were sent.
    pub without_rate: u64,
    /// Frames that are acknowledged together with others, and are not measured.
    pub aggregated: u64,
    /// Frames of interfaces that are no monitor's, and without a time.
    pub foreign: u64,
    /// Times are the radio's clock, not the file's.
    pub radio_clock: bool,
}

/// A frame of the file, as far as it matters.
#[derive(Clone, Copy, Debug)]
struct Kept {
    nanos: u64,
    tsft: Option<u64>,
    /// `None`: what it says is not to be believed.
    header: Option<Header>,
    airtime: Airtime,
    size: u64,
    ours: bool,
    radio: usize,
    frequency: Option<u16>,
}

/// The longest frame (the MPDU of IEEE 802.11-2020, section 9.2.4.8.1). A broken file may claim 4 GB, which would take hours on the air,
/// and each of them long to keep account of.
const LONGEST: usize = 11_454;

/// Reads a capture and measures its links.
///
/// # Errors
/// [`Error`] if nothing can be made of it.
pub fn measure(reader: impl Read + Send, options: &Options) -> Result<Report, Error> {
    let (mut counts, mut kept) = (Counts::default(), Vec::new());
    let file::ReadSummary { partial, foreign } =
        file::read(reader, |raw| kept.extend(keep(raw, &mut counts)))?;
    (counts.radio_clock, counts.foreign) = (has_radio_clock(&kept), foreign);
    let channels: BTreeSet<u16> = kept.iter().filter_map(|frame| frame.frequency).collect();
    let high = kept.iter().filter(|frame| airtime::is_high(frame.frequency)).count() * 2 > kept.len();
    let first = kept.iter().map(|frame| frame.began(counts.radio_clock)).min().unwrap_or(0);
    let frame = |kept: &Kept| kept.frame(counts.radio_clock, first);
    // In place: of a file of many short frames they take more room than the file.
    kept.sort_by_key(|kept| {
        let Frame { ended, began, .. } = frame(kept);
        (ended, began)
    });
    let mut session = Session::new(options, airtime::sifs(high));
    for kept in &kept {
        session.on_frame(&frame(kept), kept.header.is_some());
    }
    Ok(session.report(channels, counts, partial))
}

fn keep(raw: &Raw<'_>, counts: &mut Counts) -> Option<Kept> {
    counts.frames += 1;
    let unreadable = |counts: &mut Counts| counts.unreadable += 1;
    let Some(radiotap) = radiotap::parse(raw.bytes) else {
        unreadable(counts);
        return None;
    };
    let frame = &raw.bytes[radiotap.length..];
    let check = if radiotap.has_check { 0 } else { 4 };
    let size = raw.length.saturating_sub(radiotap.length) + check;
    if size > LONGEST {
        unreadable(counts);
        return None;
    }
    let bad = radiotap.bad || fails_check(&radiotap, frame, size);
    counts.bad += u64::from(bad);
    let header = if bad { None } else { dot11::parse(frame) };
    // Control frames carry no data that could be moved.
    let moved = header.filter(|header| radiotap.padded && header.length >= 24);
    let padding = moved.map_or(0, |header| header.length.wrapping_neg() % 4);
    let size = size.saturating_sub(padding);
    if header.is_none() && !bad {
        unreadable(counts);
        return None;
    }
    let Some(airtime) = airtime::of(&radiotap, size).or_else(|| assumed(&radiotap, header?, size)) else {
        counts.without_rate += 1;
        return None;
    };
    let aggregated = radiotap.aggregate && header.is_some_and(|header| header.kind == Kind::Data);
    counts.aggregated += u64::from(aggregated);
    let header =
        header.map(|header| Header { kind: if aggregated { Kind::Other } else { header.kind }, ..header });
    Some(Kept {
        nanos: raw.nanos,
        tsft: radiotap.tsft,
        header,
        airtime,
        size: size as u64,
        ours: raw.ours,
        radio: raw.radio,
        frequency: radiotap.frequency,
    })
}

/// A frame that was kept whole, with its check sequence (IEEE 802.3's CRC-32), and does not fit it.
fn fails_check(radiotap: &Radiotap, frame: &[u8], size: usize) -> bool {
    // What was put in between is not in the check sequence.
    if !radiotap.has_check || radiotap.padded || frame.len() != size {
        return false;
    }
    let Some((body, check)) = frame.split_last_chunk::<4>() else { return true };
    crc32fast::hash(body) != u32::from_le_bytes(*check)
}

/// CTS and acknowledgement of which nothing says how fast they were sent: at the lowest mandatory rate.
fn assumed(radiotap: &Radiotap, header: Header, size: usize) -> Option<Airtime> {
    let rate = if airtime::is_high(radiotap.frequency) { 6_000_000 } else { 1_000_000 };
    let control = matches!(header.kind, Kind::Cts | Kind::Ack);
    control.then(|| airtime::of(&Radiotap { rate: Some(rate), ..*radiotap }, size)).flatten()
}

/// True if every frame has the radio's own time, there is but one radio, and its clock went on and did not jump back by more
/// than a second.
fn has_radio_clock(kept: &[Kept]) -> bool {
    let Some(Kept { tsft: Some(first), radio, .. }) = kept.first() else { return false };
    let mut latest = 0;
    let sound = |frame: &Kept| {
        let Some(tsft) = frame.tsft.filter(|_| !frame.ours && frame.radio == *radio) else { return false };
        let forward = tsft.saturating_add(1_000_000) >= latest;
        latest = latest.max(tsft);
        forward
    };
    kept.iter().all(sound) && (kept.len() == 1 || kept.iter().any(|frame| frame.tsft != Some(*first)))
}

impl Kept {
    /// When its preamble began, nanoseconds, by the radio's clock or the file's.
    fn began(&self, radio_clock: bool) -> u64 {
        let nanos = match self.tsft.filter(|_| radio_clock) {
            Some(tsft) => tsft.saturating_mul(1_000),
            None => self.nanos,
        };
        // Our own files tell when the preamble begins, radios when it is over.
        if self.ours { nanos } else { nanos.saturating_sub(self.airtime.preamble.as_nanos()) }
    }

    /// The frame, times counted from the first one's.
    fn frame(&self, radio_clock: bool, first: u64) -> Frame {
        // Beyond half the range of the clock there is nothing to measure, and no room to add to.
        let began = Instant::from_nanos((self.began(radio_clock) - first).min(u64::MAX / 2));
        let ended = began + self.airtime.preamble + self.airtime.frame;
        let header = self.header.unwrap_or(Header {
            kind: Kind::Other,
            receiver: None,
            transmitter: None,
            duration: Span::ZERO,
            length: 0,
        });
        let Header { kind, receiver, transmitter, duration, length } = header;
        let (size, payload) = (Bytes(self.size), Bytes(self.size.saturating_sub(length as u64 + 4)));
        Frame { kind, receiver, transmitter, duration, began, ended, size, payload }
    }
}

/// What is known while a capture is gone through.
struct Session {
    step: Span,
    exchanges: Exchanges,
    meter: Meter,
    /// The whole capture.
    busy: Busy,
    /// Bits, seconds and exchanges by link.
    totals: BTreeMap<Link, (f64, f64, u64)>,
    /// Exchanges in the present window.
    fresh: BTreeMap<Link, u64>,
    window: u64,
    series: Vec<Row>,
    ended: Instant,
}

impl Session {
    fn new(options: &Options, sifs: Span) -> Self {
        let config =
            Config { window: Some(options.window), least_payload: options.least_payload, ..Config::DECIDED };
        Self {
            step: options.window,
            exchanges: Exchanges::new(sifs),
            meter: Meter::new(config),
            busy: Busy::new(None),
            totals: BTreeMap::new(),
            fresh: BTreeMap::new(),
            window: 0,
            series: Vec::new(),
            ended: Instant::ZERO,
        }
    }

    fn on_frame(&mut self, frame: &Frame, readable: bool) {
        let window = frame.ended.as_nanos() / self.step.as_nanos().max(1);
        if window != self.window {
            let boundary = self.window.saturating_add(1).saturating_mul(self.step.as_nanos());
            self.close_window(Instant::from_nanos(boundary));
            self.window = window;
        }
        self.ended = self.ended.max(frame.ended);
        let reserves = matches!(frame.kind, Kind::Rts | Kind::Cts);
        self.occupy(frame.began, if reserves { frame.ended + frame.duration } else { frame.ended });
        if !readable {
            return;
        }
        let Some(exchange) = self.exchanges.on_frame(frame) else { return };
        self.occupy(exchange.began, exchange.ended);
        let (link, Some(capacity)) = (Link { from: exchange.from, to: exchange.to }, exchange.capacity)
        else {
            return;
        };
        if self.meter.on_capacity(link, exchange.payload, capacity) {
            let bits = exchange.size.bits() as f64;
            let (total, seconds, samples) = self.totals.entry(link).or_default();
            (*total, *seconds, *samples) = (*total + bits, *seconds + bits / capacity, *samples + 1);
            *self.fresh.entry(link).or_default() += 1;
        }
    }

    fn occupy(&mut self, from: Instant, to: Instant) {
        self.busy.add(from, to);
        self.meter.busy.add(from, to);
    }

    fn close_window(&mut self, at: Instant) {
        for (link, samples) in std::mem::take(&mut self.fresh) {
            let pair = self.meter.pair(at, link);
            let pair = pair.unwrap_or_else(|| panic!("{link:?} was measured"));
            let (capacity, available) = (pair.capacity, pair.available);
            self.series.push(Row { at: at - Instant::ZERO, link, capacity, available, samples });
        }
    }

    fn report(mut self, channels: BTreeSet<u16>, counts: Counts, partial: Option<String>) -> Report {
        let ended = self.ended;
        self.close_window(ended);
        let busy = self.busy.share(ended).unwrap_or(0.0);
        let floor = self.meter.config().floor;
        let links = self.totals.iter().map(|(link, (bits, seconds, samples))| {
            let capacity = bits / seconds;
            let available = capacity * (1.0 - busy).clamp(floor, 1.0);
            LinkReport { link: *link, capacity, available, samples: *samples }
        });
        let duration = ended - Instant::ZERO;
        Report { links: links.collect(), series: self.series, duration, busy, channels, counts, partial }
    }
}
