//! What must hold when all has ended. Each rule says which execution broke it, and how.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use qadra_flow::{Entry, Event, NodeRef, Run};
use serde_json::Value;
use uuid::Uuid;

use super::kinds::Kind;
use super::stub::Call;

/// An execution as the database has it.
pub(super) struct Seen<'a> {
    pub(super) id: Uuid,
    pub(super) kind: &'a Kind,
    /// What its calls are marked with: the id of the execution that it, or its parent, is.
    pub(super) tag: String,
    pub(super) status: String,
    pub(super) error: Option<String>,
    /// Whether a worker still has it.
    pub(super) held: bool,
    pub(super) journal: Vec<Entry>,
    /// Status and output that the fold of the journal gives.
    pub(super) folded: Result<(String, Value), String>,
    pub(super) inbox: Vec<Message>,
    /// For each node that a person was asked by: the answers that may have been accepted. One, unless PostgreSQL was
    /// killed before it could say which.
    pub(super) said: BTreeMap<String, Vec<Value>>,
    /// How many executions are its children.
    pub(super) children: usize,
}

pub(super) struct Message {
    pub(super) kind: String,
    pub(super) node: String,
    pub(super) taken: bool,
}

/// Something that was done to workers or to PostgreSQL.
#[derive(Debug, Clone)]
pub(super) struct Blow {
    pub(super) what: What,
    /// Milliseconds since the epoch.
    pub(super) at: i64,
    /// When what it hit was at work again: for a kill the same moment, since the dead do nothing more.
    pub(super) until: i64,
    /// Executions in the hands of what was hit.
    pub(super) held: HashSet<Uuid>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Kill,
    Freeze,
    Postgres,
}

/// How late after a blow what was on its way may be seen: requests that were sent and not yet read, and those that a
/// worker was about to send when it was frozen.
const ON_THE_WAY: i64 = 400;

/// What the calls show beside the rules.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    pub(super) all: usize,
    /// More than one for an attempt.
    pub(super) repeated: usize,
    /// Begun after the outcome, by a worker that was thawed in the middle of beginning it.
    pub(super) late: usize,
}

/// How one execution ended, and what its journal has.
pub(super) fn execution(seen: &Seen) -> Vec<String> {
    let mut wrong = Vec::new();
    let kind = seen.kind;
    if seen.status != "completed" {
        wrong.push(format!(
            "is {:?} and not completed ({})",
            seen.status,
            seen.error.as_deref().unwrap_or("no error")
        ));
    }
    if seen.held {
        wrong.push("is still held by a worker".into());
    }
    let mut ended: BTreeMap<String, usize> = BTreeMap::new();
    let mut failed: BTreeMap<(String, u32), usize> = BTreeMap::new();
    let mut said: BTreeMap<String, Value> = BTreeMap::new();
    for entry in &seen.journal {
        match &entry.event {
            Event::Completed { node, .. } | Event::Timer { node } => {
                *ended.entry(node.to_string()).or_default() += 1;
            }
            Event::Input { node, value, .. } => {
                *ended.entry(node.to_string()).or_default() += 1;
                said.insert(node.to_string(), Value::clone(value));
            }
            Event::Failed { node, attempt, .. } => {
                *failed.entry((node.to_string(), *attempt)).or_default() += 1;
            }
            Event::Started | Event::Cancelled { .. } => {}
        }
    }
    for (node, times) in &ended {
        if *times > 1 {
            wrong.push(format!("has the end of {node} {times} times"));
        }
    }
    for ((node, attempt), times) in &failed {
        if *times > 1 {
            wrong.push(format!("has attempt {attempt} of {node} {times} times"));
        }
    }
    let ended: BTreeSet<&String> = ended.keys().collect();
    for node in kind.completed.iter().filter(|n| !ended.contains(n)) {
        wrong.push(format!("lacks the end of {node}"));
    }
    for node in ended.iter().filter(|n| !kind.completed.contains(**n)) {
        wrong.push(format!("has an end of {node}, which must not run"));
    }
    for node in &kind.failed {
        if !failed.keys().any(|(failed, _)| failed == node) {
            wrong.push(format!("lacks the failure of {node}"));
        }
    }
    match &seen.folded {
        Err(error) => wrong.push(format!("has a journal that does not fold: {error}")),
        Ok((status, output)) => {
            if *status != seen.status {
                wrong.push(format!(
                    "is {:?} in its row and {status:?} in its journal",
                    seen.status
                ));
            }
            let wanted = kind.output(&seen.tag, &said);
            if *output != wanted {
                wrong.push(format!("put out {output} and not {wanted}"));
            }
        }
    }
    for (node, candidates) in &seen.said {
        if let Some(value) = said.get(node).filter(|value| !candidates.contains(value)) {
            wrong.push(format!(
                "has the answer {value} of {node}, of which {candidates:?} was accepted"
            ));
        }
        let messages = seen
            .inbox
            .iter()
            .filter(|m| m.kind == "input" && m.node == *node);
        let taken = messages.clone().filter(|m| m.taken).count();
        if (messages.count(), taken) != (1, 1) {
            wrong.push(format!("has not exactly one answer of {node}, taken"));
        }
    }
    let wanted = usize::from(kind.runs.is_some());
    if seen.children != wanted {
        wrong.push(format!("has {} children, not {wanted}", seen.children));
    }
    let told = |message: String| format!("execution {} ({}) {message}", seen.id, kind.name);
    wrong.into_iter().map(told).collect()
}

/// The calls of all executions, against their journals and against what was done meanwhile.
pub(super) fn calls(
    executions: &[Seen],
    calls: &[Call],
    blows: &[Blow],
    wrong: &mut Vec<String>,
) -> Calls {
    let mut found = Calls {
        all: calls.len(),
        ..Calls::default()
    };
    let mut of: HashMap<(&str, &str), Vec<&Call>> = HashMap::new();
    for call in calls {
        of.entry((&call.tag, &call.label)).or_default().push(call);
    }
    for seen in executions {
        for (label, node) in &seen.kind.calls {
            let told = |message: String| {
                format!(
                    "node {node} of execution {} ({}) {message}",
                    seen.id, seen.kind.name
                )
            };
            let mut calls = of
                .remove(&(seen.tag.as_str(), label.as_str()))
                .unwrap_or_default();
            calls.sort_by_key(|c| c.at);
            let key = node
                .parse::<NodeRef>()
                .map(|n| Run::idempotency_key(seen.id, &n).to_string())
                .unwrap_or_default();
            if let Some(other) = calls.iter().find(|c| c.key != key) {
                wrong.push(told(format!(
                    "called with the key {:?} and not {key}",
                    other.key
                )));
            }
            let outcomes: Vec<i64> = seen
                .journal
                .iter()
                .filter(|entry| is_outcome(entry, node))
                .map(|entry| entry.at)
                .collect();
            node_calls(seen.id, &calls, &outcomes, blows, &mut found)
                .into_iter()
                .for_each(|message| wrong.push(told(message)));
        }
    }
    for (tag, label) in of.keys() {
        wrong.push(format!("a call that no node makes: {label} of {tag}"));
    }
    found
}

fn is_outcome(entry: &Entry, node: &str) -> bool {
    match &entry.event {
        Event::Completed { node: n, .. } | Event::Failed { node: n, .. } => n.to_string() == node,
        _ => false,
    }
}

/// One node's calls: each outcome follows a call of its own, none follows the last, and whatever is between has a blow
/// beside it.
fn node_calls(
    execution: Uuid,
    calls: &[&Call],
    outcomes: &[i64],
    blows: &[Blow],
    found: &mut Calls,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut rest = calls.iter().map(|c| c.at).peekable();
    for (number, outcome) in outcomes.iter().enumerate() {
        let mut before: Option<i64> = None;
        while let Some(at) = rest.next_if(|at| at <= outcome) {
            if let Some(first) = before {
                found.repeated += 1;
                if !blows.iter().any(|b| explains(b, execution, first, at)) {
                    wrong.push(format!(
                        "was called twice, at {first} and {at}, and nothing happened to its worker between"
                    ));
                }
            }
            before = Some(at);
        }
        if before.is_none() {
            wrong.push(format!(
                "has outcome {} at {outcome} without a call before it",
                number + 1
            ));
        }
    }
    for at in rest {
        let thawed = blows.iter().any(|b| {
            b.what == What::Freeze
                && b.held.contains(&execution)
                && (b.until..=b.until + ON_THE_WAY).contains(&at)
        });
        if thawed {
            found.late += 1;
        } else {
            wrong.push(format!(
                "was called at {at}, after its outcome at {:?}",
                outcomes.last()
            ));
        }
    }
    wrong
}

/// Whether the blow hit what had the execution while the first call was under way, so that the second had to follow.
fn explains(blow: &Blow, execution: Uuid, first: i64, second: i64) -> bool {
    blow.held.contains(&execution) && blow.at <= second && first <= blow.until + ON_THE_WAY
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Uuid = Uuid::from_u128(1);

    fn judged(calls: &[i64], outcomes: &[i64], blows: &[Blow]) -> (Vec<String>, Calls) {
        let calls: Vec<Call> = calls
            .iter()
            .map(|at| Call {
                tag: "t".into(),
                label: "a".into(),
                key: "k".into(),
                at: *at,
            })
            .collect();
        let mut found = Calls::default();
        let calls: Vec<&Call> = calls.iter().collect();
        let wrong = node_calls(RUN, &calls, outcomes, blows, &mut found);
        (wrong, found)
    }

    fn blow(what: What, at: i64, until: i64, held: Uuid) -> Blow {
        Blow {
            what,
            at,
            until,
            held: [held].into(),
        }
    }

    #[test]
    fn a_call_for_each_outcome_is_as_it_should_be() {
        let (wrong, found) = judged(&[1_000, 3_000], &[1_020, 3_030], &[]);
        assert!(wrong.is_empty(), "{wrong:?}");
        assert_eq!(found.repeated, 0);
    }

    #[test]
    fn an_outcome_needs_a_call() {
        let (wrong, _) = judged(&[1_000], &[1_020, 3_030], &[]);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
    }

    #[test]
    fn a_call_after_the_outcome_is_wrong() {
        let (wrong, _) = judged(&[1_000, 3_000], &[1_020], &[]);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        let kill = blow(What::Kill, 2_990, 2_990, RUN);
        let (wrong, _) = judged(&[1_000, 3_000], &[1_020], &[kill]);
        assert_eq!(wrong.len(), 1, "a kill is no excuse: {wrong:?}");
        let freeze = blow(What::Freeze, 500, 2_990, RUN);
        let (wrong, found) = judged(&[1_000, 3_000], &[1_020], &[freeze]);
        assert!(wrong.is_empty(), "{wrong:?}");
        assert_eq!(found.late, 1);
        let freeze = blow(What::Freeze, 500, 2_000, RUN);
        let (wrong, _) = judged(&[1_000, 3_000], &[1_020], &[freeze]);
        assert_eq!(wrong.len(), 1, "long after the thaw: {wrong:?}");
    }

    #[test]
    fn a_repeated_call_needs_a_kill_of_its_worker_between() {
        let twice = |kill: Blow| judged(&[1_000, 3_000], &[3_030], &[kill]).0;
        assert!(twice(blow(What::Kill, 1_010, 1_010, RUN)).is_empty());
        assert_eq!(twice(blow(What::Kill, 4_000, 4_000, RUN)).len(), 1);
        assert_eq!(twice(blow(What::Kill, 500, 500, RUN)).len(), 1);
        let other = Uuid::from_u128(2);
        assert_eq!(twice(blow(What::Kill, 1_010, 1_010, other)).len(), 1);
    }
}
