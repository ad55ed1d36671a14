-- What has one of the keys as its name. $1 tenant, $2 keys. LATERAL with a LIMIT for the reason told in around.sql.
SELECT k.key, x.id, x.label, false AS alias, NULL::boolean, NULL::boolean, NULL::uuid, NULL::uuid, 'node' AS what
FROM unnest($2::text[]) AS k (key), LATERAL (
   SELECT id, label FROM kg_nodes WHERE tenant_id = $1 AND key = k.key LIMIT 16) x
UNION ALL
SELECT k.key, n.id, n.label, true, NULL, NULL, NULL, NULL, 'node'
FROM unnest($2::text[]) AS k (key),
   LATERAL (SELECT node_id FROM kg_aliases WHERE tenant_id = $1 AND key = k.key LIMIT 16) a,
   LATERAL (SELECT id, label FROM kg_nodes WHERE tenant_id = $1 AND id = a.node_id LIMIT 1) n
UNION ALL
SELECT k.key, p.id, p.name, false, p.functional, p.is_symmetric, p.inverse_of, p.exclusive_with, 'predicate'
FROM unnest($2::text[]) AS k (key),
   LATERAL (SELECT predicate_id FROM kg_predicate_keys WHERE tenant_id = $1 AND key = k.key LIMIT 64) x,
   LATERAL (SELECT * FROM kg_predicates WHERE tenant_id = $1 AND id = x.predicate_id LIMIT 1) p
