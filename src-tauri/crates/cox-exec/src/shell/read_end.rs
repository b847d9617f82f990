//! The reading end of the output pipe, as an async reader.

use std::io::{self, PipeReader};

#[cfg(unix)]
pub(super) struct ReadEnd(tokio::net::unix::pipe::Receiver);

#[cfg(unix)]
impl ReadEnd {
    pub(super) fn new(reader: PipeReader) -> io::Result<Self> {
        let end = std::os::fd::OwnedFd::from(reader);
        tokio::net::unix::pipe::Receiver::from_owned_fd(end).map(Self)
    }

    /// Reads what is there, or waits for it; 0 at the end. Nothing is lost when it is dropped half-way.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use tokio::io::AsyncReadExt;
        self.0.read(buffer).await
    }
}

/// Where pipes can't be waited for, a thread reads and hands over.
#[cfg(not(unix))]
pub(super) struct ReadEnd {
    pieces: tokio::sync::mpsc::Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

#[cfg(not(unix))]
impl ReadEnd {
    pub(super) fn new(mut reader: PipeReader) -> io::Result<Self> {
        let (hand, pieces) = tokio::sync::mpsc::channel(4);
        std::thread::Builder::new().name("output".into()).spawn(move || {
            use std::io::Read;
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count) = reader.read(&mut buffer) {
                let piece = buffer.get(..count).unwrap_or_default().to_vec();
                if count == 0 || hand.blocking_send(piece).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { pieces, rest: Vec::new() })
    }

    /// Reads what is there, or waits for it; 0 at the end.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.pieces.recv().await.unwrap_or_default();
        }
        let count = self.rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(self.rest.drain(..count)) {
            *to = from;
        }
        Ok(count)
    }
}
