//! One question to a routing daemon over TCP, one answer; bounded in time and size.

use meshpace_linux::monotonic_now;
use meshpace_units::Span;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// A daemon on this host answers in milliseconds.
const LIMIT: Duration = Duration::from_secs(2);
/// Even if it goes on talking.
const WHOLE: Span = Span::from_secs(5);
/// A routing table of some ten thousand lines.
const MOST: usize = 8 << 20;

/// Sends `question` and reads until the other side closes, or says nothing more for two seconds.
pub(super) fn ask(at: SocketAddr, question: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{at}: {error}");
    let mut stream = TcpStream::connect_timeout(&at, LIMIT).map_err(failed)?;
    stream.set_read_timeout(Some(LIMIT)).map_err(failed)?;
    stream.set_write_timeout(Some(LIMIT)).map_err(failed)?;
    stream.write_all(question.as_bytes()).map_err(failed)?;
    // A daemon that waits for more questions learns that there are none; one that has closed already does not mind.
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let mut buffer = [0; 16_384];
    let end = monotonic_now() + WHOLE;
    while answer.len() < MOST && monotonic_now() < end {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
            // Silence after an answer is its end; parsers find out whether it was whole.
            Err(_) if !answer.is_empty() => break,
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example::wait_until_closed;
    use std::net::TcpListener;
    use std::thread;

    #[test]
    fn a_question_and_its_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut question = String::new();
            stream.read_to_string(&mut question).unwrap();
            stream.write_all(b"answer").unwrap();
            question
        });
        assert_eq!(ask(at, "question"), Ok("answer".to_owned()));
        assert_eq!(server.join().unwrap(), "question");
        wait_until_closed(|| TcpStream::connect(at));
        assert!(ask(at, "again").unwrap_err().contains("refused"));
    }
}
