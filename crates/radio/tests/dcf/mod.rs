//! The DCF on scripted and random air: every expected frame at its nanosecond, silence otherwise.
//!
//! | module | what is held against ns2-behaviour |
//! |---|---|
//! | [`exchange`] | frames of one exchange, their times, rates and sizes (2.1, 3.1) |
//! | [`bursts`] | frames of several packets: each fares by itself |
//! | [`backoff`] | when a station may send (2.3 to 2.8) |
//! | [`retries`] | failed attempts, windows and counters (2.5, 3.6 to 3.8) |
//! | [`answers`] | what a receiver does (3.2 to 3.5, 3.9) |
//! | [`nav`] | virtual carrier sense and EIFS (1.7, 1.8, 2.2) |
//! | [`capture`] | overlapping frames under `ns2-capture` and `ranges` (1.2 to 1.6) |
//! | [`sinr`] | overlapping frames under `sinr` (schemes.md 17.1) |
//! | [`watching`] | what a station tells its observers: overheard frames, busy time, what it sent |
//! | [`rates`] | frames whose modes are chosen one by one |
//! | [`properties`] | random traffic over random topologies |

mod ahead;
mod answers;
mod backoff;
mod burst_properties;
mod bursts;
mod capture;
mod categories;
mod exchange;
mod limits;
mod nav;
mod properties;
mod rates;
mod retries;
mod sinr;
mod watching;

use crate::air::{Air, Setup};
use meshpace_radio::Position;

/// Air times at 1 Mbit/s with the long preamble, microseconds (schemes.md 17.2).
const RTS: f64 = 352.0;
const CTS: f64 = 304.0;
const ACK: f64 = 304.0;
const SIFS: f64 = 10.0;
const DIFS: f64 = 50.0;
const EIFS: f64 = 364.0;
/// From the end of a frame to the time-out for its answer: SIFS + CTS or ACK + 4 us.
const TIMEOUT: f64 = 318.0;
/// 1500 bytes + 34 at 11 Mbit/s, rounded up to the nanosecond.
const DATA: f64 = 1307.637;

/// Station 0 in the middle, puppets 1, 2, ... at these distances around it.
fn star(setup: &Setup, distances: &[f64]) -> Air {
    let directions = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)];
    let mut positions = vec![Position::flat(0.0, 0.0)];
    let places = distances.iter().zip(directions);
    positions.extend(places.map(|(d, (x, y))| Position::flat(d * x, d * y)));
    let puppets: Vec<u32> = (1..positions.len() as u32).collect();
    Air::new(setup, &positions).puppets(&puppets)
}
