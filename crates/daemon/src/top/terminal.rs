//! `top`'s screen, keyboard and daemon.

use super::draw::draw;
use super::model::{Model, Wish};
use crate::Failure;
use crate::control::protocol::{Detail, Flows, Reply, Request, Status};
use crate::control::{Client, SocketArgs, SortKey, unexpected};
use meshpace_linux::{Poller, Signals, monotonic_now};
use meshpace_units::{Instant, Span};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Longest wait for a key: answers and signals are looked for in between.
const TICK: Duration = Duration::from_millis(50);
/// Time to leave the screen in order after a signal.
const GRACE: Span = Span::from_secs(1);
/// Flows asked for; a screen has no more lines.
const FLOWS: usize = 500;

/// Arguments of `meshpaced top`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Seconds between two looks.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
    interval: f64,
    /// What to sort by at first.
    #[arg(long, value_enum, default_value_t)]
    sort: SortKey,
    /// Only flows with an end of this address, prefix or port (:443).
    filter: Option<String>,
    #[command(flatten)]
    socket: SocketArgs,
}

fn interval(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if (0.2..=3600.0).contains(&seconds) { Ok(seconds) } else { Err("allowed: 0.2 to 3600 seconds".into()) }
}

/// Shows the flows until a key or a signal ends it.
///
/// # Errors
/// [`Failure::User`] without a terminal; what is wrong with reaching the daemon at the start.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Err(Failure::User("top needs a terminal; `meshpaced flows` prints to anything".into()));
    }
    let failure = |why: std::io::Error| Failure::operational("the terminal", why);
    let stopped = watch_signals().map_err(failure)?;
    // If no daemon runs, the message comes before the screen changes.
    drop(Client::connect(&args.socket.socket)?);
    let (questions, answers) = asker(args.socket.socket.clone()).map_err(failure)?;
    let mut terminal = ratatui::try_init().map_err(failure)?;
    let model =
        Model { sort: args.sort, filter: args.filter.clone().unwrap_or_default(), ..Model::default() };
    let driver = Driver {
        model,
        questions,
        answers,
        interval: Span::from_secs_f64(args.interval),
        asking: false,
        next: Some(monotonic_now()),
    };
    let ended = driver.run(&mut terminal, &stopped);
    ratatui::try_restore().map_err(failure)?;
    ended.map_err(failure)?;
    Ok(ExitCode::SUCCESS)
}

/// Set when a signal has come. A terminal that is gone (SIGHUP) never lets the keyboard's reader return: then the process
/// ends from here.
fn watch_signals() -> std::io::Result<Arc<AtomicBool>> {
    let (signals, mut poller) = (Signals::new()?, Poller::new()?);
    poller.add(&signals, 0)?;
    let stopped = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stopped);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        while !matches!(signals.next(), Ok(Some(_))) {
            // Whatever wakes it, there is nothing to do but look.
            let _ = poller.wait(None).map(Iterator::count);
        }
        told.store(true, Ordering::Relaxed);
        std::thread::park_timeout(Duration::from_nanos(GRACE.as_nanos()));
        let _ = ratatui::try_restore();
        std::process::exit(0);
    })?;
    Ok(stopped)
}

struct Question {
    flows: Request,
    flow: Option<Request>,
}

type Polled = Result<(Status, Flows, Option<Detail>), Failure>;

/// A thread that asks the daemon, so that keys work while it is slow.
fn asker(socket: PathBuf) -> std::io::Result<(Sender<Question>, Receiver<Polled>)> {
    let (questions, asked) = channel::<Question>();
    let (tell, answers) = channel();
    std::thread::Builder::new().name("asker".into()).spawn(move || {
        let mut client = None;
        for question in asked {
            let told = ask(&mut client, &socket, &question);
            if matches!(told, Err(Failure::Operational(_))) {
                client = None;
            }
            if tell.send(told).is_err() {
                return;
            }
        }
    })?;
    Ok((questions, answers))
}

fn ask(client: &mut Option<Client>, socket: &std::path::Path, question: &Question) -> Polled {
    let client = match client {
        Some(client) => client,
        None => client.insert(Client::connect(socket)?),
    };
    let status = match client.ask(&Request::Status {})?.answer {
        Reply::Status(status) => *status,
        other => return Err(unexpected(&other)),
    };
    let flows = match client.ask(&question.flows)?.answer {
        Reply::Flows(flows) => flows,
        other => return Err(unexpected(&other)),
    };
    let detail = match question.flow.as_ref().map(|request| client.ask(request)) {
        None => None,
        Some(Ok(line)) => match line.answer {
            Reply::Flow(detail) => Some(*detail),
            other => return Err(unexpected(&other)),
        },
        // The flow has ended: its last explanation stays.
        Some(Err(Failure::User(_))) => None,
        Some(Err(failure)) => return Err(failure),
    };
    Ok((status, flows, detail))
}

struct Driver {
    model: Model,
    questions: Sender<Question>,
    answers: Receiver<Polled>,
    interval: Span,
    /// A question is under way.
    asking: bool,
    /// When to ask next; `None` while paused.
    next: Option<Instant>,
}

impl Driver {
    fn run(mut self, terminal: &mut DefaultTerminal, stopped: &AtomicBool) -> std::io::Result<()> {
        while !stopped.load(Ordering::Relaxed) {
            self.ask_if_due();
            terminal.draw(|frame| draw(frame, &self.model))?;
            if event::poll(TICK)? {
                if let Event::Key(key) = event::read()? {
                    match self.model.on_key(key) {
                        Wish::Draw => {}
                        Wish::Refresh => self.next = Some(monotonic_now()),
                        Wish::Quit => return Ok(()),
                    }
                }
            }
            self.take_answers();
        }
        Ok(())
    }

    fn ask_if_due(&mut self) {
        let now = monotonic_now();
        if self.asking || self.next.is_none_or(|next| next > now) {
            return;
        }
        let flows = Request::Flows {
            filter: self.model.wanted_filter(),
            sort: self.model.sort,
            reverse: self.model.reverse,
            limit: Some(FLOWS),
        };
        let selected = self.model.selected.clone().filter(|_| self.model.explaining);
        let flow = selected.map(|flow| Request::Flow { flow });
        self.asking = self.questions.send(Question { flows, flow }).is_ok();
        self.next = (!self.model.paused).then(|| now + self.interval);
    }

    fn take_answers(&mut self) {
        while let Ok(told) = self.answers.try_recv() {
            self.asking = false;
            if !self.model.paused && self.next.is_none() {
                self.next = Some(monotonic_now());
            }
            match told {
                Ok((status, flows, detail)) => {
                    self.model.on_answer(status, flows);
                    detail.into_iter().for_each(|detail| self.model.on_detail(detail));
                }
                Err(Failure::User(trouble) | Failure::Operational(trouble)) => self.model.on_trouble(trouble),
            }
        }
    }
}
