//! Which segments the eBPF programs believe, and which the gateway of user space does: the same.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::fields::Fields;
use meshpace_fuzz::plausible;
use meshpace_fuzz::streams::Streams;
use meshpace_gateway::{Judgement, Side, Windows};
use meshpace_tcp::Segment;

#[derive(Arbitrary, Debug)]
enum Step {
    /// Any segment.
    Segment { wired: bool, fields: Fields },
    /// SYN and SYN-ACK.
    Open { wired: bool },
    /// Data in sequence.
    Data { wired: bool, quarters: u8 },
    /// A part of what is outstanding is acknowledged.
    Acknowledge { wired: bool, part: u8 },
}

#[derive(Default)]
struct Both {
    user: Windows,
    kernel: plausible::Windows,
}

impl Both {
    fn pass(&mut self, wired: bool, segment: &Segment) {
        let side = if wired { Side::Wired } else { Side::Wireless };
        let judgement = self.user.judge(side, segment);
        match judgement {
            Judgement::Plausible => self.user.note(side, segment),
            Judgement::Anew => self.user = Windows::default(),
            Judgement::Implausible => {}
        }
        assert_eq!(self.kernel.pass(side, segment), judgement, "{side:?} {segment:?}, after {:?}", self.user);
    }
}

fuzz_target!(|steps: Vec<Step>| {
    let mut both = Both::default();
    let mut streams = Streams::default();
    for step in &steps {
        match *step {
            Step::Segment { wired, ref fields } => both.pass(wired, &streams.segment(0, wired, fields)),
            Step::Open { wired } => {
                let [syn, answer] = streams.open(0, wired);
                both.pass(wired, &syn);
                both.pass(!wired, &answer);
            }
            Step::Data { wired, quarters } => both.pass(wired, &streams.data(0, wired, quarters % 5)),
            Step::Acknowledge { wired, part } => both.pass(wired, &streams.acknowledgement(0, wired, part)),
        }
    }
});
