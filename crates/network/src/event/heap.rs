//! A heap that never cancels.

/// A heap with four children a node: flatter than a binary one, and the children lie side by side.
pub struct Heap<K, T> {
    entries: Vec<(K, T)>,
}

const CHILDREN: usize = 4;

impl<K: Copy + Ord, T: Copy> Heap<K, T> {
    /// An empty heap.
    pub fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// The key of what comes first.
    #[inline]
    pub fn first(&self) -> Option<K> {
        self.entries.first().map(|entry| entry.0)
    }

    /// Puts a value in.
    pub fn push(&mut self, key: K, value: T) {
        let mut place = self.entries.len();
        self.entries.push((key, value));
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.entries[parent].0 <= key {
                break;
            }
            self.entries[place] = self.entries[parent];
            place = parent;
        }
        self.entries[place] = (key, value);
    }

    /// Takes out what comes first.
    pub fn pop(&mut self) -> Option<T> {
        let first = self.entries.first()?.1;
        let moved = self.entries.pop()?;
        if !self.entries.is_empty() {
            let place = self.sink(moved.0);
            self.entries[place] = moved;
        }
        Some(first)
    }

    /// Moves smaller children up from the root until `key` fits; returns its place.
    fn sink(&mut self, key: K) -> usize {
        let mut place = 0;
        loop {
            let first = place * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.entries.len());
            let Some(child) = children.min_by_key(|child| self.entries[*child].0) else { break };
            if key <= self.entries[child].0 {
                break;
            }
            self.entries[place] = self.entries[child];
            place = child;
        }
        place
    }
}
