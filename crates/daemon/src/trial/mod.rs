//! `meshpaced trial`: the whole mesh with pacing and without, in blocks drawn at random over days, and what it comes to.
//!
//! | part | what it does |
//! |---|---|
//! | `plan` | which blocks are paced |
//! | `record` | what a block brought |
//! | `judge` | figures with intervals, and a verdict |
//! | `page` | both as text and as a page to print |
//!
//! The command has a running daemon change its mode and looks once a second. Each block's outcome goes into a file; called again with
//! it, the trial goes on behind the last block. At the end, by whatever signal it comes, the mode is what it was.

mod judge;
mod page;
mod plan;
mod record;

use crate::Failure;
use crate::control::protocol::{Reply, Request, Status, SubnetMode};
use crate::control::{Client, SocketArgs, unexpected};
use judge::Outcome;
use meshpace_linux::{Poller, Signals, monotonic_now};
use meshpace_units::{Instant, Span};
use plan::Plan;
use record::{Block, Record};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

/// Time between two looks.
const LOOK: Span = Span::from_secs(1);
/// Of each block so much is not counted: what was on its way, and senders that find their rates. One third, and not above a minute.
const SETTLES: u64 = 3;
const SETTLES_MOST: Span = Span::from_secs(60);
const DAY_S: f64 = 86_400.0;

/// Arguments of `meshpaced trial`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How long it takes.
    #[arg(long, default_value_t = 3.0, value_parser = days)]
    days: f64,
    /// Length of a block, seconds. An hour has at least two.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(2..=1_800))]
    block: u64,
    /// Another seed draws another order.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file of the blocks' outcomes; a trial that is in it goes on.
    #[arg(long, value_name = "FILE", default_value = "meshpaced-trial.jsonl")]
    file: PathBuf,
    /// Write what it comes to as a page to print.
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
    /// Only tell what is in the file.
    #[arg(long)]
    tell: bool,
    /// Pace although something that the daemon believes cannot be.
    #[arg(long)]
    anyway: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

fn days(text: &str) -> Result<f64, String> {
    let days = text.parse::<f64>().ok().filter(|days| (1e-5..=366.0).contains(days));
    days.ok_or_else(|| "allowed: days, up to 366".to_owned())
}

/// The file's first line: which trial it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    schema: u32,
    days: f64,
    block_s: u64,
    seed: u64,
}

impl Head {
    /// What it says; `None` if there is no such trial. A file may say what the command line does not allow.
    fn plan(&self) -> Option<Plan> {
        let length = Span::try_from_secs_f64((self.days * DAY_S).trunc())?;
        let block = Span::try_from_secs_f64(self.block_s as f64)?;
        Plan::new(length, block, self.seed)
    }
}

/// What is told of a trial's file, as text and as a page; `None`: it is none.
#[cfg(feature = "foreign")]
pub(crate) fn told(text: &str) -> Option<[String; 2]> {
    let mut lines = text.lines();
    let plan = serde_json::from_str::<Head>(lines.next()?).ok()?.plan()?;
    let blocks: Vec<Block> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
    let outcome = Outcome::of(&blocks, &plan);
    Some([page::text(&outcome, &plan, blocks.len()), page::html(&outcome, &plan, blocks.len())])
}

/// Runs a trial, or goes on with one.
///
/// # Errors
/// [`Failure::User`] for a file of another trial or a length of less than a group of blocks; what keeps from reaching the daemon.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let head = Head { schema: 1, days: args.days, block_s: args.block, seed: args.seed };
    let (head, mut blocks) = read(&args.file, head, args.tell)?;
    let plan = head.plan().ok_or_else(|| {
        let found =
            format!("--days {}: found {} s, with blocks of {} s", head.days, head.days * DAY_S, head.block_s);
        Failure::User(format!("{found}; allowed: at least six blocks, or as many as an hour has"))
    })?;
    let mut whole = true;
    if !args.tell {
        whole = go_on(args, &plan, &mut blocks)?;
    }
    let outcome = Outcome::of(&blocks, &plan);
    crate::text::print(&page::text(&outcome, &plan, blocks.len()))?;
    if let Some(path) = &args.page {
        let page = page::html(&outcome, &plan, blocks.len());
        std::fs::write(path, page).map_err(|why| Failure::operational(path.display(), why))?;
    }
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The trial in a file, or the beginning of one.
fn read(path: &Path, head: Head, only_read: bool) -> Result<(Head, Vec<Block>), Failure> {
    let broken = |why: &dyn std::fmt::Display| Failure::operational(path.display(), why);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound && !only_read => {
            let line = serde_json::to_string(&head).expect("a head has a JSON form");
            std::fs::write(path, format!("{line}\n")).map_err(|why| broken(&why))?;
            return Ok((head, Vec::new()));
        }
        Err(why) => return Err(broken(&why)),
    };
    let mut lines = BufReader::new(file).lines();
    let first = lines.next().transpose().map_err(|why| broken(&why))?.unwrap_or_default();
    let found: Head = serde_json::from_str(&first)
        .map_err(|why| Failure::User(format!("{}:1: found no trial's head; {why}", path.display())))?;
    if found != head && !only_read {
        return Err(Failure::User(format!(
            "{}:1: found another trial (--days {} --block {} --seed {}); allowed: the same options, or another --file",
            path.display(),
            found.days,
            found.block_s,
            found.seed
        )));
    }
    let mut blocks = Vec::new();
    for (number, line) in (2..).zip(lines) {
        let line = line.map_err(|why| broken(&why))?;
        // The last line may be torn, if the machine lost its power.
        match serde_json::from_str(&line) {
            Ok(block) => blocks.push(block),
            Err(why) => {
                eprintln!("meshpaced: {}:{number}: left out: {why}", path.display());
            }
        }
    }
    Ok((found, blocks))
}

/// The rest of a trial; true if it came to its end.
fn go_on(args: &Args, plan: &Plan, blocks: &mut Vec<Block>) -> Result<bool, Failure> {
    let broken = |why: std::io::Error| Failure::operational("trial", why);
    // Before the first change: signals wait from here on.
    let (signals, mut poller) = (Signals::new().map_err(broken)?, Poller::new().map_err(broken)?);
    poller.add(&signals, 0).map_err(broken)?;
    let before = status(&args.socket)?;
    if let Some(doubt) = before.doubts.iter().find(|doubt| doubt.contradicts && !args.anyway) {
        return Err(Failure::User(format!("{}; {}; --anyway tries all the same", doubt.found, doubt.remedy)));
    }
    let mut file = OpenOptions::new().append(true).open(&args.file).map_err(broken)?;
    let next = blocks.last().map_or(0, |last| last.block + 1);
    let mut waits = |span: Span| -> Result<bool, Failure> {
        let signalled = poller.wait(Some(span)).map_err(broken)?.count() > 0;
        Ok(signalled && signals.next().map_err(broken)?.is_some())
    };
    eprintln!("meshpaced: {}", page::beginning(plan, next, &before.mode, &args.file));
    let (mut ended, mut kept) = (Ok(true), BTreeSet::new());
    for number in next..plan.blocks() {
        match block(&args.socket, plan, number, &mut kept, &mut waits) {
            Ok(Some(block)) => {
                let line = serde_json::to_string(&block).expect("a block has a JSON form");
                writeln!(file, "{line}").map_err(broken)?;
                eprintln!("meshpaced: {}", page::of_block(&block, plan));
                blocks.push(block);
            }
            other => {
                ended = other.map(|_| false);
                break;
            }
        }
    }
    set(&args.socket, &before.mode).and(ended).inspect(|whole| {
        let left = if *whole { "" } else { "; the same command goes on" };
        eprintln!("meshpaced: the trial ended, the mode is {} again{left}", before.mode);
    })
}

/// One block; `None` if a signal ended it.
fn block(
    socket: &SocketArgs,
    plan: &Plan,
    number: u64,
    kept: &mut BTreeSet<String>,
    waits: &mut impl FnMut(Span) -> Result<bool, Failure>,
) -> Result<Option<Block>, Failure> {
    let paced = plan.is_paced(number);
    let begun = monotonic_now();
    set(socket, if paced { "pace" } else { "observe" })?;
    for subnet in keep(&*status(socket)?, paced) {
        if kept.insert(subnet.prefix.clone()) {
            eprintln!("meshpaced: trial: {} keeps {}: its mode is its own", subnet.prefix, subnet.mode);
        }
    }
    let counts = begun + (plan.block() / SETTLES).min(SETTLES_MOST);
    let end = begun + plan.block();
    let (mut record, mut due) = (Record::default(), begun);
    loop {
        due = (due + LOOK).min(end);
        if until(due, waits)? {
            return Ok(None);
        }
        let flows = Request::Flows { filter: None, sort: Default::default(), reverse: false, limit: None };
        // A daemon that is started anew misses a look or two; its mode is the file's then.
        match Client::ask_once(socket, &flows).map(|line| line.answer) {
            Ok(Reply::Flows(flows)) if due > counts => record.look(&flows.list),
            Ok(_) => {}
            Err(why) => eprintln!("meshpaced: block {number}: {why}"),
        }
        if due >= end {
            return Ok(Some(record.end(number, paced, unix_time())));
        }
    }
}

/// The subnets whose mode is not that of the block: they have one of their own, which a reload of the file takes away if it was set at run
/// time. Which they are can be seen only once the mode is another than theirs.
fn keep(status: &Status, paced: bool) -> impl Iterator<Item = &SubnetMode> {
    status.subnets.iter().filter(move |subnet| (subnet.mode == "pace") != paced)
}

/// Waits until then; true if a signal came.
fn until(due: Instant, waits: &mut impl FnMut(Span) -> Result<bool, Failure>) -> Result<bool, Failure> {
    loop {
        let left = due.saturating_since(monotonic_now());
        if left.is_zero() {
            return Ok(false);
        }
        if waits(left)? {
            return Ok(true);
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a block's outcome carries the wall clock's time")]
fn unix_time() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn status(socket: &SocketArgs) -> Result<Box<Status>, Failure> {
    match Client::ask_once(socket, &Request::Status {})?.answer {
        Reply::Status(status) => Ok(status),
        other => Err(unexpected(&other)),
    }
}

/// The trial compares by itself: no guard has to.
fn set(socket: &SocketArgs, mode: &str) -> Result<(), Failure> {
    let mode = Request::Mode { mode: mode.to_owned(), subnet: None, anyway: true, unguarded: true };
    match Client::ask_once(socket, &mode)?.answer {
        Reply::Done(_) => Ok(()),
        other => Err(unexpected(&other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Control;
    use crate::control::Server;
    use crate::control::tests::example::{self, Running};

    #[test]
    fn a_file_that_says_what_no_command_line_may_has_no_plan() {
        let head = |days, block_s| Head { schema: 1, days, block_s, seed: 1 };
        assert!(head(0.25, 600).plan().is_some());
        for (days, block_s) in [(1e300, 600), (-1.0, 600), (3.0, 0), (3.0, u64::MAX), (0.001, 600)] {
            assert_eq!(head(days, block_s).plan(), None, "{days} {block_s}");
        }
    }

    #[test]
    fn a_file_is_begun_gone_on_with_and_kept_from_another_trial() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trial.jsonl");
        let head = Head { schema: 1, days: 3.0, block_s: 600, seed: 1 };
        assert!(read(&path, head, true).is_err(), "nothing to tell");
        assert_eq!(read(&path, head, false).unwrap(), (head, Vec::new()));
        let block = Record::default().end(0, true, 7);
        let line = serde_json::to_string(&block).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        write!(file, "{line}\n{{\"block\": 1, \"pa").unwrap();
        assert_eq!(read(&path, head, false).unwrap(), (head, vec![block.clone()]));
        let other = Head { seed: 2, ..head };
        let refused = read(&path, other, false).unwrap_err().to_string();
        assert!(
            refused.contains("trial.jsonl:1: found another trial (--days 3 --block 600 --seed 1)"),
            "{refused}"
        );
        assert_eq!(read(&path, other, true).unwrap(), (head, vec![block]), "what is in it can be told");
    }

    /// A daemon that serves at a socket.
    fn served() -> (Running, Server, SocketArgs) {
        let running = Running::start(vec![example::report(1, 900), example::report(2, 100)]);
        let socket = running.directory().join("control.sock");
        let control = Control { socket: socket.clone(), group: None };
        let server = Server::start(&control, running.daemon()).unwrap();
        (running, server, SocketArgs { socket })
    }

    #[test]
    fn a_block_has_its_mode_and_is_looked_at_and_a_signal_ends_it() {
        let (running, server, socket) = served();
        let plan = Plan::new(Span::from_secs(12), Span::from_secs(2), 1).unwrap();
        let number = (0..6).find(|&number| !plan.is_paced(number)).unwrap();
        // Time passes without waiting for it: the loop looks at the clock by itself.
        let mut waits = |_| Ok(false);
        let (how, me) = (crate::control::How::default(), crate::events::By { uid: 0, pid: 1 });
        let subnet = "10.1.2.0/24".parse().ok();
        running.daemon().set_mode("observe", subnet, how, me).unwrap();
        let mut kept = BTreeSet::new();
        let told = block(&socket, &plan, number, &mut kept, &mut waits).unwrap().expect("no signal");
        assert!(kept.is_empty(), "both are observed");
        assert!(!running.daemon().config().is_pacing(), "observe");
        assert_eq!((told.block, told.paced, told.looks), (number, false, 2));
        let hosts: Vec<_> = told.hosts_bps.keys().map(String::as_str).collect();
        assert_eq!(hosts, ["10.1.2.1", "10.1.2.2"]);
        assert!(told.delay_s.is_some_and(|[half, ..]| (half / 0.052 - 1.0).abs() < 0.03), "{told:?}");
        let number = (0..6).find(|&number| plan.is_paced(number)).unwrap();
        assert_eq!(block(&socket, &plan, number, &mut kept, &mut |_| Ok(true)).unwrap(), None);
        assert_eq!(kept, ["10.1.2.0/24".to_owned()].into(), "it was observed before the trial began");
        assert!(running.daemon().config().is_pacing());
        assert!(status(&socket).unwrap().guard.is_none(), "the trial compares by itself");
        server.stop();
        assert!(block(&socket, &plan, number, &mut kept, &mut waits).is_err(), "no daemon");
    }

    #[test]
    fn lengths_that_make_no_sense_are_refused() {
        assert!(days("0").is_err() && days("x").is_err() && days("400").is_err());
        assert_eq!(days("0.5"), Ok(0.5));
    }
}
