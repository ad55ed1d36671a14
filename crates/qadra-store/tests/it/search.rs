//! Full-text search: whose messages it finds, and that it does so by its index.

use qadra_store::{ConversationChange, ListFilter};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Executor};
use uuid::Uuid;

use super::bed::{Bed, Home};

async fn hits(bed: &Bed, home: &Home, reader: Uuid, words: &str) -> Vec<Uuid> {
    let mut session = bed.session_as("qadra_app", Some(home.tenant_id)).await;
    sqlx::query_scalar("SELECT message_id FROM search_messages($1, $2) ORDER BY 1")
        .bind(words)
        .bind(reader)
        .fetch_all(&mut session)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_reader_finds_what_is_their_own_or_shared_and_nothing_else() {
    let bed = Bed::new().await;
    let (home, other) = (bed.home().await, bed.home().await);
    let colleague = Uuid::from_u128(0xc0);
    let mut admin = bed.superuser().await;
    sqlx::query("INSERT INTO users (id, tenant_id, email, password_hash, name) VALUES ($1, $2, 'c@example.org', '', 'C')")
        .bind(colleague)
        .bind(home.tenant_id)
        .execute(&mut admin)
        .await
        .unwrap();
    let agent = bed.agent(&home, "a").await;
    let foreign = bed.agent(&other, "a").await;
    let theirs = bed.conversation(&other).await;
    bed.exchange(&other, theirs.id, &foreign, ("pangolins", "yes"))
        .await;
    let mut tx = bed.store.tenant(&other.ctx).await.unwrap();
    let share = ConversationChange {
        is_shared: Some(true),
        ..Default::default()
    };
    tx.conversation_update(theirs.id, &share)
        .await
        .unwrap()
        .unwrap();
    tx.commit().await.unwrap();

    let thread = bed.conversation(&home).await;
    let [question, answer] = bed
        .exchange(
            &home,
            thread.id,
            &agent,
            ("Do pangolins eat ants?", "They do."),
        )
        .await;
    assert_eq!(
        hits(&bed, &home, home.user_id, "pangolin").await,
        [question.id]
    );
    assert_eq!(
        hits(&bed, &home, home.user_id, "they").await,
        Vec::<Uuid>::new()
    );
    assert_eq!(
        hits(&bed, &home, home.user_id, "eating").await,
        [question.id]
    );
    // A colleague, until it is shared; a member of another tenant never, whoever they claim to be.
    assert_eq!(
        hits(&bed, &home, colleague, "pangolin").await,
        Vec::<Uuid>::new()
    );
    assert_eq!(
        hits(&bed, &other, home.user_id, "ants").await,
        Vec::<Uuid>::new()
    );
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    tx.conversation_update(thread.id, &share)
        .await
        .unwrap()
        .unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        hits(&bed, &home, colleague, "pangolin").await,
        [question.id]
    );
    assert_eq!(
        hits(&bed, &other, home.user_id, "ants").await,
        Vec::<Uuid>::new()
    );
    // One hit for each thread, the newest.
    let [again, _] = bed
        .exchange(&home, thread.id, &agent, ("And pangolins sleep?", "Yes."))
        .await;
    assert_eq!(
        hits(&bed, &home, home.user_id, "pangolin").await,
        [again.id]
    );
    assert!(answer.position == 2);

    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    let filter = ListFilter {
        user_id: home.user_id,
        shared_by_others: false,
        archived: None,
        words: Some("pangolin"),
        limit: 10,
        offset: 0,
    };
    let (listed, total) = tx.conversation_list(&filter).await.unwrap();
    assert_eq!(total, 1);
    let found = listed[0].found.as_ref().unwrap();
    assert_eq!(
        (found.message_id, found.snippet.as_str()),
        (again.id, "pangolins sleep")
    );
    assert!(tx.conversation_delete(thread.id).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(
        hits(&bed, &home, home.user_id, "pangolin").await,
        Vec::<Uuid>::new()
    );
}

#[tokio::test]
async fn without_a_tenant_nothing_is_found() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let agent = bed.agent(&home, "a").await;
    let thread = bed.conversation(&home).await;
    bed.exchange(&home, thread.id, &agent, ("pangolins", "yes"))
        .await;
    let mut session = bed.session_as("qadra_app", None).await;
    let found: Vec<Uuid> =
        sqlx::query_scalar("SELECT message_id FROM search_messages('pangolins', $1)")
            .bind(home.user_id)
            .fetch_all(&mut session)
            .await
            .unwrap();
    assert_eq!(found, Vec::<Uuid>::new());
}

#[tokio::test]
async fn any_words_are_a_query() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    for words in [
        "",
        " ",
        "the",
        "\"",
        "a OR",
        "-",
        "& | ! ( :*",
        "'; DROP TABLE users; --",
        "\\",
        "字 🐻 é",
    ] {
        assert_eq!(
            hits(&bed, &home, home.user_id, words).await,
            Vec::<Uuid>::new(),
            "{words:?}"
        );
    }
}

/// The plan of the function's own statement, run by the function's owner under the function's policies.
#[tokio::test]
async fn the_search_goes_through_the_text_index_by_tenant_and_word() {
    let bed = Bed::new().await;
    let (home, other) = (bed.home().await, bed.home().await);
    let (thread, theirs) = (
        bed.conversation(&home).await,
        bed.conversation(&other).await,
    );
    let mut admin = bed.superuser().await;
    for (home, thread) in [(&home, &thread), (&other, &theirs)] {
        sqlx::query(
            "INSERT INTO conversation_messages (tenant_id, id, conversation_id, branch_id, position, role, content)
             SELECT $1, gen_random_uuid(), $2, $3, n, 'user',
                    'message about topic' || n % 1000 || ' and thing' || n || repeat(' filler', 20)
             FROM generate_series(1, 4000) n",
        )
        .bind(home.tenant_id)
        .bind(thread.id)
        .bind(thread.active_branch_id)
        .execute(&mut admin)
        .await
        .unwrap();
    }
    admin
        .execute("VACUUM ANALYZE conversation_messages; ")
        .await
        .unwrap();
    let body: String =
        sqlx::query_scalar("SELECT prosrc FROM pg_proc WHERE proname = 'search_messages'")
            .fetch_one(&mut admin)
            .await
            .unwrap();
    // The parameters as a prepared statement knows them.
    let body = body.replace(" words)", " $1)").replace(" reader ", " $2 ");
    assert!(body.contains("$1") && body.contains("$2"), "{body}");
    admin
        .execute(AssertSqlSafe(format!(
            "BEGIN; SET LOCAL ROLE qadra_search; SET LOCAL qadra.tenant_id = '{}'; PREPARE search (text, uuid) AS {body}",
            home.tenant_id
        )))
        .await
        .unwrap();
    for mode in ["force_custom_plan", "force_generic_plan"] {
        admin
            .execute(AssertSqlSafe(format!("SET LOCAL plan_cache_mode = {mode}")))
            .await
            .unwrap();
        let sql = format!(
            "EXPLAIN (FORMAT JSON) EXECUTE search ('topic7', '{}')",
            home.user_id
        );
        let plan: Value = sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_one(&mut admin)
            .await
            .unwrap();
        let scan = node(&plan, &|n| n["Index Name"] == "conversation_messages_text")
            .unwrap_or_else(|| panic!("{mode}: the index is not used: {plan:#}"));
        let condition = scan["Index Cond"].as_str().unwrap_or_default();
        assert!(
            condition.contains("tenant_id") && condition.contains("@@"),
            "{mode}: {condition}"
        );
        let whole = node(&plan, &|n| {
            n["Node Type"] == "Seq Scan" && n["Relation Name"] == "conversation_messages"
        });
        assert_eq!(whole, None, "{mode}: {plan:#}");
    }
}

fn node<'a>(plan: &'a Value, wanted: &dyn Fn(&Value) -> bool) -> Option<&'a Value> {
    match plan {
        Value::Object(o) if wanted(plan) => Some(plan).filter(|_| !o.is_empty()),
        Value::Object(o) => o.values().find_map(|v| node(v, wanted)),
        Value::Array(a) => a.iter().find_map(|v| node(v, wanted)),
        _ => None,
    }
}
