-- Flows: graphs as drawn, executions of them, and the journal that an execution is the fold of.
--
-- The worker functions at the end serve all tenants in one round trip each. Their owner can do what they do and nothing
-- else; nobody logs in as it or takes it, and no tenant's transaction may call them.
DO $$
BEGIN
    BEGIN
        CREATE ROLE qadra_runner_fn NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
    -- Roles belong to the cluster: another database, or another process in this moment, may have made it.
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
    IF current_setting('server_version_num')::int >= 160000 THEN
        EXECUTE format('GRANT qadra_runner_fn TO %I WITH INHERIT FALSE, SET TRUE', current_user);
    ELSIF NOT pg_has_role(current_user, 'qadra_runner_fn', 'MEMBER') THEN
        EXECUTE format('GRANT qadra_runner_fn TO %I', current_user);
    END IF;
    GRANT USAGE ON SCHEMA public TO qadra_runner_fn;
END $$;

-- A tenant has tens to hundreds. `json` and not `jsonb` keeps the drawing as it was sent, and is never looked into here.
CREATE TABLE flows (
    tenant_id    uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id           uuid NOT NULL,
    name         text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    description  text,
    flow_data    json NOT NULL,
    digest       bytea NOT NULL,      -- SHA-256 of flow_data's text
    node_count   integer NOT NULL DEFAULT 0,
    is_active    boolean NOT NULL DEFAULT true,
    version      integer NOT NULL DEFAULT 1,
    created_by   uuid,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    deleted_at   timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX flows_name ON flows (tenant_id, name) WHERE deleted_at IS NULL;
CREATE INDEX flows_newest ON flows (tenant_id, updated_at DESC, id DESC) WHERE deleted_at IS NULL;

-- What executions run: one for each different content of a flow that ever ran.
CREATE TABLE flow_snapshots (
    tenant_id   uuid NOT NULL,
    id          uuid NOT NULL,
    flow_id     uuid NOT NULL,
    digest      bytea NOT NULL,
    flow_data   json NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, flow_id, digest),
    FOREIGN KEY (tenant_id, flow_id) REFERENCES flows (tenant_id, id) ON DELETE CASCADE
);

-- A busy tenant has some thousand a day; nothing removes them. The row changes a few times in its life (claimed, paused,
-- ended), never for a node: what happened is in the journal.
CREATE TABLE flow_executions (
    tenant_id         uuid NOT NULL,
    id                uuid NOT NULL,
    flow_id           uuid NOT NULL,
    snapshot_id       uuid NOT NULL,
    status            text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'paused', 'completed', 'failed', 'cancelled')),
    input             json NOT NULL,
    error             text,
    trigger           text NOT NULL
        CHECK (trigger IN ('manual', 'api', 'conversation', 'schedule', 'webhook', 'flow', 'rerun', 'fork')),
    triggered_by      uuid,
    -- The execution and the node of it that wait for this one, and which attempt of the node.
    parent_id         uuid,
    parent_node       text,
    parent_attempt    integer NOT NULL DEFAULT 1,
    root_id           uuid NOT NULL,
    depth             integer NOT NULL DEFAULT 0 CHECK (depth >= 0),
    rerun_of          uuid,
    conversation_id   uuid,
    turn_id           uuid,
    idempotency_key   text,
    -- When a worker should look at it. NULL while nothing but a message can move it, or while a worker holds it; set
    -- although a worker holds it, it says that the inbox has something for that worker.
    ready_at          timestamptz DEFAULT now(),
    worker_id         uuid,
    -- The fencing token: grows whenever the execution changes hands.
    lease_token       bigint NOT NULL DEFAULT 0,
    cancel_requested  boolean NOT NULL DEFAULT false,
    steps             integer NOT NULL DEFAULT 0,
    started_at        timestamptz,
    completed_at      timestamptz,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, flow_id) REFERENCES flows (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, snapshot_id) REFERENCES flow_snapshots (tenant_id, id),
    FOREIGN KEY (tenant_id, parent_id) REFERENCES flow_executions (tenant_id, id) ON DELETE CASCADE,
    CHECK ((parent_id IS NULL) = (parent_node IS NULL)),
    CHECK ((status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
    CHECK (completed_at IS NULL OR (worker_id IS NULL AND ready_at IS NULL))
);
CREATE UNIQUE INDEX flow_executions_key ON flow_executions (tenant_id, flow_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX flow_executions_newest ON flow_executions (tenant_id, created_at DESC, id DESC);
CREATE INDEX flow_executions_flow   ON flow_executions (tenant_id, flow_id, created_at DESC, id DESC);
CREATE INDEX flow_executions_status ON flow_executions (tenant_id, status, created_at DESC, id DESC);
CREATE INDEX flow_executions_parent ON flow_executions (tenant_id, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX flow_executions_ready  ON flow_executions (tenant_id, ready_at) WHERE worker_id IS NULL AND ready_at IS NOT NULL;
CREATE INDEX flow_executions_leased ON flow_executions (worker_id, tenant_id) WHERE worker_id IS NOT NULL;

-- One row for each outcome of a node, written once and never changed: the largest table by far. No other index than its
-- key. No reference to the execution either: flow_append has its row locked when it writes, so a check for each row
-- would find what is known. The trigger below does what ON DELETE CASCADE would.
CREATE TABLE flow_journal (
    tenant_id     uuid NOT NULL,
    execution_id  uuid NOT NULL,
    seq           integer NOT NULL CHECK (seq > 0),
    attempt       integer NOT NULL DEFAULT 1,
    at            timestamptz NOT NULL,
    kind          text NOT NULL,
    node          text NOT NULL DEFAULT '',
    body          json,
    PRIMARY KEY (tenant_id, execution_id, seq)
);
-- Faster than the default by much on both ways, where this PostgreSQL has it.
DO $$ BEGIN
    ALTER TABLE flow_journal ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN NULL;
END $$;

-- What comes from outside: a person's answer, a child's end, a wish to stop. The worker journals it and marks it taken in
-- the same commit. The row stays, so that a second answer to the same node violates the key for ever.
CREATE TABLE flow_inbox (
    tenant_id     uuid NOT NULL,
    id            uuid NOT NULL,
    execution_id  uuid NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('input', 'child', 'cancel')),
    node          text NOT NULL DEFAULT '',
    attempt       integer NOT NULL DEFAULT 1,
    body          json NOT NULL,
    taken         boolean NOT NULL DEFAULT false,
    created_by    uuid,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT flow_inbox_once UNIQUE (tenant_id, execution_id, kind, node, attempt),
    FOREIGN KEY (tenant_id, execution_id) REFERENCES flow_executions (tenant_id, id) ON DELETE CASCADE
);

-- Processes that run executions of all tenants. One row and one heartbeat for each, however many executions it holds.
CREATE TABLE flow_workers (
    id          uuid PRIMARY KEY,
    name        text NOT NULL DEFAULT '',
    draining    boolean NOT NULL DEFAULT false,
    started_at  timestamptz NOT NULL DEFAULT now(),
    seen_at     timestamptz NOT NULL DEFAULT now()
);

-- Values for Http nodes, encrypted with a key that is not in the database.
CREATE TABLE flow_secrets (
    tenant_id   uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id          uuid NOT NULL,
    name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    sealed      bytea NOT NULL,
    created_by  uuid,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
);

CREATE TABLE flow_triggers (
    tenant_id    uuid NOT NULL,
    id           uuid NOT NULL,
    flow_id      uuid NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('schedule', 'webhook')),
    name         text NOT NULL DEFAULT '',
    cron         text,
    time_zone    text,
    input        json NOT NULL DEFAULT '{}',
    is_active    boolean NOT NULL DEFAULT true,
    sealed_key   bytea,
    next_at      timestamptz,
    last_at      timestamptz,
    last_execution_id  uuid,
    last_error   text,
    created_by   uuid,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, flow_id) REFERENCES flows (tenant_id, id) ON DELETE CASCADE,
    CHECK ((kind = 'schedule') = (cron IS NOT NULL AND time_zone IS NOT NULL)),
    CHECK ((kind = 'webhook') = (sealed_key IS NOT NULL))
);
CREATE INDEX flow_triggers_flow ON flow_triggers (tenant_id, flow_id);
CREATE INDEX flow_triggers_due  ON flow_triggers (next_at) WHERE kind = 'schedule' AND is_active;
-- A webhook's sender names the trigger and no tenant.
CREATE INDEX flow_triggers_hook ON flow_triggers (id) WHERE kind = 'webhook';

-- Webhook calls that were taken, so that a second one with the same id is recognised. Kept for a day; a signature is good
-- for minutes.
CREATE TABLE flow_deliveries (
    tenant_id     uuid NOT NULL,
    trigger_id    uuid NOT NULL,
    delivery_id   text NOT NULL CHECK (char_length(delivery_id) BETWEEN 1 AND 200),
    execution_id  uuid NOT NULL,
    at            timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, trigger_id, delivery_id),
    FOREIGN KEY (tenant_id, trigger_id) REFERENCES flow_triggers (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX flow_deliveries_old ON flow_deliveries (at);

ALTER TABLE flows           ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE flow_snapshots  ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE flow_executions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE flow_journal    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE flow_inbox      ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE flow_workers    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE flow_secrets    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE flow_triggers   ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE flow_deliveries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON flows           TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON flow_snapshots  TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON flow_executions TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON flow_journal    TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON flow_inbox      TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON flow_secrets    TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON flow_triggers   TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON flow_deliveries TO qadra_app USING (tenant_id = (SELECT current_tenant()));

GRANT SELECT, INSERT, UPDATE ON flows TO qadra_app;
GRANT SELECT, INSERT ON flow_snapshots, flow_journal, flow_inbox, flow_deliveries TO qadra_app;
-- Who holds an execution, and how it ends, is the workers' to write.
GRANT SELECT, INSERT, UPDATE (ready_at, cancel_requested, updated_at) ON flow_executions TO qadra_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON flow_secrets, flow_triggers TO qadra_app;

-- Before a tenant is known: whose webhook this is, and the sealed key that its signature is checked with.
CREATE POLICY webhook ON flow_triggers TO qadra_auth USING (acting_as('qadra_auth') AND kind = 'webhook');
GRANT SELECT (tenant_id, id, kind, is_active, sealed_key) ON flow_triggers TO qadra_auth;

-- Housekeeping finds schedules that are due, of all tenants, and forgets old deliveries; it starts nothing itself.
CREATE POLICY due ON flow_triggers TO qadra_system USING (acting_as('qadra_system') AND kind = 'schedule');
GRANT SELECT (tenant_id, id, kind, is_active, next_at) ON flow_triggers TO qadra_system;
CREATE POLICY sweep ON flow_deliveries TO qadra_system
    USING (acting_as('qadra_system') AND at < now() - interval '1 hour');
GRANT SELECT (tenant_id, at), DELETE ON flow_deliveries TO qadra_system;

CREATE POLICY work ON flow_snapshots  TO qadra_runner_fn USING (acting_as('qadra_runner_fn'));
CREATE POLICY work ON flow_executions TO qadra_runner_fn USING (acting_as('qadra_runner_fn'));
CREATE POLICY work ON flow_journal    TO qadra_runner_fn USING (acting_as('qadra_runner_fn'));
CREATE POLICY work ON flow_inbox      TO qadra_runner_fn USING (acting_as('qadra_runner_fn'));
CREATE POLICY work ON flow_workers    TO qadra_runner_fn USING (acting_as('qadra_runner_fn'));
GRANT SELECT ON flow_snapshots TO qadra_runner_fn;
GRANT SELECT, UPDATE (status, error, ready_at, worker_id, lease_token, cancel_requested, steps, started_at, completed_at, updated_at)
    ON flow_executions TO qadra_runner_fn;
GRANT SELECT, INSERT, DELETE ON flow_journal TO qadra_runner_fn;
GRANT SELECT, INSERT, UPDATE (taken) ON flow_inbox TO qadra_runner_fn;
GRANT SELECT, INSERT, UPDATE, DELETE ON flow_workers TO qadra_runner_fn;

-- Made by their owner, so that nothing has to be handed over afterwards.
GRANT CREATE ON SCHEMA public TO qadra_runner_fn;
SET LOCAL ROLE qadra_runner_fn;

-- Hands out executions that are due, in turns: to the tenant with the fewest at work first, by lot among equals, at most
-- `per_tenant` at work for a tenant. What workers held that were not seen for `lease` is due at once.
--
-- One claim at a time in the whole cluster: two at once would take the same candidates and both exceed the bound. It
-- takes well under a millisecond, because it does not wait for the disk: a claim that is lost in a crash of PostgreSQL
-- was never followed by a commit, which would have made it durable too.
CREATE FUNCTION flow_claim(worker uuid, most integer, per_tenant integer, lease interval)
    RETURNS TABLE (tenant_id uuid, id uuid, lease_token bigint, flow_id uuid, snapshot_id uuid, status text, input json,
                   parent_id uuid, parent_node text, parent_attempt integer, root_id uuid, depth integer, trigger text,
                   triggered_by uuid, conversation_id uuid, turn_id uuid, last_seq integer, has_inbox boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    -- pg_temp is searched first unless it is named. Plans must not be those of an empty table.
    SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE t timestamptz;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM pg_advisory_xact_lock(hashtextextended('flow_claim', 0));
    t := clock_timestamp();
    INSERT INTO flow_workers AS w (id, started_at, seen_at) VALUES (worker, t, t)
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at;

    IF EXISTS (SELECT FROM flow_workers w WHERE w.seen_at < t - lease) THEN
        -- Never waits: a worker may have been stopped in the middle of a message to PostgreSQL.
        WITH lost AS (
            SELECT e.tenant_id, e.id FROM flow_workers w JOIN flow_executions e ON e.worker_id = w.id
            WHERE w.seen_at < t - lease FOR NO KEY UPDATE OF e SKIP LOCKED
        )
        -- Due since it was made, so that what has begun comes before what has not.
        UPDATE flow_executions e SET worker_id = NULL, ready_at = e.created_at, lease_token = e.lease_token + 1, updated_at = t
        FROM lost WHERE e.tenant_id = lost.tenant_id AND e.id = lost.id;
        DELETE FROM flow_workers w WHERE w.seen_at < t - lease
            AND NOT EXISTS (SELECT FROM flow_executions e WHERE e.worker_id = w.id);
    END IF;

    RETURN QUERY
    WITH RECURSIVE waiting AS (
        -- One probe of the index for each tenant with something in line.
        (SELECT e.tenant_id FROM flow_executions e WHERE e.worker_id IS NULL AND e.ready_at IS NOT NULL ORDER BY e.tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT e.tenant_id FROM flow_executions e WHERE e.worker_id IS NULL AND e.ready_at IS NOT NULL
                    AND e.tenant_id > waiting.tenant_id ORDER BY e.tenant_id LIMIT 1)
        FROM waiting WHERE waiting.tenant_id IS NOT NULL
    ), busy AS (
        SELECT e.tenant_id, count(*) AS n FROM flow_executions e WHERE e.worker_id IS NOT NULL GROUP BY e.tenant_id
    ), next AS (
        SELECT c.tenant_id, c.id
        FROM (SELECT w.tenant_id, coalesce(b.n, 0) AS n, random() AS lot
              FROM waiting w LEFT JOIN busy b ON b.tenant_id = w.tenant_id WHERE w.tenant_id IS NOT NULL) p,
             LATERAL (SELECT e.tenant_id, e.id, e.ready_at FROM flow_executions e
                      WHERE e.tenant_id = p.tenant_id AND e.worker_id IS NULL AND e.ready_at <= t
                      ORDER BY e.ready_at LIMIT greatest(0, least(most, per_tenant - p.n))) c
        ORDER BY p.n + row_number() OVER (PARTITION BY c.tenant_id ORDER BY c.ready_at), p.lot
        LIMIT greatest(0, most)
    ), held AS (
        SELECT e.tenant_id, e.id FROM next JOIN flow_executions e ON e.tenant_id = next.tenant_id AND e.id = next.id
        WHERE e.worker_id IS NULL AND e.ready_at <= t FOR NO KEY UPDATE OF e SKIP LOCKED
    )
    UPDATE flow_executions e SET worker_id = worker, lease_token = e.lease_token + 1, ready_at = NULL, updated_at = t,
        status = CASE e.status WHEN 'pending' THEN 'running' ELSE e.status END, started_at = coalesce(e.started_at, t)
    FROM held WHERE e.tenant_id = held.tenant_id AND e.id = held.id
    RETURNING e.tenant_id, e.id, e.lease_token, e.flow_id, e.snapshot_id, e.status, e.input, e.parent_id, e.parent_node,
        e.parent_attempt, e.root_id, e.depth, e.trigger, e.triggered_by, e.conversation_id, e.turn_id,
        coalesce((SELECT j.seq FROM flow_journal j WHERE j.tenant_id = e.tenant_id AND j.execution_id = e.id ORDER BY j.seq DESC LIMIT 1), 0),
        EXISTS (SELECT FROM flow_inbox i WHERE i.tenant_id = e.tenant_id AND i.execution_id = e.id AND NOT i.taken);
END
$$;

-- Writes what happened in any number of executions that `worker` holds, in one commit. For the n-th execution:
-- tokens[n] must be the token it was claimed with and first_seqs[n] (NULL without rows) must follow its journal, or
-- nothing of it is written and it is returned with the reason; the others are not affected. Row i belongs to execution
-- row_of[i].
--
-- Each execution's row is locked but not written unless its state changes: FOR NO KEY UPDATE, the lock that a claim must
-- have, so that the token cannot change before the commit. (FOR SHARE costs the same record in the log and could be held
-- by two, which takes a multixact.)
CREATE FUNCTION flow_append(
        worker uuid, tenants uuid[], executions uuid[], tokens bigint[], first_seqs integer[], statuses text[], errors text[],
        ready timestamptz[], releases boolean[], step_counts integer[], notes text[],
        row_of integer[], seqs integer[], kinds text[], nodes text[], attempts integer[], ats timestamptz[], bodies text[],
        done_of integer[], done uuid[])
    RETURNS TABLE (execution integer, reason text)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    t CONSTANT timestamptz := clock_timestamp();
    final CONSTANT text[] := '{completed,failed,cancelled}';
    held integer[];
    ended integer[];
BEGIN
    ended := ARRAY(SELECT u.n FROM unnest(statuses) WITH ORDINALITY u (status, n) WHERE u.status = ANY (final));
    IF cardinality(ended) > 0 THEN
        -- The end of one is told to its parent and its children. All rows in one order, or two workers could wait for
        -- each other.
        PERFORM FROM flow_executions e JOIN (
            SELECT u.tenant_id, u.id FROM unnest(tenants, executions) u (tenant_id, id)
            UNION SELECT x.tenant_id, x.parent_id FROM unnest(ended) n
                JOIN flow_executions x ON x.tenant_id = tenants[n] AND x.id = executions[n] WHERE x.parent_id IS NOT NULL
            UNION SELECT x.tenant_id, x.id FROM unnest(ended) n
                JOIN flow_executions x ON x.tenant_id = tenants[n] AND x.parent_id = executions[n] WHERE x.status <> ALL (final)
        ) u ON e.tenant_id = u.tenant_id AND e.id = u.id
        ORDER BY e.tenant_id, e.id FOR NO KEY UPDATE OF e;
    END IF;
    held := ARRAY(
        SELECT u.n::integer FROM unnest(tenants, executions, tokens) WITH ORDINALITY u (tenant_id, id, token, n)
        JOIN flow_executions e ON e.tenant_id = u.tenant_id AND e.id = u.id
        WHERE e.worker_id = worker AND e.lease_token = u.token AND e.status <> ALL (final)
        ORDER BY e.tenant_id, e.id FOR NO KEY UPDATE OF e);
    -- Nobody else can write to these journals now; what others wrote before is visible to this statement.
    held := ARRAY(
        SELECT n FROM unnest(held) n WHERE first_seqs[n] IS NULL OR first_seqs[n] = 1 + coalesce((
            SELECT j.seq FROM flow_journal j WHERE j.tenant_id = tenants[n] AND j.execution_id = executions[n]
            ORDER BY j.seq DESC LIMIT 1), 0));

    INSERT INTO flow_journal (tenant_id, execution_id, seq, kind, node, attempt, at, body)
    SELECT tenants[r.n], executions[r.n], r.seq, r.kind, r.node, r.attempt, r.at, r.body::json
    FROM unnest(row_of, seqs, kinds, nodes, attempts, ats, bodies) r (n, seq, kind, node, attempt, at, body)
    WHERE r.n = ANY (held);

    IF cardinality(done) > 0 THEN
        UPDATE flow_inbox i SET taken = true FROM unnest(done_of, done) d (n, id)
        WHERE d.n = ANY (held) AND i.tenant_id = tenants[d.n] AND i.id = d.id AND i.execution_id = executions[d.n];
    END IF;

    UPDATE flow_executions e SET
        status = coalesce(u.status, e.status), error = coalesce(u.error, e.error), steps = coalesce(u.steps, e.steps),
        completed_at = CASE WHEN u.status = ANY (final) THEN t END, updated_at = t,
        worker_id = CASE WHEN u.release OR u.status = ANY (final) THEN NULL ELSE e.worker_id END,
        ready_at = CASE WHEN u.status = ANY (final) THEN NULL
            -- What arrived meanwhile must not be slept over.
            WHEN EXISTS (SELECT FROM flow_inbox i WHERE i.tenant_id = e.tenant_id AND i.execution_id = e.id AND NOT i.taken) THEN e.created_at
            WHEN u.release THEN u.ready END
    FROM unnest(statuses, errors, ready, releases, step_counts) WITH ORDINALITY u (status, error, ready, release, steps, n)
    WHERE u.n = ANY (held) AND (u.status IS NOT NULL OR u.release OR u.n = ANY (done_of))
      AND e.tenant_id = tenants[u.n] AND e.id = executions[u.n];

    ended := ARRAY(SELECT n FROM unnest(ended) n WHERE n = ANY (held));
    IF cardinality(ended) > 0 THEN
        WITH told AS (
            INSERT INTO flow_inbox (tenant_id, id, execution_id, kind, node, attempt, body)
            SELECT e.tenant_id, gen_random_uuid(), e.parent_id, 'child', e.parent_node, e.parent_attempt, coalesce(notes[n], '{}')::json
            FROM unnest(ended) n JOIN flow_executions e ON e.tenant_id = tenants[n] AND e.id = executions[n]
            WHERE e.parent_id IS NOT NULL
            UNION ALL
            SELECT c.tenant_id, gen_random_uuid(), c.id, 'cancel', '', 1, '{"reason":"parent"}'
            FROM unnest(ended) n JOIN flow_executions c ON c.tenant_id = tenants[n] AND c.parent_id = executions[n]
            WHERE c.status <> ALL (final)
            ON CONFLICT DO NOTHING
            RETURNING tenant_id, execution_id, kind
        )
        UPDATE flow_executions e SET ready_at = e.created_at, cancel_requested = e.cancel_requested OR told.kind = 'cancel', updated_at = t
        FROM told WHERE e.tenant_id = told.tenant_id AND e.id = told.execution_id AND e.status <> ALL (final);
    END IF;

    IF cardinality(held) < cardinality(tenants) THEN
        RETURN QUERY SELECT u.n::integer, CASE
                WHEN e.status = ANY (final) THEN 'ended'
                WHEN e.worker_id = worker AND e.lease_token = u.token THEN 'gap'
                ELSE 'stale' END
            FROM unnest(tenants, executions, tokens) WITH ORDINALITY u (tenant_id, id, token, n)
            LEFT JOIN flow_executions e ON e.tenant_id = u.tenant_id AND e.id = u.id
            WHERE u.n <> ALL (held);
    END IF;
END
$$;

-- Says that the worker lives, and returns which executions that it holds have something in their inbox.
CREATE FUNCTION flow_heartbeat(worker uuid, worker_name text, drains boolean)
    RETURNS TABLE (tenant_id uuid, execution_id uuid)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE t CONSTANT timestamptz := clock_timestamp();
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO flow_workers AS w (id, name, draining, started_at, seen_at) VALUES (worker, worker_name, drains, t, t)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, draining = excluded.draining, seen_at = excluded.seen_at;
    RETURN QUERY SELECT e.tenant_id, e.id FROM flow_executions e WHERE e.worker_id = worker AND e.ready_at IS NOT NULL;
END
$$;

-- The worker stops: what it still holds is due at once, for others.
CREATE FUNCTION flow_release(worker uuid) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET jit = off
AS $$
DECLARE n bigint;
BEGIN
    UPDATE flow_executions e SET worker_id = NULL, ready_at = e.created_at, lease_token = e.lease_token + 1, updated_at = clock_timestamp()
    WHERE e.worker_id = worker;
    GET DIAGNOSTICS n = ROW_COUNT;
    DELETE FROM flow_workers w WHERE w.id = worker;
    RETURN n;
END
$$;

-- When the next execution that nobody holds is due; in the past if one is due now.
CREATE FUNCTION flow_next_ready() RETURNS timestamptz
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET jit = off
AS $$
    WITH RECURSIVE first AS (
        (SELECT e.tenant_id, e.ready_at FROM flow_executions e WHERE e.worker_id IS NULL AND e.ready_at IS NOT NULL
         ORDER BY e.tenant_id, e.ready_at LIMIT 1)
        UNION ALL
        SELECT n.tenant_id, n.ready_at FROM first, LATERAL (
            SELECT e.tenant_id, e.ready_at FROM flow_executions e WHERE e.worker_id IS NULL AND e.ready_at IS NOT NULL
                AND e.tenant_id > first.tenant_id ORDER BY e.tenant_id, e.ready_at LIMIT 1) n
    )
    SELECT min(ready_at) FROM first
$$;

-- What a worker that takes an execution over needs, but for the journal: the graph unless it has it, and the messages.
CREATE FUNCTION flow_open(tenant uuid, execution uuid, with_graph boolean)
    RETURNS TABLE (snapshot_id uuid, flow_data json, input json, inbox json)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET jit = off
AS $$
    SELECT e.snapshot_id, CASE WHEN with_graph THEN s.flow_data END, e.input,
        (SELECT json_agg(json_build_object('id', i.id, 'kind', i.kind, 'node', i.node, 'attempt', i.attempt, 'body', i.body,
                    'created_by', i.created_by, 'created_at', i.created_at) ORDER BY i.created_at, i.id)
         FROM flow_inbox i WHERE i.tenant_id = e.tenant_id AND i.execution_id = e.id AND NOT i.taken)
    FROM flow_executions e JOIN flow_snapshots s ON s.tenant_id = e.tenant_id AND s.id = e.snapshot_id
    WHERE e.tenant_id = tenant AND e.id = execution
$$;

CREATE FUNCTION flow_entries(tenant uuid, execution uuid, after integer)
    RETURNS TABLE (seq integer, kind text, node text, attempt integer, at timestamptz, body json)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET jit = off
AS $$
    SELECT j.seq, j.kind, j.node, j.attempt, j.at, j.body FROM flow_journal j
    WHERE j.tenant_id = tenant AND j.execution_id = execution AND j.seq > after ORDER BY j.seq
$$;

CREATE FUNCTION flow_journal_forget() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    DELETE FROM flow_journal j WHERE j.tenant_id = OLD.tenant_id AND j.execution_id = OLD.id;
    RETURN NULL;
END
$$;

DO $$
DECLARE f regprocedure;
BEGIN
    FOR f IN SELECT p.oid::regprocedure FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = 'qadra_runner_fn'::regrole
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, session_user);
    END LOOP;
END $$;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM qadra_runner_fn;

CREATE TRIGGER forget_journal AFTER DELETE ON flow_executions FOR EACH ROW EXECUTE FUNCTION flow_journal_forget();
