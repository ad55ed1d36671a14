use std::time::Duration;

/// Limits of the use cases; the binary reads each from its environment variable.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Life of an access token.
    pub access_ttl: Duration,
    /// Life of a refresh token that is not used.
    pub refresh_ttl: Duration,
    /// Messages of a thread that a model is given, the new one included.
    pub history_messages: i32,
    /// Estimated tokens that a prompt may have in all; the oldest messages are left out first.
    pub context_tokens: u64,
    /// Tool calls in one turn.
    pub tool_calls: u32,
    /// From the start of a turn to its end.
    pub turn_timeout: Duration,
    /// How long an ended turn's stream stays in memory for readers that come back; afterwards it is read
    /// from the database.
    pub stream_retention: Duration,
    /// Where documents are read; servers do it in a process of its own.
    pub reader: qadra_reader::worker::Reader,
    /// Documents that one process works on at once.
    pub document_workers: usize,
    /// Passages of one document that a model is asked to read for statements; 0 leaves it to the rules.
    pub document_model_chunks: usize,
    /// Bounds of one flow execution. Workers must have the same: what they record is read again under them.
    pub flow_limits: qadra_flow::Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            access_ttl: Duration::from_secs(15 * 60),
            refresh_ttl: Duration::from_secs(30 * 24 * 3600),
            history_messages: 50,
            context_tokens: 32_000,
            tool_calls: 8,
            turn_timeout: Duration::from_secs(240),
            stream_retention: Duration::from_secs(60),
            reader: qadra_reader::worker::Reader::InProcess,
            document_workers: 2,
            document_model_chunks: 0,
            flow_limits: qadra_flow::Limits::default(),
        }
    }
}
