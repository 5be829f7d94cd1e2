//! A writer whose failure is noticed while the emulation goes on.

use std::cell::Cell;
use std::io::{self, Write};
use std::rc::Rc;

/// Passes everything on, and notes an error.
pub struct WatchedWriter<W> {
    inner: W,
    failed: Rc<Cell<bool>>,
}

impl<W> WatchedWriter<W> {
    /// The writer, and what becomes true once it has failed.
    pub fn new(inner: W) -> (Self, Rc<Cell<bool>>) {
        let failed = Rc::new(Cell::new(false));
        (Self { inner, failed: Rc::clone(&failed) }, failed)
    }

    fn note<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        if outcome.is_err() {
            self.failed.set(true);
        }
        outcome
    }
}

impl<W: Write> Write for WatchedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.inner.write(bytes);
        self.note(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.note(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_noted() {
        let mut room = [0; 3];
        let (mut writer, failed) = WatchedWriter::new(&mut room[..]);
        writer.write_all(b"abc").expect("there is room");
        assert!(!failed.get());
        writer.flush().expect("nothing to do");
        writer.write_all(b"d").expect_err("no room");
        assert!(!failed.get(), "a slice that is full takes nothing, which is no error of its own");
        let (mut writer, failed) = WatchedWriter::new(Full);
        writer.write_all(b"a").expect_err("full");
        assert!(failed.get());
    }

    /// A disk without room.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
