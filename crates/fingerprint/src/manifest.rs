//! Which crates are linked, and what their manifests say that can change what is compiled.

use crate::Error;
use crate::modules::Reader;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The workspace's own manifest.
pub struct Workspace {
    root: PathBuf,
    table: Table,
}

/// A crate of the workspace that is linked.
pub struct Member {
    directory: PathBuf,
    library: String,
    /// What its manifest says of dependencies, features and edition, those of the workspace filled in.
    says: Table,
}

impl Workspace {
    /// Reads `Cargo.toml` in `root`.
    pub fn read(root: &Path, reader: &mut Reader) -> Result<Self, Error> {
        Ok(Self { root: root.to_owned(), table: parse(&root.join("Cargo.toml"), reader)? })
    }

    /// The crate in the folder `first` and every crate of this workspace that it depends on, by name.
    pub fn linked(&self, first: &str, reader: &mut Reader) -> Result<Vec<Member>, Error> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.root.join(first)];
        while let Some(directory) = waiting.pop() {
            let manifest = directory.join("Cargo.toml");
            let table = parse(&manifest, reader)?;
            let name = at(&table, &["package", "name"]).and_then(Value::as_str).ok_or_else(|| {
                Error::Malformed { path: manifest.clone(), reason: "package.name is missing".to_owned() }
            })?;
            if found.contains_key(name) {
                continue;
            }
            let dependencies = self.dependencies(&table);
            waiting.extend(dependencies.iter().filter_map(|(_, spec)| {
                let (path, inherited) = (spec.get("path")?.as_str()?, spec.get("workspace").is_some());
                Some(if inherited { self.root.join(path) } else { directory.join(path) })
            }));
            let library = at(&table, &["lib", "path"]).and_then(Value::as_str).unwrap_or("src/lib.rs");
            let member =
                Member { library: library.to_owned(), says: self.says(&table, dependencies), directory };
            found.insert(name.to_owned(), member);
        }
        Ok(found.into_values().collect())
    }

    /// `[dependencies]` with what an entry inherits from the workspace beside what it says itself. What only tests
    /// (`dev-dependencies`) and build scripts use is not linked.
    fn dependencies(&self, table: &Table) -> Table {
        let mut found = table.get("dependencies").and_then(Value::as_table).cloned().unwrap_or_default();
        for (name, spec) in &mut found {
            let Some(own) = spec.as_table_mut().filter(|own| own.contains_key("workspace")) else { continue };
            match at(&self.table, &["workspace", "dependencies", name]) {
                Some(Value::Table(shared)) => own.extend(shared.clone()),
                Some(version) => {
                    own.insert("version".to_owned(), version.clone());
                }
                None => {}
            }
        }
        found
    }

    fn says(&self, table: &Table, dependencies: Table) -> Table {
        let own = at(table, &["package", "edition"]).filter(|edition| edition.is_str());
        let edition = own.or_else(|| at(&self.table, &["workspace", "package", "edition"]));
        let mut says = Table::new();
        says.insert("dependencies".to_owned(), Value::Table(dependencies));
        for (key, value) in
            [("edition", edition), ("features", table.get("features")), ("target", table.get("target"))]
        {
            says.extend(value.map(|value| (key.to_owned(), value.clone())));
        }
        says
    }
}

impl Member {
    /// Where its modules begin: the library, and a build script if it has one, which may write part of the library.
    pub fn roots(&self) -> Vec<PathBuf> {
        let script = self.directory.join("build.rs");
        [self.directory.join(&self.library)].into_iter().chain(script.is_file().then_some(script)).collect()
    }

    /// Hands what its manifest says to `sink`.
    pub fn digest(&self, sink: &mut impl FnMut(&[u8])) {
        write(&Value::Table(self.says.clone()), sink);
    }
}

fn parse(path: &Path, reader: &mut Reader) -> Result<Table, Error> {
    let malformed =
        |error: toml::de::Error| Error::Malformed { path: path.to_owned(), reason: error.to_string() };
    reader.text(path)?.parse().map_err(malformed)
}

fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { at(value.as_table()?, rest) }
}

/// Every key and value, tables sorted by key, each ended so that no two tables look alike.
fn write(value: &Value, sink: &mut impl FnMut(&[u8])) {
    match value {
        Value::Table(table) => {
            sink(b"{");
            for (key, value) in table.iter().collect::<BTreeMap<_, _>>() {
                // Where a crate lies changes nothing that is compiled.
                if key != "path" {
                    sink(key.as_bytes());
                    sink(b"\0");
                    write(value, sink);
                }
            }
            sink(b"}\0");
        }
        Value::Array(items) => {
            sink(b"[");
            items.iter().for_each(|item| write(item, sink));
            sink(b"]\0");
        }
        Value::String(text) => {
            sink(text.as_bytes());
            sink(b"\0");
        }
        Value::Boolean(flag) => sink(if *flag { b"true\0" } else { b"false\0" }),
        Value::Integer(number) => {
            sink(number.to_string().as_bytes());
            sink(b"\0");
        }
        Value::Float(number) => sink(&number.to_bits().to_be_bytes()),
        Value::Datetime(time) => {
            sink(time.to_string().as_bytes());
            sink(b"\0");
        }
    }
}
