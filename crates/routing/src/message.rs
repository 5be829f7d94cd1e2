//! Routing packets, each of its protocol's own type.

use meshpace_units::{Bytes, NodeId};
use std::any::Any;
use std::fmt::{self, Debug};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Headers of IP without options (RFC 791, section 3.1) and UDP (RFC 768): what is around the bytes of a message.
pub const HEADERS: Bytes = Bytes(28);

/// A routing packet of some protocol: fields that its nodes read, their length on the air, and their bytes for captures.
///
/// The network that carries it knows none of the types. The protocol that receives a [`Control`] asks for its own.
pub trait Message: Any + Debug + PartialEq + Send + Sync {
    /// How captures show it.
    const FORMAT: Format;

    /// Size at IP, header included.
    fn wire_length(&self) -> Bytes;

    /// Appends the payload of its UDP datagram, in network order; nodes go by their `address`.
    fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr);

    /// True if [`Action::PurgeQueue`](crate::Action::PurgeQueue) with `unaddressed` takes it along.
    fn goes_with_purges(&self) -> bool {
        false
    }
}

/// The UDP datagrams that captures show a kind of message as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Both ports.
    pub port: u16,
    /// What the bytes are, for the reader of a capture.
    pub name: &'static str,
    /// Whose size the message has on the air; `None`: that of its bytes with [`HEADERS`].
    pub size: Option<&'static str>,
}

/// A message under way. Its copies share it: each of some dozen receivers of a broadcast gets one.
#[derive(Clone)]
pub struct Control(Arc<dyn Carried>);

impl Control {
    /// The message, if it is of that type: of a protocol that the receiver speaks.
    #[must_use]
    pub fn get<M: Message>(&self) -> Option<&M> {
        self.0.as_any().downcast_ref()
    }

    /// True if it is of that type.
    #[must_use]
    pub fn is<M: Message>(&self) -> bool {
        self.0.as_any().is::<M>()
    }

    /// How captures show it.
    #[must_use]
    pub fn format(&self) -> Format {
        self.0.format()
    }

    /// [`Message::wire_length`].
    #[must_use]
    pub fn wire_length(&self) -> Bytes {
        self.0.wire_length()
    }

    /// [`Message::write`].
    pub fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr) {
        self.0.write(out, address);
    }

    /// [`Message::goes_with_purges`].
    #[must_use]
    pub fn goes_with_purges(&self) -> bool {
        self.0.goes_with_purges()
    }
}

impl<M: Message> From<M> for Control {
    fn from(message: M) -> Self {
        Self(Arc::new(message))
    }
}

impl PartialEq for Control {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other.0.as_any())
    }
}

impl Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A message without its type.
trait Carried: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn equals(&self, other: &dyn Any) -> bool;
    fn format(&self) -> Format;
    fn wire_length(&self) -> Bytes;
    fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr);
    fn goes_with_purges(&self) -> bool;
}

impl<M: Message> Carried for M {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<M>().is_some_and(|other| self == other)
    }

    fn format(&self) -> Format {
        M::FORMAT
    }

    fn wire_length(&self) -> Bytes {
        Message::wire_length(self)
    }

    fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr) {
        Message::write(self, out, address);
    }

    fn goes_with_purges(&self) -> bool {
        Message::goes_with_purges(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { port: 1, name: "a byte", size: None };

    #[derive(Debug, PartialEq)]
    struct Ping(u8);

    #[derive(Debug, PartialEq)]
    struct Pong(u8);

    impl Message for Ping {
        const FORMAT: Format = FORMAT;

        fn wire_length(&self) -> Bytes {
            HEADERS + Bytes(1)
        }

        fn write(&self, out: &mut Vec<u8>, _: &dyn Fn(NodeId) -> Ipv4Addr) {
            out.push(self.0);
        }
    }

    impl Message for Pong {
        const FORMAT: Format = FORMAT;

        fn wire_length(&self) -> Bytes {
            HEADERS + Bytes(5)
        }

        fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr) {
            out.push(self.0);
            out.extend(address(NodeId(7)).octets());
        }
    }

    #[test]
    fn a_message_is_read_by_who_knows_its_type() {
        let (ping, pong): (Control, Control) = (Ping(3).into(), Pong(3).into());
        assert_eq!((ping.get(), ping.get::<Pong>()), (Some(&Ping(3)), None));
        assert!(pong.is::<Pong>() && !pong.is::<Ping>());
        assert_eq!(ping.clone(), Ping(3).into());
        assert!(ping != Ping(4).into() && ping != pong, "as many bytes say other things");
        let mut out = Vec::new();
        pong.write(&mut out, &|node| Ipv4Addr::new(10, 77, 0, node.0 as u8));
        assert_eq!((out, pong.wire_length()), (vec![3, 10, 77, 0, 7], Bytes(33)));
    }
}
