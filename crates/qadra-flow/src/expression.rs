//! The expressions of Condition nodes.
//!
//! ```text
//! expression = conjunction { "or" conjunction }
//! conjunction = negation { "and" negation }
//! negation   = "not" negation | comparison
//! comparison = operand [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "contains") value ]
//! operand    = "(" expression ")" | "{{" path "}}" | text in quotes | number | path
//! value      = "{{" path "}}" | text in quotes | words up to "and", "or", ")" or the end
//! path       = key { "." (key | position) }
//! ```
//!
//! A word on the left of a comparison, or alone, names a value of the blackboard; a word on its right is itself, so
//! `status == approved` needs no quotes. Alone, a value counts as true unless it is missing, null, false, an empty text,
//! an empty list or an empty object; every number counts as true. `==` and `!=` compare what the two sides look like as
//! text. `<` and its kin compare numbers if both sides read as numbers, and text otherwise; what is missing is neither
//! smaller nor larger than anything. `contains` looks for text in a text, for an element in a list, for a key in an
//! object.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use crate::template::{Scope, lookup};

/// Characters of an expression.
const LENGTH_MOST: usize = 2_000;
/// Parentheses and negations within each other.
const DEPTH_MOST: usize = 50;

/// An expression that was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Any(Vec<Node>),
    All(Vec<Node>),
    Not(Box<Node>),
    Compare(Operand, Operator, Operand),
    Truth(Operand),
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(String),
    Literal(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    /// In characters, from 0.
    pub position: usize,
    pub message: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.message, self.position + 1)
    }
}

impl std::error::Error for ExpressionError {}

/// Understands an expression.
///
/// # Errors
/// With the place and what was expected there.
pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
    let mut parser = Parser { text, at: 0 };
    if text.chars().count() > LENGTH_MOST {
        return Err(parser.error(format!(
            "an expression has at most {LENGTH_MOST} characters; there are more"
        )));
    }
    let node = parser.any(0)?;
    parser.space();
    if !parser.rest().is_empty() {
        let rest: String = parser.rest().chars().take(20).collect();
        return Err(parser.error(format!("expected and, or or the end, found {rest:?}")));
    }
    Ok(Expression(node))
}

struct Parser<'a> {
    text: &'a str,
    /// In bytes.
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn error(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError {
            position: self.text.get(..self.at).unwrap_or_default().chars().count(),
            message: message.into(),
        }
    }

    /// Takes a word that ends where it should, whatever its case.
    fn word(&mut self, word: &str) -> bool {
        self.space();
        let rest = self.rest();
        let taken = rest
            .get(..word.len())
            .is_some_and(|r| r.eq_ignore_ascii_case(word))
            && rest[word.len()..]
                .chars()
                .next()
                .is_none_or(|c| c.is_whitespace() || c == '(' || c == ')');
        if taken {
            self.at += word.len();
        }
        taken
    }

    fn sign(&mut self, sign: &str) -> bool {
        self.space();
        let taken = self.rest().starts_with(sign);
        if taken {
            self.at += sign.len();
        }
        taken
    }

    fn any(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        let mut parts = vec![self.all(depth)?];
        while self.word("or") || self.sign("||") {
            parts.push(self.all(depth)?);
        }
        Ok(one_or(parts, Node::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        let mut parts = vec![self.negation(depth)?];
        while self.word("and") || self.sign("&&") {
            parts.push(self.negation(depth)?);
        }
        Ok(one_or(parts, Node::All))
    }

    fn negation(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        if depth > DEPTH_MOST {
            return Err(self.error(format!(
                "more than {DEPTH_MOST} levels of parentheses and not"
            )));
        }
        self.space();
        if self.word("not") || !self.rest().starts_with("!=") && self.sign("!") {
            return Ok(Node::Not(Box::new(self.negation(depth + 1)?)));
        }
        if self.sign("(") {
            let inner = self.any(depth + 1)?;
            if !self.sign(")") {
                return Err(self.error("expected )"));
            }
            return Ok(inner);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Node, ExpressionError> {
        let left = self.operand()?;
        let Some(operator) = self.operator() else {
            return Ok(Node::Truth(left));
        };
        Ok(Node::Compare(left, operator, self.value()?))
    }

    fn operator(&mut self) -> Option<Operator> {
        const SIGNS: [(&str, Operator); 7] = [
            ("==", Operator::Equal),
            ("!=", Operator::Unequal),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
            // The habit of other languages; an assignment would mean nothing here.
            ("=", Operator::Equal),
        ];
        for (sign, operator) in SIGNS {
            if self.sign(sign) {
                return Some(operator);
            }
        }
        self.word("contains").then_some(Operator::Contains)
    }

    /// `{{path}}` or text in quotes, on either side.
    fn marked(&mut self) -> Result<Option<Operand>, ExpressionError> {
        self.space();
        let rest = self.rest();
        if let Some(inside) = rest.strip_prefix("{{") {
            let Some(end) = inside.find("}}") else {
                return Err(self.error("expected }} after {{"));
            };
            let path = inside[..end].trim();
            if path.is_empty() || path.split('.').any(|s| s.trim().is_empty()) {
                return Err(self.error("expected the name of a value between {{ and }}"));
            }
            self.at += end + 4;
            return Ok(Some(Operand::Path(path.to_owned())));
        }
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return Ok(None);
        };
        let mut text = String::new();
        let mut characters = rest.char_indices().skip(1);
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => text.extend(characters.next().map(|(_, c)| c)),
                c if c == quote => {
                    self.at += at + 1;
                    return Ok(Some(Operand::Literal(text)));
                }
                c => text.push(c),
            }
        }
        Err(self.error(format!("expected a closing {quote}")))
    }

    fn operand(&mut self) -> Result<Operand, ExpressionError> {
        if let Some(marked) = self.marked()? {
            return Ok(marked);
        }
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || "()=!<>\"'&|{}".contains(c);
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.error(match rest.chars().next() {
                None => "expected the name of a value, found the end".to_owned(),
                Some(c) => format!("expected the name of a value, found {c:?}"),
            }));
        }
        if ["and", "or", "contains"]
            .iter()
            .any(|k| word.eq_ignore_ascii_case(k))
        {
            return Err(self.error(format!("expected the name of a value, found {word}")));
        }
        self.at += word.len();
        if word.parse::<f64>().is_ok() || matches!(word, "true" | "false" | "null") {
            return Ok(Operand::Literal(word.to_owned()));
        }
        if word.split('.').any(str::is_empty) {
            return Err(self.error(format!("{word} is not a path of names between dots")));
        }
        Ok(Operand::Path(word.to_owned()))
    }

    fn value(&mut self) -> Result<Operand, ExpressionError> {
        if let Some(marked) = self.marked()? {
            return Ok(marked);
        }
        let start = self.at;
        let mut end = start;
        loop {
            self.space();
            let rest = self.rest();
            let stops = |c: char| c.is_whitespace() || c == ')' || c == '(';
            let word = &rest[..rest.find(stops).unwrap_or(rest.len())];
            if word.is_empty()
                || ["and", "or", "&&", "||"]
                    .iter()
                    .any(|k| word.eq_ignore_ascii_case(k))
            {
                break;
            }
            self.at += word.len();
            end = self.at;
        }
        if end == start {
            return Err(self.error("expected a value to compare with"));
        }
        self.at = end;
        Ok(Operand::Literal(self.text[start..end].to_owned()))
    }
}

fn one_or(mut parts: Vec<Node>, several: fn(Vec<Node>) -> Node) -> Node {
    match parts.len() {
        1 => parts.remove(0),
        _ => several(parts),
    }
}

impl Expression {
    pub fn eval(&self, scope: &dyn Scope) -> bool {
        eval(&self.0, scope)
    }

    /// The paths that it reads, each once.
    pub fn keys(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![&self.0];
        while let Some(node) = open.pop() {
            match node {
                Node::Any(parts) | Node::All(parts) => open.extend(parts.iter().rev()),
                Node::Not(inner) => open.push(inner),
                Node::Truth(operand) => found.extend(operand.path()),
                Node::Compare(left, _, right) => {
                    found.extend(left.path().into_iter().chain(right.path()))
                }
            }
        }
        let mut seen = std::collections::HashSet::new();
        found.retain(|path| seen.insert(path.clone()));
        found
    }
}

impl Operand {
    fn path(&self) -> Option<String> {
        match self {
            Self::Path(path) => Some(path.clone()),
            Self::Literal(_) => None,
        }
    }

    fn value<'a>(&self, scope: &'a dyn Scope) -> Option<&'a Value> {
        match self {
            Self::Path(path) => lookup(path, scope),
            Self::Literal(_) => None,
        }
    }

    /// What it looks like as text.
    fn text(&self, scope: &dyn Scope) -> String {
        match self {
            Self::Literal(text) => text.clone(),
            Self::Path(_) => match self.value(scope) {
                None => "null".to_owned(),
                Some(value) => shown(value).into_owned(),
            },
        }
    }
}

/// What a value looks like as text.
fn shown(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

fn eval(node: &Node, scope: &dyn Scope) -> bool {
    match node {
        Node::Any(parts) => parts.iter().any(|p| eval(p, scope)),
        Node::All(parts) => parts.iter().all(|p| eval(p, scope)),
        Node::Not(inner) => !eval(inner, scope),
        Node::Truth(operand) => match operand {
            Operand::Literal(text) => !matches!(text.as_str(), "" | "false" | "null"),
            Operand::Path(_) => is_true(operand.value(scope)),
        },
        Node::Compare(left, operator, right) => compare(left, *operator, right, scope),
    }
}

fn is_true(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(b)) => *b,
        Some(Value::Number(_)) => true,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
    }
}

fn compare(left: &Operand, operator: Operator, right: &Operand, scope: &dyn Scope) -> bool {
    let order = || {
        let missing = |o: &Operand| {
            matches!(o, Operand::Path(_)) && o.value(scope).is_none_or(Value::is_null)
        };
        if missing(left) || missing(right) {
            return None;
        }
        let (a, b) = (left.text(scope), right.text(scope));
        match (a.trim().parse::<f64>(), b.trim().parse::<f64>()) {
            (Ok(a), Ok(b)) => a.partial_cmp(&b),
            _ => Some(a.cmp(&b)),
        }
    };
    match operator {
        Operator::Equal => left.text(scope) == right.text(scope),
        Operator::Unequal => left.text(scope) != right.text(scope),
        Operator::Less => order() == Some(Ordering::Less),
        Operator::Greater => order() == Some(Ordering::Greater),
        Operator::LessOrEqual => matches!(order(), Some(Ordering::Less | Ordering::Equal)),
        Operator::GreaterOrEqual => matches!(order(), Some(Ordering::Greater | Ordering::Equal)),
        Operator::Contains => {
            let wanted = right.text(scope);
            match left.value(scope) {
                Some(Value::Array(items)) => items.iter().any(|item| shown(item) == wanted),
                Some(Value::Object(map)) => map.contains_key(&wanted),
                Some(Value::Null) => false,
                None if matches!(left, Operand::Path(_)) => false,
                _ => left.text(scope).contains(&wanted),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    fn scope() -> Map<String, Value> {
        let Value::Object(map) = json!({
            "status": "approved", "n": 5, "zero": 0, "f": 2.5, "yes": true, "no": false, "empty": "", "nil": null,
            "list": ["a", 2], "none": [], "o": {"k": 1, "deep": [{"x": "y"}]}, "nothing": {}, "words": "in two words",
            "ten": "10", "same": "approved", "android": 1, "order": "x",
        }) else {
            unreachable!()
        };
        map
    }

    fn holds(text: &str) -> bool {
        parse(text)
            .unwrap_or_else(|e| panic!("{text}: {e}"))
            .eval(&scope())
    }

    #[test]
    fn the_forms_of_the_seed() {
        for met in [
            "status == approved",
            "status == 'approved'",
            "status == \"approved\"",
            "status != rejected",
            "n == 5",
            "yes == true",
            "no == false",
            "missing == null",
            "words == in two words",
            "f == 2.5",
            "status",
            "n",
            "zero",
            "yes",
            "list",
            "o",
        ] {
            assert!(holds(met), "{met}");
        }
        for unmet in [
            "status == rejected",
            "status != approved",
            "n == 5.0",
            "missing",
            "nil",
            "no",
            "empty",
            "none",
            "nothing",
            "missing == approved",
            "status == Approved",
        ] {
            assert!(!holds(unmet), "{unmet}");
        }
    }

    #[test]
    fn beyond_the_seed() {
        for met in [
            "n > 4",
            "n >= 5",
            "n < 10",
            "ten > 9",
            "f <= 2.5",
            "status > apple",
            "-1 < n",
            "n > -3",
            "list contains a",
            "list contains 2",
            "o contains k",
            "words contains two",
            "not missing",
            "!missing",
            "status and n",
            "missing or n > 3",
            "not (missing or no)",
            "(n > 1 and n < 9) or missing",
            "o.deep.0.x == y",
            "{{o.deep.0.x}} == y",
            "status == {{same}}",
            "n == 5 and status == approved",
            "NOT missing AND n",
            "words == in two words and n",
            "android",
            "order == x",
            "status == approved && (n > 3 || missing)",
        ] {
            assert!(holds(met), "{met}");
        }
        for unmet in [
            "missing < 3",
            "missing >= 0",
            "nil <= 3",
            "list contains b",
            "o contains x",
            "missing contains x",
            "not status",
            "n > 4 and no",
            "n < 4 or no",
        ] {
            assert!(!holds(unmet), "{unmet}");
        }
    }

    #[test]
    fn and_binds_more_than_or() {
        assert!(holds("yes or yes and no"));
        assert!(!holds("(yes or yes) and no"));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(
            error(""),
            "expected the name of a value, found the end at character 1"
        );
        assert_eq!(
            error("n =="),
            "expected a value to compare with at character 5"
        );
        assert_eq!(error("(n"), "expected ) at character 3");
        assert_eq!(
            error("n and"),
            "expected the name of a value, found the end at character 6"
        );
        assert_eq!(
            error("a b"),
            "expected and, or or the end, found \"b\" at character 3"
        );
        assert_eq!(error("x == 'y"), "expected a closing ' at character 6");
        assert_eq!(error("{{x"), "expected }} after {{ at character 1");
        assert_eq!(
            error("a..b"),
            "a..b is not a path of names between dots at character 5"
        );
        assert!(error(&"(".repeat(100)).starts_with("more than 50 levels"));
        assert!(error(&"not ".repeat(100)).starts_with("more than 50 levels"));
        assert!(error(&"a and ".repeat(1_000)).contains("at most 2000 characters"));
    }

    #[test]
    fn the_paths_that_are_read() {
        let keys = parse("a.b == x and (not {{c}} or d > {{a.b}}) and 'e' == f")
            .unwrap()
            .keys();
        assert_eq!(keys, ["a.b", "c", "d"]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-c0-9 .()!=<>'\"{}&|]{0,30}|(a|b|not|and|or|contains|==|\\(|\\)| ){0,12}") {
            if let Ok(expression) = parse(&text) {
                expression.eval(&scope());
                expression.keys();
            }
        }

        #[test]
        fn not_turns_round(text in "[a-d](\\.[0-9])?( (==|!=|<|>=|contains) [a-d0-9]{1,3})?") {
            let plain = parse(&text).unwrap().eval(&scope());
            prop_assert_eq!(parse(&format!("not {text}")).unwrap().eval(&scope()), !plain);
            prop_assert_eq!(parse(&format!("not (not ({text}))")).unwrap().eval(&scope()), plain);
        }
    }
}
