//! How much each host may have where some want more than they get.

/// What a host has of the mesh, both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Use {
    /// Its cost a second.
    pub cost: f64,
    /// Its shares.
    pub weight: f64,
    /// It would have more if it could.
    pub wants: bool,
}

/// What a share would be if all who want more had as much for each of their shares, and the others what they have; `None` while nobody wants
/// more. (Max-min fairness: Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2.)
pub(super) fn level(uses: &mut [Use]) -> Option<f64> {
    uses.iter().find(|of| of.wants)?;
    let a_share = |of: &Use| if of.wants { f64::INFINITY } else { of.cost / of.weight };
    uses.sort_by(|a, b| a_share(a).total_cmp(&a_share(b)));
    let mut left: f64 = uses.iter().map(|of| of.cost).sum();
    let mut weights: f64 = uses.iter().map(|of| of.weight).sum();
    for of in uses.iter() {
        if a_share(of) > left / weights {
            break;
        }
        left -= of.cost;
        weights -= of.weight;
    }
    Some(left / weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn who_wants_more_has_as_much_as_who_has_most() {
        let level_of = |uses: &[(f64, f64, bool)]| {
            let mut uses: Vec<_> =
                uses.iter().map(|&(cost, weight, wants)| Use { cost, weight, wants }).collect();
            level(&mut uses)
        };
        assert_eq!(level_of(&[]), None);
        assert_eq!(level_of(&[(900.0, 1.0, false), (100.0, 1.0, false)]), None, "nobody wants more");
        assert_eq!(level_of(&[(900.0, 1.0, false), (100.0, 1.0, true)]), Some(500.0));
        assert_eq!(level_of(&[(900.0, 1.0, false), (100.0, 3.0, true)]), Some(250.0), "three shares");
        assert_eq!(level_of(&[(900.0, 1.0, false), (100.0, 1.0, true), (20.0, 1.0, false)]), Some(500.0));
        assert_eq!(level_of(&[(90.0, 1.0, false), (900.0, 1.0, true)]), Some(900.0), "it has all there is");
    }
}
