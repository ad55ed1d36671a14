use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::Message;
use crate::subscription::{Push, Queue, Source};

/// Who gets a message of which subject, inside one process.
///
/// Exact subjects are looked up, patterns with wildcards are tried one after the other: a process has
/// a few dozen of them, all made at its start.
#[derive(Default)]
pub(crate) struct Router {
    tables: RwLock<Tables>,
    next_id: AtomicU64,
    turn: AtomicU64,
}

#[derive(Default)]
struct Tables {
    exact: HashMap<Arc<str>, Vec<Entry>>,
    wild: Vec<(Arc<str>, Entry)>,
    closed: bool,
}

struct Entry {
    id: u64,
    group: Option<Arc<str>>,
    queue: Arc<Queue>,
}

/// What became of a routed message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Routed {
    NoSubscriber,
    /// To so many queues; zero means that all who wanted it were full.
    To(usize),
}

impl Router {
    /// Enters the queue; it leaves when the returned source is dropped. `None` when the router is closed.
    pub(crate) fn insert(
        self: &Arc<Self>,
        pattern: &str,
        group: Option<&str>,
        queue: Arc<Queue>,
    ) -> Option<Box<dyn Source>> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let pattern: Arc<str> = pattern.into();
        let wild = is_wild(&pattern);
        let entry = Entry {
            id,
            group: group.map(Arc::from),
            queue,
        };
        let mut tables = self.write();
        if tables.closed {
            return None;
        }
        match wild {
            true => tables.wild.push((pattern.clone(), entry)),
            // One subscriber per progress subject is the rule; a larger first allocation would be waste.
            false => tables
                .exact
                .entry(pattern.clone())
                .or_insert_with(|| Vec::with_capacity(1))
                .push(entry),
        }
        drop(tables);
        Some(Box::new(Membership {
            router: self.clone(),
            pattern,
            id,
            wild,
            left: false,
        }))
    }

    pub(crate) fn route(&self, message: &Message) -> Routed {
        let tables = self.read();
        let mut found = false;
        let mut taken = 0;
        let mut grouped: Vec<(&str, &Arc<Queue>)> = Vec::new();
        for entry in tables.matching(&message.subject) {
            found = true;
            match &entry.group {
                None => taken += usize::from(entry.queue.push(message) == Push::Taken),
                Some(group) => grouped.push((group, &entry.queue)),
            }
        }
        match found {
            true => Routed::To(taken + self.one_of_each_group(message, grouped)),
            false => Routed::NoSubscriber,
        }
    }

    pub(crate) fn has_interest(&self, subject: &str) -> bool {
        self.read().matching(subject).next().is_some()
    }

    /// Ends every subscription, for good.
    pub(crate) fn close(&self) {
        let mut tables = self.write();
        tables.closed = true;
        let exact = std::mem::take(&mut tables.exact);
        let wild = std::mem::take(&mut tables.wild);
        drop(tables);
        let entries = exact
            .into_values()
            .flatten()
            .chain(wild.into_iter().map(|(_, entry)| entry));
        entries.for_each(|entry| entry.queue.close());
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.read().closed
    }

    /// Groups of one name are one group, whatever patterns their members gave, as on a NATS server.
    fn one_of_each_group(&self, message: &Message, mut grouped: Vec<(&str, &Arc<Queue>)>) -> usize {
        if grouped.is_empty() {
            return 0;
        }
        // Stable, so that the members keep their places and take turns.
        grouped.sort_by_key(|(group, _)| *group);
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) as usize;
        let groups = grouped.chunk_by(|(a, _), (b, _)| a == b);
        groups
            .map(|members| usize::from(offer_in_turn(message, members, turn)))
            .sum()
    }

    fn leave(&self, membership: &Membership) {
        let mut tables = self.write();
        let Membership {
            pattern, id, wild, ..
        } = membership;
        if *wild {
            tables.wild.retain(|(_, entry)| entry.id != *id);
        } else if let Some(entries) = tables.exact.get_mut(pattern) {
            entries.retain(|entry| entry.id != *id);
            if entries.is_empty() {
                tables.exact.remove(pattern);
            }
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn matching<'a>(&'a self, subject: &'a str) -> impl Iterator<Item = &'a Entry> {
        let exact = self.exact.get(subject).into_iter().flatten();
        let wild = self
            .wild
            .iter()
            .filter(move |(pattern, _)| matches(pattern, subject));
        exact.chain(wild.map(|(_, entry)| entry))
    }
}

struct Membership {
    router: Arc<Router>,
    pattern: Arc<str>,
    id: u64,
    wild: bool,
    left: bool,
}

impl Source for Membership {
    fn drain(&mut self, queue: &Queue) {
        if !std::mem::replace(&mut self.left, true) {
            self.router.leave(self);
            queue.close();
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if !self.left {
            self.router.leave(self);
        }
    }
}

/// A full or closed member is passed over; only when all are full is the message lost, to the one whose turn it was.
fn offer_in_turn(message: &Message, members: &[(&str, &Arc<Queue>)], turn: usize) -> bool {
    let start = turn % members.len();
    let (before, from) = members.split_at(start);
    let mut full = None;
    for (_, queue) in from.iter().chain(before) {
        match queue.offer(message) {
            Push::Taken => return true,
            Push::Full => full = full.or(Some(queue)),
            Push::Closed => {}
        }
    }
    if let Some(queue) = full {
        queue.add_lost(1);
    }
    false
}

pub(crate) fn is_wild(pattern: &str) -> bool {
    pattern.split('.').any(|token| token == "*" || token == ">")
}

/// Whether a checked pattern covers a checked subject.
pub(crate) fn matches(pattern: &str, subject: &str) -> bool {
    let mut subject = subject.split('.');
    for token in pattern.split('.') {
        match (token, subject.next()) {
            (">", Some(_)) => return true,
            ("*", Some(_)) => {}
            (token, Some(other)) if token == other => {}
            _ => return false,
        }
    }
    subject.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rules as NATS's documentation words them, by recursion over the tokens.
    fn reference(pattern: &[&str], subject: &[&str]) -> bool {
        match (pattern, subject) {
            ([], []) => true,
            ([">"], [_, ..]) => true,
            (["*", pattern @ ..], [_, subject @ ..]) => reference(pattern, subject),
            ([p, pattern @ ..], [s, subject @ ..]) => p == s && reference(pattern, subject),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_match_as_the_reference_does(
            mut pattern in prop::collection::vec("[ab*]", 1..5),
            open in any::<bool>(),
            subject in prop::collection::vec("[ab]", 1..6),
        ) {
            if open {
                pattern.push(">".into());
            }
            let tokens = |v: &[String]| v.to_vec();
            let (p, s) = (tokens(&pattern), tokens(&subject));
            let (p, s): (Vec<_>, Vec<_>) = (p.iter().map(String::as_str).collect(), s.iter().map(String::as_str).collect());
            prop_assert_eq!(matches(&pattern.join("."), &subject.join(".")), reference(&p, &s));
        }
    }
}
