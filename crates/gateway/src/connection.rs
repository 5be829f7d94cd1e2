//! One connection: its two halves and what the handshake and the end of it tell.

use crate::budget::{Budget, HostSlot};
use crate::down::Down;
use crate::schedule::QueueHead;
use crate::sender_window::{Allowed, SenderWindow, least_window};
use crate::up::Up;
use crate::wired_trip::WiredTrip;
use crate::{Announced, Config, FlowKey, Side, TcpView, Treatment, Windows};
use alloc::boxed::Box;
use meshpace_pacing::Pending;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant, Seq, Span};

/// Window scale assumed if the handshake was not seen (schemes.md 3.6).
const SCALE_UNSEEN: u8 = 7;

/// What is known of one side.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// The sequence number after its FIN.
    fin: Option<Seq>,
    fin_acked: bool,
    /// The largest segment that it asked for, if its SYN was seen.
    mss: Option<u16>,
}

/// Packets of one direction, by whichever way they then went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Packets.
    pub packets: u64,
    /// Their IP lengths together.
    pub bytes: Bytes,
}

/// In which order places are taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// It carried no data yet, or has no answer: a single host can make as many of these as there are ports.
    Unanswered,
    /// Both sides were heard, and there was data.
    Answered,
    /// Packets wait in it: its place is not taken.
    Holding,
}

/// What goodput control has been told of a connection besides its traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoodputFeedback {
    pub down: Pending,
    pub up: Pending,
    /// Segments that passed more than once or were repaired, since the connection is known.
    pub again: u64,
    /// How long its pace was busy with a sender that had used up its window, since the connection is known.
    pub limited: Span,
}

#[derive(Debug)]
pub(crate) struct Connection<P> {
    pub key: FlowKey,
    /// Its mesh host's place in the books.
    pub host: HostSlot,
    /// What a segment of it can be like.
    pub windows: Windows,
    halves: [Half; 2],
    /// Acknowledgement number and window field of the wireless side's latest ACK.
    latest_ack: Option<(Seq, u16)>,
    /// Largest window the wireless side has announced.
    pub window: Option<Bytes>,
    /// In a place of its own: most connections carry data one way.
    pub up: Option<Box<Up>>,
    pub down: Option<Down<P>>,
    /// Payload has been seen.
    pub carries_data: bool,
    pub treatment: Treatment,
    /// What the wired side may have on its way.
    pub sender_window: SenderWindow,
    /// By the side that it came from.
    pub traffic: [Traffic; 2],
    pub opened: Instant,
    /// The wired part's round trip.
    pub wired: WiredTrip,
    /// What goodput control knows of the connection, if it counts it.
    pub told: Option<GoodputFeedback>,
    pub last_activity: Instant,
}

impl<P: Clone> Connection<P> {
    pub fn new(key: FlowKey, host: HostSlot, windows: Windows, treatment: Treatment, now: Instant) -> Self {
        Self {
            key,
            host,
            windows,
            halves: [Half::default(); 2],
            latest_ack: None,
            window: None,
            up: None,
            down: None,
            carries_data: false,
            treatment,
            sender_window: SenderWindow::default(),
            traffic: [Traffic::default(); 2],
            opened: now,
            wired: WiredTrip::default(),
            told: None,
            last_activity: now,
        }
    }

    /// Where the head of its queue stands.
    pub fn place(&self) -> Option<QueueHead> {
        self.down.as_ref()?.place()
    }

    /// What there is to tell goodput control.
    pub fn to_tell(&self) -> GoodputFeedback {
        let (down, up) = (self.down.as_ref(), self.up.as_deref());
        GoodputFeedback {
            down: down.map_or_else(Pending::default, Down::pending),
            up: up.map_or_else(Pending::default, Up::pending),
            again: down.map_or(0, |down| down.passed_again + down.repairs)
                + up.map_or(0, |up| up.passed_again),
            limited: down.map_or(Span::ZERO, |down| down.limited),
        }
    }

    /// Sets the treatment; what is held stays so, and leaves by [`Down::hurry`].
    pub fn treat(&mut self, now: Instant, treatment: Treatment, budget: &mut Budget<'_>) {
        self.treatment = treatment;
        if let Some(down) = &mut self.down {
            down.treat(now, treatment, budget);
        }
    }

    /// Notes size, sequence numbers, SYN, FIN, what is acknowledged of the other side's FIN, and the handshake's round trip.
    pub fn note(&mut self, now: Instant, side: Side, view: &TcpView<'_>) {
        let traffic = &mut self.traffic[side.index()];
        traffic.packets += 1;
        traffic.bytes += view.wire_len;
        let segment = view.segment;
        self.windows.note(side, segment);
        match side {
            Side::Wireless => self.wired.on_wireless(now, segment),
            Side::Wired => self.wired.on_wired(now, segment),
        }
        if segment.flags.syn {
            self.halves[side.index()].mss = segment.options.mss;
        }
        if segment.flags.fin {
            self.halves[side.index()].fin = Some(segment.end());
        }
        let other = &mut self.halves[side.other().index()];
        if segment.flags.ack && other.fin.is_some_and(|fin| segment.ack.at_or_after(fin)) {
            other.fin_acked = true;
        }
    }

    /// FINs sent and acknowledged both ways; where acknowledgements may pass unseen, sent.
    pub fn is_closed(&self, sampled: bool) -> bool {
        self.halves.iter().all(|half| half.fin_acked || sampled && half.fin.is_some())
    }

    /// How soon its place is taken back.
    pub fn rank(&self) -> Rank {
        if self.down.as_ref().is_some_and(|down| down.queue_len() > 0) {
            Rank::Holding
        } else if self.carries_data && self.windows.both_heard() {
            Rank::Answered
        } else {
            Rank::Unanswered
        }
    }

    /// Notes the window that a segment of the wireless side announces (RFC 7323, section 2.2: never scaled in a SYN, scaled
    /// only if both offered it).
    pub fn note_window(&mut self, segment: &Segment) {
        let scale =
            if segment.flags.syn { 0 } else { self.windows.scale(Side::Wireless).unwrap_or(SCALE_UNSEEN) };
        self.window = self.window.max(Some(Bytes(u64::from(segment.window) << scale)));
        if let Some(down) = &mut self.down {
            down.window = self.window;
        }
    }

    /// What the window field of a segment that passes to the wired side is to be instead, if anything; `changes` if it can be
    /// changed. Without the handshake the field's unit is unknown.
    pub fn limit_window(
        &mut self,
        now: Instant,
        segment: &Segment,
        changes: bool,
        config: &Config,
    ) -> Option<u16> {
        let scale = self.windows.scale(Side::Wireless)?;
        let down = self.down.as_ref().filter(|down| changes && down.is_paced());
        let allowed = down.and_then(|down| {
            let segment = self.full_segment(down);
            let path = down.path(self.wired.shortest());
            let pipe = (config.announced == Announced::Pipe).then(|| path.window(segment, config)).flatten();
            let law = down.wireless.pace.window.map(|window| window.max(least_window(segment, config)));
            // A train that leaves whole, and the next one that waits for its turn.
            let together = down.packets_together();
            let trains = if together > 1 { segment * (2 * together) } else { Bytes::ZERO };
            Some(Allowed::Window { window: pipe.into_iter().chain(law).min()?.max(trains), segment })
        });
        self.sender_window.on_passing(now, segment, scale, allowed)
    }

    /// Data from the wired side tell whether their sender wants more than it is allowed.
    pub fn note_use(&mut self, now: Instant, segment: &Segment) {
        let Some(full) = self.down.as_ref().map(|down| self.full_segment(down)) else { return };
        if let Some(down) = &mut self.down {
            let round_trip = down.path(self.wired.shortest()).round_trip();
            self.sender_window.on_data(now, segment.end(), full, round_trip);
            down.window_used_up = self.sender_window.used_up;
        }
    }

    /// The largest segment that the wired side may send, in which its window is counted. A sender that has said little so far (a chat, a
    /// terminal) has shown small segments only. A window of so many small segments would be too small for its first full one, which
    /// would then wait for the sender's persist timer (RFC 9293, sections 3.8.6.1 and 3.8.6.2.1). The sender's own MSS stands for the
    /// path's, which no end exceeds.
    fn full_segment(&self, down: &Down<P>) -> Bytes {
        down.segment.max(Bytes(self.mss().map_or(0, u64::from)))
    }

    /// The largest segment that both ends asked for, as far as their SYNs were seen.
    pub fn mss(&self) -> Option<u16> {
        self.halves.iter().filter_map(|half| half.mss).min()
    }

    /// Notes an ACK of the wireless side; true if it is a duplicate that the gateway may answer: it repeats number and
    /// window of the latest one while data is outstanding, and carries nothing (RFC 5681, section 2; schemes.md 3.3,
    /// rule 5). Keep-alives lie below the next sequence number and are none. Without the handshake there is no
    /// duplicate-ACK service (schemes.md 3.6).
    pub fn is_duplicate_ack(&mut self, segment: &Segment) -> bool {
        let named = (segment.ack, segment.window);
        let repeats = self.latest_ack.replace(named) == Some(named);
        let next = self.windows.next(Side::Wireless);
        repeats
            && self.windows.scale(Side::Wireless).is_some()
            && segment.is_pure_ack()
            && next.is_none_or(|next| segment.seq.at_or_after(next))
            && self.down.as_ref().is_some_and(|down| down.una() == segment.ack && down.outstanding())
    }

    /// Gives back what the halves keep, the queue excepted.
    pub fn release(&mut self, budget: &mut Budget<'_>) {
        if let Some(up) = &self.up {
            budget.forget(up.recorded());
        }
        if let Some(down) = &mut self.down {
            down.release(budget);
        }
    }
}
