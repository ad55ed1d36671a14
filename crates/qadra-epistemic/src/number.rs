//! Exact decimals and units: reading them from text, comparing them, showing them.

/// An exact decimal in canonical form: no leading zeros, no trailing zeros after the point, no exponent, no `-0`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal(String);

impl Decimal {
    /// Reads `-1,234.50` or `1e3`; anything else, or more than 60 digits, is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (negative, unsigned) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if !well_grouped(whole) || (mantissa.contains('.') && fraction.is_empty()) {
            return None;
        }
        let mut digits: String = whole.chars().filter(char::is_ascii_digit).collect();
        digits.push_str(fraction);
        if digits.len() > MAX_DIGITS || exponent.abs() > MAX_DIGITS_I32 {
            return None;
        }
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        Self::build(negative, &digits, scale)
    }

    /// The value times ten to the given power.
    pub fn shifted(&self, power: i32) -> Option<Self> {
        let (negative, unsigned) = match self.0.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, self.0.as_str()),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(power)?;
        Self::build(negative, &format!("{whole}{fraction}"), scale)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    pub(crate) fn is_integer(&self) -> bool {
        !self.0.contains('.')
    }

    /// The value as a calendar year, when it looks like one.
    pub(crate) fn year(&self) -> Option<i32> {
        crate::text::year(&self.0)
    }

    fn build(negative: bool, digits: &str, scale: i32) -> Option<Self> {
        let mut digits = digits.to_owned();
        if scale < 0 {
            let zeros = usize::try_from(scale.unsigned_abs()).ok()?;
            if digits.bytes().any(|byte| byte != b'0') {
                digits.push_str(&"0".repeat(zeros));
            }
        }
        let places = usize::try_from(scale.max(0)).ok()?;
        while digits.len() <= places {
            digits.insert(0, '0');
        }
        if digits.len() > 2 * MAX_DIGITS + 4 {
            return None;
        }
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let mut text = String::new();
        if negative && !(whole.is_empty() && fraction.is_empty()) {
            text.push('-');
        }
        text.push_str(if whole.is_empty() { "0" } else { whole });
        if !fraction.is_empty() {
            text.push('.');
            text.push_str(fraction);
        }
        Some(Self(text))
    }
}

/// A decimal and its unit, as read from a text such as `$391.0 billion` or `12 km`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quantity {
    pub value: Decimal,
    pub unit: Option<String>,
}

impl Quantity {
    /// Reads a whole text as one quantity. Identifiers that merely start with digits (`3M`, `007`, `7-Eleven`) are
    /// not quantities.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > 120 {
            return None;
        }
        let (sign, rest) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => ("-", rest.trim_start()),
            None => ("", text),
        };
        let (currency, rest) = leading_currency(rest);
        let end = rest
            .find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, ',' | '.')))
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(end);
        let zero_led = number.len() > 1 && number.starts_with('0') && !number.starts_with("0.");
        if zero_led || number.ends_with(['.', ',']) {
            return None;
        }
        let value = Decimal::parse(&format!("{sign}{number}"))?;
        let spaced = tail.starts_with(|letter: char| letter.is_whitespace());
        let mut power = 0;
        let mut unit = currency.map(str::to_owned);
        for (at, part) in tail.split_whitespace().enumerate() {
            if at > 3 {
                return None;
            }
            let lower = part.to_lowercase();
            let short = unit.is_some() && at == 0;
            if power == 0
                && let Some(scale) = scale_word(&lower, short)
            {
                power = scale;
            } else if unit.is_none()
                && (spaced || at > 0 || glued_unit(part))
                && let Some(known) = unit_name(part)
            {
                unit = Some(known.to_owned());
            } else {
                return None;
            }
        }
        Some(Self {
            value: value.shifted(power)?,
            unit,
        })
    }

    /// Value in the base unit of its dimension, and that unit: 1 km and 1000 m are the same pair.
    pub(crate) fn base(&self) -> (Decimal, String) {
        let unit = self.unit.as_deref().map(canonical_unit).unwrap_or_default();
        match SCALED_UNITS.iter().find(|(name, _, _)| *name == unit) {
            Some((_, base, power)) => (
                self.value
                    .shifted(*power)
                    .unwrap_or_else(|| self.value.clone()),
                (*base).to_owned(),
            ),
            None => (self.value.clone(), unit),
        }
    }
}

/// The unit's canonical spelling: `US dollars` → `USD`, `kilometres` → `km`, anything else lower-cased.
pub(crate) fn canonical_unit(unit: &str) -> String {
    match unit_name(unit) {
        Some(known) => known.to_owned(),
        None => unit.trim().to_lowercase(),
    }
}

/// Readable English of a number: `383.285 billion`, `161,000`, `1976`.
pub(crate) fn display_number(value: &Decimal, group: bool) -> String {
    let (sign, unsigned) = match value.as_str().strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", value.as_str()),
    };
    let whole_digits = unsigned.split('.').next().unwrap_or_default().len();
    for (digits, power, name) in [
        (13, -12, "trillion"),
        (10, -9, "billion"),
        (7, -6, "million"),
    ] {
        if whole_digits >= digits
            && let Some(scaled) = value.shifted(power)
            && scaled
                .as_str()
                .split_once('.')
                .is_none_or(|(_, fraction)| fraction.len() <= 3)
        {
            return format!("{} {name}", grouped(scaled.as_str()));
        }
    }
    if group || whole_digits > 4 {
        format!("{sign}{}", grouped(unsigned))
    } else {
        format!("{sign}{unsigned}")
    }
}

/// A number with its unit: `$383.285 billion`, `12 km`, `45 %`.
pub(crate) fn display_quantity(value: &Decimal, unit: Option<&str>, group: bool) -> String {
    let number = display_number(value, group || unit.is_some());
    match unit {
        None => number,
        Some("USD") => match number.strip_prefix('-') {
            Some(rest) => format!("-${rest}"),
            None => format!("${number}"),
        },
        Some("%") => format!("{number}%"),
        Some(unit) => format!("{number} {unit}"),
    }
}

fn grouped(unsigned: &str) -> String {
    let (sign, unsigned) = match unsigned.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", unsigned),
    };
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (unsigned, String::new()),
    };
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    format!("{sign}{out}{fraction}")
}

/// Digits with optional thousands commas in the right places.
fn well_grouped(whole: &str) -> bool {
    if !whole.contains(',') {
        return whole.bytes().all(|byte| byte.is_ascii_digit());
    }
    whole.split(',').enumerate().all(|(at, part)| {
        let length_fits = if at == 0 {
            (1..=3).contains(&part.len())
        } else {
            part.len() == 3
        };
        length_fits && part.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn leading_currency(text: &str) -> (Option<&'static str>, &str) {
    for (mark, code) in CURRENCY_MARKS {
        if let Some(rest) = text.strip_prefix(mark)
            && rest
                .trim_start()
                .starts_with(|letter: char| letter.is_ascii_digit())
        {
            return (Some(code), rest.trim_start());
        }
    }
    (None, text)
}

fn scale_word(lower: &str, after_currency: bool) -> Option<i32> {
    match lower {
        "thousand" => Some(3),
        "million" | "mln" | "mn" => Some(6),
        "billion" | "bln" | "bn" => Some(9),
        "trillion" | "trn" | "tn" => Some(12),
        "k" if after_currency => Some(3),
        "m" if after_currency => Some(6),
        "b" if after_currency => Some(9),
        "t" if after_currency => Some(12),
        _ => None,
    }
}

/// Units that may stand right after the digits: `12km`, `45%`; not `3M`.
fn glued_unit(part: &str) -> bool {
    matches!(
        part,
        "%" | "km" | "cm" | "mm" | "kg" | "mg" | "GW" | "MW" | "kW" | "nm"
    )
}

fn unit_name(unit: &str) -> Option<&'static str> {
    let trimmed = unit.trim().trim_end_matches('.');
    let exact = UNITS.iter().find(|(name, _)| *name == trimmed);
    let lower = trimmed.to_lowercase();
    exact
        .or_else(|| {
            UNITS
                .iter()
                .find(|(name, _)| name.len() > 2 && name.to_lowercase() == lower)
        })
        .map(|(_, canonical)| *canonical)
}

const MAX_DIGITS: usize = 60;
const MAX_DIGITS_I32: i32 = 60;

const CURRENCY_MARKS: &[(&str, &str)] = &[
    ("US$", "USD"),
    ("NT$", "TWD"),
    ("HK$", "HKD"),
    ("A$", "AUD"),
    ("C$", "CAD"),
    ("$", "USD"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("₩", "KRW"),
    ("₹", "INR"),
    ("USD ", "USD"),
    ("EUR ", "EUR"),
    ("GBP ", "GBP"),
    ("TWD ", "TWD"),
    ("KRW ", "KRW"),
    ("DKK ", "DKK"),
    ("JPY ", "JPY"),
    ("CHF ", "CHF"),
    ("CNY ", "CNY"),
    ("SEK ", "SEK"),
];

const UNITS: &[(&str, &str)] = &[
    ("USD", "USD"),
    ("US dollars", "USD"),
    ("dollars", "USD"),
    ("dollar", "USD"),
    ("$", "USD"),
    ("EUR", "EUR"),
    ("euros", "EUR"),
    ("euro", "EUR"),
    ("€", "EUR"),
    ("GBP", "GBP"),
    ("£", "GBP"),
    ("pounds sterling", "GBP"),
    ("JPY", "JPY"),
    ("yen", "JPY"),
    ("KRW", "KRW"),
    ("won", "KRW"),
    ("TWD", "TWD"),
    ("NTD", "TWD"),
    ("DKK", "DKK"),
    ("kroner", "DKK"),
    ("CHF", "CHF"),
    ("CNY", "CNY"),
    ("SEK", "SEK"),
    ("INR", "INR"),
    ("%", "%"),
    ("percent", "%"),
    ("per cent", "%"),
    ("km", "km"),
    ("kilometres", "km"),
    ("kilometers", "km"),
    ("kilometre", "km"),
    ("kilometer", "km"),
    ("m", "m"),
    ("metres", "m"),
    ("meters", "m"),
    ("metre", "m"),
    ("meter", "m"),
    ("cm", "cm"),
    ("mm", "mm"),
    ("nm", "nm"),
    ("nanometres", "nm"),
    ("nanometers", "nm"),
    ("kg", "kg"),
    ("kilograms", "kg"),
    ("kilogram", "kg"),
    ("g", "g"),
    ("grams", "g"),
    ("gram", "g"),
    ("mg", "mg"),
    ("t", "t"),
    ("tonnes", "t"),
    ("tonne", "t"),
    ("W", "W"),
    ("kW", "kW"),
    ("MW", "MW"),
    ("GW", "GW"),
    ("s", "s"),
    ("seconds", "s"),
    ("ms", "ms"),
    ("employees", "employees"),
    ("people", "people"),
    ("staff", "employees"),
    ("users", "users"),
    ("customers", "customers"),
    ("subscribers", "subscribers"),
    ("members", "members"),
    ("shares", "shares"),
    ("units", "units"),
    ("vehicles", "vehicles"),
    ("years", "years"),
    ("year", "years"),
    ("months", "months"),
    ("days", "days"),
    ("day", "days"),
    ("hours", "hours"),
    ("hour", "hours"),
    ("stores", "stores"),
];

/// Unit, base unit of its dimension, power of ten between them.
const SCALED_UNITS: &[(&str, &str, i32)] = &[
    ("km", "m", 3),
    ("cm", "m", -2),
    ("mm", "m", -3),
    ("nm", "m", -9),
    ("kg", "g", 3),
    ("mg", "g", -3),
    ("t", "g", 6),
    ("kW", "W", 3),
    ("MW", "W", 6),
    ("GW", "W", 9),
    ("ms", "s", -3),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_one_canonical_form() {
        for (text, canonical) in [
            ("1,000", "1000"),
            ("001.50", "1.5"),
            ("-0", "0"),
            ("1e3", "1000"),
            ("1.5e-2", "0.015"),
            ("0.0", "0"),
            ("-12.340", "-12.34"),
            (
                "100000000000000000000000000001",
                "100000000000000000000000000001",
            ),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().as_str(), canonical, "{text}");
        }
        for text in ["", "1,00", "abc", "1.", "1e999", ".", "-", "1.2.3"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn quantities_are_read_with_scale_and_unit() {
        for (text, value, unit) in [
            ("$391.0 billion", "391000000000", Some("USD")),
            ("1.5 billion", "1500000000", None),
            ("12 km", "12", Some("km")),
            ("45%", "45", Some("%")),
            ("€5m", "5000000", Some("EUR")),
            ("164,000 employees", "164000", Some("employees")),
            ("2.5 billion euros", "2500000000", Some("EUR")),
            ("-$3", "-3", Some("USD")),
            ("1976", "1976", None),
            ("5 m", "5", Some("m")),
        ] {
            let quantity = Quantity::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (quantity.value.as_str(), quantity.unit.as_deref()),
                (value, unit),
                "{text}"
            );
        }
        for text in [
            "3M",
            "007",
            "7-Eleven",
            "50 Cent",
            "1 2",
            "5m",
            "Apple",
            "12 monkeys",
            "$",
            "",
        ] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_shown_without_losing_digits() {
        for (value, shown) in [
            ("383285000000", "383.285 billion"),
            ("161000", "161,000"),
            ("1976", "1976"),
            ("1234567", "1,234,567"),
            ("2500000", "2.5 million"),
            ("-1500000000000", "-1.5 trillion"),
            ("0.5", "0.5"),
            ("12345.678", "12,345.678"),
        ] {
            assert_eq!(
                display_number(&Decimal::parse(value).unwrap(), false),
                shown
            );
        }
    }
}
