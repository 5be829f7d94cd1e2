//! One client's connection: lines of bounded length, in bounded time.

use meshpace_linux::monotonic_now;
use meshpace_units::Span;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Longest request. The longest that makes sense is a few hundred bytes.
pub(crate) const REQUEST_MAX: usize = 16 * 1024;
/// A client that asks nothing for this long is let go. `top` asks every second.
const IDLE: Duration = Duration::from_secs(60);
/// Time for the rest of a line once its first byte has come.
const LINE: Span = Span::from_secs(10);
/// Time for a client to take a part of its answer.
const WRITE: Duration = Duration::from_secs(10);

/// Why no line came.
#[derive(Debug)]
pub(crate) enum NoLine {
    /// The client is done, or gone, or says nothing.
    Closed,
    /// It sent more than [`REQUEST_MAX`] bytes without a line's end.
    TooLong,
    /// It began a line and did not end it in time, or broke off in the middle of it.
    Unfinished,
}

/// Reads lines from anything that times out by itself.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
}

impl<R: Read> Lines<R> {
    pub fn new(source: R) -> Self {
        Self { source, buffer: Vec::new() }
    }

    /// The next line, without its end.
    pub fn next(&mut self) -> Result<Vec<u8>, NoLine> {
        let mut begun = (!self.buffer.is_empty()).then(monotonic_now);
        let mut searched = 0;
        loop {
            if let Some(at) = self.buffer[searched..].iter().position(|&byte| byte == b'\n') {
                let mut line: Vec<u8> = self.buffer.drain(..=searched + at).collect();
                line.pop();
                return Ok(line);
            }
            searched = self.buffer.len();
            if searched >= REQUEST_MAX {
                return Err(NoLine::TooLong);
            }
            if begun.is_some_and(|begun| monotonic_now().saturating_since(begun) > LINE) {
                return Err(NoLine::Unfinished);
            }
            let mut chunk = [0; 4096];
            let room = chunk.len().min(REQUEST_MAX - searched);
            match self.source.read(&mut chunk[..room]) {
                Ok(0) if searched == 0 => return Err(NoLine::Closed),
                Ok(0) => return Err(NoLine::Unfinished),
                Ok(n) => {
                    self.buffer.extend_from_slice(&chunk[..n]);
                    begun.get_or_insert_with(monotonic_now);
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                // A time-out or a broken connection.
                Err(_) if searched == 0 => return Err(NoLine::Closed),
                Err(_) => return Err(NoLine::Unfinished),
            }
        }
    }
}

/// Answers a client's requests line by line until it goes. `answer` makes the answering line, without its end.
pub(super) fn serve(
    stream: &UnixStream,
    mut answer: impl FnMut(Result<&[u8], &str>) -> Vec<u8>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(WRITE))?;
    let mut lines = Lines::new(stream);
    loop {
        let (line, last) = match lines.next() {
            Ok(request) => (answer(Ok(&request)), false),
            Err(NoLine::Closed) => return Ok(()),
            Err(NoLine::TooLong) => (
                answer(Err(&format!("a request has at most {REQUEST_MAX} bytes and ends with a line feed"))),
                true,
            ),
            Err(NoLine::Unfinished) => (answer(Err("the request does not end with a line feed")), true),
        };
        let mut out = stream;
        out.write_all(&line)?;
        out.write_all(b"\n")?;
        if last {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives prepared pieces, then what a time-out gives.
    struct Pieces(Vec<&'static [u8]>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    fn lines(pieces: &[&'static [u8]]) -> Lines<Pieces> {
        Lines::new(Pieces(pieces.to_vec()))
    }

    #[test]
    fn lines_come_out_whole_however_they_came_in() {
        let mut lines = lines(&[b"on", b"e\ntwo\n", b"\nthr", b"ee\nfo"]);
        for expected in ["one", "two", "", "three"] {
            assert_eq!(lines.next().unwrap(), expected.as_bytes());
        }
        assert!(matches!(lines.next(), Err(NoLine::Unfinished)), "half a line and then silence");
    }

    #[test]
    fn silence_and_an_end_between_lines_are_no_errors() {
        assert!(matches!(lines(&[]).next(), Err(NoLine::Closed)));
        assert!(matches!(lines(&[b""]).next(), Err(NoLine::Closed)));
    }

    #[test]
    fn an_endless_line_is_given_up() {
        struct Endless;
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                buffer.fill(b'x');
                Ok(buffer.len())
            }
        }
        let mut lines = Lines::new(Endless);
        assert!(matches!(lines.next(), Err(NoLine::TooLong)));
        assert!(lines.buffer.len() <= REQUEST_MAX);
    }
}
