//! The product as its clients see it: HTTP, server-sent events and the bus, over a real database, a real
//! socket and a scripted model.

mod auth;
mod bad_input;
mod bad_requests;
mod branches;
mod bus;
mod conversations;
mod coverage;
mod long_thread;
mod operations;
mod other_tenant;
mod replay;
mod resume;
mod sharing;
mod sse_wire;
mod support;
mod turn_ends;
mod turn_tools;
mod turns;
