//! Other wordings and other answers: each on a branch, none lost.

use qadra_testkit::llm::Reply;
use serde_json::json;

use crate::support::{Client, TestApp, id, ready, thread_path};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn editing_a_message_branches_and_the_old_branch_stays_reachable() {
    let (app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let first = turn(&app, &alice, &thread, &agent, "q1", "a1").await;
    let second = turn(&app, &alice, &thread, &agent, "q2", "a2").await;
    turn(&app, &alice, &thread, &agent, "q3", "a3").await;
    app.model().push(Reply::text("a2b"));
    let edit = thread_path(&thread, &format!("/messages/{}/edit", second.0));
    let edited = alice.post(&edit, json!({"content": "q2b"})).await.json(200);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1", "q2b", "a2b"]);
    assert_eq!(edited["conversation"]["message_count"], 4);
    let new = id(&edited["user_message"]);
    assert_eq!(edited["user_message"]["parent_id"], first.1.as_str());
    assert_eq!(edited["user_message"]["siblings"], json!([second.0, new]));
    assert_eq!(
        alice.messages(&thread).await[2]["siblings"],
        json!([second.0, new])
    );
    // The model was told of the new path, not of the old one.
    let asked = app.model().requests().pop().expect("a request").body;
    let told: Vec<_> = asked["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter(|m| m["role"] != "system")
        .map(|m| m["content"].clone())
        .collect();
    assert_eq!(told, ["q1", "a1", "q2b"]);

    let select = |message: &str| thread_path(&thread, &format!("/messages/{message}/select"));
    let back = alice.post(&select(&second.0), json!({})).await.json(200);
    assert_eq!(back["message_count"], 6);
    assert_eq!(
        texts(&alice, &thread).await,
        ["q1", "a1", "q2", "a2", "q3", "a3"]
    );
    turn(&app, &alice, &thread, &agent, "q4", "a4").await;
    alice.post(&select(&new), json!({})).await.json(200);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1", "q2b", "a2b"]);
    turn(&app, &alice, &thread, &agent, "q3b", "a3b").await;
    assert_eq!(
        texts(&alice, &thread).await,
        ["q1", "a1", "q2b", "a2b", "q3b", "a3b"]
    );
    alice.post(&select(&second.1), json!({})).await.json(200);
    assert_eq!(
        texts(&alice, &thread).await,
        ["q1", "a1", "q2", "a2", "q3", "a3", "q4", "a4"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_message_can_be_edited_too() {
    let (app, alice, agent) = ready().await;
    let thread = alice.conversation().await;
    let first = turn(&app, &alice, &thread, &agent, "q1", "a1").await;
    app.model().push(Reply::text("a1b"));
    let edit = thread_path(&thread, &format!("/messages/{}/edit/stream", first.0));
    let events = alice
        .stream(&edit, json!({"content": "q1b"}))
        .await
        .rest()
        .await;
    let new = events[0].data["user_message"]["id"].clone();
    assert_eq!(
        events[0].data["user_message"]["siblings"],
        json!([first.0, new])
    );
    assert_eq!(texts(&alice, &thread).await, ["q1b", "a1b"]);
    let answer = thread_path(&thread, &format!("/messages/{}/edit", first.1));
    alice
        .post(&answer, json!({"content": "x"}))
        .await
        .problem(422, "VALIDATION_FAILED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn regenerating_an_answer_keeps_the_earlier_ones_as_siblings() {
    let (app, alice, agent) = ready().await;
    let ayana = alice.agent("ayana").await;
    let thread = alice.conversation().await;
    let first = turn(&app, &alice, &thread, &agent, "q1", "a1").await;
    turn(&app, &alice, &thread, &agent, "q2", "a2").await;
    let again = thread_path(&thread, &format!("/messages/{}/regenerate", first.1));
    app.model()
        .push(Reply::text("a1b"))
        .push(Reply::text("a1c"));
    let b = alice.post(&again, json!({})).await.json(200);
    assert_eq!(
        b["user_message"]["id"],
        first.0.as_str(),
        "the question is the same message"
    );
    assert_eq!(b["assistant_message"]["agent_id"], agent.as_str());
    let c = alice
        .post(&again, json!({"agent_id": ayana}))
        .await
        .json(200);
    assert_eq!(c["assistant_message"]["agent_id"], ayana.as_str());
    let all = json!([
        first.1,
        id(&b["assistant_message"]),
        id(&c["assistant_message"])
    ]);
    assert_eq!(c["assistant_message"]["siblings"], all);
    assert_eq!(alice.messages(&thread).await[1]["siblings"], all);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1c"]);
    for (message, wanted) in [
        (&all[1], vec!["q1", "a1b"]),
        (&all[0], vec!["q1", "a1", "q2", "a2"]),
    ] {
        let select = thread_path(
            &thread,
            &format!("/messages/{}/select", message.as_str().expect("an id")),
        );
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
    let again = thread_path(&thread, &format!("/messages/{}/regenerate", first.1));
    alice
        .post(&again, json!({}))
        .await
        .problem(502, "LLM_FAILED");
    let select = thread_path(&thread, &format!("/messages/{}/select", first.1));
    app.model().push(Reply::text("a1b"));
    alice.post(&again, json!({})).await.json(200);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1b"]);
    alice.post(&select, json!({})).await.json(200);
    assert_eq!(texts(&alice, &thread).await, ["q1", "a1"]);
}

/// The ids of question and answer.
async fn turn(
    app: &TestApp,
    who: &Client,
    thread: &str,
    agent: &str,
    question: &str,
    answer: &str,
) -> (String, String) {
    app.model().push(Reply::text(answer));
    let said = who.say(thread, agent, question).await;
    (id(&said["user_message"]), id(&said["assistant_message"]))
}

async fn texts(who: &Client, thread: &str) -> Vec<String> {
    let messages = who.messages(thread).await;
    assert!(
        messages.iter().zip(1..).all(|(m, n)| m["position"] == n),
        "positions have holes"
    );
    messages
        .iter()
        .map(|m| m["content"].as_str().unwrap_or_default().to_owned())
        .collect()
}
