//! Units of measure and of money, by the names they go by in text.

/// What a name of a unit means: value × `factor` + `offset` is in `canonical`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub canonical: &'static str,
    pub factor: f64,
    pub offset: f64,
}

const DAY: f64 = 86_400.0;
const YEAR: f64 = 365.25 * DAY;
const POUND: f64 = 0.453_592_37;
const FOOT: f64 = 0.3048;
const MILE: f64 = 1_609.344;

/// The unit called `name`, in lower case. `close` says that it touches the number, where single letters are units.
pub(super) fn unit(name: &str, close: bool) -> Option<Unit> {
    let of = |canonical, factor| {
        Some(Unit {
            canonical,
            factor,
            offset: 0.0,
        })
    };
    match name {
        "m" | "g" | "s" | "h" | "l" | "b" | "t" | "w" if !close => None,
        "mm" | "millimetre" | "millimeter" => of("m", 1e-3),
        "cm" | "centimetre" | "centimeter" => of("m", 1e-2),
        "m" | "metre" | "meter" => of("m", 1.0),
        "km" | "kilometre" | "kilometer" => of("m", 1e3),
        "inch" | "″" => of("m", 0.0254),
        "ft" | "foot" | "feet" => of("m", FOOT),
        "yd" | "yard" => of("m", 3.0 * FOOT),
        "mi" | "mile" => of("m", MILE),
        "nautical mile" | "nmi" => of("m", 1_852.0),
        "light year" | "light-year" => of("m", 9.460_730_472_580_8e15),
        "mg" | "milligram" | "milligramme" => of("kg", 1e-6),
        "g" | "gram" | "gramme" => of("kg", 1e-3),
        "kg" | "kilogram" | "kilogramme" | "kilo" => of("kg", 1.0),
        "t" | "tonne" | "metric ton" => of("kg", 1e3),
        "ton" | "short ton" => of("kg", 2_000.0 * POUND),
        "oz" | "ounce" => of("kg", POUND / 16.0),
        "lb" | "lbs" | "pound-mass" => of("kg", POUND),
        "stone" => of("kg", 14.0 * POUND),
        "ms" | "millisecond" => of("s", 1e-3),
        "s" | "sec" | "second" => of("s", 1.0),
        "min" | "minute" => of("s", 60.0),
        "h" | "hr" | "hour" => of("s", 3_600.0),
        "day" => of("s", DAY),
        "week" => of("s", 7.0 * DAY),
        "fortnight" => of("s", 14.0 * DAY),
        "month" => of("s", YEAR / 12.0),
        "year" | "yr" => of("s", YEAR),
        "decade" => of("s", 10.0 * YEAR),
        "century" | "centuries" => of("s", 100.0 * YEAR),
        "m2" | "m²" | "sqm" | "sq m" | "square metre" | "square meter" => of("m2", 1.0),
        "cm2" | "cm²" | "square centimetre" | "square centimeter" => of("m2", 1e-4),
        "km2" | "km²" | "sqkm" | "sq km" | "square kilometre" | "square kilometer" => {
            of("m2", 1e6)
        }
        "ha" | "hectare" => of("m2", 1e4),
        "acre" => of("m2", 4_046.856_422_4),
        "sq ft" | "sqft" | "square foot" | "square feet" | "ft2" | "ft²" => of("m2", FOOT * FOOT),
        "sq mi" | "square mile" | "mi2" | "mi²" => of("m2", MILE * MILE),
        "ml" | "millilitre" | "milliliter" => of("l", 1e-3),
        "l" | "litre" | "liter" => of("l", 1.0),
        "m3" | "m³" | "cubic metre" | "cubic meter" => of("l", 1e3),
        "km3" | "km³" | "cubic kilometre" | "cubic kilometer" => of("l", 1e12),
        "cm3" | "cm³" | "cc" | "cubic centimetre" | "cubic centimeter" => of("l", 1e-3),
        "gallon" | "gal" => of("l", 3.785_411_784),
        "pint" => of("l", 0.473_176_473),
        "cubic foot" | "cubic feet" => of("l", 28.316_846_592),
        "barrel" => of("l", 158.987_294_928),
        "°c" | "℃" | "degree celsius" | "degree centigrade" | "celsius" => of("°C", 1.0),
        "°f" | "℉" | "degree fahrenheit" | "fahrenheit" => Some(Unit {
            canonical: "°C",
            factor: 5.0 / 9.0,
            offset: -160.0 / 9.0,
        }),
        "kelvin" => Some(Unit {
            canonical: "°C",
            factor: 1.0,
            offset: -273.15,
        }),
        "°" | "degree" => of("degree", 1.0),
        "m/s" | "metre per second" | "meter per second" => of("m/s", 1.0),
        "km/s" | "kilometre per second" | "kilometer per second" => of("m/s", 1e3),
        "km/h" | "kph" | "kmh" | "kilometre per hour" | "kilometer per hour" => {
            of("m/s", 1.0 / 3.6)
        }
        "mph" | "mile per hour" => of("m/s", MILE / 3_600.0),
        "knot" | "kn" => of("m/s", 1_852.0 / 3_600.0),
        "byte" | "b" => of("byte", 1.0),
        "kb" | "kilobyte" => of("byte", 1e3),
        "mb" | "megabyte" => of("byte", 1e6),
        "gb" | "gigabyte" => of("byte", 1e9),
        "tb" | "terabyte" => of("byte", 1e12),
        "pb" | "petabyte" => of("byte", 1e15),
        "kib" | "kibibyte" => of("byte", 1_024.0),
        "mib" | "mebibyte" => of("byte", 1_048_576.0),
        "gib" | "gibibyte" => of("byte", 1_073_741_824.0),
        "w" | "watt" => of("W", 1.0),
        "kw" | "kilowatt" => of("W", 1e3),
        "mw" | "megawatt" => of("W", 1e6),
        "gw" | "gigawatt" => of("W", 1e9),
        "hp" | "horsepower" => of("W", 745.699_871_582_27),
        "hz" | "hertz" => of("Hz", 1.0),
        "khz" | "kilohertz" => of("Hz", 1e3),
        "mhz" | "megahertz" => of("Hz", 1e6),
        "ghz" | "gigahertz" => of("Hz", 1e9),
        "kwh" | "kilowatt hour" | "kilowatt-hour" => of("J", 3.6e6),
        "mwh" | "megawatt hour" | "megawatt-hour" => of("J", 3.6e9),
        "%" | "percent" | "per cent" | "pct" => of("%", 1.0),
        "percentage point" | "pp" | "point of percentage" => of("pp", 1.0),
        "basis point" | "bp" | "bps" => of("pp", 0.01),
        _ => money(name).map(|(canonical, factor)| Unit {
            canonical,
            factor,
            offset: 0.0,
        }),
    }
}

/// A currency by sign, code or name.
pub(super) fn money(name: &str) -> Option<(&'static str, f64)> {
    Some(match name {
        "$" | "us$" | "usd" | "dollar" | "us dollar" | "u.s. dollar" | "american dollar"
        | "buck" => ("USD", 1.0),
        "cent" => ("USD", 0.01),
        "€" | "eur" | "euro" => ("EUR", 1.0),
        "£" | "gbp" | "pound" | "pound sterling" | "british pound" => ("GBP", 1.0),
        "pence" => ("GBP", 0.01),
        "¥" | "jpy" | "yen" => ("JPY", 1.0),
        "rmb" | "cny" | "yuan" | "renminbi" => ("CNY", 1.0),
        "₹" | "inr" | "rs" | "rs." | "rupee" => ("INR", 1.0),
        "chf" | "franc" | "swiss franc" => ("CHF", 1.0),
        "a$" | "aud" | "australian dollar" => ("AUD", 1.0),
        "c$" | "cad" | "canadian dollar" => ("CAD", 1.0),
        "krw" | "₩" | "won" => ("KRW", 1.0),
        "rub" | "₽" | "ruble" | "rouble" => ("RUB", 1.0),
        "sek" => ("SEK", 1.0),
        "nok" => ("NOK", 1.0),
        "dkk" => ("DKK", 1.0),
        "brl" | "r$" => ("BRL", 1.0),
        "hk$" | "hkd" => ("HKD", 1.0),
        _ => return None,
    })
}

/// A currency sign that stands before the number.
pub(super) fn prefix(name: &str) -> Option<&'static str> {
    match name {
        "$" | "us$" | "usd" | "€" | "eur" | "£" | "gbp" | "¥" | "jpy" | "rmb" | "cny" | "₹"
        | "inr" | "rs" | "rs." | "chf" | "a$" | "aud" | "c$" | "cad" | "₩" | "krw" | "₽"
        | "rub" | "r$" | "brl" | "hk$" | "hkd" | "sek" | "nok" | "dkk" => {
            money(name).map(|(c, _)| c)
        }
        _ => None,
    }
}

/// Without the ending of the plural.
pub(super) fn singular(word: &str) -> Option<&str> {
    word.strip_suffix('s')
        .filter(|w| w.len() > 2 && !w.ends_with(['s', 'i']))
}

/// A canonical unit of measure, as against a counted noun.
pub(crate) fn physical(unit: &str) -> bool {
    matches!(
        unit,
        "m" | "kg" | "s" | "m2" | "l" | "°C" | "m/s" | "byte" | "W" | "Hz" | "J" | "degree"
    )
}
