//! Captures as tshark reads them: a judge that no one here wrote.
//!
//! Where tshark is not installed these tests check nothing and say so; with `MESHPACE_REQUIRE_TSHARK=1` they fail.

use super::{Sent, capture, capture_packets, cbr, packet, scenario, segment, segment_packet};
use meshpace_radio::FrameKind;
use meshpace_radio::phy::mpdus;
use meshpace_relay::packet::{Body, Class, Opaque, Packet, PacketId, Shim, ShimBytes, ShimKind};
use meshpace_routing::{Control, DsdvRoute, DsdvUpdate, Rerr, Rrep, Rreq};
use meshpace_tcp::{Flags, Options, Timestamps};
use meshpace_units::{Bytes, Ecn, Instant, NodeId, Seq, Span};
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::process::{Command, Output};

/// Where DSDV's updates go.
const DSDV_PORT: u16 = 50_001;

/// A file that goes when the test ends.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing can be done about a temporary file that cannot be removed.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// One row a frame: the values of the fields asked for, several values of one field joined by commas.
type Rows = Vec<Vec<String>>;

/// Has tshark decode a capture with all checksums checked; `None` if there is no tshark and none is required.
///
/// Fails if any frame is malformed or carries an error, which a wrong checksum is.
fn decode(test: &str, bytes: &[u8], fields: &[&str]) -> Option<Rows> {
    let file = Scratch(std::env::temp_dir().join(format!("meshpace-{test}-{}.pcapng", std::process::id())));
    std::fs::write(&file.0, bytes).expect("the temporary directory can be written");
    let judged = [
        "_ws.malformed",
        "wlan.fcs.status",
        "ip.checksum.status",
        "tcp.checksum.status",
        "udp.checksum.status",
    ];
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&file.0).args(["-T", "fields", "-E", "separator=|"]);
    for check in ["ip.check_checksum", "tcp.check_checksum", "udp.check_checksum", "wlan.check_checksum"] {
        tshark.arg("-o").arg(format!("{check}:TRUE"));
    }
    // Radiotap's time is that of the start of a frame here.
    tshark.args(["-o", "wlan_radio.tsf_at_end:FALSE", "-o", "tcp.relative_sequence_numbers:FALSE"]);
    for field in judged.iter().chain(fields) {
        tshark.args(["-e", field]);
    }
    let output = run(&mut tshark)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("tshark writes UTF-8");
    let rows: Rows = text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect();
    for (number, row) in rows.iter().enumerate() {
        // 1: good. A checksum that the frame has not is empty; a frame of several packets has several.
        let good = row[0].is_empty()
            && row[1] == "1"
            && row[2..5].iter().all(|all| all.is_empty() || all.split(',').all(|status| status == "1"));
        assert!(good, "{test}, frame {}: {row:?}", number + 1);
    }
    Some(rows.into_iter().map(|row| row[judged.len()..].to_vec()).collect())
}

fn run(tshark: &mut Command) -> Option<Output> {
    match tshark.output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let required = std::env::var("MESHPACE_REQUIRE_TSHARK").is_ok_and(|value| value == "1");
            assert!(!required, "tshark is required and not installed");
            // Straight to the stream: the test harness keeps what the macros print of a test that passes.
            let _ = writeln!(std::io::stderr(), "skipped: tshark is not installed");
            None
        }
        Err(error) => panic!("tshark: {error}"),
    }
}

/// Number as the subtype field has it.
fn subtype(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Rts => "0x001b",
        FrameKind::Cts => "0x001c",
        FrameKind::Ack => "0x001d",
        FrameKind::BlockAck => "0x0019",
        FrameKind::BlockAckReq => "0x0018",
        FrameKind::Data => "0x0020",
    }
}

/// What every run is held to: as many frames as were sent, each of its kind, with its fields; every ACK is where the
/// station that sent data waits for it. Returns the values of `fields`.
fn check_run(test: &str, text: &str, fields: &[&str]) -> Option<(Rows, Vec<Sent>)> {
    let scenario = scenario(text);
    let (bytes, sent) = capture(&scenario);
    let common = [
        "wlan.fc.type_subtype",
        "wlan.fc.retry",
        "wlan.duration",
        "wlan.seq",
        "wlan.ra",
        "wlan.ta",
        "radiotap.datarate",
        "frame.time_epoch",
    ];
    let asked: Vec<_> = common.iter().chain(fields).copied().collect();
    let rows = decode(test, &bytes, &asked)?;
    assert_eq!(rows.len(), sent.len());
    let mac = |node: NodeId| scenario.mesh[node.index()].mac.map(|byte| format!("{byte:02x}")).join(":");
    for (row, Sent { at, frame, .. }) in rows.iter().zip(&sent) {
        let data = frame.kind == FrameKind::Data;
        let sender = matches!(frame.kind, FrameKind::Data | FrameKind::Rts);
        let expected = [
            subtype(frame.kind).to_owned(),
            u8::from(data && frame.retry).to_string(),
            frame.duration.as_nanos().div_ceil(1000).to_string(),
            if data { frame.packets()[0].seq.to_string() } else { String::new() },
            frame.to.map_or("ff:ff:ff:ff:ff:ff".to_owned(), mac),
            if sender { mac(frame.from) } else { String::new() },
            (frame.mode.rate.as_bits_per_sec() as f64 / 1e6).to_string(),
            format!("{}.{:09}", at.as_nanos() / 1_000_000_000, at.as_nanos() % 1_000_000_000),
        ];
        assert_eq!(row[..common.len()], expected, "{frame:?}");
    }
    check_acknowledgements(&sent);
    assert!(sent.iter().any(|sent| sent.packet.is_some() && sent.frame.retry), "{test}: no retry to be seen");
    Some((rows.into_iter().map(|row| row[common.len()..].to_vec()).collect(), sent))
}

/// Every ACK answers a data frame that ended one SIFS and one propagation delay before.
fn check_acknowledgements(sent: &[Sent]) {
    let mut acknowledged = 0;
    for (index, ack) in sent.iter().enumerate().filter(|(_, sent)| sent.frame.kind == FrameKind::Ack) {
        let data = sent[..index].iter().rev().find(|sent| {
            sent.frame.kind == FrameKind::Data
                && Some(sent.frame.from) == ack.frame.to
                && sent.frame.to == Some(ack.frame.from)
        });
        let data = data.unwrap_or_else(|| panic!("an ACK without data: {:?}", ack.frame));
        let pause = ack.at - (data.at + data.frame.airtime);
        assert!(
            (10_000..17_000).contains(&pause.as_nanos()),
            "{pause:?} between {:?} and its ACK",
            data.frame
        );
        acknowledged += 1;
    }
    assert!(acknowledged > 0);
}

/// A chain of four hops with one TCP flow.
fn tcp(duration: &str, protocol: &str, radio: &str, scheme: &str, to: &str, more: &str) -> String {
    format!(
        r#"
        measure = {{ duration = "{duration}", warmup = "0s" }}
        radio = {{ {radio} }}
        topology = {{ kind = "chain", hops = 4, spacing = "200m" }}
        routing = {{ protocol = "{protocol}" }}
        flow = [{{ from = "n0", to = "{to}", scheme = "{scheme}", start_jitter = "0s" }}]
        {more}
        "#
    )
}

/// Values of one column that are there.
fn column(rows: &Rows, index: usize) -> Vec<&str> {
    rows.iter().map(|row| row[index].as_str()).filter(|value| !value.is_empty()).collect()
}

#[test]
fn tcp_over_static_routes() {
    let text = tcp("1s", "static", "", "newreno", "n4", "");
    let fields =
        ["tcp.srcport", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.window_size_value", "ip.ttl", "ip.src"];
    let Some((rows, sent)) = check_run("static", &text, &fields) else { return };
    let mut segments = 0;
    for (row, sent) in rows.iter().zip(&sent) {
        let Some(Packet { ttl, body: Body::Tcp(segment), .. }) = &sent.packet else { continue };
        let ack = if segment.flags.ack { segment.ack.0 } else { 0 };
        let source = if segment.source_port == 80 { "10.77.0.6" } else { "10.77.0.2" };
        let numbers = [
            u32::from(segment.source_port),
            segment.seq.0,
            ack,
            segment.payload,
            u32::from(segment.window),
            u32::from(*ttl),
        ];
        let mut expected = numbers.map(|number| number.to_string()).to_vec();
        expected.push(source.to_owned());
        assert_eq!(*row, expected);
        segments += 1;
    }
    assert!(segments > 300, "{segments}");
}

#[test]
fn tcp_of_the_rfcs() {
    let text =
        tcp("500ms", "static", "", "newreno", "n4", "scheme = { newreno = { tcp_profile = \"rfc\" } }");
    let Some((rows, _)) =
        check_run("rfc", &text, &["tcp.options.mss_val", "tcp.options.timestamp.tsval", "tcp.len"])
    else {
        return;
    };
    assert_eq!(column(&rows, 0)[0], "1460");
    let (stamped, all) = (column(&rows, 1).len(), column(&rows, 2).len());
    assert!(stamped == all && all > 100, "{stamped} of {all}");
}

#[test]
fn tcp_of_wifu_has_its_options_on_the_wire_and_exact_stamps_beside_it() {
    let text = tcp("500ms", "static", "", "tahoe", "n4", "scheme = { tahoe = { tcp_profile = \"wifu\" } }");
    let Some((rows, _)) = check_run("wifu", &text, &["tcp.options.timestamp.tsval", "tcp.len"]) else {
        return;
    };
    let (stamped, all) = (column(&rows, 0).len(), column(&rows, 1).len());
    assert!(stamped == all && all > 100, "{stamped} of {all}");
}

#[test]
fn tcp_over_aodv() {
    let text = tcp("2s", "aodv", "", "newreno", "n4", "");
    let Some((rows, sent)) = check_run("aodv", &text, &["aodv.type", "frame.comment", "ip.dst"]) else {
        return;
    };
    let mut seen = [false; 3];
    for (row, sent) in rows.iter().zip(&sent) {
        let kind = match sent.packet.as_ref().map(|packet| &packet.body) {
            Some(Body::Control(message)) if message.is::<Rreq>() => "1",
            Some(Body::Control(message)) if message.is::<Rrep>() => "2",
            Some(Body::Control(message)) if message.is::<Rerr>() => "3",
            _ => "",
        };
        assert_eq!(row[0], kind);
        if let Ok(kind) = kind.parse::<usize>() {
            seen[kind - 1] = true;
            assert!(row[1].contains("on the air"), "{row:?}");
            assert_eq!(row[2] == "255.255.255.255", sent.frame.to.is_none());
        }
    }
    assert!(seen[0] && seen[1], "requests and replies");
}

#[test]
fn tcp_gap_with_its_option() {
    let text = tcp("5s", "static", "", "tcp-gap", "B", "");
    let fields = ["tcp.options.experimental.exid", "tcp.options.experimental.data", "ip.src"];
    let Some((rows, sent)) = check_run("gap", &text, &fields) else { return };
    let mut options = 0;
    for (row, sent) in rows.iter().zip(&sent) {
        let Some(Packet { body: Body::Tcp(segment), .. }) = &sent.packet else { continue };
        let rtt = segment.options.rtt_wired.map(|rtt| format!("{:04x}", rtt.as_nanos() / 1_000_000));
        assert_eq!(row[0], if rtt.is_some() { "0x4d50" } else { "" });
        assert_eq!(row[1], rtt.clone().unwrap_or_default());
        options += usize::from(rtt.is_some());
    }
    assert!(options > 50, "{options} options");
}

#[test]
fn dot11a() {
    let radio = r#"standard = "802.11a", rate = "54Mbps", basic_rate = "6Mbps", mac_overhead = 36"#;
    let text = tcp("300ms", "static", radio, "newreno", "n4", "");
    let fields = ["radiotap.channel.freq", "radiotap.channel.flags.ofdm", "wlan_radio.phy", "frame.len"];
    let Some((rows, sent)) = check_run("a", &text, &fields) else { return };
    for (row, sent) in rows.iter().zip(&sent) {
        assert_eq!(row[..3], ["5180", "1", "5"]); // 5: 802.11a
        assert_eq!(row[3], (sent.frame.size.0 + 22).to_string(), "36 bytes leave room for LLC/SNAP");
    }
}

/// What radiotap says of data in 802.11ac and 802.11ax is what the mode is, of a packet alone and of several; the rate that Wireshark
/// makes of it is the mode's.
#[test]
fn frames_of_later_standards_have_their_mcs() {
    for (word, keys, fields, expected, phy) in [
        (
            "802.11ac",
            r#"mcs = 8, streams = 2, width = "80MHz", guard_interval = "400ns""#,
            ["vht.mcs.0", "vht.nss.0", "vht.bw", "vht.gi"],
            ["8", "2", "4", "1"],
            "8",
        ),
        (
            "802.11ax",
            r#"mcs = 11, streams = 3, width = "160MHz", guard_interval = "1600ns""#,
            ["he.data_3.data_mcs", "he.data_6.nsts", "he.data_5.data_bw_ru_allocation", "he.data_5.gi"],
            ["0x000b", "0x0003", "0x0003", "0x0001"],
            "11",
        ),
    ] {
        let radio = format!(r#"standard = "{word}", {keys}, rts = "never""#);
        let (bytes, sent) = capture(&scenario(&tcp("300ms", "static", &radio, "newreno", "n4", "")));
        let fields = fields.map(|field| format!("radiotap.{field}"));
        let [mcs, streams, width, guard] = &fields;
        let all = ["wlan_radio.phy", mcs, streams, width, guard, "wlan_radio.data_rate"];
        let Some(rows) = decode(word, &bytes, &all) else { return };
        let (mut rows, mut seen) = (rows.into_iter(), [0, 0]);
        for Sent { frame, .. } in &sent {
            for _ in 0..frame.packets().len().max(1) {
                let row = rows.next().expect("a row");
                if frame.mode.mcs.is_none() {
                    assert_eq!(row[0], "5", "802.11a: {frame:?}");
                    continue;
                }
                assert_eq!((&*row[0], &row[1..5]), (phy, &expected.map(str::to_owned)[..]), "{frame:?}");
                let (rate, ours) =
                    (row[5].parse::<f64>().expect("a rate"), frame.mode.rate.as_bits_per_sec());
                assert!((rate * 1e6 / ours as f64 - 1.0).abs() < 1e-3, "{rate} Mbit/s, {ours} bit/s");
                seen[usize::from(frame.is_several())] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count > 10) && rows.next().is_none(), "{word}: {seen:?}");
    }
}

/// Each packet of a frame of several is a row, with its MCS and its place; the block acknowledgement says which came.
#[test]
fn frames_of_several_packets_have_their_mcs_and_say_which_came() {
    let radio = r#"standard = "802.11n", mcs = 12, width = "40MHz", guard_interval = "400ns", rts = "never""#;
    let lossy = "radio_link = [{ from = \"n1\", to = \"n2\", loss = 0.2 }]";
    let (bytes, sent) = capture(&scenario(&tcp("1s", "static", radio, "newreno", "n4", lossy)));
    let fields = [
        "wlan.fc.type_subtype",
        "wlan.fc.retry",
        "wlan.seq",
        "radiotap.mcs.index",
        "radiotap.mcs.bw",
        "radiotap.mcs.gi",
        "radiotap.ampdu.reference",
        "radiotap.ampdu.flags.last",
        "wlan.fixed.ssc.sequence",
        "wlan.ba.bm",
        "wlan_radio.phy",
    ];
    let Some(rows) = decode("several", &bytes, &fields) else { return };
    let (mut rows, mut several, mut retries) = (rows.into_iter(), 0, 0);
    for Sent { frame, .. } in &sent {
        let count = frame.packets().len();
        for place in 0..count.max(1) {
            let row = rows.next().expect("a row");
            let mut expected = vec![String::new(); fields.len()];
            expected[0] = subtype(frame.kind).to_owned();
            expected[1] = "0".to_owned();
            expected[10] = "5".to_owned(); // 802.11a
            if frame.kind == FrameKind::Data {
                let mpdu = frame.packets()[place];
                expected[0] = "0x0028".to_owned(); // with QoS control
                expected[1] = u8::from(mpdu.retry).to_string();
                expected[2] = mpdu.seq.to_string();
                retries += usize::from(mpdu.retry);
                if frame.mode.mcs.is_some() {
                    expected[3..6].clone_from_slice(&["12", "1", "1"].map(str::to_owned));
                    expected[10] = "7".to_owned(); // 802.11n
                }
            }
            if count > 1 {
                expected[6] = several.to_string();
                expected[7] = u8::from(place + 1 == count).to_string();
            }
            if let Some(told) = frame.block_ack() {
                expected[8] = told.start.to_string();
            }
            if let (FrameKind::BlockAck, Some(told)) = (frame.kind, frame.block_ack()) {
                let bitmap = told.arrived.to_bytes();
                expected[9] = bitmap[..8].iter().map(|byte| format!("{byte:02x}")).collect();
            }
            assert_eq!(row, expected, "{frame:?}");
        }
        several += usize::from(count > 1);
    }
    assert_eq!(rows.next(), None);
    assert!(several > 100 && retries > 20, "{several} frames of several packets, {retries} retries");
}

/// A flow that asks for a service class has it in every IP header, both ways, and the priority that it makes in QoS control, in block
/// acknowledgements and in requests for them; what asks for nothing has zeros.
#[test]
fn packets_have_their_service_class_and_frames_their_priority() {
    let radio = r#"standard = "802.11n", mcs = 4, rts = "never", arp = false"#;
    let rest = "radio_link = [{ from = \"n1\", to = \"n2\", loss = 0.4 }]";
    let text = tcp("1s", "static", radio, "newreno", "n2", rest).replace(
        "start_jitter = \"0s\" }",
        "start_jitter = \"0s\", dscp = \"af41\" }, { from = \"n0\", to = \"n1\", app = \"cbr\", rate = \"1Mbps\", packet = 500, scheme = \"newreno\", start_jitter = \"0s\" }",
    );
    let (bytes, sent) = capture(&scenario(&text));
    let fields = ["ip.dsfield.dscp", "wlan.qos.tid", "wlan.ba.basic.tidinfo"];
    let Some(rows) = decode("classes", &bytes, &fields) else { return };
    let (mut rows, mut data, mut told, mut answers) = (rows.into_iter(), [0, 0], [0, 0], 0);
    for Sent { frame, packet, .. } in &sent {
        if frame.packets().is_empty() {
            let row = rows.next().expect("a row");
            let priority = frame.block_ack().map(|told| told.priority.tid());
            let hex = |text: &String| u8::from_str_radix(text.trim_start_matches("0x"), 16).ok();
            assert_eq!(hex(&row[2]), priority, "{frame:?}: {row:?}");
            if priority == Some(4) {
                told[usize::from(frame.kind == FrameKind::BlockAckReq)] += 1;
            }
        }
        for mpdu in frame.packets() {
            let row = rows.next().expect("a row");
            let asks = mpdu.packet.priority.tid() == 4;
            assert_eq!(row[..2], if asks { ["34", "4"] } else { ["0", "0"] }, "{frame:?}");
            data[usize::from(asks)] += 1;
        }
        answers += usize::from(packet.as_ref().is_some_and(|packet| packet.class == Class::Ack));
    }
    assert_eq!(rows.next(), None);
    assert!(data.iter().chain(&told).all(|count| *count > 0), "{data:?} {told:?}");
    assert!(answers > 0, "no acknowledgement of the flow's");
}

/// An MPDU of several packets is a row: tshark finds its packets, each with whom it is for and of, its length and its padding.
#[test]
fn packets_of_one_mpdu_are_found_in_it() {
    let radio = r#"radio = { arp = false, standard = "802.11n", mcs = 4, rts = "never", amsdu = 3839 }"#;
    let flow = |size: u32| {
        format!("[[flow]]\nfrom = \"n0\"\nto = \"n1\"\napp = \"cbr\"\nrate = \"15Mbps\"\npacket = {size}\n")
    };
    let text = format!(
        r#"
        measure = {{ duration = "300ms", warmup = "0s" }}
        {radio}
        topology = {{ kind = "chain", hops = 1, spacing = "200m" }}
        routing = {{ protocol = "static" }}
        radio_link = [{{ from = "n0", to = "n1", loss = 0.1 }}]
        defaults = {{ start_jitter = "10ms" }}
        {}{}
        "#,
        flow(501),
        flow(1_200)
    );
    let scenario = scenario(&text);
    let (bytes, sent) = capture(&scenario);
    let fields = [
        "wlan.qos.amsdupresent",
        "wlan.seq",
        "wlan.fc.retry",
        "radiotap.ampdu.reference",
        "wlan_aggregate.a_mdsu.length",
        "ip.len",
        "frame.len",
    ];
    let Some(rows) = decode("amsdu", &bytes, &fields) else { return };
    let (mut rows, mut together, mut retries, mut aggregates) = (rows.into_iter(), 0, 0, 0);
    for Sent { frame, .. } in &sent {
        if frame.kind != FrameKind::Data {
            rows.next().expect("a row");
            continue;
        }
        for mpdu in mpdus(frame.packets()) {
            let row = rows.next().expect("a row");
            let sizes: Vec<_> = mpdu.iter().map(|mpdu| mpdu.packet.size.0).collect();
            let list = |around: u64| {
                sizes.iter().map(|size| (size + around).to_string()).collect::<Vec<_>>().join(",")
            };
            let several = mpdu.len() > 1;
            let flag = |set: bool| if set { "1" } else { "0" }.to_owned();
            let reference = if frame.is_several() { aggregates.to_string() } else { String::new() };
            let lengths = if several { list(8) } else { String::new() };
            let expected =
                [flag(several), mpdu[0].seq.to_string(), flag(mpdu[0].retry), reference, lengths, list(0)];
            assert_eq!(row[..6], expected, "{frame:?}");
            // By hand: header with QoS control 26, FCS 4; of each packet 14, 8, itself and but for the last its padding.
            let inside = sizes.iter().fold(0, |end: u64, size| end.div_ceil(4) * 4 + 22 + size);
            let size = 30 + if several { inside } else { 8 + sizes[0] };
            let radiotap = if frame.is_several() { 36 } else { 25 };
            assert_eq!(row[6], (size + radiotap).to_string(), "{frame:?}");
            together += usize::from(several);
            retries += usize::from(several && mpdu[0].retry);
        }
        aggregates += usize::from(frame.is_several());
    }
    assert_eq!(rows.next(), None);
    assert!(together > 100 && retries > 10, "{together} MPDUs of several packets, {retries} sent again");
}

#[test]
fn udp_and_the_spaces_between_frames() {
    let text = cbr(3, "").replace("400kbps", "1Mbps");
    let fields = ["udp.length", "wlan_radio.ifs", "wlan_radio.duration", "wlan_radio.phy"];
    let Some((rows, sent)) = check_run("udp", &text, &fields) else { return };
    for (index, row) in rows.iter().enumerate() {
        let Sent { frame, packet, .. } = &sent[index];
        assert_eq!(row[0], if packet.is_some() { "508" } else { "" });
        assert_eq!(row[3], "4"); // 802.11b
        let duration: u64 = row[2].parse().expect("microseconds");
        // A data frame has two bytes more in the capture, 1.5 us.
        let air = frame.airtime.as_nanos() / 1000;
        assert!((air..=air + 3).contains(&duration), "{duration} us, {air} us on the air");
        // A CTS follows the RTS that it answers a SIFS later, when no other frame is between them.
        let before = index.checked_sub(1).map(|before| sent[before].frame.kind);
        if (before, frame.kind) == (Some(FrameKind::Rts), FrameKind::Cts) {
            let space: i64 = row[1].parse().expect("microseconds");
            assert!((9..=12).contains(&space), "{space} us");
        }
    }
}

#[test]
fn dsdv_updates() {
    let text =
        tcp("20s", "dsdv", "", "newreno", "n4", "").replace("start_jitter = \"0s\"", "start = \"18s\"");
    let Some((rows, sent)) = check_run("dsdv", &text, &["udp.dstport", "udp.length"]) else { return };
    let updates =
        sent.iter().filter(|s| matches!(&s.packet, Some(Packet { body: Body::Control(_), .. }))).count();
    assert!(updates > 4, "{updates}");
    assert_eq!(column(&rows, 0), vec![DSDV_PORT.to_string(); updates]);
}

/// Hellos, heard neighbours, updates with router-ids, requests: as tshark reads Babel.
#[test]
fn babel_packets() {
    let text =
        tcp("30s", "babel", "", "newreno", "n4", "").replace("start_jitter = \"0s\"", "start = \"28s\"");
    let fields = ["babel.version", "babel.message.type"];
    let Some((rows, sent)) = check_run("babel", &text, &fields) else { return };
    let packets =
        sent.iter().filter(|s| matches!(&s.packet, Some(Packet { body: Body::Control(_), .. }))).count();
    assert!(packets > 40, "{packets}");
    assert_eq!(column(&rows, 0), vec!["2"; packets]);
    let kinds: BTreeSet<&str> = column(&rows, 1).into_iter().flat_map(|kinds| kinds.split(',')).collect();
    // Hello, IHU, Update, Route Request (RFC 8966, section 4.6).
    assert!(["4", "5", "8", "9"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
}

#[test]
fn every_option_and_message_is_understood() {
    let control = |message: Control, to: Option<NodeId>| {
        let size = message.wire_length().0;
        let mut packet = packet(size, Body::Control(message));
        packet.next_hop = to;
        packet
    };
    let (a, b) = (NodeId(0), NodeId(1));
    let mut syn = segment();
    syn.flags.syn = true;
    syn.options =
        Options { mss: Some(1400), window_scale: Some(7), sack_permitted: true, ..Options::default() };
    let mut sack = segment();
    let block = |n: u32| Some((Seq(n), Seq(n + 10)));
    sack.options.timestamps = Some(Timestamps { value: 77, echo: 66 });
    sack.options.sack = [block(100), block(200), block(300), None];
    let mut fin = segment();
    fin.flags = Flags { fin: true, psh: true, ack: true, ..Flags::default() };
    fin.payload = 1001; // odd: the checksum is filled up
    fin.options.rtt_wired = Some(Span::from_secs(100)); // more than the option can say
    let rreq = Rreq {
        id: 9,
        originator: a,
        originator_seqno: 4,
        destination: b,
        destination_seqno: None,
        hops: 1,
        sent: Instant::ZERO,
        gratuitous: true,
    };
    let rrep = Rrep {
        originator: a,
        destination: b,
        destination_seqno: 6,
        hops: 3,
        lifetime: Span::from_secs(10),
        request_sent: Instant::ZERO,
    };
    let rerr = Rerr { unreachable: vec![(a, 5), (b, 7)], no_delete: true };
    let long = Rerr { unreachable: vec![(b, 7); 300], no_delete: false };
    let route = DsdvRoute { destination: b, hops: None, seqno: 3 };
    let packets = [
        segment_packet(syn),
        segment_packet(sack),
        segment_packet(fin),
        control(rreq.into(), None),
        control(rrep.into(), Some(b)),
        control(rerr.into(), None),
        control(long.into(), None),
        control(DsdvUpdate { routes: vec![route; 3] }.into(), None),
    ];
    let bytes = capture_packets(&scenario(&cbr(1, "")), &packets);
    let fields = [
        "tcp.option_kind",
        "tcp.options.sack_re",
        "tcp.flags",
        "tcp.options.experimental.data",
        "aodv.type",
        "aodv.hopcount",
        "aodv.unreach_dest_ip",
        "aodv.flags.rreq_unknown",
        "udp.length",
    ];
    let Some(rows) = decode("messages", &bytes, &fields) else { return };
    let expected = [
        "2,1,3,4,1,1||0x0012||||||",
        "1,1,8,1,1,5|110,210,310|0x0010||||||",
        "253,1,1||0x0019|ffff|||||",
        "||||1|0||1|32",
        "||||2|2|||28",
        "||||3||10.77.0.2,10.77.0.3||28",
        "",
        "||||||||44",
    ];
    for (number, (row, expected)) in rows.iter().zip(expected).enumerate() {
        if number == 6 {
            assert_eq!(row[6].split(',').count(), 255, "the format counts in one byte");
        } else {
            assert_eq!(row.join("|"), expected);
        }
    }
    assert_eq!(rows.len(), expected.len());
}

/// Four bytes of value in eight of an option.
struct Fits;

impl Shim for Fits {
    const KIND: ShimKind = ShimKind::ExperimentA;
    const NAME: &'static str = "fits";
    const WIRE_LENGTH: Bytes = Bytes(8);

    fn to_bytes(&self) -> ShimBytes {
        ShimBytes::new(&[1, 2, 3, 4])
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (bytes == [1, 2, 3, 4]).then_some(Self)
    }
}

/// Three bytes of value that cost three on the air, as a paper may count them: no option is that short.
struct Tight;

impl Shim for Tight {
    const KIND: ShimKind = ShimKind::ExperimentB;
    const NAME: &'static str = "tight";
    const WIRE_LENGTH: Bytes = Bytes(3);

    fn to_bytes(&self) -> ShimBytes {
        ShimBytes::new(&[5, 6, 7])
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (bytes == [5, 6, 7]).then_some(Self)
    }
}

#[test]
fn shims_stand_beside_tcp() {
    let mut data = segment();
    data.payload = 100;
    let mut marked = segment_packet(data);
    marked.id = PacketId(0x1_0007);
    marked.ecn = Ecn::Ce;
    let mut fitting = marked.clone();
    fitting.set_shim(&Fits);
    let mut both = fitting.clone();
    both.set_shim(&Tight);
    let bytes = capture_packets(&scenario(&cbr(1, "")), &[marked, fitting, both]);
    // tshark shows an experimental option as bytes only: type, length, kind, value, and the end of the list.
    let option = [158, 7, 253, 1, 2, 3, 4, 0];
    assert_eq!(bytes.windows(option.len()).filter(|window| *window == option).count(), 1);
    let fields =
        ["ip.id", "ip.dsfield.ecn", "ip.hdr_len", "ip.len", "tcp.srcport", "tcp.len", "frame.comment"];
    let Some(rows) = decode("shims", &bytes, &fields) else { return };
    let comment = "shim tight (kind 254), 3 bytes on the air, not here: 050607; shim fits (kind 253), 8 bytes on the air, not here: 01020304";
    assert_eq!(rows[0].join("|"), "0x0007|3|20|140|1024|100|");
    assert_eq!(rows[1].join("|"), "0x0007|3|28|148|1024|100|");
    assert_eq!(rows[2].join("|"), format!("0x0007|3|20|140|1024|100|{comment}"));
}

#[test]
fn packets_of_real_hosts_keep_their_bytes() {
    let mut data = segment();
    data.payload = 5;
    let six = |last| IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last));
    let four = |last| IpAddr::V4(Ipv4Addr::new(10, 77, 0, last));
    let packets = [(four(2), four(3)), (six(2), six(3))].map(|(source, destination)| {
        let bytes = meshpace_wire::build(source, destination, 64, &data, b"hello");
        let size = Bytes(bytes.len() as u64);
        let opaque = Opaque { protocol: 6, source_port: 1024, destination_port: 80, bytes: bytes.into() };
        let mut packet = Packet::new(source, destination, size, Class::Data, Body::Opaque(opaque));
        packet.next_hop = Some(NodeId(1));
        packet.ttl = 29;
        packet
    });
    let bytes = capture_packets(&scenario(&cbr(1, "")), &packets);
    let fields = ["ip.ttl", "ipv6.hlim", "ip.dst", "ipv6.dst", "tcp.srcport", "tcp.payload"];
    let Some(rows) = decode("real", &bytes, &fields) else { return };
    assert_eq!(rows[0].join("|"), "29||10.77.0.3||1024|68656c6c6f");
    assert_eq!(rows[1].join("|"), "|29||fd00::3|1024|68656c6c6f");
}

#[test]
fn address_resolution() {
    let text = tcp("1s", "static", "", "newreno", "n4", "");
    let fields = ["arp.opcode", "arp.src.hw_mac", "arp.src.proto_ipv4", "arp.dst.proto_ipv4", "frame.len"];
    let Some((rows, sent)) = check_run("arp", &text, &fields) else { return };
    let mut seen = [0; 2];
    for (row, sent) in rows.iter().zip(&sent) {
        let Some(Packet { body: Body::Arp(arp), .. }) = &sent.packet else {
            assert_eq!(row[0], "");
            continue;
        };
        let address = |node: NodeId| format!("10.77.0.{}", node.0 + 2);
        let operation = if sent.frame.to.is_none() { 1 } else { 2 };
        seen[operation - 1] += 1;
        let mac = format!("02:6d:70:00:00:{:02x}", arp.sender.0 + 1);
        // 22 bytes of radiotap, 36 of 802.11 in captures, and the packet.
        let expected =
            [operation.to_string(), mac, address(arp.sender), address(arp.target), "86".to_owned()];
        assert_eq!(*row, expected);
    }
    assert!(seen[0] >= 4 && seen[1] >= 4, "{seen:?}: four hops, asked for from one side at least");
}
