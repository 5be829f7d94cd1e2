//! The schemes of one scenario: the built-in ones, changed and added to by its `[scheme.NAME]` tables.

use crate::compositions::{lookup, names};
use crate::{ParamError, Scheme};
use meshpace_keys::RawValue;
use std::collections::BTreeMap;

/// The key that names what a new scheme is made from.
const BASE: &str = "base";

/// One line of a `[scheme.NAME]` table.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeSetting {
    /// The NAME.
    pub scheme: String,
    /// The parameter.
    pub key: String,
    /// Its value.
    pub value: RawValue,
}

/// A setting that is not acceptable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("[scheme.{scheme}]: {error}")]
pub struct SettingError {
    /// Which of the settings handed in is wrong; the first of its scheme if one is missing.
    pub index: usize,
    /// The scheme it belongs to.
    pub scheme: String,
    /// What is wrong with it.
    pub error: ParamError,
}

/// A name that no scheme has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found scheme {name:?}; allowed: {allowed}")]
pub struct UnknownScheme {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub allowed: String,
}

/// Schemes by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    schemes: BTreeMap<String, Scheme>,
}

impl Catalogue {
    /// The built-in schemes with `settings` applied, which may come in any order: a table whose name is a built-in
    /// scheme's changes it, any other makes a new scheme from its `base`, built-in (as changed) or new.
    ///
    /// # Errors
    /// [`SettingError`] at the first setting that names no parameter of its scheme or is out of range, at a `base`
    /// that does not exist or leads back to itself, and at a new scheme without one.
    pub fn new(settings: &[SchemeSetting]) -> Result<Self, SettingError> {
        Self::with_relay(settings, None)
    }

    /// The same, where built-in schemes that choose no relay have this one, by its word.
    ///
    /// # Errors
    /// As [`Catalogue::new`].
    ///
    /// # Panics
    /// If there is no such relay.
    pub fn with_relay(settings: &[SchemeSetting], relay: Option<&str>) -> Result<Self, SettingError> {
        let built_in = |name| {
            let mut scheme = lookup(name)?;
            if let Some(relay) = relay.filter(|_| !scheme.chosen.contains("relay")) {
                scheme.choose("relay", relay);
            }
            Some((scheme.name.clone(), scheme))
        };
        let mut schemes: BTreeMap<String, Scheme> = names().filter_map(built_in).collect();
        // (index, setting) by scheme, in the order given.
        let mut tables: BTreeMap<&str, Vec<(usize, &SchemeSetting)>> = BTreeMap::new();
        for (index, setting) in settings.iter().enumerate() {
            tables.entry(&setting.scheme).or_default().push((index, setting));
        }
        let (built_in, mut new): (Vec<_>, Vec<_>) =
            tables.into_iter().partition(|(name, _)| schemes.contains_key(*name));
        for (name, table) in built_in {
            let mut scheme = schemes[name].clone();
            apply(&mut scheme, &table)?;
            schemes.insert(name.to_owned(), scheme);
        }
        // A base may be a new scheme too: make those first whose base is there, until none is left.
        while !new.is_empty() {
            let before = new.len();
            let mut waiting = Vec::new();
            for (name, table) in new {
                let (at, base) = base_of(name, &table)?;
                let Some(mut scheme) = schemes.get(base).cloned() else {
                    waiting.push((name, table, at, base));
                    continue;
                };
                scheme.name = name.to_owned();
                scheme.summary = format!("{base}, changed by the scenario");
                let rest: Vec<_> = table.iter().copied().filter(|(_, setting)| setting.key != BASE).collect();
                apply(&mut scheme, &rest)?;
                schemes.insert(name.to_owned(), scheme);
            }
            if let Some((name, _, index, base)) = waiting.first().filter(|_| waiting.len() == before) {
                let allowed = format!("a scheme that does not depend on this one: {}", list(&schemes));
                let error = ParamError { key: BASE.to_owned(), found: format!("{base:?}"), allowed };
                return Err(SettingError { index: *index, scheme: (*name).to_owned(), error });
            }
            new = waiting.into_iter().map(|(name, table, _, _)| (name, table)).collect();
        }
        Ok(Self { schemes })
    }

    /// The scheme of that name.
    ///
    /// # Errors
    /// [`UnknownScheme`] if there is none.
    pub fn get(&self, name: &str) -> Result<&Scheme, UnknownScheme> {
        self.schemes
            .get(name)
            .ok_or_else(|| UnknownScheme { name: name.to_owned(), allowed: list(&self.schemes) })
    }

    /// All schemes, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Scheme> {
        self.schemes.values()
    }
}

fn list(schemes: &BTreeMap<String, Scheme>) -> String {
    schemes.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn base_of<'a>(name: &str, table: &[(usize, &'a SchemeSetting)]) -> Result<(usize, &'a str), SettingError> {
    let allowed = format!("the name of another scheme: {}", names().collect::<Vec<_>>().join(", "));
    let wrong = |index, found| {
        let error = ParamError { key: BASE.to_owned(), found, allowed };
        Err(SettingError { index, scheme: name.to_owned(), error })
    };
    match table.iter().find(|(_, setting)| setting.key == BASE) {
        Some((index, SchemeSetting { value: RawValue::Text(base), .. })) => Ok((*index, base)),
        Some((index, setting)) => wrong(*index, setting.value.to_string()),
        None => wrong(table.first().map_or(0, |(index, _)| *index), "no base".to_owned()),
    }
}

fn apply(scheme: &mut Scheme, table: &[(usize, &SchemeSetting)]) -> Result<(), SettingError> {
    let settings = table.iter().map(|(_, setting)| (setting.key.as_str(), &setting.value));
    scheme.set_all(settings).map_err(|(number, error)| {
        let index = table.get(number).map_or(0, |(index, _)| *index);
        SettingError { index, scheme: scheme.name.clone(), error }
    })
}
