//! The file as a tree of values that know where they stand, before anyone asks what they mean.

use crate::limits::{FILE_BYTES, FILE_TABLES};
use crate::text::{quoted, shown};
use crate::{Location, Origin, RawValue, ScenarioError};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub value: Value,
    pub origin: Origin,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// Something no key takes, as written: a date, a number past 64 bits.
    Other(String),
    List(Vec<Item>),
    Table(Table),
}

/// Keys in file order, overrides last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<(String, Item)>,
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Item> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, item)| item)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Item> {
        self.entries.iter_mut().find(|(name, _)| name == key).map(|(_, item)| item)
    }

    /// Replaces or adds a key.
    pub(crate) fn insert(&mut self, key: &str, item: Item) {
        match self.get_mut(key) {
            Some(old) => *old = item,
            None => self.entries.push((key.to_owned(), item)),
        }
    }
}

impl Value {
    /// The value as a message shows it.
    pub(crate) fn show(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => real(*value),
            Self::Bool(value) => value.to_string(),
            Self::Other(text) => shown(text),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Table(_) => "a table".to_owned(),
        }
    }

    /// The value for someone else to interpret; `None` for tables and dates.
    pub(crate) fn raw(&self) -> Option<RawValue> {
        Some(match self {
            Self::Text(text) => RawValue::Text(text.clone()),
            Self::Integer(value) => RawValue::Integer(*value),
            Self::Float(value) => RawValue::Float(*value),
            Self::Bool(value) => RawValue::Bool(*value),
            Self::List(items) => {
                RawValue::List(items.iter().map(|item| item.value.raw()).collect::<Option<_>>()?)
            }
            Self::Other(_) | Self::Table(_) => return None,
        })
    }

    /// One value in TOML's notation; `None` if `text` is not exactly that.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let value = (plausible_size(text) && !text.contains('\n')).then(|| DeValue::parse(text).ok())??;
        let nowhere = |_| Origin::Line(1);
        Some(convert(&value, &nowhere).value)
    }
}

/// A real number in TOML's notation, which writes nan and inf in small letters.
pub(crate) fn real(value: f64) -> String {
    format!("{value:?}").to_lowercase()
}

/// Reads a file.
///
/// # Errors
/// If it is too large, not UTF-8 or not TOML.
pub(crate) fn read(file: &Arc<str>, bytes: &[u8]) -> Result<(Arc<str>, Table), ScenarioError> {
    let error = |line: usize, key: &str, found: String, allowed: String| {
        Location { file: file.clone(), origin: Origin::Line(line), key: key.to_owned() }.error(found, allowed)
    };
    if bytes.len() > FILE_BYTES {
        return Err(error(
            1,
            "file",
            format!("{} bytes", bytes.len()),
            format!("at most {FILE_BYTES} bytes"),
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        error(line, "file", format!("byte 0x{:02x} at offset {at}", bytes[at]), "UTF-8 text".to_owned())
    })?;
    if !plausible_size(text) {
        let allowed = format!("at most {FILE_TABLES} dots, brackets and braces");
        return Err(error(1, "file", "more tables and lists than any scenario needs".to_owned(), allowed));
    }
    let lines = LineIndex::new(text);
    let root = DeTable::parse(text).map_err(|e| {
        let line = lines.of(e.span().map_or(0, |span| span.start));
        error(line, "TOML", quoted(lines.text(text, line).trim()), shorten(e.message()))
    })?;
    let origin = |offset| Origin::Line(lines.of(offset));
    Ok((text.into(), convert_table(root.get_ref(), &origin)))
}

/// False if parsing `text` could take unreasonable memory.
fn plausible_size(text: &str) -> bool {
    let openers = text.bytes().filter(|byte| matches!(byte, b'.' | b'[' | b'{')).count();
    text.len() <= FILE_BYTES && openers <= FILE_TABLES
}

/// The parser's own words, with a bound on their length.
fn shorten(message: &str) -> String {
    let mut words: String = message.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if words.is_empty() {
        words.push_str("TOML 1.0");
    }
    words
}

// The parser limits nesting to 80 levels and dotted keys to 80 parts, so this recursion is bounded.
fn convert(value: &Spanned<DeValue<'_>>, origin: &dyn Fn(usize) -> Origin) -> Item {
    let converted = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(value) => Value::Integer(value),
            Err(_) => Value::Other(digits.to_string()),
        },
        DeValue::Float(digits) => match digits.as_str().parse() {
            Ok(value) => Value::Float(value),
            Err(_) => Value::Other(digits.to_string()),
        },
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(date) => Value::Other(date.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|item| convert(item, origin)).collect()),
        DeValue::Table(table) => Value::Table(convert_table(table, origin)),
    };
    Item { value: converted, origin: origin(value.span().start) }
}

fn convert_table(table: &DeTable<'_>, origin: &dyn Fn(usize) -> Origin) -> Table {
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &str = AsRef::as_ref(key.get_ref());
        // A value of several lines is addressed by the line of its key.
        (name.to_owned(), Item { origin: origin(key.span().start), ..convert(value, origin) })
    };
    Table { entries: keys.into_iter().map(entry).collect() }
}

/// Where lines start.
struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    fn new(text: &str) -> Self {
        let after_newlines =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// The line, from 1, of the byte at `offset`.
    fn of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    fn text<'t>(&self, text: &'t str, line: usize) -> &'t str {
        let start = self.starts[line - 1];
        let end = self.starts.get(line).map_or(text.len(), |next| next - 1);
        &text[start..end]
    }
}
