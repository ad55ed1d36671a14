CREATE TABLE kg_nodes (
    tenant_id   uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id          uuid NOT NULL,
    label       text NOT NULL,
    identity    text NOT NULL,     -- which node it is: case, accents, punctuation folded
    key         text NOT NULL,     -- how it is found: inflection folded too, so several nodes may share it
    kind        text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, identity)
);
CREATE INDEX kg_nodes_key ON kg_nodes (tenant_id, key);

-- One alias may name several nodes ("Apple" the company and the fruit).
CREATE TABLE kg_aliases (
    tenant_id   uuid NOT NULL,
    id          uuid NOT NULL,
    node_id     uuid NOT NULL,
    alias       text NOT NULL,
    identity    text NOT NULL,
    key         text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, identity, node_id),
    FOREIGN KEY (tenant_id, node_id) REFERENCES kg_nodes (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX kg_aliases_key ON kg_aliases (tenant_id, key);
CREATE INDEX kg_aliases_node ON kg_aliases (tenant_id, node_id);

CREATE TABLE kg_predicates (
    tenant_id       uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id              uuid NOT NULL,
    name            text NOT NULL,
    functional      boolean,       -- NULL: inferred
    is_symmetric    boolean NOT NULL DEFAULT false,
    inverse_of      uuid,
    exclusive_with  uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name),
    FOREIGN KEY (tenant_id, inverse_of) REFERENCES kg_predicates (tenant_id, id) ON DELETE SET NULL (inverse_of),
    FOREIGN KEY (tenant_id, exclusive_with) REFERENCES kg_predicates (tenant_id, id) ON DELETE SET NULL (exclusive_with)
);

-- The phrases a predicate is found by. A table of its own: array operators are not leakproof, so row-level
-- security would keep an index over an array from being used.
CREATE TABLE kg_predicate_keys (
    tenant_id     uuid NOT NULL,
    key           text NOT NULL,
    predicate_id  uuid NOT NULL,
    PRIMARY KEY (tenant_id, key, predicate_id),
    FOREIGN KEY (tenant_id, predicate_id) REFERENCES kg_predicates (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE kg_triples (
    tenant_id       uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id              uuid NOT NULL,
    subject_id      uuid NOT NULL,
    predicate_id    uuid NOT NULL,
    object_node_id  uuid,          -- set when the object is a node
    object          jsonb,         -- typed literal otherwise
    object_key      text NOT NULL, -- canonical form: equal objects have equal keys
    object_label    text NOT NULL,
    polarity        boolean NOT NULL DEFAULT true,
    confidence      real NOT NULL DEFAULT 1 CHECK (confidence BETWEEN 0 AND 1),
    kind            text NOT NULL DEFAULT 'fact' CHECK (kind IN ('fact', 'claim')),
    source          text,
    valid_from      date,
    valid_to        date,
    created_by      uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    retracted_by    uuid,
    retracted_at    timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK ((object_node_id IS NULL) <> (object IS NULL)),
    CHECK (valid_from IS NULL OR valid_to IS NULL OR valid_from <= valid_to),
    FOREIGN KEY (tenant_id, subject_id) REFERENCES kg_nodes (tenant_id, id),
    FOREIGN KEY (tenant_id, predicate_id) REFERENCES kg_predicates (tenant_id, id),
    FOREIGN KEY (tenant_id, object_node_id) REFERENCES kg_nodes (tenant_id, id)
);
CREATE INDEX kg_triples_subject   ON kg_triples (tenant_id, subject_id, confidence DESC) WHERE retracted_at IS NULL;
CREATE INDEX kg_triples_object    ON kg_triples (tenant_id, object_node_id, confidence DESC) WHERE retracted_at IS NULL AND object_node_id IS NOT NULL;
CREATE INDEX kg_triples_predicate ON kg_triples (tenant_id, predicate_id) WHERE retracted_at IS NULL;
CREATE INDEX kg_triples_newest    ON kg_triples (tenant_id, created_at DESC, id DESC);
-- Saying the same thing from the same source twice is one statement.
CREATE UNIQUE INDEX kg_triples_statement ON kg_triples
    (tenant_id, subject_id, predicate_id, object_key, polarity, kind, coalesce(source, ''),
     coalesce(valid_from, '-infinity'), coalesce(valid_to, 'infinity')) WHERE retracted_at IS NULL;

ALTER TABLE kg_nodes      ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_aliases    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_predicates ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_predicate_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_triples    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kg_nodes      TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON kg_aliases    TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON kg_predicates TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON kg_predicate_keys TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON kg_triples    TO qadra_app USING (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE ON kg_nodes, kg_predicates, kg_triples TO qadra_app;
GRANT SELECT, INSERT, DELETE ON kg_aliases TO qadra_app;
GRANT SELECT, INSERT ON kg_predicate_keys TO qadra_app;
