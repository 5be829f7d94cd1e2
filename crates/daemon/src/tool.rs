//! Other programs (ip, iw, nft, iptables): run with a time limit and a bound on what they may print.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Longest a program may take: xtables waits up to 5 s for its lock (see `rules`).
const LIMIT: Duration = Duration::from_secs(10);
/// Most that is read of what a program prints.
const MOST: u64 = 16 << 20;

/// Why a program was of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It is not installed.
    #[error("{0} is not installed")]
    Missing(String),
    /// It took too long and was ended.
    #[error("{0} did not finish within 10 s")]
    TimedOut(String),
    /// It could not be run.
    #[error("{0}: {1}")]
    Broken(String, String),
    /// It ended with an error.
    #[error("{call}: {message}")]
    Refused {
        /// The command as typed.
        call: String,
        /// The program's standard error, on one line.
        message: String,
    },
}

/// True if a program of that name is on the search path.
#[must_use]
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Runs a program without input and returns what it printed on standard output.
///
/// # Errors
/// [`ToolError`] if it is missing, hangs or ends with an error.
pub fn run<S: AsRef<OsStr>>(program: &str, args: &[S]) -> Result<String, ToolError> {
    run_with(program, args, "", None)
}

/// Runs a program with `input` on its standard input and one more environment variable, and returns what it printed on
/// standard output.
///
/// # Errors
/// As [`run`].
pub fn run_with<S: AsRef<OsStr>>(
    program: &str,
    args: &[S],
    input: &str,
    variable: Option<(&str, &OsStr)>,
) -> Result<String, ToolError> {
    let broken = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => ToolError::Missing(program.to_owned()),
        _ => ToolError::Broken(program.to_owned(), error.to_string()),
    };
    let mut command = Command::new(program);
    // Messages in English, which callers look at.
    command
        .args(args)
        .envs(variable)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(broken)?;
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    // Small inputs fit the pipe; a program that ends without reading all of it says why itself.
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        let _ = stdin.write_all(input.as_bytes());
    }
    drop(stdin);
    let finished = stdout.recv_timeout(LIMIT).and_then(|out| Ok((out, stderr.recv_timeout(LIMIT)?)));
    let Ok((out, err)) = finished else {
        end(&mut child);
        return Err(ToolError::TimedOut(program.to_owned()));
    };
    let status = child.wait().map_err(broken)?;
    if status.success() {
        return Ok(out);
    }
    let words: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
    let message = match one_line(&err) {
        message if message.is_empty() => status.to_string(),
        message => message,
    };
    Err(ToolError::Refused { call: format!("{program} {}", words.join(" ")), message })
}

/// Reads all of a pipe in a thread of its own, so that a full pipe never blocks the program.
fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What was printed before an error is still worth showing.
            let _ = pipe.take(MOST).read_to_end(&mut bytes);
        }
        // The receiver is gone if the time limit was reached.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

fn end(child: &mut Child) {
    // Both fail only if the child is gone already.
    let _ = child.kill();
    let _ = child.wait();
}

fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ").chars().filter(|c| !c.is_control()).take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_input_errors_and_absence() {
        assert_eq!(run("printf", &["a\\nb"]).unwrap(), "a\nb");
        assert_eq!(run_with("cat", &[] as &[&str], "text", None).unwrap(), "text");
        let refused = run("sh", &["-c", "echo one >&2; echo two >&2; exit 3"]).unwrap_err();
        assert_eq!(refused.to_string(), "sh -c echo one >&2; echo two >&2; exit 3: one; two");
        let variable = Some(("MESHPACED_TEST", OsStr::new("x y")));
        assert_eq!(run_with("sh", &["-c", "echo $MESHPACED_TEST"], "", variable).unwrap(), "x y\n");
        assert!(is_installed("sh") && !is_installed("meshpaced-no-such-tool"));
        assert_eq!(
            run("meshpaced-no-such-tool", &["x"]),
            Err(ToolError::Missing("meshpaced-no-such-tool".into()))
        );
    }

    #[test]
    fn more_output_than_a_pipe_holds_does_not_block() {
        assert_eq!(run("head", &["-c", "300000", "/dev/zero"]).unwrap().len(), 300_000);
    }
}
