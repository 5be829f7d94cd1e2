//! One table of the file, read through its section of the key tables.

use crate::document::{Item, Table, Value};
use crate::{FileError, Location, Named, Origin};
use meshpace_keys::{Key, Kind, Preset, Real, Section, Setting, Whole, quoted, shown, suggestion};
use std::sync::Arc;

/// A table whose keys are known to exist and to apply.
///
/// Its functions panic when asked for a key that the section does not have.
#[derive(Debug)]
pub struct Settings<'a> {
    file: Arc<str>,
    path: String,
    origin: Origin,
    section: &'static Section,
    table: Option<&'a Table>,
}

impl<'a> Settings<'a> {
    /// The whole file.
    ///
    /// # Errors
    /// If there is a key that does not exist or does not apply.
    pub fn root(file: &Arc<str>, section: &'static Section, table: &'a Table) -> Result<Self, FileError> {
        Self::checked(file.clone(), String::new(), Origin::Line(1), section, Some(table))
    }

    fn checked(
        file: Arc<str>,
        path: String,
        origin: Origin,
        section: &'static Section,
        table: Option<&'a Table>,
    ) -> Result<Self, FileError> {
        let settings = Self { file, path, origin, section, table };
        for (name, item) in settings.entries() {
            settings.check_entry(name, item)?;
        }
        Ok(settings)
    }

    /// A table whose keys were not looked at yet.
    pub(crate) const fn unchecked(
        file: Arc<str>,
        path: String,
        origin: Origin,
        section: &'static Section,
        table: &'a Table,
    ) -> Self {
        Self { file, path, origin, section, table: Some(table) }
    }

    /// What the file and the options give, in that order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &'a (String, Item)> + use<'a> {
        self.table.into_iter().flat_map(|table| &table.entries)
    }

    /// Does a key exist, and does it apply?
    pub(crate) fn check_entry(&self, name: &str, item: &Item) -> Result<(), FileError> {
        match self.section.key(name) {
            Some(key) => self.check_applies(key, item),
            None => Err(self.unknown(name, item)),
        }
    }

    /// What the value of a key must be; `None` if there is no such key.
    pub(crate) fn kind(&self, name: &str) -> Option<&'static Kind> {
        self.section.key(name).map(|key| &key.kind)
    }

    fn unknown(&self, name: &str, item: &Item) -> FileError {
        let names = || self.section.all().map(|key| key.name);
        let found = format!("the unknown key {}{}", quoted(name), suggestion(name, names()));
        self.locate(name, &item.origin).error(found, names().collect::<Vec<_>>().join(", "))
    }

    /// A key that has no effect is a mistake, unless the command line chose the variant that makes it so.
    fn check_applies(&self, key: &'static Key, item: &Item) -> Result<(), FileError> {
        let Some((selector, values)) = key.only else { return Ok(()) };
        let known =
            |word: &str| matches!(self.key(selector).kind, Kind::Choice(words) if words.contains(&word));
        // A missing or wrong selector is the better complaint; reading it makes it.
        if self.applies(key) || !known(&self.selected(selector)) {
            return Ok(());
        }
        let chosen = self.table.and_then(|table| table.get(selector));
        let is_option = |item: &Item| matches!(item.origin, Origin::Option(_));
        if chosen.is_some_and(is_option) && !is_option(item) {
            return Ok(());
        }
        let found = format!("the key with {selector} = {}", quoted(&self.selected(selector)));
        Err(self
            .locate(key.name, &item.origin)
            .error(found, format!("only with {selector} = {}", values.join(", "))))
    }

    fn applies(&self, key: &Key) -> bool {
        key.only.is_none_or(|(selector, values)| values.contains(&self.selected(selector).as_str()))
    }

    /// The word that a selector has, by default if need be; empty if it is missing or not a string.
    fn selected(&self, selector: &str) -> String {
        let key = self.key(selector);
        match self.table.and_then(|table| table.get(selector)).map(|item| &item.value) {
            Some(Value::Text(text)) => text.clone(),
            Some(_) => String::new(),
            None => default_setting(key).map_or(String::new(), Setting::text),
        }
    }

    fn locate(&self, name: &str, origin: &Origin) -> Location {
        let name = shown(name);
        let key = if self.path.is_empty() { name } else { format!("{}.{name}", self.path) };
        Location { file: self.file.clone(), origin: origin.clone(), key }
    }

    /// Where the key stands, or where it would.
    #[must_use]
    pub fn at(&self, name: &str) -> Location {
        let origin = self.table.and_then(|table| table.get(name)).map_or(&self.origin, |item| &item.origin);
        self.locate(name, origin)
    }

    /// Where the table itself stands.
    #[must_use]
    pub fn here(&self) -> Location {
        Location { file: self.file.clone(), origin: self.origin.clone(), key: self.path.clone() }
    }

    /// True if the file or an option gives the key.
    #[must_use]
    pub fn gives(&self, name: &str) -> bool {
        self.table.is_some_and(|table| table.get(name).is_some())
    }

    /// True if an option of the command line gives the key.
    #[must_use]
    pub fn overridden(&self, name: &str) -> bool {
        let item = self.table.and_then(|table| table.get(name));
        item.is_some_and(|item| matches!(item.origin, Origin::Option(_)))
    }

    fn key(&self, name: &str) -> &'static Key {
        self.section.key(name).unwrap_or_else(|| panic!("no key {name}"))
    }

    /// The key's value as given, checked; `None` if it is not given or does not apply.
    ///
    /// # Errors
    /// If the value does not fit its key.
    pub fn given(&self, name: &str) -> Result<Option<Setting>, FileError> {
        let key = self.key(name);
        let Some(item) = self.table.and_then(|table| table.get(name)).filter(|_| self.applies(key)) else {
            return Ok(None);
        };
        match item.value.raw().and_then(|raw| key.kind.accept(&raw)) {
            Some(setting) => Ok(Some(setting)),
            None => Err(self.misfit(key, item)),
        }
    }

    fn misfit(&self, key: &Key, item: &Item) -> FileError {
        let hint = match (&key.kind, &item.value) {
            (
                Kind::Choice(words) | Kind::ChoiceOrWhole(words, _) | Kind::ChoiceOrReal(words, _),
                Value::Text(text),
            ) => suggestion(text, words.iter().copied()),
            (
                Kind::Real(Real { unit, .. }) | Kind::Whole(Whole { unit: Some(unit), .. }),
                Value::Text(text),
            ) => unit.hint(text),
            _ => String::new(),
        };
        self.locate(key.name, &item.origin).error(item.value.show() + &hint, key.kind.allowed())
    }

    /// The key's value, given or default.
    ///
    /// # Errors
    /// If the value does not fit, or if there is neither a value nor a default.
    pub fn value(&self, name: &str) -> Result<Setting, FileError> {
        let key = self.key(name);
        match self.given(name)?.or_else(|| default_setting(key)) {
            Some(setting) => Ok(setting),
            None => Err(self.at(name).error("nothing", key.kind.allowed())),
        }
    }

    /// The table under a key; an empty one if it is not given.
    ///
    /// # Errors
    /// If it is not a table, or has a key that does not exist or does not apply.
    pub fn section(&self, name: &str) -> Result<Self, FileError> {
        let Kind::Table(section) = self.key(name).kind else { panic!("not a table: {name}") };
        let at = self.at(name);
        let table = match self.table.and_then(|table| table.get(name)).map(|item| &item.value) {
            None => None,
            Some(Value::Table(table)) => Some(table),
            Some(value) => return Err(at.error(value.show(), "a table")),
        };
        Self::checked(at.file, at.key, at.origin, section, table)
    }

    /// The tables under a key; none if it is not given.
    ///
    /// # Errors
    /// As [`Settings::section`].
    pub fn sections(&self, name: &str) -> Result<Vec<Self>, FileError> {
        let Kind::Tables(section) = self.key(name).kind else { panic!("not a list of tables: {name}") };
        let at = self.at(name);
        let items = match self.table.and_then(|table| table.get(name)).map(|item| &item.value) {
            None => return Ok(Vec::new()),
            Some(Value::List(items)) => items,
            Some(value) => return Err(at.error(value.show(), at.tables())),
        };
        let entry = |(index, item): (usize, &'a Item)| {
            let path = format!("{}[{index}]", at.key);
            match &item.value {
                Value::Table(table) => {
                    Self::checked(self.file.clone(), path, item.origin.clone(), section, Some(table))
                }
                value => {
                    let at = Location { file: self.file.clone(), origin: item.origin.clone(), key: path };
                    Err(at.error(value.show(), "a table"))
                }
            }
        };
        items.iter().enumerate().map(entry).collect()
    }

    /// The value of a key that has a default or is required, its words replaced.
    ///
    /// # Errors
    /// As [`Settings::value`].
    pub fn choice<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<T, FileError> {
        let word = self.value(name)?.text();
        let meant = words.iter().find(|(known, _)| *known == word);
        Ok(meant.unwrap_or_else(|| panic!("{name} lets {word} pass")).1)
    }

    /// A required name and where it stands.
    ///
    /// # Errors
    /// As [`Settings::value`].
    pub fn named(&self, name: &str) -> Result<Named, FileError> {
        Ok(Named { name: self.value(name)?.text(), at: self.at(name) })
    }

    /// What a message says was found under a key.
    #[must_use]
    pub fn found(&self, name: &str) -> String {
        match (self.item(name), self.key(name).default) {
            (Some(item), _) => item.value.show(),
            (None, Some(default)) => format!("nothing, which means {}", default.toml()),
            (None, None) => "nothing".to_owned(),
        }
    }

    /// The item under a key, for a reader of its own.
    #[must_use]
    pub fn item(&self, name: &str) -> Option<&'a Item> {
        self.table.and_then(|table| table.get(name))
    }
}

/// A key's default, which passes the check that the user's values pass.
///
/// # Panics
/// If it does not.
#[must_use]
pub fn default_setting(key: &Key) -> Option<Setting> {
    let raw = match key.default? {
        Preset::Toml(text) => Value::parse(text).and_then(|value| value.raw()),
        preset => preset.setting().map(|setting| key.kind.raw(&setting)),
    };
    let setting = raw.and_then(|raw| key.kind.accept(&raw));
    Some(setting.unwrap_or_else(|| panic!("the default of {}: {:?} does not fit", key.name, key.default)))
}
