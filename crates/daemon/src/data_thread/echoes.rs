//! Requests for ICMP echoes to mesh hosts, and what answers them: which host is asked, and when, the shaper says
//! ([`meshpace_gateway::Shaper::asks`]).
//!
//! An answer counts that comes from the host that was asked and brings back what only this process can have written: a keyed hash of address
//! and number. So no host answers what was not asked, or for another one, nor before the request has come.

use meshpace_gateway::Find;
use meshpace_linux::{EchoSockets, Poller};
use meshpace_wire::Echo;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// Answers of an IP version read between two looks at packets and departures.
const BATCH: usize = 32;

/// A host to ask for an echo, and the number of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// A mesh host.
    pub to: IpAddr,
    /// The shaper's number.
    pub number: u32,
}

/// What requests say.
#[derive(Debug)]
struct Words {
    /// Keyed by the standard library from the system's random source.
    secret: RandomState,
    identifier: u16,
}

impl Words {
    fn new() -> Self {
        let secret = RandomState::new();
        Self { identifier: secret.hash_one("identifier") as u16, secret }
    }

    fn token(&self, to: IpAddr, number: u32) -> u64 {
        self.secret.hash_one((to, number))
    }

    fn ask(&self, Request { to, number }: Request) -> Vec<u8> {
        let mut data = [0; 12];
        data[..4].copy_from_slice(&number.to_be_bytes());
        data[4..].copy_from_slice(&self.token(to, number).to_be_bytes());
        let echo = Echo { identifier: self.identifier, sequence: number as u16, data: &data };
        echo.request(to.is_ipv6())
    }

    /// The number of the request that a reply answers.
    fn read(&self, from: IpAddr, reply: &[u8]) -> Option<u32> {
        let echo = Echo::reply(reply, from.is_ipv6())?;
        let (number, token) = echo.data.split_first_chunk::<4>()?;
        let number = u32::from_be_bytes(*number);
        let is_ours = echo.identifier == self.identifier
            && echo.sequence == number as u16
            && token == self.token(from, number).to_be_bytes();
        is_ours.then_some(number)
    }
}

/// See the module's description.
#[derive(Debug)]
pub struct Echoes {
    sockets: EchoSockets,
    words: Words,
}

impl Echoes {
    /// In the calling thread's network namespace.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn open() -> io::Result<Self> {
        Ok(Self { sockets: EchoSockets::open()?, words: Words::new() })
    }

    /// Asks.
    ///
    /// # Errors
    /// As [`EchoSockets::send`].
    pub fn ask(&self, request: Request) -> io::Result<()> {
        self.sockets.send(request.to, &self.words.ask(request))
    }

    /// Hands over the hosts that have answered, and the numbers of their requests.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn receive(&self, mut each: impl FnMut(IpAddr, u32)) -> io::Result<()> {
        self.sockets.receive(BATCH, |from, reply| {
            if let Some(number) = self.words.read(from, reply) {
                each(from, number);
            }
        })
    }
}

/// What a data thread asks hosts for echoes by, while it may have to.
#[derive(Debug, Default)]
pub struct Asking {
    echoes: Option<Echoes>,
    /// It was said that they cannot be asked.
    unheard: bool,
}

impl Asking {
    /// Opens or closes it as the shaper in force says; answers are readable under this token.
    pub fn follow(&mut self, find: Option<Find>, poller: &Poller, token: u64) {
        if find.is_none_or(|find| find.probes == 0) {
            // What waits for a closed descriptor is no longer reported.
            self.echoes = None;
        } else if self.echoes.is_none() {
            let opened = Echoes::open().and_then(|echoes| {
                poller.add(&echoes, token)?;
                Ok(echoes)
            });
            match opened {
                Ok(echoes) => self.echoes = Some(echoes),
                Err(why) => self.say(&format!("mesh hosts are not asked for echoes: {why}")),
            }
        }
    }

    /// Asks. A host without a route answers nothing, as one that is off; a firewall that lets no request out is worth a word.
    pub fn ask(&mut self, request: Request) {
        if let Some(Err(why)) = self.echoes.as_ref().map(|echoes| echoes.ask(request))
            && why.kind() == io::ErrorKind::PermissionDenied
        {
            self.say("the firewall's OUTPUT drops requests for echoes to mesh hosts");
        }
    }

    /// Hands over the hosts that have answered, and the numbers of their requests; no host where none may be asked.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn receive(&self, each: impl FnMut(IpAddr, u32)) -> io::Result<()> {
        self.echoes.as_ref().map_or(Ok(()), |echoes| echoes.receive(each))
    }

    fn say(&mut self, what: &str) {
        if !std::mem::replace(&mut self.unheard, true) {
            eprintln!("meshpaced: {what}");
        }
    }
}

impl AsFd for Echoes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.sockets.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    /// What a host makes of an ICMPv6 request, whose checksum the kernel looks at.
    fn answered(request: &[u8]) -> Vec<u8> {
        let mut reply = request.to_vec();
        reply[0] = 129;
        reply
    }

    #[test]
    fn who_was_asked_answers_with_what_was_asked() {
        let words = Words::new();
        let [to, other] = [1, 2].map(|last| IpAddr::from(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, last)));
        let reply = answered(&words.ask(Request { to, number: 70_000 }));
        assert_eq!(words.read(to, &reply), Some(70_000));
        assert_eq!(words.read(other, &reply), None, "another host");
        assert_eq!(Words::new().read(to, &reply), None, "of another process");
        // Identifier, sequence, number, token: every byte behind type, code and checksum.
        for at in 4..reply.len() {
            let mut forged = reply.clone();
            forged[at] ^= 1;
            assert_eq!(words.read(to, &forged), None, "byte {at}");
        }
        assert!((0..reply.len()).all(|length| words.read(to, &reply[..length]).is_none()));
        assert_eq!(words.read(to, &[&reply[..], &[0]].concat()), None, "more than was asked");
    }

    #[test]
    fn a_request_is_small() {
        let request = Words::new().ask(Request { to: Ipv4Addr::LOCALHOST.into(), number: 1 });
        assert_eq!(request.len(), 20);
    }
}
