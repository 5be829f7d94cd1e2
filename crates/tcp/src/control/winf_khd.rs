//! TCP-AP with rt-Winf, and WE TCP-AP: the k-hop delay by measured capacity and available bandwidth, with a factor for long
//! paths (schemes.md 10).

use super::khd::{INITIAL_INTERVAL, LAW};
use super::law_pacer::{gate, take_token, view};
use super::limiter::Waiting;
use super::part::{EXPLICIT_HEADER, HEADER, KEEPS_RTO, PacingPart};
use super::{Ack, Asks, Control, Departure, Feedback, Pace, PacingView, Reaction};
use alloc::boxed::Box;
use meshpace_explicit::winf::Pair;
use meshpace_explicit::winf::header::{Header, KIND};
use meshpace_keys::{Key, Need, words};
use meshpace_pacing::{AdaptiveConfig, LinkRates, Measured, Pacer, RateLaw, Route};
use meshpace_units::{Bytes, Instant, Rate, Span};

pub(super) static PART: PacingPart = PacingPart::new(
    "winf-khd",
    "By the k-hop delay with rt-Winf's capacity and available bandwidth (TCP-AP with rt-Winf, WE TCP-AP).",
    "schemes.md 10; Barreto 2016",
    |values, _| {
        Some(Box::new(WinfKhd::new(
            AdaptiveConfig::from_values(values),
            Options {
                eq3: values.word("we_eq3"),
                scope: values.word("we_scope"),
                factor: values.word("we_factor"),
                from: values.count("we_from"),
                nodes: values.word("we_np"),
                header: values.count(EXPLICIT_HEADER) as u8,
            },
        )))
    },
)
.keys(&[&LAW, &INITIAL_INTERVAL, &KEYS, &HEADER, &KEEPS_RTO])
.needs(&[Need { key: "relay", words: &["winf"] }]);

words! {
    /// The sign of s_ack in equation 3 (`we_eq3`; schemes.md 10.1).
    enum Eq3 {
        /// Both transmission times are taken off.
        Plus = "plus",
        /// As printed.
        Literal = "literal",
    }
}

words! {
    /// Whose capacity and available bandwidth count (`we_scope`; schemes.md 10.1).
    enum Scope {
        /// The least of the sender's first four hops.
        FourHop = "four-hop",
        /// The least of all.
        Path = "path",
        /// Those of the sender's own link.
        FirstHop = "first-hop",
    }
}

words! {
    /// The factor of long paths (`we_factor`; schemes.md 10.2).
    enum Factor {
        /// (NP + 1)/NP.
        A = "A",
        /// (NP + 1)/(NP W), W in Mbit/s: to the letter.
        B = "B",
        /// (NP + 1)/NP times AB'/C.
        C = "C",
        /// NP/(NP + 1).
        Inverse = "inverse",
        /// None.
        Off = "off",
    }
}

words! {
    /// What NP in the factor counts (`we_np`; schemes.md 10.2).
    enum Nodes {
        /// The nodes of the path.
        Path = "path",
        /// Its contention count: those that one node senses, itself included, at the most (section 14).
        Contention = "contention",
    }
}

static KEYS: [Key; 5] = [
    Key::word(
        "we_eq3",
        Eq3::WORDS,
        Eq3::Plus.word(),
        "Whether the acknowledgement's time on the air is taken off the round trip, or added as printed (schemes.md 10.1).",
    ),
    Key::word(
        "we_scope",
        Scope::WORDS,
        Scope::FourHop.word(),
        "Whose capacity and available bandwidth count (schemes.md 10.1).",
    ),
    Key::word(
        "we_factor",
        Factor::WORDS,
        Factor::Off.word(),
        "The reading of WE TCP-AP's factor for long paths (schemes.md 10.2).",
    ),
    Key::word(
        "we_np",
        Nodes::WORDS,
        Nodes::Path.word(),
        "What the factor counts: the nodes of the path, or the most of them that one senses (schemes.md 10.2, 14).",
    ),
    Key::count("we_from", (4, 5), 5, "The first number of hops with the factor (schemes.md 10.2)."),
];

#[derive(Clone, Copy, Debug)]
struct Options {
    eq3: Eq3,
    scope: Scope,
    factor: Factor,
    from: u32,
    nodes: Nodes,
    header: u8,
}

#[derive(Clone, Debug)]
struct WinfKhd {
    options: Options,
    law: RateLaw,
    pacer: Pacer,
}

impl WinfKhd {
    const fn new(law: AdaptiveConfig, options: Options) -> Self {
        let law = RateLaw::new(law);
        let pacer = Pacer::new(law.interval());
        Self { options, law, pacer }
    }

    /// The pair that counts of what an acknowledgement brought back.
    fn pair(&self, header: &Header) -> Option<Pair> {
        match self.options.scope {
            Scope::FourHop => header.four,
            Scope::Path => header.path,
            Scope::FirstHop => header.first,
        }
    }

    /// Rf (10.5) over so many hops, with what their nodes told; `nominal` is the channel's rate.
    fn factor(&self, hops: u32, told: Option<&Header>, pair: Pair, nominal: f64) -> f64 {
        if hops < self.options.from {
            return 1.0;
        }
        let contention = told.and_then(|header| header.contention).filter(|nodes| *nodes > 0);
        // Before anything is measured, it is the number of nodes of the path.
        let nodes = contention.map_or(f64::from(hops) + 1.0, f64::from);
        match self.options.factor {
            Factor::A => (nodes + 1.0) / nodes,
            Factor::B => (nodes + 1.0) / (nodes * nominal / 1e6),
            Factor::C => (nodes + 1.0) / nodes * (pair.available / pair.capacity),
            Factor::Inverse => nodes / (nodes + 1.0),
            Factor::Off => 1.0,
        }
    }

    fn on_round_trip(&mut self, rtt: Span, ack: &Ack<'_>) {
        let Some(Route { hops: Some(hops), rates }) = ack.route else { return };
        let rate = |bits: f64| Rate::bits_per_sec(bits.max(1.0) as u64);
        let nominal = match rates {
            LinkRates::Uniform(rate) => rate.as_bits_per_sec() as f64,
            LinkRates::PerLink(rates) => {
                rates.iter().map(|rate| rate.as_bits_per_sec()).min().unwrap_or(0) as f64
            }
        };
        // Before rt-Winf has told anything the law is TCP-AP's.
        let told = ack.feedback.and_then(|feedback| feedback.read(KIND, Header::from_bytes));
        let pair = told
            .as_ref()
            .and_then(|told| self.pair(told))
            .unwrap_or(Pair { capacity: nominal, available: nominal });
        let route = Route::uniform(Some(*hops), rate(pair.capacity));
        let Some(path) = self.law.config().path(Bytes(u64::from(ack.mss)), &route) else { return };
        let literal = self.options.eq3 == Eq3::Literal;
        let path = path.measured(Measured { available: rate(pair.available), literal });
        let Ok(interval) = self.law.on_sample(rtt, &path) else { return };
        // After smoothing: what is smoothed holds no factor of an earlier number of hops.
        let factor = self.factor(*hops, told.as_ref(), pair, nominal);
        self.pacer.set_interval(ack.now, Some(interval.checked_mul_f64(factor).unwrap_or(Span::MAX)));
    }
}

impl Control for WinfKhd {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, route: true, relays: Some(self.options.header), ..Asks::default() }
    }

    /// The sample is the most recently sent of the newly acknowledged segments (schemes.md 1.3, rule 3).
    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let Some(rtt) = ack.newest {
            self.on_round_trip(rtt, ack);
        }
        Reaction::Continue
    }

    fn on_departure(&mut self, departure: &Departure) {
        take_token(&mut self.pacer, departure);
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, Waiting::Permission)
    }

    fn request(&self, _: u32) -> Option<Feedback> {
        let contention = (self.options.nodes == Nodes::Contention).then_some(0);
        Feedback::new(KIND, &Header { contention, ..Header::default() }.to_bytes())
    }

    fn pacing(&self) -> PacingView {
        view(&self.law, self.pacer.interval())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{AckKind, Outstanding};
    use crate::tests::bare;

    const PAIR: Pair = Pair { capacity: 7.605e6, available: 3.94e6 };

    fn sender(factor: Factor, from: u32) -> WinfKhd {
        let nodes = Nodes::Path;
        let options = Options { eq3: Eq3::Plus, scope: Scope::Path, factor, from, nodes, header: 0 };
        WinfKhd::new(AdaptiveConfig::PAPER, options)
    }

    /// An acknowledgement over so many hops, a round trip of 10 ms a hop, every link with the same pair.
    fn interval_ms(sender: WinfKhd, hops: u32, told: bool) -> f64 {
        interval_ms_near(sender, hops, told, None)
    }

    /// The same with a contention count.
    fn interval_ms_near(mut sender: WinfKhd, hops: u32, told: bool, contention: Option<u8>) -> f64 {
        let mut header = Header { contention, ..Header::default() };
        (0..hops).for_each(|_| header.pass(PAIR));
        let feedback = Feedback::new(KIND, &header.to_bytes()).filter(|_| told);
        let route = Route::uniform(Some(hops), Rate::bits_per_sec(11_000_000));
        let rtt = Some(Span::from_millis(10) * u64::from(hops));
        let out = Outstanding { queued: false, una: 1, nxt: 1461, max: 1461, flight: 1.0, limit: 64.0 };
        let (route, feedback) = (Some(&route), feedback.as_ref());
        let ack = bare(AckKind::New, out, 1460);
        sender.on_ack(&Ack { acked: 1460, oldest: rtt, newest: rtt, route, feedback, ..ack });
        sender.pacing().interval.expect("it paces").as_secs_f64() * 1e3
    }

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 0.02, "{got}, not {expected}");
    }

    /// schemes.md 10.2; the header carries whole units of 10 kbit/s.
    #[test]
    fn the_vectors_of_the_readings() {
        for factor in [Factor::A, Factor::B, Factor::C, Factor::Inverse, Factor::Off] {
            close(interval_ms(sender(factor, 5), 4, true), 29.05);
        }
        for (factor, expected) in [
            (Factor::A, 32.27),
            (Factor::B, 2.934),
            (Factor::C, 16.72),
            (Factor::Inverse, 26.14),
            (Factor::Off, 29.05),
        ] {
            close(interval_ms(sender(factor, 5), 8, true), expected);
        }
        close(interval_ms(sender(Factor::A, 4), 4, true), 29.05 * 1.2);
    }

    /// Inside a straight chain of 200 m five nodes contend (schemes.md 14), however long it is: 1 + 1/5.
    #[test]
    fn the_factor_may_count_the_nodes_that_contend() {
        let asks = || {
            let mut sender = sender(Factor::A, 5);
            sender.options.nodes = Nodes::Contention;
            sender
        };
        let asked = asks().request(0).and_then(|said| said.read(KIND, Header::from_bytes));
        assert_eq!(asked.map(|header| header.contention), Some(Some(0)));
        close(interval_ms_near(asks(), 8, true, Some(5)), 29.05 * 1.2);
        close(interval_ms_near(asks(), 4, true, Some(5)), 29.05);
        close(interval_ms_near(asks(), 8, true, Some(0)), 32.27);
        let asked = sender(Factor::A, 5).request(0).and_then(|said| said.read(KIND, Header::from_bytes));
        assert_eq!(asked.map(|header| header.contention), Some(None), "nobody asks by default");
    }

    #[test]
    fn without_rt_winf_it_is_tcp_ap() {
        close(interval_ms(sender(Factor::A, 5), 4, false), 22.124);
        assert!(interval_ms(sender(Factor::A, 5), 4, true) > 22.2, "never faster at the same round trip");
    }
}
