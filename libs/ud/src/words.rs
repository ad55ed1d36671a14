//! Word lists of the tokenizer, in lower case unless case tells.

/// Words that a full stop belongs to.
pub(crate) const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "ft", "jr", "sr", "rev", "gen", "sen", "rep", "reps",
    "gov", "lt", "col", "sgt", "capt", "cpl", "hon", "pres", "inc", "corp", "co", "ltd", "llc",
    "plc", "bros", "vs", "etc", "jan", "feb", "mar", "apr", "aug", "sept", "sep", "oct", "nov",
    "dec", "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun", "no", "nos",
    "vol", "pp", "ed", "eds", "fig", "figs", "approx", "dept", "est", "attn", "ave", "blvd", "rd",
    "ext", "al", "esp", "cf", "ca", "resp", "incl", "excl", "eg", "ie", "mt", "tel", "yr", "yrs",
    "hr", "hrs", "mins", "oz", "lb", "lbs", "qty", "ref", "art", "univ", "assn", "intl",
];

/// First parts after which a hyphen does not part words.
pub(crate) const KEPT_PREFIXES: &[&str] = &[
    "e", "co", "non", "counter", "mis", "pre", "post", "anti", "re", "semi", "multi", "mid", "ex",
    "pro", "un", "over", "vice", "sub", "neo", "socio", "psycho",
];

/// Written without an apostrophe, or fused for good: the lengths of all words but the last.
pub(crate) const FUSED: &[(&str, &[usize])] = &[
    ("cannot", &[3]),
    ("dont", &[2]),
    ("didnt", &[3]),
    ("doesnt", &[4]),
    ("isnt", &[2]),
    ("wasnt", &[3]),
    ("werent", &[4]),
    ("arent", &[3]),
    ("aint", &[2]),
    ("cant", &[2]),
    ("wont", &[2]),
    ("couldnt", &[5]),
    ("wouldnt", &[5]),
    ("shouldnt", &[6]),
    ("havent", &[4]),
    ("hasnt", &[3]),
    ("hadnt", &[3]),
    ("im", &[1]),
    ("ive", &[1]),
    ("youre", &[3]),
    ("youll", &[3]),
    ("youve", &[3]),
    ("theyre", &[4]),
    ("theyll", &[4]),
    ("thats", &[4]),
    ("theres", &[5]),
    ("whats", &[4]),
    ("gonna", &[3]),
    ("gotta", &[3]),
    ("wanna", &[3]),
    ("dunno", &[2, 1]),
];

/// Units that are cut from the number before them.
pub(crate) const UNITS: &[&str] = &[
    "am", "pm", "AM", "PM", "a", "p", "k", "K", "m", "M", "MM", "mm", "b", "bn", "B", "mn", "tn",
    "T", "cm", "km", "kg", "mg", "g", "t", "lb", "lbs", "oz", "ft", "in", "mi", "mph", "hr", "hrs",
    "h", "min", "mins", "sec", "ms", "x", "X", "kb", "KB", "MB", "GB", "TB", "Hz", "kHz", "MHz",
    "GHz", "kW", "MW", "GW", "kWh", "MWh", "GWh", "V", "W", "C", "F", "USD", "EUR", "GBP", "CHF",
    "JPY", "bps", "bp", "pp", "px", "pt", "yr", "yrs", "y", "days", "minutes", "hours", "years",
    "people", "percent", "million", "billion", "sq", "l", "ml", "hh",
];

/// Last parts of host and file names.
pub(crate) const NAME_ENDINGS: &[&str] = &[
    "com", "org", "net", "edu", "gov", "io", "uk", "de", "fr", "eu", "info", "biz", "dev", "app",
    "ai", "co", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "pdf", "txt", "csv", "tsv", "html",
    "htm", "xml", "json", "yaml", "yml", "toml", "md", "zip", "gz", "png", "jpg", "jpeg", "gif",
    "svg", "mp3", "mp4", "exe", "py", "rs", "js", "ts", "sql", "url", "parquet",
];

/// Abbreviations with a slash.
pub(crate) const SLASHED: &[&str] = &[
    "w/o", "w/out", "b/t", "l/c", "i/c", "b/c", "n/a", "c/o", "a/c",
];

pub(crate) const SMILEYS: &[&str] = &[
    ":)", ":(", ";)", ":-)", ":-(", ";-)", ":D", ":-D", ":P", ":-P", "=)", "=(", "(:", ":/", ":-/",
    ":'(", "<3",
];

pub(crate) const OPERATORS: &[&str] = &["<->", "->", "=>", "<=", ">=", "!=", "<-", "``"];
