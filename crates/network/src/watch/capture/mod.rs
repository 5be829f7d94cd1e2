//! Packet captures: every frame on the air as pcapng with radiotap headers, for Wireshark and tshark.
//!
//! Each transmission is written once, as its transmitter sends it, whichever nodes receive it; of a frame of several packets each MPDU, as
//! frames of one A-MPDU are written by real radios. Timestamps are simulated time
//! in nanoseconds since 1970-01-01 00:00 UTC, at the start of the preamble. Equal runs give equal bytes: nothing in
//! the file depends on the machine or on the time of day. A packet crosses the air once a hop and attempt, so the TCP
//! analysis of a whole capture counts repetitions; `wlan.ta == 02:6d:70:00:00:01` shows one transmitter.
//!
//! What a simulated frame is and what a real one would be differ in places; the capture decodes, and says so:
//!
//! - Data frames carry 36 bytes around the packet, 38 with QoS control: header, LLC/SNAP, FCS. On the air they have the scenario's
//!   `mac_overhead`, in which ns-2 has no LLC; the interface's description gives both. RTS, CTS, ACK have their sizes.
//! - IP, TCP and UDP lengths are those on the air; payloads are zeros, checksums are right. TCP of profile `ns2` has
//!   20 bytes of header; options that its endpoints exchange nonetheless are in the packet's comment.
//! - Datagrams of flows with less than 8 bytes of `udp_header` are IP protocol 253, for experiments.
//! - Routing packets have the formats of RFC 3561 (UDP port 654), DSDV's are UDP to port 50001: longer than the sizes
//!   of ns-2 that they have on the air; a comment gives both.
//! - IP identification is the lower half of the packet's number in the order in which packets set out: the same at
//!   each hop and attempt, another when an end point sends the same data again.
//! - Shims are options 158 of the IPv4 header (for experiments: RFC 4727), the shim's kind first; where one does not fit,
//!   it is in the packet's comment, and the packet that much shorter than on the air.
//! - Packets of real hosts have their own bytes; so have their Ethernet frames, with 802.11's header in the place of Ethernet's.

mod addresses;
mod arp;
mod control;
mod dot11;
mod mcs_field;
mod network;
mod pcapng;
mod radiotap;
mod shims;
mod tcp;
mod udp;

use crate::air::AirId;
use crate::watch::Watch;
use addresses::Addresses;
use dot11::EtherType;
use meshpace_radio::phy::mpdus;
use meshpace_radio::{Frame, Mpdu};
use meshpace_relay::packet::Packet;
use meshpace_scenario::{Radio, Scenario};
use meshpace_units::Instant;
use network::Network;
use radiotap::Aggregate;
use std::io::{self, BufWriter, Write};

/// The version that the file names.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes a capture while a run goes on; [`Capture::finish`] it afterwards.
#[must_use = "errors of the writer are reported by `finish`"]
pub struct Capture<W: Write> {
    writer: BufWriter<W>,
    /// The first error ends the capture, not the run.
    outcome: io::Result<()>,
    frames: u64,
    /// Frames of several packets so far: each packet of one names its number.
    aggregates: u32,
    /// By channel: what its radios have in common.
    radios: Vec<Radio>,
    network: Network,
    /// Scratch: the frame, and the block around it.
    frame: Vec<u8>,
    block: Vec<u8>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture of a run of `scenario`. Memory is bounded: every frame goes to the writer at once, through
    /// a small buffer.
    pub fn new(writer: W, scenario: &Scenario) -> Self {
        let mut capture = Self {
            writer: BufWriter::new(writer),
            outcome: Ok(()),
            frames: 0,
            aggregates: 0,
            radios: radios(scenario),
            network: Network::new(Addresses::new(scenario)),
            frame: Vec::new(),
            block: Vec::new(),
        };
        file_header(&mut capture.block, scenario);
        capture.write_block();
        capture
    }

    /// Ends the capture; how many frames it has.
    ///
    /// # Errors
    /// The first error that the writer gave; the file ends there.
    pub fn finish(mut self) -> io::Result<u64> {
        self.outcome?;
        self.writer.flush()?;
        Ok(self.frames)
    }

    /// Writes a frame, or of a frame of several MPDUs one with its `place` among them.
    fn write(
        &mut self,
        (now, air): (Instant, AirId),
        frame: &Frame,
        mpdu: Option<&Mpdu>,
        packets: &[&Packet],
        place: Option<Aggregate>,
    ) {
        if self.outcome.is_err() {
            return;
        }
        self.frame.clear();
        self.network.addresses.on(air);
        let radio = &self.radios[air.index()];
        radiotap::header(&mut self.frame, now, frame, place, radio);
        let start = self.frame.len();
        let qos = radio.standard.qos;
        let amsdu = packets.len() > 1;
        dot11::header(&mut self.frame, frame, mpdu, (qos, amsdu), &self.network.addresses);
        let mut comments = Vec::new();
        for (at, packet) in packets.iter().enumerate() {
            let begin = self.frame.len();
            if amsdu {
                dot11::subframe(&mut self.frame, frame, &self.network.addresses);
            }
            dot11::llc_snap(&mut self.frame, EtherType::of(packet));
            comments.extend(self.network.write(&mut self.frame, packet));
            if amsdu {
                dot11::end_subframe(&mut self.frame, begin, at + 1 == packets.len());
            }
        }
        let comment = (!comments.is_empty()).then(|| comments.join("; "));
        dot11::frame_check(&mut self.frame, start);
        pcapng::packet(&mut self.block, air.0, now.as_nanos(), &self.frame, comment.as_deref());
        self.write_block();
        self.frames += 1;
    }

    fn write_block(&mut self) {
        if self.outcome.is_ok() {
            self.outcome = self.writer.write_all(&self.block);
        }
        self.block.clear();
    }
}

impl<W: Write> Watch for Capture<W> {
    fn frame(&mut self, now: Instant, air: AirId, frame: &Frame, packets: &[&Packet]) {
        let aggregate = |last| Aggregate { reference: self.aggregates, last };
        match (frame.packets(), packets) {
            ([], []) => self.write((now, air), frame, None, &[], None),
            ([mpdu], [packet]) => self.write((now, air), frame, Some(mpdu), &[packet], None),
            (all, mut packets) => {
                assert!(all.len() == packets.len(), "{frame:?} with {packets:?}");
                let count = mpdus(all).count();
                let ends: Vec<_> = (1..=count).map(|at| aggregate(at == count)).collect();
                for (mpdu, place) in mpdus(all).zip(ends) {
                    let (inside, behind) = packets.split_at(mpdu.len());
                    self.write((now, air), frame, mpdu.first(), inside, Some(place));
                    packets = behind;
                }
                self.aggregates = self.aggregates.wrapping_add(1);
            }
        }
    }
}

/// What the radios of each channel have in common.
fn radios(scenario: &Scenario) -> Vec<Radio> {
    match &scenario.channels[..] {
        [] => vec![scenario.radio.clone()],
        channels => channels.iter().map(|channel| channel.radio(&scenario.radio)).collect(),
    }
}

fn file_header(out: &mut Vec<u8>, scenario: &Scenario) {
    let run = format!("{}, seed {}", scenario.name, scenario.seed);
    let repeat = [
        format!("scenario {run}, file SHA-256 {}", scenario.scenario_sha256),
        scenario.overrides.iter().map(|set| format!(", {set}")).collect(),
    ];
    let layout = format!(
        "simulated run of {run}; {} bytes around a packet in data frames here, {} on the air",
        dot11::data_overhead(scenario.radio.standard.qos),
        scenario.radio.mac_overhead.0
    );
    pcapng::section_header(out, &format!("meshpace {VERSION}"), &repeat.concat());
    if scenario.channels.is_empty() {
        pcapng::interface(out, &run, &layout);
    }
    for channel in &scenario.channels {
        let number = channel.number().map_or_else(String::new, |number| format!("channel {number}, "));
        pcapng::interface(out, &format!("{number}{} MHz", channel.mhz), &layout);
    }
    let mesh = scenario.mesh.iter().map(|node| (node.address, node.id.as_str()));
    let wired = scenario.wired.iter().map(|node| (node.address, node.id.as_str()));
    pcapng::names(out, mesh.chain(wired));
}
