//! A place where a part is chosen.

use crate::choices::Parts;
use meshpace_keys::{Choice, Key, Kind};

/// A place where schemes choose a part.
#[derive(Debug)]
pub struct Place {
    /// The key that chooses.
    pub key: &'static str,
    /// What is chosen.
    pub doc: &'static str,
    /// The place by whose part it goes unless the user chose here.
    pub(crate) follows: Option<&'static str>,
    pub(crate) choices: fn() -> Vec<&'static Choice>,
    pub(crate) chosen: fn(&Parts) -> &'static Choice,
    /// Chooses the part of that word, which the table must have.
    pub(crate) choose: fn(&mut Parts, &str),
}

impl Place {
    /// The same, where the part chosen at the place `other` says what stands unless the user chose.
    pub(crate) const fn following(mut self, other: &'static str) -> Self {
        self.follows = Some(other);
        self
    }

    /// The parts there are, as they describe themselves.
    #[must_use]
    pub fn choices(&self) -> Vec<&'static Choice> {
        (self.choices)()
    }

    /// The word of the part that stands here where nothing says otherwise.
    pub(crate) fn first(&self) -> &'static str {
        self.choices().first().unwrap_or_else(|| panic!("the table of {} is empty", self.key)).word
    }

    /// The key that chooses among them.
    pub(crate) fn selector(&self) -> Key {
        let choices = self.choices();
        let words: Vec<&'static str> = choices.iter().map(|choice| choice.word).collect();
        let each: Vec<String> = choices
            .iter()
            .map(|choice| format!("{}: {} ({})", choice.word, choice.doc, choice.source))
            .collect();
        let doc = format!("{} {}", self.doc, each.join(" "));
        // Made once for each key of a fixed table (`parameters`), so what is leaked does not grow.
        Key::new(self.key, Kind::Choice(words.leak()), doc.leak())
    }
}
