//! Threads as people keep them: named, found, put away, rated, paged.

use qadra_testkit::llm::Reply;
use serde_json::{Value, json};

use crate::support::{id, ready, thread_path};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_takes_its_title_from_its_first_message_until_it_is_renamed() {
    let (_app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let read = async || alice.get(&thread_path(&thread, "")).await.json(200)["title"].clone();
    assert_eq!(read().await, Value::Null);
    let long =
        "Compare the revenue of Apple, Microsoft and NVIDIA over the last five years, please";
    alice.say(&thread, &agent, long).await;
    assert_eq!(
        read().await,
        "Compare the revenue of Apple, Microsoft and NVIDIA over the…"
    );
    alice
        .patch(&thread_path(&thread, ""), json!({"title": "  Revenue  "}))
        .await
        .json(200);
    alice.say(&thread, &agent, "And the margin?").await;
    assert_eq!(read().await, "Revenue");
    // A sparse update leaves what it does not name.
    let archived = alice
        .patch(&thread_path(&thread, ""), json!({"is_archived": true}))
        .await
        .json(200);
    assert_eq!(
        (&archived["title"], &archived["is_archived"]),
        (&json!("Revenue"), &json!(true))
    );
    let named = alice
        .post("/api/conversations", json!({"title": "Named before"}))
        .await
        .json(201);
    alice.say(&id(&named), &agent, "Hello").await;
    assert_eq!(
        alice.get(&thread_path(&id(&named), "")).await.json(200)["title"],
        "Named before"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_shows_the_newest_activity_first_with_a_summary_of_each() {
    let (app, alice, agent) = ready().await;
    let (first, second) = (alice.conversation().await, alice.conversation().await);
    alice.say(&second, &agent, "Second").await;
    app.model()
        .push(Reply::text(format!("Answer {}", "x".repeat(300))));
    alice.say(&first, &agent, "First").await;
    let list = alice.get("/api/conversations").await.json(200);
    let ids: Vec<_> = items(&list).iter().map(id).collect();
    assert_eq!(
        (ids, &list["total"]),
        (vec![first.clone(), second.clone()], &json!(2))
    );
    let summary = &list["items"][0];
    assert_eq!(
        (&summary["title"], &summary["message_count"]),
        (&json!("First"), &json!(2))
    );
    assert_eq!(summary["last_agent_id"], agent.as_str());
    let preview = summary["last_message_preview"].as_str().expect("a preview");
    assert_eq!((preview.chars().count(), &preview[..9]), (160, "Answer xx"));
    let page = alice
        .get("/api/conversations?limit=1&offset=1")
        .await
        .json(200);
    assert_eq!(
        (id(&page["items"][0]), &page["total"]),
        (second.clone(), &json!(2))
    );

    alice
        .patch(&thread_path(&second, ""), json!({"is_archived": true}))
        .await
        .json(200);
    for (filter, wanted) in [
        ("archived=true", vec![&second]),
        ("archived=false", vec![&first]),
        ("", vec![&first, &second]),
    ] {
        let list = alice
            .get(&format!("/api/conversations?{filter}"))
            .await
            .json(200);
        assert_eq!(
            items(&list)
                .iter()
                .map(id)
                .collect::<Vec<_>>()
                .iter()
                .collect::<Vec<_>>(),
            wanted,
            "{filter}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn search_finds_titles_and_messages_and_shows_where() {
    let (app, alice, agent) = ready().await;
    let (titled, spoken) = (alice.conversation().await, alice.conversation().await);
    alice
        .patch(
            &thread_path(&titled, ""),
            json!({"title": "Margins of 100% at A_B"}),
        )
        .await
        .json(200);
    app.model()
        .push(Reply::text("The giraffes were drinking at the river."));
    let said = alice.say(&spoken, &agent, "What about the animals?").await;
    let find = async |q: &str| {
        alice
            .get(&format!("/api/conversations?q={q}"))
            .await
            .json(200)
    };
    let found = find("giraffe+drinks").await;
    assert_eq!(
        (id(&found["items"][0]), &found["total"]),
        (spoken.clone(), &json!(1))
    );
    let hit = &found["items"][0]["match"];
    assert_eq!(hit["message_id"], said["assistant_message"]["id"]);
    assert_eq!(hit["snippet"], "giraffes were drinking at the river");
    for (q, wanted) in [
        ("margin", 1),
        ("100%25", 1),
        ("A_B", 1),
        ("A%25B", 0),
        ("AxB", 0),
        ("%22at+the+river%22", 1),
        ("zebra", 0),
    ] {
        assert_eq!(find(q).await["total"], wanted, "{q}");
    }
    assert_eq!(find("margin").await["items"][0].get("match"), None);
    let mut odd = vec!["'", "%22", "%5C", "((", "-", "!%26|", "%25", "*:*"];
    odd.push("the");
    for q in odd {
        find(q).await;
    }
    alice.delete(&thread_path(&spoken, "")).await.empty(204);
    assert_eq!(find("giraffe").await["total"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_thread_is_gone_everywhere_until_it_is_restored_whole() {
    let (app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let said = alice.say(&thread, &agent, "Keep me").await;
    let turn = app
        .rows()
        .await
        .texts("SELECT id::text FROM conversation_turns")
        .await
        .concat();
    let answer = id(&said["assistant_message"]);
    alice.delete(&thread_path(&thread, "")).await.empty(204);
    for rest in [
        "",
        "/messages",
        "/export",
        &format!("/turns/{turn}"),
        &format!("/turns/{turn}/stream"),
    ] {
        alice
            .get(&thread_path(&thread, rest))
            .await
            .problem(404, "NOT_FOUND");
    }
    for rest in [
        format!("/messages/{answer}/rate"),
        format!("/messages/{answer}/select"),
        format!("/turns/{turn}/cancel"),
    ] {
        alice
            .post(&thread_path(&thread, &rest), json!({"rating": 1}))
            .await
            .problem(404, "NOT_FOUND");
    }
    let say = json!({"agent_id": agent, "content": "Anybody?"});
    alice
        .post(&thread_path(&thread, "/messages"), say.clone())
        .await
        .problem(404, "NOT_FOUND");
    alice
        .post(&thread_path(&thread, "/messages/stream"), say)
        .await
        .problem(404, "NOT_FOUND");
    alice
        .delete(&thread_path(&thread, ""))
        .await
        .problem(404, "NOT_FOUND");
    assert_eq!(alice.get("/api/conversations").await.json(200)["total"], 0);
    alice
        .post(&thread_path(&thread, "/restore"), json!({}))
        .await
        .json(200);
    assert_eq!(
        alice.messages(&thread).await,
        [
            said["user_message"].clone(),
            said["assistant_message"].clone()
        ]
    );
    alice
        .post(&thread_path(&thread, "/restore"), json!({}))
        .await
        .problem(404, "NOT_FOUND");
    alice.say(&thread, &agent, "Here again").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_a_thread_stops_the_answer_being_written_and_keeps_what_was_said() {
    let (app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    app.model().push(Reply::text("Half").hang());
    let mut stream = alice.say_streamed(&thread, &agent, "Go on").await;
    stream.until("token").await;
    alice.delete(&thread_path(&thread, "")).await.empty(204);
    assert!(
        app.model()
            .wait_for_close(0, std::time::Duration::from_secs(1))
            .await
    );
    stream.rest().await;
    alice
        .post(&thread_path(&thread, "/restore"), json!({}))
        .await
        .json(200);
    let last = alice.messages(&thread).await.pop().expect("an answer");
    assert_eq!(
        (&last["content"], &last["finish_reason"]),
        (&json!("Half"), &json!("cancelled"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_can_be_rated_and_the_rating_taken_back() {
    let (_app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let said = alice.say(&thread, &agent, "Hi").await;
    let rate = |message: &str| thread_path(&thread, &format!("/messages/{message}/rate"));
    let answer = id(&said["assistant_message"]);
    for rating in [json!(1), json!(-1), Value::Null, json!(1)] {
        let rated = alice
            .post(&rate(&answer), json!({"rating": rating}))
            .await
            .json(200);
        assert_eq!(rated["rating"], rating);
        assert_eq!(alice.messages(&thread).await[1], rated);
    }
    for bad in [
        json!({"rating": 0}),
        json!({"rating": 2}),
        json!({"rating": "1"}),
        json!({"rating": 1.5}),
        json!({}),
    ] {
        alice
            .post(&rate(&answer), bad.clone())
            .await
            .problem(422, "VALIDATION_FAILED");
    }
    let question = id(&said["user_message"]);
    alice
        .post(&rate(&question), json!({"rating": 1}))
        .await
        .problem(422, "VALIDATION_FAILED");
    let elsewhere = alice.conversation().await;
    let elsewhere = thread_path(&elsewhere, &format!("/messages/{answer}/rate"));
    alice
        .post(&elsewhere, json!({"rating": -1}))
        .await
        .problem(404, "NOT_FOUND");
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
        let page = alice
            .get(&thread_path(&thread, &format!("/messages?{query}")))
            .await
            .json(200);
        let got: Vec<_> = items(&page)
            .iter()
            .map(|m| m["position"].as_i64().expect("a position"))
            .collect();
        assert_eq!((got, &page["total"]), (positions, &json!(10)), "{query}");
    }
}

fn items(list: &Value) -> &Vec<Value> {
    list["items"].as_array().expect("an array")
}
