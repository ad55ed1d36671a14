//! Random sends, edits, regenerations and selections against a model in which every branch is a plain list.

use std::collections::HashMap;

use qadra_store::{Branch, Page, TenantTx};
use qadra_types::{Agent, Code, Message, MessageRole, TurnError};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use uuid::Uuid;

use super::bed::{Bed, Home, Owner, end_turn, new_turn};

struct Said {
    role: MessageRole,
    parent: Option<Uuid>,
    content: String,
    branch: Uuid,
    position: usize,
}

#[derive(Default)]
struct Model {
    messages: HashMap<Uuid, Said>,
    /// In the order they were written.
    written: Vec<Uuid>,
    /// Whole paths.
    branches: HashMap<Uuid, Vec<Uuid>>,
    active: Uuid,
    preview: Option<String>,
}

impl Model {
    fn write(&mut self, id: Uuid, branch: Uuid, role: MessageRole, content: &str) {
        let path = self.branches.get_mut(&branch).unwrap();
        let parent = path.last().copied();
        path.push(id);
        let said = Said {
            role,
            parent,
            content: content.into(),
            branch,
            position: path.len(),
        };
        self.messages.insert(id, said);
        self.written.push(id);
        self.preview = Some(content.chars().take(160).collect());
    }

    fn siblings(&self, id: Uuid) -> Vec<Uuid> {
        let parent = self.messages[&id].parent;
        self.written
            .iter()
            .copied()
            .filter(|other| self.messages[other].parent == parent)
            .collect()
    }

    fn path(&self) -> &[Uuid] {
        &self.branches[&self.active]
    }
}

struct Play<'a> {
    bed: &'a Bed,
    home: &'a Home,
    agent: &'a Agent,
    thread: Uuid,
    model: Model,
    random: StdRng,
}

impl Play<'_> {
    async fn tx(&self) -> TenantTx {
        self.bed.store.tenant(&self.home.ctx).await.unwrap()
    }

    fn pick(&mut self, role: Option<MessageRole>) -> Option<Uuid> {
        let from: Vec<Uuid> = self
            .model
            .written
            .iter()
            .copied()
            .filter(|id| role.is_none_or(|r| self.model.messages[id].role == r))
            .collect();
        (!from.is_empty()).then(|| from[self.random.random_range(0..from.len())])
    }

    fn text(&mut self) -> String {
        let words = self.random.random_range(1..60);
        format!("{} {}", self.model.written.len(), "wörd ".repeat(words))
    }

    async fn step(&mut self) {
        match self.random.random_range(0..10) {
            0..4 => self.send().await,
            4 | 5 => match self.pick(Some(MessageRole::User)) {
                Some(id) => self.edit(id).await,
                None => self.send().await,
            },
            6..8 => match self.pick(None) {
                Some(id) => self.answer(id).await,
                None => self.send().await,
            },
            _ => {
                if let Some(id) = self.pick(None) {
                    self.select(id).await;
                }
            }
        }
    }

    async fn send(&mut self) {
        let text = self.text();
        let mut tx = self.tx().await;
        let locked = tx
            .turn_lock(self.thread, Some(self.agent.id))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(locked.branch.id, self.model.active);
        self.turn(tx, locked.branch, Some(&text)).await;
    }

    /// As the app does it: a branch that shares what came before the message.
    async fn edit(&mut self, id: Uuid) {
        let text = self.text();
        let mut tx = self.tx().await;
        let old = tx.message_get(self.thread, id).await.unwrap().unwrap();
        let fork = self
            .fork(&mut tx, &old, old.position - 1, old.parent_id)
            .await;
        self.turn(tx, fork, Some(&text)).await;
    }

    /// Regenerates an answer, or answers a message again.
    async fn answer(&mut self, id: Uuid) {
        let said = &self.model.messages[&id];
        let question = if said.role == MessageRole::User {
            id
        } else {
            said.parent.unwrap()
        };
        let mut tx = self.tx().await;
        let mut branch = tx
            .turn_lock(self.thread, None)
            .await
            .unwrap()
            .unwrap()
            .branch;
        if branch.head_message_id != Some(question) {
            let m = tx
                .message_get(self.thread, question)
                .await
                .unwrap()
                .unwrap();
            branch = self.fork(&mut tx, &m, m.position, Some(question)).await;
        }
        self.turn(tx, branch, None).await;
    }

    async fn fork(
        &mut self,
        tx: &mut TenantTx,
        m: &Message,
        at: i32,
        head: Option<Uuid>,
    ) -> Branch {
        let from = tx.branch_get(m.branch_id).await.unwrap().unwrap();
        let fork = tx.branch_fork(self.thread, &from, at, head).await.unwrap();
        let shared = self.model.branches[&m.branch_id][..usize::try_from(at).unwrap()].to_vec();
        self.model.branches.insert(fork.id, shared);
        fork
    }

    async fn turn(&mut self, mut tx: TenantTx, branch: Branch, content: Option<&str>) {
        let new = new_turn(
            self.thread,
            &branch,
            content,
            self.agent.id,
            Owner::nobody(),
        );
        let started = tx.turn_start(&new).await.unwrap();
        tx.commit().await.unwrap();
        self.model.active = branch.id;
        if let Some(text) = content {
            self.model
                .write(new.user_message_id, branch.id, MessageRole::User, text);
            let stored = started.user_message.unwrap();
            assert_eq!(
                usize::try_from(stored.position).unwrap(),
                self.model.path().len()
            );
        }
        assert_eq!(
            usize::try_from(started.conversation.message_count).unwrap(),
            self.model.path().len()
        );
        // A reader may look at another branch while the answer is written.
        if self.random.random_ratio(1, 8)
            && let Some(id) = self.pick(None)
        {
            self.select(id).await;
        }
        let failed = TurnError {
            code: Code::LlmFailed,
            detail: "no".into(),
            hint: None,
            retryable: true,
        };
        let text = self.text();
        let said = if self.random.random_ratio(1, 5) {
            Err(&failed)
        } else {
            Ok(text.as_str())
        };
        let mut tx = self.tx().await;
        let (ended, answer) = end_turn(&mut tx, new.id, new.user_message_id, self.agent, said)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        if said.is_ok() {
            let answer = answer.unwrap();
            self.model
                .write(answer.id, branch.id, MessageRole::Assistant, &text);
            assert_eq!(
                usize::try_from(answer.position).unwrap(),
                self.model.branches[&branch.id].len()
            );
            assert_eq!(
                (answer.parent_id, answer.branch_id),
                (Some(new.user_message_id), branch.id)
            );
        }
        assert_eq!(
            usize::try_from(ended.unwrap().message_count).unwrap(),
            self.model.path().len()
        );
    }

    async fn select(&mut self, id: Uuid) {
        let mut tx = self.tx().await;
        let selected = tx.branch_select(self.thread, id).await.unwrap().unwrap();
        tx.commit().await.unwrap();
        self.model.active = self.model.messages[&id].branch;
        assert_eq!(selected.active_branch_id, self.model.active);
    }

    async fn check(&mut self) {
        let mut tx = self.tx().await;
        let thread = tx.conversation_get(self.thread).await.unwrap().unwrap();
        assert_eq!(thread.active_branch_id, self.model.active);
        assert_eq!(
            usize::try_from(thread.message_count).unwrap(),
            self.model.path().len()
        );
        assert_eq!(thread.running_turn_id, None);
        let branches: Vec<(Uuid, Vec<Uuid>)> = self
            .model
            .branches
            .iter()
            .map(|(id, path)| (*id, path.clone()))
            .collect();
        for (branch, path) in branches {
            let whole = Page {
                first: 1,
                last: i32::MAX,
                newest_first: false,
            };
            let page = tx.message_page(branch, &whole).await.unwrap();
            assert_eq!(page.iter().map(|m| m.id).collect::<Vec<_>>(), path);
            for (at, m) in page.iter().enumerate() {
                let said = &self.model.messages[&m.id];
                assert_eq!(usize::try_from(m.position).unwrap(), at + 1);
                assert_eq!(
                    (m.role, m.parent_id, &m.content, m.branch_id, at + 1),
                    (
                        said.role,
                        said.parent,
                        &said.content,
                        said.branch,
                        said.position
                    )
                );
                assert_eq!(
                    m.siblings,
                    self.model.siblings(m.id),
                    "siblings of message {} at {}",
                    m.id,
                    at + 1
                );
            }
            // Any window of it, either way round.
            let (a, b) = (
                self.random.random_range(1..=path.len() + 1),
                self.random.random_range(0..=path.len() + 2),
            );
            let (first, last) = (i32::try_from(a).unwrap(), i32::try_from(b).unwrap());
            let window: Vec<Uuid> = path.iter().copied().take(b).skip(a - 1).collect();
            let history = tx.message_history(branch, first, last).await.unwrap();
            assert_eq!(history.iter().map(|m| m.id).collect::<Vec<_>>(), window);
            let newest = tx
                .message_page(
                    branch,
                    &Page {
                        first,
                        last,
                        newest_first: true,
                    },
                )
                .await
                .unwrap();
            assert!(newest.iter().map(|m| m.id).eq(window.iter().rev().copied()));
        }
        if let Some(id) = self.pick(Some(MessageRole::User)) {
            let answers = tx.message_answers(self.thread, id).await.unwrap();
            let expected: Vec<Uuid> = self
                .model
                .written
                .iter()
                .copied()
                .filter(|m| self.model.messages[m].parent == Some(id))
                .collect();
            let expected: Vec<Uuid> = expected
                .into_iter()
                .filter(|m| self.model.messages[m].role == MessageRole::Assistant)
                .collect();
            assert_eq!(answers, expected);
        }
        let (list, total) = tx
            .conversation_list(&qadra_store::ListFilter {
                user_id: self.home.user_id,
                shared_by_others: false,
                archived: None,
                words: None,
                limit: 10,
                offset: 0,
            })
            .await
            .unwrap();
        let line = list.iter().find(|c| c.id == self.thread).unwrap();
        assert!(total >= 1);
        assert_eq!(
            usize::try_from(line.message_count).unwrap(),
            self.model.path().len()
        );
        assert_eq!(line.last_message_preview, self.model.preview);
    }
}

#[tokio::test]
async fn any_history_of_edits_reads_as_the_tree_it_made() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let agent = bed.agent(&home, "a").await;
    for seed in 0..12 {
        // Kept in the output of a failure, to play it again.
        eprintln!("seed {seed}");
        let thread = bed.conversation(&home).await;
        let model = Model {
            active: thread.active_branch_id,
            branches: HashMap::from([(thread.active_branch_id, vec![])]),
            ..Model::default()
        };
        let random = StdRng::seed_from_u64(seed);
        let mut play = Play {
            bed: &bed,
            home: &home,
            agent: &agent,
            thread: thread.id,
            model,
            random,
        };
        for _ in 0..8 {
            for _ in 0..5 {
                play.step().await;
            }
            play.check().await;
        }
    }
}

#[tokio::test]
async fn a_message_of_another_thread_cannot_be_reached_through_this_one() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let agent = bed.agent(&home, "a").await;
    let (here, there) = (bed.conversation(&home).await, bed.conversation(&home).await);
    let [question, answer] = bed.exchange(&home, there.id, &agent, ("hello", "hi")).await;
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    assert!(tx.message_get(here.id, answer.id).await.unwrap().is_none());
    assert!(!tx.message_rate(here.id, answer.id, Some(1)).await.unwrap());
    assert!(
        tx.branch_select(here.id, answer.id)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        tx.message_answers(here.id, question.id)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        tx.answering_agent(here.id, question.id).await.unwrap(),
        None
    );
    // Nor is a person's message rated.
    assert!(
        !tx.message_rate(there.id, question.id, Some(1))
            .await
            .unwrap()
    );
    assert!(
        tx.message_rate(there.id, answer.id, Some(-1))
            .await
            .unwrap()
    );
}
