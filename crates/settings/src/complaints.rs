//! Everything that is wrong with a file as its tables of keys see it, not only the first thing.

use crate::settings::Settings;
use crate::{FileError, Item, Location, Origin, Table, Value};
use meshpace_keys::{Kind, Section};
use std::sync::Arc;

/// Every unknown key, key that does not apply, and value that does not fit, in the order of the file. What only a reader
/// knows (missing keys, values that contradict each other) is not among them.
#[must_use]
pub fn complaints(file: &Arc<str>, section: &'static Section, table: &Table) -> Vec<FileError> {
    let mut found = Vec::new();
    of_table(&Settings::unchecked(file.clone(), String::new(), Origin::Line(1), section, table), &mut found);
    found
}

fn of_table(settings: &Settings<'_>, found: &mut Vec<FileError>) {
    for (name, item) in settings.entries() {
        if let Err(error) = settings.check_entry(name, item) {
            found.push(error);
            continue;
        }
        let Some(kind) = settings.kind(name) else { continue };
        match (kind, &item.value) {
            (Kind::Table(section), Value::Table(inner)) => {
                of_table(&inside(settings.at(name), section, inner), found);
            }
            (Kind::Tables(section), Value::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    of_item(&settings.at(name), index, item, section, found);
                }
            }
            (Kind::Table(_), value) => found.push(settings.at(name).error(value.show(), "a table")),
            (Kind::Tables(_), value) => {
                let at = settings.at(name);
                found.push(at.error(value.show(), at.tables()));
            }
            (Kind::Free(_), _) => {}
            _ => found.extend(settings.given(name).err()),
        }
    }
}

fn of_item(
    list: &Location,
    index: usize,
    item: &Item,
    section: &'static Section,
    found: &mut Vec<FileError>,
) {
    let at = Location {
        file: list.file.clone(),
        origin: item.origin.clone(),
        key: format!("{}[{index}]", list.key),
    };
    match &item.value {
        Value::Table(inner) => of_table(&inside(at, section, inner), found),
        value => found.push(at.error(value.show(), "a table")),
    }
}

fn inside<'a>(at: Location, section: &'static Section, table: &'a Table) -> Settings<'a> {
    Settings::unchecked(at.file, at.key, at.origin, section, table)
}
