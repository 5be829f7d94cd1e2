//! 802.11n: what a saturated link carries, against the closed form; chains, against ns-3.

use super::support::{cbr, close, flow, measure, run, scenario};
use meshpace_mesh::parameters_in_use;

/// Bytes around a packet: header with QoS control, LLC/SNAP, FCS.
const OVERHEAD: u64 = 38;
/// SIFS of the 5 GHz band, AIFS of best effort, the mean of 0 to 15 slots; us.
const SIFS: f64 = 16.0;
const AIFS: f64 = SIFS + 3.0 * 9.0;
const MEAN_BACKOFF: f64 = 7.5 * 9.0;
/// 200 m at the speed of light, us.
const AIR: f64 = 200.0 / 299.792_458;

/// A way to send data: coded bits a symbol by hand, from the tables of IEEE 802.11-2020, 19.5.
struct Sent {
    keys: &'static str,
    /// Data bits a symbol, tail bits, preamble in us, length of a symbol in us.
    bits: f64,
    tail: f64,
    preamble: f64,
    symbol: f64,
    /// Mbit/s of control frames.
    control: f64,
}

const MODES: [Sent; 6] = [
    Sent { keys: "mcs = 0", bits: 26.0, tail: 6.0, preamble: 36.0, symbol: 4.0, control: 6.0 },
    Sent { keys: "mcs = 4", bits: 156.0, tail: 6.0, preamble: 36.0, symbol: 4.0, control: 24.0 },
    Sent {
        keys: "mcs = 7\nguard_interval = \"400ns\"",
        bits: 260.0,
        tail: 6.0,
        preamble: 36.0,
        symbol: 3.6,
        control: 24.0,
    },
    Sent { keys: "mcs = 9", bits: 104.0, tail: 6.0, preamble: 40.0, symbol: 4.0, control: 12.0 },
    Sent {
        keys: "streams = 2\nwidth = \"40MHz\"",
        bits: 1080.0,
        tail: 6.0,
        preamble: 40.0,
        symbol: 4.0,
        control: 24.0,
    },
    Sent {
        keys: "mcs = 31\nwidth = \"40MHz\"",
        bits: 2160.0,
        tail: 12.0,
        preamble: 48.0,
        symbol: 4.0,
        control: 24.0,
    },
];

impl Sent {
    /// Time on the air of so many bytes; all symbols together end on a grid of 4 us.
    fn airtime(&self, bytes: u64) -> f64 {
        let symbols = ((16.0 + self.tail + 8.0 * bytes as f64) / self.bits).ceil() * self.symbol;
        self.preamble + (symbols / 4.0 - 1e-9).ceil() * 4.0
    }

    /// Time on the air of a control frame.
    fn answer(&self, bytes: f64) -> f64 {
        20.0 + 4.0 * ((16.0 + 6.0 + 8.0 * bytes) / (4.0 * self.control)).ceil()
    }

    /// Payload rate of datagrams of `packet` bytes in frames of at most `aggregate` bytes, bit/s.
    fn saturated(&self, packet: u64, aggregate: u64) -> f64 {
        let mpdu = packet + 28 + OVERHEAD;
        // Each behind a delimiter, each but the last padded to a multiple of four.
        let frame = |count: u64| (count - 1) * (mpdu + 4).next_multiple_of(4) + mpdu + 4;
        let fits = |count: &u64| frame(*count) <= aggregate && self.airtime(frame(*count)) <= 5_484.0;
        let count = (2..=64).take_while(fits).last().unwrap_or(1);
        let (data, answer) = match count {
            1 => (self.airtime(mpdu), self.answer(14.0)),
            _ => (self.airtime(frame(count)), self.answer(32.0)),
        };
        let exchange = AIFS + MEAN_BACKOFF + data + SIFS + answer + 2.0 * AIR;
        (count * packet * 8) as f64 / exchange * 1e6
    }
}

#[test]
fn a_saturated_link_carries_what_the_closed_form_says() {
    for sent in &MODES {
        for aggregate in [0, 7_935, 65_535] {
            for packet in [200, 1_472] {
                let expected = sent.saturated(packet, aggregate);
                let radio = "[radio]\nstandard = \"802.11n\"\nrts = \"never\"\nreception = \"sinr\"\n";
                let head = format!("{}{radio}{}\naggregate = {aggregate}\n", measure(1.6, 0.2), sent.keys);
                let topology = "[topology]\nkind = \"chain\"\nhops = 1\nspacing = \"200m\"\n[routing]\nprotocol = \"static\"\n";
                let text = format!(
                    "{head}{topology}[defaults]\nscheme = \"newreno\"\n{}",
                    cbr("n0", "n1", expected * 1.2, packet as u32)
                );
                let goodput = run(&text).flows[0].goodput_bps;
                let what = format!("{}, aggregates of {aggregate}, {packet} bytes", sent.keys);
                close(&what, goodput, expected, 0.01);
            }
        }
    }
}

/// Frames that are fixed before their turn are as full, as long as enough waits: a saturated link carries the same. Of a trickle, two
/// packets at once in 10 ms, the first goes alone, where a frame that is filled at the win of the medium has both.
#[test]
fn frames_that_are_fixed_ahead_are_as_full() {
    let sent = &MODES[1];
    let expected = sent.saturated(1_472, 65_535);
    let head = |ahead: u32| {
        let radio = "[radio]\nstandard = \"802.11n\"\nrts = \"never\"\nreception = \"sinr\"\n";
        let topology =
            "[topology]\nkind = \"chain\"\nhops = 1\nspacing = \"200m\"\n[routing]\nprotocol = \"static\"\n";
        let keys = format!("{}\naggregates_ahead = {ahead}\n", sent.keys);
        format!("{}{radio}{keys}{topology}[defaults]\nscheme = \"newreno\"\n", measure(1.6, 0.2))
    };
    for ahead in [1, 2] {
        let goodput = run(&(head(ahead) + &cbr("n0", "n1", expected * 1.2, 1_472))).flows[0].goodput_bps;
        close(&format!("{ahead} frames ahead"), goodput, expected, 0.01);
    }
    let frames = |ahead: u32| run(&(head(ahead) + &cbr("n0", "n1", 0.8e6, 1_000).repeat(2))).frames;
    // A frame and its acknowledgement in 1.6 s for each pair, or for each packet.
    let (pairs, packets) = (frames(0), frames(2));
    assert!(packets as f64 > 1.8 * pairs as f64, "{packets} and {pairs} frames");
}

/// With A-MSDUs of two packets each: an MPDU has 26 bytes of header, 22 before each packet, padding and 4 of FCS.
#[test]
fn mpdus_of_two_packets_carry_what_the_closed_form_says() {
    let sent = &MODES[4];
    for (payload, amsdu) in [(1_472_u64, 3_839), (300, 702)] {
        let subframe = payload + 28 + 22;
        let mpdu = 26 + subframe.next_multiple_of(4) + subframe + 4;
        let frame = |count: u64| (count - 1) * (mpdu + 4).next_multiple_of(4) + mpdu + 4;
        let fits = |count: &u64| frame(*count) <= 65_535 && sent.airtime(frame(*count)) <= 5_484.0;
        let count = (2..=64).take_while(fits).last().expect("a frame of several");
        let exchange =
            AIFS + MEAN_BACKOFF + sent.airtime(frame(count)) + SIFS + sent.answer(32.0) + 2.0 * AIR;
        let expected = (2 * count * payload * 8) as f64 / exchange * 1e6;
        let radio = "[radio]\nstandard = \"802.11n\"\nrts = \"never\"\nreception = \"sinr\"\n";
        let topology =
            "[topology]\nkind = \"chain\"\nhops = 1\nspacing = \"200m\"\n[routing]\nprotocol = \"static\"\n";
        let text = format!(
            "{}{radio}{}\namsdu = {amsdu}\n{topology}[defaults]\nscheme = \"newreno\"\n{}",
            measure(1.6, 0.2),
            sent.keys,
            cbr("n0", "n1", expected * 1.2, payload as u32)
        );
        let result = run(&text);
        close(&format!("{payload} bytes"), result.flows[0].goodput_bps, expected, 0.01);
        assert!(result.flows[0].loss_ratio.is_some());
    }
}

/// A saturated link's counters: full frames of as many packets as the closed form has, one block acknowledgement each and nothing sent
/// again; with a link that loses a tenth of its packets, a tenth goes again.
#[test]
fn links_tell_how_full_frames_were() {
    let link = |loss: &str| {
        let radio = "[radio]\nstandard = \"802.11n\"\nrts = \"never\"\nmcs = 4\n";
        let topology = "[topology]\nkind = \"chain\"\nhops = 1\n[routing]\nprotocol = \"static\"\n";
        let text = format!(
            "{}{radio}{topology}{loss}[defaults]\nscheme = \"newreno\"\n{}",
            measure(1.6, 0.2),
            cbr("n0", "n1", 45e6, 1_472)
        );
        let links = run(&text).links;
        let found = links.iter().find(|link| (link.from.as_str(), link.to.as_str()) == ("n0", "n1"));
        found.and_then(|link| link.aggregates.clone()).expect("frames of several packets")
    };
    let sound = link("");
    // 17 of 1,538 bytes are 5.424 ms, 18 would be beyond 5.484.
    close("MPDUs a frame", sound.mpdus as f64 / sound.frames as f64, 17.0, 0.01);
    assert_eq!((sound.retries, sound.requests), (0, 0));
    assert!(sound.block_acks.abs_diff(sound.frames) <= 1, "{sound:?}");
    let lossy = link("[[radio_link]]\nfrom = \"n0\"\nto = \"n1\"\nloss = 0.1\nsymmetric = false\n");
    close("MPDUs sent again", lossy.retries as f64 / lossy.mpdus as f64, 0.1, 0.2);
    assert_eq!(lossy.requests, 0, "{lossy:?}");
}

/// Datagrams over a chain at MCS 4 whose neighbours are 20.45 m apart: they sense each other over two hops, and hidden senders are three
/// hops away. Goodputs of ns-3.37 in Mbit/s of 1,448 bytes a datagram, with and without aggregates: `bench/ns3/chain.cc` says how.
#[test]
fn chains_carry_what_they_do_in_ns_3() {
    for (hops, offered, aggregate, ns3, tolerance) in [
        (1, 45, 65_535, 35.27, 0.01),
        (1, 32, 0, 22.65, 0.01),
        (2, 22, 65_535, 16.49, 0.02),
        (2, 16, 0, 11.27, 0.02),
        (4, 11, 65_535, 8.01, 0.05),
        (4, 8, 0, 5.49, 0.06),
        (8, 5, 65_535, 4.81, 0.03),
    ] {
        let path: Vec<_> = (0..=hops).map(|node| format!("\"n{node}\"")).collect();
        let text = format!(
            "{}[radio]\nstandard = \"802.11n\"\nmcs = 4\nrts = \"never\"\nreception = \"sinr\"\nerror_model = \"curve\"\n\
             propagation = \"log-distance\"\npath_loss_exponent = 3\ntx_power = \"16dBm\"\nsensitivity = \"-82dBm\"\n\
             cs_sensitivity = \"-82dBm\"\naggregate = {aggregate}\nqueue = 500\n[topology]\nkind = \"chain\"\nhops = {hops}\n\
             spacing = \"20.45m\"\n[routing]\nprotocol = \"static\"\n[defaults]\nscheme = \"newreno\"\n\
             [scheme.newreno]\nrelay = \"drop-tail\"\n{}path = [{}]\n",
            measure(12.0, 4.0),
            cbr("n0", &format!("n{hops}"), f64::from(offered) * 1e6, 1_472),
            path.join(", ")
        );
        let goodput = run(&text).flows[0].goodput_bps / 1e6 * 1_448.0 / 1_472.0;
        close(&format!("{hops} hops, aggregates of {aggregate}"), goodput, ns3, tolerance);
    }
}

/// Without a word of the scheme, the queues above are Linux's, and a scheme that chooses has what it chose.
#[test]
fn the_queues_above_are_linuxs() {
    let head = "[radio]\nstandard = \"802.11n\"\n[topology]\nkind = \"chain\"\nhops = 1\n[routing]\nprotocol = \"static\"\n";
    for (scheme, keys, relay) in [
        ("newreno", "", "mac80211"),
        ("newreno", "[scheme.newreno]\nrelay = \"drop-tail\"\n", "drop-tail"),
        ("newreno", "[scheme.newreno]\naql_high = \"4ms\"\n", "mac80211"),
        ("llap", "", "llap"),
    ] {
        let text = format!(
            "{}{head}[defaults]\nscheme = \"{scheme}\"\n{keys}{}",
            measure(1.0, 0.0),
            cbr("n0", "n1", 1e6, 1_000)
        );
        let parameters = parameters_in_use(&scenario(&text, 1)).expect("it can be run");
        assert_eq!(parameters[scheme]["relay"].as_str(), Some(relay), "{scheme} {keys}");
    }
}

/// Downloads over a chain of 802.11n behind a gateway that paces: packet by packet each access carries one. With an aggregate's worth at a
/// time, learned from acknowledgements that come back at once, both laws of a gateway carry more; on 802.11b, where nothing comes at
/// once, nothing is learned.
#[test]
fn a_gateway_paces_by_what_one_access_carries() {
    let goodput = |scheme: &str, standard: &str, trains: u32| {
        let radio = match standard {
            "802.11n" => {
                "standard = \"802.11n\"\nmcs = 4\nrts = \"never\"\nreception = \"sinr\"\nerror_model = \"curve\"\n\
                 propagation = \"log-distance\"\npath_loss_exponent = 3\ntx_power = \"16dBm\"\nsensitivity = \"-75dBm\"\n\
                 cs_sensitivity = \"-82dBm\"\n[topology]\nkind = \"chain\"\nhops = 4\nspacing = \"20.45m\"\n"
            }
            _ => "rate = \"11Mbps\"\n[topology]\nkind = \"chain\"\nhops = 4\nspacing = \"200m\"\n",
        };
        let text = format!(
            "{}[radio]\n{radio}wired_rate = \"1Gbps\"\nwired_delay = \"5ms\"\n[routing]\nprotocol = \"static\"\n\
             [defaults]\nscheme = \"{scheme}\"\nwindow = 512\n[scheme.{scheme}]\ngap_trains = {trains}\n{}",
            measure(15.0, 5.0),
            flow("B", "n0", "")
        );
        run(&text).flows[0].goodput_bps / 1e6
    };
    for (scheme, gain) in [("tcp-gap", 1.3), ("calm-gateway", 1.2)] {
        let (single, trains) = (goodput(scheme, "802.11n", 1), goodput(scheme, "802.11n", 16));
        println!("{scheme}: {single:.2} and {trains:.2} Mbit/s on 802.11n");
        assert!(trains > gain * single, "{scheme}: {single:.2} and {trains:.2} Mbit/s");
        let (single, trains) = (goodput(scheme, "802.11b", 1), goodput(scheme, "802.11b", 16));
        println!("{scheme}: {single:.3} and {trains:.3} Mbit/s on 802.11b");
        assert!(trains > 0.95 * single, "{scheme}: {single:.3} and {trains:.3} Mbit/s on 802.11b");
    }
}
