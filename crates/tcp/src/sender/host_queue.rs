//! What of a sender's segments is still in its host: Linux's small queues (net/ipv4/tcp_output.c, tcp_small_queue_check), with the
//! bursts in which segments leave (tcp_tso_autosize).
//!
//! A driver that is [asked](crate::Connection::asks_departures) says when a segment has left the host. Until then the burst that it
//! is of counts, whole: the kernel frees a buffer when the last segment made of it is gone (skb_segment).

use super::{Chunk, Sender};
use crate::config::HostQueue;
use crate::control::Filter;
use alloc::collections::VecDeque;
use meshpace_units::{Instant, Span};

/// What a buffer takes beside its payload, bytes (`ss -m` of Linux 6.18, x86-64: 65,992 for 45 segments of 1,448 bytes).
const BUFFER: u64 = 832;
/// Payload of the largest burst, bytes (GSO_LEGACY_MAX_SIZE less the room for headers; net/core/sock.c, sk_setup_caps).
const LARGEST_BURST: u64 = 65_215;
/// The room is never more (`tcp_limit_output_bytes`).
const MOST: u64 = 4 << 20;
/// A burst may be larger by the largest over 2^(least round trip / this), so that a near peer gets whole buffers
/// (`tcp_tso_rtt_log` of 9: 512 us).
const NEAR: Span = Span::from_micros(512);

/// How long a least round trip counts (`tcp_min_rtt_wlen`), ns.
const LEAST_TRIP_FOR: u64 = 300_000_000_000;

/// What a burst goes by, of its sender.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Bytes a second; `None`: without limit.
    pace: Option<f64>,
    /// Payload of a full segment.
    mss: u32,
    /// Segments of a burst at least that the control asks for (tcp_tso_segs).
    together: u32,
    /// Segments that window and data let out now, besides the one that leaves.
    ready: u32,
}

/// Segments that left together.
#[derive(Clone, Copy, Debug)]
struct Burst {
    bytes: u64,
    /// Those that are still in the host.
    segments: u32,
}

/// What is in the host of one sender.
#[derive(Clone, Debug)]
pub(super) struct InHost {
    config: HostQueue,
    bursts: VecDeque<Burst>,
    bytes: u64,
    /// When the latest burst was begun, and how many segments it may still get then.
    open: Option<(Instant, u32)>,
    /// Where the data of the latest burst begin.
    latest: u64,
    /// The least round trip, ns.
    least_trip: Filter,
    /// A timeout has passed: what it sends again does not wait.
    timed_out: bool,
}

impl InHost {
    pub(super) const fn new(config: HostQueue) -> Self {
        let least_trip = Filter::minimum(LEAST_TRIP_FOR);
        Self {
            config,
            bursts: VecDeque::new(),
            bytes: 0,
            open: None,
            latest: 0,
            least_trip,
            timed_out: false,
        }
    }

    /// The retransmission timer expired: the segment that it sends again does not wait (tcp_retransmit_timer calls tcp_retransmit_skb,
    /// which asks for that segment alone whether it is still in the host).
    pub(super) fn on_timeout(&mut self) {
        self.timed_out = true;
    }

    /// A round trip.
    pub(super) fn on_round_trip(&mut self, now: Instant, trip: Span) {
        self.least_trip.update(now.as_nanos(), trip.as_nanos());
    }

    /// True if nothing of the sender is in its host.
    pub(super) fn is_empty(&self) -> bool {
        self.bursts.is_empty()
    }

    /// Bytes that the pace makes in the time of a burst.
    fn paced(&self, flow: &Flow) -> u64 {
        flow.pace.map_or(u64::MAX, |pace| pace as u64 >> self.config.pacing_shift)
    }

    /// Segments of a burst that begins now.
    fn burst(&self, flow: &Flow) -> u32 {
        let near = self.least_trip.best().map_or(0, |trip| {
            let halvings = u32::try_from(trip / NEAR.as_nanos()).unwrap_or(u32::MAX);
            LARGEST_BURST.checked_shr(halvings).unwrap_or(0)
        });
        let bytes = self.paced(flow).saturating_add(near).min(LARGEST_BURST);
        let longest = u32::try_from(bytes / u64::from(flow.mss.max(1))).unwrap_or(u32::MAX);
        longest.max(self.config.least_burst).max(flow.together).min(flow.ready.saturating_add(1))
    }

    /// The segments that the burst begun last may still get at `now`.
    fn left(&self, now: Instant) -> u32 {
        self.open.filter(|(at, _)| *at == now).map_or(0, |(_, left)| left)
    }

    /// True if nothing more may come: what is there is no less than two buffers of the next burst, and no less than the pace makes;
    /// twice that if it is sent `again` (tcp_xmit_retransmit_queue). Where all that is out is one burst, the next does not wait
    /// (tcp_rtx_queue_empty_or_single_skb).
    fn is_full(&self, now: Instant, una: u64, flow: &Flow, again: bool) -> bool {
        if self.timed_out || una >= self.latest || (!again && self.left(now) > 0) {
            return false;
        }
        let segments = if again { 1 } else { self.burst(flow) };
        let buffer = BUFFER + u64::from(segments) * u64::from(flow.mss);
        let room = self.paced(flow).max(2 * buffer).min(MOST) << u32::from(again);
        // The socket itself counts as a byte, so that what fills the room is too much.
        self.bytes >= room
    }

    /// A segment with data from `start` on leaves the sender for the host's queue, `again` if not for the first time.
    fn on_sent(&mut self, now: Instant, (start, length): (u64, u32), flow: &Flow, again: bool) {
        self.timed_out = false;
        let mut left = if again { 0 } else { self.left(now) };
        if left == 0 {
            left = if again { 1 } else { self.burst(flow) };
            self.bursts.push_back(Burst { bytes: BUFFER, segments: 0 });
            self.bytes += BUFFER;
            self.latest = if again { self.latest } else { start };
        }
        self.open = Some((now, left - 1));
        self.bytes += u64::from(length);
        if let Some(burst) = self.bursts.back_mut() {
            burst.bytes += u64::from(length);
            burst.segments += 1;
        }
    }

    /// A segment has left the host, or has been dropped there: the oldest that is there.
    fn on_left(&mut self) {
        let Some(burst) = self.bursts.front_mut() else { return };
        burst.segments -= 1;
        if burst.segments == 0 {
            self.bytes -= burst.bytes;
            self.bursts.pop_front();
            if self.bursts.is_empty() {
                self.open = None;
            }
        }
    }
}

/// Of the pace where a control has none: of what a round trip carries, in slow start and later (`tcp_pacing_ss_ratio`,
/// `tcp_pacing_ca_ratio`; tcp_input.c, tcp_update_pacing_rate).
const SLOW_START: f64 = 2.0;
const LATER: f64 = 1.2;

impl Sender {
    /// Its pace, bytes a second: the control's, or the window's over the round trip; `None` if neither is known.
    fn pace_of_bursts(&self) -> Option<f64> {
        let mss = f64::from(self.mss);
        if let Some(interval) = self.control.pacing().interval {
            return Some(mss / interval.as_secs_f64().max(1e-9));
        }
        let (cwnd, trip) = (self.control.cwnd()?, self.estimator.srtt()?);
        let slow_start = self.control.ssthresh().is_none_or(|ssthresh| cwnd < ssthresh / 2.0);
        let out = self.max.saturating_sub(self.una) as f64 / mss;
        Some(if slow_start { SLOW_START } else { LATER } * cwnd.max(out) * mss / trip.as_secs_f64().max(1e-9))
    }

    /// What a burst goes by, with the segments that may leave from `next` on.
    fn burst_flow(&self, next: u64) -> Flow {
        let room = self.own_edge(true).min(self.edge).min(self.end).saturating_sub(next);
        let ready = u32::try_from(room.div_ceil(u64::from(self.mss.max(1)))).unwrap_or(u32::MAX);
        Flow { pace: self.pace_of_bursts(), mss: self.mss, together: self.control.pacing().together, ready }
    }

    /// True if nothing leaves before something has left the host.
    #[inline]
    pub(super) fn waits_for_host(&self, now: Instant) -> bool {
        self.in_host.as_ref().is_some_and(|in_host| self.has_filled(in_host, now))
    }

    fn has_filled(&self, in_host: &InHost, now: Instant) -> bool {
        let again = self.resend.is_some() || self.nxt < self.max || self.hole().is_some();
        let flow = self.burst_flow(self.nxt.saturating_add(u64::from(self.mss)));
        in_host.is_full(now, self.una, &flow, again)
    }

    /// A piece of data has left for the host's queue.
    pub(super) fn note_in_host(&mut self, now: Instant, chunk: &Chunk, first: bool) {
        if self.in_host.is_some() {
            let flow = self.burst_flow(chunk.end());
            if let Some(in_host) = &mut self.in_host {
                in_host.on_sent(now, (chunk.start, chunk.length), &flow, !first);
            }
        }
    }

    /// A segment with data has left the host, or has been dropped there.
    pub(crate) fn on_left_host(&mut self) {
        if let Some(in_host) = &mut self.in_host {
            in_host.on_left();
        }
    }

    /// True if it wants to know when segments with data leave the host.
    pub(crate) const fn asks_departures(&self) -> bool {
        self.in_host.is_some()
    }
}
