//! Nodes that become one and come apart again, saved neighbourhoods, contradictions by index, and memories.

use chrono::{TimeDelta, Utc};
use qadra_store::{
    BallContent, EdgeFilter, LockedNode, MemoryChange, MemoryRow, Moved, NewMemory, NewObject,
    NewTriple, NodeEvent, PredicateChange, StoreError, TenantTx, TripleChange, TripleFilter, Which,
};
use qadra_types::new_id;
use serde_json::json;
use uuid::Uuid;

use super::bed::{Bed, Home, name};

fn fact(subject: &str, predicate: &str, object: &str) -> NewTriple {
    NewTriple {
        subject: name(subject),
        predicate: predicate.into(),
        predicate_keys: vec![predicate.replace('_', " ")],
        object: NewObject::Node(name(object)),
        positive: true,
        confidence: 0.5,
        kind: "fact".into(),
        source: None,
        valid_from: None,
        valid_to: None,
    }
}

fn denied(subject: &str, predicate: &str, object: &str) -> NewTriple {
    NewTriple {
        positive: false,
        ..fact(subject, predicate, object)
    }
}

async fn tx(bed: &Bed, home: &Home) -> TenantTx {
    bed.store.tenant(&home.ctx).await.unwrap()
}

async fn node(tx: &mut TenantTx, label: &str) -> Uuid {
    tx.node_by_identity(&label.to_lowercase())
        .await
        .unwrap()
        .unwrap_or_else(|| panic!("no node {label}"))
}

/// Everything that stands, as text, in order.
async fn said(tx: &mut TenantTx) -> Vec<String> {
    let filter = TripleFilter {
        limit: 100,
        ..TripleFilter::default()
    };
    let mut all: Vec<String> = tx
        .triple_list(&filter)
        .await
        .unwrap()
        .0
        .iter()
        .map(|t| {
            format!(
                "{} {} {} {}",
                t.subject_label, t.predicate, t.object_label, t.confidence
            )
        })
        .collect();
    all.sort();
    all
}

async fn aliases(tx: &mut TenantTx, id: Uuid) -> Vec<String> {
    let node = tx.node_get(id).await.unwrap().unwrap();
    node.aliases.into_iter().map(|(_, a)| a).collect()
}

async fn merge(tx: &mut TenantTx, from: Uuid, into: Uuid, actor: Uuid) -> Uuid {
    let locked = tx.nodes_lock(&[from, into]).await.unwrap();
    tx.nodes_merge(&locked[0], &locked[1], actor).await.unwrap()
}

#[tokio::test]
async fn a_merge_moves_everything_and_undoing_it_brings_all_of_it_back() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let mut tx = tx(&bed, &home).await;
    let mut twice = fact("Apple Inc", "makes", "iPhone");
    twice.confidence = 0.9;
    tx.triples_insert(
        &[
            fact("Apple", "makes", "iPhone"),
            twice,
            fact("Apple Inc", "ceo", "Tim Cook"),
            fact("Tim Cook", "works_for", "Apple Inc"),
            fact("Apple Inc", "rival", "Apple Inc"),
        ],
        home.user_id,
    )
    .await
    .unwrap();
    let (apple, inc) = (
        node(&mut tx, "Apple").await,
        node(&mut tx, "Apple Inc").await,
    );
    tx.alias_create(apple, &name("AAPL")).await.unwrap();
    tx.alias_create(inc, &name("AAPL")).await.unwrap();
    tx.alias_create(inc, &name("Apple Computer")).await.unwrap();
    let before = said(&mut tx).await;

    let event = merge(&mut tx, inc, apple, home.user_id).await;
    assert_eq!(
        said(&mut tx).await,
        [
            "Apple ceo Tim Cook 0.5",
            "Apple makes iPhone 0.9",
            "Apple rival Apple 0.5",
            "Tim Cook works_for Apple 0.5",
        ]
    );
    assert_eq!(
        aliases(&mut tx, apple).await,
        ["AAPL", "Apple Computer", "Apple Inc"]
    );
    // The old id and the old name lead to the node that stayed.
    assert_eq!(tx.node_get(inc).await.unwrap().unwrap().id, apple);
    let again = tx
        .triples_insert(&[fact("Apple Inc", "makes", "iPad")], home.user_id)
        .await
        .unwrap();
    let row = tx.triples_get(&again).await.unwrap().remove(0);
    assert_eq!(row.subject_id, apple);
    let listed = tx.node_list(None, 100, 0).await.unwrap().0;
    assert!(listed.iter().all(|n| n.id != inc));

    let event = tx.node_event_get(event).await.unwrap().unwrap();
    assert_eq!(event.detail.collapsed.len(), 1);
    tx.nodes_lock(&[apple, inc]).await.unwrap();
    tx.node_unmerge(&event, home.user_id).await.unwrap();
    let mut expected = before;
    expected.push("Apple makes iPad 0.5".into());
    expected.sort();
    assert_eq!(said(&mut tx).await, expected);
    assert_eq!(aliases(&mut tx, apple).await, ["AAPL"]);
    assert_eq!(aliases(&mut tx, inc).await, ["AAPL", "Apple Computer"]);
    assert_eq!(node(&mut tx, "Apple Inc").await, inc);
    assert!(
        tx.node_event_get(event.id)
            .await
            .unwrap()
            .unwrap()
            .undone_at
            .is_some()
    );
}

#[tokio::test]
async fn a_merged_node_leads_to_the_last_of_a_chain_and_chains_come_apart_from_the_end() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let mut tx = tx(&bed, &home).await;
    tx.triples_insert(
        &[
            fact("A", "p", "X"),
            fact("B", "p", "Y"),
            fact("C", "p", "Z"),
        ],
        home.user_id,
    )
    .await
    .unwrap();
    let [a, b, c] = [
        node(&mut tx, "A").await,
        node(&mut tx, "B").await,
        node(&mut tx, "C").await,
    ];
    let first = merge(&mut tx, a, b, home.user_id).await;
    let second = merge(&mut tx, b, c, home.user_id).await;
    assert_eq!(tx.node_get(a).await.unwrap().unwrap().id, c);
    for id in [second, first] {
        let event = tx.node_event_get(id).await.unwrap().unwrap();
        tx.node_unmerge(&event, home.user_id).await.unwrap();
    }
    assert_eq!(said(&mut tx).await, ["A p X 0.5", "B p Y 0.5", "C p Z 0.5"]);
    assert_eq!(tx.node_get(a).await.unwrap().unwrap().id, a);
}

#[tokio::test]
async fn a_pair_that_was_asked_about_of_one_is_asked_about_of_the_other() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let mut tx = tx(&bed, &home).await;
    tx.triples_insert(&[fact("A", "p", "B"), fact("C", "p", "D")], home.user_id)
        .await
        .unwrap();
    let [a, b, c, d] = [
        node(&mut tx, "A").await,
        node(&mut tx, "B").await,
        node(&mut tx, "C").await,
        node(&mut tx, "D").await,
    ];
    for (x, y) in [(a, b), (a, c), (b, c), (a, d)] {
        pair(&mut tx, &home, x, y).await;
    }
    let pending = |rows: Vec<qadra_store::MergeRow>| {
        let mut pairs: Vec<(Uuid, Uuid)> = rows
            .into_iter()
            .map(|r| (r.a.min(r.b), r.a.max(r.b)))
            .collect();
        pairs.sort();
        pairs
    };
    merge(&mut tx, a, b, home.user_id).await;
    let (rows, total) = tx.merge_list("pending", 10, 0).await.unwrap();
    assert_eq!(total, 2);
    let mut expected = vec![(b.min(c), b.max(c)), (b.min(d), b.max(d))];
    expected.sort();
    assert_eq!(pending(rows), expected);
    assert_eq!(tx.merge_list("accepted", 10, 0).await.unwrap().1, 1);
}

/// Rows of the queue come from documents; here they are written as the superuser would.
async fn pair(tx: &mut TenantTx, home: &Home, a: Uuid, b: Uuid) {
    let document = document(tx, home).await;
    tx.merge_propose((a, b), 0.5, &["alike".to_owned()], document)
        .await
        .unwrap();
}

async fn document(tx: &mut TenantTx, home: &Home) -> Uuid {
    let id = new_id();
    tx.document_create(&qadra_store::NewDocument {
        id,
        title: "t",
        content_type: "text/plain",
        source_url: None,
        source_type: "api",
        filename: None,
        size_bytes: 1,
        proposed_by: home.user_id,
        proposed_by_agent: None,
    })
    .await
    .unwrap();
    id
}

#[tokio::test]
async fn a_split_takes_what_it_is_given_and_a_taken_name_is_a_duplicate() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let mut tx = tx(&bed, &home).await;
    let ids = tx
        .triples_insert(
            &[
                fact("Mercury", "orbits", "Sun"),
                fact("Mercury", "symbol_of", "Hg"),
                fact("Smith", "studies", "Mercury"),
            ],
            home.user_id,
        )
        .await
        .unwrap();
    let planet = node(&mut tx, "Mercury").await;
    let (alias, _) = tx.alias_create(planet, &name("Quicksilver")).await.unwrap();
    let metal = new_id();
    tx.node_split(
        planet,
        (metal, false),
        &name("Mercury (metal)"),
        Which::These {
            subjects: &ids[1..2],
            objects: &ids[2..3],
        },
        &[alias],
        home.user_id,
    )
    .await
    .unwrap();
    assert_eq!(
        said(&mut tx).await,
        [
            "Mercury (metal) symbol_of Hg 0.5",
            "Mercury orbits Sun 0.5",
            "Smith studies Mercury (metal) 0.5",
        ]
    );
    assert_eq!(aliases(&mut tx, metal).await, ["Quicksilver"]);
    let taken = tx
        .node_split(
            planet,
            (new_id(), false),
            &name("Sun"),
            Which::These {
                subjects: &[],
                objects: &[],
            },
            &[],
            home.user_id,
        )
        .await;
    assert!(matches!(taken, Err(StoreError::Duplicate { .. })));
}

#[tokio::test]
async fn candidates_for_contradictions_are_found_by_each_way() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let mut tx = tx(&bed, &home).await;
    let ids = tx
        .triples_insert(
            &[
                fact("A", "ceo", "X"), // 0, 1: two objects
                fact("A", "ceo", "Y"),
                fact("B", "ceo", "X"),   // 2: alone
                fact("A", "likes", "B"), // 3, 4: asserted and denied
                denied("A", "likes", "B"),
                fact("C", "parent_of", "D"), // 5, 6: denied from the other end
                denied("D", "child_of", "C"),
                fact("E", "married_to", "F"), // 7, 8: denied in the mirror
                denied("F", "married_to", "E"),
                fact("G", "owns", "H"), // 9, 10: exclusive
                fact("G", "sold", "H"),
                fact("A", "visits", "X"), // 11, 12: many at a time
                fact("A", "visits", "Y"),
            ],
            home.user_id,
        )
        .await
        .unwrap();
    let named = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let mut id_of = std::collections::HashMap::new();
    for p in tx.predicate_list(100, 0).await.unwrap().0 {
        id_of.insert(p.name, p.id);
    }
    let changes = [
        (
            "child_of",
            PredicateChange {
                inverse_of: Some(Some(id_of["parent_of"])),
                ..Default::default()
            },
        ),
        (
            "married_to",
            PredicateChange {
                symmetric: Some(true),
                ..Default::default()
            },
        ),
        (
            "owns",
            PredicateChange {
                exclusive_with: Some(Some(id_of["sold"])),
                ..Default::default()
            },
        ),
    ];
    for (p, change) in changes {
        tx.predicate_update(id_of[p], &change).await.unwrap();
    }
    let ceo = tx.predicates_named(&named(vec![" CEO "])).await.unwrap();
    assert_eq!(ceo, [id_of["ceo"]]);
    let mut found = tx.conflict_candidates(&ceo, 100).await.unwrap();
    found.sort();
    let mut expected: Vec<Uuid> = [0, 1, 3, 4, 5, 6, 7, 8, 9, 10]
        .iter()
        .map(|i| ids[*i])
        .collect();
    expected.sort();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn edges_are_followed_within_their_filter_and_their_cap() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let mut tx = tx(&bed, &home).await;
    let mut facts: Vec<NewTriple> = (0..20)
        .map(|i| fact("Hub", "links", &format!("N{i}")))
        .collect();
    facts.push(fact("N1", "links", "N2"));
    facts.push(fact("N1", "knows", "Hub"));
    facts.push(NewTriple {
        object: NewObject::Literal {
            value: json!({"type": "number", "value": 1}),
            key: "n:1".into(),
            label: "1".into(),
        },
        ..fact("Hub", "size", "")
    });
    tx.triples_insert(&facts, home.user_id).await.unwrap();
    let hub = node(&mut tx, "Hub").await;
    let (n1, n2) = (node(&mut tx, "N1").await, node(&mut tx, "N2").await);
    let all = EdgeFilter::default();
    assert_eq!(tx.edges_around(&[hub], &all, 100).await.unwrap().len(), 21);
    assert_eq!(tx.edges_around(&[hub], &all, 5).await.unwrap().len(), 6);
    let knows = EdgeFilter {
        predicates: Some(tx.predicates_named(&["knows".to_owned()]).await.unwrap()),
        ..EdgeFilter::default()
    };
    assert_eq!(tx.edges_around(&[hub], &knows, 100).await.unwrap().len(), 1);
    let sure = EdgeFilter {
        min_confidence: 0.6,
        ..EdgeFilter::default()
    };
    assert_eq!(tx.edges_around(&[hub], &sure, 100).await.unwrap().len(), 0);
    let within = tx.edges_within(&[hub, n1, n2], &all, 100).await.unwrap();
    assert_eq!(within.len(), 4);
    let degree = tx.nodes_degree(&[hub]).await.unwrap().remove(0).degree;
    assert_eq!(degree, 21, "a literal ties to nothing");
}

#[tokio::test]
async fn an_expired_memory_is_not_read_and_is_swept_and_no_other() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let mut tx = tx(&bed, &home).await;
    let agent = bed.agent(&home, "a").await.id;
    let put = |key: Option<&str>, note: &str, seconds: Option<i64>| NewMemory {
        agent_id: Some(agent),
        user_id: home.user_id,
        key: key.map(str::to_owned),
        value: None,
        note: Some(note.to_owned()),
        source: "agent",
        expires_at: seconds.map(|s| Utc::now() + TimeDelta::seconds(s)),
    };
    let old = tx
        .memory_put(&put(Some("k"), "old", Some(-5)))
        .await
        .unwrap();
    let kept = tx.memory_put(&put(None, "kept", Some(600))).await.unwrap();
    let forever = tx
        .memory_put(&put(Some("f"), "forever", None))
        .await
        .unwrap();
    let notes =
        |rows: Vec<MemoryRow>| -> Vec<String> { rows.into_iter().filter_map(|m| m.note).collect() };
    assert!(tx.memory_get(old.id).await.unwrap().is_none());
    assert!(!tx.memory_delete(old.id).await.unwrap());
    let (rows, total) = tx.memory_list(Some(agent), None, 10, 0).await.unwrap();
    assert_eq!(
        (notes(rows), total),
        (vec!["forever".into(), "kept".into()], 2)
    );
    assert_eq!(
        tx.memory_recall(agent, None, &[], 10).await.unwrap().len(),
        2
    );
    let words = ["KEPT".to_owned(), "nothing".to_owned()];
    let found = tx.memory_recall(agent, None, &words, 10).await.unwrap();
    assert_eq!(notes(found), ["kept"]);
    // The same key replaces, also what has expired.
    let new = tx
        .memory_put(&put(Some("k"), "new", Some(-1)))
        .await
        .unwrap();
    assert_eq!(new.id, old.id);
    tx.commit().await.unwrap();
    let mut system = bed.store.system().await.unwrap();
    assert_eq!(system.memory_sweep(100).await.unwrap(), 1);
    system.commit().await.unwrap();
    let mut tx = self::tx(&bed, &home).await;
    assert_eq!(tx.memory_count().await.unwrap(), 2);
    for id in [kept.id, forever.id] {
        assert!(tx.memory_get(id).await.unwrap().is_some());
    }
}

pub struct Filled {
    node: Uuid,
    event: Uuid,
    pair: Uuid,
    ball: Uuid,
    memory: Uuid,
}

/// A row in every table of this module.
pub async fn fill(bed: &Bed, home: &Home, word: &str, agent_id: Uuid, document: Uuid) -> Filled {
    let mut tx = tx(bed, home).await;
    let labels = ["one", "two", "three"].map(|n| format!("{word} {n}"));
    let triple = tx
        .triples_insert(
            &[
                fact(&labels[0], "links", &labels[1]),
                fact(&labels[2], "links", &labels[1]),
            ],
            home.user_id,
        )
        .await
        .unwrap();
    let mut ids = Vec::new();
    for label in &labels {
        ids.push(node(&mut tx, label).await);
    }
    let event = merge(&mut tx, ids[2], ids[0], home.user_id).await;
    tx.merge_propose((ids[0], ids[1]), 0.5, &["alike".to_owned()], document)
        .await
        .unwrap();
    let pair = tx.merge_list("pending", 1, 0).await.unwrap().0.remove(0).id;
    let ball = new_id();
    tx.ball_create(ball, word, 1, &json!({}), home.user_id)
        .await
        .unwrap();
    let content = BallContent {
        nodes: &[(ids[0], 0), (ids[1], 1)],
        triples: &triple[..1],
        truncated: false,
    };
    tx.ball_fill(ball, &content).await.unwrap();
    let memory = tx
        .memory_put(&remembered(home, word, Some(agent_id)))
        .await
        .unwrap()
        .id;
    tx.commit().await.unwrap();
    Filled {
        node: ids[0],
        event,
        pair,
        ball,
        memory,
    }
}

fn remembered(home: &Home, word: &str, agent_id: Option<Uuid>) -> NewMemory {
    NewMemory {
        agent_id,
        user_id: home.user_id,
        key: Some(word.to_owned()),
        value: None,
        note: Some(word.to_owned()),
        source: "person",
        expires_at: None,
    }
}

/// Every method of this module with another tenant's ids: the names of those that came to nothing.
pub async fn probe(
    bed: &Bed,
    (me, mine): (&Home, &Filled),
    theirs: &Filled,
    (triple, agent): (Uuid, Uuid),
) -> Vec<&'static str> {
    let mut nothing = Vec::new();
    macro_rules! tried {
        ($method:ident ( $($argument:expr),* ), $found:pat => $is_nothing:expr) => {{
            let mut tx = tx(bed, me).await;
            let outcome = tx.$method($($argument),*).await;
            if outcome.is_ok() {
                tx.commit().await.unwrap();
            }
            let empty = match &outcome {
                Ok($found) => $is_nothing,
                Err(e) => matches!(e, StoreError::Dangling { .. }),
            };
            assert!(empty, "{} found something of another tenant", stringify!($method));
            nothing.push(stringify!($method));
        }};
    }
    let locked = |id| LockedNode {
        id,
        name: name("stolen"),
        merged_into: None,
    };
    let event = NodeEvent {
        id: theirs.event,
        kind: "merge".into(),
        node_id: theirs.node,
        other_id: theirs.node,
        detail: Moved {
            label: "stolen".into(),
            identity: "stolen".into(),
            key: "stolen".into(),
            ..Moved::default()
        },
        actor_id: None,
        created_at: Utc::now(),
        undone_at: None,
    };
    let which = Which::These {
        subjects: &[triple],
        objects: &[],
    };
    let change = TripleChange {
        confidence: Some(0.1),
        ..TripleChange::default()
    };
    let all = EdgeFilter::default();
    let content = BallContent {
        nodes: &[(theirs.node, 0)],
        triples: &[triple],
        truncated: false,
    };
    let forget = MemoryChange {
        note: Some(Some("stolen".into())),
        ..MemoryChange::default()
    };
    let id = theirs.node;
    tried!(nodes_get(&[id]), rows => rows.is_empty());
    tried!(triple_update(triple, &change), done => !done);
    tried!(merge_lock(theirs.pair), row => row.is_none());
    tried!(merge_decide(theirs.pair, "rejected", me.user_id), () => true);
    tried!(nodes_lock(&[id]), rows => rows.is_empty());
    tried!(node_weight(id), weight => *weight == 0);
    tried!(nodes_merge(&locked(id), &locked(theirs.node), me.user_id), _id => false);
    tried!(node_split(id, (theirs.node, true), &name("stolen"), which, &[], me.user_id), _id => false);
    tried!(node_unmerge(&event, me.user_id), () => true);
    tried!(node_event_undone(theirs.event, me.user_id), () => true);
    tried!(node_events(id, 10, 0), page => page.0.is_empty() && page.1 == 0);
    tried!(node_event_get(theirs.event), row => row.is_none());
    tried!(node_followers(id), rows => rows.is_empty());
    tried!(edges_around(&[id], &all, 10), rows => rows.is_empty());
    tried!(edges_within(&[id], &all, 10), rows => rows.is_empty());
    tried!(nodes_degree(&[id]), rows => rows.is_empty());
    tried!(ball_lock(theirs.ball), found => !found);
    tried!(ball_update(theirs.ball, "stolen", 1, &json!({})), () => true);
    tried!(ball_fill(theirs.ball, &content), () => false);
    tried!(ball_get(theirs.ball), row => row.is_none());
    tried!(ball_members(theirs.ball), members => members.0.is_empty() && members.1.is_empty());
    tried!(ball_delete(theirs.ball), done => !done);
    tried!(memory_put(&remembered(me, "stolen", Some(agent))), _row => false);
    tried!(memory_list(Some(agent), None, 10, 0), page => page.0.is_empty() && page.1 == 0);
    tried!(memory_recall(agent, None, &[], 10), rows => rows.is_empty());
    tried!(memory_get(theirs.memory), row => row.is_none());
    tried!(memory_update(theirs.memory, &forget), row => row.is_none());
    tried!(memory_delete(theirs.memory), done => !done);
    // Those that take no id see only their own.
    tried!(merge_list("pending", 10, 0), page => page.1 == page.0.len() as i64 && page.0.iter().any(|r| r.id == mine.pair) && page.0.iter().all(|r| r.id != theirs.pair));
    tried!(ball_list(10, 0), page => page.1 == 1 && page.0[0].id == mine.ball);
    tried!(ball_count(), count => *count == 1);
    tried!(memory_count(), count => *count == 1);
    tried!(predicates_named(&["links".to_owned()]), rows => rows.len() == 1);
    let own = {
        let mut tx = tx(bed, me).await;
        tx.predicates_named(&["links".to_owned()]).await.unwrap()
    };
    tried!(predicates_maybe_functional(100), rows => own.iter().all(|id| rows.contains(id)));
    tried!(conflict_candidates(&own, 100), rows => rows.is_empty());
    nothing
}

/// Makes one in the own tenant of the name that the other has.
pub async fn make(tx: &mut TenantTx, me: &Home) -> Vec<&'static str> {
    tx.ball_create(new_id(), "theirs", 1, &json!({}), me.user_id)
        .await
        .unwrap();
    vec!["ball_create"]
}
