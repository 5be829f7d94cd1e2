//! The configuration in words: the commented default file, the reference, and what is in force, all made of the tables
//! that the checker reads.

use super::keys::ROOT;
use super::parameters::{OF_MEMORY, Parameter, TABLES};
use super::{Config, Memory, parameters};
use meshpace_settings::{FileError, Item, Key, Kind, Origin, Section, Settings, Value, basic_string};
use std::fmt::Write;

/// Columns of the default file and of what is in force.
const WIDTH: usize = 110;
/// Column at which the origins of values stand.
const ORIGIN: usize = 56;

/// A table of the file.
struct Table {
    /// Its name; empty for the keys before the first table.
    name: &'static str,
    /// It may stand several times.
    many: bool,
    doc: &'static str,
    keys: Vec<Entry>,
}

/// A key.
struct Entry {
    name: &'static str,
    doc: String,
    allowed: String,
    /// In TOML's notation; `None`: nothing, or something that depends on other keys.
    default: Option<String>,
}

/// Values for keys that have no default, so that the default file shows their form.
const EXAMPLES: [(&str, &str); 14] = [
    ("control.group", "\"netadmin\""),
    ("nfqueue.length", "65536"),
    ("mesh.fallback_rate", "\"5.5Mbps\""),
    ("host.cgroup", "\"/sys/fs/cgroup/system.slice\""),
    ("host.hops", "3"),
    ("host.rate", "\"11Mbps\""),
    ("subnet.prefix", "\"10.1.2.0/24\""),
    ("subnet.mode", "\"pace\""),
    ("subnet.paced_share", "0.5"),
    ("subnet.hops", "3"),
    ("subnet.rate", "\"54Mbps\""),
    ("subnet.weight", "2"),
    ("subnet.cap", "\"2Mbps\""),
    ("subnet.together", "true"),
];

const LAW: &str = "The law of flows at gateway and host (schemes.md 2 and 3.4).";
const GATEWAY: &str = "The gateway's parts and limits (schemes.md 3). gap_buffer_total, gap_held_max, gap_flows_max and gap_segments_total have \
     these defaults with 2 GiB of memory and more, and less in proportion with less, of the machine or of four times what its \
     control group leaves the daemon; `meshpaced check` shows them.";

fn tables() -> Vec<Table> {
    let mut tables = vec![Table { name: "", many: false, doc: ROOT.doc, keys: entries(&ROOT) }];
    let parameters = |name: &str| {
        let (_, keys) = TABLES.iter().find(|(table, _)| *table == name)?;
        Some(keys.iter().map(|key| Entry::of_parameter(&Parameter::named(key))).collect())
    };
    for key in ROOT.all() {
        match key.kind {
            Kind::Table(section) => {
                tables.push(Table { name: key.name, many: false, doc: section.doc, keys: entries(section) });
            }
            Kind::Tables(section) => {
                tables.push(Table { name: key.name, many: true, doc: section.doc, keys: entries(section) });
            }
            Kind::Free(_) => {
                let keys = parameters(key.name).unwrap_or_else(|| panic!("nobody reads [{}]", key.name));
                let doc = if key.name == "law" { LAW } else { GATEWAY };
                tables.push(Table { name: key.name, many: false, doc, keys });
            }
            _ => {}
        }
    }
    tables
}

fn entries(section: &'static Section) -> Vec<Entry> {
    let is_value = |key: &&Key| !matches!(key.kind, Kind::Table(_) | Kind::Tables(_) | Kind::Free(_));
    section.all().filter(is_value).map(Entry::of_key).collect()
}

impl Entry {
    fn of_key(key: &Key) -> Self {
        Self {
            name: key.name,
            doc: key.doc.to_owned(),
            allowed: key.kind.allowed(),
            default: key.default.map(|default| default.toml()),
        }
    }

    fn of_parameter(parameter: &Parameter) -> Self {
        Self {
            name: parameter.key,
            doc: parameter.doc.to_owned(),
            allowed: parameter.allowed(),
            default: parameter.default(),
        }
    }
}

/// The default file: every key with its meaning and its default, commented out.
pub(super) fn default_file() -> String {
    let mut out = String::new();
    for table in tables() {
        comment(&mut out, table.doc);
        match (table.name, table.many) {
            ("", _) => out.push_str(
                "# Lines that begin with # and no space are the defaults (or, where it says so, examples): remove the # \
                 to change one.\n# `meshpaced check FILE` tells what is wrong with a file, or what is in force.\n\n",
            ),
            (name, true) => writeln!(out, "#[[{name}]]\n").expect("a String takes all"),
            (name, false) => writeln!(out, "[{name}]\n").expect("a String takes all"),
        }
        for entry in &table.keys {
            comment(&mut out, &entry.doc);
            let path = path(table.name, entry.name);
            let value = match (&entry.default, example(&path)) {
                (Some(default), _) => default.as_str(),
                (None, Some(example)) => {
                    comment(&mut out, "No fixed default; an example:");
                    example
                }
                (None, None) => panic!("{path} has neither default nor example"),
            };
            writeln!(out, "#{} = {value}\n", entry.name).expect("a String takes all");
        }
        if table.name == "hops" {
            comment(&mut out, "Prefixes and hops; an example:");
            out.push_str("#static = { \"10.1.2.0/24\" = 3 }\n\n");
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The default file under a comment of its own, with `values` in force: TOML by key, such as `mesh.rate`.
pub(crate) fn commented_file(head: &str, values: &[(&str, String)]) -> String {
    let mut out = String::new();
    comment(&mut out, head);
    let mut table = String::new();
    for line in default_file().lines() {
        writeln!(out, "{line}").expect("a String takes all");
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut table);
        }
        let key = line.strip_prefix('#').and_then(|rest| rest.split_once(" = "));
        let key = key.map(|(key, _)| path(&table, key));
        if let Some((key, value)) = values.iter().find(|(name, _)| key.as_deref() == Some(name)) {
            let name = key.rsplit('.').next().unwrap_or(key);
            writeln!(out, "{name} = {value}").expect("a String takes all");
        }
    }
    out
}

/// The reference, docs/meshpaced-config.md.
pub(super) fn reference() -> String {
    let mut out = String::from(
        "# The configuration of meshpaced\n\n\
         meshpaced reads one TOML file: `/etc/meshpaced.toml`, unless `--config` names another. This page lists all of its keys. \
         `meshpaced check FILE` names each mistake by line and key; if there is none, it prints every value in force and where \
         the value comes from. Keys that do not exist are errors. `packaging/meshpaced.toml` is the commented default file. \
         `meshpaced check --print` writes this page and that file; a test keeps them in step with the code. \"schemes.md\" \
         stands for docs/schemes.md and the papers that it names.\n",
    );
    for table in tables() {
        let head = match (table.name, table.many) {
            ("", _) => "Before the first table".to_owned(),
            (name, true) => format!("`[[{name}]]`"),
            (name, false) => format!("`[{name}]`"),
        };
        write!(
            out,
            "\n## {head}\n\n{}\n\n| key | allowed | default | meaning |\n|---|---|---|---|\n",
            table.doc
        )
        .expect("a String takes all");
        for entry in &table.keys {
            let default = entry.default.as_ref().map_or(String::new(), |default| format!("`{default}`"));
            writeln!(
                out,
                "| `{}` | {} | {default} | {} |",
                entry.name,
                cell(&entry.allowed),
                cell(&entry.doc)
            )
            .expect("a String takes all");
        }
    }
    out
}

/// The configuration in force: a file that means the same without any default, and the origin of each value
/// behind it.
///
/// # Errors
/// As [`Config::parse`].
pub(super) fn in_force(
    root: &Settings<'_>,
    config: &Config,
    memory: Option<Memory>,
) -> Result<String, FileError> {
    let scheme = parameters::read(root, memory)?;
    let of_memory = memory.filter(|memory| memory.is_short());
    let mut out = String::new();
    for table in tables() {
        if table.many {
            for settings in root.sections(table.name)? {
                writeln!(out, "\n[[{}]]", table.name).expect("a String takes all");
                for entry in &table.keys {
                    if let Some(item) = settings.item(entry.name) {
                        line(&mut out, entry.name, &item.value.toml(), &origin(item));
                    }
                }
            }
            continue;
        }
        if !table.name.is_empty() {
            writeln!(out, "\n[{}]", table.name).expect("a String takes all");
        }
        for entry in &table.keys {
            let item = item_of(root, table.name, entry.name)?;
            let parameter = TABLES.iter().any(|(name, _)| *name == table.name);
            let value = match (item, parameter) {
                (Some(item), _) => Some(item.value.toml()),
                (None, true) => Parameter::named(entry.name).value_in(&scheme),
                (None, false) => {
                    entry.default.clone().or_else(|| derived(&path(table.name, entry.name), config))
                }
            };
            match value {
                Some(value) => {
                    let default = || match of_memory {
                        Some(memory) if OF_MEMORY.contains(&entry.name) => {
                            format!("default with {memory} of memory")
                        }
                        _ => "default".to_owned(),
                    };
                    line(&mut out, entry.name, &value, &item.map_or_else(default, origin));
                }
                None => line(&mut out, &format!("#{}", entry.name), "", "not set"),
            }
        }
        if table.name == "hops" {
            static_hops(&mut out, root)?;
        }
    }
    Ok(out)
}

fn static_hops(out: &mut String, root: &Settings<'_>) -> Result<(), FileError> {
    if let Some(Item { value: Value::Table(entries), .. }) = root.section("hops")?.item("static") {
        out.push_str("\n[hops.static]\n");
        for (prefix, item) in &entries.entries {
            line(out, &basic_string(prefix), &item.value.toml(), &origin(item));
        }
    }
    Ok(())
}

/// Where the file gives a key.
fn item_of<'a>(root: &Settings<'a>, table: &str, key: &str) -> Result<Option<&'a Item>, FileError> {
    Ok(if table.is_empty() {
        root.item(key)
    } else if TABLES.iter().any(|(name, _)| *name == table) {
        match root.item(table).map(|item| &item.value) {
            Some(Value::Table(entries)) => entries.get(key),
            _ => None,
        }
    } else {
        root.section(table)?.item(key)
    })
}

/// Defaults that depend on other keys.
fn derived(path: &str, config: &Config) -> Option<String> {
    match path {
        "mesh.fallback_rate" if config.mesh.rate_source == super::RateSource::Nl80211 => {
            Some(config.mesh.rate.as_bits_per_sec().to_string())
        }
        "nfqueue.length" => Some(config.nfqueue.length.to_string()),
        "host.rate" => Some(config.host.rate.as_bits_per_sec().to_string()),
        _ => None,
    }
}

fn origin(item: &Item) -> String {
    match &item.origin {
        Origin::Line(line) => format!("line {line}"),
        Origin::Option(option) => option.clone(),
    }
}

fn line(out: &mut String, key: &str, value: &str, origin: &str) {
    let assignment = if value.is_empty() { key.to_owned() } else { format!("{key} = {value}") };
    writeln!(out, "{assignment:ORIGIN$} # {origin}").expect("a String takes all");
}

fn path(table: &str, key: &str) -> String {
    if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") }
}

fn example(path: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(key, _)| *key == path).map(|(_, example)| *example)
}

/// A cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// `text` as comment lines.
fn comment(out: &mut String, text: &str) {
    let mut columns = 0;
    for word in text.split_whitespace() {
        let length = 1 + word.chars().count();
        if columns == 0 || columns + length > WIDTH {
            out.push_str(if columns == 0 { "#" } else { "\n#" });
            columns = 1;
        }
        out.push(' ');
        out.push_str(word);
        columns += length;
    }
    out.push('\n');
}
