//! What tests stand on: a real PostgreSQL of their own ([`db`]) and scripted model providers ([`llm`]).
//!
//! Nothing here is part of the product, and no crate depends on it outside its tests.

pub mod db;
pub mod llm;
