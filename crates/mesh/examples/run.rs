//! Runs a scenario file without Python around it, for profilers: `run FILE [SEED [KEY=VALUE ...]]`.

use meshpace_scenario::{Overrides, ScenarioError, ScenarioFile};
use std::process::ExitCode;

fn run(file: &str, seed: u64, settings: &[String]) -> Result<String, ScenarioError> {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let overrides = settings.iter().fold(Overrides::none(), Overrides::with);
    let scenario = ScenarioFile::parse(file, &bytes, &overrides)?.resolve(seed)?;
    let result = meshpace_mesh::run(&scenario)?;
    Ok(serde_json::to_string_pretty(&result).unwrap_or_else(|error| panic!("{error}")))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = arguments.first() else {
        eprintln!("usage: run FILE [SEED [KEY=VALUE ...]]");
        return ExitCode::from(2);
    };
    let seed = arguments.get(1).map_or(Ok(1), |seed| seed.parse());
    match seed.map(|seed| run(file, seed, arguments.get(2..).unwrap_or_default())) {
        Ok(Ok(json)) => println!("{json}"),
        Ok(Err(error)) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
        Err(error) => {
            eprintln!("seed: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
