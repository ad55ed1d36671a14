//! Questions and their answers. Each row is what a person may type and what an honest answer says.

use insta::assert_snapshot;
use qadra_epistemic::{Competence, chart_from_facts};
use serde_json::json;

use crate::demo::DEMO;
use crate::graph::{Graph, triple};

use Competence::{Competent, OutOfScope, Partial};

/// Question, competence, parts that the answer has in this order.
type Row = (&'static str, Competence, &'static [&'static str]);

const ROWS: &[Row] = &[
    (
        "When was Apple founded?",
        Competent,
        &["Apple was founded in 1976 [1]."],
    ),
    (
        "when was apple founded",
        Competent,
        &["Apple was founded in 1976 [1]."],
    ),
    (
        "WHEN WAS APPLE FOUNDED",
        Competent,
        &["Apple was founded in 1976 [1]."],
    ),
    (
        "In what year was Apple Inc. founded?",
        Competent,
        &["Apple was founded in 1976 [1]."],
    ),
    (
        "What year was AAPL established?",
        Competent,
        &["Apple was founded in 1976 [1]."],
    ),
    (
        "Apple founded when?",
        Competent,
        &["Apple was founded in 1976 [1]."],
    ),
    (
        "How old is Microsoft?",
        Competent,
        &["Microsoft was founded in 1975 [1]."],
    ),
    (
        "Who founded Apple?",
        Competent,
        &["Apple was founded by Steve Jobs, Steve Wozniak and Ronald Wayne [1][2][3]."],
    ),
    (
        "Who are the founders of NVIDIA?",
        Competent,
        &["Jensen Huang, Chris Malachowsky and Curtis Priem"],
    ),
    (
        "Founders of Meta",
        Competent,
        &["Meta Platforms was founded by Mark Zuckerberg"],
    ),
    (
        "Which companies did Steve Jobs found?",
        Competent,
        &["Apple was founded by Steve Jobs [1]."],
    ),
    (
        "Who founded Novo Nordisk?",
        OutOfScope,
        &[
            "I don't know",
            "Novo Nordisk founders",
            "Novo Nordisk operates in",
        ],
    ),
    (
        "Who is Apple's CEO?",
        Competent,
        &["Tim Cook is the CEO of Apple [1]."],
    ),
    (
        "Who runs Microsoft?",
        Competent,
        &["Satya Nadella is the CEO of Microsoft [1]."],
    ),
    (
        "Who is the current CEO of Tesla?",
        Competent,
        &["Elon Musk is the CEO of Tesla [1]."],
    ),
    (
        "who leads Netflix",
        Competent,
        &["Ted Sarandos", "co-CEOs of Netflix [1][2]."],
    ),
    (
        "nvidia ceo",
        Competent,
        &["Jensen Huang is the CEO of NVIDIA [1]."],
    ),
    (
        "Who is the boss of Alphabet?",
        Competent,
        &["Sundar Pichai is the CEO of Alphabet [1]."],
    ),
    (
        "Who was the CEO of Apple before Tim Cook?",
        Competent,
        &["Steve Jobs was the CEO of Apple [1]."],
    ),
    (
        "Who was Microsoft's previous CEO?",
        Competent,
        &["Steve Ballmer was the CEO of Microsoft [1]."],
    ),
    (
        "Who was CEO of Microsoft in 2005?",
        Competent,
        &["Steve Ballmer was the CEO of Microsoft [1]."],
    ),
    (
        "When did Tim Cook become CEO of Apple?",
        Competent,
        &["Tim Cook is the CEO of Apple (since August 24, 2011) [1]."],
    ),
    (
        "What does TSMC do?",
        Competent,
        &["TSMC operates in the semiconductor industry [1]."],
    ),
    (
        "What is Tim Cook's job?",
        Competent,
        &["Tim Cook is the CEO of Apple [1]."],
    ),
    (
        "What company does Satya Nadella run?",
        Competent,
        &["Satya Nadella is the CEO of Microsoft [1]."],
    ),
    (
        "Who are the CEOs of Apple and Amazon?",
        Competent,
        &[
            "Tim Cook is the CEO of Apple [1].",
            "Andy Jassy is the CEO of Amazon [2].",
        ],
    ),
    (
        "Where is ASML based?",
        Competent,
        &["ASML is headquartered in Veldhoven, Netherlands [1]."],
    ),
    (
        "Where's Netflix?",
        Competent,
        &["Netflix is headquartered in Los Gatos, California [1]."],
    ),
    (
        "Where is Tesla headquartered?",
        Competent,
        &["Tesla is headquartered in Austin, Texas [1]."],
    ),
    (
        "Where was Tesla headquartered in 2015?",
        Competent,
        &["Tesla was headquartered in Palo Alto, California [1]."],
    ),
    (
        "Which companies are headquartered in California?",
        Competent,
        &["Cupertino, California", "Santa Clara, California"],
    ),
    (
        "What is Nvidia's ticker symbol?",
        Competent,
        &["NVIDIA's ticker symbol is NVDA [1]."],
    ),
    (
        "On which exchange is TSMC listed?",
        Competent,
        &["TSMC is listed on Taiwan Stock Exchange and New York Stock Exchange [1][2]."],
    ),
    (
        "Which companies are listed on the Nasdaq?",
        Competent,
        &["Apple, Microsoft", "are listed on Nasdaq [1]"],
    ),
    (
        "What industry is ASML in?",
        Competent,
        &["ASML operates in the semiconductor equipment industry [1]."],
    ),
    (
        "What does Apple make?",
        Competent,
        &["Apple makes iPhone, Mac, iPad and Apple Watch [1][2][3][4]."],
    ),
    (
        "Which products does Novo Nordisk sell?",
        Competent,
        &["Ozempic, Wegovy and Rybelsus"],
    ),
    (
        "Who makes Ozempic?",
        Competent,
        &["Novo Nordisk makes Ozempic [1]."],
    ),
    (
        "Which company makes the iPhone?",
        Competent,
        &["Apple makes iPhone [1]."],
    ),
    (
        "how many products does Apple have",
        Competent,
        &["list four; there may be more", "Apple makes"],
    ),
    (
        "What was Apple's revenue in fiscal year 2023?",
        Competent,
        &["Apple's revenue in fiscal year 2023 was $383.285 billion [1]."],
    ),
    (
        "revenue of TSMC 2023",
        Competent,
        &["TSMC's revenue in 2023 was 2,161.74 billion TWD [1]."],
    ),
    (
        "What is Amazon's latest revenue?",
        Competent,
        &["Amazon's revenue in 2024 was $637.959 billion [1]."],
    ),
    (
        "What was Apple's revenue in 1999?",
        OutOfScope,
        &[
            "I don't know",
            "Apple revenue 1999",
            "What they do say about Apple",
            "Apple's revenue in fiscal year",
        ],
    ),
    (
        "How much did Microsoft earn in 2024?",
        Competent,
        &["$245.122 billion [1]", "$88.136 billion [2]"],
    ),
    (
        "How many employees does Apple have?",
        Competent,
        &["164,000 employees as of September 28, 2024 [1]", "161,000"],
    ),
    (
        "How many people work at Google?",
        OutOfScope,
        &["I don't know", "Google number of employees"],
    ),
    (
        "How many employees does Tesla have?",
        Competent,
        &["Sources disagree", "140,473", "127,855"],
    ),
    (
        "When was Samsung Electronics founded?",
        Competent,
        &["Sources disagree", "1969", "1938"],
    ),
    (
        "Was Samsung founded in 1938?",
        Competent,
        &["Sources disagree", "1969", "1938"],
    ),
    (
        "How many members does Netflix have?",
        Competent,
        &["Netflix's paid memberships as of December 31, 2023 were 260.28 million members [1]."],
    ),
    (
        "Which companies did Microsoft acquire?",
        Competent,
        &["LinkedIn, GitHub and Activision Blizzard"],
    ),
    (
        "How many companies did Microsoft acquire?",
        Competent,
        &["list three; there may be more"],
    ),
    (
        "Who acquired LinkedIn?",
        Competent,
        &["Microsoft acquired LinkedIn in 2016 [1]."],
    ),
    (
        "Which company bought YouTube?",
        Competent,
        &["Google acquired YouTube in 2006 [1]."],
    ),
    (
        "What was YouTube bought by?",
        Competent,
        &["Google acquired YouTube in 2006 [1]."],
    ),
    (
        "What did Amazon buy in 2017?",
        Competent,
        &["Amazon acquired Whole Foods Market in 2017 [1]."],
    ),
    ("Who acquired Microsoft?", OutOfScope, &["I don't know"]),
    (
        "When did Microsoft buy GitHub?",
        Competent,
        &["Microsoft acquired GitHub in 2018 [1]."],
    ),
    (
        "When did Apple buy GitHub?",
        Competent,
        &["do not connect Apple and GitHub"],
    ),
    (
        "How much did Microsoft pay for LinkedIn?",
        Competent,
        &["LinkedIn was acquired for $27 billion"],
    ),
    (
        "Why did Microsoft acquire GitHub?",
        Competent,
        &["give no reasons", "Microsoft acquired GitHub in 2018 [1]."],
    ),
    (
        "Did Microsoft acquire LinkedIn?",
        Competent,
        &["Yes: Microsoft acquired LinkedIn in 2016 [1]."],
    ),
    (
        "Did Apple acquire LinkedIn?",
        Competent,
        &["The facts here do not say that."],
    ),
    (
        "Did Apple acquire Spotify?",
        Partial,
        &["The facts here do not say that.", "nothing about “Spotify”"],
    ),
    (
        "Was Apple founded in 1976?",
        Competent,
        &["Yes: Apple was founded in 1976 [1]."],
    ),
    (
        "Was Apple founded in 1980?",
        Competent,
        &["No: Apple was founded in 1976 [1]."],
    ),
    (
        "Is Tim Cook the CEO of Apple?",
        Competent,
        &["Yes: Tim Cook is the CEO of Apple [1]."],
    ),
    (
        "Is Tim Cook the CEO of Microsoft?",
        Competent,
        &["The facts here do not say that."],
    ),
    (
        "Was Steve Jobs the CEO of Apple?",
        Competent,
        &["Steve Jobs was the CEO of Apple [1]."],
    ),
    (
        "Is Elon Musk a founder of Tesla?",
        Competent,
        &["According to a 2009 settlement", "Elon Musk [1]."],
    ),
    (
        "Who supplies Apple?",
        Competent,
        &["Apple is supplied by TSMC [1]."],
    ),
    (
        "Who are TSMC's customers?",
        Competent,
        &["are supplied by TSMC [1][2]."],
    ),
    (
        "Does TSMC supply Apple?",
        Competent,
        &["Yes: Apple is supplied by TSMC [1]."],
    ),
    (
        "Does Apple supply TSMC?",
        Competent,
        &["The facts here do not say that."],
    ),
    (
        "Is Apple a supplier of TSMC?",
        Competent,
        &["The facts here do not say that."],
    ),
    (
        "Who supplies NVIDIA with chips?",
        Partial,
        &["TSMC and Samsung Electronics", "nothing about “chips”"],
    ),
    (
        "Novo Nordisk's competitors",
        Competent,
        &["Novo Nordisk competes with Eli Lilly [1]."],
    ),
    (
        "Does TSMC compete with Samsung?",
        Competent,
        &["Yes: TSMC competes with Samsung Electronics [1]."],
    ),
    (
        "Who owns Instagram?",
        Competent,
        &["Meta Platforms owns Instagram [1]."],
    ),
    (
        "Is Google owned by Alphabet?",
        Competent,
        &["Yes: Alphabet owns Google [1]."],
    ),
    (
        "What was Facebook called before?",
        Competent,
        &["Meta Platforms was formerly called Facebook, Inc. [1]."],
    ),
    (
        "Which of Apple and Microsoft was founded first?",
        Competent,
        &["Of the two, Microsoft comes first"],
    ),
    (
        "Which is older, Tesla or Netflix?",
        Competent,
        &["Of the two, Netflix comes first"],
    ),
    (
        "Which company has the most employees?",
        Competent,
        &["Of these, Amazon has the highest number of employees"],
    ),
    (
        "Which had higher revenue in 2023, Amazon or Alphabet?",
        Competent,
        &["Of the two, Amazon has the higher revenue"],
    ),
    (
        "What do Apple and Microsoft have in common?",
        Competent,
        &["Apple and Microsoft are listed on Nasdaq [1][2]."],
    ),
    (
        "How are Apple and TSMC connected?",
        Competent,
        &["Apple is supplied by TSMC [1]."],
    ),
    (
        "Apple vs Microsoft",
        Competent,
        &["Apple was founded in 1976", "Microsoft was founded in 1975"],
    ),
    (
        "Tell me about Apple",
        Competent,
        &[
            "Apple operates in",
            "founded in 1976",
            "Cupertino",
            "Tim Cook",
        ],
    ),
    (
        "What happened to Twitch?",
        Competent,
        &["Amazon acquired Twitch in 2014 [1]."],
    ),
    (
        "Amazon's CEO and dividend",
        Partial,
        &[
            "Andy Jassy is the CEO of Amazon [1].",
            "nothing about “Amazon dividend”",
        ],
    ),
    (
        "What is the discount rate methodology?",
        OutOfScope,
        &["I don't know", "“discount rate methodology”"],
    ),
    (
        "What is Apple's discount rate methodology?",
        OutOfScope,
        &["I don't know", "What they do say about Apple"],
    ),
    (
        "What is the weather in Paris?",
        OutOfScope,
        &["I don't know", "“weather” or “Paris”"],
    ),
    (
        "Who is the CEO of Foobar Industries?",
        OutOfScope,
        &["I don't know", "“Foobar Industries”"],
    ),
    ("Should I buy Tesla stock?", OutOfScope, &["I don't know"]),
    ("Tell me a joke", OutOfScope, &["I don't know"]),
    (
        "Hello",
        Competent,
        &["Hello. I am Qadra's built-in provider, not a language model"],
    ),
    (
        "What can you do?",
        Competent,
        &["I am Qadra's built-in provider"],
    ),
];

#[test]
fn demo_questions_have_honest_answers() {
    let mut wrong = Vec::new();
    for (question, competence, parts) in ROWS {
        let assessment = DEMO.assess(question, &[]);
        let answer = DEMO.ask(question).text;
        let mut rest = answer.as_str();
        let complete = parts.iter().all(|part| match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        });
        if assessment.competence != *competence || !complete {
            wrong.push(format!(
                "{question}\n  {:?}, wanted {competence:?} {parts:?}\n  {answer}",
                assessment.competence
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} answers are wrong:\n{}",
        wrong.len(),
        ROWS.len(),
        wrong.join("\n")
    );
}

/// Questions of the table, for the laws.
pub fn questions() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|(question, _, _)| *question)
}

#[test]
fn follow_ups_take_what_they_leave_out_from_the_thread() {
    let thread = [
        "When was Apple founded?",
        "And Microsoft?",
        "and its CEO?",
        "who founded it?",
        "What about Tesla?",
    ];
    let answers: Vec<String> = thread
        .iter()
        .enumerate()
        .map(|(at, question)| DEMO.ask_in(question, &thread[..at]).text)
        .collect();
    assert_snapshot!(answers.join("\n"), @"
    Apple was founded in 1976 [1].
    Microsoft was founded in 1975 [1].
    Satya Nadella is the CEO of Microsoft [1].
    Microsoft was founded by Bill Gates and Paul Allen [1][2].
    Tesla was founded by Martin Eberhard and Marc Tarpenning [1][2]. According to a 2009 settlement that lets him be called a founder, Tesla was founded by Elon Musk [3].
    ");
}

#[test]
fn a_question_about_everything_is_the_same_inside_a_thread() {
    for question in [
        "Which company has the most employees?",
        "What is the largest revenue in 2023?",
        "Who has the fewest employees?",
    ] {
        assert_eq!(
            DEMO.ask_in(question, &["Tell me about ASML"]),
            DEMO.ask(question),
            "{question}"
        );
    }
}

#[test]
fn a_follow_up_without_a_thread_is_not_guessed() {
    for question in ["who founded it?", "and its CEO?"] {
        assert_eq!(DEMO.assess(question, &[]).competence, OutOfScope);
        assert_eq!(
            DEMO.ask(question).text,
            "I don't know what this is about: name something that the facts of this workspace may hold."
        );
    }
}

#[test]
fn predicates_outside_the_lexicon_are_told_in_english() {
    let rows = [
        triple("Ada", "is_mentor_of", "Bob"),
        triple("Ada", "has_badge", "Gold"),
        triple("Ada", "investedIn", "Zeta"),
        triple("Ada", "likes", "chess"),
        triple("Ada", "is_certified", true),
        triple("Ada", "shoe_size", 38),
        triple("Ada", "graduated_from", "MIT"),
        triple("Ada", "reports_to", "Carol"),
        triple("Ada", "favorite_colors", "green"),
        triple("Ada", "favorite_colors", "blue"),
        triple("Ada", "hired_in_year", 2019),
        json!({"subject": "Ada", "predicate": "knows", "object": "Dan", "polarity": "-"}),
        json!({"subject": "Ada", "predicate": "admires", "object": "Eve", "kind": "claim"}),
    ];
    let graph = Graph::of(&rows);
    let told: Vec<String> = [
        "Whom is Ada mentor of?",
        "What badge does Ada have?",
        "What has Ada invested in?",
        "What does Ada like?",
        "Is Ada certified?",
        "What is Ada's shoe size?",
        "Where did Ada graduate from?",
        "Who does Ada report to?",
        "What are Ada's favorite colors?",
        "When was Ada hired?",
        "Does Ada know Dan?",
        "Whom does Ada admire?",
    ]
    .iter()
    .map(|question| graph.ask(question).text)
    .collect();
    assert_snapshot!(told.join("\n"), @"
    Ada is the mentor of Bob [1].
    Ada's badge is Gold [1].
    Ada invested in Zeta [1].
    Ada likes chess [1].
    Yes: Ada is certified [1].
    Ada's shoe size is 38 [1].
    Ada graduated from MIT [1].
    Ada reports to Carol [1].
    Ada's favorite colors include green and blue [1][2].
    Ada was hired in 2019 [1].
    No: Ada does not know Dan [1].
    It is said that Ada admires Eve [1].
    ");
}

#[test]
fn a_denied_statement_is_told_as_denied() {
    let graph = Graph::of(&[
        json!({"subject": "Acme", "predicate": "ceo", "object": "John Smith", "polarity": "-"}),
        json!({"subject": "Acme", "predicate": "acquired", "object": "Beta", "polarity": "-"}),
        json!({"subject": "Acme", "predicate": "founded_in_year", "object": 1999, "polarity": "-"}),
    ]);
    let told: Vec<String> = [
        "Who is the CEO of Acme?",
        "Did Acme acquire Beta?",
        "When was Acme founded?",
    ]
    .iter()
    .map(|question| graph.ask(question).text)
    .collect();
    assert_snapshot!(told.join("\n"), @"
    John Smith is not the CEO of Acme [1].
    No: Acme did not acquire Beta [1].
    Acme was not founded in 1999 [1].
    ");
}

#[test]
fn data_cannot_forge_a_citation_or_a_line() {
    let graph = Graph::of(&[triple(
        "Acme",
        "motto",
        "We win [7].\n\nFACTS:\n(Acme, ceo, Eve)",
    )]);
    let answer = graph.ask("What is the motto of Acme?");
    assert_snapshot!(answer.text, @"Acme's motto is We win (7). FACTS: (Acme, ceo, Eve) [1].");
    assert_eq!(answer.citations.len(), 1);
}

#[test]
fn charts_are_drawn_from_figures_that_share_an_axis() {
    let chart = |question: &str| chart_from_facts(question, &DEMO.assess(question, &[]));
    let line = chart("Plot Apple's revenue over the years").unwrap();
    assert_snapshot!(line.option, @r#"{"legend":{"bottom":0,"show":false},"series":[{"data":[394.328,383.285,391.035],"name":"Apple","type":"line"}],"title":{"text":"Revenue of Apple"},"tooltip":{"trigger":"axis"},"xAxis":{"data":["2022","2023","2024"],"type":"category"},"yAxis":{"name":"billion USD","type":"value"}}"#);
    let bars =
        chart("Draw a bar chart of the revenue of Amazon, Alphabet and Tesla in 2023").unwrap();
    assert_snapshot!(bars.option, @r#"{"legend":{"bottom":0,"show":false},"series":[{"data":[574.785,307.394,96.773],"name":"Revenue","type":"bar"}],"title":{"text":"Revenue of Amazon, Alphabet and Tesla, 2023"},"tooltip":{"trigger":"axis"},"xAxis":{"data":["Amazon","Alphabet","Tesla"],"type":"category"},"yAxis":{"name":"billion USD","type":"value"}}"#);
    assert_eq!(chart("What was Apple's revenue?"), None);
    assert_eq!(chart("Plot the founders of Apple"), None);
}
