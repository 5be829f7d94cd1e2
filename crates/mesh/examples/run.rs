//! Temporary driver.
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&args[1]).unwrap();
    let seed = args[2].parse().unwrap();
    let mut o = meshpace_scenario::Overrides::none();
    for a in &args[3..] {
        o = o.with(a.clone());
    }
    let file = meshpace_scenario::ScenarioFile::parse(&args[1], &bytes, &o).unwrap_or_else(|e| {
        eprintln!("{e}");
        std::process::exit(2)
    });
    let s = file.resolve(seed).unwrap();
    println!("{}", serde_json::to_string_pretty(&meshpace_mesh::run(&s).unwrap()).unwrap());
}
