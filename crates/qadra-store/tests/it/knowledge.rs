//! The graph: names found, statements stored once, neighbourhoods bounded, many writers at once.

use std::collections::BTreeSet;

use qadra_store::{NameRow, NewObject, NewTriple, TenantTx, TripleFilter, TripleRow};
use serde_json::json;
use uuid::Uuid;

use super::bed::{Bed, Home, join_all, name};

fn fact(subject: &str, predicate: &str, object: &str) -> NewTriple {
    NewTriple {
        subject: name(subject),
        predicate: predicate.into(),
        predicate_keys: vec![predicate.replace('_', " ")],
        object: NewObject::Node(name(object)),
        positive: true,
        confidence: 1.0,
        kind: "fact".into(),
        source: None,
        valid_from: None,
        valid_to: None,
    }
}

fn number(subject: &str, predicate: &str, value: i64) -> NewTriple {
    let object = NewObject::Literal {
        value: json!({"type": "number", "value": value}),
        key: format!("n:{value}"),
        label: value.to_string(),
    };
    NewTriple {
        object,
        ..fact(subject, predicate, "")
    }
}

async fn tx(bed: &Bed, home: &Home) -> TenantTx {
    bed.store.tenant(&home.ctx).await.unwrap()
}

async fn store(bed: &Bed, home: &Home, triples: &[NewTriple]) -> Vec<Uuid> {
    let mut tx = tx(bed, home).await;
    let ids = tx.triples_insert(triples, home.user_id).await.unwrap();
    tx.commit().await.unwrap();
    ids
}

async fn node(tx: &mut TenantTx, label: &str) -> Uuid {
    tx.node_by_identity(&label.to_lowercase())
        .await
        .unwrap()
        .unwrap()
}

fn said(rows: &[TripleRow]) -> BTreeSet<String> {
    rows.iter()
        .map(|t| format!("{} {} {}", t.subject_label, t.predicate, t.object_label))
        .collect()
}

#[tokio::test]
async fn names_are_found_by_label_alias_and_predicate_phrase() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    store(&bed, &home, &[fact("Apple", "founded_by", "Steve Jobs")]).await;
    let mut tx = tx(&bed, &home).await;
    let apple = node(&mut tx, "Apple").await;
    tx.alias_create(apple, &name("AAPL")).await.unwrap();
    let keys = ["apple", "aapl", "founded by", "steve jobs", "nobody"].map(str::to_owned);
    let mut found: Vec<String> = tx
        .names_find(&keys)
        .await
        .unwrap()
        .into_iter()
        .map(|row| match row {
            NameRow::Node {
                key, label, alias, ..
            } => format!("{key} = {label}{}", if alias { " (alias)" } else { "" }),
            NameRow::Predicate { key, predicate } => format!("{key} = {}", predicate.name),
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "aapl = Apple (alias)",
            "apple = Apple",
            "founded by = founded_by",
            "steve jobs = Steve Jobs"
        ]
    );
    assert!(tx.names_find(&[]).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_statement_said_again_is_the_same_one_and_keeps_its_highest_confidence() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let with = |confidence, source: Option<&str>| NewTriple {
        confidence,
        source: source.map(str::to_owned),
        ..number("Apple", "founded_in_year", 1976)
    };
    let first = store(&bed, &home, &[with(0.4, None)]).await;
    let again = store(&bed, &home, &[with(0.9, None), with(0.2, None)]).await;
    assert_eq!([first[0], first[0]], [again[0], again[1]]);
    let mut reading = tx(&bed, &home).await;
    let rows = reading.triples_get(&first).await.unwrap();
    assert_eq!(rows[0].confidence, 0.9);
    drop(reading);
    // Another source, polarity, kind or time is another statement.
    let others = [
        with(0.5, Some("10-K")),
        NewTriple {
            positive: false,
            ..with(0.5, None)
        },
        NewTriple {
            kind: "claim".into(),
            ..with(0.5, None)
        },
        NewTriple {
            valid_from: chrono::NaiveDate::from_ymd_opt(1976, 4, 1),
            ..with(0.5, None)
        },
        number("Apple", "founded_in_year", 1977),
    ];
    let ids: BTreeSet<Uuid> = store(&bed, &home, &others)
        .await
        .into_iter()
        .chain(first)
        .collect();
    assert_eq!(ids.len(), 6);
}

#[tokio::test]
async fn retracting_keeps_the_statement_and_lets_it_be_said_anew() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let statement = || fact("Apple", "based_in", "Cupertino");
    let first = store(&bed, &home, &[statement()]).await[0];
    let mut writing = tx(&bed, &home).await;
    assert!(writing.triple_retract(first, home.user_id).await.unwrap());
    let when = writing.triples_get(&[first]).await.unwrap()[0].retracted_at;
    assert!(when.is_some());
    writing.commit().await.unwrap();
    let mut writing = tx(&bed, &home).await;
    assert!(writing.triple_retract(first, Uuid::nil()).await.unwrap());
    assert_eq!(
        writing.triples_get(&[first]).await.unwrap()[0].retracted_at,
        when
    );
    assert!(
        !writing
            .triple_retract(Uuid::nil(), home.user_id)
            .await
            .unwrap()
    );
    let apple = node(&mut writing, "Apple").await;
    assert!(
        writing
            .triples_around(&[apple], &[], 10, 2)
            .await
            .unwrap()
            .is_empty()
    );
    writing.commit().await.unwrap();

    let second = store(&bed, &home, &[statement()]).await[0];
    assert_ne!(first, second);
    let mut reading = tx(&bed, &home).await;
    let count = |include_retracted| TripleFilter {
        include_retracted,
        limit: 10,
        ..TripleFilter::default()
    };
    assert_eq!(reading.triple_list(&count(false)).await.unwrap().1, 1);
    assert_eq!(reading.triple_list(&count(true)).await.unwrap().1, 2);
    let around = reading.triples_around(&[apple], &[], 10, 1).await.unwrap();
    assert_eq!(around.iter().map(|t| t.id).collect::<Vec<_>>(), [second]);
}

#[tokio::test]
async fn one_hop_is_the_nodes_own_statements_and_two_hops_their_neighbours() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let triples = [
        fact("A", "knows", "B"),
        fact("B", "knows", "C"),
        fact("C", "knows", "D"),
        fact("E", "knows", "A"),
        fact("F", "knows", "E"),
    ];
    store(&bed, &home, &triples).await;
    let mut tx = tx(&bed, &home).await;
    let a = node(&mut tx, "A").await;
    let one = tx.triples_around(&[a], &[], 10, 1).await.unwrap();
    assert_eq!(
        said(&one),
        BTreeSet::from(["A knows B", "E knows A"].map(String::from))
    );
    let two = tx.triples_around(&[a], &[], 10, 2).await.unwrap();
    assert_eq!(
        said(&two),
        BTreeSet::from(["A knows B", "B knows C", "E knows A", "F knows E"].map(String::from))
    );
    assert_eq!(two.len(), 4, "a statement comes once");
    assert!(tx.triples_around(&[], &[], 10, 2).await.unwrap().is_empty());
    assert!(
        tx.triples_around(&[Uuid::nil()], &[Uuid::nil()], 10, 2)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn the_cap_keeps_the_most_certain_and_those_of_the_asked_predicate() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let mut triples: Vec<NewTriple> = (0..100)
        .map(|n| NewTriple {
            confidence: 0.5 + n as f32 / 1000.0,
            ..fact("Hub", "links_to", &format!("Leaf {n}"))
        })
        .collect();
    triples.push(NewTriple {
        confidence: 0.1,
        ..number("Hub", "founded_in_year", 1999)
    });
    triples.extend((0..100).map(|n| fact(&format!("Source {n}"), "points_at", "Hub")));
    // A leaf with more neighbours than a second hop may bring.
    triples.extend((0..100).map(|n| fact("Leaf 99", "touches", &format!("Rim {n}"))));
    store(&bed, &home, &triples).await;
    let mut tx = tx(&bed, &home).await;
    let hub = node(&mut tx, "Hub").await;
    let rows = tx.triples_around(&[hub], &[], 5, 1).await.unwrap();
    assert_eq!(rows.len(), 10, "five each way");
    let certain: BTreeSet<String> = (95..100)
        .map(|n| format!("Hub links_to Leaf {n}"))
        .collect();
    assert!(said(&rows).is_superset(&certain), "{:?}", said(&rows));
    let NameRow::Predicate { predicate, .. } = tx
        .names_find(&["founded in year".to_owned()])
        .await
        .unwrap()
        .remove(0)
    else {
        panic!("no predicate")
    };
    let rows = tx
        .triples_around(&[hub], &[predicate.id], 5, 1)
        .await
        .unwrap();
    assert_eq!(rows.len(), 11);
    assert!(said(&rows).contains("Hub founded_in_year 1999"));
    let rows = tx.triples_around(&[hub], &[], 5, 2).await.unwrap();
    let touched = rows.iter().filter(|t| t.predicate == "touches").count();
    assert_eq!(touched, 20);
    // Without a node, a predicate alone brings its statements.
    let rows = tx.triples_around(&[], &[predicate.id], 5, 1).await.unwrap();
    assert_eq!(
        said(&rows),
        BTreeSet::from(["Hub founded_in_year 1999".to_owned()])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_of_the_same_names_neither_deadlock_nor_make_them_twice() {
    let bed = Bed::with_connections(12).await;
    let home = bed.home().await;
    let writers = (0..12).map(|writer| {
        let (store, ctx) = (bed.store.clone(), home.ctx.clone());
        async move {
            for round in 0..6 {
                // Each in an order of its own.
                let mut triples: Vec<NewTriple> = (0..20)
                    .map(|n| {
                        let at = (n * (2 * writer + 1) + round) % 20;
                        fact(
                            &format!("Node {round} {at}"),
                            &format!("predicate_{at}"),
                            &format!("Node {round} {}", (at + 7) % 20),
                        )
                    })
                    .collect();
                if writer % 2 == 1 {
                    triples.reverse();
                }
                let mut tx = store.tenant(&ctx).await?;
                tx.triples_insert(&triples, ctx.actor.user_id).await?;
                tx.commit().await?;
            }
            Ok::<_, qadra_store::StoreError>(())
        }
    });
    for written in join_all(writers).await {
        written.unwrap();
    }
    let mut reading = tx(&bed, &home).await;
    assert_eq!(reading.node_list(None, 1, 0).await.unwrap().1, 6 * 20);
    assert_eq!(reading.predicate_list(1, 0).await.unwrap().1, 20);
    let distinct = TripleFilter {
        limit: 1,
        ..TripleFilter::default()
    };
    let total = reading.triple_list(&distinct).await.unwrap().1;
    let expected: BTreeSet<(i32, i32)> = (0..6)
        .flat_map(|round| {
            (0..12).flat_map(move |w| (0..20).map(move |n| (round, (n * (2 * w + 1) + round) % 20)))
        })
        .collect();
    assert_eq!(total, i64::try_from(expected.len()).unwrap());
}

#[tokio::test]
async fn an_alias_names_the_node_of_a_new_statement() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    store(&bed, &home, &[fact("Apple", "based_in", "Cupertino")]).await;
    let mut writing = tx(&bed, &home).await;
    let apple = node(&mut writing, "Apple").await;
    writing.alias_create(apple, &name("AAPL")).await.unwrap();
    writing.commit().await.unwrap();
    store(&bed, &home, &[number("AAPL", "founded_in_year", 1976)]).await;
    let mut reading = tx(&bed, &home).await;
    assert_eq!(reading.node_by_identity("aapl").await.unwrap(), None);
    let rows = reading.triples_around(&[apple], &[], 10, 1).await.unwrap();
    assert_eq!(
        said(&rows),
        BTreeSet::from(
            ["Apple based_in Cupertino", "Apple founded_in_year 1976"].map(String::from)
        )
    );
}

#[tokio::test]
async fn words_of_a_filter_are_taken_literally() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    store(
        &bed,
        &home,
        &[
            fact("100% juice", "made_of", "fruit"),
            fact("1000 juices", "made_of", "fruit"),
            fact("a\\b", "made_of", "c"),
        ],
    )
    .await;
    let mut tx = tx(&bed, &home).await;
    for (words, expected) in [
        ("100%", 1),
        ("made_of", 3),
        ("adeXof", 0),
        ("\\", 1),
        ("FRUIT", 2),
    ] {
        let filter = TripleFilter {
            words: Some(words.into()),
            limit: 10,
            ..TripleFilter::default()
        };
        let (rows, total) = tx.triple_list(&filter).await.unwrap();
        assert_eq!(
            (rows.len(), total),
            (expected, i64::try_from(expected).unwrap()),
            "{words}"
        );
    }
}
