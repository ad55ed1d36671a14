//! Greetings, and what the built-in answerer says of itself.

use crate::question::Question;

/// An answer to a question that asks nothing of the graph, such as "hello" or "what can you do?".
pub(super) fn small_talk(question: &Question) -> Option<String> {
    let plain: Vec<&str> = question
        .words()
        .iter()
        .map(|word| word.plain.as_str())
        .collect();
    if plain.is_empty() {
        return Some(SELF.to_owned());
    }
    if plain.len() > 10 {
        return None;
    }
    let phrase = plain.join(" ");
    if plain.iter().all(|word| THANKS.contains(word)) {
        return Some("You are welcome.".to_owned());
    }
    let greets = plain.iter().any(|word| {
        matches!(
            *word,
            "hello" | "hi" | "hey" | "greetings" | "morning" | "afternoon" | "evening"
        )
    });
    if greets && plain.iter().all(|word| GREETING.contains(word)) {
        return Some(format!("Hello. {SELF}"));
    }
    let about_me = ABOUT_ME.iter().any(|known| {
        phrase == *known
            || phrase.strip_prefix("hello ") == Some(*known)
            || phrase.strip_prefix("hi ") == Some(*known)
    });
    about_me.then(|| SELF.to_owned())
}

pub(super) fn count_word(count: usize) -> String {
    let names = [
        "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    names
        .get(count)
        .map_or_else(|| "many".to_owned(), |name| (*name).to_owned())
}

const SELF: &str = "I am Qadra's built-in provider, not a language model: I answer from the facts stored in this workspace, cite each one, and say so when they do not cover a question. Ask about a name that they hold, for example when a company was founded, who runs it, or how two companies are connected.";

const GREETING: &[&str] = &[
    "hello",
    "hi",
    "hey",
    "greetings",
    "good",
    "morning",
    "afternoon",
    "evening",
    "day",
    "there",
    "all",
    "everyone",
    "qadra",
    "scarlet",
    "ayana",
    "eliza",
    "reagan",
    "how",
    "are",
    "you",
    "today",
];
const THANKS: &[&str] = &[
    "thanks", "thank", "you", "very", "much", "a", "lot", "so", "ok", "okay", "great", "perfect",
    "cheers",
];
const ABOUT_ME: &[&str] = &[
    "what can you do",
    "who are you",
    "what are you",
    "help",
    "help me",
    "how do you work",
    "what do you know",
    "how are you",
    "are you a language model",
    "what can i ask",
    "what can i ask you",
    "how can you help",
    "how can you help me",
    "can you help me",
    "what do you do",
    "are you an ai",
    "what is this",
    "are you human",
    "which model are you",
    "what model are you",
    "what can you help me with",
    "who made you",
];
