//! Subjects, messages, and the [`Bus`] with its two transports: [`InProcess`] and [`Nats`].
//!
//! It never reads a message's JSON on its own account, never stores anything except payloads that are
//! too large for the transport and the [`Files`] it is handed, and never decides who may call what: the broker is inside the trust
//! boundary (`docs/bus.md`). Entry type: [`Bus`], used as `Arc<dyn Bus>`; a responder is a [`serve`].

mod bus;
mod error;
mod files;
mod headers;
mod in_process;
mod nats;
mod objects;
mod router;
mod service;
mod subscription;

pub mod messages;
pub mod subjects;

pub use bus::{Bus, Message, Pending, ReplyTo};
pub use error::BusError;
pub use files::{Files, Upload};
pub use headers::Headers;
pub use in_process::{InProcess, InProcessOptions};
pub use messages::{FlowProgressEvent, Reply};
pub use nats::{Nats, NatsOptions};
pub use objects::Objects;
pub use service::{ServeHandle, ServeOptions, Stopped, serve};
pub use subjects::{OpSubject, Subject, Tenant};
pub use subscription::{Delivery, Subscription};
