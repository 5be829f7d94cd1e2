//! A sorted line: what is put in mostly belongs at its end, and it is taken from its front.

/// Values by key, in one piece whose front part has been taken; it starts afresh whenever it runs empty.
pub struct Line<K, T> {
    entries: Vec<(K, T)>,
    taken: usize,
}

impl<K: Copy + Ord, T: Copy> Line<K, T> {
    /// An empty line.
    pub fn new() -> Self {
        Self { entries: Vec::new(), taken: 0 }
    }

    /// The key of what comes first.
    #[inline]
    pub fn first(&self) -> Option<K> {
        self.entries.get(self.taken).map(|entry| entry.0)
    }

    /// Puts a value in.
    #[inline]
    pub fn push(&mut self, key: K, value: T) {
        if self.entries.len() == self.entries.capacity() {
            self.make_room();
        }
        match self.entries.as_mut_slice() {
            // Before the last, as most that do not belong behind it.
            [.., before, last] if last.0 >= key && before.0 < key => {
                let last = std::mem::replace(last, (key, value));
                self.entries.push(last);
            }
            [.., last] if last.0 >= key => self.put_in_order(key, value),
            _ => self.entries.push((key, value)),
        }
    }

    #[inline(never)]
    fn put_in_order(&mut self, key: K, value: T) {
        let place = self.entries[self.taken..].partition_point(|entry| entry.0 < key);
        self.entries.insert(self.taken + place, (key, value));
    }

    /// Takes out what comes first.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.entries.get(self.taken)?.1;
        self.taken += 1;
        if self.taken == self.entries.len() {
            self.entries.clear();
            self.taken = 0;
        }
        Some(first)
    }

    /// Forgets what was taken if that is half of it, so that a line that never runs empty does not grow; else it grows.
    #[cold]
    fn make_room(&mut self) {
        if self.taken >= self.entries.len().div_ceil(2) {
            self.entries.drain(..self.taken);
            self.taken = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_comes_out_in_order_however_it_went_in() {
        let mut line = Line::new();
        for key in [5, 1, 3] {
            line.push(key, key);
        }
        assert_eq!((line.first(), line.pop()), (Some(1), Some(1)));
        // Before all that wait, with a taken one in front of it.
        line.push(2, 2);
        let rest: Vec<_> = std::iter::from_fn(|| line.pop()).collect();
        assert_eq!((rest, line.first()), (vec![2, 3, 5], None));
    }

    #[test]
    fn a_line_that_never_runs_empty_does_not_grow() {
        let mut line = Line::new();
        line.push(0, ());
        for key in 1..1_000 {
            line.push(key, ());
            assert_eq!((line.pop(), line.first()), (Some(()), Some(key)));
        }
        assert!(line.entries.capacity() <= 8, "{}", line.entries.capacity());
    }
}
