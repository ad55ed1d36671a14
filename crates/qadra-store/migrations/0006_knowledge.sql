-- Entities that are one and entities that are not, saved neighbourhoods, and what is remembered.

-- A node that was merged stays, so that old references to it still lead somewhere and the merge can be undone. It
-- always points at a living node. Its identity and key are then '#' and its id: no name folds to that.
ALTER TABLE kg_nodes ADD COLUMN merged_into uuid;
ALTER TABLE kg_nodes ADD FOREIGN KEY (tenant_id, merged_into) REFERENCES kg_nodes (tenant_id, id);
CREATE INDEX kg_nodes_merged ON kg_nodes (tenant_id, merged_into) WHERE merged_into IS NOT NULL;
GRANT UPDATE ON kg_aliases TO qadra_app;

-- Statements of one predicate by subject, for groups with more than one object; and the few denials.
CREATE INDEX kg_triples_objects ON kg_triples (tenant_id, predicate_id, subject_id, object_key) WHERE retracted_at IS NULL AND polarity;
CREATE INDEX kg_triples_denials ON kg_triples (tenant_id, created_at DESC) WHERE retracted_at IS NULL AND NOT polarity;

-- Pairs of nodes that may be one, for a person to decide. A pair is asked about once, however often it is proposed.
-- Some thousand for a tenant with many documents; kept as the record of what was decided.
CREATE TABLE kg_merges (
    tenant_id    uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id           uuid NOT NULL,
    a_id         uuid NOT NULL,
    b_id         uuid NOT NULL,
    score        real NOT NULL CHECK (score BETWEEN 0 AND 1),
    reasons      jsonb NOT NULL DEFAULT '[]',
    document_id  uuid,
    status       text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'rejected')),
    decided_by   uuid,
    decided_at   timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CHECK (a_id <> b_id),
    CHECK ((status = 'pending') = (decided_at IS NULL)),
    FOREIGN KEY (tenant_id, a_id) REFERENCES kg_nodes (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, b_id) REFERENCES kg_nodes (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE SET NULL (document_id)
);
CREATE UNIQUE INDEX kg_merges_pair ON kg_merges (tenant_id, least(a_id, b_id), greatest(a_id, b_id));
CREATE INDEX kg_merges_queue ON kg_merges (tenant_id, status, score DESC, id);
CREATE INDEX kg_merges_a ON kg_merges (tenant_id, a_id);
CREATE INDEX kg_merges_b ON kg_merges (tenant_id, b_id);

-- What was merged and split, with everything that moved, so that it can be undone. One row for each act of a person.
CREATE TABLE kg_node_events (
    tenant_id   uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id          uuid NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('merge', 'split')),
    node_id     uuid NOT NULL,     -- the node that stays
    other_id    uuid NOT NULL,     -- the one that was merged into it or split off
    detail      jsonb NOT NULL,
    actor_id    uuid,
    created_at  timestamptz NOT NULL DEFAULT now(),
    undone_by   uuid,
    undone_at   timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, node_id) REFERENCES kg_nodes (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, other_id) REFERENCES kg_nodes (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX kg_node_events_node  ON kg_node_events (tenant_id, node_id, id DESC);
CREATE INDEX kg_node_events_other ON kg_node_events (tenant_id, other_id, id DESC);

-- Named neighbourhoods: the nodes within a radius of the centers, as they were when last refreshed. At most 200 for a
-- tenant, each with at most 2,000 nodes and 5,000 statements (the use case counts).
CREATE TABLE kg_balls (
    tenant_id     uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id            uuid NOT NULL,
    name          text NOT NULL,
    radius        smallint NOT NULL CHECK (radius BETWEEN 0 AND 3),
    filters       jsonb NOT NULL DEFAULT '{}',
    node_count    integer NOT NULL DEFAULT 0,
    edge_count    integer NOT NULL DEFAULT 0,
    truncated     boolean NOT NULL DEFAULT false,
    refreshed_at  timestamptz NOT NULL DEFAULT now(),
    created_by    uuid,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
);
CREATE TABLE kg_ball_nodes (
    tenant_id  uuid NOT NULL,
    ball_id    uuid NOT NULL,
    node_id    uuid NOT NULL,
    hop        smallint NOT NULL CHECK (hop BETWEEN 0 AND 3),   -- 0: a center
    PRIMARY KEY (tenant_id, ball_id, node_id),
    FOREIGN KEY (tenant_id, ball_id) REFERENCES kg_balls (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, node_id) REFERENCES kg_nodes (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX kg_ball_nodes_node ON kg_ball_nodes (tenant_id, node_id);
CREATE TABLE kg_ball_triples (
    tenant_id  uuid NOT NULL,
    ball_id    uuid NOT NULL,
    triple_id  uuid NOT NULL,
    PRIMARY KEY (tenant_id, ball_id, triple_id),
    FOREIGN KEY (tenant_id, ball_id) REFERENCES kg_balls (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, triple_id) REFERENCES kg_triples (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX kg_ball_triples_triple ON kg_ball_triples (tenant_id, triple_id);

-- What agents and people want remembered. With a key it is a value by name, and the same key replaces; without one, a
-- note. At most 10,000 for a tenant (the use case counts); what has expired is not read and is swept.
CREATE TABLE memories (
    tenant_id   uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id          uuid NOT NULL,
    agent_id    uuid,              -- NULL: the whole tenant's
    user_id     uuid,              -- who wrote it, or on whose behalf the agent did
    key         text,
    value       jsonb,
    note        text,
    source      text NOT NULL CHECK (source IN ('person', 'agent')),
    expires_at  timestamptz,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CHECK (value IS NOT NULL OR note IS NOT NULL),
    FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX memories_key ON memories (tenant_id, coalesce(agent_id, '00000000-0000-0000-0000-000000000000'), key) WHERE key IS NOT NULL;
CREATE INDEX memories_newest  ON memories (tenant_id, updated_at DESC, id DESC);
CREATE INDEX memories_agent   ON memories (tenant_id, agent_id, updated_at DESC);
-- For the sweep, which looks across tenants.
CREATE INDEX memories_expired ON memories (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE kg_merges       ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_node_events  ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_balls        ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_ball_nodes   ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_ball_triples ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memories        ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kg_merges       TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON kg_node_events  TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON kg_balls        TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON kg_ball_nodes   TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON kg_ball_triples TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON memories        TO qadra_app USING (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON kg_merges, kg_balls, kg_ball_nodes, memories TO qadra_app;
GRANT SELECT, INSERT, DELETE ON kg_ball_triples TO qadra_app;
GRANT SELECT, INSERT, UPDATE ON kg_node_events TO qadra_app;
-- The sweep sees no memory that still counts.
CREATE POLICY sweep ON memories TO qadra_system USING (acting_as('qadra_system') AND expires_at < now());
GRANT SELECT (tenant_id, id, expires_at), DELETE ON memories TO qadra_system;
