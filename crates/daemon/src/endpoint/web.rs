//! The files of a directory over HTTP/1.0: enough for `curl` and browsers to fetch them.

use super::transfer::copy;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The longest head of a request, bytes.
const HEAD_MAX: u64 = 16 * 1024;

/// What a request is answered with.
#[derive(Debug)]
enum Response {
    File(File, u64),
    Error(u16, &'static str),
}

/// Answers one request out of `root`, which is a canonical path.
pub(super) fn answer(root: &Path, from: impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut head = BufReader::new(from.take(HEAD_MAX)).lines();
    let request = head.next().transpose()?.unwrap_or_default();
    // The rest of the head is not needed. It is read all the same: closing with unread bytes would reset the
    // connection.
    for line in head {
        if line?.is_empty() {
            break;
        }
    }
    match find(root, &request) {
        Response::File(mut file, length) => {
            write!(
                to,
                "HTTP/1.0 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {length}\r\n\r\n"
            )?;
            copy(&mut file, to)
        }
        Response::Error(code, reason) => {
            let body = format!("{code} {reason}\n");
            write!(
                to,
                "HTTP/1.0 {code} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        }
    }
}

fn find(root: &Path, request: &str) -> Response {
    let mut words = request.split_ascii_whitespace();
    let (method, target) = (words.next(), words.next());
    let (Some(method), Some(target)) = (method, target) else { return Response::Error(400, "Bad Request") };
    if method != "GET" {
        return Response::Error(405, "Method Not Allowed");
    }
    let target = target.split(['?', '#']).next().unwrap_or_default();
    let Some(path) = unescape(target.trim_start_matches('/')) else {
        return Response::Error(400, "Bad Request");
    };
    // Links and ".." are resolved before it is asked whether the file is inside.
    let inside = root.join(path).canonicalize().ok().filter(|path| path.starts_with(root));
    let open = |path: PathBuf| {
        let file = File::open(path)?;
        let about = file.metadata()?;
        if about.is_file() { Ok((file, about.len())) } else { Err(io::Error::from(io::ErrorKind::NotFound)) }
    };
    match inside.map(open) {
        Some(Ok((file, length))) => Response::File(file, length),
        _ => Response::Error(404, "Not Found"),
    }
}

/// Resolves %XX (RFC 3986, section 2.1); `None` if it is malformed or no UTF-8.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        out.push(match byte {
            b'%' => (digit(bytes.next()?)? * 16 + digit(bytes.next()?)?) as u8,
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Directory(PathBuf);

    impl Drop for Directory {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).expect("our own directory");
        }
    }

    fn directory(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("meshpaced-web-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("root/sub")).expect("room");
        std::fs::write(path.join("root/a file"), "content").expect("room");
        std::fs::write(path.join("secret"), "secret").expect("room");
        std::os::unix::fs::symlink("../secret", path.join("root/link")).expect("room");
        Directory(path.canonicalize().expect("it exists"))
    }

    fn get(root: &Path, request: &str) -> String {
        let mut out = Vec::new();
        answer(root, request.as_bytes(), &mut out).expect("no I/O to fail");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn files_inside_are_served() {
        let directory = directory("inside");
        let root = directory.0.join("root");
        for request in
            ["GET /a%20file HTTP/1.1\r\nHost: x\r\n\r\n", "GET sub/../a%20file?x=1 HTTP/1.0\r\n\r\n"]
        {
            let answer = get(&root, request);
            assert!(
                answer.starts_with("HTTP/1.0 200 OK\r\n") && answer.ends_with("7\r\n\r\ncontent"),
                "{answer}"
            );
        }
    }

    #[test]
    fn nothing_else_is() {
        let directory = directory("outside");
        let root = directory.0.join("root");
        for (request, code) in [
            ("GET /../secret HTTP/1.0\r\n\r\n", 404),
            ("GET /%2e%2e/secret HTTP/1.0\r\n\r\n", 404),
            ("GET /link HTTP/1.0\r\n\r\n", 404),
            ("GET /sub HTTP/1.0\r\n\r\n", 404),
            ("GET / HTTP/1.0\r\n\r\n", 404),
            ("GET /none HTTP/1.0\r\n\r\n", 404),
            ("GET /%zz HTTP/1.0\r\n\r\n", 400),
            ("POST /x HTTP/1.0\r\n\r\n", 405),
            ("", 400),
        ] {
            let answer = get(&root, request);
            assert!(answer.starts_with(&format!("HTTP/1.0 {code} ")), "{request:?}: {answer}");
            assert!(!answer.contains("secret\n") && !answer.ends_with("secret"), "{answer}");
        }
    }
}
