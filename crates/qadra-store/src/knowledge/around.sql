-- The neighbourhood of nodes. $1 tenant, $2 nodes, $3 per node, $4 two hops, $5 asked predicates.
-- LATERAL with a LIMIT leaves the planner one order, the one that follows the indexes, also while it knows no sizes: the
-- plan is made once for a connection. A statement comes without names: a few hundred statements share fewer nodes and
-- predicates, and each of these is looked up once, as rows of their own behind the statements.
--   named    the nodes
--   one      statements about them: the most certain, those of the asked predicates, those between two of them
--   rim      the nodes that these lead to
--   reached  where the rim leads, read from an index alone
--   capped   named nodes of which, as subject or as object, there may be more statements than `one` has
--   closing  statements that close a chain: from the rim to a named node, or to another node of the rim
--   found    all of them, and some of the rim's other statements
WITH named AS MATERIALIZED (
    SELECT id FROM unnest($2::uuid[]) AS n (id)
), one AS MATERIALIZED (
    SELECT t.* FROM named n, LATERAL (
        (SELECT * FROM kg_triples WHERE tenant_id = $1 AND subject_id = n.id
            AND retracted_at IS NULL ORDER BY confidence DESC LIMIT $3)
        UNION ALL
        (SELECT * FROM kg_triples WHERE tenant_id = $1 AND object_node_id = n.id
            AND retracted_at IS NULL ORDER BY confidence DESC LIMIT $3)) t
    UNION ALL
    SELECT t.* FROM named n, unnest($5::uuid[]) AS p (id), LATERAL (
        (SELECT * FROM kg_triples WHERE tenant_id = $1 AND subject_id = n.id
            AND predicate_id = p.id AND retracted_at IS NULL ORDER BY confidence DESC LIMIT greatest(4, $3 / greatest(1, cardinality($5))))
        UNION ALL
        (SELECT * FROM kg_triples WHERE tenant_id = $1 AND object_node_id = n.id
            AND predicate_id = p.id AND retracted_at IS NULL ORDER BY confidence DESC LIMIT greatest(4, $3 / greatest(1, cardinality($5))))) t
    UNION ALL
    SELECT t.* FROM unnest($5::uuid[]) AS p (id), LATERAL (
        SELECT * FROM kg_triples WHERE tenant_id = $1 AND predicate_id = p.id
            AND retracted_at IS NULL LIMIT $3) t
    WHERE cardinality($2) = 0
    UNION ALL
    SELECT t.* FROM named a, named b, LATERAL (
        SELECT * FROM kg_triples WHERE tenant_id = $1 AND subject_id = a.id
            AND object_node_id = b.id AND retracted_at IS NULL LIMIT 20) t
    WHERE $4 AND a.id <> b.id AND cardinality($2) <= 8
), rim AS MATERIALIZED (
    SELECT x.id FROM one, LATERAL (VALUES (one.subject_id), (one.object_node_id)) AS x (id)
    WHERE $4 AND x.id IS NOT NULL AND x.id <> ALL ($2) GROUP BY x.id ORDER BY max(one.confidence) DESC, x.id LIMIT 80
), reached AS MATERIALIZED (
    SELECT o.id, o.other FROM rim, LATERAL (
        SELECT id, object_node_id AS other FROM kg_triples WHERE tenant_id = $1 AND subject_id = rim.id AND object_node_id IS NOT NULL
            AND retracted_at IS NULL LIMIT 30) o
), capped AS MATERIALIZED (
    SELECT n.id, (SELECT count(*) FROM one WHERE one.subject_id = n.id) >= $3 AS says,
        (SELECT count(*) FROM one WHERE one.object_node_id = n.id) >= $3 AS is_said
    FROM named n WHERE $4 AND cardinality($2) <= 4
), closing AS MATERIALIZED (
    SELECT t.id FROM capped n, rim r, LATERAL (
        SELECT id FROM kg_triples WHERE tenant_id = $1 AND subject_id = r.id AND object_node_id = n.id AND retracted_at IS NULL LIMIT 2) t
    WHERE n.is_said AND t.id NOT IN (SELECT id FROM one)
    UNION
    SELECT t.id FROM capped n, rim r, LATERAL (
        SELECT id FROM kg_triples WHERE tenant_id = $1 AND subject_id = n.id AND object_node_id = r.id AND retracted_at IS NULL LIMIT 2) t
    WHERE n.says AND t.id NOT IN (SELECT id FROM one)
    UNION
    SELECT r.id FROM reached r WHERE r.other IN (SELECT id FROM rim)
    LIMIT 100
), found AS MATERIALIZED (
    SELECT * FROM one
    UNION ALL
    SELECT t.* FROM closing c, LATERAL (SELECT * FROM kg_triples WHERE tenant_id = $1 AND id = c.id LIMIT 1) t
    UNION ALL
    (SELECT t.* FROM rim r, LATERAL (
        (SELECT * FROM kg_triples WHERE tenant_id = $1 AND subject_id = r.id AND retracted_at IS NULL
            AND (object_node_id IS NULL OR object_node_id <> ALL ($2)) ORDER BY confidence DESC LIMIT 20)
        UNION ALL
        (SELECT * FROM kg_triples WHERE tenant_id = $1 AND object_node_id = r.id AND retracted_at IS NULL
            AND subject_id <> ALL ($2) ORDER BY confidence DESC LIMIT 20)) t LIMIT 80)
)
SELECT id, subject_id, predicate_id, object_node_id, object_label AS name, object, polarity, confidence, kind, source, valid_from, valid_to,
    created_at FROM found
UNION ALL
SELECT d.id, NULL, NULL, NULL, n.label, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT subject_id AS id FROM found UNION SELECT object_node_id FROM found WHERE object_node_id IS NOT NULL) d,
    LATERAL (SELECT label FROM kg_nodes WHERE tenant_id = $1 AND id = d.id LIMIT 1) n
UNION ALL
SELECT NULL, NULL, d.id, NULL, p.name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT DISTINCT predicate_id AS id FROM found) d,
    LATERAL (SELECT name FROM kg_predicates WHERE tenant_id = $1 AND id = d.id LIMIT 1) p
