//! Questions over the demo facts, from text to answer, through a store held in memory.

mod answers;
mod demo;
mod graph;
mod laws;
mod messages;
