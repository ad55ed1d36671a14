-- Creating one in the extension's schema needs no superuser: btree_gin is a trusted extension.
CREATE EXTENSION IF NOT EXISTS btree_gin;

CREATE TABLE conversations (
    tenant_id             uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id                    uuid NOT NULL,
    user_id               uuid NOT NULL REFERENCES users (id),
    title                 text,
    is_archived           boolean NOT NULL DEFAULT false,
    is_shared             boolean NOT NULL DEFAULT false,
    active_branch_id      uuid NOT NULL,
    -- Kept with every message, so that a list never reads the messages.
    message_count         integer NOT NULL DEFAULT 0,
    last_message_preview  text,
    last_agent_id         uuid,
    running_turn_id       uuid,
    deleted_at            timestamptz,
    created_at            timestamptz NOT NULL DEFAULT now(),
    updated_at            timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX conversations_user ON conversations (tenant_id, user_id, updated_at DESC) WHERE deleted_at IS NULL;
CREATE INDEX conversations_shared ON conversations (tenant_id, updated_at DESC) WHERE deleted_at IS NULL AND is_shared;

-- A branch is a path from the first message to a head. It shares the messages up to its fork with the
-- branches it came from: segment i of its lineage is branch lineage_ids[i] up to position lineage_until[i].
-- With positions dense along a path, any page of any branch is one index range per segment, whatever the length.
CREATE TABLE conversation_branches (
    tenant_id        uuid NOT NULL,
    id               uuid NOT NULL,
    conversation_id  uuid NOT NULL,
    lineage_ids      uuid[] NOT NULL DEFAULT '{}',
    lineage_until    integer[] NOT NULL DEFAULT '{}',
    head_position    integer NOT NULL DEFAULT 0,
    head_message_id  uuid,
    created_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id) ON DELETE CASCADE,
    CHECK (cardinality(lineage_ids) = cardinality(lineage_until))
);

CREATE TABLE conversation_messages (
    tenant_id          uuid NOT NULL,
    id                 uuid NOT NULL,
    conversation_id    uuid NOT NULL,
    branch_id          uuid NOT NULL,
    position           integer NOT NULL CHECK (position > 0),
    parent_id          uuid,
    agent_id           uuid,
    agent_version      integer,
    role               text NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
    content            text NOT NULL,
    model              text,
    token_count        integer,
    prompt_tokens      integer,
    completion_tokens  integer,
    latency_ms         integer,
    finish_reason      text,
    rating             smallint CHECK (rating IN (-1, 1)),
    flow_execution_id  uuid,
    metadata           jsonb NOT NULL DEFAULT '{}',
    created_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, branch_id, position),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, branch_id) REFERENCES conversation_branches (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE SET NULL (agent_id)
);
CREATE INDEX conversation_messages_siblings ON conversation_messages (tenant_id, conversation_id, parent_id);
CREATE INDEX conversation_messages_agent ON conversation_messages (tenant_id, agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX conversation_messages_rating ON conversation_messages (tenant_id, created_at) WHERE rating IS NOT NULL;
-- Capped: a tsvector may hold 1 MiB, and a message may hold 100,000 different words.
CREATE INDEX conversation_messages_text ON conversation_messages
    USING gin (tenant_id, to_tsvector('english', left(content, 50000)));

-- One exchange. Its owner is the process that answers it; owner_lock is the advisory lock that process
-- holds while it lives, so that its death is known without a clock.
CREATE TABLE conversation_turns (
    tenant_id             uuid NOT NULL,
    id                    uuid NOT NULL,
    conversation_id       uuid NOT NULL,
    branch_id             uuid NOT NULL,
    user_message_id       uuid NOT NULL,
    assistant_message_id  uuid,
    agent_id              uuid,
    status                text NOT NULL CHECK (status IN ('running', 'completed', 'cancelled', 'failed')),
    owner_id              uuid NOT NULL,
    owner_lock            bigint NOT NULL,
    error                 jsonb,
    -- What the stream said, for a reader who comes late: every event but the tokens, each with its seq,
    -- and the length of each token, which are cut from the answer's text again. Seqs are 1, 2, 3 …
    events                jsonb,
    token_chars           integer[],
    started_at            timestamptz NOT NULL DEFAULT now(),
    finished_at           timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX conversation_turns_running ON conversation_turns (owner_lock) WHERE status = 'running';
CREATE INDEX conversation_turns_message ON conversation_turns (tenant_id, user_message_id);

CREATE TABLE usage_records (
    tenant_id        uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id               uuid NOT NULL,
    user_id          uuid,
    conversation_id  uuid,
    turn_id          uuid,
    agent_id         uuid,
    model            text,
    tokens_in        integer NOT NULL DEFAULT 0,
    tokens_out       integer NOT NULL DEFAULT 0,
    operation_type   text NOT NULL DEFAULT 'llm_call'
        CHECK (operation_type IN ('llm_call', 'embedding', 'tool_call', 'plugin_exec', 'renderer_exec')),
    metadata         jsonb NOT NULL DEFAULT '{}',
    created_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX usage_records_time ON usage_records (tenant_id, created_at);

ALTER TABLE conversations         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE conversation_branches ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE conversation_messages ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE conversation_turns    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE usage_records         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON conversations         TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON conversation_branches TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON conversation_messages TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON conversation_turns    TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON usage_records         TO qadra_app USING (tenant_id = (SELECT current_tenant()));

GRANT SELECT, INSERT, UPDATE ON conversations, conversation_branches, conversation_messages, conversation_turns TO qadra_app;
GRANT SELECT, INSERT ON usage_records TO qadra_app;

-- Recovery: the only cross-tenant work on conversations, and only on what marks a turn as running.
CREATE POLICY recovery ON conversation_turns TO qadra_system USING (acting_as('qadra_system'));
CREATE POLICY recovery ON conversations      TO qadra_system USING (acting_as('qadra_system'));
GRANT SELECT, UPDATE (status, error, finished_at) ON conversation_turns TO qadra_system;
GRANT SELECT (tenant_id, id, running_turn_id), UPDATE (running_turn_id) ON conversations TO qadra_system;

-- Full-text search. Row-level security hides a table behind its policy, and the planner may not use the GIN
-- index below that barrier because the text operator is not leakproof. The function's owner has a policy
-- of its own and no other right; the first line of its WHERE clause is what the policy would have been.
CREATE POLICY search ON conversation_messages TO qadra_search USING (acting_as('qadra_search'));
CREATE POLICY search ON conversations         TO qadra_search USING (acting_as('qadra_search'));
GRANT SELECT (tenant_id, id, conversation_id, content, created_at) ON conversation_messages TO qadra_search;
GRANT SELECT (tenant_id, id, user_id, is_shared, deleted_at) ON conversations TO qadra_search;

CREATE FUNCTION search_messages(words text, reader uuid)
    RETURNS TABLE (conversation_id uuid, message_id uuid, snippet text)
    LANGUAGE sql STABLE SECURITY DEFINER
    -- pg_temp is searched first unless it is named: a caller's temporary view would stand in for our table.
    SET search_path = pg_catalog, public, pg_temp
AS $$
    WITH q AS (SELECT websearch_to_tsquery('english', words) AS query),
    hits AS (
        SELECT m.conversation_id, m.id, m.content, m.created_at
        FROM conversation_messages m
        JOIN conversations c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id
        WHERE m.tenant_id = current_tenant() AND c.deleted_at IS NULL
          AND (c.user_id = reader OR c.is_shared)
          AND to_tsvector('english', left(m.content, 50000)) @@ (SELECT query FROM q)
        ORDER BY m.created_at DESC LIMIT 1000
    ),
    newest AS (SELECT DISTINCT ON (conversation_id) * FROM hits ORDER BY conversation_id, created_at DESC)
    SELECT n.conversation_id, n.id,
           ts_headline('english', left(n.content, 50000), q.query,
                       'MaxFragments=1, MaxWords=24, MinWords=8, StartSel="", StopSel=""')
    FROM newest n, q
$$;
-- The new owner must be able to create in the schema at the moment it takes the function over.
GRANT CREATE ON SCHEMA public TO qadra_search;
ALTER FUNCTION search_messages(text, uuid) OWNER TO qadra_search;
REVOKE CREATE ON SCHEMA public FROM qadra_search;
REVOKE ALL ON FUNCTION search_messages(text, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_messages(text, uuid) TO qadra_app;
