//! The product as its clients see it: HTTP, server-sent events and the bus, over a real database, a real
//! socket and a scripted model.

mod auth;
mod bad_input;
mod bus;
mod conversations;
mod coverage;
mod long_thread;
mod resume;
mod sse_wire;
mod support;
mod turns;
