//! Two stacks and a bad network between them, in virtual time.

#![allow(dead_code, reason = "every test file uses its part")]

use meshpace_endpoint::{
    Impairment, ImpairmentConfig, LiveOptions, Secret, SocketError, SocketId, SocketOptions, Stack,
    StackConfig,
};
use meshpace_pacing::Route;
use meshpace_units::{Instant, Rate, Span};
use std::net::{IpAddr, SocketAddr};

pub const CLIENT: &str = "10.0.0.1";
pub const SERVER: &str = "10.0.0.2";

pub fn address(text: &str) -> IpAddr {
    text.parse().expect(text)
}

pub fn socket(host: &str, port: u16) -> SocketAddr {
    SocketAddr::new(address(host), port)
}

pub fn config(host: &str) -> StackConfig {
    let v6 = format!("fd00::{}", host.rsplit('.').next().expect("a last byte"));
    StackConfig::new(vec![address(host), address(&v6)], Secret([host.len() as u8; 16]))
}

/// What a scheme of the table makes of a connection.
pub fn scheme(name: &str) -> SocketOptions {
    let scheme = meshpace_schemes::lookup(name).expect(name);
    SocketOptions::from_scheme(
        &scheme,
        &LiveOptions {
            route: Route::uniform(Some(4), Rate::bits_per_sec(11_000_000)),
            ..LiveOptions::default()
        },
    )
}

/// Byte number `offset` of a stream that tells positions apart.
pub fn byte(offset: u64) -> u8 {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// A change to packets from the server before they enter the network.
pub type Meddle = fn(&mut Vec<u8>);

pub struct World {
    pub client: Stack,
    pub server: Stack,
    pub there: Impairment,
    pub back: Impairment,
    pub now: Instant,
    pub meddle: Meddle,
    /// How late a driver wakes up: real ones are never in time.
    pub late: Span,
    /// Everything that entered the network, in order: true for the client's.
    pub log: Vec<(bool, Vec<u8>)>,
    pub logs: bool,
}

impl World {
    pub fn new(network: ImpairmentConfig) -> Self {
        Self::of(network, config(CLIENT), config(SERVER))
    }

    pub fn of(network: ImpairmentConfig, client: StackConfig, server: StackConfig) -> Self {
        Self {
            client: Stack::new(client),
            server: Stack::new(server),
            there: Impairment::new(network, "there"),
            back: Impairment::new(network, "back"),
            now: Instant::from_nanos(1_000_000_000),
            meddle: |_| {},
            late: Span::ZERO,
            log: Vec::new(),
            logs: false,
        }
    }

    /// Lets both stacks send and receive all they can without time passing.
    pub fn settle(&mut self) {
        loop {
            let mut packet = Vec::new();
            let mut quiet = true;
            while self.client.poll_transmit(self.now, &mut packet) {
                quiet = false;
                if self.logs {
                    self.log.push((true, packet.clone()));
                }
                self.there.submit(self.now, &packet);
            }
            while self.server.poll_transmit(self.now, &mut packet) {
                quiet = false;
                (self.meddle)(&mut packet);
                if self.logs {
                    self.log.push((false, packet.clone()));
                }
                self.back.submit(self.now, &packet);
            }
            while let Some(packet) = self.there.poll(self.now) {
                quiet = false;
                self.server.handle_packet(self.now, &packet);
            }
            while let Some(packet) = self.back.poll(self.now) {
                quiet = false;
                self.client.handle_packet(self.now, &packet);
            }
            if quiet {
                while self.client.poll_changed().is_some() || self.server.poll_changed().is_some() {}
                return;
            }
        }
    }

    /// Goes to the next moment at which something happens; false if nothing ever will.
    pub fn step(&mut self) -> bool {
        self.settle();
        let next = [
            self.client.poll_timeout(),
            self.server.poll_timeout(),
            self.there.poll_timeout(),
            self.back.poll_timeout(),
        ];
        let Some(next) = next.into_iter().flatten().min() else { return false };
        self.now = self.now.max(next) + self.late;
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        self.settle();
        true
    }

    /// Lets `span` pass.
    pub fn pass(&mut self, span: Span) {
        let end = self.now + span;
        self.settle();
        loop {
            let next = [
                self.client.poll_timeout(),
                self.server.poll_timeout(),
                self.there.poll_timeout(),
                self.back.poll_timeout(),
            ];
            match next.into_iter().flatten().min() {
                Some(next) if next <= end => assert!(self.step()),
                _ => break,
            }
        }
        self.now = end;
        self.settle();
    }

    /// A connection from the client to port 80 of the server: both ends.
    pub fn connected(&mut self, client: &SocketOptions, server: SocketOptions) -> (SocketId, SocketId) {
        let listener = self.server.listen(None, 80, 8, server).expect("port 80 is free");
        let here = self.client.connect(self.now, socket(SERVER, 80), None, client).expect("room");
        let there = loop {
            if let Some(there) = self.server.accept(listener) {
                break there;
            }
            assert!(self.step(), "no connection");
        };
        while !self.client.info(here).expect("known").connected {
            assert!(self.step(), "no connection");
        }
        (here, there)
    }
}

/// One direction of an exchange: bytes written so far, of how many; bytes read and checked.
pub struct Transfer {
    pub total: u64,
    pub written: u64,
    pub read: u64,
    pub shut: bool,
    pub ended: bool,
}

impl Transfer {
    pub fn of(total: u64) -> Self {
        Self { total, written: 0, read: 0, shut: false, ended: false }
    }

    /// Writes what there is room for, up to `most` bytes, and shuts down after the last.
    pub fn write(&mut self, stack: &mut Stack, id: SocketId, most: u64) {
        if self.shut {
            return;
        }
        let end = self.total.min(self.written.saturating_add(most));
        let data: Vec<u8> = (self.written..end).map(byte).collect();
        match stack.write(id, &data) {
            Ok(written) => self.written += written as u64,
            Err(SocketError::WouldBlock) => {}
            Err(error) => panic!("write: {error}"),
        }
        if self.written == self.total {
            self.shut = true;
            stack.shutdown_write(id).expect("open");
        }
    }

    /// Reads up to `most` bytes and compares them.
    pub fn read(&mut self, stack: &mut Stack, id: SocketId, most: usize) {
        let mut buffer = vec![0; most];
        match stack.read(id, &mut buffer) {
            Ok(0) => self.ended = true,
            Ok(length) => {
                for got in &buffer[..length] {
                    assert_eq!(*got, byte(self.read), "byte {}", self.read);
                    self.read += 1;
                }
            }
            Err(SocketError::WouldBlock) => {}
            Err(error) => panic!("read: {error} after {} of {} bytes", self.read, self.total),
        }
    }
}

impl Transfer {
    /// Reads everything there is.
    pub fn drain(&mut self, stack: &mut Stack, id: SocketId) {
        let mut before = None;
        while before != Some((self.read, self.ended)) {
            before = Some((self.read, self.ended));
            self.read(stack, id, 100_000);
        }
    }
}

/// Exchanges `up` and `down` bytes over a connection and closes it; the virtual time that it took.
pub fn exchange(world: &mut World, ends: (SocketId, SocketId), up: u64, down: u64, chunk: u64) -> Span {
    let start = world.now;
    let (mut up, mut down) = (Transfer::of(up), Transfer::of(down));
    while !(up.ended && down.ended) {
        let before = (up.written, down.written, up.read, down.read);
        up.write(&mut world.client, ends.0, chunk);
        down.write(&mut world.server, ends.1, chunk);
        world.settle();
        up.read(&mut world.server, ends.1, chunk as usize + 1);
        down.read(&mut world.client, ends.0, chunk as usize + 1);
        assert!(up.read <= up.total && down.read <= down.total);
        // Time passes only when the applications have nothing to do.
        if before == (up.written, down.written, up.read, down.read) && !(up.ended && down.ended) {
            let (u, d) = (&up, &down);
            assert!(
                world.step(),
                "nothing happens any more: {} of {}, {} of {}",
                u.read,
                u.total,
                d.read,
                d.total
            );
        }
        assert!(world.now - start < Span::from_secs(24 * 3600), "a day has passed");
    }
    assert_eq!((up.read, down.read), (up.total, down.total));
    world.now - start
}
