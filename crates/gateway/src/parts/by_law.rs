//! Gateways of other laws than TCP-GAP's: each law of the table makes two parts, without and with goodput control.

use super::pacing::{KEYS, REPAIR};
use super::{GatewayPart, pacing, pacing_and_goodput_control};
use alloc::format;
use alloc::vec::Vec;
use meshpace_keys::{Choice, Key, Part};
use meshpace_pacing::{FLOW_LAWS, FlowLawPart, GOODPUT_CONTROL_KEYS};

/// The gateways of the laws after the first, each with its law. They are made anew, and what they say of themselves stays in memory:
/// to be called once.
#[must_use]
pub fn law_gateways() -> Vec<(GatewayPart, &'static FlowLawPart)> {
    FLOW_LAWS
        .iter()
        .skip(1)
        .flat_map(|&law| [false, true].map(|controlled| (part(law, controlled), law)))
        .collect()
}

/// A gateway that differs from TCP-GAP's by its law.
fn part(law: &'static FlowLawPart, controlled: bool) -> GatewayPart {
    let Choice { word, doc, source, needs, reconstructed, .. } = law.about;
    let mut keys: Vec<&'static [Key]> = law.about.keys.to_vec();
    let (suffix, control, build) = if controlled {
        keys.push(&GOODPUT_CONTROL_KEYS);
        (
            "+goodput-control",
            " Goodput control caps flows that take more than their share.",
            pacing_and_goodput_control::PART.build,
        )
    } else {
        ("", "", pacing::PART.build)
    };
    keys.extend([&REPAIR as &[Key], &KEYS]);
    let about = Choice {
        word: format!("{word}{suffix}").leak(),
        doc: format!("The gateway paces what goes into the mesh by the law {word}: {doc}{control}").leak(),
        source: format!("{source}; schemes.md 3.1 to 3.3").leak(),
        keys: keys.leak(),
        needs,
        brings: &[],
        reconstructed,
    };
    Part { about, build }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Equipment};
    use meshpace_keys::Values;

    #[test]
    fn a_gateway_by_a_law_is_tcp_gaps_with_that_law() {
        let law = FLOW_LAWS[0];
        for (controlled, word) in [(false, "khd"), (true, "khd+goodput-control")] {
            let part = part(law, controlled);
            let built = (part.build)(&Values::defaults(part.about.keys()), law).machine.expect("it acts");
            let control = Config::PAPER.goodput_control.filter(|_| controlled);
            let config = Config { goodput_control: control, ..Config::PAPER };
            assert_eq!((part.about.word, &built), (word, &Equipment { config, law: built.law.clone() }));
            assert_eq!(built.law.word(), Some("khd"));
        }
    }

    #[test]
    fn every_law_but_the_first_makes_two() {
        let words: Vec<_> = law_gateways().iter().map(|(part, _)| part.about.word).collect();
        assert_eq!(words.len(), 2 * (FLOW_LAWS.len() - 1), "{words:?}");
    }
}
