//! Words for messages.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Longest piece of a user's text that a message repeats, in characters.
const SHOWN: usize = 60;

/// `text` in quotes, control characters escaped, cut to a readable length.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", shown(text))
}

/// `text` without quotes, control characters escaped, cut to a readable length.
#[must_use]
pub fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        out.push_str("...");
    }
    out
}

/// A real number in TOML's notation, which writes nan and inf in small letters.
#[must_use]
pub fn real(value: f64) -> String {
    format!("{value:?}").to_lowercase()
}

/// ` (did you mean "rate"?)` if one of `known` is near to `word`, else nothing.
#[must_use]
pub fn suggestion<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    // A typing error changes a letter or two; further off, a guess confuses more than it helps.
    let near = |distance: usize, candidate: &str| distance <= 2 && distance * 2 < candidate.chars().count();
    let word: Vec<char> = word.chars().take(SHOWN).collect();
    // Of equally near ones, one that only a hyphen or underscore tells apart: "tcpgap" is "tcp-gap", not "tcp-ap".
    let plain = |c: &char| !matches!(c, '-' | '_');
    let other = |candidate: &str| !word.iter().copied().filter(plain).eq(candidate.chars().filter(plain));
    let best = known.map(|candidate| (edit_distance(&word, candidate), other(candidate), candidate)).min();
    match best {
        Some((distance, _, candidate)) if near(distance, candidate) => {
            format!(" (did you mean \"{candidate}\"?)")
        }
        _ => String::new(),
    }
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other (optimal string
/// alignment).
fn edit_distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = alloc::vec![i];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                let swapped: usize = before[j - 2];
                least = least.min(swapped + 1);
            }
            row.push(least);
        }
        before = core::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_not() {
        let known = || ["rate", "basic_rate", "rts", "queue"].into_iter();
        assert_eq!(suggestion("raet", known()), " (did you mean \"rate\"?)");
        assert_eq!(suggestion("ratee", known()), " (did you mean \"rate\"?)");
        assert_eq!(suggestion("basicrate", known()), " (did you mean \"basic_rate\"?)");
        assert_eq!(suggestion("tcpgap", ["tcp-ap", "tcp-gap"].into_iter()), " (did you mean \"tcp-gap\"?)");
        assert_eq!(suggestion("colour", known()), "");
        assert_eq!(suggestion("x", known()), "");
        assert_eq!(suggestion("", known()), "");
    }

    #[test]
    fn long_and_odd_text_is_cut_and_escaped() {
        assert_eq!(quoted("a\nb\"c"), "\"a\\nb\\\"c\"");
        assert_eq!(shown(&"x".repeat(100)), "x".repeat(60) + "...");
    }
}
