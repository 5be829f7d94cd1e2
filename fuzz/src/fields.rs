//! Segments made of arbitrary numbers.

use arbitrary::Arbitrary;
use meshpace_tcp::{Flags, Ns2Stamp, Options, Segment, Timestamps};
use meshpace_units::{Instant, Seq, Span};

/// The fields of a segment as they can stand in a packet. Sequence numbers are distances from where the stream is:
/// numbers from nowhere hardly get past the first check.
#[derive(Arbitrary, Clone, Debug)]
pub struct Fields {
    /// From the sequence number expected next.
    pub seq: Distance,
    /// From the acknowledgement number expected next.
    pub ack: Distance,
    kind: Kind,
    window: Window,
    payload: Payload,
    options: OptionFields,
}

/// How far off a number is.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Distance {
    /// Not at all.
    Exact,
    /// Whole segments of 1,460 bytes.
    Segments(i8),
    /// A little.
    Near(i16),
    /// Anywhere.
    Any(u32),
}

/// The likely flags, and all of them.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Ack,
    Syn,
    SynAck,
    FinAck,
    Rst,
    Any { syn: bool, ack: bool, fin: bool, rst: bool, psh: bool, ece: bool, cwr: bool },
}

/// Duplicate acknowledgements repeat the window.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Window {
    Usual,
    Any(u16),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Payload {
    None,
    Full,
    Any(u16),
}

#[derive(Arbitrary, Clone, Debug)]
struct OptionFields {
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack_permitted: bool,
    timestamps: Option<(u32, u32)>,
    /// Distances from the acknowledgement number.
    sack: [Option<(Distance, Distance)>; 2],
    rtt_wired_ms: Option<u16>,
    ns2: Option<(u32, Option<u32>)>,
}

impl Distance {
    /// The number that far from `base`.
    #[must_use]
    pub fn from(self, base: Seq) -> Seq {
        match self {
            Self::Exact => base,
            Self::Segments(n) => base + 1_460_u32.wrapping_mul(i32::from(n) as u32),
            Self::Near(n) => base + i32::from(n) as u32,
            Self::Any(n) => Seq(n),
        }
    }
}

impl Kind {
    fn flags(self) -> Flags {
        let none = Flags::default();
        match self {
            Self::Ack => Flags { ack: true, ..none },
            Self::Syn => Flags { syn: true, ..none },
            Self::SynAck => Flags { syn: true, ack: true, ..none },
            Self::FinAck => Flags { fin: true, ack: true, ..none },
            Self::Rst => Flags { rst: true, ..none },
            Self::Any { syn, ack, fin, rst, psh, ece, cwr } => Flags { syn, ack, fin, rst, psh, ece, cwr },
        }
    }
}

impl Fields {
    /// The segment, where the sender's stream is at `seq` and the receiver's at `ack`. `ports`: source, destination.
    #[must_use]
    pub fn segment(&self, seq: Seq, ack: Seq, ports: (u16, u16)) -> Segment {
        let (seq, ack) = (self.seq.from(seq), self.ack.from(ack));
        let sack = self.options.sack.map(|block| block.map(|(a, b)| (a.from(ack), b.from(ack))));
        let time = |us: u32| Instant::ZERO + Span::from_micros(u64::from(us));
        Segment {
            ack,
            flags: self.kind.flags(),
            window: match self.window {
                Window::Usual => 60_000,
                Window::Any(window) => window,
            },
            payload: match self.payload {
                Payload::None => 0,
                Payload::Full => 1_460,
                Payload::Any(bytes) => u32::from(bytes),
            },
            options: Options {
                mss: self.options.mss,
                window_scale: self.options.window_scale,
                sack_permitted: self.options.sack_permitted,
                timestamps: self.options.timestamps.map(|(value, echo)| Timestamps { value, echo }),
                sack: [sack[0], sack[1], None, None],
                rtt_wired: self.options.rtt_wired_ms.map(|ms| Span::from_millis(u64::from(ms))),
            },
            ns2: self.options.ns2.map(|(sent, echo)| Ns2Stamp { sent: time(sent), echo: echo.map(time) }),
            ..Segment::new(ports.0, ports.1, seq)
        }
    }
}
