//! Who reaches whom over the air, by distance alone.

use crate::Position;
use std::collections::{BTreeMap, VecDeque};

/// Nodes not yet reached, by square cell of the range's size: a neighbour lies in the own cell or one of the eight
/// around it. Taking nodes out as they are reached keeps the search far below all pairs, in dense nets too.
struct Unreached<'a> {
    positions: &'a [Position],
    range: f64,
    cells: BTreeMap<(i64, i64), Vec<usize>>,
}

impl<'a> Unreached<'a> {
    fn new(positions: &'a [Position], range: f64) -> Self {
        let mut cells: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (node, position) in positions.iter().enumerate() {
            cells.entry(cell(*position, range)).or_default().push(node);
        }
        Self { positions, range, cells }
    }

    /// Takes out every unreached node within range of `node`.
    fn take_neighbours(&mut self, node: usize, mut found: impl FnMut(usize)) {
        let (here, reach) = (self.positions[node], self.range * self.range);
        let (column, row) = cell(here, self.range);
        for near in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (column + dx, row + dy))) {
            let Some(nodes) = self.cells.get_mut(&near) else { continue };
            nodes.retain(|other| {
                let inside = self.positions[*other].distance_squared(here) <= reach;
                if inside {
                    found(*other);
                }
                !inside
            });
        }
    }
}

/// Coordinates are at most 1e6 m and ranges at least 1 mm, so the indices stay below 1e9.
fn cell(position: Position, range: f64) -> (i64, i64) {
    ((position.x / range).floor() as i64, (position.y / range).floor() as i64)
}

/// Hops from the nearest of `sources`; `None` where there is no way.
pub(crate) fn hops_from(positions: &[Position], range: f64, sources: &[usize]) -> Vec<Option<u32>> {
    let mut unreached = Unreached::new(positions, range);
    let mut hops = vec![None; positions.len()];
    for source in sources {
        hops[*source] = Some(0);
    }
    let mut queue: VecDeque<usize> = sources.iter().copied().collect();
    while let Some(node) = queue.pop_front() {
        let next = hops[node].map(|h: u32| h + 1);
        unreached.take_neighbours(node, |other| {
            if hops[other].is_none() {
                hops[other] = next;
                queue.push_back(other);
            }
        });
    }
    hops
}

/// The number of each node's connected component.
pub(crate) fn components(positions: &[Position], range: f64) -> Vec<usize> {
    let mut unreached = Unreached::new(positions, range);
    let mut component = vec![None; positions.len()];
    let mut count = 0;
    for start in 0..positions.len() {
        if component[start].is_some() {
            continue;
        }
        component[start] = Some(count);
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            unreached.take_neighbours(node, |other| {
                if component[other].is_none() {
                    component[other] = Some(count);
                    stack.push(other);
                }
            });
        }
        count += 1;
    }
    component.into_iter().map(|number| number.expect("every node was a start or was reached")).collect()
}

/// True if every node reaches every other.
pub(crate) fn connected(positions: &[Position], range: f64) -> bool {
    positions.is_empty() || hops_from(positions, range, &[0]).iter().all(Option::is_some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bellman-Ford over all pairs: slow and plain.
    fn plain(positions: &[Position], range: f64, source: usize) -> Vec<Option<u32>> {
        let mut hops = vec![None; positions.len()];
        hops[source] = Some(0);
        for _ in positions {
            for a in 0..positions.len() {
                for b in 0..positions.len() {
                    let near = positions[a].distance_squared(positions[b]) <= range * range;
                    if let (true, Some(h)) = (near, hops[a]) {
                        hops[b] = Some(hops[b].map_or(h + 1, |old: u32| old.min(h + 1)));
                    }
                }
            }
        }
        hops
    }

    proptest! {
        #[test]
        fn cells_find_what_all_pairs_find(
            points in proptest::collection::vec((-500.0..500.0f64, -500.0..500.0f64), 1..40),
            range in 50.0..400.0f64,
        ) {
            let positions: Vec<_> = points.into_iter().map(|(x, y)| Position { x, y }).collect();
            let expected = plain(&positions, range, 0);
            prop_assert_eq!(&hops_from(&positions, range, &[0]), &expected);
            prop_assert_eq!(connected(&positions, range), expected.iter().all(Option::is_some));
            let component = components(&positions, range);
            for (node, hops) in expected.iter().enumerate() {
                prop_assert_eq!(component[node] == component[0], hops.is_some());
            }
        }
    }
}
