//! Headers of explicit schemes: a sender's question to relays, the answer that its receiver returns, and the
//! receiver's own report.

use super::shim::{Shim, ShimBytes, ShimKind};
use meshpace_tcp::control::Feedback;
use meshpace_units::Bytes;

/// A sender's question, and what relays have answered so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Of which kind, and what it says.
    pub said: Feedback,
    /// Bytes that it takes on the air.
    pub length: u8,
}

/// The answer, on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReturnedFeedback {
    /// Of which kind, and what it says.
    pub said: Feedback,
    /// Bytes that it takes on the air.
    pub length: u8,
}

/// What a receiver's acknowledgement policy tells the sender's control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Of which kind, and what it says.
    pub said: Feedback,
    /// Bytes that it takes on the air.
    pub length: u8,
}

macro_rules! shim {
    ($type:ident, $kind:ident, $name:literal) => {
        impl Shim for $type {
            const KIND: ShimKind = ShimKind::$kind;
            const NAME: &'static str = $name;
            const WIRE_LENGTH: Bytes = Bytes(0);

            fn wire_length(&self) -> Bytes {
                Bytes(u64::from(self.length))
            }

            /// Length, kind, what it says.
            fn to_bytes(&self) -> ShimBytes {
                let mut bytes = [0; 2 + Feedback::MAX];
                let end = 2 + self.said.bytes().len();
                (bytes[0], bytes[1]) = (self.length, self.said.kind());
                bytes[2..end].copy_from_slice(self.said.bytes());
                ShimBytes::new(&bytes[..end])
            }

            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                let (head, said) = bytes.split_at_checked(2)?;
                Some(Self { said: Feedback::new(head[1], said)?, length: head[0] })
            }
        }
    };
}

shim!(Request, Request, "request");
shim!(ReturnedFeedback, Answer, "answer");
shim!(Report, Report, "report");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, Class, Opaque, Packet};
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn a_request_is_as_long_as_it_says_and_relays_rewrite_it_in_place() {
        let here = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2));
        let body = Body::Opaque(Opaque {
            protocol: 6,
            source_port: 1,
            destination_port: 2,
            bytes: Vec::new().into(),
        });
        let mut packet = Packet::new(here, here, Bytes(1000), Class::Data, body);
        let said = |text: &[u8]| Feedback::new(9, text).unwrap();
        assert!(!packet.rewrite_shim(|_: &mut Request| unreachable!("there is none")));
        packet.set_shim(&Request { said: said(b"how fast?"), length: 20 });
        assert_eq!(packet.size, Bytes(1020));
        assert!(packet.rewrite_shim(|request: &mut Request| request.said = said(b"so fast")));
        assert_eq!(
            (packet.shim(), packet.size),
            (Some(Request { said: said(b"so fast"), length: 20 }), Bytes(1020))
        );
        packet.set_shim(&ReturnedFeedback { said: said(&[7; Feedback::MAX]), length: 0 });
        packet.set_shim(&Request { said: said(b""), length: 8 });
        assert_eq!(packet.size, Bytes(1008));
        assert_eq!(packet.shim(), Some(Request { said: said(b""), length: 8 }));
        assert_eq!(packet.shim(), Some(ReturnedFeedback { said: said(&[7; Feedback::MAX]), length: 0 }));
    }
}
