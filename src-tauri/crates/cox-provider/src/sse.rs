//! Server-sent events: bytes in any pieces in, whole events out.
//!
//! After the standard: lines end in `\n`, `\r\n` or `\r`; a byte order mark at the start is skipped; comments, ids
//! and retry times are dropped; an event that is not closed by an empty line is dropped at the end. The caller
//! resets its idle timer on any bytes, so comments keep a line alive without being seen here.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The event line; empty when there was none.
    pub(crate) name: String,
    /// The data lines, joined.
    pub(crate) data: String,
}

/// Bytes that a line, or the data of one event, may have. The longest in practice are whole arguments of a call.
pub(crate) const LIMIT: usize = 8 * 1024 * 1024;

/// A line or an event is longer than [`LIMIT`], so that keeping it could fill the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line of the stream is longer than {} MB", self.limit / 1024 / 1024)]
pub(crate) struct TooLong {
    limit: usize,
}

/// The decoder's state between two pieces.
pub(crate) struct Decoder {
    line: Vec<u8>,
    event: SseEvent,
    any_data: bool,
    first_line: bool,
    after_cr: bool,
    limit: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_limit(LIMIT)
    }
}

impl Decoder {
    fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            event: SseEvent::default(),
            any_data: false,
            first_line: true,
            after_cr: false,
            limit,
        }
    }

    /// Takes the next bytes and appends the events that they complete.
    pub(crate) fn push(&mut self, mut bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            match bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                None => {
                    self.keep(bytes)?;
                    break;
                }
                Some(end) => {
                    self.keep(&bytes[..end])?;
                    self.after_cr = bytes[end] == b'\r';
                    bytes = &bytes[end + 1..];
                    self.end_of_line(out)?;
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.check(self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn check(&self, size: usize) -> Result<(), TooLong> {
        if size > self.limit { Err(TooLong { limit: self.limit }) } else { Ok(()) }
    }

    fn end_of_line(&mut self, out: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        let mut line = std::mem::take(&mut self.line);
        let mark: &[u8] = b"\xEF\xBB\xBF";
        let skip =
            if std::mem::take(&mut self.first_line) && line.starts_with(mark) { mark.len() } else { 0 };
        let result = self.take_line(&line[skip..], out);
        line.clear();
        self.line = line;
        result
    }

    fn take_line(&mut self, line: &[u8], out: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.any_data) {
                out.push(event);
            }
            return Ok(());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match field {
            b"data" => {
                self.check(self.event.data.len() + value.len() + 1)?;
                if self.any_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&value);
                self.any_data = true;
            }
            b"event" => self.event.name = value.into_owned(),
            _ => {} // A comment has no field; ids and retry times mean nothing for one answer.
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
        let (mut decoder, mut out) = (Decoder::default(), Vec::new());
        for piece in pieces {
            decoder.push(piece, &mut out).unwrap();
        }
        out
    }

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.into(), data: data.into() }
    }

    #[test]
    fn follows_the_standard() {
        let bytes = "\u{feff}event: a\r\ndata: 1\r\ndata:2\r\n\r\n: ping\n\nid: 7\rdata\r\rdata:  x\n\nretry: 1\n\ndata: cut";
        assert_eq!(decode([bytes.as_bytes()]), [event("a", "1\n2"), event("", ""), event("", " x")]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(decode([&b"data: a\xffb\n\n"[..]]), [event("", "a\u{fffd}b")]);
    }

    #[test]
    fn a_long_line_and_a_long_event_are_errors() {
        let refuse = |bytes: &[u8]| Decoder::with_limit(16).push(bytes, &mut Vec::new());
        assert_eq!(refuse(&[b'x'; 17]), Err(TooLong { limit: 16 }));
        assert_eq!(refuse(b"data: 12345\ndata: 12345\ndata: 12345\n"), Err(TooLong { limit: 16 }));
        assert_eq!(refuse(b"data: 12345\n\ndata: 12345\n\ndata: 12345\n\n"), Ok(()));
        assert_eq!(TooLong { limit: LIMIT }.to_string(), "a line of the stream is longer than 8 MB");
    }

    proptest! {
        // Any split of the bytes gives the same events.
        #[test]
        fn splits_do_not_matter(
            parts in prop::collection::vec(prop::sample::select(vec![
                "data", "event", ":", " ", "\n", "\r", "\r\n", "\n\n", "é", "\u{1F6A3}", "x", "[DONE]", "\u{feff}", "id",
            ]), 0..60),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bytes = parts.concat().into_bytes();
            let whole = decode([&bytes[..]]);
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.sort_unstable();
            let (mut pieces, mut from) = (Vec::new(), 0);
            for cut in at {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(&decode(pieces), &whole);
            prop_assert_eq!(&decode(bytes.chunks(1)), &whole);
        }
    }
}
