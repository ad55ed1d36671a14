//! Questions over the demo facts, from text to answer, through a store held in memory.

mod answers;
mod curvature;
mod demo;
mod gate;
mod graph;
mod laws;
mod messages;
mod shape;
