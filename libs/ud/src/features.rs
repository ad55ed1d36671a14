//! What the network sees of a word: a key into the vocabulary, and hashed pieces of its spelling.

/// Characters of a word that are looked at, so that a word of a megabyte costs no more than a long word.
const LOOK: usize = 24;

/// Folds what the vocabulary does not tell apart: case, digits, typographic quotes, addresses.
pub(crate) fn word_key(form: &str) -> String {
    if looks_like_address(form) {
        return if form.contains('@') {
            "<mail>"
        } else {
            "<url>"
        }
        .to_string();
    }
    let mut key = String::with_capacity(form.len().min(4 * LOOK));
    for c in form.chars().take(LOOK * 2) {
        match c {
            '0'..='9' => key.push('0'),
            '’' | '‘' | '`' => key.push('\''),
            '“' | '”' => key.push('"'),
            '–' | '—' => key.push('-'),
            c => key.extend(c.to_lowercase()),
        }
    }
    key
}

pub(crate) fn looks_like_address(form: &str) -> bool {
    let Some(head) = form.get(..form.len().min(4)) else {
        return false;
    };
    head.eq_ignore_ascii_case("http") && form.contains("://")
        || head.eq_ignore_ascii_case("www.") && form.len() > 4
        || form.len() > 4
            && form
                .split_once('@')
                .is_some_and(|(a, b)| !a.is_empty() && b.contains('.'))
}

/// Buckets of the word's prefixes, suffixes, shape, trigrams and full form, in `0..buckets`.
pub(crate) fn spelling(form: &str, buckets: usize, out: &mut Vec<u32>) {
    out.clear();
    let key = word_key(form);
    let chars: Vec<char> = key.chars().collect();
    let n = chars.len();
    let mut push = |kind: u8, piece: &[char]| {
        let mut h = Hash::new(kind);
        for &c in piece {
            h.add(c as u32);
        }
        out.push((h.finish() % buckets as u64) as u32);
    };
    push(b'w', &chars);
    for len in 1..=n.min(4) {
        push(b'p', &chars[..len]);
    }
    for len in 1..=n.min(5) {
        push(b's', &chars[n - len..]);
    }
    if n > 3 {
        for piece in chars[..n.min(LOOK)].windows(3) {
            push(b'n', piece);
        }
    }
    push(b'f', &shape(form));
    push(b'l', &[char::from(b'0' + n.min(15) as u8)]);
}

/// `Xx` for "London", `X` for "NATO", `d.d` for "3.5": runs are folded.
pub(crate) fn shape(form: &str) -> Vec<char> {
    let mut shape: Vec<char> = Vec::with_capacity(8);
    for c in form.chars().take(LOOK) {
        let class = match c {
            c if c.is_uppercase() => 'X',
            c if c.is_alphabetic() => 'x',
            c if c.is_numeric() => 'd',
            '’' | '‘' | '`' => '\'',
            c => c,
        };
        if shape.last() != Some(&class) {
            shape.push(class);
        }
    }
    shape
}

/// FNV-1a over code points, finished with a multiply and shift; stable across platforms and releases,
/// since trained models depend on it.
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) fn new(kind: u8) -> Self {
        let mut h = Hash(0xcbf2_9ce4_8422_2325);
        h.add(u32::from(kind));
        h
    }

    pub(crate) fn add(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x0100_0000_01b3);
    }

    pub(crate) fn finish(self) -> u64 {
        let h = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h >> 20
    }
}
