use serde::Serialize;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The flow cannot run.
    Error,
    /// It can run, and will hardly do what is meant.
    Warning,
}

/// Something about a graph that its author should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// A stable word.
    pub code: &'static str,
    pub node_id: Option<String>,
    pub edge_id: Option<String>,
    /// What is wrong and what can be done.
    pub message: String,
}
