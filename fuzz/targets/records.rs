//! Files that the daemon keeps: trials, outcomes of forecasts.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpaced::foreign::{forecasts, trial_file};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Some([text, page]) = trial_file(&text) {
        assert!(!text.is_empty() && page.contains("<html"), "{text}");
        assert!(!text.contains('\u{1b}') && !page.contains("<script"), "what a file says is shown as text");
    }
    for [foretold, measured] in forecasts(bytes).into_iter().flatten() {
        assert!(foretold > 0.0 && measured >= 0.0 && (measured / foretold).is_finite() | (foretold < 1e-200));
    }
});
