//! `meshpaced`'s configuration file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpaced::config::Config;

fuzz_target!(|bytes: &[u8]| {
    match Config::parse("fuzz.toml", bytes) {
        Ok(config) => {
            // The same bytes, the same configuration.
            assert_eq!(
                format!("{config:?}"),
                format!("{:?}", Config::parse("fuzz.toml", bytes).expect("read before"))
            );
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("fuzz.toml"), "{message}");
            assert!(!message.contains('\n') && message.len() < 2_000, "{message}");
        }
    }
});
