//! The bytes of captures, read back by hand.

mod tshark;

use meshpace_mesh::{Probe, run, run_with};
use meshpace_network::{AirId, Capture, Watch};
use meshpace_radio::phy::mpdus;
use meshpace_radio::{Frame, FrameKind, Header, MacPacket, Mpdu, Priority};
use meshpace_relay::packet::{Body, Class, Packet};
use meshpace_scenario::{Overrides, Scenario, ScenarioFile};
use meshpace_tcp::{Flags, Ns2Stamp, Options, Segment, Timestamps};
use meshpace_units::{Bytes, Instant, NodeId, Seq, Span};
use proptest::prelude::*;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};

/// A scenario out of a file's text.
pub fn scenario(text: &str) -> Scenario {
    seeded(text, 1)
}

fn seeded(text: &str, seed: u64) -> Scenario {
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
    file.and_then(|file| file.resolve(seed)).unwrap_or_else(|error| panic!("{error}"))
}

/// A chain with static routes and one CBR flow from end to end; nobody asks for addresses.
pub fn cbr(hops: u32, more: &str) -> String {
    format!(
        r#"
        measure = {{ duration = "200ms", warmup = "0s" }}
        radio = {{ arp = false }}
        topology = {{ kind = "chain", hops = {hops}, spacing = "200m" }}
        routing = {{ protocol = "static" }}
        defaults = {{ start_jitter = "100ms" }}
        flow = [{{ from = "n0", to = "n{hops}", app = "cbr", rate = "400kbps", packet = 500{more} }}]
        "#
    )
}

/// A frame as the run had it.
pub struct Sent {
    /// When its first bit left.
    pub at: Instant,
    /// The channel.
    pub air: AirId,
    /// The frame.
    pub frame: Frame,
    /// What a data frame carries.
    pub packet: Option<Packet>,
}

/// Keeps all frames of a run.
#[derive(Default)]
pub struct Record(pub Vec<Sent>);

impl Probe for Record {}

impl Watch for Record {
    fn frame(&mut self, now: Instant, air: AirId, frame: &Frame, packets: &[&Packet]) {
        let packet = packets.first().map(|packet| (*packet).clone());
        self.0.push(Sent { at: now, air, frame: frame.clone(), packet });
    }
}

/// Runs a scenario; its capture, and the frames as they were.
pub fn capture(scenario: &Scenario) -> (Vec<u8>, Vec<Sent>) {
    let mut bytes = Vec::new();
    let sent = capture_into(&mut bytes, scenario);
    (bytes, sent)
}

fn capture_into(bytes: &mut Vec<u8>, scenario: &Scenario) -> Vec<Sent> {
    let mut probe = (Capture::new(bytes, scenario), Record::default());
    let result = run_with(scenario, &mut probe).unwrap_or_else(|error| panic!("{error}"));
    let (capture, Record(sent)) = probe;
    let frames = capture.finish().expect("a vector takes everything");
    // Of a frame of several MPDUs each is one of the capture's.
    let rows: usize = sent.iter().map(|sent| mpdus(sent.frame.packets()).count().max(1)).sum();
    assert_eq!((frames, result.frames), (rows as u64, sent.len() as u64));
    sent
}

/// A capture of single packets, sent by the first node to the second, or to all.
pub fn capture_packets(scenario: &Scenario, packets: &[Packet]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut capture = Capture::new(&mut bytes, scenario);
    for (number, packet) in packets.iter().enumerate() {
        let mode = scenario.radio.standard.default_mode;
        let mac = MacPacket {
            handle: 0,
            to: packet.next_hop,
            size: packet.size,
            mode,
            priority: Priority::of(packet.dscp),
        };
        let frame = Frame::new(Header {
            kind: FrameKind::Data,
            from: NodeId(0),
            to: packet.next_hop,
            airtime: Span::from_micros(1000),
            duration: Span::from_nanos(313_001),
            mode,
            size: packet.size + Bytes(34),
            data_mode: mode,
            retry: true,
            protected: false,
            packet: Some(Mpdu { packet: mac, seq: 0xabc, retry: true, losses: 0 }),
        });
        capture.frame(Instant::from_nanos(number as u64 * 10_000_000), AirId::default(), &frame, &[packet]);
    }
    capture.finish().expect("a vector takes everything");
    bytes
}

/// A packet from the first node to the second.
pub fn packet(size: u64, body: Body) -> Packet {
    let address = |last| IpAddr::V4(Ipv4Addr::new(10, 77, 0, last));
    let mut packet = Packet::new(address(2), address(3), Bytes(size), Class::Data, body);
    packet.exit = NodeId(1);
    packet.next_hop = Some(NodeId(1));
    packet.ttl = 30;
    packet
}

/// A segment in a packet of its size.
pub fn segment_packet(segment: Segment) -> Packet {
    let header = if segment.ns2.is_some() { 20 } else { segment.header_length() };
    let option = if segment.ns2.is_some() && segment.options.rtt_wired.is_some() { 8 } else { 0 };
    let size = 20 + header + option + segment.payload;
    packet(u64::from(size), Body::Tcp(segment))
}

/// A pure acknowledgement.
pub fn segment() -> Segment {
    Segment {
        ack: Seq(0x0506_0708),
        flags: Flags { ack: true, ..Flags::default() },
        window: 0xfafa,
        ..Segment::new(1024, 80, Seq(0x0102_0304))
    }
}

/// The CRC of IEEE 802.11-2020, 9.2.4.8, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The blocks of a file: type and body. Lengths are checked.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = u32_at(bytes, 4) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(u32_at(bytes, length - 4) as usize, length);
        found.push((u32_at(bytes, 0), &bytes[8..length - 4]));
        bytes = &bytes[length..];
    }
    found
}

/// The frames of a file: timestamp, radiotap header, MPDU without its FCS. The FCS is checked.
fn frames(bytes: &[u8]) -> Vec<(u64, &[u8], &[u8])> {
    let packets = blocks(bytes).into_iter().filter(|(kind, _)| *kind == 6);
    let frame = |(_, body)| {
        let length = u32_at(body, 12) as usize;
        assert_eq!(u32_at(body, 16) as usize, length, "a frame is cut");
        let nanos = u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8));
        let (radiotap, mpdu) = body[20..20 + length].split_at(22);
        let (mpdu, fcs) = mpdu.split_at(mpdu.len() - 4);
        assert_eq!(u32_at(fcs, 0), crc32(mpdu));
        (nanos, radiotap, mpdu)
    };
    packets.map(frame).collect()
}

/// The ones' complement sum, which is all ones over a header or packet with a right checksum (RFC 1071).
fn ones_sum(parts: &[&[u8]]) -> u16 {
    let bytes = parts.concat();
    let words = bytes.chunks(2).map(|w| u32::from(w[0]) * 256 + u32::from(*w.get(1).unwrap_or(&0)));
    let sum = words.sum::<u32>();
    let once = (sum >> 16) + (sum & 0xffff);
    ((once >> 16) + (once & 0xffff)) as u16
}

/// Splits an IP packet behind its header; lengths and checksums are checked.
fn transport(ip: &[u8]) -> &[u8] {
    let (header, transport) = ip.split_at(20);
    assert_eq!(usize::from(u16::from_be_bytes([ip[2], ip[3]])), ip.len());
    assert_eq!(ones_sum(&[header]), 0xffff, "{header:x?}");
    if [6, 17].contains(&ip[9]) {
        let length = (transport.len() as u16).to_be_bytes();
        assert_eq!(ones_sum(&[&ip[12..20], &[0, ip[9]], &length, transport]), 0xffff, "{transport:x?}");
    }
    transport
}

#[test]
fn each_frame_is_written_once_as_it_was_sent() {
    let scenario = scenario(&cbr(2, ""));
    let (bytes, sent) = capture(&scenario);
    let kinds: Vec<_> = blocks(&bytes).iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds[..4], [0x0a0d_0d0a, 1, 4, 6]);
    let frames = frames(&bytes);
    assert_eq!(frames.len(), sent.len());
    assert!(sent.iter().filter(|sent| sent.frame.kind == FrameKind::Data).count() > 20);
    for (Sent { at, frame, packet, .. }, (nanos, radiotap, mpdu)) in sent.iter().zip(frames) {
        assert_eq!(nanos, at.as_nanos());
        assert_eq!(u64::from(u32_at(radiotap, 8)), nanos / 1000);
        assert_eq!(u64::from(radiotap[17]) * 500_000, frame.mode.rate.as_bits_per_sec());
        let duration = u64::from(u16::from_le_bytes([mpdu[2], mpdu[3]]));
        assert_eq!(duration, frame.duration.as_nanos().div_ceil(1000));
        let receiver = frame.to.expect("no frame is broadcast here");
        assert_eq!(mpdu[4..10], scenario.mesh[receiver.index()].mac);
        match packet {
            None => assert_eq!(mpdu.len() as u64 + 4, frame.size.0),
            Some(packet) => {
                assert_eq!(mpdu[10..16], scenario.mesh[frame.from.index()].mac);
                assert_eq!(u16::from_le_bytes([mpdu[22], mpdu[23]]), frame.packets()[0].seq << 4);
                let ip = &mpdu[32..];
                assert_eq!(ip.len() as u64, packet.size.0);
                assert_eq!(frame.size, packet.size + Bytes(34));
                assert_eq!((ip[8], ip[9]), (packet.ttl, 17));
                assert_eq!(transport(ip).len(), 508);
            }
        }
    }
}

#[test]
fn equal_runs_give_equal_bytes() {
    let [a, b, other] = [1, 1, 2].map(|seed| capture(&seeded(&cbr(2, ""), seed)).0);
    assert_eq!(a, b);
    assert_ne!(a, other);
}

#[test]
fn golden_frames() {
    let text = cbr(1, "");
    let mut syn = segment();
    syn.flags = Flags { syn: true, ..Flags::default() };
    syn.options = Options {
        mss: Some(1460),
        window_scale: Some(2),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 0x1111_2222, echo: 0 }),
        ..Options::default()
    };
    let mut ack = segment();
    ack.ns2 = Some(Ns2Stamp { sent: Instant::ZERO, echo: None });
    ack.options.rtt_wired = Some(Span::from_millis(0x1234));
    let bytes = capture_packets(&scenario(&text), &[segment_packet(syn), segment_packet(ack)]);
    let found = frames(&bytes);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (_, radiotap, mpdu) = found[0];
    assert_eq!(hex(radiotap), "000016000f000000000000000000000010166c09a000");
    // Data, retry, 314 us; 02:6d:70:00:00:02 from 02:6d:70:00:00:01; sequence number abc; LLC/SNAP.
    assert_eq!(hex(&mpdu[..24]), "08083a01026d70000002026d70000001026d70ffffffc0ab");
    assert_eq!(hex(&mpdu[24..32]), "aaaa030000000800");
    assert_eq!(hex(&mpdu[32..36]), "4500003c");
    assert_eq!(hex(&mpdu[38..42]), "40001e06");
    assert_eq!(hex(&mpdu[44..52]), "0a4d00020a4d0003");
    assert_eq!(hex(&mpdu[52..68]), "040000500102030400000000a002fafa");
    assert_eq!(hex(&mpdu[72..]), "020405b4010303020402080a1111222200000000");
    let (_, _, mpdu) = found[1];
    assert_eq!(hex(&mpdu[32..36]), "45000030");
    assert_eq!(hex(&mpdu[60..66]), "050607087010");
    assert_eq!(hex(&mpdu[72..]), "fd064d5012340101");
}

#[test]
fn golden_run() {
    // All frames of a run; the file's head holds the engine's version and is left out.
    let (bytes, sent) = capture(&scenario(&cbr(1, "")));
    let head: usize = blocks(&bytes)[..3].iter().map(|(_, body)| body.len() + 12).sum();
    let (_, _, rts) = frames(&bytes)[0];
    assert_eq!(rts[..4], [0xb4, 0, 0xd7, 0x04], "an RTS: 3 * 10 + 304 + 600.7 + 304 us, rounded up");
    // Not a CRC: the frames' own check sequences would cancel what differs in them.
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    assert_eq!(
        (sent.len(), bytes[head..].iter().fold(0xcbf2_9ce4_8422_2325, fnv)),
        (48, 754_092_188_639_052_829)
    );
}

#[test]
fn retries_keep_their_numbers() {
    let text = cbr(3, "").replace("400kbps", "1Mbps");
    let (bytes, sent) = capture(&scenario(&text));
    let data = |mpdu: &[u8]| mpdu[0] == 0x08;
    let repeated: Vec<_> = frames(&bytes).into_iter().filter(|(_, _, m)| data(m) && m[1] & 8 != 0).collect();
    assert!(!repeated.is_empty());
    let engine = sent.iter().filter(|sent| sent.packet.is_some() && sent.frame.retry).count();
    assert_eq!(repeated.len(), engine);
    for (nanos, _, mpdu) in repeated {
        // The attempts before, if the first was not an RTS: same transmitter, same IP identification.
        let same = |m: &[u8]| data(m) && m[10..16] == mpdu[10..16] && m[36..38] == mpdu[36..38];
        for (_, _, earlier) in frames(&bytes).iter().filter(|(at, _, m)| *at < nanos && same(m)) {
            assert_eq!(earlier[22..24], mpdu[22..24], "a packet has one sequence number at one station");
            assert_eq!(earlier[32..], mpdu[32..]);
        }
    }
}

#[test]
fn no_frame_of_control_is_marked_as_repeated() {
    let text = cbr(3, "").replace("400kbps", "1Mbps");
    let (bytes, sent) = capture(&scenario(&text));
    assert!(sent.iter().any(|sent| sent.frame.kind == FrameKind::Rts && sent.frame.retry));
    assert!(frames(&bytes).iter().all(|(_, _, mpdu)| mpdu[0] == 0x08 || mpdu[1] == 0));
}

#[test]
fn datagrams_without_room_for_a_udp_header_have_the_experimental_protocol() {
    let (bytes, sent) = capture(&scenario(&cbr(1, ", udp_header = 0")));
    let sizes: Vec<_> =
        sent.iter().filter_map(|sent| sent.packet.as_ref()).map(|packet| packet.size.0).collect();
    let written: Vec<_> = frames(&bytes).into_iter().filter(|(_, _, mpdu)| mpdu[0] == 0x08).collect();
    assert_eq!(written.len(), sizes.len());
    for (_, _, mpdu) in written {
        assert_eq!((mpdu.len() - 32, mpdu[41]), (520, 253));
        assert!(transport(&mpdu[32..]).iter().all(|byte| *byte == 0));
    }
}

/// Fails once, after so many bytes; a capture that went on afterwards would have a hole.
struct Full(Option<usize>);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(room) = self.0 else { return Ok(bytes.len()) };
        self.0 = room.checked_sub(bytes.len());
        match self.0 {
            Some(_) => Ok(bytes.len()),
            None => Err(io::Error::new(io::ErrorKind::StorageFull, "no space left")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_of_the_writer_is_reported_at_the_end_and_the_run_goes_on() {
    let scenario = scenario(&cbr(2, ""));
    let undisturbed = run(&scenario).unwrap_or_else(|error| panic!("{error}"));
    // At once, in the middle, and only when the rest is flushed.
    let whole = capture(&scenario).0.len();
    for room in [0, whole / 2, whole - 1] {
        let mut capture = Capture::new(Full(Some(room)), &scenario);
        let mut result = run_with(&scenario, &mut capture).unwrap_or_else(|error| panic!("{error}"));
        result.wall_s = undisturbed.wall_s;
        assert_eq!(result, undisturbed);
        let error = capture.finish().expect_err("it did not fit");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
    let mut capture = Capture::new(Full(Some(whole)), &scenario);
    run_with(&scenario, &mut capture).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(capture.finish().expect("it fits"), undisturbed.frames);
}

fn options() -> impl Strategy<Value = Options> {
    let stamps = any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo });
    let sack =
        prop::array::uniform4(prop::option::of(any::<(u32, u32)>().prop_map(|(l, r)| (Seq(l), Seq(r)))));
    let of_syn = (prop::option::of(any::<u16>()), prop::option::of(0..15_u8), any::<bool>());
    let of_syn = (of_syn, prop::option::of(stamps.clone())).prop_map(
        |((mss, window_scale, sack_permitted), timestamps)| Options {
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            ..Options::default()
        },
    );
    let of_data = (prop::option::of(stamps), sack, prop::option::of(0..100_000_u64)).prop_map(
        |(timestamps, sack, rtt)| Options {
            timestamps,
            sack,
            rtt_wired: rtt.map(Span::from_millis),
            ..Options::default()
        },
    );
    // TCP has room for 40 bytes of options (RFC 9293, section 3.1).
    let fits = |options: &Options| Segment { options: *options, ..segment() }.options_length() <= 40;
    prop_oneof![of_syn, of_data.prop_filter("40 bytes", fits)]
}

proptest! {
    #[test]
    fn every_segment_has_its_size_and_a_right_checksum(
        options in options(),
        fields in any::<(u16, u16, u32, u32, u16)>(),
        bits in any::<[bool; 7]>(),
        payload in 0..2000_u32,
        flat in any::<bool>(),
    ) {
        let [syn, ack, fin, rst, psh, ece, cwr] = bits;
        let stamp = Ns2Stamp { sent: Instant::from_nanos(u64::from(fields.2)), echo: None };
        let segment = Segment { ack: Seq(fields.3), flags: Flags { syn, ack, fin, rst, psh, ece, cwr }, window: fields.4, payload, options, ns2: flat.then_some(stamp), ..Segment::new(fields.0, fields.1, Seq(fields.2)) };
        let bytes = capture_packets(&scenario(&cbr(1, "")), &[segment_packet(segment)]);
        let found = frames(&bytes);
        let tcp = transport(&found[0].2[32..]);
        let header = usize::from(tcp[12] >> 4) * 4;
        prop_assert_eq!(tcp.len(), header + payload as usize);
        prop_assert!(tcp[header..].iter().all(|byte| *byte == 0));
        prop_assert_eq!(tcp[12] & 0xf, 0);
    }
}

#[test]
fn a_channel_is_an_interface_of_the_capture() {
    let nodes = [("a", "channel = 6"), ("b", "channel = 6 }, { channel = 1"), ("c", "channel = 1")];
    let nodes = (0..).zip(nodes).map(|(x, (id, radios))| {
        format!("[[node]]\nid = \"{id}\"\nx = {}\ny = 0\nradio = [{{ {radios} }}]\n", 200 * x)
    });
    let rest = "[measure]\nduration = 1\nwarmup = 0\n[routing]\nprotocol = \"static\"\n\
                [[flow]]\nfrom = \"a\"\nto = \"c\"\napp = \"cbr\"\npacket = 500\nrate = \"400kbps\"\nstart_jitter = 0\n";
    let (bytes, sent) = capture(&scenario(&(nodes.collect::<String>() + rest)));
    let blocks = blocks(&bytes);
    let kinds: Vec<_> = blocks.iter().take(5).map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 1, 4, 6], "an interface description for each of the two");
    let packets: Vec<_> = blocks.iter().filter(|(kind, _)| *kind == 6).collect();
    assert_eq!(packets.len(), sent.len());
    let mut used = std::collections::BTreeSet::new();
    for ((_, body), (sent, (_, radiotap, _))) in packets.iter().zip(sent.iter().zip(frames(&bytes))) {
        let interface = u32_at(body, 0);
        assert_eq!(interface as usize, sent.air.index());
        let mhz = u16::from_le_bytes([radiotap[18], radiotap[19]]);
        assert_eq!(mhz, [2412, 2437][interface as usize]);
        used.insert((interface, sent.frame.from.0));
    }
    assert_eq!(used.into_iter().collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 0), (1, 1)]);
}
