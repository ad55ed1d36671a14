//! Documents in the database: fair work, claims that can be lost, what a withdrawal takes along, and searches.

use qadra_store::{
    Job, JobKind, Linked, NewChunk, NewDocument, NewFinding, NewObject, NewTriple, ObjectAt,
    Presence, SupportCounts, TenantTx, Transition, TripleLink,
};
use qadra_types::new_id;
use serde_json::json;
use sqlx::Executor;
use uuid::Uuid;

use super::bed::{Bed, Home, join_all, name};

fn new(id: Uuid, by: Uuid, title: &str) -> NewDocument<'_> {
    NewDocument {
        id,
        title,
        content_type: "text/plain",
        source_url: None,
        source_type: "api",
        filename: None,
        size_bytes: 1,
        proposed_by: by,
        proposed_by_agent: None,
    }
}

async fn propose(bed: &Bed, home: &Home, title: &str, kind: JobKind) -> Uuid {
    let id = new_id();
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    tx.document_create(&new(id, home.user_id, title))
        .await
        .unwrap();
    tx.job_put(id, kind).await.unwrap();
    tx.commit().await.unwrap();
    id
}

async fn go(tx: &mut TenantTx, id: Uuid, from: &[&str], to: &str) -> bool {
    let t = Transition {
        from,
        to,
        ..Default::default()
    };
    tx.document_move(id, &t).await.unwrap().is_some()
}

/// A document that was let in, with this text as its only passage.
async fn completed(bed: &Bed, home: &Home, text: &str) -> (Uuid, Uuid) {
    let (id, chunk) = (new_id(), new_id());
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    tx.document_create(&new(id, home.user_id, text))
        .await
        .unwrap();
    tx.document_text_put(id, text).await.unwrap();
    tx.chunks_put(id, &[passage(chunk, text)]).await.unwrap();
    assert!(go(&mut tx, id, &["pending_approval"], "approved").await);
    assert!(go(&mut tx, id, &["approved"], "processing").await);
    assert!(go(&mut tx, id, &["processing"], "completed").await);
    tx.commit().await.unwrap();
    (id, chunk)
}

fn passage(id: Uuid, text: &str) -> NewChunk {
    NewChunk {
        id,
        position: 0,
        span: (0, i32::try_from(text.chars().count()).unwrap()),
        heading: None,
        content: text.into(),
    }
}

fn finding(word: &str) -> NewFinding {
    NewFinding {
        position: 0,
        subject: format!("{word} subject"),
        predicate: "is".into(),
        object: json!({"type": "node", "value": format!("{word} object")}),
        positive: true,
        kind: "fact",
        confidence: 0.5,
        valid_from: None,
        valid_to: None,
        span: (0, 4),
        sentence: word.into(),
        chunk_position: Some(0),
        found_by: "rules",
    }
}

async fn take(bed: &Bed, lock: i64) -> Option<Job> {
    let mut tx = bed.store.system().await.unwrap();
    let job = tx.job_take(lock).await.unwrap();
    tx.commit().await.unwrap();
    job
}

#[tokio::test]
async fn tenants_take_turns_however_much_one_of_them_has_waiting() {
    let bed = Bed::new().await;
    let (busy, quiet) = (bed.home().await, bed.home().await);
    for n in 0..5 {
        propose(&bed, &busy, &n.to_string(), JobKind::Analyze).await;
    }
    let last = propose(&bed, &busy, "approved", JobKind::Process).await;
    let only = propose(&bed, &quiet, "only", JobKind::Analyze).await;
    let mut taken = Vec::new();
    while let Some(job) = take(&bed, 1).await {
        assert_eq!(job.attempts, 1);
        taken.push(job.document_id);
    }
    assert_eq!(taken.len(), 7);
    assert_eq!(taken[0], last, "what a person waits for goes first");
    assert_eq!(
        taken[1], only,
        "the other tenant is next, though five came before it"
    );
}

#[tokio::test]
async fn one_piece_of_work_is_taken_once() {
    let bed = Bed::with_connections(8).await;
    let home = bed.home().await;
    for n in 0..6 {
        propose(&bed, &home, &n.to_string(), JobKind::Analyze).await;
    }
    let store = bed.store.clone();
    let takers = (0..12).map(|n| {
        let store = store.clone();
        async move {
            let mut tx = store.system().await.unwrap();
            let job = tx.job_take(n).await.unwrap();
            tx.commit().await.unwrap();
            job.map(|j| j.document_id)
        }
    });
    let mut taken: Vec<Uuid> = join_all(takers).await.into_iter().flatten().collect();
    while let Some(job) = take(&bed, 99).await {
        taken.push(job.document_id);
    }
    let all = taken.len();
    taken.sort();
    taken.dedup();
    assert_eq!((all, taken.len()), (6, 6));
}

#[tokio::test]
async fn a_claim_is_void_once_the_work_was_put_again_or_taken_away() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let id = propose(&bed, &home, "d", JobKind::Analyze).await;
    let first = take(&bed, 1).await.unwrap();
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    assert!(tx.job_hold(id, first.claim).await.unwrap());
    tx.job_put(id, JobKind::Process).await.unwrap();
    assert!(!tx.job_hold(id, first.claim).await.unwrap());
    tx.commit().await.unwrap();
    let second = take(&bed, 1).await.unwrap();
    assert_eq!((second.kind, second.attempts), (JobKind::Process, 1));
    // The first one gives back what is no longer its own: nothing happens.
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    tx.job_release(id, first.claim, 0, true).await.unwrap();
    assert!(tx.job_hold(id, second.claim).await.unwrap());
    tx.job_release(id, second.claim, 0, true).await.unwrap();
    tx.commit().await.unwrap();
    let third = take(&bed, 1).await.unwrap();
    assert_eq!(third.attempts, 2);
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    tx.job_release(id, third.claim, 3_600, false).await.unwrap();
    tx.commit().await.unwrap();
    assert!(take(&bed, 1).await.is_none(), "not before its time");
}

#[tokio::test]
async fn the_work_of_a_dead_process_is_taken_up_and_that_of_a_living_one_is_not() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let (left, kept) = (
        propose(&bed, &home, "left", JobKind::Process).await,
        propose(&bed, &home, "kept", JobKind::Process).await,
    );
    let (dead, alive) = (
        Presence::announce(&bed.db.options()).await.unwrap(),
        Presence::announce(&bed.db.options()).await.unwrap(),
    );
    assert_eq!(take(&bed, dead.owner_lock).await.unwrap().document_id, left);
    assert_eq!(
        take(&bed, alive.owner_lock).await.unwrap().document_id,
        kept
    );
    let recover = async || {
        let mut tx = bed.store.system().await.unwrap();
        let found = tx.jobs_recover(1, &[]).await.unwrap();
        tx.commit().await.unwrap();
        found
    };
    assert_eq!(recover().await, 0);
    dead.withdraw().await.unwrap();
    assert_eq!(recover().await, 1);
    let again = take(&bed, alive.owner_lock).await.unwrap();
    assert_eq!((again.document_id, again.attempts), (left, 2));
    assert!(take(&bed, 1).await.is_none());
}

/// Links one statement of the words to a document.
async fn carry(
    tx: &mut TenantTx,
    home: &Home,
    document: Uuid,
    position: i32,
    words: (&str, &str),
) -> (Uuid, Linked) {
    let (s, o) = (name(words.0), name(words.1));
    let nodes = tx.nodes_make(&[&s, &o]).await.unwrap();
    let predicate_id = tx.predicate_named("is", &["be".into()]).await.unwrap();
    let link = TripleLink {
        position,
        subject_id: nodes[&s.identity],
        predicate_id,
        object: ObjectAt::Node {
            id: nodes[&o.identity],
            label: words.1.into(),
        },
        positive: true,
        confidence: 0.5,
        kind: "fact".into(),
        source: "a document".into(),
        valid_from: None,
        valid_to: None,
        chunk_id: None,
        span: (0, 1),
        sentence: "s".into(),
    };
    tx.triple_link(document, &link, home.user_id).await.unwrap()
}

fn stated(words: (&str, &str)) -> NewTriple {
    NewTriple {
        subject: name(words.0),
        predicate: "is".into(),
        predicate_keys: vec!["be".into()],
        object: NewObject::Node(name(words.1)),
        positive: true,
        confidence: 1.0,
        kind: "fact".into(),
        source: Some("a document".into()),
        valid_from: None,
        valid_to: None,
    }
}

#[tokio::test]
async fn a_withdrawal_takes_what_only_this_document_says() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let ((one, _), (two, _)) = (
        completed(&bed, &home, "one").await,
        completed(&bed, &home, "two").await,
    );
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    // Said by a person before, by a person after, by both documents, and by this one alone (twice).
    let before = tx
        .triples_insert(&[stated(("a", "x"))], home.user_id)
        .await
        .unwrap()[0];
    assert_eq!(
        carry(&mut tx, &home, one, 0, ("a", "x")).await,
        (before, Linked::Supported)
    );
    let (after, linked) = carry(&mut tx, &home, one, 1, ("b", "x")).await;
    assert_eq!(linked, Linked::Added);
    let said = tx
        .triples_insert(&[stated(("b", "x"))], home.user_id)
        .await
        .unwrap();
    assert_eq!(said, [after]);
    let (both, _) = carry(&mut tx, &home, one, 2, ("c", "x")).await;
    assert_eq!(
        carry(&mut tx, &home, two, 0, ("c", "x")).await,
        (both, Linked::Supported)
    );
    let (alone, _) = carry(&mut tx, &home, one, 3, ("d", "x")).await;
    assert_eq!(
        carry(&mut tx, &home, one, 4, ("d", "x")).await,
        (alone, Linked::Supported)
    );
    assert_eq!(
        carry(&mut tx, &home, one, 4, ("d", "x")).await,
        (alone, Linked::Repeated)
    );
    let counts = tx.support_counts(one).await.unwrap();
    assert_eq!(
        (counts.sentences, counts.added, counts.supported),
        (1, 3, 1)
    );
    tx.commit().await.unwrap();

    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    assert_eq!(tx.support_withdraw(one, home.user_id).await.unwrap(), 1);
    assert_eq!(tx.support_withdraw(one, home.user_id).await.unwrap(), 0);
    tx.commit().await.unwrap();
    let standing = async || {
        let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
        let mut rows = tx.triples_get(&[before, after, both, alone]).await.unwrap();
        rows.retain(|t| t.retracted_at.is_none());
        let mut ids: Vec<Uuid> = rows.iter().map(|t| t.id).collect();
        ids.sort();
        ids
    };
    let mut left = vec![before, after, both];
    left.sort();
    assert_eq!(standing().await, left);
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    assert_eq!(tx.triple_sources(both, 10, 0).await.unwrap().1, 1);
    assert_eq!(tx.support_withdraw(two, home.user_id).await.unwrap(), 1);
    tx.commit().await.unwrap();
    left.retain(|id| *id != both);
    assert_eq!(standing().await, left);
}

#[tokio::test]
async fn of_two_documents_that_go_at_once_the_second_takes_their_common_statement() {
    let bed = Bed::with_connections(6).await;
    let home = bed.home().await;
    for round in 0..8 {
        let ((one, _), (two, _)) = (
            completed(&bed, &home, "one").await,
            completed(&bed, &home, "two").await,
        );
        let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
        let word = format!("s{round}");
        let (triple, _) = carry(&mut tx, &home, one, 0, (&word, "x")).await;
        carry(&mut tx, &home, two, 0, (&word, "x")).await;
        tx.commit().await.unwrap();
        let jobs = [one, two].map(|id| {
            let (store, home) = (bed.store.clone(), home.clone());
            async move {
                let mut tx = store.tenant(&home.ctx).await.unwrap();
                let gone = tx.support_withdraw(id, home.user_id).await.unwrap();
                tx.commit().await.unwrap();
                gone
            }
        });
        let gone: i64 = join_all(jobs).await.into_iter().sum();
        assert_eq!(gone, 1, "round {round}");
        let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
        assert!(
            tx.triples_get(&[triple]).await.unwrap()[0]
                .retracted_at
                .is_some()
        );
    }
}

#[tokio::test]
async fn only_passages_that_were_let_in_are_found_and_only_by_their_tenant() {
    let bed = Bed::new().await;
    let (home, other) = (bed.home().await, bed.home().await);
    let (document, chunk) = completed(&bed, &home, "Pangolins eat ants and termites.").await;
    let (_, foreign) = completed(&bed, &other, "Pangolins are mine alone.").await;
    let waiting = new_id();
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    tx.document_create(&new(waiting, home.user_id, "w"))
        .await
        .unwrap();
    tx.chunks_put(waiting, &[passage(new_id(), "Pangolins wait.")])
        .await
        .unwrap();
    tx.commit().await.unwrap();
    let search = async |of: &Home, words: &str, every: bool| {
        let mut tx = bed.store.tenant(&of.ctx).await.unwrap();
        let hits = tx.chunks_search(words, every, 10).await.unwrap();
        hits.into_iter().map(|h| h.chunk_id).collect::<Vec<_>>()
    };
    assert_eq!(search(&home, "pangolin", true).await, [chunk]);
    assert_eq!(search(&other, "pangolin", true).await, [foreign]);
    assert!(search(&home, "pangolin zebra", true).await.is_empty());
    assert_eq!(search(&home, "pangolin or zebra?", false).await, [chunk]);
    for odd in [
        "",
        "the",
        "& | ! ( ) : * '",
        "a\\'b <-> c",
        "\u{0}x".trim_matches('\0'),
    ] {
        assert!(search(&home, odd, false).await.is_empty(), "{odd}");
    }
    let mut tx = bed.store.tenant(&other.ctx).await.unwrap();
    assert!(tx.passages_get(&[chunk]).await.unwrap().is_empty());
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    assert_eq!(tx.passages_get(&[chunk, foreign]).await.unwrap().len(), 1);
    assert!(go(&mut tx, document, &["completed"], "withdrawn").await);
    tx.commit().await.unwrap();
    assert!(search(&home, "pangolin", true).await.is_empty());
}

#[tokio::test]
async fn a_temporary_view_cannot_borrow_the_passage_searchs_rights() {
    let bed = Bed::new().await;
    let (mine, theirs) = (bed.home().await, bed.home().await);
    completed(&bed, &theirs, "their secret").await;
    let mut session = bed.session_as("qadra_app", Some(mine.tenant_id)).await;
    session
        .execute(
            "CREATE TEMP VIEW documents AS SELECT current_tenant() AS tenant_id, current_tenant() AS id, 'completed' AS status,
                NULL::timestamptz AS deleted_at;
             CREATE TEMP VIEW document_chunks AS SELECT current_tenant() AS tenant_id, current_tenant() AS id,
                current_tenant() AS document_id, 'secret' AS content, to_tsvector('english', 'secret') AS words;
             GRANT SELECT ON pg_temp.documents, pg_temp.document_chunks TO PUBLIC",
        )
        .await
        .unwrap();
    let found: Vec<String> =
        sqlx::query_scalar("SELECT snippet FROM search_chunks('secret', true, 10)")
            .fetch_all(&mut session)
            .await
            .unwrap();
    assert_eq!(found, Vec::<String>::new());
}

#[tokio::test]
async fn a_part_of_a_text_is_counted_in_characters() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let text: String = (0..250_000_u32)
        .map(|n| char::from_u32(0x4e00 + n % 20_000).unwrap())
        .collect();
    let id = new_id();
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    tx.document_create(&new(id, home.user_id, "t"))
        .await
        .unwrap();
    tx.document_text_put(id, &text).await.unwrap();
    for (from, to) in [
        (0, 10),
        (99_990, 100_010),
        (0, 250_000),
        (249_999, 300_000),
        (250_000, 250_001),
        (5, 5),
    ] {
        let wanted: String = text
            .chars()
            .skip(usize::try_from(from).unwrap())
            .take(usize::try_from(to - from).unwrap())
            .collect();
        let found = tx.document_text(id, from, to).await.unwrap();
        assert!(found == wanted, "{from} to {to}");
    }
}

/// What a tenant's documents consist of, for the tests that try every method with another tenant's ids.
pub struct Filled {
    pub document: Uuid,
    pub chunk: Uuid,
    claim: Uuid,
}

/// A row in every table of documents.
pub async fn fill(bed: &Bed, home: &Home, word: &str, triple: (Uuid, Uuid, Uuid)) -> Filled {
    let (document, chunk) = completed(bed, home, &format!("{word} passage")).await;
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    tx.findings_put(document, &[finding(word)]).await.unwrap();
    let link = link_of(triple, word);
    tx.triple_link(document, &link, home.user_id).await.unwrap();
    tx.chunk_embed(chunk, "m", &[1.0, 0.0]).await.unwrap();
    tx.job_put(document, JobKind::Process).await.unwrap();
    tx.commit().await.unwrap();
    let job = take(bed, 7).await.unwrap();
    assert_eq!(job.document_id, document);
    Filled {
        document,
        chunk,
        claim: job.claim,
    }
}

fn link_of((_, subject_id, predicate_id): (Uuid, Uuid, Uuid), word: &str) -> TripleLink {
    TripleLink {
        position: 0,
        subject_id,
        predicate_id,
        object: ObjectAt::Literal {
            value: json!({"type": "text", "value": word}),
            key: word.into(),
            label: word.into(),
        },
        positive: true,
        confidence: 0.5,
        kind: "fact".into(),
        source: word.into(),
        valid_from: None,
        valid_to: None,
        chunk_id: None,
        span: (0, 1),
        sentence: word.into(),
    }
}

/// Every method on documents with another tenant's ids, each in a transaction of its own that is committed if it can
/// be: the names of those that came to nothing.
pub async fn probe(
    bed: &Bed,
    me: &Home,
    theirs: &Filled,
    triple: (Uuid, Uuid, Uuid),
) -> Vec<&'static str> {
    let id = theirs.document;
    let mut nothing = Vec::new();
    macro_rules! tried {
        ($method:ident ( $($argument:expr),* ), $found:pat => $is_nothing:expr) => {{
            let mut tx = bed.store.tenant(&me.ctx).await.unwrap();
            let outcome = tx.$method($($argument),*).await;
            if outcome.is_ok() {
                tx.commit().await.unwrap();
            }
            #[allow(unused_variables, clippy::redundant_pattern_matching)]
            let empty = match &outcome {
                Ok($found) => $is_nothing,
                Err(e) => matches!(e, qadra_store::StoreError::Dangling { .. }),
            };
            assert!(empty, "{} found something of another tenant", stringify!($method));
            nothing.push(stringify!($method));
        }};
    }
    let t = Transition {
        from: &["completed"],
        to: "withdrawn",
        ..Default::default()
    };
    tried!(document_get(id), row => row.is_none());
    tried!(document_lock(id), row => row.is_none());
    tried!(document_update(id, Some("stolen"), None), row => row.is_none());
    tried!(document_move(id, &t), row => row.is_none());
    tried!(document_progress(id, None), row => row.is_none());
    tried!(document_analysis(id, "done", None, &json!({})), row => row.is_none());
    tried!(document_read_as(id, "x", 1, None), () => true);
    tried!(document_delete(id), done => !done);
    tried!(document_text_put(id, "stolen"), () => false);
    tried!(document_text(id, 0, 100), text => text.is_empty());
    tried!(chunks_put(id, &[passage(new_id(), "stolen")]), () => false);
    tried!(chunk_list(id, 10, 0), page => page.0.is_empty() && page.1 == 0);
    tried!(chunk_ids(id), rows => rows.is_empty());
    tried!(chunks_unembedded(id, "x", 10), rows => rows.is_empty());
    tried!(chunk_embed(theirs.chunk, "x", &[1.0]), () => true);
    tried!(passages_get(&[theirs.chunk]), rows => rows.is_empty());
    tried!(chunks_search("theirs", false, 10), rows => rows.is_empty());
    tried!(findings_put(id, &[finding("stolen")]), () => false);
    tried!(findings_from(id, 0, 10), rows => rows.is_empty());
    tried!(findings_page(id, 10, 0), page => page.0.is_empty() && page.1 == 0);
    tried!(findings_compared(id, &[qadra_store::Compared { position: 0, status: "known", conflicts: json!([]) }]), () => true);
    tried!(triple_link(id, &link_of(triple, "stolen"), me.user_id), _linked => false);
    tried!(support_withdraw(id, me.user_id), gone => *gone == 0);
    tried!(support_list(id, 10, 0), page => page.0.is_empty() && page.1 == 0);
    tried!(support_counts(id), counts => *counts == SupportCounts::default());
    tried!(triple_sources(triple.0, 10, 0), page => page.0.is_empty() && page.1 == 0);
    tried!(nodes_by_identity(&["theirs subject".to_owned()]), rows => rows.is_empty());
    tried!(nodes_by_key(&["theirs subject".to_owned()]), rows => rows.is_empty());
    tried!(alias_add(triple.1, &name("stolen")), added => !added);
    tried!(merge_propose((triple.1, triple.0), 0.5, &[], id), _made => false);
    tried!(job_put(id, JobKind::Analyze), () => false);
    tried!(job_hold(id, theirs.claim), held => !held);
    tried!(job_drop(id), () => true);
    tried!(job_release(id, theirs.claim, 0, true), () => true);
    // Those that take no id see only their own.
    let mut tx = bed.store.tenant(&me.ctx).await.unwrap();
    let own = tx.document_list(None, None, 10, 0).await.unwrap();
    assert!(own.1 == 1 && own.0[0].id != id);
    let names = tx.names_all(1_000).await.unwrap().unwrap();
    assert!(!names.is_empty() && names.iter().all(|(_, n)| !n.contains("theirs")));
    let embedded = tx.chunks_embedded("m", Uuid::nil(), 10).await.unwrap();
    assert!(embedded.len() == 1 && embedded[0].0 != theirs.chunk);
    let predicates: i64 =
        sqlx::query_scalar("SELECT count(*) FROM kg_predicates WHERE tenant_id = $1")
            .bind(me.ctx.tenant_id)
            .fetch_one(&mut bed.superuser().await)
            .await
            .unwrap();
    let seen = tx.predicates_all(1_000).await.unwrap();
    assert_eq!(i64::try_from(seen.len()).unwrap(), predicates);
    tx.has_vectors().await.unwrap();
    nothing.extend([
        "document_list",
        "names_all",
        "chunks_embedded",
        "predicates_all",
        "has_vectors",
    ]);
    // It needs the extension; its condition on the tenant is the one of `chunks_embedded`.
    nothing.push("chunks_near");
    nothing
}

/// Those that make things make them in the own tenant, of the same names that the other has.
pub async fn make(tx: &mut TenantTx, me: &Home) -> Vec<&'static str> {
    tx.document_create(&new(new_id(), me.user_id, "theirs"))
        .await
        .unwrap();
    tx.nodes_make(&[&name("theirs subject")]).await.unwrap();
    tx.predicate_named("is", &["be".into()]).await.unwrap();
    let record = qadra_store::UsageRecord {
        user_id: me.user_id,
        agent_id: Uuid::nil(),
        model: "m".into(),
        tokens_in: 1,
        tokens_out: 0,
        operation: "embedding",
        metadata: json!({}),
    };
    tx.usage_add(&[record]).await.unwrap();
    vec![
        "document_create",
        "nodes_make",
        "predicate_named",
        "usage_add",
    ]
}
