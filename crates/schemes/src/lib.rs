//! Schemes as data: a scheme is a named composition of parts at the places where a mesh can act.
//!
//! | place | key | parts |
//! |---|---|---|
//! | sender and receiver | `tcp_profile` | what their TCP follows: ns-2.35, the RFCs |
//! | sender | `congestion` | congestion control: the window |
//! | sender | `recovery` | what finds losses, and what is sent again |
//! | sender | `pacing` | when the next segment may leave |
//! | receiver | `ack_policy` | when to acknowledge |
//! | relay | `relay` | the queue of every mesh node and wired link |
//! | gateway | `gateway` | what crosses between mesh and Internet |
//!
//! A part describes itself in its own file, in the crate that implements it ([`meshpace_keys::Part`]); here it is a row of
//! the table of its place. A new scheme is a row of the table of compositions, or a table `[scheme.NAME]` of a
//! scenario file, which names a `base` and what differs from it. Checker, JSON Schema, lists and documentation are made
//! of what the parts say.

mod catalogue;
mod choices;
mod compositions;
mod place;
mod places;
mod profiles;
mod schema;
mod scheme;
mod set;

pub use catalogue::{Catalogue, SchemeSetting, SettingError, UnknownScheme};
pub use compositions::{lookup, names};
pub use place::Place;
pub use places::places;
pub use schema::schema;
pub use scheme::{FlowEnd, Scheme};
pub use set::{ParamError, parameters};
