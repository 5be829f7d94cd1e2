//! Every file in scenarios/ parses, resolves, and has only keys that the schema knows.

use meshpace_scenario::{About, Overrides, ScenarioFile, schema};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn files() -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder()).expect("the folder of scenarios");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read(&path).expect("a readable file"))
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn all_parse_and_resolve() {
    let files = files();
    assert!(files.len() >= 18, "only {} scenarios", files.len());
    for (name, bytes) in &files {
        let file = ScenarioFile::parse(name, bytes, &Overrides::none()).unwrap_or_else(|e| panic!("{e}"));
        for seed in 1..=3 {
            let scenario = file.resolve(seed).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(
                scenario,
                file.resolve(seed).expect("once more"),
                "{name} is not a function of the seed"
            );
            assert_eq!(format!("{}.toml", scenario.name), *name);
            assert!(scenario.source.is_some(), "{name} does not say what it reproduces");
        }
        assert!(bytes.starts_with(b"# "), "{name} does not begin with a comment that says what it is");
    }
}

#[test]
fn what_a_file_is_stands_in_one_table() {
    for (name, bytes) in files() {
        let about = About::parse(&name, &bytes).unwrap_or_else(|e| panic!("{e}"));
        let file = ScenarioFile::parse(&name, &bytes, &Overrides::none()).expect("a valid file");
        let scenario = file.resolve(1).expect("a scenario");
        assert_eq!((about.description, about.source), (scenario.description, scenario.source), "{name}");
        assert_eq!(about.name, scenario.name);
    }
    let listed = About::parse("x.toml", b"[scenario]\nsource = \"me\"\n[radio]\nrts = \"nonsense\"\n");
    assert_eq!(
        listed,
        Ok(About { name: "x".to_owned(), description: None, source: Some("me".to_owned()) }),
        "no other table is checked"
    );
    let wrong = About::parse("x.toml", b"\n[scenario]\nsauce = \"me\"\n").expect_err("no such key");
    assert_eq!((&*wrong.at.file, wrong.at.key.as_str()), ("x.toml", "scenario.sauce"));
}

#[test]
fn chains_take_any_length() {
    let read = |name: &str| std::fs::read(folder().join(name)).expect("a readable file");
    for name in ["gap-fig08-chain-up.toml", "gap-fig09-chain-down.toml"] {
        for hops in 1..=10 {
            let overrides = Overrides::none().with(format!("topology.hops={hops}"));
            let file = ScenarioFile::parse(name, &read(name), &overrides).expect("a valid file");
            assert_eq!(file.resolve(1).expect("a scenario").mesh.len(), hops + 1);
        }
    }
}

/// The schema with tables `[scheme.NAME]` of any content: another crate reads those.
fn file_schema() -> Value {
    schema(serde_json::json!({ "type": "object" }))
}

#[test]
fn all_pass_the_schema() {
    let schema = file_schema();
    for (name, bytes) in &files() {
        let text = std::str::from_utf8(bytes).expect("UTF-8");
        let value: Value = toml::from_str(text).expect("TOML");
        crate::validator::validate(&schema, &value, name).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn the_schema_refuses_what_the_checker_refuses() {
    let broken = [
        ("[radio]\nraet = 1", "unknown key"),
        ("[radio]\nstandard = \"802.11z\"", "no such word"),
        ("[radio]\nqueue = 0", "too small"),
        ("[radio]\nrate = true", "wrong type"),
        ("[radio]\nshadowing_db = 4", "not with the default propagation"),
        ("[topology]\nkind = \"grid\"\nhops = 3", "not with this kind"),
        ("[topology]\nhops = 3", "no kind"),
        ("[measure]\nwindows = []", "empty list"),
        ("[[node]]\nx = 1", "no id"),
    ];
    for (text, why) in broken {
        let text = format!("{text}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n");
        let value: Value = toml::from_str(&text).expect("TOML");
        assert!(crate::validator::validate(&file_schema(), &value, "file").is_err(), "{why}: {text}");
        assert!(ScenarioFile::parse("x.toml", text.as_bytes(), &Overrides::none()).is_err(), "{why}: {text}");
    }
    let quiet: Value = toml::from_str("[[node]]\nid = \"a\"\nx = 0\ny = 0\n").expect("TOML");
    crate::validator::validate(&file_schema(), &quiet, "file").expect("a scenario needs no flow");
}

#[test]
fn every_complaint_is_told() {
    let text = "[measure]\nduration = \"4sec\"\nwormup = \"1s\"\n[radio]\nrate = \"11mbps\"\n[topology]\nkind = \"chain\"\nhops = 2\n\
                [[flow]]\nfrom = \"n0\"\nto = \"n2\"\nwindow = 0\n[[flow]]\nfrom = 3\nto = \"n0\"\n";
    let found = ScenarioFile::complaints("a.toml", text.as_bytes(), &Overrides::none());
    let told: Vec<_> = found.iter().map(|error| error.at.to_string()).collect();
    assert_eq!(
        told,
        [
            "a.toml:2: measure.duration",
            "a.toml:3: measure.wormup",
            "a.toml:5: radio.rate",
            "a.toml:12: flow[0].window",
            "a.toml:14: flow[1].from",
        ]
    );
    assert!(found[2].to_string().contains("did you mean \"11Mbps\""), "{}", found[2]);
    // What only readers see, beside what the tables see.
    let text = "[measure]\nduration = \"4s\"\nwarmup = \"9s\"\n[radio]\nrate = \"2Mbps\"\nrts = \"perhaps\"\n\
                [topology]\nkind = \"chain\"\nhops = 2\n[[flow]]\nfrom = \"n0\"\nto = \"n2\"\n";
    let found = ScenarioFile::complaints("a.toml", text.as_bytes(), &Overrides::none());
    let told: Vec<_> = found.iter().map(|error| error.at.to_string()).collect();
    assert_eq!(told, ["a.toml:6: radio.rts", "a.toml:3: measure.warmup"]);
    let good = text.replace("perhaps", "always").replace("9s", "1s");
    assert!(ScenarioFile::complaints("a.toml", good.as_bytes(), &Overrides::none()).is_empty());
    assert_eq!(ScenarioFile::complaints("a.toml", b"[measure", &Overrides::none()).len(), 1);
}
