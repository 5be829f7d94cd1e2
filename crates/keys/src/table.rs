//! What a table of parts says all together: words and keys, as constants, so that sections of files are made of them.

use crate::key::Key;
use crate::part::Part;

/// The words of parts, in their order: `N` is how many parts there are.
///
/// # Panics
/// With another number of parts.
#[must_use]
pub const fn words<B, const N: usize>(parts: &[&'static Part<B>]) -> [&'static str; N] {
    assert!(parts.len() == N);
    let mut words = [""; N];
    let mut at = 0;
    while at < N {
        words[at] = parts[at].about.word;
        at += 1;
    }
    words
}

/// How many keys parts have.
#[must_use]
pub const fn key_count<B>(parts: &[&'static Part<B>]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < parts.len() {
        let groups = parts[at].about.keys;
        let mut group = 0;
        while group < groups.len() {
            count += groups[group].len();
            group += 1;
        }
        at += 1;
    }
    count
}

const NO_KEY: Key = Key::new("", crate::Kind::Flag, "");

/// The keys of parts, part by part: `N` is their [`key_count`].
///
/// # Panics
/// With another number of keys.
#[must_use]
pub const fn keys<B, const N: usize>(parts: &[&'static Part<B>]) -> [&'static Key; N] {
    let mut keys = [&NO_KEY; N];
    let (mut filled, mut at) = (0, 0);
    while at < parts.len() {
        let groups = parts[at].about.keys;
        let mut group = 0;
        while group < groups.len() {
            let mut key = 0;
            while key < groups[group].len() {
                keys[filled] = &groups[group][key];
                (filled, key) = (filled + 1, key + 1);
            }
            group += 1;
        }
        at += 1;
    }
    assert!(filled == N);
    keys
}
