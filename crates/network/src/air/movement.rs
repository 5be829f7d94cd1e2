//! Nodes that move: to where they are sent, or by random waypoints (walk to a random place at a random speed, rest, and again).

use meshpace_radio::Position;
use meshpace_scenario::{Mobility, Rectangle};
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span};

/// No leg takes less: what happens between two looks is not seen, and an area without extent has legs without end.
const SHORTEST_LEG: Span = Span::from_millis(1);

/// The longest, 570 years: a slower node does not move in any run, and all of time is not much longer.
const AGES: Span = Span::from_secs(18_000_000_000);

/// The nodes that move.
pub struct Movement {
    speed: (f64, f64),
    pause: Span,
    area: Rectangle,
    walkers: Vec<Walker>,
    /// Those that were sent somewhere and are on their way.
    sent: Vec<(NodeId, Leg)>,
    positions: Vec<Position>,
}

struct Walker {
    node: NodeId,
    /// Its own, if it has one.
    area: Option<Rectangle>,
    stream: Stream,
    leg: Leg,
}

/// From a place to another, straight and at one speed.
struct Leg {
    from: Position,
    to: Position,
    departs: Instant,
    arrives: Instant,
}

impl Movement {
    /// The lists of hearers are worked out this often; at 30 m/s a node has moved 3 m in between.
    pub const STEP: Span = Span::from_millis(100);

    /// No node moves unless [sent](Self::send).
    pub fn sent(positions: &[Position]) -> Self {
        Self {
            speed: (0.0, 0.0),
            pause: Span::ZERO,
            area: Rectangle { west: 0.0, south: 0.0, east: 0.0, north: 0.0 },
            walkers: Vec::new(),
            sent: Vec::new(),
            positions: positions.to_vec(),
        }
    }

    /// The movement of a scenario; `None` if no node moves by itself.
    pub fn new(mobility: &Mobility, positions: &[Position], seed: u64) -> Option<Self> {
        let Mobility::RandomWaypoint {
            speed_min,
            speed_max,
            inverse_first,
            pause,
            width,
            height,
            nodes,
            own,
        } = mobility
        else {
            return None;
        };
        let mut this = Self {
            speed: (*speed_min, *speed_max),
            pause: *pause,
            area: Rectangle { west: 0.0, south: 0.0, east: *width, north: *height },
            ..Self::sent(positions)
        };
        for node in nodes {
            let here = positions[node.index()];
            let mut walker = Walker {
                node: *node,
                area: own.get(node).copied(),
                stream: Stream::new(seed, "mobility", u64::from(node.0)),
                leg: Leg { from: here, to: here, departs: Instant::ZERO, arrives: Instant::ZERO },
            };
            this.next_leg(&mut walker, Instant::ZERO, *inverse_first);
            this.walkers.push(walker);
        }
        Some(this)
    }

    /// A new target and speed; the walk starts at `departs`. `inverse`: the speed's density is 1/speed, by which a node that
    /// is met at some time walks, slow legs taking longer (ns-2.35's setdest, version 2, draws the first leg so).
    fn next_leg(&self, walker: &mut Walker, departs: Instant, inverse: bool) {
        let (draw, leg) = (&mut walker.stream, &mut walker.leg);
        leg.from = leg.to;
        let Rectangle { west, south, east, north } = walker.area.unwrap_or(self.area);
        let (x, y) = (draw.uniform(west, east), draw.uniform(south, north));
        leg.to = Position { x, y, ..leg.from };
        let (slowest, fastest) = self.speed;
        let speed = if inverse {
            slowest * libm::pow(fastest / slowest, draw.uniform(0.0, 1.0))
        } else {
            draw.uniform(slowest, fastest)
        };
        leg.departs = departs;
        let seconds = leg.from.distance(leg.to) / speed;
        let takes = Span::try_from_secs_f64(seconds).unwrap_or(AGES).min(AGES);
        leg.arrives = departs + takes.max(SHORTEST_LEG);
    }

    /// Moves everybody to where they are `now`.
    pub fn advance(&mut self, now: Instant) {
        let mut walkers = std::mem::take(&mut self.walkers);
        for walker in &mut walkers {
            while walker.leg.arrives + self.pause <= now {
                let departs = walker.leg.arrives + self.pause;
                self.next_leg(walker, departs, false);
            }
            self.positions[walker.node.index()] = walker.leg.position(now);
        }
        self.walkers = walkers;
        for (node, leg) in &self.sent {
            self.positions[node.index()] = leg.position(now);
        }
        self.sent.retain(|(_, leg)| leg.arrives > now);
    }

    /// A node sets out for a place, from where it is, and comes there after `takes`.
    pub fn send(&mut self, now: Instant, node: NodeId, (x, y): (f64, f64), takes: Span) {
        self.advance(now);
        self.sent.retain(|(other, _)| *other != node);
        let from = self.positions[node.index()];
        let to = Position { x, y, ..from };
        self.sent.push((node, Leg { from, to, departs: now, arrives: now + takes }));
        self.advance(now);
    }

    /// Where everybody was at the latest look.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }
}

impl Leg {
    fn position(&self, now: Instant) -> Position {
        let length = self.arrives.saturating_since(self.departs).as_secs_f64();
        let walked = now.saturating_since(self.departs).as_secs_f64();
        let share = if length > 0.0 { (walked / length).min(1.0) } else { 1.0 };
        Position {
            x: self.from.x + share * (self.to.x - self.from.x),
            y: self.from.y + share * (self.to.y - self.from.y),
            z: self.from.z,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// experiments/we-tcp-ap.md, E2: of first legs with a density of 1/v between 10 and 30 m/s the mean speed is
    /// (30 - 10)/ln 3 = 18.2 m/s, of all later ones 20.
    #[test]
    fn the_first_leg_is_slow_if_it_is_to_look_like_one_of_a_long_walk() {
        let speeds = |inverse_first| {
            let mobility = Mobility::RandomWaypoint {
                speed_min: 10.0,
                speed_max: 30.0,
                inverse_first,
                pause: Span::ZERO,
                width: 1e5,
                height: 1e5,
                nodes: (0..4000).map(NodeId).collect(),
                own: BTreeMap::new(),
            };
            let movement = Movement::new(&mobility, &[Position::flat(0.0, 0.0); 4000], 1).unwrap();
            let speed = |Walker { leg, .. }: &Walker| {
                leg.from.distance(leg.to) / (leg.arrives - leg.departs).as_secs_f64()
            };
            movement.walkers.iter().map(speed).collect::<Vec<_>>()
        };
        for (inverse, mean) in [(true, 20.0 / 3.0_f64.ln()), (false, 20.0)] {
            let speeds = speeds(inverse);
            assert!(speeds.iter().all(|speed| (9.999..30.001).contains(speed)));
            let found = speeds.iter().sum::<f64>() / speeds.len() as f64;
            assert!((found - mean).abs() < 0.3, "{found}, not {mean}");
        }
    }

    #[test]
    fn walkers_stay_in_the_area_and_keep_their_speed() {
        let start: Vec<_> = (0..5).map(|i| Position::flat(10.0 * f64::from(i), 0.0)).collect();
        let own = Rectangle { west: 30.0, south: 0.0, east: 50.0, north: 40.0 };
        let mobility = Mobility::RandomWaypoint {
            speed_min: 5.0,
            speed_max: 20.0,
            inverse_first: false,
            pause: Span::from_secs(1),
            width: 300.0,
            height: 100.0,
            nodes: (1..5).map(NodeId).collect(),
            own: BTreeMap::from([(NodeId(4), own)]),
        };
        let mut movement = Movement::new(&mobility, &start, 1).unwrap();
        let (mut now, mut farthest) = (Instant::ZERO, 0.0f64);
        for _ in 0..3000 {
            let before = movement.positions.clone();
            now += Movement::STEP;
            movement.advance(now);
            for (a, b) in before.iter().zip(&movement.positions) {
                // A turn within the interval may cut a corner, never lengthen the way.
                assert!(a.distance(*b) <= 2.0 + 1e-6);
                assert!((0.0..=300.0).contains(&b.x) && (0.0..=100.0).contains(&b.y));
            }
            let kept = movement.positions[4];
            assert!((30.0..=50.0).contains(&kept.x) && (0.0..=40.0).contains(&kept.y), "{kept:?}");
            farthest = farthest.max(movement.positions[1].distance(start[1]));
        }
        assert_eq!(movement.positions[0], start[0]);
        assert!(farthest > 50.0);
    }
}
