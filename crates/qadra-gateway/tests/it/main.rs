//! The product as its clients see it: HTTP, server-sent events and the bus, over a real database, a real
//! socket and a scripted model.

mod auth;
mod bad_input;
mod bad_requests;
mod branches;
mod bus;
mod conversations;
mod coverage;
mod documents;
mod entities;
mod flows;
mod long_thread;
#[path = "../../../qadra-reader/tests/it/make_docx.rs"]
#[allow(dead_code, reason = "shared with the reader's own tests")]
mod make_docx;
#[path = "../../../qadra-reader/tests/it/make_pdf.rs"]
#[allow(dead_code, reason = "shared with the reader's own tests")]
mod make_pdf;
mod memory;
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
mod verification;
