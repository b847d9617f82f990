//! Recorded traffic comes back byte for byte.

use crate::client::{Response, ask, hello};
use cox_testkit::{Answer, ModelServer, When, Wire, wire};

#[test]
fn the_recordings_are_as_they_were_taken() {
    let names = wire::names();
    assert_eq!(names.len(), 29, "{names:?}");
    for name in names {
        let case = wire::case(&name);
        // The framing and the body without it agree: no line ending was changed on the way into the repository.
        let response = Response { raw: case.response.clone() };
        assert_eq!(response.status(), case.status());
        let (body, _) = response.body();
        assert_eq!(body, String::from_utf8(case.body.clone()).unwrap(), "{name}");
        let malformed = name == "error_400_malformed_json" || name == "models";
        assert_eq!(case.request_json().is_none(), malformed, "{name}");
    }
}

#[tokio::test]
async fn a_replay_is_byte_for_byte() {
    let server = ModelServer::start().await;
    for name in wire::names() {
        for answer in [Answer::replay(&name), Answer::replay(&name).in_pieces(7)] {
            server.agent(&name, When::Any).answer(answer);
            let response = ask(&server, Wire::Openai, &hello(Wire::Openai)).await;
            assert_eq!(response.raw, wire::case(&name).response, "{name}");
        }
    }
    server.assert_valid_and_used();
}
