use std::time::Duration;

use qadra_flow::Limits;

/// How a worker works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a worker may be silent before another takes its executions over. It says that it lives three times
    /// in this time, and stops acting when it has not been heard for all of it.
    pub lease: Duration,
    /// Nodes with an outside effect at once, over all executions.
    pub parallel: usize,
    /// The same for one tenant, so that one cannot keep the others waiting.
    pub parallel_per_tenant: usize,
    /// Executions at once.
    pub runs: usize,
    /// The same for one tenant, over all workers.
    pub runs_per_tenant: usize,
    /// How often to look for work when nothing says that there is some.
    pub poll: Duration,
    /// For one attempt at a node that does not say.
    pub node_timeout: Duration,
    /// How deep flows may run flows.
    pub depth: u32,
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(10),
            parallel: 256,
            parallel_per_tenant: 64,
            runs: 1_000,
            runs_per_tenant: 100,
            poll: Duration::from_secs(1),
            node_timeout: Duration::from_secs(300),
            depth: 8,
            limits: Limits::default(),
        }
    }
}
