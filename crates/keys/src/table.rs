//! The words and keys of a whole table of parts, as constants, so that sections of files are made of them.

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

/// How many keys parts have, those of one name counted once.
#[must_use]
pub const fn key_count<B>(parts: &[&'static Part<B>]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(key) = nth(parts, at) {
        if is_first(parts, at, key) {
            count += 1;
        }
        at += 1;
    }
    count
}

const NO_KEY: Key = Key::new("", crate::Kind::Flag, "");

/// The keys of parts, part by part, the first of those of one name: `N` is their [`key_count`].
///
/// # Panics
/// With another number of keys.
#[must_use]
pub const fn keys<B, const N: usize>(parts: &[&'static Part<B>]) -> [&'static Key; N] {
    let mut keys = [&NO_KEY; N];
    let (mut filled, mut at) = (0, 0);
    while let Some(key) = nth(parts, at) {
        if is_first(parts, at, key) {
            keys[filled] = key;
            filled += 1;
        }
        at += 1;
    }
    assert!(filled == N);
    keys
}

/// One of all keys, part by part; `None` behind the last.
const fn nth<B>(parts: &[&'static Part<B>], mut at: usize) -> Option<&'static Key> {
    let mut part = 0;
    while part < parts.len() {
        let groups = parts[part].about.keys;
        let mut group = 0;
        while group < groups.len() {
            if at < groups[group].len() {
                return Some(&groups[group][at]);
            }
            at -= groups[group].len();
            group += 1;
        }
        part += 1;
    }
    None
}

/// True if none before the key at this place has its name.
const fn is_first<B>(parts: &[&'static Part<B>], place: usize, key: &Key) -> bool {
    let mut at = 0;
    while at < place {
        if let Some(earlier) = nth(parts, at) {
            if same(earlier.name.as_bytes(), key.name.as_bytes()) {
                return false;
            }
        }
        at += 1;
    }
    true
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    static COMMON: [Key; 2] = [Key::flag("wide", false, ""), Key::flag("fast", false, "")];
    static OWN: [Key; 1] = [Key::flag("fas", false, "")];
    static ONE: Part<()> = Part::new("one", "", "", ()).keys(&[&COMMON]);
    static OTHER: Part<()> = Part::new("other", "", "", ()).keys(&[&OWN, &COMMON]);

    #[test]
    fn keys_that_parts_have_in_common_are_there_once() {
        const PARTS: &[&Part<()>] = &[&ONE, &OTHER];
        let keys = keys::<_, { key_count(PARTS) }>(PARTS);
        assert_eq!(keys.map(|key| key.name), ["wide", "fast", "fas"]);
        assert_eq!(words::<_, 2>(PARTS), ["one", "other"]);
    }
}
