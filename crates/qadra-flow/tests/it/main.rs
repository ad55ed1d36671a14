mod engine;
mod replay;
