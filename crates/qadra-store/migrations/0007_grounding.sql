-- What a question needs of a large graph: each look-up touches a bounded number of rows, however many there are.

-- What a node has under one predicate, whichever end of the statement it is; a hub has too many statements to filter.
CREATE INDEX kg_triples_about ON kg_triples (tenant_id, subject_id, predicate_id, confidence DESC) WHERE retracted_at IS NULL;
CREATE INDEX kg_triples_of    ON kg_triples (tenant_id, object_node_id, predicate_id, confidence DESC) WHERE retracted_at IS NULL AND object_node_id IS NOT NULL;
-- Whether two nodes are joined; also all of a node's objects without reading the table.
CREATE INDEX kg_triples_pair  ON kg_triples (tenant_id, subject_id, object_node_id) INCLUDE (id) WHERE retracted_at IS NULL AND object_node_id IS NOT NULL;

-- Misspelt names. A trigram index reads every name that shares some of the letters, which are most of them once there
-- are millions: 13 to 160 ms for one phrase among 360,000 names. Instead each name is found by what a slip leaves as it
-- was. Of its three thirds one slip touches one, so forms 1 to 3 are the name without its first, middle and last third;
-- two slips leave such a form if they are in the same third. Form 0 is what is left of it when vowels, doubled letters and
-- letters that sound alike do not count. Figures are never a slip, so every form holds all of them. Hashes, because they
-- are short and the caller compares the names anyway.
CREATE FUNCTION name_form(key text, form integer) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT hashtextextended(
        CASE form
            WHEN 1 THEN char_length(key)::text || '1' || right(key, char_length(key) - char_length(key) / 3)
            WHEN 2 THEN char_length(key)::text || '2' || left(key, char_length(key) / 3) || '*' || right(key, char_length(key) - char_length(key) * 2 / 3)
            WHEN 3 THEN char_length(key)::text || '3' || left(key, char_length(key) * 2 / 3)
            ELSE left(key, 1) || regexp_replace(translate(substr(key, 2), 'cqzaeiouyhw ', 'kks'), '(.)\1+', '\1', 'g')
        END || '#' || regexp_replace(key, '\D', '', 'g'), 0)
$$;

CREATE INDEX kg_nodes_form_0 ON kg_nodes (tenant_id, name_form(key, 0));
CREATE INDEX kg_nodes_form_1 ON kg_nodes (tenant_id, name_form(key, 1));
CREATE INDEX kg_nodes_form_2 ON kg_nodes (tenant_id, name_form(key, 2));
CREATE INDEX kg_nodes_form_3 ON kg_nodes (tenant_id, name_form(key, 3));
CREATE INDEX kg_aliases_form_0 ON kg_aliases (tenant_id, name_form(key, 0));
CREATE INDEX kg_aliases_form_1 ON kg_aliases (tenant_id, name_form(key, 1));
CREATE INDEX kg_aliases_form_2 ON kg_aliases (tenant_id, name_form(key, 2));
CREATE INDEX kg_aliases_form_3 ON kg_aliases (tenant_id, name_form(key, 3));

-- The functions inside the forms are not leakproof, so row-level security would keep these indexes from being used: see
-- 0003 for why this is a function with its owner's rights.
CREATE POLICY search ON kg_nodes   TO qadra_search USING (acting_as('qadra_search'));
CREATE POLICY search ON kg_aliases TO qadra_search USING (acting_as('qadra_search'));
GRANT SELECT (tenant_id, id, label, key) ON kg_nodes TO qadra_search;
GRANT SELECT (tenant_id, node_id, alias, key) ON kg_aliases TO qadra_search;

-- Names that may be what somebody meant by each of at most 16 keys; at most 24 for each form of a key, 2,000 in all. They
-- are candidates: the caller compares them. PL/pgSQL keeps the plan, which takes longer to make than to run.
CREATE FUNCTION similar_names(keys text[])
    RETURNS TABLE (key text, node_id uuid, label text, name text, name_key text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE tenant CONSTANT uuid := current_tenant();
BEGIN
    RETURN QUERY
    WITH q AS (
        SELECT k, char_length(k) AS m, '#' || regexp_replace(k, '\D', '', 'g') AS figures
        FROM unnest(keys[1:16]) AS u (k) WHERE char_length(k) BETWEEN 3 AND 120
    ), probes AS MATERIALIZED (
        -- The forms that a name of n letters has if k is that name with a slip.
        SELECT q.k, x.form, hashtextextended(n::text || x.form || x.rest || q.figures, 0) AS hash
        FROM q, generate_series(m - CASE WHEN m > 7 THEN 2 ELSE 1 END, m + CASE WHEN m > 6 THEN 2 ELSE 1 END) AS n,
            LATERAL (VALUES (1, right(k, n - n / 3)), (2, left(k, n / 3) || '*' || right(k, n - n * 2 / 3)), (3, left(k, n * 2 / 3))) AS x (form, rest)
        UNION ALL
        -- A swap of the two letters where two thirds meet touches both.
        SELECT q.k, 1, name_form(left(k, a - 1) || substr(k, a + 1, 1) || substr(k, a, 1) || substr(k, a + 2), 1)
        FROM q, LATERAL (VALUES (m / 3), (m * 2 / 3)) AS x (a)
        UNION ALL
        SELECT q.k, 0, name_form(k, 0) FROM q WHERE m > 5
    ), hits AS (
        SELECT p.k, x.id, x.label, x.label AS name, x.key FROM probes p, LATERAL (
            (SELECT n.id, n.label, n.key FROM kg_nodes n WHERE p.form = 0 AND n.tenant_id = tenant AND name_form(n.key, 0) = p.hash LIMIT 24)
            UNION ALL
            (SELECT n.id, n.label, n.key FROM kg_nodes n WHERE p.form = 1 AND n.tenant_id = tenant AND name_form(n.key, 1) = p.hash LIMIT 24)
            UNION ALL
            (SELECT n.id, n.label, n.key FROM kg_nodes n WHERE p.form = 2 AND n.tenant_id = tenant AND name_form(n.key, 2) = p.hash LIMIT 24)
            UNION ALL
            (SELECT n.id, n.label, n.key FROM kg_nodes n WHERE p.form = 3 AND n.tenant_id = tenant AND name_form(n.key, 3) = p.hash LIMIT 24)) x
        UNION ALL
        SELECT p.k, x.node_id, l.label, x.alias, x.key FROM probes p, LATERAL (
            (SELECT a.node_id, a.alias, a.key FROM kg_aliases a WHERE p.form = 0 AND a.tenant_id = tenant AND name_form(a.key, 0) = p.hash LIMIT 24)
            UNION ALL
            (SELECT a.node_id, a.alias, a.key FROM kg_aliases a WHERE p.form = 1 AND a.tenant_id = tenant AND name_form(a.key, 1) = p.hash LIMIT 24)
            UNION ALL
            (SELECT a.node_id, a.alias, a.key FROM kg_aliases a WHERE p.form = 2 AND a.tenant_id = tenant AND name_form(a.key, 2) = p.hash LIMIT 24)
            UNION ALL
            (SELECT a.node_id, a.alias, a.key FROM kg_aliases a WHERE p.form = 3 AND a.tenant_id = tenant AND name_form(a.key, 3) = p.hash LIMIT 24)) x,
            LATERAL (SELECT n.label FROM kg_nodes n WHERE n.tenant_id = tenant AND n.id = x.node_id LIMIT 1) l
        LIMIT 2000
    )
    SELECT DISTINCT h.k, h.id, h.label, h.name, h.key FROM hits h;
END
$$;
GRANT CREATE ON SCHEMA public TO qadra_search;
ALTER FUNCTION similar_names(text[]) OWNER TO qadra_search;
REVOKE CREATE ON SCHEMA public FROM qadra_search;
REVOKE ALL ON FUNCTION similar_names(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION similar_names(text[]) TO qadra_app;

-- Plans are made once for a connection, maybe while these tables are empty. Of a table that was never analysed the planner
-- believes that hardly a row has retracted_at NULL; then all indexes look alike, and it takes the smallest, which reads the
-- tenant's whole graph. So it is shown what a graph looks like. What it learns stays when the rows are gone, until it has
-- real ones to learn from.
ALTER TABLE tenants           NO FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_nodes          NO FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_aliases        NO FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_predicates     NO FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_predicate_keys NO FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_triples        NO FORCE ROW LEVEL SECURITY;
DO $$
DECLARE t CONSTANT uuid := gen_random_uuid();
BEGIN
    IF EXISTS (SELECT FROM kg_triples) THEN
        ANALYZE kg_nodes, kg_aliases, kg_predicates, kg_predicate_keys, kg_triples;
        RETURN;
    END IF;
    INSERT INTO tenants (id, name, slug) VALUES (t, t::text, t::text);
    INSERT INTO kg_nodes (tenant_id, id, label, identity, key)
        SELECT t, md5('n' || n)::uuid, md5('n' || n), md5('n' || n), md5('n' || n) FROM generate_series(0, 1999) n;
    INSERT INTO kg_aliases (tenant_id, id, node_id, alias, identity, key)
        SELECT t, md5('a' || n)::uuid, md5('n' || n)::uuid, md5('a' || n), md5('a' || n), md5('a' || n) FROM generate_series(0, 999) n;
    INSERT INTO kg_predicates (tenant_id, id, name) SELECT t, md5('p' || n)::uuid, 'p' || n FROM generate_series(0, 199) n;
    INSERT INTO kg_predicate_keys (tenant_id, key, predicate_id) SELECT t, 'p' || n, md5('p' || n)::uuid FROM generate_series(0, 199) n;
    INSERT INTO kg_triples (tenant_id, id, subject_id, predicate_id, object_node_id, object, object_key, object_label, confidence)
        SELECT t, md5('t' || n)::uuid, md5('n' || n % 2000)::uuid, md5('p' || n % 200)::uuid,
            CASE WHEN n % 4 > 0 THEN md5('n' || n % 1777)::uuid END, CASE WHEN n % 4 = 0 THEN to_jsonb(n) END, md5('o' || n), 'o' || n, (n % 100) / 100.0
        FROM generate_series(1, 6000) n;
    ANALYZE kg_nodes, kg_aliases, kg_predicates, kg_predicate_keys, kg_triples;
    DELETE FROM kg_triples WHERE tenant_id = t;
    DELETE FROM kg_aliases WHERE tenant_id = t;
    DELETE FROM kg_predicate_keys WHERE tenant_id = t;
    DELETE FROM kg_predicates WHERE tenant_id = t;
    DELETE FROM kg_nodes WHERE tenant_id = t;
    DELETE FROM tenants WHERE id = t;
END
$$;
ALTER TABLE tenants           FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_nodes          FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_aliases        FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_predicates     FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_predicate_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE kg_triples        FORCE ROW LEVEL SECURITY;
