//! A short stretch of a run frame by frame, for the animation of a report: which node sends what to which node when, and where it
//! is lost. Bounded in time and in frames, so that it fits into a page.

use crate::ends::Directory;
use crate::probe::Probe;
use meshpace_network::{AirId, Watch};
use meshpace_radio::{Frame, FrameEnd, FrameKind, Outcome};
use meshpace_relay::packet::{Class, Packet};
use meshpace_scenario::{Channel, Scenario};
use meshpace_units::{Instant, NodeId, Span};
use serde_json::{Value, json};

/// One transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shot {
    /// First bit, after the film's beginning.
    pub start: Span,
    /// Time on the air.
    pub airtime: Span,
    /// The channel.
    pub air: AirId,
    /// Transmitter.
    pub from: NodeId,
    /// Receiver; `None`: broadcast.
    pub to: Option<NodeId>,
    /// What it is.
    pub kind: FrameKind,
    /// What a data frame carries, of several packets the first.
    pub class: Option<Class>,
    /// The flow that it belongs to, by index.
    pub flow: Option<u32>,
    /// How many packets a data frame carries.
    pub packets: usize,
    /// True for an attempt after the first.
    pub retry: bool,
}

/// A transmission that a receiver could not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Index of the transmission.
    pub shot: usize,
    /// Where it was lost.
    pub at: NodeId,
    /// Why: never [`Outcome::Read`].
    pub outcome: Outcome,
    /// Packets that were read all the same: of several each fares by itself.
    pub read: usize,
}

/// Records the frames that begin in a stretch of time, up to a number.
///
/// Only losses at stations that the frame was meant for, and where it was strong enough, are shown: a broadcast has
/// many, a frame to a node out of range has none.
#[derive(Clone, Debug)]
pub struct Film {
    begin: Instant,
    end: Instant,
    limit: usize,
    /// Identifier, place and gateway or not, as [`Film::to_json`] gives them.
    nodes: Vec<Value>,
    flows: Vec<String>,
    directory: Directory,
    shots: Vec<Shot>,
    losses: Vec<Loss>,
    /// The channels, if there are several.
    channels: Vec<Value>,
    /// By channel and node the latest frame, if it is in the film.
    latest: Vec<Option<usize>>,
}

impl Film {
    /// A film of a run of `scenario` from `begin` on, no longer than `length` and no more than `limit` frames.
    #[must_use]
    pub fn new(scenario: &Scenario, begin: Instant, length: Span, limit: usize) -> Self {
        let node = |(index, node): (usize, &meshpace_scenario::MeshNode)| {
            let place = scenario.drawn_at(NodeId::from_index(index));
            json!({ "id": node.id, "x": place.x, "y": place.y, "gateway": node.gateway })
        };
        let channel = |channel: &Channel| json!({ "number": channel.number(), "mhz": channel.mhz });
        let channels = scenario.channels.len().max(1);
        Self {
            begin,
            end: begin + length,
            limit,
            nodes: scenario.mesh.iter().enumerate().map(node).collect(),
            flows: scenario.flows.iter().map(|flow| flow.id.clone()).collect(),
            directory: Directory::new(scenario),
            shots: Vec::new(),
            losses: Vec::new(),
            channels: scenario.channels.iter().map(channel).collect(),
            latest: vec![None; channels * scenario.mesh.len()],
        }
    }

    /// The transmissions in the order of time.
    #[must_use]
    pub fn shots(&self) -> &[Shot] {
        &self.shots
    }

    /// The losses in the order of time.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// When the film ends, after its beginning: earlier than asked for if the number of frames was reached.
    #[must_use]
    pub fn length(&self) -> Span {
        match self.shots.last() {
            Some(last) if self.shots.len() == self.limit => last.start + last.airtime,
            _ => self.end.saturating_since(self.begin),
        }
    }

    /// What a node sent last on a channel.
    fn latest(&mut self, air: AirId, node: NodeId) -> &mut Option<usize> {
        &mut self.latest[air.index() * self.nodes.len() + node.index()]
    }

    /// The film as columns: nodes by index, times in whole nanoseconds after `begin_s`. Where frames carry several packets, how many, and
    /// how many of a frame that was lost in part were read. Where there are several channels, which they are, and each frame's by index.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let shots = &self.shots;
        let losses = &self.losses;
        let mut film = json!({
            "begin_s": (self.begin - Instant::ZERO).as_secs_f64(),
            "length_ns": self.length().as_nanos(),
            "nodes": self.nodes,
            "flows": self.flows,
            "frames": {
                "start_ns": shots.iter().map(|shot| shot.start.as_nanos()).collect::<Vec<_>>(),
                "airtime_ns": shots.iter().map(|shot| shot.airtime.as_nanos()).collect::<Vec<_>>(),
                "from": shots.iter().map(|shot| shot.from.0).collect::<Vec<_>>(),
                "to": shots.iter().map(|shot| shot.to.map(|to| to.0)).collect::<Vec<_>>(),
                "kind": shots.iter().map(|shot| frame_word(shot.kind, shot.class)).collect::<Vec<_>>(),
                "flow": shots.iter().map(|shot| shot.flow).collect::<Vec<_>>(),
                "retry": shots.iter().map(|shot| u8::from(shot.retry)).collect::<Vec<_>>(),
            },
            "losses": {
                "frame": losses.iter().map(|loss| loss.shot).collect::<Vec<_>>(),
                "node": losses.iter().map(|loss| loss.at.0).collect::<Vec<_>>(),
                "cause": losses.iter().map(|loss| loss_word(loss.outcome)).collect::<Vec<_>>(),
            },
        });
        if shots.iter().any(|shot| shot.packets > 1) {
            film["frames"]["packets"] = shots.iter().map(|shot| shot.packets).collect();
            film["losses"]["read"] = losses.iter().map(|loss| loss.read).collect();
        }
        if !self.channels.is_empty() {
            film["channels"] = self.channels.clone().into();
            film["frames"]["channel"] = shots.iter().map(|shot| shot.air.index()).collect();
        }
        film
    }
}

/// A frame's word in films and live views; `class`: what a data frame carries.
#[must_use]
pub fn frame_word(kind: FrameKind, class: Option<Class>) -> &'static str {
    match (kind, class) {
        (FrameKind::Rts, _) => "rts",
        (FrameKind::Cts, _) => "cts",
        (FrameKind::Ack, _) => "ack",
        (FrameKind::BlockAck, _) => "block-ack",
        (FrameKind::BlockAckReq, _) => "block-ack-request",
        (FrameKind::Data, Some(Class::Ack)) => "tcp-ack",
        (FrameKind::Data, Some(Class::Control)) => "routing",
        (FrameKind::Data, Some(Class::Arp)) => "arp",
        (FrameKind::Data, _) => "data",
    }
}

/// The word in films and live views for why a frame was lost.
///
/// # Panics
/// If it was read.
#[must_use]
pub fn loss_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Overlapped => "collision",
        Outcome::Deaf => "deaf",
        Outcome::Garbled => "noise",
        Outcome::Read => panic!("a frame that was read is no loss"),
    }
}

impl Probe for Film {}

impl Watch for Film {
    fn frame(&mut self, now: Instant, air: AirId, frame: &Frame, packets: &[&Packet]) {
        let wanted = now >= self.begin && now < self.end && self.shots.len() < self.limit;
        *self.latest(air, frame.from) = wanted.then_some(self.shots.len());
        if !wanted {
            return;
        }
        let packet = packets.first();
        let flow = packet.and_then(|packet| self.directory.receiver_of(packet)).map(|(flow, _)| flow);
        self.shots.push(Shot {
            start: now - self.begin,
            airtime: frame.airtime,
            air,
            from: frame.from,
            to: frame.to,
            kind: frame.kind,
            class: packet.map(|packet| packet.class),
            flow,
            packets: packets.len(),
            retry: frame.retry,
        });
    }

    fn lost(&mut self, now: Instant, air: AirId, at: NodeId, frame: &Frame, end: &FrameEnd) {
        let Some(index) = *self.latest(air, frame.from) else { return };
        let shot = &self.shots[index];
        // Over kilometres the transmitter may have gone on to another frame: such a loss is left out.
        let is_it =
            (shot.to, shot.kind) == (frame.to, frame.kind) && self.begin + shot.start + shot.airtime <= now;
        if is_it {
            self.losses.push(Loss { shot: index, at, outcome: end.outcome, read: end.read(frame).count() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::RunResult;
    use crate::run::run_with;
    use meshpace_scenario::{Overrides, ScenarioFile};

    const CHAIN: &str = r#"
        measure = { duration = "4s", warmup = "0s" }
        topology = { kind = "chain", hops = 5, spacing = "200m" }
        routing = { protocol = "static" }
        defaults = { scheme = "newreno" }
        flow = [{ id = "web", from = "n0", to = "n5", start_jitter = "0s" }]
    "#;

    fn watch(begin: Span, length: Span, limit: usize, reception: &str) -> (Film, RunResult) {
        let set = Overrides::none().with(format!("radio.reception={reception}"));
        let file = ScenarioFile::parse("test.toml", CHAIN.as_bytes(), &set);
        let scenario = file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}"));
        let mut film = Film::new(&scenario, Instant::ZERO + begin, length, limit);
        let result = run_with(&scenario, &mut film).unwrap_or_else(|error| panic!("{error}"));
        (film, result)
    }

    fn whole_run(reception: &str) -> (Film, RunResult) {
        watch(Span::ZERO, Span::from_secs(4), usize::MAX, reception)
    }

    /// Losses of frames of one kind by overlap.
    fn overlapped(film: &Film, kind: FrameKind) -> u64 {
        let is_it = |loss: &&Loss| {
            loss.outcome == Outcome::Overlapped
                && film.shots[loss.shot].kind == kind
                && film.shots[loss.shot].to.is_some()
        };
        film.losses.iter().filter(is_it).count() as u64
    }

    #[test]
    fn every_frame_of_the_run_is_in_a_film_of_all_of_it() {
        let (film, result) = whole_run("ns2-capture");
        assert_eq!(film.shots().len() as u64, result.frames);
        assert_eq!(film.length(), Span::from_secs(4));
        assert!(film.shots().is_sorted_by_key(|shot| shot.start));
        let data = film.shots().iter().filter(|shot| shot.class == Some(Class::Data));
        assert!(data.clone().count() > 100);
        assert!(data.clone().all(|shot| shot.flow == Some(0) && shot.kind == FrameKind::Data));
    }

    #[test]
    fn what_collides_by_the_result_is_lost_in_the_film() {
        for reception in ["ns2-capture", "sinr"] {
            let (film, result) = whole_run(reception);
            let counted =
                |take: fn(&crate::result::LinkResult) -> u64| result.links.iter().map(take).sum::<u64>();
            let pairs = [
                (FrameKind::Rts, counted(|link| link.collisions_rts)),
                (FrameKind::Data, counted(|link| link.collisions_data)),
            ];
            assert!(pairs[0].1 > 50, "{reception}: {pairs:?}");
            for (kind, collisions) in pairs {
                // The film also has frames that the receiver ignored because it was locked on a stronger one.
                let lost = overlapped(&film, kind);
                assert!(lost >= collisions, "{reception}: {kind:?} {lost} lost, {collisions} collisions");
            }
        }
    }

    #[test]
    fn a_lost_request_is_not_answered() {
        let (film, _) = whole_run("ns2-capture");
        let shots = film.shots();
        let mut seen = 0;
        for loss in film.losses().iter().filter(|loss| shots[loss.shot].kind == FrameKind::Rts) {
            let request = &shots[loss.shot];
            let end = request.start + request.airtime;
            let soon = end + Span::from_micros(20);
            let answer = shots[loss.shot..].iter().take_while(|shot| shot.start <= soon).find(|shot| {
                shot.kind == FrameKind::Cts
                    && shot.start > end
                    && (shot.from, shot.to) == (loss.at, Some(request.from))
            });
            assert_eq!(answer, None, "{request:?}");
            assert_eq!(request.to, Some(loss.at));
            seen += 1;
        }
        assert!(seen > 50, "{seen}");
    }

    #[test]
    fn a_film_keeps_to_its_time_and_to_its_number_of_frames() {
        let (begin, length) = (Span::from_secs(2), Span::from_millis(100));
        let (all, _) = whole_run("ns2-capture");
        let (film, _) = watch(begin, length, usize::MAX, "ns2-capture");
        let within = |shot: &&Shot| shot.start >= begin && shot.start < begin + length;
        let expected: Vec<_> = all.shots().iter().filter(within).copied().collect();
        assert!(expected.len() > 50);
        let shifted = film.shots().iter().map(|shot| Shot { start: shot.start + begin, ..*shot });
        assert_eq!(shifted.collect::<Vec<_>>(), expected);
        assert_eq!(film.length(), length);
        assert!(film.losses().iter().all(|loss| loss.shot < film.shots().len()));

        let (short, _) = watch(begin, length, 40, "ns2-capture");
        assert_eq!(short.shots(), &film.shots()[..40]);
        assert_eq!(short.length(), short.shots()[39].start + short.shots()[39].airtime);
        let until: Vec<_> = film.losses().iter().filter(|loss| loss.shot < 40).copied().collect();
        assert_eq!(short.losses(), until);
    }

    #[test]
    fn columns_are_of_one_length_and_name_what_they_show() {
        let (film, _) = watch(Span::from_secs(1), Span::from_millis(50), 1000, "ns2-capture");
        let json = film.to_json();
        assert_eq!(json["begin_s"], 1.0);
        assert_eq!(json["nodes"].as_array().map(Vec::len), Some(6));
        assert_eq!(json["nodes"][5]["x"], 1000.0);
        for (group, length) in [("frames", film.shots().len()), ("losses", film.losses().len())] {
            let columns = json[group].as_object().unwrap_or_else(|| panic!("no {group}"));
            assert!(
                columns.values().all(|column| column.as_array().map(Vec::len) == Some(length)),
                "{columns:?}"
            );
        }
        let kinds = json["frames"]["kind"].as_array().unwrap_or_else(|| panic!("no kinds"));
        for kind in ["rts", "cts", "data", "ack"] {
            assert!(kinds.iter().any(|found| found == kind), "{kind}");
        }
    }
}
