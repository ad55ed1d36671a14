//! The gate must not cry wolf: true answers built from the demo's own facts, in many phrasings, against all of
//! those facts with every rule that could contradict switched on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::LazyLock;

use belnap::{Fact, Graph, Rules, Truth, verify};
use serde_json::Value;

static PARSER: LazyLock<ud::Parser> = LazyLock::new(|| ud::Parser::embedded().unwrap());

struct Demo {
    facts: Vec<Fact>,
    /// Facts that are wrong on purpose are not told as true.
    told: Vec<bool>,
    functional: BTreeSet<String>,
}

static DEMO: LazyLock<Demo> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/qadra-app/demo/facts.json");
    let json: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let text = |v: &Value| match v {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    let mut aliases: HashMap<String, Vec<String>> = HashMap::new();
    for a in json["aliases"].as_array().unwrap() {
        aliases
            .entry(text(&a["node"]))
            .or_default()
            .push(text(&a["alias"]));
    }
    let (mut facts, mut told) = (Vec::new(), Vec::new());
    let mut objects: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for t in json["triples"].as_array().unwrap() {
        let (subject, predicate) = (text(&t["subject"]), text(&t["predicate"]));
        let mut object = text(&t["object"]["value"]);
        let names = aliases.get(&object).cloned().unwrap_or_default();
        if let Some(unit) = t["object"]["unit"].as_str() {
            object = format!("{object} {unit}");
        }
        let wrong = t["source"]
            .as_str()
            .is_some_and(|s| s.starts_with("demo example"));
        if !wrong {
            let of = objects.entry(predicate.clone()).or_default();
            of.entry(subject.clone())
                .or_default()
                .insert(object.clone());
        }
        told.push(!wrong);
        facts.push(Fact {
            subject_aliases: aliases.get(&subject).cloned().unwrap_or_default(),
            subject,
            predicate,
            object,
            object_aliases: names,
            confidence: 1.0,
            ..Fact::default()
        });
    }
    // Stricter than the product, which asks for more subjects and leaves out what changes over time.
    let functional = objects
        .into_iter()
        .filter(|(_, s)| s.values().all(|o| o.len() == 1))
        .map(|(p, _)| p)
        .collect();
    Demo {
        facts,
        told,
        functional,
    }
});

impl Demo {
    fn graph(&self) -> Graph {
        Graph::new(
            self.facts.clone(),
            Rules {
                functional: self.functional.iter().cloned().collect(),
                ..Rules::default()
            },
        )
    }
}

/// Ways of saying that are true of `s` and `o`.
fn phrasings(f: &Fact) -> Vec<String> {
    let (s, o) = (f.subject.as_str(), f.object.as_str());
    let year: String = f.predicate.chars().filter(char::is_ascii_digit).collect();
    let fiscal = f.predicate.contains("_fy");
    let when = if fiscal {
        format!("fiscal {year}")
    } else {
        year.clone()
    };
    let all: Vec<String> = match f.predicate.as_str() {
        "founded_in_year" => vec![
            format!("{s} was founded in {o}."),
            format!("{s} was established in {o}."),
            format!("Founded in {o}, {s} is well known today."),
            format!("The company {s} dates back to {o}; it was set up that year."),
            format!("{s}, which was founded in {o}, is a large company."),
            format!("It was in {o} that {s} was founded."),
        ],
        "founded_by" => vec![
            format!("{s} was founded by {o}."),
            format!("{o} founded {s}."),
            format!("{o} is a co-founder of {s}."),
            format!("One of the founders of {s} is {o}."),
            format!("{o} helped to start {s}."),
        ],
        "headquarters" => vec![
            format!("{s} is headquartered in {o}."),
            format!("The headquarters of {s} are in {o}."),
            format!("{s} has its headquarters in {o}."),
            format!("{s} is based in {o}."),
            format!("{s}, based in {o}, sells its products in many countries."),
        ],
        "ticker" => vec![
            format!("{s} trades under the ticker {o}."),
            format!("The ticker symbol of {s} is {o}."),
            format!("{s} ({o}) is a public company."),
        ],
        "exchange" => vec![
            format!("{s} is listed on {o}."),
            format!("Shares of {s} trade on the {o}."),
            format!("{s} has its listing on {o}."),
        ],
        "industry" => vec![
            format!("{s} works in the {o} industry."),
            format!("{s} is a company in the field of {o}."),
            format!("{s} operates in {o}."),
        ],
        "product" => vec![
            format!("{s} makes {o}."),
            format!("{o} is a product of {s}."),
            format!("One of the products of {s} is {o}."),
            format!("{s} sells {o} around the world."),
        ],
        "ceo" => vec![
            format!("{o} is the CEO of {s}."),
            format!("The CEO of {s} is {o}."),
            format!("{s} is led by {o}."),
            format!("{o} runs {s}."),
            format!("{o}, the chief executive of {s}, spoke in June 2020."),
        ],
        "co_ceo" => vec![
            format!("{o} is co-CEO of {s}."),
            format!("{s} has {o} as one of its two CEOs."),
        ],
        "employees" => vec![
            format!("{s} has {o} employees."),
            format!("{s} employs {o} people."),
            format!("The number of employees at {s} is {}.", grouped(o)),
            format!("{s} has a staff of {}.", grouped(o)),
        ],
        "acquired" => vec![
            format!("{s} acquired {o}."),
            format!("{o} was acquired by {s}."),
            format!("{s} bought {o} some years ago."),
            format!("The acquisition of {o} by {s} was large."),
            format!("{s} took over {o}."),
        ],
        "acquired_in_year" => vec![
            format!("{s} was acquired in {o}."),
            format!("The acquisition of {s} closed in {o}."),
            format!("In {o}, {s} was bought."),
        ],
        "acquisition_price" => money(o)
            .into_iter()
            .flat_map(|m| {
                [
                    format!("{s} was bought for {m}."),
                    format!("The price of the acquisition of {s} was {m}."),
                ]
            })
            .collect(),
        "competes_with" => vec![
            format!("{s} competes with {o}."),
            format!("{o} is a competitor of {s}."),
            format!("{s} and {o} are rivals."),
        ],
        "supplied_by" => vec![
            format!("{o} supplies {s}."),
            format!("{s} is supplied by {o}."),
            format!("{s} gets parts from {o}."),
        ],
        "owns" => vec![
            format!("{s} owns {o}."),
            format!("{o} is owned by {s}."),
            format!("{o} belongs to {s}."),
            format!("{o} is a subsidiary of {s}."),
        ],
        "former_name" => vec![
            format!("{s} was formerly called {o}"),
            format!("The former name of {s} is {o}"),
        ],
        "customer" => vec![format!("{o} is a customer of {s}.")],
        "part_of" => vec![
            format!("{s} is part of {o}."),
            format!("{s} belongs to {o}."),
        ],
        "paid_memberships" => vec![format!(
            "{s} has {} paid memberships.",
            grouped(o.split(' ').next().unwrap_or(o))
        )],
        p if p.starts_with("revenue") => money(o)
            .into_iter()
            .flat_map(|m| {
                [
                    format!("The revenue of {s} in {when} was {m}."),
                    format!("{s} had revenue of {m} in {when}."),
                    format!("In {when}, {s} reported revenue of {m}."),
                ]
            })
            .collect(),
        p if p.starts_with("net_income") => money(o)
            .into_iter()
            .flat_map(|m| {
                [
                    format!("The net income of {s} in {when} was {m}."),
                    format!("{s} earned net income of {m} in {when}."),
                ]
            })
            .collect(),
        _ => vec![format!(
            "The {} of {s} is {o}.",
            f.predicate.replace('_', " ")
        )],
    };
    all
}

/// 3000000000 USD as people write it.
fn money(label: &str) -> Vec<String> {
    let Ok(value) = label.split(' ').next().unwrap_or_default().parse::<f64>() else {
        return vec![label.to_string()];
    };
    let unit = label.split(' ').nth(1).unwrap_or("USD");
    if unit != "USD" {
        return vec![
            format!("{} {unit}", grouped(&format!("{value}"))),
            format!("{:.1} billion {unit}", value / 1e9),
        ];
    }
    vec![
        format!("${:.1} billion", value / 1e9),
        format!("${:.2} billion", value / 1e9),
        format!("${} million", grouped(&format!("{:.0}", value / 1e6))),
        format!("{} dollars", grouped(&format!("{value}"))),
    ]
}

fn grouped(number: &str) -> String {
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return number.to_string();
    }
    let mut out = String::new();
    for (i, c) in number.chars().enumerate() {
        if i > 0 && (number.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Single sentences, and answers that put several facts together with pronouns and side remarks.
fn answers() -> Vec<String> {
    let demo = &*DEMO;
    let told: Vec<&Fact> = demo
        .facts
        .iter()
        .zip(&demo.told)
        .filter(|(_, t)| **t)
        .map(|(f, _)| f)
        .collect();
    let mut all: Vec<String> = told.iter().flat_map(|f| phrasings(f)).collect();
    let mut by_subject: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
    for f in &told {
        by_subject.entry(&f.subject).or_default().push(f);
    }
    for (s, facts) in by_subject {
        for (i, pair) in facts.windows(2).enumerate() {
            let pick = |f: &Fact, n: usize| {
                let p = phrasings(f);
                p[n % p.len()].clone()
            };
            let second = pick(pair[1], i).replacen(s, "it", 1);
            let mut capital = second.chars();
            let second: String = capital
                .next()
                .map(|c| c.to_uppercase().chain(capital).collect())
                .unwrap_or_default();
            all.push(format!("{} {second}", pick(pair[0], i + 1)));
            all.push(format!("According to the facts, {}", pick(pair[0], i)));
            let first = pick(pair[0], i);
            all.push(format!(
                "{}, and {}",
                first.trim_end_matches('.'),
                pick(pair[1], i + 1)
            ));
        }
    }
    all
}

#[test]
fn true_answers_are_not_contradicted() {
    let graph = DEMO.graph();
    let answers = answers();
    assert!(answers.len() >= 500, "{} answers", answers.len());
    let (mut wrong, mut grounded) = (Vec::new(), 0);
    for answer in &answers {
        let judged = verify(&PARSER, answer, &graph);
        for (claim, judgement) in &judged {
            if judgement.verdict == Truth::False {
                wrong.push(format!(
                    "{answer} | {claim} | {}",
                    judgement.reason.clone().unwrap_or_default()
                ));
            }
        }
        grounded += usize::from(
            judged
                .iter()
                .any(|(_, j)| matches!(j.verdict, Truth::True | Truth::Both)),
        );
    }
    println!(
        "{} answers, {grounded} with a grounded claim, {} contradicted",
        answers.len(),
        wrong.len()
    );
    assert!(wrong.len() <= 1, "{}", wrong.join("\n"));
    assert!(
        grounded * 10 >= answers.len() * 8,
        "only {grounded} of {} have a grounded claim",
        answers.len()
    );
}

/// The other side: the same sentences with another subject's value.
#[test]
fn swapped_values_are_contradicted() {
    let demo = &*DEMO;
    let graph = demo.graph();
    let (mut tried, mut caught) = (0, 0);
    for (i, f) in demo
        .facts
        .iter()
        .enumerate()
        .filter(|(i, f)| demo.told[*i] && demo.functional.contains(&f.predicate))
    {
        let other = demo
            .facts
            .iter()
            .cycle()
            .skip(i + 1)
            .take(demo.facts.len())
            .find(|g| {
                g.predicate == f.predicate
                    && g.subject != f.subject
                    && g.object != f.object
                    && !g.object.contains(&f.object)
            });
        let Some(other) = other else { continue };
        let false_fact = Fact {
            object: other.object.clone(),
            ..f.clone()
        };
        for text in phrasings(&false_fact).iter().take(2) {
            tried += 1;
            caught += usize::from(
                verify(&PARSER, text, &graph)
                    .iter()
                    .any(|(_, j)| j.verdict == Truth::False),
            );
        }
    }
    println!("{caught} of {tried} swapped values caught");
    assert!(caught * 10 >= tried * 6, "only {caught} of {tried}");
}
