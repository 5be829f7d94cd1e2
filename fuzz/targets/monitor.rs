//! Captures in monitor mode.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpace_monitor::{Options, measure};

fuzz_target!(|bytes: &[u8]| {
    match measure(bytes, &Options::default()) {
        Ok(report) => {
            assert!((0.0..=1.0).contains(&report.busy), "{}", report.busy);
            assert!(report.counts.frames > 0);
            for link in &report.links {
                let (capacity, available) = (link.capacity, link.available);
                assert!(capacity.is_finite() && 0.0 < available && available <= capacity, "{link:?}");
                assert!(0 < link.samples && link.samples <= report.counts.frames, "{link:?}");
            }
            let rows: u64 = report.series.iter().map(|row| row.samples).sum();
            assert_eq!(rows, report.links.iter().map(|link| link.samples).sum::<u64>());
            // The same bytes, the same report.
            assert_eq!(measure(bytes, &Options::default()), Ok(report));
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains('\n') && message.len() < 200, "{message}");
        }
    }
});
