//! Schemes as data: a scheme is a named composition of parts at the four places where a mesh can act.
//!
//! | place | parts | key |
//! |---|---|---|
//! | sender | congestion control and its profile; pacing | `congestion`, `tcp_profile`, `pacing`, `profile` |
//! | receiver | acknowledgement policy | `ack_policy` |
//! | relay | queue discipline of every mesh node | `relay` |
//! | gateway | nothing, pacing, pacing and goodput control | `gateway` |
//!
//! A new scheme is a line in the table of compositions, or a table `[scheme.NAME]` of a scenario file, which
//! names a `base` and what differs from it. Every parameter of every part is a row of one table ([`parameters`]):
//! its key, type, range, unit and source; the checker, the JSON Schema and the lists all read that table.

mod catalogue;
mod compositions;
mod params;
mod schema;
mod scheme;
mod value;

pub use catalogue::{Catalogue, Setting, SettingError, UnknownScheme};
pub use compositions::{lookup, names};
pub use params::{Kind, Param, ParamError, parameters};
pub use schema::schema;
pub use scheme::{FixedRate, Flow, Relay, Scheme, Sender, SenderPacing, TcpProfile};
pub use value::Value;
