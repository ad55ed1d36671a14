//! A document's life over HTTP: proposed, read, looked at, let in or kept out, searched, taken back.

use qadra_testkit::llm::Reply;
use serde_json::{Value, json};

use crate::make_docx::{docx, paragraph};
use crate::make_pdf::{Page, pdf};
use crate::support::{Answer, Client, Sse, TestApp, eventually, id, names, soon};

/// Sentences whose statements any extraction must find.
const DEAL: [&str; 3] = [
    "Globex Corporation acquired Initech Corporation.",
    "Jane Miller founded Globex Corporation.",
    "Globex Corporation has 1,200 employees.",
];

/// A form with a file, as a browser sends it.
async fn upload(who: &Client, filename: &str, bytes: &[u8], title: Option<&str>) -> Answer {
    let mut body = Vec::new();
    if let Some(title) = title {
        body.extend_from_slice(
            format!("--XX\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n{title}\r\n")
                .as_bytes(),
        );
    }
    body.extend_from_slice(
        format!(
            "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{filename}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        )
        .as_bytes(),
    );
    body.extend_from_slice(bytes);
    body.extend_from_slice(b"\r\n--XX--\r\n");
    let request = who
        .request("POST", "/api/documents")
        .header("content-type", "multipart/form-data; boundary=XX")
        .body(body);
    who.send(request).await
}

async fn propose(who: &Client, content: &str) -> String {
    let body = json!({"title": "A note", "content": content});
    id(&who.post("/api/documents", body).await.json(201))
}

async fn get(who: &Client, document: &str) -> Value {
    who.get(&format!("/api/documents/{document}"))
        .await
        .json(200)
}

/// The document once its analysis has ended.
async fn analyzed(who: &Client, document: &str) -> Value {
    eventually("the end of the analysis", async || {
        let found = get(who, document).await;
        matches!(
            found["analysis"]["status"].as_str(),
            Some("done" | "failed")
        )
    })
    .await;
    get(who, document).await
}

/// The document once its state is final.
async fn ended(who: &Client, document: &str) -> Value {
    eventually("a final state", async || {
        let found = get(who, document).await;
        matches!(
            found["ingestion_status"].as_str(),
            Some("completed" | "failed" | "rejected" | "withdrawn")
        )
    })
    .await;
    get(who, document).await
}

async fn approve(who: &Client, document: &str) -> Value {
    let path = format!("/api/documents/{document}/approve");
    let approved = who
        .post(&path, json!({"note": "looks right"}))
        .await
        .json(202);
    assert_eq!(approved["ingestion_status"], "approved", "{approved}");
    ended(who, document).await
}

async fn triples(who: &Client, document: &str) -> Vec<Value> {
    let path = format!("/api/documents/{document}/triples?limit=100");
    who.get(&path).await.json(200)["items"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

fn says(triple: &Value) -> String {
    format!(
        "{} {} {}",
        triple["subject"]["label"].as_str().unwrap_or_default(),
        triple["predicate"].as_str().unwrap_or_default(),
        triple["object"]["label"].as_str().unwrap_or_default()
    )
}

fn word_file(sentences: &[&str]) -> Vec<u8> {
    docx(
        &sentences
            .iter()
            .map(|s| paragraph("", s))
            .collect::<String>(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_format_becomes_statements_that_stand_on_its_sentences() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let text = DEAL.join(" ");
    let files: [(&str, Vec<u8>); 5] = [
        ("note.txt", text.clone().into_bytes()),
        (
            "note.md",
            format!("# Übersicht\n\n{text}\n\n- one\n- two\n").into_bytes(),
        ),
        (
            "note.html",
            format!("<html><head><title>Acme</title><script>x()</script></head><body><h1>Acme</h1><p>{text}</p></body></html>")
                .into_bytes(),
        ),
        (
            "note.pdf",
            pdf(vec![Page::default().lines(60.0, 740.0, &DEAL)]),
        ),
        ("note.docx", word_file(&DEAL)),
    ];
    for (name, bytes) in files {
        let made = upload(&alice, name, &bytes, None).await.json(201);
        let document = id(&made);
        assert_eq!(
            (
                &made["ingestion_status"],
                &made["source_type"],
                &made["filename"]
            ),
            (&json!("pending_approval"), &json!("upload"), &json!(name))
        );
        let proposed = analyzed(&alice, &document).await;
        assert_eq!(proposed["analysis"]["status"], "done", "{name} {proposed}");
        assert!(
            proposed["analysis"]["triples"].as_i64() >= Some(1),
            "{name} {proposed}"
        );
        // Nothing enters before a person says so.
        assert_eq!(triples(&alice, &document).await, Vec::<Value>::new());
        let done = approve(&alice, &document).await;
        assert_eq!(done["ingestion_status"], "completed", "{name} {done}");
        assert_eq!(done["progress"], Value::Null);
        assert!(
            done["ingestion_result"]["chunks"].as_i64() >= Some(1),
            "{done}"
        );
        let found = triples(&alice, &document).await;
        assert!(
            found
                .iter()
                .any(|t| says(&t["triple"]) == "Globex Corporation acquired Initech Corporation"),
            "{name} {found:?}"
        );
        for t in &found {
            let (from, to) = (&t["span"][0], &t["span"][1]);
            let path = format!("/api/documents/{document}/text?from={from}&to={to}");
            let there = alice.get(&path).await.json(200);
            assert_eq!(there["text"], t["sentence"], "{name}");
            let path = format!("/api/documents/{document}/chunks?limit=100");
            let chunks = alice.get(&path).await.json(200);
            let chunk = chunks["items"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|c| c["id"] == t["chunk_id"])
                .unwrap_or_else(|| panic!("{name}: no chunk of {t}"));
            assert!(chunk["span"][0].as_i64() <= from.as_i64());
            let path = format!(
                "/api/knowledge/triples/{}/sources",
                t["triple"]["id"].as_str().unwrap_or_default()
            );
            let sources = alice.get(&path).await.json(200);
            assert!(
                sources["items"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|s| s["document_id"] == document.as_str() && s["span"] == t["span"]),
                "{sources}"
            );
        }
        let file = alice.get(&format!("/api/documents/{document}/file")).await;
        assert_eq!((file.status, &file.body), (200, &bytes));
        assert!(
            file.header("content-disposition")
                .starts_with(&format!("attachment; filename=\"{name}\"")),
            "{}",
            file.header("content-disposition")
        );
        let hits = alice
            .get("/api/documents/search?q=acquired+initech&limit=100")
            .await
            .json(200);
        assert!(
            hits["items"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|h| h["document_id"] == document.as_str()),
            "{hits}"
        );
    }
    // The five say the same: one statement, five documents.
    let all = alice
        .get("/api/knowledge/triples?predicate=acquired&limit=100")
        .await
        .json(200);
    assert_eq!(all["total"], 1, "{all}");
    let listed = alice
        .get("/api/documents?status=completed&q=note")
        .await
        .json(200);
    assert_eq!(listed["total"], 5, "{listed}");
    assert!(listed["items"][0].get("content").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_contradicts_the_graph_is_shown_before_anybody_approves() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let known = alice
        .fact("Globex Corporation", "ceo", json!("Ann Lee"))
        .await;
    alice
        .fact(
            "Globex Corporation",
            "acquired",
            json!("Initech Corporation"),
        )
        .await;
    let document = propose(
        &alice,
        "Tim Cook is the CEO of Globex Corporation. Globex Corporation acquired Initech Corporation.",
    )
    .await;
    let proposed = analyzed(&alice, &document).await;
    let analysis = &proposed["analysis"];
    assert_eq!(
        (&analysis["conflicts"], &analysis["known"]),
        (&json!(1), &json!(1)),
        "{proposed}"
    );
    let preview = alice
        .get(&format!("/api/documents/{document}/preview"))
        .await
        .json(200);
    assert_eq!(preview["conflicts"], 1);
    let first = &preview["items"][0];
    assert_eq!(first["status"], "conflict", "{preview}");
    assert_eq!(first["conflicts"][0]["triple"]["id"], known["id"]);
    assert!(
        first["conflicts"][0]["reason"]
            .as_str()
            .is_some_and(|r| r.contains("ceo")),
        "{first}"
    );
    // Only looked at: the graph is as it was.
    assert_eq!(
        alice.get("/api/knowledge/triples").await.json(200)["total"],
        2
    );
    let done = approve(&alice, &document).await;
    let result = &done["ingestion_result"];
    assert_eq!(
        (&result["triples_added"], &result["triples_supported"]),
        (&json!(1), &json!(1)),
        "{done}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_document_leaves_nothing_and_is_not_approved_later() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let document = propose(&alice, &DEAL.join(" ")).await;
    let path = |verb: &str| format!("/api/documents/{document}/{verb}");
    alice
        .post(&path("reject"), json!({"reason": " "}))
        .await
        .problem(422, "VALIDATION_FAILED");
    let rejected = alice
        .post(&path("reject"), json!({"reason": "not ours"}))
        .await
        .json(200);
    assert_eq!(
        (
            &rejected["ingestion_status"],
            &rejected["rejection_reason"],
            &rejected["rejected_by"]
        ),
        (
            &json!("rejected"),
            &json!("not ours"),
            &json!(alice.user_id)
        )
    );
    for verb in ["approve", "retry", "withdraw"] {
        alice
            .post(&path(verb), json!({}))
            .await
            .problem(409, "DOCUMENT_STATE");
    }
    let twice = alice
        .post(&path("reject"), json!({"reason": "again"}))
        .await;
    twice.problem(409, "DOCUMENT_STATE");
    assert_eq!(
        alice.get("/api/knowledge/triples").await.json(200)["total"],
        0
    );
    assert_eq!(
        alice.get("/api/documents/search?q=initech").await.json(200)["total"],
        0
    );
    alice
        .delete(&format!("/api/documents/{document}"))
        .await
        .empty(204);
    alice
        .get(&format!("/api/documents/{document}"))
        .await
        .problem(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawal_leaves_what_others_say_and_a_deletion_too() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let (first, second) = (
        propose(&alice, &DEAL.join(" ")).await,
        propose(&alice, DEAL[0]).await,
    );
    for document in [&first, &second] {
        analyzed(&alice, document).await;
        assert_eq!(
            approve(&alice, document).await["ingestion_status"],
            "completed"
        );
    }
    let before = triples(&alice, &first).await;
    assert!(before.len() >= 2, "{before:?}");
    // A person says one of them as well.
    let own = before
        .iter()
        .find(|t| says(&t["triple"]).starts_with("Jane Miller founded"))
        .unwrap_or_else(|| panic!("{before:?}"));
    let repeated = json!({
        "subject": "Jane Miller", "predicate": "founded", "object": "Globex Corporation", "source": "A note"
    });
    let said = alice
        .post("/api/knowledge/triples", repeated)
        .await
        .json(201);
    assert_eq!(said["id"], own["triple"]["id"]);
    let withdrawn = alice
        .post(
            &format!("/api/documents/{first}/withdraw"),
            json!({"reason": "out of date"}),
        )
        .await
        .json(200);
    assert_eq!(withdrawn["ingestion_status"], "withdrawn");
    assert_eq!(withdrawn["withdrawn_by"], alice.user_id.as_str());
    let left: Vec<String> = alice
        .get("/api/knowledge/triples?limit=100")
        .await
        .json(200)["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(says)
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.contains(&"Globex Corporation acquired Initech Corporation".to_owned()));
    assert!(left.contains(&"Jane Miller founded Globex Corporation".to_owned()));
    alice
        .delete(&format!("/api/documents/{second}"))
        .await
        .empty(204);
    assert_eq!(
        alice.get("/api/knowledge/triples").await.json(200)["total"],
        1
    );
    let hits = alice.get("/api/documents/search?q=initech").await.json(200);
    assert_eq!(hits["total"], 0, "{hits}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_odd_document_holds_up_the_others() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let noise: Vec<u8> = (0..40_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let locked = include_bytes!("../../../qadra-reader/tests/fixtures/password.pdf");
    let scanned = pdf(vec![Page::default().picture()]);
    let latin = b"Ren\xe9 Dupont founded Soci\xe9t\xe9 Acme. It is a caf\xe9.";
    let japanese = "東京は日本の首都です。富士山は高いです。";
    let odd: [(&str, &[u8], Option<&str>); 5] = [
        ("noise.docx", &noise, Some("DOCUMENT_UNREADABLE")),
        ("locked.pdf", locked, Some("DOCUMENT_ENCRYPTED")),
        ("scanned.pdf", &scanned, Some("DOCUMENT_NO_TEXT")),
        ("latin.txt", latin, None),
        ("nihon.txt", japanese.as_bytes(), None),
    ];
    let mut made = Vec::new();
    for (name, bytes, code) in odd {
        let document = id(&upload(&alice, name, bytes, None).await.json(201));
        made.push((name, document, code));
    }
    let good = propose(&alice, &DEAL.join(" ")).await;
    assert_eq!(analyzed(&alice, &good).await["analysis"]["status"], "done");
    for (name, document, code) in &made {
        let read = analyzed(&alice, document).await;
        assert_eq!(
            read["ingestion_status"], "pending_approval",
            "{name} {read}"
        );
        let done = approve(&alice, document).await;
        match code {
            Some(code) => {
                assert_eq!(read["analysis"]["error"]["code"], *code, "{name} {read}");
                assert_eq!(done["ingestion_status"], "failed", "{name}");
                let error = &done["ingestion_result"]["error"];
                assert_eq!(error["code"], *code, "{name} {done}");
                assert!(error["detail"].as_str().is_some_and(|d| d.len() > 10));
                // Tried again, it fails again, and says so.
                let path = format!("/api/documents/{document}/retry");
                let again = alice.post(&path, json!({})).await.json(202);
                assert_eq!(again["ingestion_result"], Value::Null, "{again}");
                let done = ended(&alice, document).await;
                assert_eq!(
                    (&done["ingestion_status"], &done["attempts"]),
                    (&json!("failed"), &json!(2)),
                    "{name}"
                );
            }
            None => {
                assert_eq!(read["analysis"]["status"], "done", "{name} {read}");
                assert_eq!(done["ingestion_status"], "completed", "{name} {done}");
            }
        }
    }
    let text = get(&alice, &made[3].1).await;
    assert!(
        text["content"]
            .as_str()
            .is_some_and(|t| t.starts_with("René Dupont")),
        "{text}"
    );
    assert_eq!(get(&alice, &made[4].1).await["content"], japanese);
    assert_eq!(
        approve(&alice, &good).await["ingestion_status"],
        "completed"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_a_document_is_refused_at_the_door() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    upload(&alice, "a.txt", b"\x89PNG\r\n\x1a\n....", None)
        .await
        .problem(415, "DOCUMENT_TYPE");
    upload(&alice, "a.exe", b"MZ\x90\x00", None)
        .await
        .problem(415, "DOCUMENT_TYPE");
    upload(&alice, "a.txt", b"", None)
        .await
        .problem(422, "VALIDATION_FAILED");
    alice
        .post("/api/documents", json!({"title": "x"}))
        .await
        .problem(422, "VALIDATION_FAILED");
    let bad = json!({"content": "x", "source_url": "javascript:alert(1)"});
    alice
        .post("/api/documents", bad)
        .await
        .problem(422, "VALIDATION_FAILED");
    alice
        .post(
            "/api/documents",
            json!({"content": "x", "source_type": "agent"}),
        )
        .await
        .problem(422, "VALIDATION_FAILED");
    let broken = alice
        .request("POST", "/api/documents")
        .header("content-type", "multipart/form-data; boundary=XX")
        .body("--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\ncut");
    alice.send(broken).await.problem(400, "MALFORMED_REQUEST");
    // A file that another request of hers brought is not to be named by a client.
    let borrowed = json!({"upload": "0191a0c2-7c1e-7c63-9d2a-000000000001", "filename": "x"});
    alice
        .post("/api/documents", borrowed)
        .await
        .problem(422, "VALIDATION_FAILED");
    let large = vec![b'a'; (64 << 20) + 1];
    upload(&alice, "large.txt", &large, None)
        .await
        .problem(413, "DOCUMENT_TOO_LARGE");
    assert_eq!(alice.get("/api/documents").await.json(200)["total"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_propose_and_admins_decide() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let bob = app.member(&alice, "Bob", "user").await;
    let document = propose(&bob, DEAL[0]).await;
    for verb in ["approve", "retry", "withdraw", "reject"] {
        bob.post(
            &format!("/api/documents/{document}/{verb}"),
            json!({"reason": "r"}),
        )
        .await
        .problem(403, "FORBIDDEN");
    }
    let hers = propose(&alice, DEAL[1]).await;
    bob.delete(&format!("/api/documents/{hers}"))
        .await
        .problem(403, "FORBIDDEN");
    assert_eq!(
        get(&bob, &hers).await["proposed_by"],
        alice.user_id.as_str()
    );
    let renamed = bob
        .patch(
            &format!("/api/documents/{document}"),
            json!({"title": "Better", "source_url": "https://example.org/a"}),
        )
        .await
        .json(200);
    assert_eq!(
        (&renamed["title"], &renamed["source_url"]),
        (&json!("Better"), &json!("https://example.org/a"))
    );
    let cleared = bob
        .patch(
            &format!("/api/documents/{document}"),
            json!({"source_url": null}),
        )
        .await
        .json(200);
    assert_eq!(
        (&cleared["title"], &cleared["source_url"]),
        (&json!("Better"), &Value::Null)
    );
    bob.delete(&format!("/api/documents/{document}"))
        .await
        .empty(204);
    // A key of an owner that may only write does what its owner may.
    let key = alice
        .post("/api/api-keys", json!({"name": "k", "scopes": ["write"]}))
        .await
        .json(201);
    let machine = app.stranger().with_key(key["key"].as_str().expect("a key"));
    analyzed(&machine, &hers).await;
    assert_eq!(
        approve(&machine, &hers).await["ingestion_status"],
        "completed"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_sees_each_state_and_then_the_end() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let document = propose(&alice, &DEAL.join(" ")).await;
    analyzed(&alice, &document).await;
    let path = format!("/api/documents/{document}/stream");
    let open = async || {
        let request = alice.request("GET", &path).send();
        Sse::new(
            soon("the head of a stream", request)
                .await
                .expect("a response"),
        )
    };
    let mut stream = open().await;
    assert_eq!(stream.header("content-type"), "text/event-stream");
    let first = stream.next().await.expect("the state as it is");
    assert_eq!(first.data["ingestion_status"], "pending_approval");
    approve(&alice, &document).await;
    let rest = stream.rest().await;
    assert_eq!(names(&rest).last(), Some(&"done"), "{rest:?}");
    let states: Vec<&str> = rest
        .iter()
        .filter_map(|e| e.data["ingestion_status"].as_str())
        .collect();
    assert_eq!(states.first(), Some(&"approved"), "{states:?}");
    assert!(states.contains(&"processing"), "{states:?}");
    assert_eq!(states.last(), Some(&"completed"));
    let seqs: Vec<u32> = std::iter::once(&first)
        .chain(&rest)
        .filter(|e| e.name == "document")
        .map(|e| e.seq)
        .collect();
    assert!(seqs.windows(2).all(|w| w[0] < w[1]), "{seqs:?}");
    assert_eq!(
        rest.last().map(|e| &e.data),
        Some(&json!({"document_id": document, "status": "completed"}))
    );
    // Who comes late is told the end at once.
    let late = open().await.rest().await;
    assert_eq!(names(&late), ["document", "done"]);
    let bob = app.user("Bob").await;
    bob.get(&path).await.problem(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_may_be_one_are_asked_about_and_sure_ones_are_linked() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    alice
        .fact("Globex", "acquired", json!("Initech Corporation"))
        .await;
    alice
        .fact("Samsung Electronics", "acquired", json!("Harman"))
        .await;
    let document = propose(
        &alice,
        "Globex Inc. acquired Initech Corporation. Samsung bought Boxee.",
    )
    .await;
    analyzed(&alice, &document).await;
    let done = approve(&alice, &document).await;
    let result = &done["ingestion_result"];
    assert_eq!(result["merges_queued"], 1, "{done}");
    assert!(result["triples_supported"].as_i64() >= Some(1), "{done}");
    let rows = app.rows().await;
    let asked = rows
        .texts(
            "SELECT a.label || '/' || b.label FROM kg_merges m JOIN kg_nodes a ON a.id = m.a_id JOIN kg_nodes b ON b.id = m.b_id",
        )
        .await;
    assert_eq!(asked, ["Samsung Electronics/Samsung"]);
    let aliases = rows.texts("SELECT alias FROM kg_aliases").await;
    assert!(
        aliases.iter().any(|a| a.starts_with("Globex Inc")),
        "{aliases:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_adds_what_it_can_quote_and_its_failure_is_a_warning() {
    let app = TestApp::builder()
        .scripted()
        .settings(|s| s.document_model_chunks = 5)
        .start()
        .await;
    let alice = app.user("Alice").await;
    let text = "The deal made Zork a part of Acme for good.";
    let statements = json!({"statements": [
        {"subject": "Zork", "predicate": "became part of", "object": "Acme", "object_type": "node", "negated": false, "quote": text},
        {"subject": "Zork", "predicate": "sold_for", "object": "3", "object_type": "number", "negated": false, "quote": "It was sold for 3."}
    ]});
    app.model()
        .push(Reply::calls("record_statements", statements.to_string()));
    let document = propose(&alice, text).await;
    analyzed(&alice, &document).await;
    let preview = alice
        .get(&format!("/api/documents/{document}/preview"))
        .await
        .json(200);
    let items = preview["items"].as_array().cloned().unwrap_or_default();
    assert!(
        items
            .iter()
            .any(|f| f["predicate"] == "became_part_of" && f["sentence"] == text),
        "{preview}"
    );
    assert!(
        items.iter().all(|f| f["predicate"] != "sold_for"),
        "{preview}"
    );
    assert_eq!(alice.get("/api/usage").await.json(200)["calls"], 1);

    app.model().otherwise(Reply::error(400, "no more"));
    let document = propose(&alice, &DEAL.join(" ")).await;
    let read = analyzed(&alice, &document).await;
    assert_eq!(read["analysis"]["status"], "done", "{read}");
    assert!(read["analysis"]["triples"].as_i64() >= Some(1), "{read}");
    let done = approve(&alice, &document).await;
    assert_eq!(done["ingestion_status"], "completed");
    assert!(
        done["ingestion_result"]["warnings"]
            .to_string()
            .contains("the model failed"),
        "{done}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_texts_travel_beside_the_broker() {
    let app = TestApp::builder().over_nats(1).start().await;
    let alice = app.user("Alice").await;
    let filler = "Nothing is said here.\n\n".repeat(100_000);
    let text = format!("{}\n\n{filler}", DEAL[0]);
    let made = alice
        .post(
            "/api/documents",
            json!({"title": "Long", "content": text, "source_type": "research"}),
        )
        .await
        .json(201);
    assert_eq!(made["source_type"], "research");
    assert_eq!(made["size_bytes"].as_i64(), i64::try_from(text.len()).ok());
    let document = id(&made);
    alice
        .post(
            &format!("/api/documents/{document}/reject"),
            json!({"reason": "long"}),
        )
        .await
        .json(200);
    let file = alice.get(&format!("/api/documents/{document}/file")).await;
    assert_eq!(file.body.len(), text.len());
}

/// A server that embeds by what a text is about: cats, or anything else.
async fn embeddings() -> String {
    let answer = async |axum::Json(asked): axum::Json<Value>| {
        let texts = asked["input"].as_array().cloned().unwrap_or_default();
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                let text = text.as_str().unwrap_or_default().to_lowercase();
                let cats = text.contains("cat") || text.contains("feline");
                let vector = if cats { [3.0, 0.1] } else { [-0.5, 2.0] };
                json!({"index": index, "embedding": vector})
            })
            .rev()
            .collect();
        axum::Json(json!({"data": data, "usage": {"prompt_tokens": 7}}))
    };
    let router = axum::Router::new().route("/v1/embeddings", axum::routing::post(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_an_embedding_model_a_passage_is_found_by_what_it_means() {
    let url = embeddings().await;
    let app = TestApp::builder().embedding(&url).start().await;
    let alice = app.user("Alice").await;
    let bob = app.user("Bob").await;
    let (about, other) = (
        propose(&alice, "Felines sleep most of the day.").await,
        propose(&alice, "Locomotives run on rails.").await,
    );
    for document in [&about, &other] {
        analyzed(&alice, document).await;
        let done = approve(&alice, document).await;
        assert_eq!(
            done["ingestion_result"]["warnings"]
                .as_array()
                .map(Vec::len),
            Some(if done["analysis"]["triples"] == 0 {
                1
            } else {
                0
            }),
            "{done}"
        );
    }
    let found = alice
        .get("/api/documents/search?q=what+do+cats+do")
        .await
        .json(200);
    assert_eq!(found["items"][0]["document_id"], about.as_str(), "{found}");
    assert_eq!(found["total"], 1, "{found}");
    assert_eq!(
        bob.get("/api/documents/search?q=cats").await.json(200)["total"],
        0
    );
    let usage = app
        .rows()
        .await
        .number("SELECT count(*) FROM usage_records WHERE operation_type = 'embedding' AND tokens_in = 7")
        .await;
    assert_eq!(usage, 2);
}
