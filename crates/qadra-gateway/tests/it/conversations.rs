//! Threads as people keep them: named, found, put away, shared, rated, exported, branched.

use qadra_testkit::llm::Reply;
use serde_json::{Value, json};

use crate::support::{Client, TestApp, id};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_takes_its_title_from_its_first_message_until_it_is_renamed() {
    let (_app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let read = async || alice.get(&path(&thread, "")).await.json(200)["title"].clone();
    assert_eq!(read().await, Value::Null);
    let long = "Compare the revenue of Apple, Microsoft and NVIDIA over the last five years, please";
    alice.say(&thread, &agent, long).await;
    assert_eq!(read().await, "Compare the revenue of Apple, Microsoft and NVIDIA over the…");
    alice.patch(&path(&thread, ""), json!({"title": "  Revenue  "})).await.json(200);
    alice.say(&thread, &agent, "And the margin?").await;
    assert_eq!(read().await, "Revenue");
    // A sparse update leaves what it does not name.
    let archived = alice.patch(&path(&thread, ""), json!({"is_archived": true})).await.json(200);
    assert_eq!((&archived["title"], &archived["is_archived"]), (&json!("Revenue"), &json!(true)));
    let named = alice.post("/api/conversations", json!({"title": "Named before"})).await.json(201);
    alice.say(&id(&named), &agent, "Hello").await;
    assert_eq!(alice.get(&path(&id(&named), "")).await.json(200)["title"], "Named before");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_shows_the_newest_activity_first_with_a_summary_of_each() {
    let (app, alice, agent) = ready().await;
    let (first, second) = (alice.conversation().await, alice.conversation().await);
    alice.say(&second, &agent, "Second").await;
    app.model().push(Reply::text(format!("Answer {}", "x".repeat(300))));
    alice.say(&first, &agent, "First").await;
    let list = alice.get("/api/conversations").await.json(200);
    let ids: Vec<_> = items(&list).iter().map(id).collect();
    assert_eq!((ids, &list["total"]), (vec![first.clone(), second.clone()], &json!(2)));
    let summary = &list["items"][0];
    assert_eq!((&summary["title"], &summary["message_count"]), (&json!("First"), &json!(2)));
    assert_eq!(summary["last_agent_id"], agent.as_str());
    let preview = summary["last_message_preview"].as_str().expect("a preview");
    assert_eq!((preview.chars().count(), &preview[..9]), (160, "Answer xx"));
    let page = alice.get("/api/conversations?limit=1&offset=1").await.json(200);
    assert_eq!((id(&page["items"][0]), &page["total"]), (second.clone(), &json!(2)));

    alice.patch(&path(&second, ""), json!({"is_archived": true})).await.json(200);
    for (filter, wanted) in [("archived=true", vec![&second]), ("archived=false", vec![&first]), ("", vec![&first, &second])] {
        let list = alice.get(&format!("/api/conversations?{filter}")).await.json(200);
        assert_eq!(items(&list).iter().map(id).collect::<Vec<_>>().iter().collect::<Vec<_>>(), wanted, "{filter}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn search_finds_titles_and_messages_and_shows_where() {
    let (app, alice, agent) = ready().await;
    let (titled, spoken) = (alice.conversation().await, alice.conversation().await);
    alice.patch(&path(&titled, ""), json!({"title": "Margins of 100% at A_B"})).await.json(200);
    app.model().push(Reply::text("The giraffes were drinking at the river."));
    let said = alice.say(&spoken, &agent, "What about the animals?").await;
    let find = async |q: &str| alice.get(&format!("/api/conversations?q={q}")).await.json(200);
    let found = find("giraffe+drinks").await;
    assert_eq!((id(&found["items"][0]), &found["total"]), (spoken.clone(), &json!(1)));
    let hit = &found["items"][0]["match"];
    assert_eq!(hit["message_id"], said["assistant_message"]["id"]);
    assert_eq!(hit["snippet"], "giraffes were drinking at the river");
    for (q, wanted) in [("margin", 1), ("100%25", 1), ("A_B", 1), ("A%25B", 0), ("AxB", 0), ("%22at+the+river%22", 1), ("zebra", 0)] {
        assert_eq!(find(q).await["total"], wanted, "{q}");
    }
    assert_eq!(find("margin").await["items"][0].get("match"), None);
    let mut odd = vec!["'", "%22", "%5C", "((", "-", "!%26|", "%25", "*:*"];
    odd.push("the");
    for q in odd {
        find(q).await;
    }
    alice.delete(&path(&spoken, "")).await.empty(204);
    assert_eq!(find("giraffe").await["total"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_thread_is_gone_everywhere_until_it_is_restored_whole() {
    let (app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let said = alice.say(&thread, &agent, "Keep me").await;
    let turn = app.rows().await.texts("SELECT id::text FROM conversation_turns").await.concat();
    let answer = id(&said["assistant_message"]);
    alice.delete(&path(&thread, "")).await.empty(204);
    for rest in ["", "/messages", "/export", &format!("/turns/{turn}"), &format!("/turns/{turn}/stream")] {
        alice.get(&path(&thread, rest)).await.problem(404, "NOT_FOUND");
    }
    for rest in [format!("/messages/{answer}/rate"), format!("/messages/{answer}/select"), format!("/turns/{turn}/cancel")] {
        alice.post(&path(&thread, &rest), json!({"rating": 1})).await.problem(404, "NOT_FOUND");
    }
    let say = json!({"agent_id": agent, "content": "Anybody?"});
    alice.post(&path(&thread, "/messages"), say.clone()).await.problem(404, "NOT_FOUND");
    alice.post(&path(&thread, "/messages/stream"), say).await.problem(404, "NOT_FOUND");
    alice.delete(&path(&thread, "")).await.problem(404, "NOT_FOUND");
    assert_eq!(alice.get("/api/conversations").await.json(200)["total"], 0);
    alice.post(&path(&thread, "/restore"), json!({})).await.json(200);
    assert_eq!(alice.messages(&thread).await, [said["user_message"].clone(), said["assistant_message"].clone()]);
    alice.post(&path(&thread, "/restore"), json!({})).await.problem(404, "NOT_FOUND");
    alice.say(&thread, &agent, "Here again").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_a_thread_stops_the_answer_being_written_and_keeps_what_was_said() {
    let (app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    app.model().push(Reply::text("Half").hang());
    let mut stream = alice.say_streamed(&thread, &agent, "Go on").await;
    stream.until("token").await;
    alice.delete(&path(&thread, "")).await.empty(204);
    assert!(app.model().wait_for_close(0, std::time::Duration::from_secs(1)).await);
    stream.rest().await;
    alice.post(&path(&thread, "/restore"), json!({})).await.json(200);
    let last = alice.messages(&thread).await.pop().expect("an answer");
    assert_eq!((&last["content"], &last["finish_reason"]), (&json!("Half"), &json!("cancelled")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_its_users_own_until_it_is_shared_for_reading() {
    let (app, alice, agent) = ready().await;
    let bob = app.member(&alice, "Bob", "user").await;
    let thread = alice.conversation().await;
    let said = alice.say(&thread, &agent, "A secret plan").await;
    let rate = path(&thread, &format!("/messages/{}/rate", id(&said["assistant_message"])));
    let say = json!({"agent_id": agent, "content": "Me too"});
    bob.get(&path(&thread, "")).await.problem(404, "NOT_FOUND");
    bob.get(&path(&thread, "/messages")).await.problem(404, "NOT_FOUND");
    bob.patch(&path(&thread, ""), json!({"title": "x"})).await.problem(404, "NOT_FOUND");
    bob.post(&path(&thread, "/messages"), say.clone()).await.problem(404, "NOT_FOUND");
    assert_eq!(bob.get("/api/conversations?shared=true&q=secret").await.json(200)["total"], 0);

    alice.patch(&path(&thread, ""), json!({"is_shared": true})).await.json(200);
    assert_eq!(bob.messages(&thread).await.len(), 2);
    assert_eq!(bob.get(&path(&thread, "/export")).await.status, 200);
    assert_eq!(bob.get("/api/conversations").await.json(200)["total"], 0, "it is not among his own");
    for list in ["/api/conversations?shared=true", "/api/conversations?shared=true&q=secret"] {
        assert_eq!(id(&bob.get(list).await.json(200)["items"][0]), thread);
    }
    bob.patch(&path(&thread, ""), json!({"is_shared": false})).await.problem(403, "FORBIDDEN");
    bob.delete(&path(&thread, "")).await.problem(403, "FORBIDDEN");
    bob.post(&path(&thread, "/messages"), say.clone()).await.problem(403, "FORBIDDEN");
    bob.post(&path(&thread, "/messages/stream"), say).await.problem(403, "FORBIDDEN");
    bob.post(&rate, json!({"rating": 1})).await.problem(403, "FORBIDDEN");
    bob.post(&path(&thread, "/restore"), json!({})).await.problem(404, "NOT_FOUND");
    alice.patch(&path(&thread, ""), json!({"is_shared": null})).await.json(200);
    bob.get(&path(&thread, "")).await.problem(404, "NOT_FOUND");
    assert_eq!(app.rows().await.number("SELECT count(*) FROM audit_log").await, 0, "sharing is not overseeing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_admin_reads_of_anothers_is_written_to_the_audit_log() {
    let (app, alice, agent) = ready().await;
    let bob = app.member(&alice, "Bob", "user").await;
    let carol = app.member(&alice, "Carol", "admin").await;
    let thread = bob.conversation().await;
    bob.say(&thread, &agent, "Between us").await;
    let turn = app.rows().await.texts("SELECT id::text FROM conversation_turns").await.concat();
    let reads = ["", "/messages", "/export?format=json", &format!("/turns/{turn}"), &format!("/turns/{turn}/stream")];
    for (reader, name) in [(&carol, "admin"), (&alice, "owner")] {
        for (n, rest) in reads.iter().enumerate() {
            assert_eq!(reader.get(&path(&thread, rest)).await.status, 200, "{rest}");
            let seen = format!(
                "SELECT count(*) FROM audit_log WHERE action = 'conversation.read' AND object_id = '{thread}' AND actor_id = '{}'",
                reader.user_id
            );
            assert_eq!(app.rows().await.number(&seen).await, n as i64 + 1, "{name} {rest}");
        }
        reader.patch(&path(&thread, ""), json!({"title": "x"})).await.problem(403, "FORBIDDEN");
        reader.delete(&path(&thread, "")).await.problem(403, "FORBIDDEN");
    }
    bob.get(&path(&thread, "/messages")).await.json(200);
    let own = format!("SELECT count(*) FROM audit_log WHERE actor_id = '{}'", bob.user_id);
    assert_eq!(app.rows().await.number(&own).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_can_be_rated_and_the_rating_taken_back() {
    let (_app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let said = alice.say(&thread, &agent, "Hi").await;
    let rate = |message: &str| path(&thread, &format!("/messages/{message}/rate"));
    let answer = id(&said["assistant_message"]);
    for rating in [json!(1), json!(-1), Value::Null, json!(1)] {
        let rated = alice.post(&rate(&answer), json!({"rating": rating})).await.json(200);
        assert_eq!(rated["rating"], rating);
        assert_eq!(alice.messages(&thread).await[1], rated);
    }
    for bad in [json!({"rating": 0}), json!({"rating": 2}), json!({"rating": "1"}), json!({"rating": 1.5}), json!({})] {
        alice.post(&rate(&answer), bad.clone()).await.problem(422, "VALIDATION_FAILED");
    }
    let question = id(&said["user_message"]);
    alice.post(&rate(&question), json!({"rating": 1})).await.problem(422, "VALIDATION_FAILED");
    let elsewhere = alice.conversation().await;
    let elsewhere = path(&elsewhere, &format!("/messages/{answer}/rate"));
    alice.post(&elsewhere, json!({"rating": -1})).await.problem(404, "NOT_FOUND");
    assert_eq!(alice.messages(&thread).await[1]["rating"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_are_paged_from_either_end() {
    let (_app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    for n in 1..=5 {
        alice.say(&thread, &agent, &format!("q{n}")).await;
    }
    for (query, positions) in [
        ("limit=4", vec![1, 2, 3, 4]),
        ("limit=4&offset=8", vec![9, 10]),
        ("limit=4&offset=10", vec![]),
        ("order=asc&limit=2&offset=3", vec![4, 5]),
        ("order=desc&limit=4", vec![10, 9, 8, 7]),
        ("order=desc&limit=4&offset=8", vec![2, 1]),
        ("order=desc&limit=4&offset=12", vec![]),
        ("", (1..=10).collect::<Vec<i64>>()),
    ] {
        let page = alice.get(&path(&thread, &format!("/messages?{query}"))).await.json(200);
        let got: Vec<_> = items(&page).iter().map(|m| m["position"].as_i64().expect("a position")).collect();
        assert_eq!((got, &page["total"]), (positions, &json!(10)), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_exported_as_markdown_and_as_json() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    alice.fact("Apple", "founded_in_year", json!(1976)).await;
    let thread = alice.conversation().await;
    let said = alice.say(&thread, &alice.agent("scarlet").await, "When was Apple founded?").await;
    let markdown = alice.get(&path(&thread, "/export?format=md")).await;
    assert_eq!(markdown.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(markdown.header("content-disposition"), "attachment; filename=\"When-was-Apple-founded-.md\"");
    let text = markdown.text();
    let lines: Vec<_> = text.lines().filter(|l| !l.is_empty()).collect();
    assert_eq!(lines[0], "# When was Apple founded?");
    assert!(lines[1].starts_with("## You — ") && lines[1].ends_with(" UTC"), "{text}");
    assert_eq!(lines[2], "When was Apple founded?");
    assert!(lines[3].starts_with("## Scarlet (version 1) — "), "{text}");
    assert!(text.contains("1976") && text.contains("[1] (Apple, founded_in_year, 1976) — a test"), "{text}");

    let file = alice.get(&path(&thread, "/export?format=json")).await;
    assert_eq!(file.header("content-type"), "application/json");
    let json = file.json(200);
    assert_eq!(json["conversation"]["id"], thread.as_str());
    assert_eq!(json["messages"], json!([said["user_message"], said["assistant_message"]]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rated_answers_are_exported_for_training_one_json_line_each() {
    let (app, alice, _) = ready().await;
    let bob = app.member(&alice, "Bob", "user").await;
    let agent = json!({"name": "brief", "system_prompt": "Be brief."});
    let agent = id(&alice.post("/api/agents", agent).await.json(201));
    let thread = bob.conversation().await;
    let mut answers = vec![];
    for (question, answer) in [("one?", "1"), ("two?", "2"), ("three?", "3")] {
        app.model().push(Reply::text(answer));
        answers.push(id(&bob.say(&thread, &agent, question).await["assistant_message"]));
    }
    for (answer, rating) in [(&answers[1], 1), (&answers[2], -1)] {
        bob.post(&path(&thread, &format!("/messages/{answer}/rate")), json!({"rating": rating})).await.json(200);
    }
    // The prompt is the one that was in force, not today's.
    alice.patch(&format!("/api/agents/{agent}"), json!({"system_prompt": "Be long."})).await.json(200);
    let export = async |query: &str| -> Vec<Value> {
        let file = alice.get(&format!("/api/conversations/training-export{query}")).await;
        assert_eq!((file.status, file.header("content-type")), (200, "application/x-ndjson"));
        file.text().lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    };
    let lines = export("").await;
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["rating"], &lines[1]["rating"]), (&json!(1), &json!(-1)));
    assert_eq!(
        lines[0]["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "one?"},
            {"role": "assistant", "content": "1"},
            {"role": "user", "content": "two?"},
            {"role": "assistant", "content": "2"},
        ])
    );
    assert_eq!((&lines[0]["message_id"], &lines[0]["agent_version"]), (&json!(answers[1]), &json!(1)));
    assert_eq!(export("?rating=up").await, lines[..1]);
    assert_eq!(export("?rating=down").await, lines[1..]);
    alice.get("/api/conversations/training-export?rating=best").await.problem(422, "VALIDATION_FAILED");
    bob.get("/api/conversations/training-export").await.problem(403, "FORBIDDEN");
    let noted = "SELECT count(*) FROM audit_log WHERE action = 'training.export'";
    assert_eq!(app.rows().await.number(noted).await, 3);
    bob.delete(&path(&thread, "")).await.empty(204);
    assert_eq!(export("").await.len(), 0, "a deleted thread trains nobody");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn editing_a_message_branches_and_the_old_branch_stays_reachable() {
    let (app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let first = turn(&app, &alice, &thread, &agent, "q1", "a1").await;
    let second = turn(&app, &alice, &thread, &agent, "q2", "a2").await;
    turn(&app, &alice, &thread, &agent, "q3", "a3").await;
    app.model().push(Reply::text("a2b"));
    let edit = path(&thread, &format!("/messages/{}/edit", second.0));
    let edited = alice.post(&edit, json!({"content": "q2b"})).await.json(200);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1", "q2b", "a2b"]);
    assert_eq!(edited["conversation"]["message_count"], 4);
    let new = id(&edited["user_message"]);
    assert_eq!(edited["user_message"]["parent_id"], first.1.as_str());
    assert_eq!(edited["user_message"]["siblings"], json!([second.0, new]));
    assert_eq!(alice.messages(&thread).await[2]["siblings"], json!([second.0, new]));
    // The model was told of the new path, not of the old one.
    let asked = app.model().requests().pop().expect("a request").body;
    let told: Vec<_> = items_of(&asked["messages"]).iter().filter(|m| m["role"] != "system").map(|m| m["content"].clone()).collect();
    assert_eq!(told, ["q1", "a1", "q2b"]);

    let select = |message: &str| path(&thread, &format!("/messages/{message}/select"));
    let back = alice.post(&select(&second.0), json!({})).await.json(200);
    assert_eq!(back["message_count"], 6);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1", "q2", "a2", "q3", "a3"]);
    turn(&app, &alice, &thread, &agent, "q4", "a4").await;
    alice.post(&select(&new), json!({})).await.json(200);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1", "q2b", "a2b"]);
    turn(&app, &alice, &thread, &agent, "q3b", "a3b").await;
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1", "q2b", "a2b", "q3b", "a3b"]);
    alice.post(&select(&second.1), json!({})).await.json(200);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1", "q2", "a2", "q3", "a3", "q4", "a4"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_message_can_be_edited_too() {
    let (app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let first = turn(&app, &alice, &thread, &agent, "q1", "a1").await;
    app.model().push(Reply::text("a1b"));
    let edit = path(&thread, &format!("/messages/{}/edit/stream", first.0));
    let events = alice.stream(&edit, json!({"content": "q1b"})).await.rest().await;
    let new = events[0].data["user_message"]["id"].clone();
    assert_eq!(events[0].data["user_message"]["siblings"], json!([first.0, new]));
    assert_eq!(texts(&alice, &thread).await, ["q1b", "a1b"]);
    let answer = path(&thread, &format!("/messages/{}/edit", first.1));
    alice.post(&answer, json!({"content": "x"})).await.problem(422, "VALIDATION_FAILED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn regenerating_an_answer_keeps_the_earlier_ones_as_siblings() {
    let (app, alice, agent) = ready().await;
    let ayana = alice.agent("ayana").await;
    let thread = alice.conversation().await;
    let first = turn(&app, &alice, &thread, &agent, "q1", "a1").await;
    turn(&app, &alice, &thread, &agent, "q2", "a2").await;
    let again = path(&thread, &format!("/messages/{}/regenerate", first.1));
    app.model().push(Reply::text("a1b")).push(Reply::text("a1c"));
    let b = alice.post(&again, json!({})).await.json(200);
    assert_eq!(b["user_message"]["id"], first.0.as_str(), "the question is the same message");
    assert_eq!(b["assistant_message"]["agent_id"], agent.as_str());
    let c = alice.post(&again, json!({"agent_id": ayana})).await.json(200);
    assert_eq!(c["assistant_message"]["agent_id"], ayana.as_str());
    let all = json!([first.1, id(&b["assistant_message"]), id(&c["assistant_message"])]);
    assert_eq!(c["assistant_message"]["siblings"], all);
    assert_eq!(alice.messages(&thread).await[1]["siblings"], all);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1c"]);
    for (message, wanted) in [(&all[1], vec!["q1", "a1b"]), (&all[0], vec!["q1", "a1", "q2", "a2"])] {
        let select = path(&thread, &format!("/messages/{}/select", message.as_str().expect("an id")));
        alice.post(&select, json!({})).await.json(200);
        assert_eq!(texts(&alice, &thread).await, wanted);
        assert_eq!(alice.messages(&thread).await[1]["siblings"], all);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_regeneration_leaves_the_old_answer_and_can_be_tried_again() {
    let (app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let first = turn(&app, &alice, &thread, &agent, "q1", "a1").await;
    app.model().push(Reply::error(404, "gone"));
    let again = path(&thread, &format!("/messages/{}/regenerate", first.1));
    alice.post(&again, json!({})).await.problem(502, "LLM_FAILED");
    let select = path(&thread, &format!("/messages/{}/select", first.1));
    app.model().push(Reply::text("a1b"));
    alice.post(&again, json!({})).await.json(200);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1b"]);
    alice.post(&select, json!({})).await.json(200);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1"]);
}

async fn ready() -> (TestApp, Client, String) {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let agent = alice.agent("scarlet").await;
    (app, alice, agent)
}

/// The ids of question and answer.
async fn turn(app: &TestApp, who: &Client, thread: &str, agent: &str, question: &str, answer: &str) -> (String, String) {
    app.model().push(Reply::text(answer));
    let said = who.say(thread, agent, question).await;
    (id(&said["user_message"]), id(&said["assistant_message"]))
}

async fn texts(who: &Client, thread: &str) -> Vec<String> {
    let messages = who.messages(thread).await;
    assert!(messages.iter().zip(1..).all(|(m, n)| m["position"] == n), "positions have holes");
    messages.iter().map(|m| m["content"].as_str().unwrap_or_default().to_owned()).collect()
}

fn path(thread: &str, rest: &str) -> String {
    format!("/api/conversations/{thread}{rest}")
}

fn items(list: &Value) -> &Vec<Value> {
    items_of(&list["items"])
}

fn items_of(array: &Value) -> &Vec<Value> {
    array.as_array().expect("an array")
}
