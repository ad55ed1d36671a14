//! Server-sent events, cut out of bytes as they arrive.

use crate::LlmError;

/// Cuts a byte stream into events. Its memory is one line, one event and the chunk last pushed.
///
/// Lines end with LF, CRLF or CR; the text is left as bytes, so a character split across chunks is
/// whole again when its line is.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    limit: usize,
    chunk: Vec<u8>,
    /// First byte of `chunk` that is not yet read.
    at: usize,
    /// The part of a line that earlier chunks brought.
    line: Vec<u8>,
    after_cr: bool,
    first_line: bool,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The event in `name` and `data` was handed out, and is cleared at the next call.
    spent: bool,
}

/// One event; `name` is empty when the server gave none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SseEvent<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) data: &'a [u8],
}

impl SseDecoder {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            chunk: Vec::new(),
            at: 0,
            line: Vec::new(),
            after_cr: false,
            first_line: true,
            name: Vec::new(),
            data: Vec::new(),
            has_data: false,
            spent: false,
        }
    }

    /// Takes the next bytes; the events of earlier ones must have been read.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        debug_assert!(
            self.at >= self.chunk.len(),
            "events of the last chunk are unread"
        );
        self.chunk.clear();
        self.chunk.extend_from_slice(bytes);
        self.at = 0;
    }

    /// The next event that is complete; `None` asks for more bytes.
    pub(crate) fn next_event(&mut self) -> Result<Option<SseEvent<'_>>, LlmError> {
        self.clear_spent();
        while self.take_line()? {
            if self.end_line()? {
                self.spent = true;
                return Ok(Some(SseEvent {
                    name: &self.name,
                    data: &self.data,
                }));
            }
        }
        Ok(None)
    }

    /// The event that the end of the stream left open: servers that just close mean it.
    pub(crate) fn last_event(&mut self) -> Result<Option<SseEvent<'_>>, LlmError> {
        self.clear_spent();
        if !self.line.is_empty() {
            self.end_line()?;
        }
        let open = std::mem::take(&mut self.has_data);
        self.spent = true;
        Ok(open.then_some(SseEvent {
            name: &self.name,
            data: &self.data,
        }))
    }

    /// Moves bytes into `line` up to a line end; false when the chunk has run out first.
    fn take_line(&mut self) -> Result<bool, LlmError> {
        let mut rest = self.chunk.get(self.at..).unwrap_or_default();
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            if rest.first() == Some(&b'\n') {
                self.at += 1;
                rest = rest.get(1..).unwrap_or_default();
            }
        }
        let end = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r');
        let part = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if self.line.len() + part.len() > self.limit {
            return Err(self.too_large());
        }
        self.line.extend_from_slice(part);
        self.at += part.len();
        let Some(end) = end else { return Ok(false) };
        self.after_cr = rest.get(end) == Some(&b'\r');
        self.at += 1;
        Ok(true)
    }

    /// Reads the line in `line`; true when it ended an event.
    fn end_line(&mut self) -> Result<bool, LlmError> {
        let mut line = self.line.as_slice();
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.line.clear();
            if std::mem::take(&mut self.has_data) {
                return Ok(true);
            }
            self.name.clear();
            return Ok(false);
        }
        let colon = line
            .iter()
            .position(|&byte| byte == b':')
            .unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len() + value.len() >= self.limit {
                    return Err(self.too_large());
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            // Comments, `id`, `retry` and unknown fields say nothing that is used here.
            _ => {}
        }
        self.line.clear();
        Ok(false)
    }

    fn clear_spent(&mut self) {
        if std::mem::take(&mut self.spent) {
            self.name.clear();
            self.data.clear();
        }
    }

    fn too_large(&self) -> LlmError {
        LlmError::TooLarge {
            what: "one line",
            limit: self.limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let mut decoder = SseDecoder::new(1 << 20);
        let mut seen = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for chunk in chunks {
            decoder.push(chunk);
            while let Some(event) = decoder.next_event().unwrap() {
                seen.push((text(event.name), text(event.data)));
            }
        }
        if let Some(event) = decoder.last_event().unwrap() {
            seen.push((text(event.name), text(event.data)));
        }
        seen
    }

    #[track_caller]
    fn check(stream: &[u8], expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, data)| ((*name).to_owned(), (*data).to_owned()))
            .collect();
        assert_eq!(events(&[stream]), expected);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(events(&bytes), expected, "byte by byte");
    }

    #[test]
    fn line_ends_spaces_and_names_are_read_in_every_form() {
        check(b"data: a\n\ndata:b\n\n", &[("", "a"), ("", "b")]);
        check(b"event: x\r\ndata: a\r\n\r\n", &[("x", "a")]);
        check(b"data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]);
        check(b"\xef\xbb\xbfdata: a\n\n", &[("", "a")]);
    }

    #[test]
    fn comments_and_empty_events_are_passed_over() {
        check(b": hello\n\n\n\nevent: ping\n\ndata: a\n\n", &[("", "a")]);
        check(b"id: 7\nretry: 5\nnonsense\n\n", &[]);
    }

    #[test]
    fn data_lines_of_one_event_are_joined() {
        check(
            b"data: {\ndata:  \"a\"\ndata: }\n\n",
            &[("", "{\n \"a\"\n}")],
        );
    }

    #[test]
    fn an_event_left_open_at_the_end_is_kept() {
        check("data: é".as_bytes(), &[("", "é")]);
    }

    #[test]
    fn a_line_over_the_limit_is_refused_however_it_arrives() {
        let mut decoder = SseDecoder::new(8);
        decoder.push(b"data: 12");
        assert_eq!(decoder.next_event(), Ok(None));
        decoder.push(b"3");
        assert!(matches!(
            decoder.next_event(),
            Err(LlmError::TooLarge { .. })
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_give_the_same_events_however_they_are_cut(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(1usize..20, 1..40),
        ) {
            let mut rest = bytes.as_slice();
            let mut chunks = Vec::new();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break }
                let (head, tail) = rest.split_at((*cut).min(rest.len()));
                chunks.push(head);
                rest = tail;
            }
            prop_assert_eq!(events(&[&bytes]), events(&chunks));
        }
    }
}
