//! The radio of a test, and the frames of its puppets.

use meshpace_radio::reception::ReceptionLimits;
use meshpace_radio::standard::Aggregation;
use meshpace_radio::standard::BackoffRange;
use meshpace_radio::standard::control_sizes::{ACK_BYTES, BLOCK_ACK_REQ_BYTES, CTS_BYTES, RTS_BYTES};
use meshpace_radio::station::StationConfig;
use meshpace_radio::{
    Bitmap, BlockAck, Building, Burst, Frame, FrameKind, Header, Links, MacPacket, Mode, Mpdu, Phy, Position,
    Preamble, Priority, Propagation, Standard, Thresholds,
};
use meshpace_units::{Bytes, NodeId, Rate, Span};

/// `n` Mbit/s.
pub fn mbps(n: f64) -> Rate {
    Rate::bits_per_sec((n * 1e6) as u64)
}

/// The standard of that name.
pub fn standard(word: &str) -> Standard {
    Standard::named(word).unwrap_or_else(|| panic!("no {word}"))
}

/// Positions on a line, by their metres.
pub fn line(metres: &[f64]) -> Vec<Position> {
    metres.iter().map(|x| Position::flat(*x, 0.0)).collect()
}

/// Everything about the radio. [`Setup::dsss`] is ns-2.35's (schemes.md 17.1, 17.2).
#[derive(Clone, Debug)]
pub struct Setup {
    pub phy: Phy,
    pub propagation: Propagation,
    pub ranges: (f64, f64),
    pub sinr: bool,
    pub noise: f64,
    pub no_delay: bool,
    pub seed: u64,
    /// Rate of the packets.
    pub rate: Rate,
}

impl Setup {
    /// 802.11b as in ns-2.35 at `rate` Mbit/s, no propagation delay.
    pub fn dsss(rate: f64, rts: bool) -> Self {
        Self {
            phy: Phy {
                standard: standard("802.11b"),
                preamble: Preamble::Long,
                basic: standard("802.11b").lowest(),
                mac_overhead: Bytes(34),
                rts_threshold: rts.then_some(Bytes(0)),
                retry_short: 7,
                retry_long: 4,
                backoff_range: BackoffRange::Ns2,
                propagation_allowance: Phy::NS2_PROPAGATION_ALLOWANCE,
            },
            propagation: Propagation::TwoRay,
            ranges: (250.0, 550.0),
            sinr: false,
            noise: 0.0,
            no_delay: true,
            seed: 1,
            rate: mbps(rate),
        }
    }

    /// 802.11a at `rate` Mbit/s.
    pub fn ofdm(rate: f64, rts: bool) -> Self {
        let mut setup = Self::dsss(rate, rts);
        setup.phy.standard = standard("802.11a");
        setup.phy.basic = setup.phy.standard.lowest();
        setup.phy.mac_overhead = Bytes(28);
        setup
    }

    /// 802.11g at 54 Mbit/s without RTS, with so many packets a frame.
    pub fn bursts(packets: usize) -> Self {
        let mut setup = Self::dsss(54.0, false);
        let bytes = Bytes(packets as u64 * 1_600);
        let (delimiter, airtime) = (Bytes(4), Span::from_millis(5));
        let aggregation = Some(Aggregation {
            packets,
            bytes,
            airtime,
            delimiter,
            alignment: 4,
            ahead: 0,
            amsdu: Bytes::ZERO,
        });
        setup.phy.standard = Standard { aggregation, ..standard("802.11g") };
        setup.phy.basic = setup.phy.standard.lowest();
        setup.phy.mac_overhead = Bytes(28);
        setup
    }

    /// The same with another seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The mode of the packets.
    pub fn mode(&self) -> &'static Mode {
        self.mode_of(self.rate)
    }

    /// The mode of data at a rate.
    pub fn mode_of(&self, rate: Rate) -> &'static Mode {
        let found = self.phy.standard.data_mode(rate);
        found.unwrap_or_else(|| panic!("{} has no {rate:?}", self.phy.standard.word))
    }

    pub fn links(&self) -> Links {
        let (propagation, ranges) = (self.propagation, self.ranges);
        Links {
            propagation,
            ranges,
            summed_interference: self.sinr,
            seed: self.seed,
            listed: Vec::new(),
            building: Building::default(),
        }
    }

    pub fn station_config(&self) -> StationConfig {
        let thresholds: Thresholds = self.links().thresholds();
        let limits = ReceptionLimits { ratio: 10.0, noise: self.noise, thresholds, eifs: self.phy.eifs() };
        StationConfig::new(self.phy.clone(), limits)
    }

    /// A packet; its handle is its size.
    pub fn packet(&self, to: Option<u32>, size: u64) -> MacPacket {
        MacPacket {
            handle: size as u32,
            to: to.map(NodeId),
            size: Bytes(size),
            mode: self.mode(),
            priority: Priority::BEST_EFFORT,
        }
    }

    /// Time on the air of a data frame with a packet of `size`.
    pub fn data_airtime(&self, size: u64) -> Span {
        self.phy.airtime(self.phy.mpdu(Bytes(size)), self.mode())
    }

    fn frame(&self, kind: FrameKind, from: u32, to: Option<u32>, size: Bytes, mode: &'static Mode) -> Frame {
        Frame::new(Header {
            kind,
            from: NodeId(from),
            to: to.map(NodeId),
            airtime: self.phy.airtime(size, mode),
            duration: Span::ZERO,
            mode,
            size,
            data_mode: self.mode(),
            retry: false,
            protected: false,
            packet: None,
        })
    }

    /// An RTS for a packet of `size`.
    pub fn rts(&self, from: u32, to: u32, size: u64) -> Frame {
        let rts = self.frame(FrameKind::Rts, from, Some(to), RTS_BYTES, self.phy.answer(self.mode()));
        let duration = self.phy.rts_duration(self.data_airtime(size), self.mode(), ACK_BYTES);
        Frame::new(Header { duration, protected: true, ..*rts })
    }

    /// The CTS that answers [`Setup::rts`].
    pub fn cts(&self, from: u32, to: u32, size: u64) -> Frame {
        let control = self.phy.answer(self.mode());
        let duration = self.phy.cts_duration(self.rts(to, from, size).duration, control);
        Frame::new(Header { duration, ..*self.frame(FrameKind::Cts, from, Some(to), CTS_BYTES, control) })
    }

    /// A data frame.
    pub fn data(&self, from: u32, to: u32, size: u64, seq: u16) -> Frame {
        let data = self.frame(FrameKind::Data, from, Some(to), self.phy.mpdu(Bytes(size)), self.mode());
        let burst = Burst::one(Mpdu { packet: self.packet(Some(to), size), seq, retry: false, losses: 0 });
        let protected = self.phy.needs_rts(Bytes(size));
        let duration = self.phy.data_duration(self.mode(), ACK_BYTES);
        Frame::data(Header { duration, protected, ..*data }, &burst)
    }

    /// A data frame with packets of these sizes and sequence numbers.
    pub fn burst(&self, from: u32, to: u32, packets: &[(u64, u16)]) -> Frame {
        let mut burst = Burst::EMPTY;
        for (size, seq) in packets {
            burst.push(Mpdu { packet: self.packet(Some(to), *size), seq: *seq, retry: false, losses: 0 });
        }
        let size = self.phy.frame(burst.as_slice());
        let frame = self.frame(FrameKind::Data, from, Some(to), size, self.mode());
        let duration = self.phy.data_duration(self.mode(), self.phy.ack_bytes(burst.is_several()));
        Frame::data(Header { duration, protected: self.phy.protects(size), ..*frame }, &burst)
    }

    /// A block acknowledgement.
    pub fn block_ack(&self, from: u32, to: u32, start: u16, arrived: Bitmap) -> Frame {
        let size = self.phy.ack_bytes(true);
        let frame = self.frame(FrameKind::BlockAck, from, Some(to), size, self.phy.answer(self.mode()));
        Frame::block_acknowledgement(*frame, BlockAck { priority: Priority::BEST_EFFORT, start, arrived })
    }

    /// A request for one.
    pub fn block_ack_req(&self, from: u32, to: u32, start: u16) -> Frame {
        let control = self.phy.answer(self.mode());
        let frame = self.frame(FrameKind::BlockAckReq, from, Some(to), BLOCK_ACK_REQ_BYTES, control);
        Frame::block_acknowledgement(
            *frame,
            BlockAck { priority: Priority::BEST_EFFORT, start, arrived: Bitmap::NONE },
        )
    }

    /// A broadcast; it goes at the basic rate.
    pub fn broadcast(&self, from: u32, size: u64) -> Frame {
        let burst = Burst::one(Mpdu { packet: self.packet(None, size), seq: 0, retry: false, losses: 0 });
        let frame = self.frame(FrameKind::Data, from, None, self.phy.mpdu(Bytes(size)), self.phy.basic);
        Frame::data(*frame, &burst)
    }

    /// An acknowledgement.
    pub fn ack(&self, from: u32, to: u32) -> Frame {
        self.frame(FrameKind::Ack, from, Some(to), ACK_BYTES, self.phy.answer(self.mode()))
    }
}
