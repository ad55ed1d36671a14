//! CoNLL-U (<https://universaldependencies.org/format.html>): a reader that names the line of every
//! mistake, and a writer that gives back what was read, byte for byte.

use std::fmt;
use std::io::{self, BufRead, Write};

use crate::sentence::{Sentence, Upos};

/// One sentence as it stands in a file: comments, then rows of ten columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Comment lines with their leading `#`, without the line end.
    pub comments: Vec<String>,
    pub rows: Vec<Row>,
}

/// One row; a column that CoNLL-U leaves empty holds `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub id: RowId,
    pub form: String,
    pub lemma: String,
    pub upos: String,
    pub xpos: String,
    pub feats: String,
    /// `None` where the column is `_`.
    pub head: Option<u32>,
    pub deprel: String,
    pub deps: String,
    pub misc: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowId {
    Word(u32),
    /// A surface token that stands for the words from the first to the last, such as `don't`.
    Range(u32, u32),
    /// An empty node of the enhanced graph: the word before it, and its number there.
    Empty(u32, u32),
}

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowId::Word(n) => write!(f, "{n}"),
            RowId::Range(a, b) => write!(f, "{a}-{b}"),
            RowId::Empty(a, b) => write!(f, "{a}.{b}"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConlluError {
    #[error("reading CoNLL-U, line {line}")]
    Io {
        line: usize,
        #[source]
        source: io::Error,
    },
    #[error("CoNLL-U line {line}: {what}")]
    Malformed { line: usize, what: String },
}

/// All sentences of `input`. Stops at the first mistake.
pub fn read(input: impl BufRead) -> Result<Vec<Block>, ConlluError> {
    Reader::new(input).collect()
}

/// Reads one sentence at a time, so a large file need not fit into memory.
pub struct Reader<R> {
    input: R,
    line: usize,
    failed: bool,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Self {
        Reader {
            input,
            line: 0,
            failed: false,
        }
    }

    fn block(&mut self) -> Result<Option<Block>, ConlluError> {
        let mut block = Block::default();
        let mut first_line = self.line + 1;
        let mut buffer = String::new();
        loop {
            buffer.clear();
            let n = self
                .input
                .read_line(&mut buffer)
                .map_err(|source| ConlluError::Io {
                    line: self.line + 1,
                    source,
                })?;
            self.line += 1;
            let text = buffer.strip_suffix('\n').unwrap_or(&buffer);
            // All of them: one that is left would be taken for an end of line when the block is read again.
            let text = text.trim_end_matches('\r');
            if n == 0 || text.is_empty() {
                if block.rows.is_empty() {
                    if !block.comments.is_empty() {
                        return Err(malformed(self.line, "comments without a sentence"));
                    }
                    if n == 0 {
                        return Ok(None);
                    }
                    first_line = self.line + 1;
                    continue;
                }
                check(&block, first_line + block.comments.len())?;
                return Ok(Some(block));
            }
            if text.starts_with('#') {
                if !block.rows.is_empty() {
                    return Err(malformed(self.line, "comment inside a sentence"));
                }
                block.comments.push(text.to_string());
            } else {
                block.rows.push(row(text, self.line)?);
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Block, ConlluError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let block = self.block();
        self.failed = block.is_err();
        block.transpose()
    }
}

/// Writes blocks in the form in which [`read`] takes them.
pub fn write<'a>(
    out: &mut impl Write,
    blocks: impl IntoIterator<Item = &'a Block>,
) -> io::Result<()> {
    for block in blocks {
        for comment in &block.comments {
            writeln!(out, "{comment}")?;
        }
        for r in &block.rows {
            write!(
                out,
                "{}\t{}\t{}\t{}\t{}\t{}\t",
                r.id, r.form, r.lemma, r.upos, r.xpos, r.feats
            )?;
            match r.head {
                Some(head) => write!(out, "{head}")?,
                None => write!(out, "_")?,
            }
            writeln!(out, "\t{}\t{}\t{}", r.deprel, r.deps, r.misc)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

impl Block {
    /// The syntactic words, without ranges and empty nodes.
    pub fn words(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| matches!(r.id, RowId::Word(_)))
    }

    /// The value of a `# key = value` comment.
    pub fn comment(&self, key: &str) -> Option<&str> {
        self.comments.iter().find_map(|c| {
            let rest = c.strip_prefix('#')?.trim_start().strip_prefix(key)?;
            Some(rest.trim_start().strip_prefix('=')?.trim())
        })
    }

    /// Puts the annotation of `parsed` on the words of this block; what else the block says stays, but the
    /// enhanced graph is emptied, since it describes the tree that was replaced.
    ///
    /// `parsed` must have as many tokens as the block has words; further ones on either side are ignored.
    pub fn annotate(&mut self, parsed: &Sentence) {
        self.rows.retain(|r| !matches!(r.id, RowId::Empty(..)));
        let words = self
            .rows
            .iter_mut()
            .filter(|r| matches!(r.id, RowId::Word(_)));
        for (row, token) in words.zip(&parsed.tokens) {
            row.lemma = or_underscore(&token.lemma);
            row.upos = token.upos.as_str().to_string();
            row.xpos = "_".to_string();
            row.feats = or_underscore(&token.feats);
            row.head = Some(token.head as u32);
            row.deprel = token.deprel.to_string();
            row.deps = "_".to_string();
        }
    }

    /// A parsed sentence of `text`, with `# text` and `SpaceAfter=No`.
    pub fn from_sentence(sentence: &Sentence, text: &str) -> Block {
        let surface = text.get(sentence.span.clone()).unwrap_or_default();
        let one_line = surface.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut block = Block {
            comments: vec![format!("# text = {one_line}")],
            rows: Vec::with_capacity(sentence.tokens.len()),
        };
        let glued = |end: usize| {
            end < sentence.span.end
                && text
                    .get(end..)
                    .and_then(|rest| rest.chars().next())
                    .is_some_and(|c| !c.is_whitespace())
        };
        let misc = |end: usize| if glued(end) { "SpaceAfter=No" } else { "_" }.to_string();
        let mut ranges = sentence.multiwords.iter().peekable();
        let mut inside = 0;
        for (i, token) in sentence.tokens.iter().enumerate() {
            if let Some(range) = ranges.next_if(|r| r.first == i) {
                block.rows.push(Row {
                    id: RowId::Range(i as u32 + 1, range.last as u32 + 1),
                    form: clean(&range.form),
                    lemma: "_".into(),
                    upos: "_".into(),
                    xpos: "_".into(),
                    feats: "_".into(),
                    head: None,
                    deprel: "_".into(),
                    deps: "_".into(),
                    misc: misc(range.span.end),
                });
                inside = range.last + 1;
            }
            block.rows.push(Row {
                id: RowId::Word(i as u32 + 1),
                form: clean(&token.form),
                lemma: clean(&token.lemma),
                upos: token.upos.as_str().into(),
                xpos: "_".into(),
                feats: or_underscore(&token.feats),
                head: Some(token.head as u32),
                deprel: token.deprel.to_string(),
                deps: "_".into(),
                misc: if i < inside {
                    "_".into()
                } else {
                    misc(token.span.end)
                },
            });
        }
        block
    }
}

fn clean(text: &str) -> String {
    or_underscore(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn or_underscore(text: &str) -> String {
    if text.is_empty() { "_" } else { text }.to_string()
}

fn malformed(line: usize, what: impl Into<String>) -> ConlluError {
    ConlluError::Malformed {
        line,
        what: what.into(),
    }
}

fn row(text: &str, line: usize) -> Result<Row, ConlluError> {
    let columns: Vec<&str> = text.split('\t').collect();
    let [id, form, lemma, upos, xpos, feats, head, deprel, deps, misc] = columns[..] else {
        return Err(malformed(
            line,
            format!("expected 10 columns, found {}", columns.len()),
        ));
    };
    if let Some(empty) = columns.iter().position(|c| c.is_empty()) {
        return Err(malformed(line, format!("column {} is empty", empty + 1)));
    }
    let number = |what: &str, digits: &str| {
        digits
            .parse::<u32>()
            .map_err(|_| malformed(line, format!("{what} {digits:?} is not a number")))
    };
    let id = if let Some((a, b)) = id.split_once('-') {
        RowId::Range(number("id", a)?, number("id", b)?)
    } else if let Some((a, b)) = id.split_once('.') {
        RowId::Empty(number("id", a)?, number("id", b)?)
    } else {
        RowId::Word(number("id", id)?)
    };
    if matches!(id, RowId::Word(_)) && upos != "_" && Upos::parse(upos).is_none() {
        return Err(malformed(line, format!("unknown UPOS {upos:?}")));
    }
    Ok(Row {
        id,
        form: form.to_string(),
        lemma: lemma.to_string(),
        upos: upos.to_string(),
        xpos: xpos.to_string(),
        feats: feats.to_string(),
        head: match head {
            "_" => None,
            n => Some(number("head", n)?),
        },
        deprel: deprel.to_string(),
        deps: deps.to_string(),
        misc: misc.to_string(),
    })
}

/// Ids count up from 1, ranges lie ahead, heads exist.
fn check(block: &Block, first_line: usize) -> Result<(), ConlluError> {
    let count = block.words().count() as u32;
    if count == 0 {
        return Err(malformed(first_line, "a sentence without words"));
    }
    let mut last = 0;
    let mut covered = 0;
    for (i, row) in block.rows.iter().enumerate() {
        let line = first_line + i;
        match row.id {
            RowId::Word(n) if n != last + 1 => {
                return Err(malformed(
                    line,
                    format!("expected word {}, found {n}", last + 1),
                ));
            }
            RowId::Word(n) => last = n,
            RowId::Range(a, b) => {
                if a != last + 1 || a <= covered || b < a || b > count {
                    return Err(malformed(line, format!("range {a}-{b} does not fit here")));
                }
                covered = b;
            }
            RowId::Empty(a, _) if a != last => {
                return Err(malformed(
                    line,
                    format!("empty node {} does not fit here", row.id),
                ));
            }
            RowId::Empty(..) => {}
        }
        if let (RowId::Word(n), Some(head)) = (row.id, row.head)
            && (head > count || head == n)
        {
            return Err(malformed(line, format!("head {head} is not another word")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "# sent_id = a-1\n# text = I don't, you do.\n\
        1\tI\tI\tPRON\tPRP\tCase=Nom|Number=Sing\t3\tnsubj\t3:nsubj\t_\n\
        2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n\
        2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t0:root\t_\n\
        3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t2:advmod\t_\n\
        3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t2:xcomp\tCopyOf=9\n\n";

    fn fails(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn ranges_empty_nodes_and_comments_survive_a_round_trip() {
        let sample = SAMPLE.replace("\t3\tnsubj", "\t2\tnsubj");
        let blocks = read(sample.as_bytes()).unwrap();
        assert_eq!(blocks.len(), 1);
        assert_eq!(blocks[0].words().count(), 3);
        assert_eq!(blocks[0].rows[1].id, RowId::Range(2, 3));
        assert_eq!(blocks[0].rows[4].id, RowId::Empty(3, 1));
        assert_eq!(blocks[0].comment("text"), Some("I don't, you do."));
        let mut out = Vec::new();
        write(&mut out, &blocks).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), sample);
    }

    #[test]
    fn windows_line_ends_and_a_missing_last_blank_line_are_read() {
        let text =
            "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\r\n\r\n\r\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_";
        assert_eq!(read(text.as_bytes()).unwrap().len(), 2);
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let good = "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n";
        assert_eq!(
            fails(&format!("{good}\n# x\n1\tGo\n")),
            "CoNLL-U line 4: expected 10 columns, found 2"
        );
        assert_eq!(
            fails(&good.replace("VERB", "VRB")),
            "CoNLL-U line 1: unknown UPOS \"VRB\""
        );
        assert_eq!(
            fails(&format!("{good}{good}")),
            "CoNLL-U line 2: expected word 2, found 1"
        );
        assert_eq!(
            fails(&good.replace("\t0\t", "\t7\t")),
            "CoNLL-U line 1: head 7 is not another word"
        );
        assert_eq!(
            fails(&good.replace("\t0\t", "\tzero\t")),
            "CoNLL-U line 1: head \"zero\" is not a number"
        );
        assert_eq!(
            fails(&good.replace("go", "")),
            "CoNLL-U line 1: column 3 is empty"
        );
        assert_eq!(
            fails(&format!("# c\n2-3\tx\t_\t_\t_\t_\t_\t_\t_\t_\n{good}")),
            "CoNLL-U line 2: range 2-3 does not fit here"
        );
        assert_eq!(
            fails("# c\n\n"),
            "CoNLL-U line 2: comments without a sentence"
        );
        assert_eq!(
            fails("0.1\tgo\t_\t_\t_\t_\t_\t_\t0:root\t_\n\n"),
            "CoNLL-U line 1: a sentence without words"
        );
        assert_eq!(
            fails(&format!("{good}# late\n")),
            "CoNLL-U line 2: comment inside a sentence"
        );
    }

    #[test]
    fn line_ends_of_other_systems_survive_a_round_trip() {
        let good = "# c\n1\tgo\t_\t_\t_\t_\t0\t_\t_\tx\n\n";
        for end in ["\r\n", "\r\r\r\n"] {
            let blocks = read(good.replace('\n', end).as_bytes()).unwrap();
            assert_eq!(blocks, read(good.as_bytes()).unwrap());
            let mut out = Vec::new();
            write(&mut out, &blocks).unwrap();
            assert_eq!(out, good.as_bytes());
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_an_error() {
        assert!(matches!(
            read(&b"1\t\xff\n"[..]),
            Err(ConlluError::Io { line: 1, .. })
        ));
    }
}
