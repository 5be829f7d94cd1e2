//! What the paper leaves open, or says in two ways: an option each (schemes.md 8, "Options in one place").

use meshpace_keys::{Key, Values, words};
use meshpace_units::Span;

words! {
    /// How a core node makes its packets take as long as they will take at the next hop.
    pub enum Core {
        /// Each packet waits PD from its arrival on; PD adds up what is missing, (8.3).
        Integrator = "integrator",
        /// Each packet waits what the next hop takes longer than this node would without waiting.
        Hold = "hold",
        /// PD is the time between two packets.
        Spacing = "spacing",
        /// The same, at most NHT, and none after the Input Queue has been empty for that long.
        SpacingClamped = "spacing-clamped",
    }
}

words! {
    /// Between which moments HT and NHT are.
    pub enum Clock {
        /// From end of DATA to end of DATA.
        DataEnd = "data-end",
        /// HT until the MAC's acknowledgement, NHT from then on.
        AckEnd = "ack-end",
        /// The same, and HT without the time of our DATA on the air: Algorithm 2, step 2.
        Algorithm2 = "algorithm-2",
    }
}

words! {
    /// When PD is computed anew.
    pub enum Update {
        /// With each sample of NHT.
        NhtSample = "nht-sample",
        /// With each packet that is through, too.
        Packet = "packet",
    }
}

words! {
    /// What a pacing timer does while its queue is empty.
    pub enum Idle {
        /// It rests: a packet that comes later than the spacing moves at once.
        Token = "token",
        /// It never stops: a packet waits for its next expiry (ingress, and core with a spacing).
        Free = "free",
        /// The same at the core, with a spacing; token at the ingress.
        FreeCore = "free-core",
    }
}

words! {
    /// When a new PD or NHT counts.
    pub enum PdChange {
        /// From the next head of the queue on.
        Next = "next",
        /// For the head that waits, too.
        AtOnce = "at-once",
    }
}

words! {
    /// When the head of a queue with own and relayed packets moves.
    pub enum Mixed {
        /// At the later of both rules' times.
        Later = "later",
        /// By its own rule.
        OwnRule = "own-rule",
    }
}

words! {
    /// What becomes of a packet that was not overheard.
    pub enum Miss {
        /// The timer's length is the sample.
        Penalty = "penalty",
        /// No sample.
        Skip = "skip",
    }
}

words! {
    /// Which of the next hop's transmissions counts.
    pub enum CopyHeard {
        /// The first that is read.
        First = "first",
        /// The last that is read before it sends something else, or the timer runs out.
        Last = "last",
    }
}

words! {
    /// What becomes of pure TCP acknowledgements.
    pub enum Acks {
        /// Paced like data, in the queue of their own egress.
        Paced = "paced",
        /// They pass.
        Pass = "pass",
    }
}

/// The keys.
pub(super) static KEYS: [Key; 17] = [
    Key::word(
        "llap_core",
        Core::WORDS,
        Core::Integrator.word(),
        "How a core node delays (schemes.md 8, Core law).",
    ),
    Key::word(
        "llap_clock",
        Clock::WORDS,
        Clock::DataEnd.word(),
        "Between which moments HT and NHT are taken.",
    ),
    Key::word("llap_update", Update::WORDS, Update::NhtSample.word(), "When PD is computed anew."),
    Key::word(
        "llap_idle",
        Idle::WORDS,
        Idle::Token.word(),
        "Whether pacing timers go on while nothing waits.",
    ),
    Key::word("llap_pd_change", PdChange::WORDS, PdChange::Next.word(), "When a new PD or NHT counts."),
    Key::word(
        "llap_mixed",
        Mixed::WORDS,
        Mixed::Later.word(),
        "When the head of a queue of own and relayed packets moves.",
    ),
    Key::word(
        "llap_miss",
        Miss::WORDS,
        Miss::Penalty.word(),
        "What a packet that was not overheard in time tells.",
    ),
    Key::time(
        "llap_penalty_cap",
        Span::from_secs(3600),
        Span::from_millis(500),
        "The largest sample of a packet that was not overheard; an hour is no limit.",
    ),
    Key::time(
        "llap_first_timer",
        Span::from_secs(60),
        Span::from_millis(500),
        "How long to listen for a packet while NHT is unknown.",
    ),
    Key::number("llap_timer", (0.1, 1000.0), 4.0, "How long to listen for a packet, in NHT."),
    Key::word(
        "llap_copy",
        CopyHeard::WORDS,
        CopyHeard::First.word(),
        "Which transmission of the next hop counts.",
    ),
    Key::word("llap_acks", Acks::WORDS, Acks::Paced.word(), "Whether pure TCP acknowledgements are paced."),
    Key::count(
        "llap_queue",
        (1, 1_000_000),
        25,
        "Packets a node over all its queues, the one in the MAC included; radio.queue holds, too.",
    ),
    Key::count("llap_reserve", (0, 1_000_000), 0, "Places of these that own packets leave to relayed ones."),
    Key::count(
        "llap_id_bytes",
        (0, 4),
        0,
        "Bytes of an identity that the ingress adds to a packet; 0: the FCS will do.",
    ),
    Key::number("llap_alpha", (0.0, 0.999), 0.9, "Weight of the old value in the averages, (8.1) and (8.2)."),
    Key::count("llap_k", (1, 1000), 4, "The ingress sends a packet every min(k, hops) NHT."),
];

/// What was chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub core: Core,
    pub clock: Clock,
    pub update: Update,
    pub idle: Idle,
    pub pd_change: PdChange,
    pub mixed: Mixed,
    pub miss: Miss,
    pub penalty_cap: Span,
    pub first_timer: Span,
    pub timer: f64,
    pub copy: CopyHeard,
    pub acks: Acks,
    pub queue: usize,
    pub reserve: usize,
    pub id_bytes: u32,
    pub alpha: f64,
    pub k: u32,
}

impl Options {
    pub fn new(values: &Values) -> Self {
        Self {
            core: values.word("llap_core"),
            clock: values.word("llap_clock"),
            update: values.word("llap_update"),
            idle: values.word("llap_idle"),
            pd_change: values.word("llap_pd_change"),
            mixed: values.word("llap_mixed"),
            miss: values.word("llap_miss"),
            penalty_cap: values.span("llap_penalty_cap"),
            first_timer: values.span("llap_first_timer"),
            timer: values.real("llap_timer"),
            copy: values.word("llap_copy"),
            acks: values.word("llap_acks"),
            queue: values.size("llap_queue"),
            reserve: values.size("llap_reserve"),
            id_bytes: values.count("llap_id_bytes"),
            alpha: values.real("llap_alpha"),
            k: values.count("llap_k"),
        }
    }

    /// True if the core's PD is the time between two packets.
    pub fn core_spaces(&self) -> bool {
        matches!(self.core, Core::Spacing | Core::SpacingClamped)
    }
}
