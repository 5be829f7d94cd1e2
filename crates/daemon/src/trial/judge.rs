//! What a trial comes to: each figure with and without pacing, with intervals over groups of blocks.

use super::plan::Plan;
use super::record::Block;
use meshpace_units::statistics::{Moments, half_width_95};
use std::collections::BTreeMap;

/// The first second of the year 10000: times of four digits of a year are written until then (RFC 3339).
const LATEST: u64 = 253_402_300_800;

/// A figure on both sides. The ratio's interval is by groups: each holds as many blocks with pacing as without, of the same hour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Mean over the blocks that were paced.
    pub paced: f64,
    /// Over those that were not.
    pub before: f64,
    /// With over without: the mean of the groups' (of their logarithms), and a 95 % interval; `None` below two groups.
    pub ratio: Option<[f64; 3]>,
}

/// What pacing does to a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// More of it, beyond doubt.
    More,
    /// Less of it, beyond doubt.
    Less,
    /// The interval holds no difference.
    Undecided,
}

impl Figure {
    /// What the interval says.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self.ratio {
            Some([_, low, _]) if low > 1.0 => Effect::More,
            Some([.., high]) if high < 1.0 => Effect::Less,
            _ => Effect::Undecided,
        }
    }
}

/// All figures of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Blocks with and without pacing that had traffic.
    pub blocks: [usize; 2],
    /// When the first block began and the last one ended, seconds since 1970.
    pub period: Option<[u64; 2]>,
    /// All hosts' goodput together, bit/s.
    pub goodput: Option<Figure>,
    /// Jain's index of the hosts' goodputs in a block.
    pub jain: Option<Figure>,
    /// Delays that half, 95 and 99 % of the data do not exceed, seconds.
    pub delays: [Option<Figure>; 3],
    /// Each host's goodput.
    pub hosts: BTreeMap<String, Figure>,
}

impl Outcome {
    /// What these blocks come to.
    #[must_use]
    pub fn of(blocks: &[Block], plan: &Plan) -> Self {
        let busy: Vec<&Block> = blocks.iter().filter(|block| block.goodput_bps() > 0.0).collect();
        let figure = |of: &dyn Fn(&Block) -> Option<f64>| figure(&busy, plan, of);
        let names = busy.iter().flat_map(|block| block.hosts_bps.keys());
        let names: std::collections::BTreeSet<_> = names.cloned().collect();
        let of_host = |name: String| {
            let of = |block: &Block| block.hosts_bps.get(&name).copied();
            Some((name.clone(), figure(&of)?))
        };
        let count = |paced| busy.iter().filter(|block| block.paced == paced).count();
        Self {
            blocks: [count(true), count(false)],
            period: period(blocks, plan),
            goodput: figure(&|block| Some(block.goodput_bps())),
            jain: figure(&Block::jain),
            delays: [0, 1, 2].map(|at: usize| figure(&|block| Some(block.delay_s?[at]))),
            hosts: names.into_iter().filter_map(of_host).collect(),
        }
    }

    /// In one sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let effect = |figure: &Option<Figure>| figure.as_ref().map_or(Effect::Undecided, Figure::effect);
        let (goodput, delay) = (effect(&self.goodput), effect(&self.delays[1]));
        let said = match (goodput, delay) {
            (Effect::More, Effect::Less) => "pacing pays: more goodput, sooner",
            (Effect::More, Effect::Undecided) => "pacing pays: more goodput",
            (Effect::Undecided, Effect::Less) => "pacing pays: sooner, and no goodput lost beyond doubt",
            (Effect::More, Effect::More) => "pacing carries more, later",
            (Effect::Less, Effect::Less) => "pacing carries less, sooner",
            (Effect::Less, _) => "pacing costs goodput",
            (Effect::Undecided, Effect::More) => "pacing costs delay",
            (Effect::Undecided, Effect::Undecided) => "undecided: go on for longer, or at busier hours",
        };
        said.to_owned()
    }
}

/// A file may say what no clock does: then nothing is said.
fn period(blocks: &[Block], plan: &Plan) -> Option<[u64; 2]> {
    let ends = || blocks.iter().map(|block| block.ended_s);
    let block = plan.block().as_nanos() / 1_000_000_000;
    let told = |second: u64| (1..LATEST).contains(&second).then_some(second);
    Some([told(ends().min()?.checked_sub(block)?)?, told(ends().max()?)?])
}

fn figure(blocks: &[&Block], plan: &Plan, of: &dyn Fn(&Block) -> Option<f64>) -> Option<Figure> {
    let mut groups: BTreeMap<u64, [Vec<f64>; 2]> = BTreeMap::new();
    for block in blocks {
        if let Some(value) = of(block) {
            groups.entry(plan.group_of(block.block)).or_default()[usize::from(!block.paced)].push(value);
        }
    }
    let all = |side: usize| groups.values().flat_map(move |group| group[side].iter().copied());
    let (paced, before) = (mean(all(0))?, mean(all(1))?);
    let logarithm = |group: &[Vec<f64>; 2]| {
        let (paced, before) = (mean(group[0].iter().copied())?, mean(group[1].iter().copied())?);
        (paced > 0.0 && before > 0.0).then(|| (paced / before).ln())
    };
    let logarithms: Vec<f64> = groups.values().filter_map(logarithm).collect();
    Some(Figure { paced, before, ratio: interval(&logarithms).map(|bounds| bounds.map(f64::exp)) })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.collect::<Moments>().mean()
}

/// Mean, and the ends of its 95 % interval by Student's t.
fn interval(values: &[f64]) -> Option<[f64; 3]> {
    let moments: Moments = values.iter().copied().collect();
    let (mean, half) = (moments.mean()?, half_width_95(&moments)?);
    Some([mean, mean - half, mean + half])
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Span;

    /// Two days of blocks of ten minutes of two hosts, whose goodput goes up and down by the hour.
    fn trial(with: f64, delay: f64) -> (Vec<Block>, Plan) {
        let plan = Plan::new(Span::from_secs(2 * 86_400), Span::from_secs(600), 3).unwrap();
        let block = |block: u64| {
            let paced = plan.is_paced(block);
            let hour = 1.0 + (plan.group_of(block) % 24) as f64;
            let noise = 0.9 + 0.2 * ((block * 7_919 % 101) as f64) / 100.0;
            let all = hour * 100_000.0 * noise * if paced { with } else { 1.0 };
            let hosts = [("10.1.2.1".to_owned(), 0.6 * all), ("10.1.2.2".to_owned(), 0.4 * all)];
            let delay = 0.1 * noise * if paced { delay } else { 1.0 };
            let delay_s = Some([delay, 2.0 * delay, 3.0 * delay]);
            Block { block, paced, ended_s: 0, looks: 600, hosts_bps: hosts.into(), delay_s }
        };
        ((0..plan.blocks()).map(block).collect(), plan)
    }

    #[test]
    fn an_effect_is_found_under_the_hours_and_none_where_there_is_none() {
        let (blocks, plan) = trial(1.2, 0.5);
        let outcome = Outcome::of(&blocks, &plan);
        assert_eq!(outcome.blocks, [144, 144]);
        let Some([ratio, low, high]) = outcome.goodput.unwrap().ratio else { panic!("{outcome:?}") };
        assert!(
            low < 1.2 && 1.2 < high && (ratio - 1.2).abs() < 0.02 && high - low < 0.06,
            "{low} {ratio} {high}"
        );
        assert_eq!(outcome.verdict(), "pacing pays: more goodput, sooner");
        assert_eq!(outcome.hosts.len(), 2);
        assert!((outcome.jain.unwrap().paced - 1.0 / 1.04).abs() < 1e-9, "(0.6 + 0.4)^2 / (2 (0.36 + 0.16))");
        let (blocks, plan) = trial(1.0, 1.0);
        assert!(Outcome::of(&blocks, &plan).verdict().starts_with("undecided"));
        let (blocks, plan) = trial(0.8, 1.0);
        assert_eq!(Outcome::of(&blocks, &plan).verdict(), "pacing costs goodput");
    }

    #[test]
    fn blocks_without_traffic_and_a_single_group_say_nothing() {
        let (mut blocks, plan) = trial(1.2, 0.5);
        blocks.iter_mut().skip(6).for_each(|block| block.hosts_bps.clear());
        let outcome = Outcome::of(&blocks, &plan);
        assert_eq!((outcome.blocks, outcome.goodput.unwrap().ratio), ([3, 3], None));
        assert!(outcome.verdict().starts_with("undecided"));
        let none = Outcome::of(&[], &plan);
        assert_eq!((none.goodput, none.period), (None, None));
        for (first, last, period) in
            [(600, 1_200, None), (1_600, 2_200, Some([1_000, 2_200])), (1_600, u64::MAX, None)]
        {
            (blocks[0].ended_s, blocks[1].ended_s) = (first, last);
            assert_eq!(Outcome::of(&blocks[..2], &plan).period, period);
        }
    }
}
