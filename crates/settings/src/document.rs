//! The file as a tree of values that know where they stand, before anyone asks what they mean.

use crate::{FileError, Location, Origin};
use meshpace_keys::{RawValue, quoted, real_number as real, shown};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Bytes of a file: generous for any purpose, small enough that no file, however made, takes more than seconds and a
/// few hundred megabytes to refuse.
const FILE_BYTES: usize = 4 << 20;
/// Dots, brackets and braces of a file: each can open a table, and a table costs some hundred bytes of memory.
const FILE_TABLES: usize = 200_000;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// The line or option that gives it.
    pub origin: Origin,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A real number; may be NaN or infinite.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// Something no key takes, as written: a date, a number past 64 bits.
    Other(String),
    /// A list.
    List(Vec<Item>),
    /// A table.
    Table(Table),
}

/// Keys in file order, overrides last.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Name and value.
    pub entries: Vec<(String, Item)>,
}

impl Table {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Item> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, item)| item)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Item> {
        self.entries.iter_mut().find(|(name, _)| name == key).map(|(_, item)| item)
    }

    /// Replaces or adds a key.
    pub fn insert(&mut self, key: &str, item: Item) {
        match self.get_mut(key) {
            Some(old) => *old = item,
            None => self.entries.push((key.to_owned(), item)),
        }
    }
}

impl Value {
    /// The value as a message shows it.
    #[must_use]
    pub fn show(&self) -> String {
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

    /// The value in TOML's notation, on one line.
    #[must_use]
    pub fn toml(&self) -> String {
        match self {
            Self::Text(text) => basic_string(text),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => real(*value),
            Self::Bool(value) => value.to_string(),
            Self::Other(text) => text.clone(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(|item| item.value.toml()).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Table(table) => {
                let entry =
                    |(key, item): &(String, Item)| format!("{} = {}", basic_string(key), item.value.toml());
                let entries: Vec<_> = table.entries.iter().map(entry).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }

    /// The value for someone else to interpret; `None` for tables and dates.
    #[must_use]
    pub fn raw(&self) -> Option<RawValue> {
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
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let value = (plausible_size(text) && !text.contains('\n')).then(|| DeValue::parse(text).ok())??;
        let nowhere = |_| Origin::Line(1);
        Some(convert(&value, &nowhere).value)
    }
}

/// A string in TOML's notation (TOML 1.0, "String": what must be escaped).
#[must_use]
pub fn basic_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Reads a file.
///
/// # Errors
/// If it is too large, not UTF-8 or not TOML.
pub fn read(file: &Arc<str>, bytes: &[u8]) -> Result<(Arc<str>, Table), FileError> {
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
        return Err(error(1, "file", "more tables and lists than any file needs".to_owned(), allowed));
    }
    let lines = LineIndex::new(text);
    let root = DeTable::parse(text).map_err(|e| {
        let line = lines.of(e.span().map_or(0, |span| span.start));
        error(line, "TOML", quoted(lines.text(text, line).trim()), valid(e.message()))
    })?;
    let origin = |offset| Origin::Line(lines.of(offset));
    Ok((text.into(), convert_table(root.get_ref(), &origin)))
}

/// False if parsing `text` could take unreasonable memory.
fn plausible_size(text: &str) -> bool {
    let openers = text.bytes().filter(|byte| matches!(byte, b'.' | b'[' | b'{')).count();
    text.len() <= FILE_BYTES && openers <= FILE_TABLES
}

/// What is allowed instead, in the parser's own words, which are cut to a bounded length.
fn valid(message: &str) -> String {
    let words: String = message.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if words.is_empty() { "TOML 1.0".to_owned() } else { format!("TOML 1.0 ({words})") }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_notation_reads_back() {
        for text in ["\"a\\\"b\\\\c\\u0007\"", "-3", "1.5", "1e300", "[1, [\"x\"], { \"a b\" = true }]"] {
            let value = Value::parse(text).unwrap();
            assert_eq!(Value::parse(&value.toml()).unwrap().toml(), value.toml(), "{text}");
        }
        assert_eq!(Value::Text("a\"b\\c\u{7}".to_owned()).toml(), "\"a\\\"b\\\\c\\u0007\"");
    }
}
