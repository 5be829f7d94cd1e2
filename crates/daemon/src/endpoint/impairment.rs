//! `--impair`: a bad network between endpoint and device.

use meshpace_endpoint::ImpairmentConfig;
use meshpace_units::Span;
use meshpace_units::quantity::TIME;

/// What the option takes, for messages.
const ALLOWED: &str =
    "loss, duplicate, reorder, corrupt, mark (0.01 or 1%), delay, reorder-by (5ms), seed (a whole number)";

/// Reads `loss=1%,duplicate=1%,reorder=1%,delay=5ms,seed=7`.
pub(super) fn parse(text: &str) -> Result<ImpairmentConfig, String> {
    let mut config = ImpairmentConfig::default();
    for part in text.split(',') {
        let wrong = || format!("found {part:?}; allowed: KEY=VALUE with {ALLOWED}");
        let (key, value) = part.split_once('=').ok_or_else(wrong)?;
        match key.trim() {
            "loss" => config.loss = probability(value).ok_or_else(wrong)?,
            "duplicate" => config.duplicate = probability(value).ok_or_else(wrong)?,
            "reorder" => config.reorder = probability(value).ok_or_else(wrong)?,
            "corrupt" => config.corrupt = probability(value).ok_or_else(wrong)?,
            "mark" => config.mark = probability(value).ok_or_else(wrong)?,
            "delay" => config.delay = time(value).ok_or_else(wrong)?,
            "reorder-by" => config.reorder_by = time(value).ok_or_else(wrong)?,
            "seed" => config.seed = value.trim().parse().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        }
    }
    Ok(config)
}

fn probability(text: &str) -> Option<f64> {
    let text = text.trim();
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    (0.0..=1.0).contains(&value).then_some(value)
}

/// A time with its unit, at most an hour: what is under way is kept in memory.
fn time(text: &str) -> Option<Span> {
    TIME.parse(text).filter(|seconds| *seconds <= 3600.0).and_then(Span::try_from_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_all_keys() {
        let all = "loss=1%,duplicate=0.02,reorder=3 %,corrupt=0,mark=4%,delay=5ms,reorder-by=2 ms,seed=9";
        let expected = ImpairmentConfig {
            seed: 9,
            loss: 0.01,
            duplicate: 0.02,
            reorder: 0.03,
            corrupt: 0.0,
            mark: 0.04,
            delay: Span::from_millis(5),
            reorder_by: Span::from_millis(2),
        };
        assert_eq!(parse(&all.replace("3 %", "3%")), Ok(expected));
    }

    #[test]
    fn tells_what_it_found_and_what_is_allowed() {
        for wrong in
            ["", "loss", "loss=2", "loss=-1%", "loss=nan", "delay=5", "delay=2h", "seed=-1", "drop=1%"]
        {
            let error = parse(wrong).expect_err(wrong);
            assert!(error.contains(&format!("{wrong:?}")) && error.contains("reorder-by"), "{error}");
        }
    }
}
