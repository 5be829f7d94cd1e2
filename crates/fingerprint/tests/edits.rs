//! Which edits of a tree make a new engine, and which do not.

use meshpace_fingerprint::{Fingerprint, of_tree};
use std::fs;
use std::path::{Path, PathBuf};

/// A workspace of the extension, an engine it depends on, a daemon it does not, and a crate for tests.
const FILES: [(&str, &str); 16] = [
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\n[workspace.package]\nedition = \"2024\"\n[workspace.dependencies]\n\
         engine = { path = \"crates/engine\" }\nmaths = { version = \"1\", features = [\"fast\"] }\nother = \"1\"\n",
    ),
    ("Cargo.lock", "# made by cargo\n[[package]]\nname = \"maths\"\nversion = \"1.0.0\"\n"),
    (
        "crates/python/Cargo.toml",
        "[package]\nname = \"extension\"\nedition.workspace = true\n[dependencies]\nengine.workspace = true\n",
    ),
    ("crates/python/src/lib.rs", "fn main() { engine::run(); }\n"),
    (
        "crates/engine/Cargo.toml",
        "[package]\nname = \"engine\"\nedition.workspace = true\n[dependencies]\nmaths.workspace = true\n\
         [dev-dependencies]\nchecks = { path = \"../checks\" }\n",
    ),
    (
        "crates/engine/src/lib.rs",
        "//! An engine.\n\nmod law;\n#[cfg(test)]\nmod tests;\n\n/// Runs.\npub fn run() -> u32 {\n    \
         match law::delay() {\n        0 => 1,\n        other => other + wheels::COUNT,\n    }\n}\n\n\
         #[cfg(test)]\nmod inside {\n    #[test]\n    fn runs() {}\n}\n\nmod wheels {\n    pub const COUNT: u32 = 4;\n}\n",
    ),
    (
        "crates/engine/src/law.rs",
        "mod deep;\nkeys::parts! {\n    /// Two.\n    pub static PARTS: Part = [fifo, red, red::TWICE];\n}\n\
         const TABLE: &str = include_str!(\"table.txt\");\nstruct Law(\n    u32,\n);\n\
         pub fn delay() -> u32 {\n    let (one,) = (deep::ALPHA,);\n    one\n}\n\
         impl Law {\n    #[cfg(test)]\n    fn shown(&self) -> u32 {\n        self.0\n    }\n}\n",
    ),
    ("crates/engine/src/law/deep.rs", "pub const ALPHA: u32 = 7;\n"),
    ("crates/engine/src/law/fifo.rs", "pub static PART: Part = Part(1);\n"),
    ("crates/engine/src/law/red.rs", "pub static PART: Part = Part(2);\n"),
    ("crates/engine/src/law/table.txt", "unused\n"),
    ("crates/engine/src/table.txt", "1 2 3\n"),
    ("crates/engine/src/tests.rs", "#[test]\nfn one() {}\n"),
    ("crates/engine/tests/whole.rs", "#[test]\nfn whole() {}\n"),
    ("crates/daemon/Cargo.toml", "[package]\nname = \"daemon\"\nedition.workspace = true\n"),
    ("crates/daemon/src/lib.rs", "pub const PORT: u16 = 1;\n"),
];

fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in FILES {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn taken(root: &Path) -> Fingerprint {
    of_tree(root).unwrap_or_else(|error| panic!("{error}"))
}

/// The fingerprints before and after `old` became `new` in the file `name`.
fn edited(name: &str, old: &str, new: &str) -> (String, String) {
    let folder = tree();
    let before = taken(folder.path()).hex;
    let path = folder.path().join(name);
    let text = fs::read_to_string(&path).expect("a file");
    assert!(text.contains(old), "{name} has no {old:?}");
    fs::write(&path, text.replacen(old, new, 1)).expect("a file");
    (before, taken(folder.path()).hex)
}

#[test]
fn what_can_change_a_result_makes_a_new_engine() {
    for (name, old, new) in [
        ("crates/engine/src/law/deep.rs", "7", "8"),
        ("crates/engine/src/law/deep.rs", "u32", "u64"),
        ("crates/engine/src/law/fifo.rs", "1", "3"),
        ("crates/engine/src/law/red.rs", "2", "3"),
        ("crates/engine/src/law.rs", "[fifo, red, red::TWICE]", "[fifo]"),
        ("crates/engine/src/lib.rs", "COUNT: u32 = 4", "COUNT: u32 = 5"),
        ("crates/engine/src/lib.rs", "other + wheels", "other - wheels"),
        ("crates/engine/src/lib.rs", "#[cfg(test)]\nmod inside", "mod inside"),
        ("crates/engine/src/law.rs", "#[cfg(test)]\n    fn shown", "fn shown"),
        ("crates/engine/src/law.rs", "(one,) = (deep::ALPHA,)", "(one) = (deep::ALPHA)"),
        ("crates/engine/src/table.txt", "3", "4"),
        ("crates/python/src/lib.rs", "run", "walk"),
        ("Cargo.lock", "1.0.0", "1.0.1"),
        ("Cargo.toml", "fast", "exact"),
        ("Cargo.toml", "2024", "2021"),
    ] {
        let (before, after) = edited(name, old, new);
        assert_ne!(before, after, "{name}: {old:?} -> {new:?}");
    }
}

#[test]
fn what_cannot_change_a_result_leaves_the_engine_what_it_is() {
    for (name, old, new) in [
        ("crates/engine/src/lib.rs", "//! An engine.", "//! The engine.\n//!\n//! It runs."),
        ("crates/engine/src/lib.rs", "/// Runs.", "#[doc = \"Runs on.\"]\n// Why not.\n"),
        ("crates/engine/src/lib.rs", "match law::delay() {\n", "match\n  law::delay( )   {"),
        ("crates/engine/src/lib.rs", "0 => 1,", "0 => { 1 }"),
        ("crates/engine/src/lib.rs", "fn runs() {}", "fn runs() { assert!(true); }"),
        ("crates/engine/src/lib.rs", "mod wheels {\n", "mod wheels {\n#[test]\nfn four() {}\n"),
        ("crates/engine/src/law.rs", "(\n    u32,\n)", "(u32)"),
        ("crates/engine/src/law.rs", "self.0", "self.0 + 1"),
        ("crates/engine/src/law/table.txt", "unused", "not read"),
        ("crates/engine/src/tests.rs", "one", "two"),
        ("crates/engine/tests/whole.rs", "whole", "half"),
        ("crates/engine/Cargo.toml", "checks = ", "[lib]\nbench = false\n[dev-dependencies.more]\nwhat = "),
        ("crates/daemon/src/lib.rs", "1", "2"),
        ("Cargo.lock", "# made by cargo", "# made by another cargo"),
        ("Cargo.toml", "other = \"1\"", "other = \"2\""),
    ] {
        let (before, after) = edited(name, old, new);
        assert_eq!(before, after, "{name}: {old:?} -> {new:?}");
    }
}

#[test]
fn a_modules_file_may_lie_anywhere() {
    let folder = tree();
    let before = taken(folder.path());
    let engine = folder.path().join("crates/engine/src");
    fs::create_dir_all(engine.join("law/deep")).expect("a folder");
    fs::rename(engine.join("law/deep.rs"), engine.join("law/deep/mod.rs")).expect("moved");
    let lib = engine.join("lib.rs");
    let text = fs::read_to_string(&lib).expect("a file");
    let outside =
        text.replace("mod wheels {\n    pub const COUNT: u32 = 4;\n}", "#[path = \"other.rs\"]\nmod wheels;");
    assert_ne!(text, outside);
    fs::write(lib, outside).expect("a file");
    fs::write(engine.join("other.rs"), "pub const COUNT: u32 = 4;").expect("a file");
    fs::rename(folder.path().join("crates/engine"), folder.path().join("crates/motor")).expect("moved");
    let manifest = folder.path().join("Cargo.toml");
    let moved = fs::read_to_string(&manifest).expect("a file").replace("crates/engine", "crates/motor");
    fs::write(manifest, moved).expect("a file");
    assert_eq!(before.hex, taken(folder.path()).hex);
}

#[test]
fn it_names_what_it_depends_on() {
    let folder = tree();
    let sources = taken(folder.path()).sources;
    let read: Vec<_> =
        FILES.iter().map(|(name, _)| name).filter(|n| sources.contains(&folder.path().join(n))).collect();
    assert_eq!(read.len(), sources.len(), "{sources:?}");
    let unread: Vec<_> = FILES.iter().map(|(name, _)| *name).filter(|name| !read.contains(&name)).collect();
    assert_eq!(
        unread,
        [
            "crates/engine/src/law/table.txt",
            "crates/engine/src/tests.rs",
            "crates/engine/tests/whole.rs",
            "crates/daemon/Cargo.toml",
            "crates/daemon/src/lib.rs",
        ]
    );
}

#[test]
fn every_file_of_this_engine_is_read() {
    // A module that a macro declares in a way which is not known here would change results and no fingerprint.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("this tree");
    let sources = taken(&root).sources;
    let of_a_library = |path: &&PathBuf| path.ends_with("src/lib.rs");
    let mut folders: Vec<_> =
        sources.iter().filter(of_a_library).map(|path| path.with_file_name("")).collect();
    assert!(folders.len() > 10, "{folders:?}");
    let mut unread = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let of_tests = path.file_stem().is_some_and(|name| name == "tests");
            if path.is_dir() && !of_tests {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs")
                && !of_tests
                && !sources.contains(&path)
            {
                unread.push(path);
            }
        }
    }
    assert_eq!(unread, Vec::<PathBuf>::new());
}

#[test]
fn what_cannot_be_understood_is_an_error_with_its_place() {
    let folder = tree();
    let deep = folder.path().join("crates/engine/src/law/deep.rs");
    fs::write(&deep, "pub const\n  = ;").expect("a file");
    let message = of_tree(folder.path()).expect_err("not Rust").to_string();
    assert!(message.contains("deep.rs: line 2, column 3: "), "{message}");
    fs::remove_file(&deep).expect("removed");
    let message = of_tree(folder.path()).expect_err("no module").to_string();
    assert!(message.contains("law.rs: of the module it declares there is neither"), "{message}");
}
