//! The scenario file: any bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::scenario::judge;
use meshpace_scenario::Overrides;

fuzz_target!(|bytes: &[u8]| judge(bytes, &Overrides::none()));
