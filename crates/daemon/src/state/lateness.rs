//! How late packets leave, as a histogram: the verdict on the clock, told with every status.

use meshpace_units::{Histogram, Span};

/// Departures by how long after their due time they happened.
pub type Lateness = Histogram<17>;

static BOUNDS: [Span; 17] = {
    let us =
        [10, 20, 50, 100, 150, 200, 300, 400, 500, 700, 1_000, 1_500, 2_000, 5_000, 10_000, 20_000, 100_000];
    let mut bounds = [Span::ZERO; 17];
    let mut i = 0;
    while i < us.len() {
        bounds[i] = Span::from_micros(us[i]);
        i += 1;
    }
    bounds
};

/// No departures yet.
#[must_use]
pub const fn no_lateness() -> Lateness {
    Histogram::new(&BOUNDS)
}
