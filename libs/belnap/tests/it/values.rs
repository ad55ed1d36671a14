//! Values as people write them, with what they come to.

use belnap::{Bound, PartialDate, Quantity, Relation, Value};

fn quantity(text: &str) -> Quantity {
    match Value::parse(text) {
        Some(Value::Quantity(q)) => q,
        other => panic!("{text}: {other:?}"),
    }
}

#[track_caller]
fn check(text: &str, value: f64, unit: Option<&str>) {
    let q = quantity(text);
    assert!(
        (q.value - value).abs() <= 1e-9 * value.abs().max(1.0),
        "{text}: {q:?}"
    );
    assert_eq!(q.unit.as_deref(), unit, "{text}");
}

#[track_caller]
fn relation(a: &str, b: &str, expected: Relation) {
    let (x, y) = (Value::parse(a).expect(a), Value::parse(b).expect(b));
    assert_eq!(x.compare(&y), expected, "{a} and {b}: {x:?} {y:?}");
    assert_eq!(y.compare(&x), expected, "{b} and {a}");
}

fn date(
    year: impl Into<Option<i32>>,
    month: impl Into<Option<u8>>,
    day: impl Into<Option<u8>>,
) -> PartialDate {
    PartialDate {
        year: year.into(),
        month: month.into(),
        day: day.into(),
    }
}

#[test]
fn numbers_in_digits_and_words() {
    check("1,234,567.5", 1_234_567.5, None);
    check("12,34,567", 1_234_567.0, None);
    check("1.2E7", 1.2e7, None);
    check("twenty-one", 21.0, None);
    check("a hundred and five", 105.0, None);
    check("three hundred thousand", 300_000.0, None);
    check("two and a half million", 2.5e6, None);
    check("half a million", 5e5, None);
    check("two million five hundred thousand", 2.5e6, None);
    check("nineteen", 19.0, None);
    check("two dozen", 24.0, None);
    check("3/4", 0.75, None);
    check("2 1/2", 2.5, None);
    check("2½", 2.5, None);
    check("two thirds", 2.0 / 3.0, None);
    check("5k", 5_000.0, None);
    check("7bn", 7e9, None);
    check("3 lakh", 3e5, None);
    check("3 crore", 3e7, None);
    check("21st", 21.0, Some("th"));
    check("twenty-first", 21.0, Some("th"));
    check("third", 3.0, Some("th"));
}

#[test]
fn money_and_shares() {
    check("$5M", 5e6, Some("USD"));
    check("US$1.5 billion", 1.5e9, Some("USD"));
    check("5 million dollars", 5e6, Some("USD"));
    check("€20 million", 2e7, Some("EUR"));
    check("20 million euros", 2e7, Some("EUR"));
    check("EUR 20 million", 2e7, Some("EUR"));
    check("£3.2bn", 3.2e9, Some("GBP"));
    check("3 crore rupees", 3e7, Some("INR"));
    check("¥500", 500.0, Some("JPY"));
    check("50 cents", 0.5, Some("USD"));
    check("5%", 5.0, Some("%"));
    check("5 percent", 5.0, Some("%"));
    check("5 per cent", 5.0, Some("%"));
    check("2 percentage points", 2.0, Some("pp"));
    check("50 basis points", 0.5, Some("pp"));
}

#[test]
fn units_become_canonical() {
    check("252 metres", 252.0, Some("m"));
    check("17068.8 millimetres", 17.0688, Some("m"));
    check("140.8 (kilometres)", 140_800.0, Some("m"));
    check("5 feet 11 inches", 1.8034, Some("m"));
    check("5'11\"", 1.8034, Some("m"));
    check("10 miles", 16_093.44, Some("m"));
    check("3.0 kg", 3.0, Some("kg"));
    check("2 tonnes", 2_000.0, Some("kg"));
    check("10 pounds sterling", 10.0, Some("GBP"));
    check("120 square kilometres", 1.2e8, Some("m2"));
    check("3 km²", 3e6, Some("m2"));
    check("2 hectares", 2e4, Some("m2"));
    check("1.2 litres", 1.2, Some("l"));
    check("32 °F", 0.0, Some("°C"));
    check("-5 °C", -5.0, Some("°C"));
    check("300 kelvin", 26.85, Some("°C"));
    check("36 km/h", 10.0, Some("m/s"));
    check("0.0068 kilometres per second", 6.8, Some("m/s"));
    check("2 GB", 2e9, Some("byte"));
    check("2 hours 30 minutes", 9_000.0, Some("s"));
    check("25 years old", 25.0 * 365.25 * 86_400.0, Some("s"));
    check("12 months", 365.25 * 86_400.0, Some("s"));
    check("5-10 km", 7_500.0, Some("m"));
}

#[test]
fn bounds_are_kept() {
    for (text, bound) in [
        ("about 300", Bound::About),
        ("nearly 300", Bound::About),
        ("approximately 300", Bound::About),
        ("~300", Bound::About),
        ("more than 300", Bound::Over),
        ("over 300", Bound::Over),
        ("at least 300", Bound::AtLeast),
        ("no fewer than 300", Bound::AtLeast),
        ("300 or more", Bound::AtLeast),
        ("less than 300", Bound::Under),
        ("up to 300", Bound::AtMost),
        ("no more than 300", Bound::AtMost),
        ("300", Bound::Exact),
    ] {
        let q = quantity(text);
        assert_eq!((q.value, q.bound), (300.0, bound), "{text}");
    }
}

#[test]
fn precision_is_half_of_the_last_digit() {
    for (text, precision) in [
        ("1.5 billion", 5e7),
        ("1.52 billion", 5e6),
        ("252", 0.5),
        ("3.0", 0.05),
        ("2 km", 500.0),
    ] {
        assert!(
            (quantity(text).precision - precision).abs() < 1e-6,
            "{text}"
        );
    }
}

#[test]
fn dates_in_all_common_forms() {
    let day = Value::Date(date(1980, 6, 26));
    for text in [
        "June 26, 1980",
        "June 26 1980",
        "26 June 1980",
        "26th of June 1980",
        "the 26th of June, 1980",
        "1980-06-26",
        "1980-06-26T00:00:00Z",
        "26/06/1980",
        "6/26/1980",
        "26.06.1980",
        "Jun. 26, 1980",
        "Thursday, June 26, 1980",
    ] {
        assert_eq!(Value::parse(text), Some(day.clone()), "{text}");
    }
    assert_eq!(
        Value::parse("05/06/1980"),
        Some(Value::Either(date(1980, 6, 5), date(1980, 5, 6)))
    );
    assert_eq!(
        Value::parse("May 1999"),
        Some(Value::Date(date(1999, 5, None)))
    );
    assert_eq!(
        Value::parse("1999"),
        Some(Value::Date(date(1999, None, None)))
    );
    assert_eq!(Value::parse("4 July"), Some(Value::Date(date(None, 7, 4))));
    assert_eq!(
        Value::parse("44 BC"),
        Some(Value::Date(date(-44, None, None)))
    );
    assert_eq!(
        Value::parse("AD 79"),
        Some(Value::Date(date(79, None, None)))
    );
    assert_eq!(
        Value::parse("fiscal 2024"),
        Some(Value::Date(date(2024, None, None)))
    );
    assert_eq!(
        Value::parse("FY24"),
        Some(Value::Date(date(2024, None, None)))
    );
}

#[test]
fn periods_and_times() {
    let period = |from, to| Some(Value::Period { from, to });
    let quarter = period(date(2024, 4, None), date(2024, 6, None));
    for text in [
        "Q2 2024",
        "Q2 of 2024",
        "2Q24",
        "second quarter of 2024",
        "the second quarter of fiscal 2024",
        "Q2'24",
    ] {
        assert_eq!(Value::parse(text), quarter, "{text}");
    }
    let years = |a, b| period(date(a, None, None), date(b, None, None));
    assert_eq!(Value::parse("the 1990s"), years(1990, 1999));
    assert_eq!(Value::parse("1990–95"), years(1990, 1995));
    assert_eq!(Value::parse("2003 to 2007"), years(2003, 2007));
    assert_eq!(Value::parse("between 2003 and 2007"), years(2003, 2007));
    assert_eq!(Value::parse("19th century"), years(1801, 1900));
    assert_eq!(Value::parse("5th century BC"), years(-500, -401));
    assert_eq!(
        Value::parse("first half of 2020"),
        period(date(2020, 1, None), date(2020, 6, None))
    );
    let time = |hour, minute| {
        Some(Value::Time {
            hour,
            minute,
            second: 0,
        })
    };
    assert_eq!(Value::parse("5:30 pm"), time(17, 30));
    assert_eq!(Value::parse("17:30"), time(17, 30));
    assert_eq!(Value::parse("5 p.m."), time(17, 0));
    assert_eq!(Value::parse("12 am"), time(0, 0));
}

#[test]
fn names_hold_no_values() {
    for text in ["A320", "747-8", "R2D2", "Boeing", "may", "one of them"] {
        assert_eq!(Value::parse(text), None, "{text}");
    }
    assert_eq!(Value::find("one of the A320 jets"), []);
}

#[test]
fn values_are_found_in_sentences() {
    let text = "It earned $1.5 billion, up 5%, on 5 May 1999 with about 300 people.";
    let found: Vec<&str> = Value::find(text)
        .iter()
        .map(|(r, _)| &text[r.clone()])
        .collect();
    assert_eq!(found, ["$1.5 billion", "5%", "5 May 1999", "about 300"]);
}

#[test]
fn comparison_rounds_and_bounds() {
    use Relation::{Compatible, Different, Equal, Incomparable};
    relation("1.5 billion", "1,500,000,000", Equal);
    relation("1.5 billion", "1.52 billion", Compatible);
    relation("1.5 billion", "1.6 billion", Different);
    relation("5%", "5 percent", Equal);
    relation("5%", "6%", Different);
    relation("50 basis points", "0.5 percentage points", Equal);
    relation("$5 million", "€5 million", Incomparable);
    relation("1 km", "1000 metres", Equal);
    relation("about 100", "105", Compatible);
    relation("about 100", "150", Different);
    relation("more than 100", "150", Compatible);
    relation("more than 100", "90", Different);
    relation("up to 100", "150", Different);
    relation("more than 100", "more than 200", Compatible);
    relation("5 metres", "5 kg", Incomparable);
    relation("12 months", "1 year", Equal);
    relation("June 26, 1980", "1980-06-26", Equal);
    relation("June 26, 1980", "1980", Compatible);
    relation("June 26, 1980", "June 27, 1980", Different);
    relation("June 26, 1980", "1981", Different);
    relation("June", "1980", Incomparable);
    relation("05/06/1980", "5 June 1980", Compatible);
    relation("05/06/1980", "7 June 1980", Different);
    relation("Q2 2024", "May 2024", Compatible);
    relation("Q2 2024", "Q3 2024", Different);
    relation("Q2 2024", "Q2 2024", Equal);
    relation("the 1990s", "1994", Compatible);
    relation("the 1990s", "2001", Different);
    relation("17:30", "5:30 pm", Equal);
    relation("1990", "1,990", Equal);
}
