//! Two flows to try: one that runs by itself on what the demo knows, and one with a person in it.

use qadra_api::CreateFlow;
use qadra_types::{Ctx, Fault};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::App;

impl App {
    pub(crate) async fn demo_flows(&self, ctx: &Ctx) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let agents = tx.agent_list(Some(true), 100, 0).await?.0;
        drop(tx);
        let analyst = agents
            .iter()
            .find(|a| a.name == "research-analyst")
            .or(agents.first())
            .map(|a| a.id);
        for flow in flows(analyst) {
            self.flow_create(ctx, flow).await?;
        }
        Ok(())
    }
}

fn flows(analyst: Option<Uuid>) -> Vec<CreateFlow> {
    let brief = graph(
        &[
            (
                "start",
                "Start",
                json!({"label": "Start", "input_schema": {
                "type": "object", "required": ["company"],
                "properties": {"company": {"type": "string", "title": "Company", "default": "Apple"}}}}),
            ),
            (
                "facts",
                "KnowledgeLookup",
                json!({"label": "What we know", "query": "{{company}}", "limit": 10, "output_key": "facts"}),
            ),
            (
                "write",
                "Agent",
                json!({"label": "Write the brief", "agent_id": analyst, "output_key": "brief",
                "prompt_template": "Tell me about {{company}} in three sentences."}),
            ),
            (
                "end",
                "End",
                json!({"label": "End", "output_keys": ["company", "facts", "brief"]}),
            ),
        ],
        &[
            ("start", "facts", None),
            ("facts", "write", None),
            ("write", "end", None),
        ],
    );
    let approval = graph(
        &[
            (
                "start",
                "Start",
                json!({"label": "Start", "input_schema": {
                "type": "object", "required": ["title", "amount"],
                "properties": {"title": {"type": "string", "title": "What for"}, "amount": {"type": "number", "title": "Amount"}}}}),
            ),
            (
                "large",
                "Condition",
                json!({"label": "More than 1,000?", "expression": "amount > 1000"}),
            ),
            (
                "approve",
                "HumanInput",
                json!({"label": "Approve", "output_key": "decision",
                "prompt": "May we spend {{amount}} on {{title}}?",
                "form_schema": {"type": "object", "required": ["approved"], "properties": {
                    "approved": {"type": "boolean", "title": "Approved"}, "note": {"type": "string", "title": "Note"}}}}),
            ),
            (
                "small",
                "Transform",
                json!({"label": "Small enough", "mappings": {"approved": true, "amount": "amount"}, "output_key": "decision"}),
            ),
            (
                "end",
                "End",
                json!({"label": "End", "output_keys": ["title", "amount", "decision"]}),
            ),
        ],
        &[
            ("start", "large", None),
            ("large", "approve", Some("true")),
            ("large", "small", Some("false")),
            ("approve", "end", None),
            ("small", "end", None),
        ],
    );
    let flow = |name: &str, description: &str, data| CreateFlow {
        name: name.into(),
        description: Some(description.into()),
        flow_data: Some(data),
        is_active: None,
    };
    vec![
        flow(
            "Company brief",
            "Looks a company up and has an analyst write about it.",
            brief,
        ),
        flow(
            "Spending approval",
            "Asks a person before more than 1,000 is spent.",
            approval,
        ),
    ]
}

fn graph(nodes: &[(&str, &str, Value)], edges: &[(&str, &str, Option<&str>)]) -> Value {
    let nodes = nodes
        .iter()
        .map(|(id, kind, data)| json!({"id": id, "type": kind, "data": data}));
    let edges = edges.iter().map(|(source, target, handle)| {
        let mut edge =
            json!({"id": format!("e_{source}-{target}"), "source": source, "target": target});
        if let Some(handle) = handle {
            edge["sourceHandle"] = json!(handle);
        }
        edge
    });
    let mut data = json!({
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
        "viewport": {"x": 0, "y": 0, "zoom": 1}
    });
    qadra_flow::ensure_positions(&mut data);
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demos_flows_can_run() {
        for flow in flows(Some(Uuid::from_u128(1))) {
            let found = super::super::check::findings(&flow.flow_data.unwrap());
            assert!(
                found.errors.is_empty() && found.warnings.is_empty(),
                "{}: {found:?}",
                flow.name
            );
        }
    }
}
