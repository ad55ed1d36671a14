//! The entries. A field that takes templates says so in its description; `"format": "template"` marks it for the editor.

use serde_json::{Map, Value, json};

use super::{Effect, Handle, NodeSpec};
use crate::NodeKind;

pub(super) fn spec(kind: NodeKind) -> NodeSpec {
    let own = own(kind);
    let mut outputs: Vec<Handle> = own.outputs.to_vec();
    let effect = effect(kind);
    // Whatever can fail may say where to go then.
    if effect == Effect::Outside || matches!(kind, NodeKind::Loop | NodeKind::HumanInput) {
        outputs.push(Handle {
            handle: Some("error"),
            label: "Error",
        });
    }
    NodeSpec {
        kind,
        type_name: kind.name(),
        label: own.label,
        description: own.description,
        category: own.category,
        effect,
        inputs: if kind == NodeKind::Start {
            vec![]
        } else {
            vec![PLAIN]
        },
        outputs,
        schema: schema(kind, own.required, own.fields),
        example: own.example,
        notes: own.notes,
    }
}

struct Own {
    label: &'static str,
    description: &'static str,
    category: &'static str,
    outputs: &'static [Handle],
    required: &'static [&'static str],
    fields: Value,
    example: Value,
    notes: &'static str,
}

const PLAIN: Handle = Handle {
    handle: None,
    label: "Next",
};
const ONE_WAY: &[Handle] = &[PLAIN];
const TWO_WAYS: &[Handle] = &[
    Handle {
        handle: Some("true"),
        label: "True",
    },
    Handle {
        handle: Some("false"),
        label: "False",
    },
];
const LOOP_WAYS: &[Handle] = &[
    Handle {
        handle: Some("body"),
        label: "Each item",
    },
    Handle {
        handle: Some("done"),
        label: "Done",
    },
];

fn effect(kind: NodeKind) -> Effect {
    match kind {
        NodeKind::Start
        | NodeKind::End
        | NodeKind::Condition
        | NodeKind::Transform
        | NodeKind::Loop => Effect::Pure,
        NodeKind::Delay | NodeKind::HumanInput => Effect::Waits,
        _ => Effect::Outside,
    }
}

/// The kind's own fields, and those that every node has.
fn schema(kind: NodeKind, required: &[&str], fields: Value) -> Value {
    let mut properties: Map<String, Value> = fields.as_object().cloned().unwrap_or_default();
    let mut add = |name: &str, field: Value| {
        properties.entry(name.to_owned()).or_insert(field);
    };
    add(
        "label",
        json!({"type": "string", "maxLength": 200, "description": "What the canvas shows."}),
    );
    if !matches!(kind, NodeKind::Start | NodeKind::End | NodeKind::Extract) {
        add(
            "output_key",
            json!({"type": "string", "maxLength": 100, "description": "The name under which later nodes find the output."}),
        );
    }
    if effect(kind) == Effect::Outside {
        add(
            "timeout_seconds",
            json!({"type": "integer", "minimum": 1, "maximum": 3600, "description": "Longest time for one attempt, in seconds."}),
        );
        add(
            "retries",
            json!({"type": "integer", "minimum": 0, "maximum": 20, "description": "Attempts after the first, with pauses of 1 s, 2 s, 4 s and so on."}),
        );
    }
    if effect(kind) != Effect::Pure || kind == NodeKind::Loop {
        add(
            "on_error",
            json!({"enum": ["fail", "continue", "branch"], "description": "fail ends the run (or the item of a Loop), continue goes on with {\"error\": …} as output, branch takes the edge from the handle error."}),
        );
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn template(description: &str) -> Value {
    json!({"type": "string", "format": "template", "description": format!("{description} May hold {{{{key}}}} templates.")})
}

fn own(kind: NodeKind) -> Own {
    match kind {
        NodeKind::Start => Own {
            label: "Start",
            description: "Where a run begins: its input becomes the state.",
            category: "flow",
            outputs: ONE_WAY,
            required: &[],
            fields: json!({"input_schema": {"type": "object", "description": "JSON Schema of the input; a run with other input is refused."}}),
            example: json!({"label": "Start", "input_schema": {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]}}),
            notes: "Exactly one. The keys of the input are the first values of the state.",
        },
        NodeKind::End => Own {
            label: "End",
            description: "Where a run ends; collects its output.",
            category: "flow",
            outputs: &[],
            required: &[],
            fields: json!({"output_keys": {"type": "array", "items": {"type": "string"}, "description": "Which values of the state the output has; all of them if empty."}}),
            example: json!({"label": "End", "output_keys": ["answer"]}),
            notes: "At least one. The run is over when nothing is left to do.",
        },
        NodeKind::Agent => Own {
            label: "Agent",
            description: "Asks an agent: its persona, your prompt, and what earlier nodes found.",
            category: "ai",
            outputs: ONE_WAY,
            required: &["agent_id", "prompt_template"],
            fields: json!({
                "agent_id": text("Which agent."),
                "prompt_template": template("What it is asked."),
                "temperature": {"type": "number", "minimum": 0, "maximum": 2, "description": "How freely it speaks; the agent's own, or 0.7."},
                "max_tokens": {"type": "integer", "minimum": 1, "maximum": 200000, "description": "Longest answer, in tokens; 4096 if absent."},
            }),
            example: json!({"label": "Summarise", "agent_id": "00000000-0000-0000-0000-000000000000", "prompt_template": "Summarise: {{question}}", "output_key": "summary"}),
            notes: "The output is {response, model, tokens}; use {{summary.response}} later.",
        },
        NodeKind::Condition => Own {
            label: "Condition",
            description: "Takes one of two ways.",
            category: "flow",
            outputs: TWO_WAYS,
            required: &["expression"],
            fields: json!({"expression": {"type": "string", "maxLength": 2000, "format": "expression", "description": "Such as status == approved, score >= 5 and not urgent, tags contains legal."}}),
            example: json!({"label": "Approved?", "expression": "review.approved == true"}),
            notes: "Every edge from it has the sourceHandle true or false. What only the other way reaches is skipped.",
        },
        NodeKind::HumanInput => Own {
            label: "Human input",
            description: "Waits for a person.",
            category: "people",
            outputs: ONE_WAY,
            required: &["prompt"],
            fields: json!({
                "prompt": template("What the person is asked."),
                "form_schema": {"type": "object", "description": "JSON Schema of the answer; the form is made from it."},
                "assignee": template("Who is asked: a member's e-mail or id."),
                "deadline_seconds": {"type": ["number", "string"], "minimum": 1, "format": "template", "description": "How long the person has, in seconds."},
                "default": {"description": "The answer when the time is up; without one the node fails then."},
            }),
            example: json!({"label": "Approve", "prompt": "Send this to the client? {{draft.response}}", "form_schema": {"type": "object", "properties": {"approved": {"type": "boolean"}, "comment": {"type": "string"}}, "required": ["approved"]}, "output_key": "review"}),
            notes: "Several may wait at once. The output is the answer.",
        },
        NodeKind::Loop => Own {
            label: "Loop",
            description: "Does the same for each item of a list.",
            category: "flow",
            outputs: LOOP_WAYS,
            required: &["collection_key"],
            fields: json!({
                "collection_key": text("The list: a path into the state, such as orders or page.items."),
                "max_iterations": {"type": ["integer", "string"], "minimum": 1, "format": "template", "description": "Items at most; 100 if absent."},
                "item_key": {"type": "string", "maxLength": 100, "description": "The name of the item inside the body; item if absent. Its number is index."},
                "parallel": {"type": ["boolean", "integer"], "description": "true or a number: that many items at once; in order if absent."},
            }),
            example: json!({"label": "Each order", "collection_key": "orders", "max_iterations": 50, "output_key": "handled"}),
            notes: "The body hangs on the handle body, what follows on done. The output is {iterations, results, errors}. Without a body the items are passed on.",
        },
        NodeKind::Http => Own {
            label: "HTTP request",
            description: "Calls a web address.",
            category: "outside",
            outputs: ONE_WAY,
            required: &["url"],
            fields: json!({
                "method": {"enum": ["GET", "POST", "PUT", "PATCH", "DELETE"], "description": "GET if absent."},
                "url": template("The address."),
                "headers": {"type": "object", "format": "template", "description": "Names and values. May hold {{key}} templates."},
                "query": {"type": "object", "format": "template", "description": "Parameters of the address. May hold {{key}} templates."},
                "body": {"format": "template", "description": "JSON or text. May hold {{key}} templates."},
                "secrets": {"type": "array", "items": {"type": "string"}, "description": "Names of secrets that {{secret.NAME}} may stand for."},
                "fail_on_status": {"type": "boolean", "description": "true: every status from 400 is a failure; false: none is. If absent, 429 and those from 500 are."},
            }),
            example: json!({"label": "Look up", "method": "GET", "url": "https://api.example.com/orders/{{order_id}}", "retries": 2, "output_key": "order"}),
            notes: "The output is {status, body}. Internal addresses are refused unless the operator allows them. Each try has the same Idempotency-Key.",
        },
        NodeKind::ExecuteFlow => Own {
            label: "Run a flow",
            description: "Runs another flow and takes its output.",
            category: "flow",
            outputs: ONE_WAY,
            required: &["target_flow_id"],
            fields: json!({
                "target_flow_id": template("Which flow."),
                "input_mapping": {"type": "object", "description": "Its input: each value names a value of the state, or is one; all of the state if absent."},
            }),
            example: json!({"label": "Check credit", "target_flow_id": "00000000-0000-0000-0000-000000000000", "input_mapping": {"company": "company_name"}, "output_key": "credit"}),
            notes: "The output is what the other flow's End collects. Eight levels deep at most.",
        },
        NodeKind::Transform => Own {
            label: "Transform",
            description: "Makes an object out of values of the state.",
            category: "data",
            outputs: ONE_WAY,
            required: &["mappings"],
            fields: json!({"mappings": {"type": "object", "description": "Each text names a value of the state (or holds templates); anything else is itself."}}),
            example: json!({"label": "Shape", "mappings": {"company": "company_name", "ready": true}, "output_key": "shaped"}),
            notes: "A name that is not there gives null.",
        },
        NodeKind::Delay => Own {
            label: "Delay",
            description: "Waits for some time.",
            category: "flow",
            outputs: ONE_WAY,
            required: &["duration_seconds"],
            fields: json!({"duration_seconds": {"type": ["number", "string"], "minimum": 0, "format": "template", "description": "How long, in seconds; 300 at most."}}),
            example: json!({"label": "Wait a minute", "duration_seconds": 60}),
            notes: "Survives restarts. The output is {delayed_seconds}.",
        },
        NodeKind::KnowledgeLookup => Own {
            label: "Knowledge",
            description: "Looks up facts in the knowledge graph.",
            category: "data",
            outputs: ONE_WAY,
            required: &["query"],
            fields: json!({
                "query": template("What to look for."),
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Facts at most; 20 if absent."},
            }),
            example: json!({"label": "What we know", "query": "{{company}}", "limit": 10, "output_key": "facts"}),
            notes: "The output is {query, source, limit, results: [{subject, predicate, object, confidence, source}]}.",
        },
        NodeKind::Research => Own {
            label: "Research",
            description: "Looks outside: a search service, read by the model.",
            category: "ai",
            outputs: ONE_WAY,
            required: &["query"],
            fields: json!({"query": template("What to find out.")}),
            example: json!({"label": "Market", "query": "market size of {{industry}}", "output_key": "research"}),
            notes: "The output is {query, findings, model, source}. Without a search service the model answers from what it knows, and says so.",
        },
        NodeKind::Artifact => Own {
            label: "Artifact",
            description: "Produces a document.",
            category: "ai",
            outputs: ONE_WAY,
            required: &["artifact_name"],
            fields: json!({
                "artifact_name": template("What it is called."),
                "artifact_type": text("document, memo, report, analysis or another word."),
                "template_id": text("The template that says which sections it has."),
                "template": {"type": "object", "description": "Sections given here: {sections: [{name, description, required}], output_format}."},
                "content_key": text("The value of the state to use; without a template it is taken as it is."),
            }),
            example: json!({"label": "Memo", "artifact_name": "Memo on {{company}}", "artifact_type": "memo", "content_key": "summary", "output_key": "memo"}),
            notes: "The output is {artifact_name, template_id, artifact_type, output_format, content}.",
        },
        NodeKind::Extract => Own {
            label: "Extract",
            description: "Reads named values out of a text.",
            category: "ai",
            outputs: ONE_WAY,
            required: &["input_key", "variables"],
            fields: json!({
                "input_key": text("The text: a path into the state."),
                "variables": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"type": ["string", "object"]}, "description": "Names, or {name, description, type}."},
            }),
            example: json!({"label": "Read the request", "input_key": "user_message", "variables": ["company", {"name": "budget", "type": "number", "description": "in dollars"}]}),
            notes: "Each variable becomes a value of the state by its own name; what is not found is null.",
        },
    }
}
