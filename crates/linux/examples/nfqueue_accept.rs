//! Accepts every packet of an NFQUEUE: what the queue alone costs, below anything that a gateway does with the packets.
//!
//! `nfqueue_accept NUMBER [COPY_RANGE]`, until it is killed. The benchmark of the gateway uses it.

use meshpace_linux::{NfQueue, Options, Poller, realtime};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(number) = arguments.next().and_then(|text| text.parse().ok()) else {
        eprintln!("usage: nfqueue_accept NUMBER [COPY_RANGE]");
        return ExitCode::from(2);
    };
    let copy_range = arguments.next().and_then(|text| text.parse().ok());
    match run(number, &Options { copy_range, ..Options::default() }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nfqueue_accept: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(number: u16, options: &Options) -> std::io::Result<()> {
    let mut poller = Poller::new()?;
    let mut queue = NfQueue::open(number, options)?;
    poller.add(&queue, 0)?;
    println!("{}", realtime());
    loop {
        poller.wait(None)?.for_each(drop);
        queue.receive(|packet, verdicts| verdicts.accept(packet.id))?;
        queue.flush()?;
    }
}
