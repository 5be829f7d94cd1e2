//! As much of HTTP/1.1 (RFC 9112) as a scrape needs: one GET or HEAD a connection, no body.

use std::io::{self, Read};

/// Longest request line and headers together.
const HEAD_MAX: usize = 8 * 1024;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The path, without query.
    pub path: String,
    /// The answer's headers only.
    pub head_only: bool,
}

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is no HTTP request.
    Bad,
    /// It has more than [`HEAD_MAX`] bytes.
    TooLong,
    /// Another method than GET or HEAD.
    Method,
}

impl Refused {
    pub const fn status(self) -> &'static str {
        match self {
            Self::Bad => "400 Bad Request",
            Self::TooLong => "431 Request Header Fields Too Large",
            Self::Method => "405 Method Not Allowed",
        }
    }
}

/// Reads a request's head from a source that times out by itself.
///
/// # Errors
/// What the source says, or that it ended early.
pub(crate) fn read(
    source: &mut impl Read,
    out_of_time: impl Fn() -> bool,
) -> io::Result<Result<Asked, Refused>> {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        if let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            return Ok(parse(&head[..end]));
        }
        if head.len() >= HEAD_MAX {
            return Ok(Err(Refused::TooLong));
        }
        if out_of_time() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let room = chunk.len().min(HEAD_MAX - head.len());
        match source.read(&mut chunk[..room])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => head.extend_from_slice(&chunk[..n]),
        }
    }
}

fn parse(head: &[u8]) -> Result<Asked, Refused> {
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let line = std::str::from_utf8(line).map_err(|_| Refused::Bad)?;
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Refused::Bad);
    };
    if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return Err(Refused::Bad);
    }
    let head_only = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return Err(Refused::Method),
    };
    let path = target.split_once('?').map_or(target, |(path, _)| path).to_owned();
    Ok(Asked { path, head_only })
}

/// An answer: head and body.
pub(super) fn answer(status: &str, content_type: &str, body: &str, head_only: bool) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let mut bytes = head.into_bytes();
    if !head_only {
        bytes.extend_from_slice(body.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(text: &[u8]) -> io::Result<Result<Asked, Refused>> {
        read(&mut &text[..], || false)
    }

    #[test]
    fn a_scrape_is_understood() {
        let text = b"GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        assert_eq!(asked(text).unwrap(), Ok(Asked { path: "/metrics".into(), head_only: false }));
        let head = asked(b"HEAD /healthz HTTP/1.0\r\n\r\n").unwrap();
        assert_eq!(head, Ok(Asked { path: "/healthz".into(), head_only: true }));
    }

    #[test]
    fn what_is_none_is_refused() {
        let cases: [(&[u8], Refused); 5] = [
            (b"POST /metrics HTTP/1.1\r\n\r\n", Refused::Method),
            (b"GET metrics HTTP/1.1\r\n\r\n", Refused::Bad),
            (b"GET /metrics\r\n\r\n", Refused::Bad),
            (b"GET / x HTTP/1.1\r\n\r\n", Refused::Bad),
            (b"\xff\xff / HTTP/1.1\r\n\r\n", Refused::Bad),
        ];
        for (text, refused) in cases {
            assert_eq!(asked(text).unwrap(), Err(refused), "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(asked(&[b'x'; 20_000]).unwrap(), Err(Refused::TooLong));
        assert!(asked(b"GET / HTTP/1.1\r\n").is_err(), "broken off");
        assert!(read(&mut io::repeat(b'x'), || true).is_err(), "out of time");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = asked(&bytes);
        }
    }
}
