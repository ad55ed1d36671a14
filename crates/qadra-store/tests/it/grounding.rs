//! Look-ups for a question in a graph with hubs: bounded, by index, and never in another tenant.

use std::collections::BTreeSet;

use qadra_store::{NewObject, NewTriple, TripleRow};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Executor};
use uuid::Uuid;

use super::bed::{Bed, Home, name};

const AROUND: &str = include_str!("../../src/knowledge/around.sql");
const NAMES: &str = include_str!("../../src/knowledge/names.sql");

fn fact(subject: &str, predicate: &str, object: &str) -> NewTriple {
    NewTriple {
        subject: name(subject),
        predicate: predicate.into(),
        predicate_keys: vec![predicate.replace('_', " ")],
        object: NewObject::Node(name(object)),
        positive: true,
        confidence: 0.9,
        kind: "fact".into(),
        source: None,
        valid_from: None,
        valid_to: None,
    }
}

async fn store(bed: &Bed, home: &Home, triples: &[NewTriple]) {
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    tx.triples_insert(triples, home.user_id).await.unwrap();
    tx.commit().await.unwrap();
}

async fn similar(bed: &Bed, home: &Home, key: &str) -> BTreeSet<String> {
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    let found = tx.names_similar(&[key.to_owned()]).await.unwrap();
    assert!(found.iter().all(|row| row.key == key));
    found.into_iter().map(|row| row.name).collect()
}

#[tokio::test]
async fn a_name_is_found_with_any_one_slip() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let names = [
        "nvidia",
        "microsoft",
        "berkshire hathaway",
        "windows 11",
        "lear",
    ];
    let facts: Vec<NewTriple> = names.map(|n| fact(n, "is_a", "thing")).into();
    store(&bed, &home, &facts).await;
    for name in names {
        let letters: Vec<char> = name.chars().collect();
        for at in 0..letters.len() {
            let mut slips = Vec::new();
            let (mut dropped, mut doubled, mut other) =
                (letters.clone(), letters.clone(), letters.clone());
            if !letters[at].is_ascii_digit() {
                dropped.remove(at);
                other[at] = 'x';
                doubled.insert(at, 'x');
                slips.extend([dropped, doubled, other]);
            }
            if at + 1 < letters.len()
                && !letters[at].is_ascii_digit()
                && !letters[at + 1].is_ascii_digit()
            {
                let mut swapped = letters.clone();
                swapped.swap(at, at + 1);
                slips.push(swapped);
            }
            for slip in slips {
                let slip: String = slip.into_iter().collect();
                assert!(
                    similar(&bed, &home, &slip).await.contains(name),
                    "{slip} for {name}"
                );
            }
        }
    }
    // Two slips: vowels, and two in one third.
    for (slip, name) in [
        ("birkshure hathaway", "berkshire hathaway"),
        ("berkshire hataweay", "berkshire hathaway"),
        ("mikrosoft", "microsoft"),
    ] {
        assert!(similar(&bed, &home, slip).await.contains(name), "{slip}");
    }
    // Figures are no slip, and a short word is nobody's.
    for other in ["windows 10", "windows 1", "le", "", "zzzzzzzzzz"] {
        assert_eq!(
            similar(&bed, &home, other).await,
            BTreeSet::new(),
            "{other}"
        );
    }
}

#[tokio::test]
async fn similar_names_are_of_the_tenant_only_and_aliases_count() {
    let bed = Bed::new().await;
    let (mine, theirs) = (bed.home().await, bed.home().await);
    store(&bed, &theirs, &[fact("Pangolin Works", "makes", "armour")]).await;
    store(&bed, &mine, &[fact("Apple", "makes", "phones")]).await;
    let mut tx = bed.store.tenant(&theirs.ctx).await.unwrap();
    let node = tx
        .node_by_identity("pangolin works")
        .await
        .unwrap()
        .unwrap();
    tx.alias_create(node, &name("Scaly Company")).await.unwrap();
    tx.commit().await.unwrap();
    for (key, found) in [
        ("pangolin wroks", "Pangolin Works"),
        ("scaly compani", "Scaly Company"),
    ] {
        assert_eq!(
            similar(&bed, &theirs, key).await,
            BTreeSet::from([found.to_owned()])
        );
        assert_eq!(similar(&bed, &mine, key).await, BTreeSet::new(), "{key}");
    }
    for tenant in [None, Some(Uuid::nil())] {
        let mut session = bed.session_as("qadra_app", tenant).await;
        let found: i64 =
            sqlx::query_scalar("SELECT count(*) FROM similar_names('{pangolin wroks,aplpe}')")
                .fetch_one(&mut session)
                .await
                .unwrap();
        assert_eq!(found, 0, "{tenant:?}");
    }
    // The other roles may not ask at all.
    for role in ["qadra_auth", "qadra_system"] {
        let mut session = bed.session_as(role, None).await;
        assert!(
            session
                .execute("SELECT similar_names('{apple}')")
                .await
                .is_err(),
            "{role}"
        );
    }
}

#[tokio::test]
async fn candidates_are_bounded_however_many_names_are_alike() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    fill(&bed, &home, 20_000).await;
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    // Every name of the graph but for the figures, which all have.
    let keys: Vec<String> = (0..40).map(|n| format!("naem of thing {n}")).collect();
    let found = tx.names_similar(&keys).await.unwrap();
    assert!(!found.is_empty() && found.len() <= 2_000, "{}", found.len());
    let asked: BTreeSet<&str> = found.iter().map(|row| row.key.as_str()).collect();
    assert!(asked.len() <= 16);
}

#[tokio::test]
async fn hubs_bring_what_is_asked_and_what_joins_them_and_no_more_than_the_bound() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let hubs = fill(&bed, &home, 3_000).await;
    // Less certain than all the others, so that the cap would leave them out.
    let unsure = |s: &str, p: &str, o: &str| NewTriple {
        confidence: 0.1,
        ..fact(s, p, o)
    };
    store(
        &bed,
        &home,
        &[
            unsure("hub a", "rarely", "somebody"),
            unsure("anybody", "rarely", "hub a"),
            unsure("hub a", "joined", "hub b"),
        ],
    )
    .await;
    let owned: Vec<NewTriple> = (0..60)
        .map(|n| fact("hub a", "owns", &format!("thing {n}")))
        .collect();
    store(&bed, &home, &owned).await;
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    let rarely = tx.predicates_named(&["rarely".to_owned()]).await.unwrap();
    let rows = tx.triples_around(&hubs[..1], &rarely, 50, 1).await.unwrap();
    assert!(rows.len() <= 4 * 50, "{}", rows.len());
    let with = |rows: &[TripleRow], p: &str| rows.iter().filter(|r| r.predicate == p).count();
    assert_eq!(with(&rows, "rarely"), 2, "asked for at both ends");
    let rows = tx.triples_around(&hubs, &[], 50, 2).await.unwrap();
    assert_eq!(with(&rows, "joined"), 1);
    assert!(rows.len() <= 4 * 50 + 40 + 100 + 80, "{}", rows.len());
    // Leaf n of the one is leaf n of the other; whichever the cap kept of the one, its statement with the other is there.
    let leaves = |hub: Uuid| -> BTreeSet<Uuid> {
        rows.iter()
            .filter(|r| r.object_node_id == Some(hub))
            .map(|r| r.subject_id)
            .collect()
    };
    assert!(leaves(hubs[0]).intersection(&leaves(hubs[1])).count() >= 50);
    let ids: BTreeSet<Uuid> = rows.iter().map(|r| r.id).collect();
    assert_eq!(ids.len(), rows.len(), "a statement comes once");
}

#[tokio::test]
async fn a_subject_is_sampled_with_all_that_it_has() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let facts: Vec<NewTriple> = (0..600)
        .flat_map(|n| {
            [
                fact(&format!("s{n}"), "likes", "x"),
                fact(&format!("s{n}"), "likes", "y"),
                fact(&format!("s{n}"), "born_in", "x"),
            ]
        })
        .collect();
    store(&bed, &home, &facts).await;
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    let ids = tx
        .predicates_named(&["likes".into(), "born_in".into()])
        .await
        .unwrap();
    for (p, subjects, single) in tx.predicate_stats(&ids).await.unwrap() {
        match p.name.as_str() {
            "likes" => assert_eq!((subjects, single), (250, 0)),
            _ => assert_eq!((subjects, single), (500, 500)),
        }
    }
    let uses = tx.predicate_uses(&ids, &ids[..1]).await.unwrap();
    assert_eq!(uses.len(), 2);
    assert_eq!(uses.iter().filter(|u| u.subjects == 0).count(), 1);
}

/// The plan that a connection keeps, made while the planner knows no sizes or after it has learnt them.
#[tokio::test]
async fn names_and_neighbourhood_go_by_indexes_whether_sizes_are_known_or_not() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let hubs = fill(&bed, &home, 20_000).await;
    spread(&bed, &home, 40_000).await;
    for analysed in [false, true] {
        if analysed {
            bed.superuser().await.execute("ANALYZE").await.unwrap();
        }
        let around = kept_plan(
            &bed,
            &home,
            &format!("PREPARE q (uuid, uuid[], bigint, boolean, uuid[]) AS {AROUND}"),
            &format!(
                "'{}', '{{{},{}}}', 50, true, '{{}}'",
                home.tenant_id, hubs[0], hubs[1]
            ),
        )
        .await;
        let names = kept_plan(
            &bed,
            &home,
            &format!("PREPARE q (uuid, text[]) AS {NAMES}"),
            &format!("'{}', '{{hub a,points at}}'", home.tenant_id),
        )
        .await;
        for (plan, needed) in [
            (
                around,
                &["kg_triples_subject", "kg_triples_object", "kg_nodes_pkey"][..],
            ),
            (names, &["kg_nodes_key", "kg_aliases_key"][..]),
        ] {
            let (mut indexes, mut whole) = (BTreeSet::new(), Vec::new());
            scans(&plan, &mut indexes, &mut whole);
            // The predicates are few, and so are the aliases here once that is known.
            whole.retain(|table| table.starts_with("kg_triples") || table.starts_with("kg_nodes"));
            assert_eq!(whole, Vec::<String>::new(), "analysed: {analysed}");
            for index in needed {
                assert!(
                    indexes.contains(*index) || (analysed && index.starts_with("kg_aliases")),
                    "analysed: {analysed}, {index}: {indexes:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn similar_names_read_no_table_whole() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    fill(&bed, &home, 20_000).await;
    for analysed in [false, true] {
        if analysed {
            bed.superuser().await.execute("ANALYZE").await.unwrap();
        }
        let mut session = bed.session_as("qadra_app", Some(home.tenant_id)).await;
        let found: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM similar_names('{naem of thing 17,name of thnig 4711}')",
        )
        .fetch_one(&mut session)
        .await
        .unwrap();
        assert!(found >= 2, "analysed: {analysed}");
        // Counted by this very transaction, so nothing else can be in it.
        let whole: i64 = sqlx::query_scalar(
            "SELECT coalesce(sum(seq_tup_read), 0)::bigint FROM pg_stat_xact_user_tables WHERE relname IN ('kg_nodes', 'kg_aliases')",
        )
        .fetch_one(&mut session)
        .await
        .unwrap();
        assert_eq!(whole, 0, "analysed: {analysed}");
    }
}

async fn kept_plan(bed: &Bed, home: &Home, prepare: &str, values: &str) -> Value {
    let mut session = bed.session_as("qadra_app", Some(home.tenant_id)).await;
    session
        .execute("SET LOCAL plan_cache_mode = force_generic_plan")
        .await
        .unwrap();
    session
        .execute(AssertSqlSafe(prepare.to_owned()))
        .await
        .unwrap();
    let sql = format!("EXPLAIN (FORMAT JSON) EXECUTE q ({values})");
    sqlx::query_scalar(AssertSqlSafe(sql))
        .fetch_one(&mut session)
        .await
        .unwrap()
}

/// Statements under two hundred predicates between the leaves, as a graph has them; with two predicates only, reading
/// the table from its beginning would be the shortest way to fifty statements of one.
async fn spread(bed: &Bed, home: &Home, statements: i64) {
    let admin = &mut bed.superuser().await;
    for sql in [
        "INSERT INTO kg_predicates (tenant_id, id, name) SELECT $1, md5('p' || n)::uuid, 'p' || n FROM generate_series(0, $2 / 200) n",
        "INSERT INTO kg_triples (tenant_id, id, subject_id, predicate_id, object_node_id, object_key, object_label, confidence)
         SELECT $1, md5('s' || n)::uuid, md5('leaf' || 1 + n % 20000)::uuid, md5('p' || n % 200)::uuid, md5('leaf' || 1 + n * 7 % 20000)::uuid,
            n::text, 'leaf', (n % 100) / 100.0 FROM generate_series(1, $2) n",
    ] {
        sqlx::query(sql)
            .bind(home.tenant_id)
            .bind(statements)
            .execute(&mut *admin)
            .await
            .unwrap();
    }
}

fn scans(plan: &Value, indexes: &mut BTreeSet<String>, whole: &mut Vec<String>) {
    match plan {
        Value::Object(o) => {
            let text = |key: &str| o.get(key).and_then(Value::as_str).map(str::to_owned);
            indexes.extend(text("Index Name"));
            if text("Node Type").as_deref() == Some("Seq Scan") {
                whole.extend(text("Relation Name"));
            }
            o.values().for_each(|v| scans(v, indexes, whole));
        }
        Value::Array(a) => a.iter().for_each(|v| scans(v, indexes, whole)),
        _ => {}
    }
}

/// Two hubs that `leaves` nodes point at, both from each.
async fn fill(bed: &Bed, home: &Home, leaves: i64) -> [Uuid; 2] {
    store(
        bed,
        home,
        &[
            fact("hub a", "seeds", "hub a"),
            fact("hub b", "points_at", "hub b"),
        ],
    )
    .await;
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    let mut hubs = [Uuid::nil(); 2];
    for (hub, label) in hubs.iter_mut().zip(["hub a", "hub b"]) {
        *hub = tx.node_by_identity(label).await.unwrap().unwrap();
    }
    drop(tx);
    let admin = &mut bed.superuser().await;
    sqlx::query(
        "INSERT INTO kg_nodes (tenant_id, id, label, identity, key)
         SELECT $1, md5('leaf' || n)::uuid, x, x, x FROM generate_series(1, $2) n, LATERAL (SELECT 'name of thing ' || n AS x) l",
    )
    .bind(home.tenant_id)
    .bind(leaves)
    .execute(&mut *admin)
    .await
    .unwrap();
    sqlx::query(
        "INSERT INTO kg_triples (tenant_id, id, subject_id, predicate_id, object_node_id, object_key, object_label, confidence)
         SELECT $1, md5('t' || n || h)::uuid, md5('leaf' || n)::uuid, p.id, h, h::text, 'hub', 0.5 + (n % 500) / 1000.0
         FROM generate_series(1, $2) n, unnest($3::uuid[]) h, (SELECT id FROM kg_predicates WHERE tenant_id = $1 AND name = 'points_at') p",
    )
    .bind(home.tenant_id)
    .bind(leaves)
    .bind(&hubs[..])
    .execute(&mut *admin)
    .await
    .unwrap();
    hubs
}
