//! Overrides from the command line, applied to the document before it is checked.

use crate::{Location, Origin, ScenarioError};
use meshpace_settings::shown;
use meshpace_settings::{Item, Table, Value};
use std::sync::Arc;

/// What the command line changes in a scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    scheme: Option<String>,
    assignments: Vec<String>,
}

/// The option that sets one key.
const SET: &str = "--set";
/// The option that sets the scheme of every flow and of the mesh.
const SCHEME: &str = "--scheme";
/// Parts of a key; the deepest that exists has four.
const DEPTH: usize = 16;

impl Overrides {
    /// Nothing is changed.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// `--scheme NAME`: every flow and the mesh run this scheme. Applied before any assignment.
    #[must_use]
    pub fn with_scheme(mut self, name: impl Into<String>) -> Self {
        self.scheme = Some(name.into());
        self
    }

    /// `--set key.path=value`; arrays are indexed, `flow.0.scheme=tcp-ap`. The value is read as TOML and, if it is
    /// not, as a string. Later assignments replace earlier ones; a malformed one is reported when it is applied.
    #[must_use]
    pub fn with(mut self, assignment: impl Into<String>) -> Self {
        self.assignments.push(assignment.into());
        self
    }

    /// The overrides as text that repeats them: `scheme=NAME`, then every assignment.
    pub(crate) fn record(&self) -> Vec<String> {
        let scheme = self.scheme.iter().map(|name| format!("scheme={name}"));
        scheme.chain(self.assignments.iter().cloned()).collect()
    }

    pub(crate) fn apply(&self, file: &Arc<str>, root: &mut Table) -> Result<(), ScenarioError> {
        if let Some(name) = &self.scheme {
            set_scheme(root, name);
        }
        self.assignments.iter().try_for_each(|text| assign(file, root, text))
    }
}

fn set_scheme(root: &mut Table, name: &str) {
    let item = || Item { value: Value::Text(name.to_owned()), origin: Origin::Option(SCHEME.to_owned()) };
    for section in ["defaults", "mesh"] {
        match root.get_mut(section).map(|section| &mut section.value) {
            Some(Value::Table(section)) => section.insert("scheme", item()),
            // Not a table: the check of the document says so.
            Some(_) => {}
            None => {
                let entries = vec![("scheme".to_owned(), item())];
                root.insert(section, Item { value: Value::Table(Table { entries }), ..item() });
            }
        }
    }
    if let Some(Value::List(flows)) = root.get_mut("flow").map(|flows| &mut flows.value) {
        for flow in flows {
            if let Value::Table(flow) = &mut flow.value {
                flow.insert("scheme", item());
            }
        }
    }
}

fn assign(file: &Arc<str>, root: &mut Table, text: &str) -> Result<(), ScenarioError> {
    let at = |key: &str| {
        let option = format!("{SET} {}", shown(key));
        Location { file: file.clone(), origin: Origin::Option(option), key: shown(key) }
    };
    let (path, value) = text
        .split_once('=')
        .ok_or_else(|| at(text).error("no value", "key.path=value, such as radio.rate=11Mbps"))?;
    let path = path.trim();
    let at = at(path);
    let dotted = path.replace('[', ".").replace(']', "");
    let parts: Vec<&str> = dotted.split('.').map(str::trim).collect();
    if parts.len() > DEPTH || parts.iter().any(|part| part.is_empty()) {
        return Err(at.error("a malformed key", "a dotted path such as radio.rate or flow.0.scheme"));
    }
    let value = value.trim();
    let value = Value::parse(value).unwrap_or_else(|| Value::Text(value.to_owned()));
    let (last, way) = parts.split_last().expect("split yields at least one part");
    let mut place = Container::Table(root);
    for part in way {
        place = place.enter(part, &at)?;
    }
    place.set(last, Item { value, origin: at.origin.clone() }, &at)
}

/// Something with children.
enum Container<'a> {
    Table(&'a mut Table),
    List(&'a mut Vec<Item>),
}

impl<'a> Container<'a> {
    /// The child that `part` names; a table that is not there is made.
    fn enter(self, part: &str, at: &Location) -> Result<Self, ScenarioError> {
        let item = match self {
            Self::List(items) => element(items, part, at)?,
            Self::Table(table) => {
                if table.get(part).is_none() {
                    table.insert(
                        part,
                        Item { value: Value::Table(Table::default()), origin: at.origin.clone() },
                    );
                }
                table.get_mut(part).expect("just made")
            }
        };
        match &mut item.value {
            Value::Table(table) => Ok(Self::Table(table)),
            Value::List(items) => Ok(Self::List(items)),
            value => {
                Err(at.error(format!("{} at {}", value.show(), shown(part)), "a key within a table or list"))
            }
        }
    }

    fn set(self, part: &str, item: Item, at: &Location) -> Result<(), ScenarioError> {
        match self {
            Self::Table(table) => table.insert(part, item),
            Self::List(items) => *element(items, part, at)? = item,
        }
        Ok(())
    }
}

fn element<'a>(items: &'a mut [Item], part: &str, at: &Location) -> Result<&'a mut Item, ScenarioError> {
    let count = items.len();
    let allowed = || match count {
        0 => "nothing, since the list is empty".to_owned(),
        1 => "index 0".to_owned(),
        _ => format!("an index from 0 to {}", count - 1),
    };
    let index = part.parse::<usize>().ok().filter(|index| *index < count);
    let index = index.ok_or_else(|| at.error(format!("index {}", shown(part)), allowed()))?;
    Ok(&mut items[index])
}
