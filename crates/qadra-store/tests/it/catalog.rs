//! What the schema promises, read from PostgreSQL's own catalog, so that a new table cannot forget it.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor};

use super::bed::Bed;

/// None of them logs in; see the first migration.
const ROLES: [&str; 5] = [
    "qadra_app",
    "qadra_auth",
    "qadra_system",
    "qadra_search",
    "qadra_runner_fn",
];

/// Runs a query that finds offenders, one text each, in order.
async fn found(sql: &str) -> Vec<String> {
    let bed = Bed::new().await;
    found_by(&mut bed.superuser().await, sql).await
}

async fn found_by(session: &mut PgConnection, sql: &str) -> Vec<String> {
    let mut rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql))
        .fetch_all(session)
        .await
        .unwrap();
    rows.sort();
    rows
}

async fn none(sql: &str) {
    assert_eq!(found(sql).await, Vec::<String>::new());
}

#[tokio::test]
async fn every_table_has_row_level_security_enabled_forced_and_a_policy() {
    none(
        "SELECT c.relname::text FROM pg_class c
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> '_sqlx_migrations'
           AND NOT (c.relrowsecurity AND c.relforcerowsecurity
                    AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))",
    )
    .await;
}

#[tokio::test]
async fn only_tenants_themselves_and_processes_have_no_tenant_id() {
    let tables = found(
        "SELECT c.relname::text FROM pg_class c
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'f')
           AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND a.attnotnull)",
    )
    .await;
    assert_eq!(tables, ["_sqlx_migrations", "flow_workers", "tenants"]);
}

#[tokio::test]
async fn tenant_work_is_confined_by_every_policy_that_admits_it() {
    none(
        "SELECT tablename || '.' || policyname FROM pg_policies
         WHERE roles && ARRAY['qadra_app', 'public']::name[]
           AND (qual IS NULL OR qual NOT LIKE '%current_tenant()%' OR permissive <> 'PERMISSIVE'
                OR (with_check IS NOT NULL AND with_check NOT LIKE '%current_tenant()%') OR 'public' = ANY (roles))",
    )
    .await;
    // Who is let past the tenant, and where; the owner, who is a member of them all, is not.
    let open = found(
        "SELECT tablename || '.' || policyname || ' ' || array_to_string(roles, ',') || ' ' || qual FROM pg_policies
         WHERE NOT 'qadra_app' = ANY (roles)",
    )
    .await;
    assert_eq!(
        open,
        [
            "api_keys.sign_in qadra_auth acting_as('qadra_auth'::name)",
            "conversation_messages.search qadra_search acting_as('qadra_search'::name)",
            "conversation_turns.recovery qadra_system acting_as('qadra_system'::name)",
            "conversations.recovery qadra_system acting_as('qadra_system'::name)",
            "conversations.search qadra_search acting_as('qadra_search'::name)",
            "document_chunks.search qadra_search acting_as('qadra_search'::name)",
            "document_jobs.work qadra_system acting_as('qadra_system'::name)",
            "document_turns.work qadra_system acting_as('qadra_system'::name)",
            "documents.search qadra_search acting_as('qadra_search'::name)",
            "flow_deliveries.sweep qadra_system (acting_as('qadra_system'::name) AND (at < (now() - '01:00:00'::interval)))",
            "flow_executions.work qadra_runner_fn acting_as('qadra_runner_fn'::name)",
            "flow_inbox.work qadra_runner_fn acting_as('qadra_runner_fn'::name)",
            "flow_journal.work qadra_runner_fn acting_as('qadra_runner_fn'::name)",
            "flow_snapshots.work qadra_runner_fn acting_as('qadra_runner_fn'::name)",
            "flow_triggers.due qadra_system (acting_as('qadra_system'::name) AND (kind = 'schedule'::text))",
            "flow_triggers.webhook qadra_auth (acting_as('qadra_auth'::name) AND (kind = 'webhook'::text))",
            "flow_workers.work qadra_runner_fn acting_as('qadra_runner_fn'::name)",
            "kg_aliases.search qadra_search acting_as('qadra_search'::name)",
            "kg_nodes.search qadra_search acting_as('qadra_search'::name)",
            "memories.sweep qadra_system (acting_as('qadra_system'::name) AND (expires_at < now()))",
            "refresh_tokens.sign_in qadra_auth acting_as('qadra_auth'::name)",
            "tenants.sign_in qadra_auth acting_as('qadra_auth'::name)",
            "user_tenants.sign_in qadra_auth acting_as('qadra_auth'::name)",
            "users.sign_in qadra_auth acting_as('qadra_auth'::name)",
        ]
    );
}

#[tokio::test]
async fn no_role_has_a_power_over_others() {
    let bed = Bed::new().await;
    let mut admin = bed.superuser().await;
    let powers = found_by(
        &mut admin,
        "SELECT rolname::text FROM pg_roles WHERE (rolname = 'qadra' AND (rolsuper OR rolbypassrls OR rolcreatedb OR rolreplication))
            OR (rolname IN ('qadra_app', 'qadra_auth', 'qadra_system', 'qadra_search', 'qadra_runner_fn')
                AND (rolsuper OR rolbypassrls OR rolcanlogin OR rolcreatedb OR rolcreaterole OR rolreplication))",
    )
    .await;
    assert_eq!(powers, Vec::<String>::new());
    let memberships = found_by(
        &mut admin,
        "SELECT member::regrole::text || ' in ' || roleid::regrole::text FROM pg_auth_members
         WHERE member::regrole::text LIKE 'qadra\\_%'",
    )
    .await;
    assert_eq!(memberships, Vec::<String>::new());
    for role in ROLES {
        let sql =
            format!("SELECT '{role}' WHERE has_schema_privilege('{role}', 'public', 'CREATE')");
        assert_eq!(found_by(&mut admin, &sql).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn our_roles_own_nothing_but_their_functions() {
    let owned = found(
        "SELECT refobjid::regrole::text || ' owns ' || pg_describe_object(classid, objid, 0) FROM pg_shdepend
         WHERE deptype = 'o' AND refclassid = 'pg_authid'::regclass AND refobjid::regrole::text LIKE 'qadra\\_%'
           AND dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))",
    )
    .await;
    assert_eq!(
        owned,
        [
            "qadra_runner_fn owns function flow_append(uuid,uuid[],uuid[],bigint[],integer[],text[],text[],timestamp with time zone[],boolean[],integer[],text[],integer[],integer[],text[],text[],integer[],timestamp with time zone[],text[],integer[],uuid[])",
            "qadra_runner_fn owns function flow_claim(uuid,integer,integer,interval)",
            "qadra_runner_fn owns function flow_entries(uuid,uuid,integer)",
            "qadra_runner_fn owns function flow_heartbeat(uuid,text,boolean)",
            "qadra_runner_fn owns function flow_journal_forget()",
            "qadra_runner_fn owns function flow_next_ready()",
            "qadra_runner_fn owns function flow_open(uuid,uuid,boolean)",
            "qadra_runner_fn owns function flow_release(uuid)",
            "qadra_search owns function search_chunks(text,boolean,integer)",
            "qadra_search owns function search_messages(text,uuid)",
            "qadra_search owns function similar_names(text[])",
        ]
    );
}

#[tokio::test]
async fn each_role_reaches_the_tables_of_its_work_and_no_others() {
    let reached = found(
        "SELECT g.grantee || ': ' || string_agg(DISTINCT g.table_name, ' ' ORDER BY g.table_name)
         FROM information_schema.column_privileges g
         WHERE g.grantee IN ('qadra_auth', 'qadra_system', 'qadra_search', 'qadra_runner_fn') AND g.table_schema = 'public' GROUP BY g.grantee",
    )
    .await;
    assert_eq!(
        reached,
        [
            "qadra_auth: api_keys flow_triggers refresh_tokens tenants user_tenants users",
            "qadra_runner_fn: flow_executions flow_inbox flow_journal flow_snapshots flow_workers",
            "qadra_search: conversation_messages conversations document_chunks documents kg_aliases kg_nodes",
            "qadra_system: conversation_turns conversations document_jobs document_turns flow_deliveries flow_triggers memories",
        ]
    );
    none(
        "SELECT table_name || ' ' || privilege_type || ' ' || grantee FROM information_schema.table_privileges
         WHERE table_schema = 'public'
           AND (grantee = 'PUBLIC' OR (grantee LIKE 'qadra\\_%' AND privilege_type NOT IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')))",
    )
    .await;
    // Nothing is granted onwards.
    none(
        "SELECT table_name || ' ' || grantee FROM information_schema.table_privileges
         WHERE grantee LIKE 'qadra\\_%' AND is_grantable = 'YES'",
    )
    .await;
}

#[tokio::test]
async fn tenant_work_cannot_read_a_hash() {
    none(
        "SELECT c.table_name || '.' || c.column_name FROM information_schema.columns c
         WHERE c.table_schema = 'public' AND c.table_name <> '_sqlx_migrations' AND c.column_name ~ '(hash|password|secret)'
           AND has_column_privilege('qadra_app', format('%I.%I', c.table_schema, c.table_name), c.column_name, 'SELECT')",
    )
    .await;
    let bed = Bed::new().await;
    let home = bed.home().await;
    for sql in [
        "SELECT password_hash FROM users",
        "SELECT * FROM users",
        "SELECT key_hash FROM api_keys",
        "SELECT id FROM refresh_tokens",
        "UPDATE users SET password_hash = ''",
        "UPDATE user_tenants SET role = 'owner'",
        "TRUNCATE conversations CASCADE",
        "DELETE FROM audit_log",
        "SELECT version FROM _sqlx_migrations",
    ] {
        let mut session = bed.session_as("qadra_app", Some(home.tenant_id)).await;
        let error = session.execute(sql).await.unwrap_err();
        let code = error
            .as_database_error()
            .and_then(|e| e.code())
            .map(|c| c.into_owned());
        assert_eq!(code.as_deref(), Some("42501"), "{sql}: {error}");
    }
}

#[tokio::test]
async fn every_key_contains_the_tenant() {
    // What must be unique in the whole installation, and why.
    let justified = [
        // An account signs in before a tenant is known, and may belong to several.
        "users_email_key (email)",
        "users_pkey (id)",
        "user_tenants_one_default (user_id)",
        // Found by their hash alone, before a tenant is known.
        "api_keys_key_hash_key (key_hash)",
        "refresh_tokens_token_hash_key (token_hash)",
    ];
    let mut keys = found(
        "SELECT i.indexrelid::regclass::text || ' (' || (SELECT string_agg(pg_get_indexdef(i.indexrelid, n, true), ', ' ORDER BY n)
                FROM generate_series(1, i.indnkeyatts) n) || ')'
         FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
         WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique AND NOT a.attnum = ANY (i.indkey)",
    )
    .await;
    keys.retain(|key| !justified.contains(&key.as_str()));
    assert_eq!(keys, Vec::<String>::new());
}

#[tokio::test]
async fn every_reference_between_tenant_tables_carries_the_tenant() {
    // A person's account is not inside one tenant: the membership is.
    let justified = [
        "conversations (user_id) to users",
        "user_tenants (user_id) to users",
    ];
    let mut references = found(
        "SELECT k.conrelid::regclass || ' (' || (SELECT string_agg(a.attname, ', ') FROM pg_attribute a
                WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)) || ') to ' || k.confrelid::regclass
         FROM pg_constraint k
         JOIN pg_attribute mine ON mine.attrelid = k.conrelid AND mine.attname = 'tenant_id'
         JOIN pg_attribute theirs ON theirs.attrelid = k.confrelid AND theirs.attname = 'tenant_id'
         WHERE k.contype = 'f' AND NOT EXISTS (
             SELECT FROM unnest(k.conkey, k.confkey) AS p (mine, theirs) WHERE p.mine = mine.attnum AND p.theirs = theirs.attnum)",
    )
    .await;
    references.retain(|r| !justified.contains(&r.as_str()));
    assert_eq!(references, Vec::<String>::new());
}

#[tokio::test]
async fn no_view_looks_past_row_level_security() {
    none(
        "SELECT c.relname::text FROM pg_class c
         WHERE c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
           AND (c.relkind = 'm' OR (c.relkind = 'v' AND NOT coalesce(c.reloptions, '{}') && '{security_invoker=true,security_invoker=on}'))",
    )
    .await;
    // Nor does a rule, which runs as its table's owner.
    none(
        "SELECT r.rulename::text FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind <> 'v'",
    )
    .await;
}

#[tokio::test]
async fn only_listed_functions_have_their_owners_rights() {
    let functions = found(
        "SELECT p.proname || ' by ' || p.proowner::regrole || ' ' || p.proconfig[1]
                || ' for ' || array_to_string(p.proacl, ' ')
         FROM pg_proc p WHERE p.prosecdef AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)",
    )
    .await;
    // pg_temp is named so that it comes last: unnamed it would come first, and a temporary table could take the
    // place of ours inside the function.
    assert_eq!(
        functions,
        [
            "flow_append by qadra_runner_fn search_path=pg_catalog, public, pg_temp \
          for qadra_runner_fn=X/qadra_runner_fn qadra=X/qadra_runner_fn",
            "flow_claim by qadra_runner_fn search_path=pg_catalog, public, pg_temp \
          for qadra_runner_fn=X/qadra_runner_fn qadra=X/qadra_runner_fn",
            "flow_entries by qadra_runner_fn search_path=pg_catalog, public, pg_temp \
          for qadra_runner_fn=X/qadra_runner_fn qadra=X/qadra_runner_fn",
            "flow_heartbeat by qadra_runner_fn search_path=pg_catalog, public, pg_temp \
          for qadra_runner_fn=X/qadra_runner_fn qadra=X/qadra_runner_fn",
            "flow_journal_forget by qadra_runner_fn search_path=pg_catalog, public, pg_temp \
          for qadra_runner_fn=X/qadra_runner_fn qadra=X/qadra_runner_fn",
            "flow_next_ready by qadra_runner_fn search_path=pg_catalog, public, pg_temp \
          for qadra_runner_fn=X/qadra_runner_fn qadra=X/qadra_runner_fn",
            "flow_open by qadra_runner_fn search_path=pg_catalog, public, pg_temp \
          for qadra_runner_fn=X/qadra_runner_fn qadra=X/qadra_runner_fn",
            "flow_release by qadra_runner_fn search_path=pg_catalog, public, pg_temp \
          for qadra_runner_fn=X/qadra_runner_fn qadra=X/qadra_runner_fn",
            "search_chunks by qadra_search search_path=pg_catalog, public, pg_temp \
          for qadra_search=X/qadra_search qadra_app=X/qadra_search",
            "search_messages by qadra_search search_path=pg_catalog, public, pg_temp \
          for qadra_search=X/qadra_search qadra_app=X/qadra_search",
            "similar_names by qadra_search search_path=pg_catalog, public, pg_temp \
          for qadra_search=X/qadra_search qadra_app=X/qadra_search",
        ]
    );
}

#[tokio::test]
async fn a_temporary_view_cannot_borrow_the_search_functions_rights() {
    let bed = Bed::new().await;
    let (mine, theirs) = (bed.home().await, bed.home().await);
    let agent = bed.agent(&theirs, "a").await;
    let thread = bed.conversation(&theirs).await;
    bed.exchange(&theirs, thread.id, &agent, ("their secret", "kept"))
        .await;
    let mut session = bed.session_as("qadra_app", Some(mine.tenant_id)).await;
    session
        .execute(
            "CREATE FUNCTION pg_temp.spy() RETURNS text LANGUAGE sql AS 'SELECT string_agg(content, '' '') FROM public.conversation_messages';
             CREATE TEMP VIEW conversation_messages AS
                SELECT current_tenant() AS tenant_id, uuid_nil AS id, uuid_nil AS conversation_id,
                       'secret ' || pg_temp.spy() AS content, now() AS created_at
                FROM (SELECT '00000000-0000-0000-0000-000000000000'::uuid AS uuid_nil) x;
             CREATE TEMP VIEW conversations AS
                SELECT current_tenant() AS tenant_id, '00000000-0000-0000-0000-000000000000'::uuid AS id,
                       current_tenant() AS user_id, true AS is_shared, NULL::timestamptz AS deleted_at;
             GRANT SELECT ON pg_temp.conversation_messages, pg_temp.conversations TO PUBLIC",
        )
        .await
        .unwrap();
    let snippets: Vec<String> =
        sqlx::query_scalar("SELECT snippet FROM search_messages('secret', $1)")
            .bind(mine.user_id)
            .fetch_all(&mut session)
            .await
            .unwrap();
    assert_eq!(snippets, Vec::<String>::new());
}
