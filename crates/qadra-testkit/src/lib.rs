pub mod db;
pub mod llm;
