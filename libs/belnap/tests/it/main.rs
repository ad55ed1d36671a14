//! Behaviour of the library as a whole, with the parser that it ships with.

mod corpus;
mod extract;
mod extract_laws;
mod precision;
mod values;
