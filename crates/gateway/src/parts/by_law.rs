//! Gateways of other laws than TCP-GAP's: each law of the table makes two parts, without and with goodput control, and either may have a
//! hook beside its machine.

use super::pacing::{KEYS, REPAIR};
use super::{Behaviour, GatewayPart, pacing};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use meshpace_hook::{HOOKS, PacketHook};
use meshpace_keys::{Choice, Key, Part, Values};
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

type Build = fn(&Values, &'static FlowLawPart) -> Behaviour;

/// The hook between the machine and the Internet.
const HOOK: &str = "gap_hook";

/// The key of the hook, then those of every hook: made anew, to be called once a part.
fn hook_keys() -> Vec<&'static [Key]> {
    let words: Vec<&'static str> = HOOKS.iter().map(|part| part.about.word).collect();
    let doc = "What sees packets between the gateway's machine and the Internet: a hook, by its word.";
    let key: &'static [Key] = Vec::from([Key::word(HOOK, words.leak(), HOOKS[0].about.word, doc)]).leak();
    [key].into_iter().chain(HOOKS.iter().flat_map(|part| part.about.keys.iter().copied())).collect()
}

fn hook(values: &Values) -> Option<Box<dyn PacketHook>> {
    let word = values.get(HOOK)?.clone().text();
    let part = HOOKS.iter().find(|part| part.about.word == word)?;
    (part.build)(values)
}

/// A gateway that differs from TCP-GAP's by its law, and may have a hook beside it.
fn part(law: &'static FlowLawPart, controlled: bool) -> GatewayPart {
    let Choice { word, doc, source, needs, reconstructed, .. } = law.about;
    let mut keys: Vec<&'static [Key]> = law.about.keys.to_vec();
    let (suffix, control, build) = if controlled {
        keys.push(&GOODPUT_CONTROL_KEYS);
        (
            "+goodput-control",
            " Goodput control caps flows that take more than their share.",
            (|values, law| Behaviour {
                hook: hook(values),
                ..(pacing::WITH_GOODPUT_CONTROL.build)(values, law)
            }) as Build,
        )
    } else {
        (
            "",
            "",
            (|values, law| Behaviour { hook: hook(values), ..(pacing::PART.build)(values, law) }) as Build,
        )
    };
    keys.extend([&REPAIR as &[Key], &KEYS]);
    keys.extend(hook_keys());
    let about = Choice {
        word: format!("{word}{suffix}").leak(),
        doc: format!("The gateway paces what goes into the mesh by the law {word}: {doc}{control}").leak(),
        source: format!("{source}; schemes.md 3.1 to 3.3").leak(),
        keys: keys.leak(),
        presets: &[],
        bounds: &[],
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
    use meshpace_keys::Setting;

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
    fn a_gateway_by_a_law_has_the_hook_that_it_is_told() {
        let (part, law) = law_gateways().into_iter().next().expect("a law after the first");
        let built = |word: &str| {
            let defaults = Values::defaults(part.about.keys());
            let of = |key: &'static Key| {
                let default = defaults.get(key.name).cloned().expect("a default");
                (key.name, if key.name == HOOK { Setting::Text(word.into()) } else { default })
            };
            (part.build)(&Values::new(part.about.keys().map(of)), law)
        };
        for hook in HOOKS {
            let behaviour = built(hook.about.word);
            assert!(behaviour.machine.is_some());
            assert_eq!(behaviour.hook.is_some(), hook.about.word != "none", "{}", hook.about.word);
        }
    }

    #[test]
    fn every_law_but_the_first_makes_two() {
        let words: Vec<_> = law_gateways().iter().map(|(part, _)| part.about.word).collect();
        assert_eq!(words.len(), 2 * (FLOW_LAWS.len() - 1), "{words:?}");
    }
}
