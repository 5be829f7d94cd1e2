//! `[law]` and `[gateway]`: parameters of the scheme tcp-gap, under the names that schemes.md and scenario files use.

use super::Memory;
use meshpace_hook::HOOKS;
use meshpace_keys::Choice;
use meshpace_pacing::{FLOW_LAWS, FlowLawPart};
use meshpace_schemes::{ParamError, Scheme, lookup, parameters};
use meshpace_settings::{
    FileError, Key, Location, RawValue, Setting, Settings, Value as Toml, basic_string, quoted, shown,
    suggestion,
};
use meshpace_units::Span;
use std::sync::LazyLock;

/// The key that chooses the law, and the key that switches goodput control on; in a scheme both belong to
/// `gateway`.
const FLOW_LAW: &str = "flow_law";
const GOODPUT_CONTROL: &str = "goodput_control";
/// The key that chooses a hook, which is the scheme's relay.
const HOOK: &str = "hook";
/// The relay without a hook.
const NO_HOOK: &str = "drop-tail";
/// What the scheme's word has where goodput control is on.
const CONTROLLED: &str = "+goodput-control";

/// Keys of `[law]`, in the order in which they are documented; those of other laws than TCP-GAP's follow.
const LAW: [&str; 12] = [
    FLOW_LAW,
    "alpha",
    "n",
    "history",
    "ap_short_path",
    "ap_variation",
    "ap_divisor",
    "ap_samples",
    "ap_clamp_queueing",
    "delaybound",
    "initial_interval",
    "ap_overhead_bytes",
];

/// Keys of `[gateway]`; those of hooks follow.
const GATEWAY: [&str; 34] = [
    HOOK,
    GOODPUT_CONTROL,
    "local_retransmission",
    "gc_profile",
    "gc_interval",
    "gc_threshold",
    "gc_order",
    "gc_reset",
    "gc_aging",
    "gc_aging_factor",
    "gc_improvement",
    "gc_hold_off",
    "gc_hold_off_max",
    "gc_backlog_share",
    "gc_backlog_rtt",
    "gc_backlog_losses",
    "gc_idle_runs",
    "gc_reset_share",
    "gc_cap_min",
    "gap_queue",
    "gap_queue_target",
    "gap_queue_interval",
    "gap_window",
    "gap_retransmissions",
    "gap_buffer_windows",
    "gap_buffer_total",
    "gap_held_max",
    "gap_flows_max",
    "gap_segments_max",
    "gap_segments_total",
    "gap_idle",
    "gap_late_tolerance",
    "gap_burst_time",
    "gap_trains",
];

/// The tables, by name.
pub(super) static TABLES: LazyLock<[(&str, Vec<&str>); 2]> = LazyLock::new(|| {
    let all = |ours: &[&'static str], parts: &mut dyn Iterator<Item = &'static Choice>| {
        let mut keys = ours.to_vec();
        for key in parts.flat_map(Choice::keys) {
            if !keys.contains(&key.name) {
                keys.push(key.name);
            }
        }
        keys
    };
    let law = all(&LAW, &mut FLOW_LAWS.iter().map(|law| &law.about));
    [("law", law), ("gateway", all(&GATEWAY, &mut HOOKS.iter().map(|hook| &hook.about)))]
});

/// What a key of the file says in a scheme.
enum Meaning {
    /// The same value.
    Same,
    /// Words of its own.
    Words([(Toml, &'static str); 2]),
    /// The law in the scheme's gateway.
    FlowLaw,
    /// Whether the scheme's gateway has goodput control.
    GoodputControl,
    /// The hook that the scheme's relay is.
    Hook,
}

/// The packets that wait in all queues of a live gateway, unless the file says otherwise: at two kilobytes of kernel
/// memory each, as much as a small router can spare.
const HELD_MAX: i64 = 16_384;

/// Limits that follow the machine's memory where the file does not give them.
pub(super) const OF_MEMORY: [&str; 4] =
    ["gap_buffer_total", "gap_held_max", "gap_flows_max", "gap_segments_total"];

/// A key of one of the tables.
pub(super) struct Parameter {
    /// Its name in the file.
    pub key: &'static str,
    /// The scheme's parameter that it sets.
    param: &'static Key,
    means: Meaning,
    /// What it is.
    pub doc: &'static str,
}

impl Parameter {
    /// The key of that name.
    pub(super) fn named(key: &'static str) -> Self {
        let text = |word: &str| Toml::Text(word.to_owned());
        let (name, means, doc) = match key {
            GOODPUT_CONTROL => (
                "gateway",
                Meaning::GoodputControl,
                Some(
                    "Whether downward flows that take more than their share are capped while that helps the slow ones (schemes.md 3.5).",
                ),
            ),
            FLOW_LAW => (
                "gateway",
                Meaning::FlowLaw,
                Some(
                    "What a flow's pace follows from; the keys below are those of khd, TCP-GAP's, unless they say otherwise.",
                ),
            ),
            HOOK => (
                "relay",
                Meaning::Hook,
                Some(
                    "What sees each packet between the gateway and the Internet, both ways, of flows whose mode is pace, under datapath = \"nfqueue\".",
                ),
            ),
            "local_retransmission" => (
                "gap_dupack",
                Meaning::Words([(text("snoop"), "snoop"), (text("off"), "off")]),
                Some(
                    "snoop repairs what the mesh lost from a cache and keeps the duplicate ACKs, off forwards them (schemes.md 3.3).",
                ),
            ),
            _ => (key, Meaning::Same, None),
        };
        let param = parameters().find(|param| param.name == name);
        let param = param.unwrap_or_else(|| panic!("no scheme has a parameter {name}"));
        Self { key, param, means, doc: doc.unwrap_or(param.doc) }
    }

    /// What it may be, in words.
    pub(super) fn allowed(&self) -> String {
        match &self.means {
            Meaning::Words(words) => words.iter().map(|(word, _)| word.toml()).collect::<Vec<_>>().join(", "),
            Meaning::GoodputControl => "true, false".to_owned(),
            Meaning::FlowLaw => {
                FLOW_LAWS.iter().map(|law| basic_string(law.about.word)).collect::<Vec<_>>().join(", ")
            }
            Meaning::Hook => {
                HOOKS.iter().map(|hook| basic_string(hook.about.word)).collect::<Vec<_>>().join(", ")
            }
            Meaning::Same => self.param.kind.allowed(),
        }
    }

    /// The parameter's default, in TOML's notation. For a parameter of a law that is not the default, it is the value
    /// where that law is chosen.
    pub(super) fn default(&self) -> Option<String> {
        let by_law = || Some(self.param.default?.toml());
        self.value_in(&defaults(None)).or_else(by_law)
    }

    /// Its value in a scheme, in TOML's notation; `None` if the scheme has no such part.
    pub(super) fn value_in(&self, scheme: &Scheme) -> Option<String> {
        if self.only_with(scheme).is_some() {
            return None;
        }
        let value = scheme.get(self.param.name)?;
        Some(match &self.means {
            Meaning::Words(words) => {
                let word = words.iter().find(|(_, meant)| value == Setting::Text((*meant).to_owned()));
                word.unwrap_or_else(|| panic!("{} has no word for {value}", self.key)).0.toml()
            }
            Meaning::FlowLaw => basic_string(law_of(scheme).about.word),
            Meaning::GoodputControl => Toml::Bool(is_controlled(scheme)).toml(),
            Meaning::Hook => basic_string(hook_of(scheme)),
            Meaning::Same => value.to_string(),
        })
    }

    /// The law or hook that alone has this key, where the scheme has another one, as the file would choose it.
    fn only_with(&self, scheme: &Scheme) -> Option<String> {
        let has = |about: &Choice| about.keys().any(|key| key.name == self.key);
        let missing = |parts: &mut dyn Iterator<Item = &'static Choice>, chosen: &str| {
            let mut parts = parts.filter(|about| has(about)).peekable();
            let first = parts.peek()?.word;
            parts.all(|about| about.word != chosen).then_some(first)
        };
        let law = missing(&mut FLOW_LAWS.iter().map(|law| &law.about), law_of(scheme).about.word);
        let hook = || missing(&mut HOOKS.iter().map(|hook| &hook.about), hook_of(scheme));
        let law = law.map(|word| format!("law.{FLOW_LAW} = {}", basic_string(word)));
        law.or_else(|| hook().map(|word| format!("gateway.{HOOK} = {}", basic_string(word))))
    }

    fn set(&self, scheme: &mut Scheme, value: &Toml) -> Result<(), ParamError> {
        let refused =
            || ParamError { key: self.key.to_owned(), found: value.show(), allowed: self.allowed() };
        if let Some(other) = self.only_with(scheme) {
            let allowed = format!("{} only with {other}", self.key);
            return Err(ParamError { allowed, ..refused() });
        }
        let value = match &self.means {
            Meaning::Words(words) => {
                let meant = words.iter().find(|(word, _)| word.toml() == value.toml());
                RawValue::from(meant.ok_or_else(refused)?.1)
            }
            Meaning::FlowLaw => {
                let law = FLOW_LAWS.iter().find(|law| basic_string(law.about.word) == value.toml());
                RawValue::Text(gateway(law.ok_or_else(refused)?, is_controlled(scheme)))
            }
            Meaning::GoodputControl => {
                let Toml::Bool(controlled) = value else { return Err(refused()) };
                RawValue::Text(gateway(law_of(scheme), *controlled))
            }
            Meaning::Hook => {
                let hook = HOOKS.iter().find(|hook| basic_string(hook.about.word) == value.toml());
                let word = hook.ok_or_else(refused)?.about.word;
                RawValue::from(if word == HOOKS[0].about.word { NO_HOOK } else { word })
            }
            Meaning::Same => value.raw().ok_or_else(refused)?,
        };
        scheme.set(self.param.name, &value).map_err(|error| ParamError {
            key: self.key.to_owned(),
            allowed: match self.value_in(scheme) {
                Some(_) => error.allowed,
                None => format!("{} only with goodput_control = true", self.key),
            },
            found: error.found,
        })
    }
}

/// The scheme's word for a gateway of this law: TCP-GAP's is called by what it does, as it was before there were others.
fn gateway(law: &FlowLawPart, controlled: bool) -> String {
    let word = law.about.word;
    let word = if word == FLOW_LAWS[0].about.word { PAPERS } else { word };
    format!("{word}{}", if controlled { CONTROLLED } else { "" })
}

/// The word of a gateway with TCP-GAP's law.
const PAPERS: &str = "pacing";

/// The law of the scheme's gateway.
fn law_of(scheme: &Scheme) -> &'static FlowLawPart {
    let word = scheme.choice("gateway").word;
    let law = FLOW_LAWS
        .iter()
        .copied()
        .find(|law| [false, true].iter().any(|&controlled| gateway(law, controlled) == word));
    law.unwrap_or_else(|| panic!("no law makes the gateway {word}"))
}

/// The hook that the scheme's relay is.
fn hook_of(scheme: &Scheme) -> &'static str {
    let word = scheme.choice("relay").word;
    if word == NO_HOOK { HOOKS[0].about.word } else { word }
}

fn is_controlled(scheme: &Scheme) -> bool {
    scheme.choice("gateway").word.ends_with(CONTROLLED)
}

/// The scheme of a live gateway with so much memory, before the file is read.
pub(super) fn defaults(memory: Option<Memory>) -> Scheme {
    let mut scheme = lookup("tcp-gap").expect("the table of schemes has tcp-gap");
    let set = scheme.set("gap_held_max", &RawValue::Integer(HELD_MAX));
    set.unwrap_or_else(|error| panic!("the default: {error}"));
    // A live gateway that let packets wait for seconds would be switched off; the paper's queue is there to be compared with.
    for (key, word) in [("gap_queue", "codel"), ("gap_window", "pipe"), ("gap_retransmissions", "first")] {
        let set = scheme.set(key, &RawValue::from(word));
        set.unwrap_or_else(|error| panic!("the default: {error}"));
    }
    // Nor would one whose downloads anyone that opens connections can hold down (schemes.md 3.5).
    let set = scheme.set("gc_profile", &RawValue::from(meshpace_pacing::Profile::Robust.word()));
    set.unwrap_or_else(|error| panic!("the default: {error}"));
    let Some(memory) = memory.filter(|memory| memory.is_short()) else { return scheme };
    for key in OF_MEMORY {
        let limit = scheme.get(key).unwrap_or_else(|| panic!("tcp-gap has no {key}")).whole();
        let scaled = i64::try_from(memory.scaled(limit)).unwrap_or(i64::MAX);
        let set = scheme.set(key, &RawValue::Integer(scaled));
        set.unwrap_or_else(|error| panic!("{memory} of memory: {error}"));
    }
    scheme
}

/// The scheme with what the file says.
pub(super) fn read(root: &Settings<'_>, memory: Option<Memory>) -> Result<Scheme, FileError> {
    let mut scheme = defaults(memory);
    for (table, keys) in &*TABLES {
        let at = root.at(table);
        let entries = match root.item(table).map(|item| &item.value) {
            None => continue,
            Some(Toml::Table(entries)) => entries,
            Some(value) => return Err(at.error(value.show(), "a table")),
        };
        let locate = |key: &str, item: &meshpace_settings::Item| Location {
            file: at.file.clone(),
            origin: item.origin.clone(),
            key: format!("{table}.{}", shown(key)),
        };
        if let Some((key, item)) = entries.entries.iter().find(|(key, _)| !keys.contains(&key.as_str())) {
            let found = format!("the unknown key {}{}", quoted(key), suggestion(key, keys.iter().copied()));
            return Err(locate(key, item).error(found, keys.join(", ")));
        }
        // In the order of the table: what switches a part off comes before the part's own parameters.
        for key in keys {
            if let Some(item) = entries.get(key) {
                let set = Parameter::named(key).set(&mut scheme, &item.value);
                set.map_err(|error| locate(key, item).error(error.found, error.allowed))?;
            }
        }
    }
    Ok(scheme)
}

/// The interval of a wireless sender before its law's first answer.
pub(super) fn initial_interval(scheme: &Scheme) -> Span {
    scheme.values(scheme.choice("pacing")).span("initial_interval")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_of_law_and_gateway_is_a_key() {
        // Those of the sender's and receiver's TCP are none of the daemon's business.
        let others = [
            "congestion",
            "tcp_profile",
            "recovery",
            "ecn",
            "pacing",
            "ack_policy",
            "rto_",
            "ap_rto_backoff",
            "initial_ssthresh",
            "window_cut",
            "gap_h",
            // Readings of the paper that are there to be compared with; eBPF's gate is a token, and paces from the first sample on.
            "gap_pacer",
            "gap_initial_interval",
            "gap_queues",
            "gap_state",
            "gap_option_length",
        ];
        let named =
            |name: &str, other: &str| name == other || other.ends_with('_') && name.starts_with(other);
        let keys: Vec<_> =
            TABLES.iter().flat_map(|(_, keys)| keys).map(|key| Parameter::named(key).param.name).collect();
        for (param, _) in defaults(None).parameters() {
            let foreign = others.iter().any(|other| named(param.name, other));
            assert_eq!(keys.contains(&param.name), !foreign, "{}", param.name);
        }
    }
}
