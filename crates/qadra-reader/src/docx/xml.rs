use std::io::{BufRead, Cursor};

use encoding_rs::Encoding;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::ReadError;

/// A part as a stream of tags and text. Entities that a document defines itself are not expanded.
pub(super) struct Xml<'a> {
    reader: Reader<Box<dyn BufRead + 'a>>,
    buffer: Vec<u8>,
    pub(super) size: u64,
    depth: u32,
    max_depth: u32,
}

pub(super) enum Token {
    /// Local name and attributes by their local names; `empty` has no end.
    Start {
        tag: Tag,
        empty: bool,
    },
    End(String),
    Text(String),
    /// The end of the part.
    Done,
}

pub(super) struct Tag {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(n, _)| n == name)?;
        Some(&found.1)
    }

    /// Whether a switch is on: it is, unless it says that it is off.
    pub(super) fn is_on(&self) -> bool {
        !matches!(self.get("val"), Some("0" | "false" | "off" | "none"))
    }
}

impl<'a> Xml<'a> {
    pub(super) fn new(
        input: &'a mut dyn BufRead,
        size: u64,
        max_depth: u32,
    ) -> Result<Self, ReadError> {
        let head = input.fill_buf().map_err(|_| broken())?;
        let encoding = Encoding::for_bom(head).map(|(e, _)| e);
        let input: Box<dyn BufRead + 'a> = match encoding {
            Some(e) if e != encoding_rs::UTF_8 => {
                let mut bytes = Vec::new();
                input.read_to_end(&mut bytes).map_err(|_| broken())?;
                Box::new(Cursor::new(e.decode(&bytes).0.into_owned()))
            }
            _ => Box::new(input),
        };
        Ok(Xml {
            reader: Reader::from_reader(input),
            buffer: Vec::new(),
            size,
            depth: 0,
            max_depth,
        })
    }

    pub(super) fn position(&self) -> u64 {
        self.reader.buffer_position()
    }

    pub(super) fn next(&mut self) -> Result<Token, ReadError> {
        loop {
            self.buffer.clear();
            let event = self.reader.read_event_into(&mut self.buffer);
            return Ok(match event.map_err(|_| broken())? {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > self.max_depth {
                        return Err(ReadError::too_large(
                            "elements within elements",
                            u64::from(self.depth),
                            u64::from(self.max_depth),
                        ));
                    }
                    Token::Start {
                        tag: tag(&start),
                        empty: false,
                    }
                }
                Event::Empty(start) => Token::Start {
                    tag: tag(&start),
                    empty: true,
                },
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    Token::End(end.local_name().into_inner().to_owned())
                }
                Event::Text(text) => Token::Text(text.to_string()),
                Event::CData(text) => Token::Text(text.to_string()),
                Event::GeneralRef(name) => {
                    let known = match name.resolve_char_ref() {
                        Ok(Some(c)) => Some(c),
                        _ => named(&name),
                    };
                    match known {
                        Some(c) => Token::Text(c.to_string()),
                        None => continue,
                    }
                }
                Event::Eof if self.depth > 0 => return Err(broken()),
                Event::Eof => Token::Done,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            });
        }
    }

    /// The text of the first element of a name.
    pub(super) fn text_of(&mut self, name: &str) -> Result<Option<String>, ReadError> {
        let mut found: Option<String> = None;
        loop {
            match self.next()? {
                Token::Start { tag, empty: false } if tag.name == name => {
                    found.get_or_insert_default();
                }
                Token::Text(text) => {
                    if let Some(found) = &mut found {
                        found.push_str(&text);
                    }
                }
                Token::End(end) if end == name && found.is_some() => return Ok(found),
                Token::Done => return Ok(None),
                Token::Start { .. } | Token::End(_) => {}
            }
        }
    }
}

fn tag(start: &BytesStart<'_>) -> Tag {
    let mut attributes = start.attributes();
    Tag {
        name: start.local_name().into_inner().to_owned(),
        attributes: attributes
            .with_checks(false)
            .flatten()
            .map(|a| {
                let name = a.key.local_name().into_inner().to_owned();
                (name, a.value.into_owned())
            })
            .collect(),
    }
}

fn named(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

fn broken() -> ReadError {
    ReadError::unreadable("its XML is damaged or was cut short")
}
