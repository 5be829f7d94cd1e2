//! A bounded number of connections at a time. A further one ends the connection that has waited longest without a request, else
//! the oldest. A scraper asks at once and is served; those that only hold places lose them.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// The connections that are being served.
#[derive(Clone, Debug)]
pub(super) struct ConnectionSlots {
    most: usize,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    /// First come first.
    connections: Vec<Connection>,
    next: u64,
}

#[derive(Debug)]
struct Connection {
    number: u64,
    stream: TcpStream,
    asked: bool,
}

/// A connection's place; given back when dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    number: u64,
    places: ConnectionSlots,
}

impl ConnectionSlots {
    pub fn new(most: usize) -> Self {
        Self { most, held: Arc::default() }
    }

    /// A place for a connection; if there is none, another one's connection is ended. `None` where the system has no
    /// descriptor left.
    pub fn take(&self, stream: &TcpStream) -> Option<ConnectionSlot> {
        let stream = stream.try_clone().ok()?;
        self.with(|held| {
            if held.connections.len() >= self.most {
                let idle = held.connections.iter().position(|connection| !connection.asked);
                let loser = held.connections.remove(idle.unwrap_or(0));
                // Its thread reads the end, or cannot write any more. One that is gone already needs no telling.
                let _ = loser.stream.shutdown(Shutdown::Both);
            }
            let number = held.next;
            held.next += 1;
            held.connections.push(Connection { number, stream, asked: false });
            Some(ConnectionSlot { number, places: self.clone() })
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Held) -> T) -> T {
        act(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ConnectionSlot {
    /// The connection has asked for something.
    pub fn asked(&self) {
        self.places.with(|held| {
            let own = held.connections.iter_mut().find(|connection| connection.number == self.number);
            if let Some(own) = own {
                own.asked = true;
            }
        });
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.places.with(|held| held.connections.retain(|connection| connection.number != self.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    /// Both ends of a connection: the server's, the client's.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener.accept().unwrap().0, client)
    }

    fn is_ended(client: &mut TcpStream) -> bool {
        client.set_nonblocking(true).unwrap();
        matches!(client.read(&mut [0; 1]), Ok(0))
    }

    #[test]
    fn who_has_not_asked_goes_first_then_who_came_first() {
        let places = ConnectionSlots::new(3);
        let mut ends: Vec<_> = (0..5).map(|_| pair()).collect();
        let mut taken: Vec<_> =
            ends[..3].iter().map(|(server, _)| places.take(server).expect("a place")).collect();
        taken[0].asked();
        taken[2].asked();
        taken.push(places.take(&ends[3].0).unwrap());
        let ended: Vec<bool> = ends.iter_mut().map(|(_, client)| is_ended(client)).collect();
        assert_eq!(ended, [false, true, false, false, false], "the one that had not asked");
        taken[3].asked();
        taken.push(places.take(&ends[4].0).unwrap());
        let ended: Vec<bool> = ends.iter_mut().map(|(_, client)| is_ended(client)).collect();
        assert_eq!(ended, [true, true, false, false, false], "all have asked: the first");
    }

    #[test]
    fn a_place_that_is_given_back_costs_nobody_theirs() {
        let places = ConnectionSlots::new(1);
        let (mut one, two) = (pair(), pair());
        drop(places.take(&one.0).unwrap());
        let _place = places.take(&two.0).unwrap();
        assert!(!is_ended(&mut one.1));
    }
}
