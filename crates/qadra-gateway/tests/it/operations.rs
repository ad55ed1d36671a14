//! Every operation of the OpenAPI document with ways to ask it, for tests that try them all.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::TestApp;

/// Needs no credentials: `operationId`s.
pub const PUBLIC: [&str; 6] = [
    "flow_hook",
    "auth_register",
    "auth_login",
    "auth_refresh",
    "auth_logout",
    "meta_get",
];

/// Needs the role admin or owner.
pub const ADMINS: [&str; 13] = [
    "flow_put_secret",
    "flow_delete_secret",
    "document_approve",
    "document_reject",
    "document_retry",
    "document_withdraw",
    "agent_create",
    "agent_update",
    "agent_delete",
    "agent_restore",
    "chat_training_export",
    "knowledge_update_predicate",
    "usage_get",
];

/// Changes accounts or keys, or shows them: needs a key with the scope admin.
pub const ACCOUNT: [&str; 4] = [
    "auth_switch_tenant",
    "api_key_list",
    "api_key_create",
    "api_key_revoke",
];

/// One way to ask an operation. `<kind>` in the path or body stands for an id of that kind.
pub struct Case {
    pub operation: &'static str,
    pub path: &'static str,
    pub body: Option<Value>,
}

pub fn cases() -> Vec<Case> {
    let mut all = vec![];
    let mut case = |operation, path, body: Value| {
        let body = (!body.is_null()).then_some(body);
        all.push(Case {
            operation,
            path,
            body,
        });
    };
    let none = Value::Null;
    case("auth_me", "/api/auth/me", none.clone());
    case(
        "auth_switch_tenant",
        "/api/auth/switch-tenant",
        json!({"tenant_id": "<tenant>"}),
    );
    case("api_key_list", "/api/api-keys?limit=100", none.clone());
    case("api_key_create", "/api/api-keys", json!({"name": "k"}));
    case("api_key_revoke", "/api/api-keys/<api_key>", none.clone());
    case("agent_list", "/api/agents?limit=100", none.clone());
    // The name of another tenant's agent is free here.
    case(
        "agent_create",
        "/api/agents",
        json!({"name": "zebra-agent"}),
    );
    case("agent_presets", "/api/agents/presets", none.clone());
    case("agent_get", "/api/agents/<agent>", none.clone());
    case(
        "agent_update",
        "/api/agents/<agent>",
        json!({"description": "taken over"}),
    );
    case("agent_delete", "/api/agents/<agent>", none.clone());
    case(
        "agent_versions",
        "/api/agents/<agent>/versions",
        none.clone(),
    );
    case(
        "agent_restore",
        "/api/agents/<agent>/versions/1/restore",
        json!({}),
    );
    case("chat_list", "/api/conversations?limit=100", none.clone());
    case(
        "chat_list",
        "/api/conversations?limit=100&shared=true",
        none.clone(),
    );
    case(
        "chat_list",
        "/api/conversations?limit=100&q=zebra",
        none.clone(),
    );
    case(
        "chat_create",
        "/api/conversations",
        json!({"title": "mine"}),
    );
    case(
        "chat_training_export",
        "/api/conversations/training-export",
        none.clone(),
    );
    case(
        "chat_get",
        "/api/conversations/<conversation>",
        none.clone(),
    );
    case("chat_get", "/api/conversations/<shared>", none.clone());
    case(
        "chat_update",
        "/api/conversations/<conversation>",
        json!({"title": "taken over", "is_shared": true}),
    );
    case(
        "chat_delete",
        "/api/conversations/<conversation>",
        none.clone(),
    );
    case(
        "chat_restore",
        "/api/conversations/<deleted>/restore",
        json!({}),
    );
    case(
        "chat_export",
        "/api/conversations/<conversation>/export?format=md",
        none.clone(),
    );
    case(
        "chat_export",
        "/api/conversations/<shared>/export?format=json",
        none.clone(),
    );
    case(
        "chat_list_messages",
        "/api/conversations/<conversation>/messages",
        none.clone(),
    );
    case(
        "chat_rate_message",
        "/api/conversations/<conversation>/messages/<answer>/rate",
        json!({"rating": 1}),
    );
    case(
        "chat_select_branch",
        "/api/conversations/<conversation>/messages/<answer>/select",
        json!({}),
    );
    case(
        "chat_get_turn",
        "/api/conversations/<conversation>/turns/<turn>",
        none.clone(),
    );
    case(
        "chat_turn_events",
        "/api/conversations/<conversation>/turns/<turn>/stream",
        none.clone(),
    );
    case(
        "chat_turn_events",
        "/api/conversations/<busy>/turns/<running>/stream?last_event_id=1",
        none.clone(),
    );
    case(
        "chat_cancel_turn",
        "/api/conversations/<busy>/turns/<running>/cancel",
        json!({}),
    );
    case(
        "knowledge_list_triples",
        "/api/knowledge/triples?limit=100&include_retracted=true",
        none.clone(),
    );
    case(
        "knowledge_list_triples",
        "/api/knowledge/triples?q=zebra",
        none.clone(),
    );
    case(
        "knowledge_create_triples",
        "/api/knowledge/triples",
        json!({"subject": "Zebra Holdings", "predicate": "zebra_rank", "object": 1}),
    );
    case(
        "knowledge_get_triple",
        "/api/knowledge/triples/<triple>",
        none.clone(),
    );
    case(
        "knowledge_retract_triple",
        "/api/knowledge/triples/<triple>",
        none.clone(),
    );
    case(
        "knowledge_list_nodes",
        "/api/knowledge/nodes?limit=100",
        none.clone(),
    );
    case(
        "knowledge_create_node",
        "/api/knowledge/nodes",
        json!({"label": "Zebra Holdings", "aliases": ["ZH"]}),
    );
    case(
        "knowledge_get_node",
        "/api/knowledge/nodes/<node>",
        none.clone(),
    );
    case(
        "knowledge_list_aliases",
        "/api/knowledge/aliases?limit=100",
        none.clone(),
    );
    case(
        "knowledge_create_alias",
        "/api/knowledge/aliases",
        json!({"node": "<node>", "alias": "mine"}),
    );
    case(
        "knowledge_delete_alias",
        "/api/knowledge/aliases/<alias>",
        none.clone(),
    );
    case(
        "knowledge_list_predicates",
        "/api/knowledge/predicates?limit=100",
        none.clone(),
    );
    case(
        "knowledge_update_predicate",
        "/api/knowledge/predicates/<predicate>",
        json!({"functional": true}),
    );
    case(
        "knowledge_update_predicate",
        "/api/knowledge/predicates/<predicate>",
        json!({"inverse_of": "<predicate>"}),
    );
    case(
        "knowledge_update_predicate",
        "/api/knowledge/predicates/<predicate>",
        json!({"exclusive_with": "<predicate>"}),
    );
    case(
        "knowledge_query",
        "/api/knowledge/query",
        json!({"query": "What is the zebra rank of Zebra Holdings?"}),
    );
    case(
        "knowledge_verify",
        "/api/knowledge/verify",
        json!({"text": "The zebra rank of Zebra Holdings is 7.", "query": "What is the zebra rank?"}),
    );
    case(
        "knowledge_update_triple",
        "/api/knowledge/triples/<triple>",
        json!({"confidence": 0.5}),
    );
    case(
        "knowledge_list_contradictions",
        "/api/knowledge/contradictions?limit=100",
        none.clone(),
    );
    case(
        "knowledge_list_contradictions",
        "/api/knowledge/contradictions?node=<node>",
        none.clone(),
    );
    case(
        "knowledge_node_graph",
        "/api/knowledge/nodes/<node>/graph?hops=2",
        none.clone(),
    );
    case(
        "knowledge_list_node_events",
        "/api/knowledge/nodes/<node>/events",
        none.clone(),
    );
    case(
        "knowledge_undo_node_event",
        "/api/knowledge/nodes/<node>/events/<event>/undo",
        json!({}),
    );
    case(
        "knowledge_merge_node",
        "/api/knowledge/nodes/<node>/merge",
        json!({"into": "<node>"}),
    );
    case(
        "knowledge_split_node",
        "/api/knowledge/nodes/<node>/split",
        json!({"label": "another", "triple_ids": ["<triple>"], "alias_ids": ["<alias>"]}),
    );
    case(
        "knowledge_list_merges",
        "/api/knowledge/merges?limit=100",
        none.clone(),
    );
    case(
        "knowledge_reject_merge",
        "/api/knowledge/merges/<pair>/reject",
        json!({}),
    );
    case(
        "knowledge_accept_merge",
        "/api/knowledge/merges/<pair>/accept",
        json!({"keep": "a"}),
    );
    case("ball_list", "/api/knowledge/balls?limit=100", none.clone());
    case(
        "ball_create",
        "/api/knowledge/balls",
        json!({"name": "mine", "centers": ["<node>"]}),
    );
    case("ball_get", "/api/knowledge/balls/<ball>", none.clone());
    case(
        "ball_update",
        "/api/knowledge/balls/<ball>",
        json!({"radius": 2, "centers": ["<node>"]}),
    );
    case(
        "ball_refresh",
        "/api/knowledge/balls/<ball>/refresh",
        json!({}),
    );
    case("ball_delete", "/api/knowledge/balls/<ball>", none.clone());
    case("memory_list", "/api/memory?limit=100", none.clone());
    case(
        "memory_create",
        "/api/memory",
        json!({"agent_id": "<agent>", "key": "k", "note": "mine"}),
    );
    case("memory_get", "/api/memory/<memory>", none.clone());
    case(
        "memory_update",
        "/api/memory/<memory>",
        json!({"note": "taken over"}),
    );
    case("memory_delete", "/api/memory/<memory>", none.clone());
    case("document_list", "/api/documents?limit=100", none.clone());
    case("document_list", "/api/documents?q=zebra", none.clone());
    case(
        "document_propose",
        "/api/documents",
        json!({"title": "Mine", "content": "A plain text."}),
    );
    case(
        "document_search",
        "/api/documents/search?q=zebra",
        none.clone(),
    );
    case("document_get", "/api/documents/<document>", none.clone());
    case(
        "document_update",
        "/api/documents/<document>",
        json!({"title": "taken over"}),
    );
    case(
        "document_text",
        "/api/documents/<document>/text?from=0&to=10",
        none.clone(),
    );
    case(
        "document_file",
        "/api/documents/<document>/file",
        none.clone(),
    );
    case(
        "document_preview",
        "/api/documents/<document>/preview",
        none.clone(),
    );
    case(
        "document_triples",
        "/api/documents/<document>/triples",
        none.clone(),
    );
    case(
        "document_chunks",
        "/api/documents/<document>/chunks",
        none.clone(),
    );
    case(
        "document_watch",
        "/api/documents/<document>/stream",
        none.clone(),
    );
    case(
        "document_approve",
        "/api/documents/<document>/approve",
        json!({"note": "fine"}),
    );
    case(
        "document_reject",
        "/api/documents/<document>/reject",
        json!({"reason": "no"}),
    );
    case(
        "document_retry",
        "/api/documents/<document>/retry",
        json!({}),
    );
    case(
        "document_withdraw",
        "/api/documents/<document>/withdraw",
        json!({}),
    );
    case("document_delete", "/api/documents/<document>", none.clone());
    case(
        "knowledge_list_sources",
        "/api/knowledge/triples/<triple>/sources",
        none.clone(),
    );
    let flow = "/api/flows/<flow>";
    let graph = json!({"nodes": [], "edges": []});
    case("flow_list", "/api/flows?limit=100&q=zebra", none.clone());
    case("flow_catalog", "/api/flows/catalog", none.clone());
    case("flow_create", "/api/flows", json!({"name": "mine"}));
    case(
        "flow_validate",
        "/api/flows/validate",
        json!({"flow_data": graph}),
    );
    case("flow_get", flow, none.clone());
    case("flow_update", flow, json!({"name": "taken over"}));
    case(
        "flow_execute",
        "/api/flows/<flow>/execute",
        json!({"input": {}}),
    );
    case(
        "flow_executions_of",
        "/api/flows/<flow>/executions",
        none.clone(),
    );
    case(
        "flow_list_executions",
        "/api/flows/executions?limit=100",
        none.clone(),
    );
    case(
        "flow_get_execution",
        "/api/flows/executions/<execution>",
        none.clone(),
    );
    case(
        "flow_list_events",
        "/api/flows/executions/<execution>/events",
        none.clone(),
    );
    // One that has ended, whose stream ends.
    case(
        "flow_watch",
        "/api/flows/executions/<ended_execution>/stream",
        none.clone(),
    );
    case(
        "flow_submit_input",
        "/api/flows/executions/<execution>/input",
        json!({"node_id": "ask", "input": {}}),
    );
    case(
        "flow_cancel",
        "/api/flows/executions/<execution>/cancel",
        json!({}),
    );
    case(
        "flow_retry",
        "/api/flows/executions/<execution>/retry",
        json!({}),
    );
    case(
        "flow_rerun",
        "/api/flows/executions/<execution>/rerun",
        json!({"from_node_id": "ask"}),
    );
    case(
        "flow_fork",
        "/api/flows/executions/<execution>/fork",
        json!({"input": {}}),
    );
    case(
        "flow_list_secrets",
        "/api/flows/secrets?limit=100",
        none.clone(),
    );
    case(
        "flow_put_secret",
        "/api/flows/secrets",
        json!({"name": "mine", "value": "x"}),
    );
    case(
        "flow_delete_secret",
        "/api/flows/secrets/zebra",
        none.clone(),
    );
    case(
        "flow_list_triggers",
        "/api/flows/<flow>/triggers",
        none.clone(),
    );
    case(
        "flow_create_trigger",
        "/api/flows/<flow>/triggers",
        json!({"kind": "schedule", "cron": "0 0 1 1 *"}),
    );
    case(
        "flow_update_trigger",
        "/api/flows/triggers/<trigger>",
        json!({"is_active": false}),
    );
    case(
        "flow_delete_trigger",
        "/api/flows/triggers/<trigger>",
        none.clone(),
    );
    case("flow_delete", flow, none.clone());
    case("usage_get", "/api/usage", none);
    let say = json!({"agent_id": "<agent>", "content": "hello"});
    case(
        "chat_send_message",
        "/api/conversations/<conversation>/messages",
        say.clone(),
    );
    case(
        "chat_send_message_stream",
        "/api/conversations/<conversation>/messages/stream",
        say.clone(),
    );
    case(
        "chat_edit_message",
        "/api/conversations/<conversation>/messages/<question>/edit",
        say.clone(),
    );
    case(
        "chat_edit_message_stream",
        "/api/conversations/<conversation>/messages/<question>/edit/stream",
        say.clone(),
    );
    let again = json!({"agent_id": "<agent>"});
    case(
        "chat_regenerate_message",
        "/api/conversations/<conversation>/messages/<answer>/regenerate",
        again.clone(),
    );
    case(
        "chat_regenerate_message_stream",
        "/api/conversations/<conversation>/messages/<answer>/regenerate/stream",
        again,
    );
    all
}

/// Method and document of every operation, by `operationId`.
pub async fn document(app: &TestApp) -> BTreeMap<String, (String, Value)> {
    let document = app.stranger().get("/api/openapi.json").await.json(200);
    let mut found = BTreeMap::new();
    for methods in document["paths"].as_object().expect("paths").values() {
        for (method, operation) in methods.as_object().expect("methods") {
            let name = operation["operationId"]
                .as_str()
                .expect("an operationId")
                .to_owned();
            found.insert(name, (method.to_uppercase(), operation.clone()));
        }
    }
    found
}
