//! SIGKILL at any moment of a turn, then a start on what it left.

use std::path::Path;
use std::time::{Duration, Instant};

use qadra_testkit::llm::{Gate, Reply, ScriptedLlm};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::api::{Api, Stream, names, text};
use super::program::{Program, directory, postgres_of, postmaster, send};

/// One installation with a scripted model, its account and a thread.
struct House {
    dir: TempDir,
    llm: ScriptedLlm,
    qadra: Program,
    api: Api,
    thread: String,
}

impl House {
    async fn new() -> Self {
        let (dir, llm) = (directory(), ScriptedLlm::start().await);
        let mut qadra = start(dir.path(), &llm);
        let api = Api::register(&qadra.ready().await).await;
        let thread = api.conversation().await;
        Self {
            dir,
            llm,
            qadra,
            api,
            thread,
        }
    }

    async fn restart(&mut self) {
        let begun = Instant::now();
        self.qadra = start(self.dir.path(), &self.llm);
        self.api.url = self.qadra.ready().await;
        eprintln!("ready again in {} ms", begun.elapsed().as_millis());
    }

    async fn turn(&self, turn: &str) -> Value {
        self.api
            .ok(self
                .api
                .get(&format!("/api/conversations/{}/turns/{turn}", self.thread)))
            .await
    }

    async fn conversation(&self) -> Value {
        self.api
            .ok(self.api.get(&format!("/api/conversations/{}", self.thread)))
            .await
    }

    /// What must hold of a turn that was being answered when the process died.
    async fn assert_interrupted(&self, turn: &str, question: &str, seen: u32) {
        let state = self.turn(turn).await;
        assert_eq!(state["status"], json!("failed"), "{state}");
        assert_eq!(state["error"]["code"], json!("TURN_INTERRUPTED"), "{state}");
        assert_eq!(state["error"]["retryable"], json!(true), "{state}");
        assert_eq!(state["assistant_message_id"], Value::Null, "{state}");
        let messages = self.api.messages(&self.thread).await;
        let last = messages.last().unwrap();
        assert_eq!(
            (&last["role"], &last["content"]),
            (&json!("user"), &json!(question))
        );
        assert_eq!(last["id"], state["user_message_id"]);
        let conversation = self.conversation().await;
        assert_eq!(conversation["running_turn_id"], Value::Null);
        assert_eq!(conversation["message_count"], json!(messages.len()));

        // The reader who was cut off is told, and one who starts anew too.
        let resumed = self.api.attach(&self.thread, turn, seen).await.rest().await;
        assert_eq!(names(&resumed), ["error", "done"]);
        assert!(
            resumed[0].id > seen && resumed[1].id > resumed[0].id,
            "{resumed:?} after {seen}"
        );
        assert_eq!(resumed[0].data["code"], json!("TURN_INTERRUPTED"));
        assert_eq!(
            resumed[1].data,
            json!({"turn_id": turn, "status": "failed"})
        );
        let anew = self.api.attach(&self.thread, turn, 0).await.rest().await;
        assert_eq!(names(&anew), ["user_saved", "error", "done"]);
        assert_eq!(anew[0].data["user_message"]["content"], json!(question));
    }

    /// The message can be answered after all, and the thread goes on after that.
    async fn assert_goes_on(&self, question: &Value) {
        self.llm
            .push(Reply::text("Answered after all."))
            .push(Reply::text("And so on."));
        let before = self.api.messages(&self.thread).await.len();
        let path = format!(
            "/api/conversations/{}/messages/{}/regenerate",
            self.thread,
            question["id"].as_str().unwrap()
        );
        let retried = self.api.ok(self.api.post(&path, &json!({}))).await;
        let answer = &retried["assistant_message"];
        assert_eq!(
            (&answer["content"], &answer["parent_id"]),
            (&json!("Answered after all."), &question["id"])
        );
        let next = self.api.exchange(&self.thread, "Go on.").await;
        assert_eq!(next["assistant_message"]["content"], json!("And so on."));
        let messages = self.api.messages(&self.thread).await;
        assert_eq!(messages.len(), before + 3);
        let positions: Vec<i64> = messages
            .iter()
            .map(|m| m["position"].as_i64().unwrap())
            .collect();
        assert_eq!(
            positions,
            (1..=i64::try_from(messages.len()).unwrap()).collect::<Vec<_>>()
        );
    }

    /// From the kill to the thread going on.
    async fn assert_survives(&mut self, turn: &str, question: &str, seen: u32) {
        self.restart().await;
        self.assert_interrupted(turn, question, seen).await;
        let messages = self.api.messages(&self.thread).await;
        self.assert_goes_on(messages.last().unwrap()).await;
    }

    async fn ask(&self, question: &str) -> (Stream, String) {
        let mut stream = self.api.ask(&self.thread, question).await;
        let turn = stream.until("user_saved").await.turn_id();
        (stream, turn)
    }
}

fn start(dir: &Path, llm: &ScriptedLlm) -> Program {
    Program::up(dir, &[("QADRA_LLM_BASE_URL", &llm.openai_url())])
}

#[tokio::test]
async fn killed_before_the_first_token() {
    let mut house = House::new().await;
    let gate = Gate::new();
    house.llm.push(Reply::new().gate(&gate).token("never said"));
    let (stream, turn) = house.ask("First?").await;
    assert!(house.llm.wait_for_requests(1, super::program::SOON).await);
    let seen = stream.last;
    house.qadra.kill().await;
    house.assert_survives(&turn, "First?", seen).await;
}

#[tokio::test]
async fn killed_between_tokens_after_an_exchange() {
    let mut house = House::new().await;
    house.llm.push(Reply::text("Hello."));
    house.api.exchange(&house.thread, "Hi.").await;
    let gate = Gate::new();
    house
        .llm
        .push(Reply::tokens(["a ", "b ", "c "]).gate(&gate).token("d"));
    let (mut stream, turn) = house.ask("Letters?").await;
    while stream.until("token").await.data["delta"] != json!("c ") {}
    house.qadra.kill().await;
    // The reader is cut off without being told anything false.
    assert!(stream.rest().await.is_empty());
    house.assert_survives(&turn, "Letters?", stream.last).await;
}

#[tokio::test]
async fn killed_in_a_tool_round() {
    let mut house = House::new().await;
    let gate = Gate::new();
    let config = json!({"series": [{"type": "bar", "data": [1, 2]}]});
    let arguments = json!({"chart_name": "Sales", "chart_config": config}).to_string();
    house
        .llm
        .push(Reply::text("Drawing.").call("call_1", "generate_chart", arguments));
    house.llm.push(Reply::new().gate(&gate).token("never said"));
    let (mut stream, turn) = house.ask("A chart?").await;
    stream.until("tool_call").await;
    stream.until("tool_call").await;
    assert!(house.llm.wait_for_requests(2, super::program::SOON).await);
    house.qadra.kill().await;
    house.assert_survives(&turn, "A chart?", stream.last).await;
}

#[tokio::test]
async fn killed_after_the_last_token_but_before_the_end() {
    let mut house = House::new().await;
    let gate = Gate::new();
    house.llm.push(Reply::tokens(["All ", "said."]).gate(&gate));
    let (mut stream, turn) = house.ask("Say it.").await;
    while stream.until("token").await.data["delta"] != json!("said.") {}
    house.qadra.kill().await;
    house.assert_survives(&turn, "Say it.", stream.last).await;
}

#[tokio::test]
async fn killed_while_an_answer_is_regenerated_keeps_the_first_one() {
    let mut house = House::new().await;
    house.llm.push(Reply::text("First answer."));
    let first = house.api.exchange(&house.thread, "Question.").await;
    let gate = Gate::new();
    house.llm.push(Reply::text("Second").gate(&gate));
    let answer = first["assistant_message"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!(
        "/api/conversations/{}/messages/{answer}/regenerate/stream",
        house.thread
    );
    let mut stream = house.api.stream(house.api.post(&path, &json!({}))).await;
    let turn = stream.until("user_saved").await.turn_id();
    stream.until("token").await;
    house.qadra.kill().await;
    house.restart().await;
    house
        .assert_interrupted(&turn, "Question.", stream.last)
        .await;
    let path = format!(
        "/api/conversations/{}/messages/{answer}/select",
        house.thread
    );
    house.api.ok(house.api.post(&path, &json!({}))).await;
    let messages = house.api.messages(&house.thread).await;
    assert_eq!(messages[1]["content"], json!("First answer."));
    house.llm.push(Reply::text("On we go."));
    house.api.exchange(&house.thread, "Go on.").await;
}

#[tokio::test]
async fn killed_together_with_its_postgres() {
    let mut house = House::new().await;
    let gate = Gate::new();
    house.llm.push(Reply::text("a").gate(&gate));
    let (mut stream, turn) = house.ask("Both?").await;
    stream.until("token").await;
    let postmaster = postmaster(house.dir.path());
    house.qadra.signal(Signal::KILL);
    send(postmaster, Signal::KILL);
    house.qadra.kill().await;
    house.assert_survives(&turn, "Both?", stream.last).await;
}

#[tokio::test]
async fn killed_with_every_process_of_its_postgres_stopped_in_its_tracks() {
    let mut house = House::new().await;
    let gate = Gate::new();
    house.llm.push(Reply::text("a").gate(&gate));
    let (mut stream, turn) = house.ask("All?").await;
    stream.until("token").await;
    // Frozen, they cannot notice that their parent is gone: the next start finds them all alive.
    let processes = postgres_of(house.dir.path());
    processes.iter().for_each(|pid| send(*pid, Signal::STOP));
    house.qadra.kill().await;
    house.assert_survives(&turn, "All?", stream.last).await;
    let left: Vec<_> = postgres_of(house.dir.path())
        .intersection(&processes)
        .copied()
        .collect();
    assert_eq!(left, Vec::<u32>::new());
}

/// The moment is random, so either outcome is right; what must hold holds for both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_random_moments_it_never_keeps_half_a_turn() {
    let seed = 20_260_730;
    let mut random = StdRng::seed_from_u64(seed);
    let mut house = House::new().await;
    let tokens: Vec<String> = (0..12).map(|n| format!("t{n} ")).collect();
    let whole = tokens.concat();
    let (mut interrupted, mut completed, mut unsent) = (0, 0, 0);
    for round in 0..10 {
        let delay = Duration::from_millis(random.random_range(0..120));
        eprintln!("seed {seed}, round {round}: killed after {delay:?}");
        house
            .llm
            .otherwise(Reply::tokens(tokens.clone()).pause_each(Duration::from_millis(5)));
        let before = house.api.messages(&house.thread).await;
        let question = format!("Round {round}?");
        let (asking, thread, asked) = (house.api.clone(), house.thread.clone(), question.clone());
        let reader = tokio::spawn(async move {
            let body = json!({"agent_id": asking.agent, "content": asked});
            let request = asking.post(
                &format!("/api/conversations/{thread}/messages/stream"),
                &body,
            );
            // The program may die before it answers.
            let response = request.send().await.ok()?;
            let mut stream = Stream::of(response);
            let events = stream.rest().await;
            Some((events, stream.last))
        });
        tokio::time::sleep(delay).await;
        house.qadra.kill().await;
        let seen = reader.await.unwrap();
        house.restart().await;

        let conversation = house.conversation().await;
        assert_eq!(conversation["running_turn_id"], Value::Null);
        let after = house.api.messages(&house.thread).await;
        assert_eq!(conversation["message_count"], json!(after.len()));
        assert_eq!(after[..before.len()], before[..], "what was there is there");
        let added = &after[before.len()..];
        let turn = seen
            .as_ref()
            .and_then(|(events, _)| events.first())
            .map(|e| e.turn_id());
        // What a reader has been told is saved, is.
        if let Some(turn) = &turn {
            let state = house.turn(turn).await;
            let (events, last) = seen.as_ref().unwrap();
            let resumed = house
                .api
                .attach(&house.thread, turn, *last)
                .await
                .rest()
                .await;
            match state["status"].as_str().unwrap() {
                "completed" => {
                    assert_eq!(added.len(), 2);
                    let both: Vec<_> = events.iter().chain(&resumed).cloned().collect();
                    assert_eq!(text(&both), whole);
                    assert!(
                        both.iter()
                            .map(|e| e.id)
                            .eq(1..=u32::try_from(both.len()).unwrap()),
                        "{both:?}"
                    );
                }
                "failed" => {
                    assert_eq!(state["error"]["code"], json!("TURN_INTERRUPTED"));
                    assert!(
                        !names(events).contains(&"assistant_message"),
                        "an answer was shown and then lost"
                    );
                    assert_eq!(names(&resumed), ["error", "done"]);
                }
                other => panic!("the turn is {other}"),
            }
        }
        match added {
            [] => {
                assert_eq!(turn, None);
                unsent += 1;
            }
            [user] => {
                assert_eq!(user["content"], json!(question));
                interrupted += 1;
                house.assert_goes_on(user).await;
            }
            [user, answer] => {
                assert_eq!(
                    (&user["content"], &answer["content"]),
                    (&json!(question), &json!(whole))
                );
                completed += 1;
            }
            more => panic!("too much was added: {more:?}"),
        }
    }
    eprintln!("{interrupted} interrupted, {completed} completed, {unsent} not begun");
}
