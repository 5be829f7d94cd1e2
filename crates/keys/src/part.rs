//! Parts of schemes, as they describe themselves.

use crate::key::{Key, Preset};
use crate::value::{Setting, Word};
use alloc::vec::Vec;
use meshpace_units::{Bytes, Rate, Span};

/// What a part says of itself. It stands in the part's own file; checker, JSON Schema, lists and documentation are
/// collected from there.
#[derive(Debug)]
pub struct Choice {
    /// The word that chooses it in a scenario file.
    pub word: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// Where it is defined: paper and equation, RFC, section of schemes.md.
    pub source: &'static str,
    /// Its parameters, in groups: a group that several parts have is one table of one file, and one parameter of a scheme.
    pub keys: &'static [&'static [Key]],
    /// Its own defaults of keys that it has in common with other parts.
    pub presets: &'static [(&'static str, Preset)],
    /// Pairs of keys that take whole numbers, the second of which is no less than the first.
    pub bounds: &'static [(&'static str, &'static str)],
    /// What must be chosen elsewhere for it to work.
    pub needs: &'static [Need],
    /// The parts beside it at other places, unless the user chose others there.
    pub brings: &'static [Brings],
    /// What of it its source does not print, so that it is ours.
    pub reconstructed: Option<&'static str>,
}

/// The part that a part brings along at another place, unless the user chose one there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brings {
    /// The key that chooses at the other place.
    pub key: &'static str,
    /// The word that it has; `None`: the part does that itself, and nothing has a place there.
    pub word: Option<&'static str>,
}

/// A part that works only with certain parts at another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The key that chooses at the other place.
    pub key: &'static str,
    /// The words that it may have.
    pub words: &'static [&'static str],
}

/// A part: what it says of itself, and the function that builds it from the values of its keys.
///
/// A place where parts plug in has an alias, so that a closure will do: `type Toy = Part<fn(&Values) -> Toy>`, and then
/// `static PART: Toy = Toy::new("toy", ..., |values| ...).keys(&[&KEYS])`.
#[derive(Debug)]
pub struct Part<B: 'static> {
    /// What it says of itself.
    pub about: Choice,
    /// Builds it.
    pub build: B,
}

impl<B> Part<B> {
    /// A part without parameters.
    #[must_use]
    pub const fn new(word: &'static str, doc: &'static str, source: &'static str, build: B) -> Self {
        Self {
            about: Choice {
                word,
                doc,
                source,
                keys: &[],
                presets: &[],
                bounds: &[],
                needs: &[],
                brings: &[],
                reconstructed: None,
            },
            build,
        }
    }

    /// The same with parameters.
    #[must_use]
    pub const fn keys(mut self, keys: &'static [&'static [Key]]) -> Self {
        self.about.keys = keys;
        self
    }

    /// The same with its own defaults of keys that other parts have, too.
    #[must_use]
    pub const fn presets(mut self, presets: &'static [(&'static str, Preset)]) -> Self {
        self.about.presets = presets;
        self
    }

    /// The same with keys of which one is no less than the other.
    #[must_use]
    pub const fn bounds(mut self, bounds: &'static [(&'static str, &'static str)]) -> Self {
        self.about.bounds = bounds;
        self
    }

    /// The same, not all of which its source prints: what is ours. Results and lists name it.
    #[must_use]
    pub const fn reconstructed(mut self, what: &'static str) -> Self {
        self.about.reconstructed = Some(what);
        self
    }

    /// The same, with these beside it unless the user chose otherwise.
    #[must_use]
    pub const fn brings(mut self, brings: &'static [Brings]) -> Self {
        self.about.brings = brings;
        self
    }

    /// The same, only beside certain parts.
    #[must_use]
    pub const fn needs(mut self, needs: &'static [Need]) -> Self {
        self.about.needs = needs;
        self
    }
}

/// The parts of a place, a row each: declares the module of that name and puts its `PART` into the table, so that a part
/// is a file and a row. A part that is a variant of another, a few lines long, stands in that part's file by a name of its own.
///
/// ```ignore
/// meshpace_keys::parts! {
///     /// When a receiver acknowledges.
///     pub static ACK_POLICIES: AckPolicyPart = [every, delayed, dynamic_delayed, wifu_delayed, wifu_delayed::HEAD];
/// }
/// ```
#[macro_export]
macro_rules! parts {
    ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = [$($module:ident $(:: $variant:ident)?),+ $(,)?];) => {
        $($crate::parts!(@module $module $($variant)?);)+

        $(#[$meta])*
        $vis static $name: &[&$type] = &[$(&$crate::parts!(@part $module $($variant)?)),+];
    };
    (@module $module:ident) => {
        mod $module;
    };
    (@module $module:ident $variant:ident) => {};
    (@part $module:ident) => {
        $module::PART
    };
    (@part $module:ident $variant:ident) => {
        $module::$variant
    };
}

impl Choice {
    /// What it brings to a place; `None` if it says nothing of it.
    #[must_use]
    pub fn brought(&self, place: &str) -> Option<Option<&'static str>> {
        self.brings.iter().find(|brings| brings.key == place).map(|brings| brings.word)
    }

    /// Its parameters.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.keys.iter().flat_map(|group| group.iter())
    }

    /// The default that a key has with this part: the part's own, or else the key's.
    #[must_use]
    pub fn preset(&self, key: &Key) -> Option<Preset> {
        let own = self.presets.iter().find(|(name, _)| *name == key.name);
        own.map_or(key.default, |(_, preset)| Some(*preset))
    }

    /// The settings of its keys that have a default as a constant.
    #[must_use]
    pub fn defaults(&self) -> Values {
        let setting = |key: &Key| self.preset(key).and_then(|preset| preset.setting());
        Values::new(self.keys().filter_map(|key| Some((key.name, setting(key)?))))
    }
}

/// The settings of a part's keys, defaults filled in. Asking for a key that the part does not declare, or as another type
/// than its kind, is a broken table and panics with the key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    settings: Vec<(&'static str, Setting)>,
}

impl Values {
    /// These settings.
    #[must_use]
    pub fn new(settings: impl IntoIterator<Item = (&'static str, Setting)>) -> Self {
        Self { settings: settings.into_iter().collect() }
    }

    /// The defaults of these keys.
    ///
    /// # Panics
    /// If one has no default, or has it as TOML text: a part's defaults are constants.
    #[must_use]
    pub fn defaults(keys: impl Iterator<Item = &'static Key>) -> Self {
        Self::new(keys.map(|key| {
            let setting = key.default.and_then(|preset| preset.setting());
            (key.name, setting.unwrap_or_else(|| panic!("the part's key {} has no default", key.name)))
        }))
    }

    /// The setting of a key; `None` where no part chosen has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|(name, _)| *name == key).map(|(_, setting)| setting)
    }

    /// All of them, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.settings.iter().map(|(name, setting)| (*name, setting))
    }

    fn setting(&self, key: &str) -> Setting {
        self.get(key).unwrap_or_else(|| panic!("the part does not declare {key}")).clone()
    }

    /// A flag.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        self.setting(key).flag()
    }

    /// A real number.
    #[must_use]
    pub fn real(&self, key: &str) -> f64 {
        self.setting(key).real()
    }

    /// A time.
    #[must_use]
    pub fn span(&self, key: &str) -> Span {
        self.setting(key).span()
    }

    /// A count.
    #[must_use]
    pub fn count(&self, key: &str) -> u32 {
        self.setting(key).count()
    }

    /// A count that limits something; `None` if nothing does.
    #[must_use]
    pub fn limit(&self, key: &str) -> Option<u32> {
        match self.setting(key) {
            Setting::Text(_) => None, // the key has no word but that for no limit
            count => Some(count.count()),
        }
    }

    /// A time, or `None` where something else tells it.
    #[must_use]
    pub fn span_given(&self, key: &str) -> Option<Span> {
        match self.setting(key) {
            Setting::Text(_) => None, // the key has no word but that for what else tells it
            time => Some(time.span()),
        }
    }

    /// A number of things that memory holds.
    #[must_use]
    pub fn size(&self, key: &str) -> usize {
        self.setting(key).size()
    }

    /// A size in bytes.
    #[must_use]
    pub fn bytes(&self, key: &str) -> Bytes {
        self.setting(key).bytes()
    }

    /// A rate.
    #[must_use]
    pub fn rate(&self, key: &str) -> Rate {
        self.setting(key).rate()
    }

    /// `N` whole numbers.
    #[must_use]
    pub fn wholes<const N: usize>(&self, key: &str) -> [u64; N] {
        let numbers: Vec<u64> = self.setting(key).list().into_iter().map(Setting::whole).collect();
        numbers.try_into().unwrap_or_else(|list: Vec<u64>| panic!("{key} lets {} numbers pass", list.len()))
    }

    /// What a word means.
    #[must_use]
    pub fn word<T: Word>(&self, key: &str) -> T {
        let word = self.setting(key).text();
        T::named(&word).unwrap_or_else(|| panic!("{key} lets {word} pass"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawValue;

    crate::words! {
        enum End {
            Head = "head",
            Tail = "tail",
        }
    }

    static KEYS: [Key; 5] = [
        Key::count("slots", (1, 9), 4, "How many."),
        Key::time("wait", Span::from_secs(1), Span::from_millis(20), "How long."),
        Key::word("end", End::WORDS, End::Tail.word(), "Which."),
        Key::limit("tries", (1, 9), "At most how often."),
        Key::time_or("patience", &["weather"], Span::from_secs(1), "How long at most."),
    ];
    type Toy = Part<fn(&Values) -> (u32, Span, End)>;
    static PART: Toy = Toy::new("toy", "A toy.", "nowhere", |values: &Values| {
        (values.count("slots"), values.span("wait"), values.word("end"))
    })
    .keys(&[&KEYS]);

    #[test]
    fn a_part_is_built_from_its_defaults_and_from_what_is_said() {
        let defaults = Values::defaults(PART.about.keys());
        assert_eq!((PART.build)(&defaults), (4, Span::from_millis(20), End::Tail));
        let said = Values::new(defaults.iter().map(|(name, setting)| {
            (name, if name == "end" { Setting::Text("head".into()) } else { setting.clone() })
        }));
        assert_eq!((PART.build)(&said).2, End::Head);
    }

    #[test]
    fn a_time_is_given_or_something_else_tells_it() {
        let defaults = Values::defaults(KEYS.iter());
        assert_eq!(defaults.span_given("patience"), None);
        let kind = KEYS[4].kind;
        let said = [("patience", kind.accept(&"20ms".into()).unwrap())];
        assert_eq!(Values::new(said).span_given("patience"), Some(Span::from_millis(20)));
        assert_eq!(kind.accept(&"weather".into()), Some(Setting::Text("weather".into())));
        for refused in [RawValue::Integer(0), RawValue::Integer(2), "whether".into()] {
            assert_eq!(kind.accept(&refused), None, "{refused:?}");
        }
        assert!(kind.allowed().starts_with("weather, or a time from "), "{}", kind.allowed());
    }

    #[test]
    fn a_limit_is_a_count_or_none() {
        let defaults = Values::defaults(KEYS.iter());
        assert_eq!(defaults.limit("tries"), None);
        let said = [("tries", KEYS[3].kind.accept(&RawValue::Integer(9)).unwrap())];
        assert_eq!(Values::new(said).limit("tries"), Some(9));
        for refused in [RawValue::Integer(0), RawValue::Integer(10), "never".into()] {
            assert_eq!(KEYS[3].kind.accept(&refused), None, "{refused:?}");
        }
    }

    #[test]
    #[should_panic(expected = "does not declare size")]
    fn a_key_that_is_not_declared_is_a_broken_table() {
        let _ = Values::default().bytes("size");
    }
}
