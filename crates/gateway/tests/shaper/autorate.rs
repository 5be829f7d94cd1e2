//! The rule by which cake-autorate sets the rate of a shaper, with its published defaults, on the same link.
//!
//! Source: `defaults.sh` and README.md of github.com/lynxthecat/cake-autorate at 070397946aca: probes to six reflectors every 0.3 s each,
//! whose one-way delays are held against a baseline; the words below are its own. The thresholds get longer by what a packet takes.

use super::finds::{FIND, Mesh, Says};
use super::*;

const PROBES: u64 = 50;
const LOOKS: u64 = 200;
const REFRACTORY: u64 = 300;
const WINDOW: usize = 6;
const DELAYED: usize = 3;
const HIGH_LOAD: f64 = 0.75;
/// `avg_owd_delta_max_adjust_up_thr`, `owd_delta_delay_thr`, `avg_owd_delta_max_adjust_down_thr`, seconds.
const THRESHOLDS: (f64, f64, f64) = (0.010, 0.030, 0.060);
const UP: (f64, f64) = (1.04, 1.0);
const DOWN: (f64, f64) = (0.99, 0.75);
/// `alpha_baseline_increase`, `alpha_baseline_decrease`, `alpha_delta_ewma`.
const ALPHAS: (f64, f64, f64) = (0.001, 0.9, 0.095);

struct Autorate {
    rate: f64,
    baseline: f64,
    delta: f64,
    latest: Vec<bool>,
    probes: Vec<(Instant, f64)>,
    cut: u64,
    left: usize,
}

impl Autorate {
    fn new(rate: f64) -> Self {
        Self {
            rate,
            baseline: 0.0,
            delta: 0.0,
            latest: vec![false; WINDOW],
            probes: Vec::new(),
            cut: 0,
            left: 0,
        }
    }

    fn thresholds(&self) -> (f64, f64, f64) {
        let packet = 12_000.0 / self.rate;
        (THRESHOLDS.0 + packet, THRESHOLDS.1 + packet, THRESHOLDS.2 + packet)
    }

    /// A millisecond passes.
    fn step(&mut self, ms: u64, mesh: &mut Mesh) {
        if ms.is_multiple_of(PROBES) {
            let wait = mesh.busy.saturating_since(mesh.now);
            self.probes.push((mesh.now + wait + Span::from_millis(20), wait.as_secs_f64()));
        }
        let (up, delayed, down) = self.thresholds();
        while self.probes.first().is_some_and(|(at, _)| *at <= mesh.now) {
            let (_, wait) = self.probes.remove(0);
            let alpha = if wait > self.baseline { ALPHAS.0 } else { ALPHAS.1 };
            self.baseline += alpha * (wait - self.baseline);
            let delta = wait - self.baseline;
            self.delta += ALPHAS.2 * (delta - self.delta);
            self.latest.rotate_right(1);
            self.latest[0] = delta > delayed;
            let is_bloated = self.latest.iter().filter(|late| **late).count() >= DELAYED;
            if is_bloated && ms >= self.cut + REFRACTORY {
                let over = ((self.delta - delayed) / (down - delayed)).clamp(0.0, 1.0);
                self.rate *= DOWN.0 + (DOWN.1 - DOWN.0) * over;
                self.cut = ms;
                self.latest.fill(false);
            }
        }
        if ms.is_multiple_of(LOOKS) {
            let sent = (mesh.waits.len() - self.left) as f64 * 12_000.0 / (LOOKS as f64 / 1e3);
            self.left = mesh.waits.len();
            if sent > HIGH_LOAD * self.rate && ms >= self.cut + REFRACTORY {
                let under = ((self.delta - up) / (delayed - up)).clamp(0.0, 1.0);
                self.rate *= UP.0 + (UP.1 - UP.0) * under;
            }
        }
        let (least, most) = (FIND.least.as_bits_per_sec() as f64, FIND.most.as_bits_per_sec() as f64);
        self.rate = self.rate.clamp(least, most);
        mesh.shaper.set_config(ShaperConfig {
            rate: Rate::bits_per_sec(self.rate as u64),
            find: None,
            ..*mesh.shaper.config()
        });
    }
}

/// The share of what a link carries that goes through it, and the waits of which a half and 95 % are shorter, while its rate changes every 20 s.
fn runs(is_found: bool) -> (f64, [Span; 2]) {
    let mut mesh = Mesh::new(2_000_000, &[Says::Truth; 2]);
    if !is_found {
        let given = ShaperConfig { find: None, ..*mesh.shaper.config() };
        mesh.shaper.set_config(given);
    }
    let mut autorate = Autorate::new(1e6);
    let mut step = |ms, mesh: &mut Mesh| {
        if !is_found {
            autorate.step(ms, mesh);
        }
    };
    mesh.run_with(10, &mut step);
    let before = mesh.waits.len();
    let mut carries = 0.0;
    for rate in [2_000_000u32, 1_000_000, 3_000_000, 1_500_000] {
        mesh.rate = Rate::bits_per_sec(rate.into());
        carries += f64::from(rate) * 20.0 / 12_000.0;
        mesh.run_with(20, &mut step);
    }
    let waits = &mut mesh.waits[before..];
    waits.sort_unstable();
    (waits.len() as f64 / carries, [50, 95].map(|part| waits[waits.len() * part / 100]))
}

/// Its probes see a queue late, and its cuts are deep: most of the time nothing waits, and a quarter of the link stays empty.
#[test]
fn the_rate_by_delay_carries_a_fifth_more_than_cake_autorates_rule() {
    let ((found, waits), (autorate, rule_waits)) = (runs(true), runs(false));
    println!("found: {found:.3}, waits {waits:?}; cake-autorate's rule: {autorate:.3}, waits {rule_waits:?}");
    assert!(found > 1.2 * autorate, "{found} {autorate}");
    assert!(waits[1] < rule_waits[1], "{waits:?} {rule_waits:?}");
}
