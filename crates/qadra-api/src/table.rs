//! The table itself. It grows by one entry per operation; `docs/adding-an-endpoint.md` has the steps.

use qadra_types::{Role, Scope};
use utoipa::ToSchema;

use crate::operation::Type;
use crate::*;

/// A page of `T`, under a name of its own: the generic one would be the same for every list.
fn page_of<T: ToSchema>() -> Option<Type> {
    fn name<T: ToSchema>() -> std::borrow::Cow<'static, str> {
        format!("{}List", T::name()).into()
    }
    Some(Type {
        name: name::<T>,
        schema: <Items<T> as utoipa::PartialSchema>::schema,
        nested: |found| {
            found.push((T::name().into_owned(), T::schema()));
            T::schemas(found);
        },
    })
}

fn of<T: ToSchema>() -> Option<Type> {
    Some(Type {
        name: T::name,
        schema: T::schema,
        nested: T::schemas,
    })
}

const LIMIT: Param = Param {
    name: "limit",
    kind: ParamKind::Integer,
    about: "1 to 100, 20 if absent",
};
const OFFSET: Param = Param {
    name: "offset",
    kind: ParamKind::Integer,
    about: "how many to skip",
};
const fn text(name: &'static str, about: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Text,
        about,
    }
}
const fn integer(name: &'static str, about: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Integer,
        about,
    }
}
const fn flag(name: &'static str, about: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Boolean,
        about,
    }
}

const READ: Access = Access::Member(Role::User, Scope::Read);
const WRITE: Access = Access::Member(Role::User, Scope::Write);
const ACCOUNT: Access = Access::Member(Role::User, Scope::Admin);
const MANAGE: Access = Access::Member(Role::Admin, Scope::Write);
const OVERSEE: Access = Access::Member(Role::Admin, Scope::Read);

fn get(
    path: &'static str,
    entity: &'static str,
    op: &'static str,
    summary: &'static str,
) -> Operation {
    Operation {
        method: Method::Get,
        path,
        entity,
        op,
        summary,
        access: READ,
        kind: Kind::Json,
        success: 200,
        query: vec![],
        body: None,
        reply: None,
    }
}

fn post(
    path: &'static str,
    entity: &'static str,
    op: &'static str,
    summary: &'static str,
) -> Operation {
    Operation {
        method: Method::Post,
        access: WRITE,
        ..get(path, entity, op, summary)
    }
}

fn change(
    path: &'static str,
    entity: &'static str,
    op: &'static str,
    summary: &'static str,
) -> Operation {
    Operation {
        method: Method::Patch,
        access: WRITE,
        ..get(path, entity, op, summary)
    }
}

fn delete(
    path: &'static str,
    entity: &'static str,
    op: &'static str,
    summary: &'static str,
) -> Operation {
    Operation {
        method: Method::Delete,
        access: WRITE,
        success: 204,
        ..get(path, entity, op, summary)
    }
}

/// Every operation, in the order of the documentation.
pub fn operations() -> Vec<Operation> {
    use Access::Public;
    use qadra_types as t;
    let mut all = vec![
        // Accounts
        Operation {
            access: Public,
            success: 201,
            body: of::<Register>(),
            reply: of::<Session>(),
            ..post(
                "/api/auth/register",
                "auth",
                "register",
                "Make an account with a tenant of its own",
            )
        },
        Operation {
            access: Public,
            body: of::<Login>(),
            reply: of::<Session>(),
            ..post("/api/auth/login", "auth", "login", "Sign in")
        },
        Operation {
            access: Public,
            body: of::<Refresh>(),
            reply: of::<Session>(),
            ..post(
                "/api/auth/refresh",
                "auth",
                "refresh",
                "Exchange a refresh token for a new session",
            )
        },
        Operation {
            access: Public,
            success: 204,
            body: of::<Refresh>(),
            ..post(
                "/api/auth/logout",
                "auth",
                "logout",
                "End the session of a refresh token",
            )
        },
        Operation {
            reply: of::<Me>(),
            ..get("/api/auth/me", "auth", "me", "Who am I")
        },
        Operation {
            access: ACCOUNT,
            body: of::<SwitchTenant>(),
            reply: of::<Session>(),
            ..post(
                "/api/auth/switch-tenant",
                "auth",
                "switch_tenant",
                "Open another of my tenants",
            )
        },
        Operation {
            access: ACCOUNT,
            query: vec![LIMIT, OFFSET],
            reply: page_of::<t::ApiKey>(),
            ..get(
                "/api/api-keys",
                "api_key",
                "list",
                "List API keys: mine, or the tenant's for an admin",
            )
        },
        Operation {
            access: ACCOUNT,
            success: 201,
            body: of::<CreateApiKey>(),
            reply: of::<CreatedApiKey>(),
            ..post(
                "/api/api-keys",
                "api_key",
                "create",
                "Make an API key; it is shown only now",
            )
        },
        Operation {
            access: ACCOUNT,
            ..delete(
                "/api/api-keys/{id}",
                "api_key",
                "revoke",
                "Revoke an API key",
            )
        },
        // Agents
        Operation {
            query: vec![
                LIMIT,
                OFFSET,
                flag("is_active", "only active or only inactive ones"),
            ],
            reply: page_of::<t::Agent>(),
            ..get("/api/agents", "agent", "list", "List agents, newest first")
        },
        Operation {
            access: MANAGE,
            success: 201,
            body: of::<CreateAgent>(),
            reply: of::<t::Agent>(),
            ..post("/api/agents", "agent", "create", "Make an agent")
        },
        Operation {
            reply: of::<AgentPresets>(),
            ..get(
                "/api/agents/presets",
                "agent",
                "presets",
                "Ready-made personas",
            )
        },
        Operation {
            reply: of::<t::Agent>(),
            ..get("/api/agents/{id}", "agent", "get", "Read an agent")
        },
        Operation {
            access: MANAGE,
            body: of::<UpdateAgent>(),
            reply: of::<t::Agent>(),
            ..change(
                "/api/agents/{id}",
                "agent",
                "update",
                "Change an agent; a new prompt, model or temperature is a new version",
            )
        },
        Operation {
            access: MANAGE,
            ..delete(
                "/api/agents/{id}",
                "agent",
                "delete",
                "Delete an agent; what it said stays",
            )
        },
        Operation {
            reply: of::<AgentVersions>(),
            ..get(
                "/api/agents/{id}/versions",
                "agent",
                "versions",
                "Published versions",
            )
        },
        Operation {
            access: MANAGE,
            reply: of::<t::Agent>(),
            ..post(
                "/api/agents/{id}/versions/{version}/restore",
                "agent",
                "restore",
                "Publish an old version again, as a new one",
            )
        },
        // Conversations
        Operation {
            query: vec![
                LIMIT,
                OFFSET,
                text("q", "words in titles and messages"),
                flag("archived", "only archived or only others"),
                flag("shared", "those that others shared"),
            ],
            reply: page_of::<t::ConversationSummary>(),
            ..get(
                "/api/conversations",
                "chat",
                "list",
                "List my conversations, newest activity first",
            )
        },
        Operation {
            success: 201,
            body: of::<CreateConversation>(),
            reply: of::<t::Conversation>(),
            ..post(
                "/api/conversations",
                "chat",
                "create",
                "Start a conversation",
            )
        },
        Operation {
            access: OVERSEE,
            kind: Kind::Download,
            query: vec![text("rating", "`up` or `down`")],
            ..get(
                "/api/conversations/training-export",
                "chat",
                "training_export",
                "Rated answers as JSONL",
            )
        },
        Operation {
            reply: of::<t::Conversation>(),
            ..get(
                "/api/conversations/{id}",
                "chat",
                "get",
                "Read a conversation",
            )
        },
        Operation {
            body: of::<UpdateConversation>(),
            reply: of::<t::Conversation>(),
            ..change(
                "/api/conversations/{id}",
                "chat",
                "update",
                "Rename, archive or share",
            )
        },
        delete(
            "/api/conversations/{id}",
            "chat",
            "delete",
            "Delete a conversation (it can be restored)",
        ),
        Operation {
            reply: of::<t::Conversation>(),
            ..post(
                "/api/conversations/{id}/restore",
                "chat",
                "restore",
                "Bring a deleted conversation back",
            )
        },
        Operation {
            kind: Kind::Download,
            query: vec![text("format", "`md` or `json`")],
            ..get(
                "/api/conversations/{id}/export",
                "chat",
                "export",
                "The thread as a file",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET, text("order", "`asc` or `desc`")],
            reply: page_of::<t::Message>(),
            ..get(
                "/api/conversations/{conversation_id}/messages",
                "chat",
                "list_messages",
                "Messages of the active branch",
            )
        },
        Operation {
            body: of::<RateMessage>(),
            reply: of::<t::Message>(),
            ..post(
                "/api/conversations/{conversation_id}/messages/{message_id}/rate",
                "chat",
                "rate_message",
                "Rate an answer",
            )
        },
        Operation {
            reply: of::<t::Conversation>(),
            ..post(
                "/api/conversations/{conversation_id}/messages/{message_id}/select",
                "chat",
                "select_branch",
                "Show the branch that holds a message",
            )
        },
        Operation {
            reply: of::<t::Turn>(),
            ..get(
                "/api/conversations/{conversation_id}/turns/{turn_id}",
                "chat",
                "get_turn",
                "How a turn stands",
            )
        },
        Operation {
            kind: Kind::AttachStream,
            query: vec![text("last_event_id", "as the header Last-Event-ID")],
            ..get(
                "/api/conversations/{conversation_id}/turns/{turn_id}/stream",
                "chat",
                "turn_events",
                "Follow a turn from where one left off",
            )
        },
        Operation {
            success: 202,
            reply: of::<t::Turn>(),
            ..post(
                "/api/conversations/{conversation_id}/turns/{turn_id}/cancel",
                "chat",
                "cancel_turn",
                "Stop a turn; what was said is kept",
            )
        },
        // Knowledge
        Operation {
            query: vec![
                LIMIT,
                OFFSET,
                text("subject", ""),
                text("predicate", ""),
                text("object", ""),
                text("q", "words in any of the three"),
                flag("include_retracted", ""),
            ],
            reply: page_of::<Triple>(),
            ..get(
                "/api/knowledge/triples",
                "knowledge",
                "list_triples",
                "List statements, newest first",
            )
        },
        Operation {
            success: 201,
            body: of::<CreateTriple>(),
            reply: of::<Triple>(),
            ..post(
                "/api/knowledge/triples",
                "knowledge",
                "create_triples",
                "Add one statement, or an array of up to 1,000 (answered with `items`)",
            )
        },
        Operation {
            reply: of::<Triple>(),
            ..get(
                "/api/knowledge/triples/{id}",
                "knowledge",
                "get_triple",
                "Read a statement",
            )
        },
        delete(
            "/api/knowledge/triples/{id}",
            "knowledge",
            "retract_triple",
            "Retract a statement; its history stays",
        ),
        Operation {
            query: vec![LIMIT, OFFSET, text("q", "words in label or alias")],
            reply: page_of::<Node>(),
            ..get(
                "/api/knowledge/nodes",
                "knowledge",
                "list_nodes",
                "List nodes by label",
            )
        },
        Operation {
            success: 201,
            body: of::<CreateNode>(),
            reply: of::<Node>(),
            ..post(
                "/api/knowledge/nodes",
                "knowledge",
                "create_node",
                "Add a node with aliases",
            )
        },
        Operation {
            reply: of::<NodeDetail>(),
            ..get(
                "/api/knowledge/nodes/{id}",
                "knowledge",
                "get_node",
                "A node and the statements about it",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: page_of::<Alias>(),
            ..get(
                "/api/knowledge/aliases",
                "knowledge",
                "list_aliases",
                "List aliases",
            )
        },
        Operation {
            success: 201,
            body: of::<CreateAlias>(),
            reply: of::<Alias>(),
            ..post(
                "/api/knowledge/aliases",
                "knowledge",
                "create_alias",
                "Give a node another name",
            )
        },
        delete(
            "/api/knowledge/aliases/{id}",
            "knowledge",
            "delete_alias",
            "Remove an alias",
        ),
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: page_of::<Predicate>(),
            ..get(
                "/api/knowledge/predicates",
                "knowledge",
                "list_predicates",
                "List predicates",
            )
        },
        Operation {
            access: MANAGE,
            body: of::<UpdatePredicate>(),
            reply: of::<Predicate>(),
            ..change(
                "/api/knowledge/predicates/{id}",
                "knowledge",
                "update_predicate",
                "Say how a predicate behaves",
            )
        },
        Operation {
            access: READ,
            body: of::<KnowledgeQuery>(),
            reply: of::<Grounding>(),
            ..post(
                "/api/knowledge/query",
                "knowledge",
                "query",
                "What the graph says to a question",
            )
        },
        // Documents
        Operation {
            query: vec![
                text("status", "only documents in this state"),
                text("q", "words in title, file name or address"),
                LIMIT,
                OFFSET,
            ],
            reply: page_of::<Document>(),
            ..get(
                "/api/documents",
                "document",
                "list",
                "List documents, newest first",
            )
        },
        Operation {
            kind: Kind::Upload,
            success: 201,
            body: of::<ProposeDocument>(),
            reply: of::<Document>(),
            ..post(
                "/api/documents",
                "document",
                "propose",
                "Propose a document; it enters once a person approves it",
            )
        },
        Operation {
            query: vec![text("q", "words to find, as in a web search"), LIMIT],
            reply: page_of::<DocumentHit>(),
            ..get(
                "/api/documents/search",
                "document",
                "search",
                "Find passages of approved documents",
            )
        },
        Operation {
            reply: of::<DocumentDetail>(),
            ..get(
                "/api/documents/{id}",
                "document",
                "get",
                "A document with its text",
            )
        },
        Operation {
            body: of::<UpdateDocument>(),
            reply: of::<Document>(),
            ..change(
                "/api/documents/{id}",
                "document",
                "update",
                "Change a document's title or address",
            )
        },
        delete(
            "/api/documents/{id}",
            "document",
            "delete",
            "Withdraw a document and remove it",
        ),
        Operation {
            query: vec![
                integer("from", "first character, counted in code points from 0"),
                integer("to", "one past the last; at most 100,000 after `from`"),
            ],
            reply: of::<DocumentText>(),
            ..get(
                "/api/documents/{id}/text",
                "document",
                "text",
                "A part of a document's text",
            )
        },
        Operation {
            kind: Kind::File,
            reply: of::<FileRef>(),
            ..get(
                "/api/documents/{id}/file",
                "document",
                "file",
                "A document as it was given",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: of::<DocumentPreview>(),
            ..get(
                "/api/documents/{id}/preview",
                "document",
                "preview",
                "What approval would add, conflicts first",
            )
        },
        Operation {
            access: MANAGE,
            success: 202,
            body: of::<ApproveDocument>(),
            reply: of::<Document>(),
            ..post(
                "/api/documents/{id}/approve",
                "document",
                "approve",
                "Let a document in",
            )
        },
        Operation {
            access: MANAGE,
            body: of::<RejectDocument>(),
            reply: of::<Document>(),
            ..post(
                "/api/documents/{id}/reject",
                "document",
                "reject",
                "Refuse a document",
            )
        },
        Operation {
            access: MANAGE,
            success: 202,
            reply: of::<Document>(),
            ..post(
                "/api/documents/{id}/retry",
                "document",
                "retry",
                "Process a failed document again",
            )
        },
        Operation {
            access: MANAGE,
            body: of::<WithdrawDocument>(),
            reply: of::<Document>(),
            ..post(
                "/api/documents/{id}/withdraw",
                "document",
                "withdraw",
                "Take back a document and what only it says",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: page_of::<DocumentTriple>(),
            ..get(
                "/api/documents/{id}/triples",
                "document",
                "triples",
                "The statements a document carries",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: page_of::<DocumentChunk>(),
            ..get(
                "/api/documents/{id}/chunks",
                "document",
                "chunks",
                "The passages of a document",
            )
        },
        Operation {
            kind: Kind::DocumentStream,
            reply: of::<DocumentState>(),
            ..get(
                "/api/documents/{id}/stream",
                "document",
                "watch",
                "Follow a document until its state is final",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: page_of::<TripleSource>(),
            ..get(
                "/api/knowledge/triples/{id}/sources",
                "knowledge",
                "list_sources",
                "The sentences a statement stands on",
            )
        },
        Operation {
            access: READ,
            body: of::<VerifyText>(),
            reply: of::<Verification>(),
            ..post(
                "/api/knowledge/verify",
                "knowledge",
                "verify",
                "What the graph says to each claim of a text",
            )
        },
        Operation {
            body: of::<UpdateTriple>(),
            reply: of::<Triple>(),
            ..change(
                "/api/knowledge/triples/{id}",
                "knowledge",
                "update_triple",
                "Qualify a statement: its time, confidence, kind",
            )
        },
        Operation {
            query: vec![
                LIMIT,
                OFFSET,
                text("node", "id of a node; the whole graph if absent"),
            ],
            reply: page_of::<TriplePair>(),
            ..get(
                "/api/knowledge/contradictions",
                "knowledge",
                "list_contradictions",
                "List statements that contradict each other",
            )
        },
        Operation {
            query: vec![
                Param {
                    name: "hops",
                    kind: ParamKind::Integer,
                    about: "1 or 2, 1 if absent",
                },
                Param {
                    name: "limit",
                    kind: ParamKind::Integer,
                    about: "statements, 1 to 5,000, 500 if absent",
                },
                text("curvature", "balanced (if absent) or augmented"),
            ],
            reply: of::<Graph>(),
            ..get(
                "/api/knowledge/nodes/{id}/graph",
                "knowledge",
                "node_graph",
                "The neighbourhood of a node",
            )
        },
        Operation {
            body: of::<MergeNode>(),
            reply: of::<Node>(),
            ..post(
                "/api/knowledge/nodes/{id}/merge",
                "knowledge",
                "merge_node",
                "Make a node part of another",
            )
        },
        Operation {
            success: 201,
            body: of::<SplitNode>(),
            reply: of::<Node>(),
            ..post(
                "/api/knowledge/nodes/{id}/split",
                "knowledge",
                "split_node",
                "Make a node of its own from some statements of a node",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: page_of::<NodeEvent>(),
            ..get(
                "/api/knowledge/nodes/{id}/events",
                "knowledge",
                "list_node_events",
                "Merges and splits of a node, newest first",
            )
        },
        Operation {
            reply: of::<Node>(),
            ..post(
                "/api/knowledge/nodes/{id}/events/{event_id}/undo",
                "knowledge",
                "undo_node_event",
                "Undo a merge or a split",
            )
        },
        Operation {
            query: vec![
                LIMIT,
                OFFSET,
                text("status", "pending (if absent), accepted or rejected"),
            ],
            reply: page_of::<Merge>(),
            ..get(
                "/api/knowledge/merges",
                "knowledge",
                "list_merges",
                "List pairs of nodes that may be one, the likeliest first",
            )
        },
        Operation {
            body: of::<AcceptMerge>(),
            reply: of::<Node>(),
            ..post(
                "/api/knowledge/merges/{id}/accept",
                "knowledge",
                "accept_merge",
                "They are one: merge them",
            )
        },
        Operation {
            reply: of::<Merge>(),
            ..post(
                "/api/knowledge/merges/{id}/reject",
                "knowledge",
                "reject_merge",
                "They are two; not asked again",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: page_of::<Ball>(),
            ..get(
                "/api/knowledge/balls",
                "ball",
                "list",
                "List saved neighbourhoods by name",
            )
        },
        Operation {
            success: 201,
            body: of::<CreateBall>(),
            reply: of::<Ball>(),
            ..post(
                "/api/knowledge/balls",
                "ball",
                "create",
                "Save the neighbourhood of some nodes",
            )
        },
        Operation {
            reply: of::<BallDetail>(),
            ..get(
                "/api/knowledge/balls/{id}",
                "ball",
                "get",
                "A saved neighbourhood with its nodes and statements",
            )
        },
        Operation {
            body: of::<UpdateBall>(),
            reply: of::<Ball>(),
            ..change(
                "/api/knowledge/balls/{id}",
                "ball",
                "update",
                "Change a saved neighbourhood",
            )
        },
        delete(
            "/api/knowledge/balls/{id}",
            "ball",
            "delete",
            "Delete a saved neighbourhood",
        ),
        Operation {
            reply: of::<Ball>(),
            ..post(
                "/api/knowledge/balls/{id}/refresh",
                "ball",
                "refresh",
                "Look again what a saved neighbourhood holds",
            )
        },
        // Memory
        Operation {
            query: vec![
                LIMIT,
                OFFSET,
                text("agent_id", "of this agent only"),
                text("q", "words in key, value or note"),
            ],
            reply: page_of::<Memory>(),
            ..get(
                "/api/memory",
                "memory",
                "list",
                "List what is remembered, the last changed first",
            )
        },
        Operation {
            success: 201,
            body: of::<CreateMemory>(),
            reply: of::<Memory>(),
            ..post(
                "/api/memory",
                "memory",
                "create",
                "Remember something; the same key replaces",
            )
        },
        Operation {
            reply: of::<Memory>(),
            ..get("/api/memory/{id}", "memory", "get", "Read an entry")
        },
        Operation {
            body: of::<UpdateMemory>(),
            reply: of::<Memory>(),
            ..change("/api/memory/{id}", "memory", "update", "Change an entry")
        },
        delete("/api/memory/{id}", "memory", "delete", "Forget an entry"),
        // Flows
        Operation {
            query: vec![
                text("q", "words in name or description"),
                flag("is_active", "only those switched on, or off"),
                LIMIT,
                OFFSET,
            ],
            reply: page_of::<FlowSummary>(),
            ..get(
                "/api/flows",
                "flow",
                "list",
                "List flows, the last changed first",
            )
        },
        Operation {
            success: 201,
            body: of::<CreateFlow>(),
            reply: of::<Flow>(),
            ..post("/api/flows", "flow", "create", "Make a flow")
        },
        Operation {
            reply: of::<NodeCatalog>(),
            ..get(
                "/api/flows/catalog",
                "flow",
                "catalog",
                "The kinds of nodes that flows are made of",
            )
        },
        Operation {
            body: of::<ValidateFlow>(),
            reply: of::<FlowFindings>(),
            ..post(
                "/api/flows/validate",
                "flow",
                "validate",
                "Check whether a graph can run",
            )
        },
        Operation {
            query: vec![
                text("flow_id", "only those of this flow"),
                text("status", "only those in this state"),
                text("trigger", "only those started this way"),
                LIMIT,
                OFFSET,
            ],
            reply: page_of::<ExecutionSummary>(),
            ..get(
                "/api/flows/executions",
                "flow",
                "list_executions",
                "List executions, newest first",
            )
        },
        Operation {
            query: vec![integer(
                "at_seq",
                "the execution as it was after this event",
            )],
            reply: of::<Execution>(),
            ..get(
                "/api/flows/executions/{id}",
                "flow",
                "get_execution",
                "An execution with its state",
            )
        },
        Operation {
            query: vec![
                integer("after", "only events after this number"),
                integer("limit", "1 to 1,000, 200 if absent"),
            ],
            reply: of::<ExecutionEvents>(),
            ..get(
                "/api/flows/executions/{id}/events",
                "flow",
                "list_events",
                "What happened in an execution",
            )
        },
        Operation {
            kind: Kind::ExecutionStream,
            ..get(
                "/api/flows/executions/{id}/stream",
                "flow",
                "watch",
                "Follow an execution until it ends",
            )
        },
        Operation {
            body: of::<SubmitInput>(),
            reply: of::<Execution>(),
            ..post(
                "/api/flows/executions/{id}/input",
                "flow",
                "submit_input",
                "Answer a node that waits for a person",
            )
        },
        Operation {
            reply: of::<Execution>(),
            ..post(
                "/api/flows/executions/{id}/cancel",
                "flow",
                "cancel",
                "Stop an execution",
            )
        },
        Operation {
            success: 202,
            reply: of::<StartedExecution>(),
            ..post(
                "/api/flows/executions/{id}/retry",
                "flow",
                "retry",
                "Run what failed again, keeping what did not",
            )
        },
        Operation {
            success: 202,
            body: of::<RerunExecution>(),
            reply: of::<StartedExecution>(),
            ..post(
                "/api/flows/executions/{id}/rerun",
                "flow",
                "rerun",
                "Run again from a node on",
            )
        },
        Operation {
            success: 202,
            body: of::<ForkExecution>(),
            reply: of::<StartedExecution>(),
            ..post(
                "/api/flows/executions/{id}/fork",
                "flow",
                "fork",
                "Run the same graph with other input",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: page_of::<FlowSecret>(),
            ..get(
                "/api/flows/secrets",
                "flow",
                "list_secrets",
                "Names of secrets, without their values",
            )
        },
        Operation {
            method: Method::Put,
            access: MANAGE,
            success: 204,
            body: of::<PutFlowSecret>(),
            ..get("/api/flows/secrets", "flow", "put_secret", "Set a secret")
        },
        Operation {
            access: MANAGE,
            ..delete(
                "/api/flows/secrets/{name}",
                "flow",
                "delete_secret",
                "Remove a secret",
            )
        },
        Operation {
            body: of::<UpdateFlowTrigger>(),
            reply: of::<FlowTrigger>(),
            ..change(
                "/api/flows/triggers/{id}",
                "flow",
                "update_trigger",
                "Change a trigger",
            )
        },
        delete(
            "/api/flows/triggers/{id}",
            "flow",
            "delete_trigger",
            "Remove a trigger",
        ),
        Operation {
            reply: of::<Flow>(),
            ..get("/api/flows/{id}", "flow", "get", "A flow with its graph")
        },
        Operation {
            body: of::<UpdateFlow>(),
            reply: of::<Flow>(),
            ..change("/api/flows/{id}", "flow", "update", "Change a flow")
        },
        delete(
            "/api/flows/{id}",
            "flow",
            "delete",
            "Remove a flow and its triggers; its executions stay",
        ),
        Operation {
            success: 202,
            body: of::<ExecuteFlow>(),
            reply: of::<StartedExecution>(),
            ..post("/api/flows/{id}/execute", "flow", "execute", "Run a flow")
        },
        Operation {
            query: vec![
                text("status", "only those in this state"),
                text("trigger", "only those started this way"),
                LIMIT,
                OFFSET,
            ],
            reply: page_of::<ExecutionSummary>(),
            ..get(
                "/api/flows/{id}/executions",
                "flow",
                "executions_of",
                "List a flow's executions, newest first",
            )
        },
        Operation {
            query: vec![LIMIT, OFFSET],
            reply: page_of::<FlowTrigger>(),
            ..get(
                "/api/flows/{id}/triggers",
                "flow",
                "list_triggers",
                "What starts a flow by itself",
            )
        },
        Operation {
            success: 201,
            body: of::<CreateFlowTrigger>(),
            reply: of::<FlowTrigger>(),
            ..post(
                "/api/flows/{id}/triggers",
                "flow",
                "create_trigger",
                "Start a flow by schedule or webhook",
            )
        },
        Operation {
            access: Public,
            kind: Kind::Hook,
            success: 202,
            reply: of::<HookAnswer>(),
            ..post(
                "/api/hooks/{id}",
                "flow",
                "hook",
                "A signed webhook; 200 if the delivery was taken before",
            )
        },
        // Usage
        Operation {
            access: OVERSEE,
            query: vec![text("from", "RFC 3339"), text("to", "RFC 3339")],
            reply: of::<Usage>(),
            ..get("/api/usage", "usage", "get", "Model use of the tenant")
        },
        Operation {
            access: Public,
            reply: of::<Meta>(),
            ..get("/api/meta", "meta", "get", "Version and model provider")
        },
    ];
    // Each way to start a turn exists twice: answered whole, and as a stream.
    for (path, stream, op, body, summary) in [
        (
            "/api/conversations/{conversation_id}/messages",
            "/api/conversations/{conversation_id}/messages/stream",
            "send_message",
            of::<SendMessage>(),
            "Send a message and get the answer",
        ),
        (
            "/api/conversations/{conversation_id}/messages/{message_id}/edit",
            "/api/conversations/{conversation_id}/messages/{message_id}/edit/stream",
            "edit_message",
            of::<EditMessage>(),
            "Ask again in other words, on a new branch",
        ),
        (
            "/api/conversations/{conversation_id}/messages/{message_id}/regenerate",
            "/api/conversations/{conversation_id}/messages/{message_id}/regenerate/stream",
            "regenerate_message",
            of::<RegenerateMessage>(),
            "Answer again: a new branch, or the retry of a failed turn",
        ),
    ] {
        all.push(Operation {
            body,
            reply: of::<Exchange>(),
            ..post(path, "chat", op, summary)
        });
        all.push(Operation {
            body,
            kind: Kind::TurnStream,
            ..post(stream, "chat", op, summary)
        });
    }
    all
}
