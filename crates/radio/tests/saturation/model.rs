//! Saturation throughput in closed form.
//!
//! Two forms. [`Model::classic`] is Bianchi's chain as everybody uses it; [`Model::refined`] adds the two things in
//! which this MAC (and the standard) differs from that chain.
//!
//! **Classic.** G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC
//! 18(3), 2000: equation 9 for `p`, equations 10 to 13 for the throughput; finite retries after H. Wu et al.,
//! "Performance of Reliable Transport Protocol over IEEE 802.11 Wireless LAN", INFOCOM 2002, in the form of G.
//! Bianchi and I. Tinnirello, "Remarks on IEEE 802.11 DCF Performance Analysis", IEEE Comm. Letters 9(8), 2005,
//! which holds for any windows:
//!
//! ```text
//!     tau = 1 / (1 + (1 - p) / (1 - p^R) * sum_{j<R} p^j (W_j - 1)/2),      p = 1 - (1 - tau)^(n-1)
//! ```
//!
//! with R attempts a packet. The slots last sigma, Ts or Tc. Ts is the exchange + DIFS. Tc is the first frame, then
//! for a bystander EIFS (here a NAV) + DIFS, and for a collider its time-out (SIFS + ACK + 4 us) + DIFS. The classic
//! form has one Tc: the bystanders', or the colliders' if n = 2, where there are no bystanders.
//!
//! **Refined.** (1) A frozen backoff keeps at least one whole slot, so that in the first slot after a success only
//! the station that has just sent can access, with a fresh backoff of 0 and without competition: the "anomalous
//! slot" of I. Tinnirello, G. Bianchi and Y. Xiao, "Refinements on IEEE 802.11 Distributed Coordination Function
//! Modeling Approaches", IEEE Trans. Vehicular Technology 59(3), 2010. (2) The colliders' time-out ends
//! `delta = EIFS - (SIFS + ACK + 4 us)` before the bystanders' EIFS, 46 us at 11 Mbit/s, so that after a collision a
//! collider with a small backoff has the medium for itself as well. Both are worked out in the clock in which
//! backoffs count, that of the idle slots: a busy period takes no time in it.
//!
//! A collider's backoff `b` ends `b sigma - delta` into the bystanders' count, whose earliest access is at `sigma`.
//! So the values `b < m = ceil((delta + sigma) / sigma)` have priority; all others cost `b - delta/sigma` idle slots.
//! Let `x_j` be the chance of such a *free* access before attempt j: `x_0 = 1/W_0` (after a success), else
//! `x_j = m/W_j`. Free accesses succeed, the others fail with probability p. With `pi_j = prod_{i<j} (1 - x_i) p`, the
//! chance that a packet needs attempt j, a packet makes
//!
//! ```text
//!     A = sum_j pi_j (1 - x_j)              contended accesses, in
//!     B = (W_0 - 1)/2 + sum_{j>=1} pi_j sum_{m<=b<W_j} (b - delta/sigma) / W_j      idle slots: beta = A / B
//! ```
//!
//! (the argument by renewals of A. Kumar et al., "New Insights From a Fixed-Point Analysis of Single Cell IEEE 802.11
//! WLANs", IEEE/ACM ToN 15(3), 2007), and `p = 1 - (1 - beta)^(n-1)` as ever. At the end of an idle slot there is
//! a success with probability `Ps = n beta (1 - beta)^(n-1)` and a collision with `Pc = 1 - (1 - beta)^n - Ps`. A success
//! is followed by as many more as the sender draws zeros: `g = 1 / (1 - 1/W_0)` packets and `g Ts` in all. A collision
//! of `k = (n beta - Ps) / Pc` stations (their mean) is followed by a free access with probability
//! `y = 1 - (1 - x)^k`, x averaged over the colliders' next attempts; then it takes `Tcc + (m-1)/2 sigma + g Ts`
//! and yields g packets, else it takes the bystanders' Tc. Hence, with L bits a packet,
//!
//! ```text
//!     S = L g (Ps + Pc y) / (sigma + Ps g Ts + Pc ((1 - y) Tc + y (Tcc + (m-1)/2 sigma + g Ts)))
//! ```
//!
//! Left out: two colliders that draw the same free value; that colliders and bystanders, whose slots are out of
//! phase after a collision, cannot collide until the next frame brings them into step.

use meshpace_radio::standard::BackoffRange;
use meshpace_radio::standard::control_sizes::{ACK_BYTES, CTS_BYTES, RTS_BYTES};
use meshpace_radio::{Category, Mode, Phy};
use meshpace_units::{Bytes, Span};

/// What a closed form says.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    /// Network packets' bits a second, all stations together.
    pub throughput_bps: f64,
    /// Failed attempts / attempts.
    pub failures: f64,
}

/// `n` saturated stations that all hear each other. Times in microseconds.
pub struct Model {
    n: f64,
    sigma: f64,
    /// Number of values of each attempt's backoff.
    windows: Vec<f64>,
    bits: f64,
    /// Exchange + DIFS.
    success: f64,
    /// First frame to the end of the bystanders' DIFS.
    collision_bystander: f64,
    /// First frame to the end of the colliders' DIFS.
    collision_collider: f64,
}

fn micros(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e3
}

impl Model {
    /// The model of `stations` that send packets of `size` in `mode`.
    pub fn new(phy: &Phy, stations: u32, size: Bytes, mode: &'static Mode) -> Self {
        let rts = phy.needs_rts(size);
        let control = phy.answer(mode);
        let air = |bytes| phy.airtime(bytes, control);
        let data = phy.airtime(phy.mpdu(size), mode);
        let (sifs, difs) = (phy.sifs(), phy.difs());
        let (first, before_data) = if rts {
            (air(RTS_BYTES), air(RTS_BYTES) + air(CTS_BYTES) + sifs * 2)
        } else {
            (data, Span::ZERO)
        };
        // The time-out counts from the start of the frame.
        let timeout = if rts { phy.cts_timeout(mode) } else { phy.ack_timeout(data, mode, ACK_BYTES) };
        let (least, most) = phy.window(Category::BestEffort);
        let windows = std::iter::successors(Some(least), |cw| Some((2 * cw + 1).min(most)));
        let values = |cw: u32| match phy.backoff_range {
            BackoffRange::Ns2 => f64::from(cw),
            BackoffRange::Standard => f64::from(cw + 1),
        };
        Self {
            n: f64::from(stations),
            sigma: micros(phy.slot()),
            windows: windows.map(values).take(phy.retry_short as usize).collect(),
            bits: size.bits() as f64,
            success: micros(before_data + data + sifs + air(ACK_BYTES) + difs),
            collision_bystander: micros(first + phy.eifs() + difs),
            collision_collider: micros(timeout + difs),
        }
    }

    /// Bianchi 2000 with finite retries (Wu et al. 2002).
    pub fn classic(&self) -> Prediction {
        let tau = |p: f64| {
            let (mut weights, mut backoffs, mut weight) = (0.0, 0.0, 1.0);
            for window in &self.windows {
                weights += weight;
                backoffs += weight * (window - 1.0) / 2.0;
                weight *= p;
            }
            1.0 / (1.0 + backoffs / weights)
        };
        let p = fixed_point(|p| 1.0 - (1.0 - tau(p)).powf(self.n - 1.0));
        let (success, collision) = self.outcomes(tau(p));
        let tc = if self.n > 2.0 { self.collision_bystander } else { self.collision_collider };
        let slot = (1.0 - success - collision) * self.sigma + success * self.success + collision * tc;
        Prediction { throughput_bps: success * self.bits / slot * 1e6, failures: p }
    }

    /// With the anomalous slot and the colliders' head start; see the head of this file.
    pub fn refined(&self) -> Prediction {
        // Without bystanders nobody has a head start: only the anomalous slot is left, in which both may draw.
        let bystanders = self.n > 2.0;
        let delta = if bystanders { self.collision_bystander - self.collision_collider } else { 0.0 };
        let free_values = ((delta + self.sigma) / self.sigma - 1e-9).ceil();
        let free = |attempt: usize| match attempt {
            0 => 1.0 / self.windows[0],
            _ => (free_values / self.windows[attempt]).min(1.0),
        };
        // A collider draws for its next attempt, or for its next packet.
        let free_after = |attempt: usize| match attempt + 1 {
            next if next < self.windows.len() => free(next),
            _ => free_values / self.windows[0],
        };
        let renewal = |p: f64| {
            let mut sum = Renewal { contended: 0.0, attempts: 0.0, idle: 0.0, failures: 0.0, then_free: 0.0 };
            let mut reached = 1.0;
            for (attempt, window) in self.windows.iter().enumerate() {
                let late = (window - free_values).max(0.0);
                let mean_late = (free_values + window - 1.0) / 2.0 - delta / self.sigma;
                sum.attempts += reached;
                sum.contended += reached * (1.0 - free(attempt));
                sum.idle +=
                    if attempt == 0 { (window - 1.0) / 2.0 } else { reached * late * mean_late / window };
                reached *= (1.0 - free(attempt)) * p;
                sum.failures += reached;
                sum.then_free += reached * free_after(attempt);
            }
            sum
        };
        let beta = |p: f64| renewal(p).contended / renewal(p).idle;
        let p = fixed_point(|p| 1.0 - (1.0 - beta(p)).powf(self.n - 1.0));
        let (sum, beta) = (renewal(p), beta(p));
        let (success, collision) = self.outcomes(beta);
        let colliders = (self.n * beta - success) / collision;
        let y = 1.0 - (1.0 - sum.then_free / sum.failures).powf(colliders);
        let run = 1.0 / (1.0 - 1.0 / self.windows[0]);
        let head_start =
            self.collision_collider + (free_values - 1.0) / 2.0 * self.sigma + run * self.success;
        let contended = if bystanders { self.collision_bystander } else { self.collision_collider };
        let time =
            self.sigma + success * run * self.success + collision * ((1.0 - y) * contended + y * head_start);
        let packets = run * (success + collision * y);
        Prediction { throughput_bps: packets * self.bits / time * 1e6, failures: sum.failures / sum.attempts }
    }

    /// Chances of a success and of a collision in a slot in which each station sends with probability `tau`.
    fn outcomes(&self, tau: f64) -> (f64, f64) {
        let success = self.n * tau * (1.0 - tau).powf(self.n - 1.0);
        (success, 1.0 - (1.0 - tau).powf(self.n) - success)
    }
}

/// Sums over the attempts of one packet.
struct Renewal {
    contended: f64,
    attempts: f64,
    idle: f64,
    failures: f64,
    /// Failures after which the next access is free.
    then_free: f64,
}

/// The p with `f(p) = p`, for a falling `f` on (0, 1).
fn fixed_point(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0 - 1e-12);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if f(middle) > middle { low = middle } else { high = middle }
    }
    low
}
