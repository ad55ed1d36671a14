use chrono::{DateTime, Utc};
use qadra_types::{Patch, patch};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::default_limit;

/// A flow without its graph.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FlowSummary {
    pub id: Uuid,
    /// Unique in the tenant.
    pub name: String,
    pub description: Option<String>,
    pub node_count: i32,
    /// One that is switched off cannot be started.
    pub is_active: bool,
    /// Counts changes, from 1.
    pub version: i32,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Flow {
    #[serde(flatten)]
    pub summary: FlowSummary,
    /// `{nodes, edges, viewport}` as React Flow writes it; unknown fields are kept.
    pub flow_data: Value,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListFlows {
    #[serde(default = "default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub q: Option<String>,
    #[serde(default)]
    pub is_active: Option<bool>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct CreateFlow {
    /// At most 200 characters.
    pub name: String,
    /// At most 4,000 characters.
    #[serde(default)]
    pub description: Option<String>,
    /// At most 2 MiB; it need not be able to run yet. An empty graph if absent.
    #[serde(default)]
    pub flow_data: Option<Value>,
    #[serde(default)]
    pub is_active: Option<bool>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct UpdateFlow {
    #[schema(ignore)]
    pub id: Uuid,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub description: Patch<String>,
    #[serde(default)]
    pub flow_data: Option<Value>,
    #[serde(default)]
    pub is_active: Option<bool>,
    /// Refuses the change (`CONFLICT`) if the flow has another version by now.
    #[serde(default)]
    pub expected_version: Option<i32>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct ValidateFlow {
    pub flow_data: Value,
}

/// What nodes there are.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NodeCatalog {
    /// `{type, label, description, category, effect, inputs, outputs, schema, example, notes}` of each kind; `schema` is
    /// the JSON Schema of a node's `data`.
    pub items: Vec<Value>,
}

/// Something about a graph that its author should know.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FlowFinding {
    /// `error` or `warning`.
    pub severity: String,
    pub code: String,
    pub node_id: Option<String>,
    pub edge_id: Option<String>,
    pub message: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FlowFindings {
    /// Whether it can run.
    pub valid: bool,
    pub errors: Vec<FlowFinding>,
    pub warnings: Vec<FlowFinding>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct ExecuteFlow {
    #[schema(ignore)]
    pub id: Uuid,
    /// What the state begins with; an empty object if absent.
    #[serde(default)]
    pub input: Option<Value>,
    /// Over HTTP the header `Idempotency-Key`: the same key of the same user and flow starts one execution.
    #[serde(default)]
    #[schema(ignore)]
    pub idempotency_key: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct StartedExecution {
    pub execution_id: Uuid,
    pub status: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListExecutions {
    #[serde(default = "default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub flow_id: Option<Uuid>,
    #[serde(default)]
    pub status: Option<String>,
    #[serde(default)]
    pub trigger: Option<String>,
}

/// As [`ListExecutions`], of one flow.
#[derive(Debug, Clone, Deserialize)]
pub struct ListFlowExecutions {
    pub id: Uuid,
    #[serde(default = "default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub status: Option<String>,
    #[serde(default)]
    pub trigger: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExecutionSummary {
    pub id: Uuid,
    pub flow_id: Uuid,
    pub flow_name: String,
    /// `pending`, `running`, `paused`, `completed`, `failed` or `cancelled`.
    pub status: String,
    /// `manual`, `api`, `conversation`, `schedule`, `webhook`, `flow`, `rerun` or `fork`.
    pub trigger: String,
    pub error: Option<String>,
    pub triggered_by: Option<Uuid>,
    /// The execution whose node waits for this one.
    pub parent_id: Option<Uuid>,
    /// The execution this one repeats in part or with other input.
    pub rerun_of: Option<Uuid>,
    pub conversation_id: Option<Uuid>,
    pub cancel_requested: bool,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub duration_ms: Option<i64>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ReadExecution {
    pub id: Uuid,
    /// The execution as it was after the event of this number; as it is now if absent.
    #[serde(default)]
    pub at_seq: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Execution {
    #[serde(flatten)]
    pub summary: ExecutionSummary,
    pub input: Value,
    /// The blackboard.
    pub state: Value,
    /// What the End nodes collected.
    pub output: Value,
    /// `{node_id: {status, input, output, error, started_at, completed_at, attempts, seq, iterations?}}`
    pub node_states: Value,
    /// `[{node_id, label, prompt, form_schema, assignee, deadline, default}]`
    pub waiting: Value,
    /// What runs: the flow as it was when the execution was started.
    pub flow_snapshot: Value,
    /// Number of the last event.
    pub seq: u32,
    pub children: Vec<ChildExecution>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ChildExecution {
    pub node_id: String,
    pub attempt: i32,
    pub execution_id: Uuid,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListExecutionEvents {
    pub id: Uuid,
    #[serde(default)]
    pub after: u32,
    /// 1 to 1,000, 200 if absent.
    #[serde(default)]
    pub limit: Option<i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExecutionEvent {
    pub seq: u32,
    pub event: String,
    pub data: Value,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExecutionEvents {
    pub items: Vec<ExecutionEvent>,
    pub last_seq: u32,
    pub status: String,
}

/// A bus operation: what a stream's reader has missed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReplayExecution {
    pub id: Uuid,
    #[serde(default)]
    pub after: u32,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct SubmitInput {
    #[schema(ignore)]
    pub id: Uuid,
    /// May be left out when exactly one node waits.
    #[serde(default)]
    pub node_id: Option<String>,
    pub input: Value,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct RerunExecution {
    #[schema(ignore)]
    pub id: Uuid,
    /// This node and all that follow it run again; what others have put out is kept.
    pub from_node_id: String,
    /// The old one's if absent.
    #[serde(default)]
    pub input: Option<Value>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct ForkExecution {
    #[schema(ignore)]
    pub id: Uuid,
    pub input: Value,
}

/// A value that Http nodes use by name. The value itself is never shown again.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FlowSecret {
    pub name: String,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Clone, Deserialize, ToSchema)]
pub struct PutFlowSecret {
    /// Letters, digits, `_`, `-` and `.`, at most 100.
    pub name: String,
    /// At most 16 KiB.
    pub value: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct DeleteFlowSecret {
    pub name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FlowTrigger {
    pub id: Uuid,
    pub flow_id: Uuid,
    /// `schedule` or `webhook`.
    pub kind: String,
    pub name: String,
    pub cron: Option<String>,
    pub time_zone: Option<String>,
    pub input: Value,
    pub is_active: bool,
    pub next_at: Option<DateTime<Utc>>,
    pub last_at: Option<DateTime<Utc>>,
    pub last_execution_id: Option<Uuid>,
    pub last_error: Option<String>,
    /// Of a webhook: where to send to.
    pub path: Option<String>,
    /// Of a webhook, only when it is made: what calls are signed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListFlowTriggers {
    pub id: Uuid,
    #[serde(default = "default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct CreateFlowTrigger {
    /// The flow.
    #[schema(ignore)]
    pub id: Uuid,
    /// `schedule` or `webhook`.
    pub kind: String,
    #[serde(default)]
    pub name: Option<String>,
    /// Of a schedule: minute, hour, day of month, month, day of week.
    #[serde(default)]
    pub cron: Option<String>,
    /// Of a schedule: an IANA name such as `Europe/Berlin`; UTC if absent.
    #[serde(default)]
    pub time_zone: Option<String>,
    /// What the execution's state begins with; a webhook's body is laid over it.
    #[serde(default)]
    pub input: Option<Value>,
    #[serde(default)]
    pub is_active: Option<bool>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct UpdateFlowTrigger {
    #[schema(ignore)]
    pub id: Uuid,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub cron: Option<String>,
    #[serde(default)]
    pub time_zone: Option<String>,
    #[serde(default)]
    pub input: Option<Value>,
    #[serde(default)]
    pub is_active: Option<bool>,
}

/// A webhook's call as the gateway passes it on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallHook {
    pub id: Uuid,
    pub timestamp: String,
    pub delivery: String,
    pub signature: String,
    /// The body as it was sent.
    pub body: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HookAnswer {
    pub execution_id: Uuid,
    /// True when this delivery was taken before; nothing was started now.
    pub duplicate: bool,
}
