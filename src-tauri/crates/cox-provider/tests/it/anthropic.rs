//! Streams of Anthropic Messages, written after WIRE.md 1 (`tests/anthropic/`), in pieces of any size.

use crate::server::{Reply, Server};
use crate::support::{Events, events, provider, request, tell};
use cox_protocol::settings::ProviderKind;
use std::path::PathBuf;

#[tokio::test]
async fn every_written_stream() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/anthropic");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 14);
    for file in files {
        let (name, body) =
            (file.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&file).unwrap());
        let mut whole: Option<Events> = None;
        for (piece, body) in [
            (usize::MAX, body.clone()),
            (7, body.clone()),
            (1, body.clone()),
            (61, body.replace('\n', "\r\n")),
        ] {
            let server = Server::start([Reply::sse(&body).pieces(piece)]).await;
            let mut events =
                events(provider(ProviderKind::Anthropic, &server).as_ref(), request("claude-opus-4-7")).await;
            if let Some(Err(error)) = events.last_mut() {
                error.message = server.hide(&error.message);
            }
            let whole = whole.get_or_insert_with(|| events.clone());
            assert_eq!(&events, whole, "{name} in pieces of {piece}");
        }
        insta::assert_snapshot!(format!("stream_{name}"), tell(&whole.unwrap()));
    }
}
