//! Search over entries.

use crate::support::*;
use cox_protocol::view::SearchHit;
use proptest::prelude::*;

async fn filled() -> Fixture {
    let f = fixture();
    for n in [1, 2] {
        let (s, t) = (session(n), task(n));
        f.store.append(begin(&s, &t, "p_1", 1)).await.unwrap();
        f.store
            .append(vec![
                of_task(&s, &t, 2, says("Where does the lighthouse keep its lamp?")),
                of_task(&s, &t, 3, answers("In `src/lamp.rs`, near the Café; see fn light_up() {}.")),
            ])
            .await
            .unwrap();
    }
    f.store.flush().await.unwrap();
    f
}

#[tokio::test]
async fn words_are_found_newest_first_with_the_hit_marked() {
    let f = filled().await;
    let hits = f.store.search("lighthouse", None).await.unwrap();
    let hit = |n: u64, seq| SearchHit {
        session_id: session(n),
        task_id: task(n),
        seq,
        excerpt: "Where does the \u{2068}lighthouse\u{2069} keep its lamp?\n".into(),
    };
    assert_eq!(hits, [hit(2, 7), hit(1, 3)]);
    assert_eq!(f.store.search("lighthouse", Some(session(1))).await.unwrap(), [hit(1, 3)]);
    let seqs = async |text: &str| {
        let hits = f.store.search(text, Some(session(1))).await.unwrap();
        hits.into_iter().map(|hit| hit.seq).collect::<Vec<_>>()
    };
    assert_eq!(seqs("lamp").await, [4, 3]);
    assert_eq!(seqs("LAMP keep").await, [3], "each word must occur, in any order");
    assert_eq!(seqs("cafe").await, [4], "without its accent");
    assert_eq!(seqs("src/lamp.rs").await, [4]);
    assert_eq!(seqs("light_up()").await, [4]);
    assert_eq!(seqs("lightho").await, [3], "the last word may be a beginning");
    assert_eq!(seqs("lightho keep").await, Vec::<u64>::new());
}

#[tokio::test]
async fn a_crash_only_delays_it() {
    let f = fixture();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    for n in 0..250 {
        f.store.append_later(vec![of_task(&session(1), &task(1), 2, says(&format!("number{n} anchor")))]);
    }
    f.store.append(vec![of_task(&session(1), &task(1), 2, says("the last anchor"))]).await.unwrap();
    let f = f.reopen();
    f.store.flush().await.unwrap();
    assert_eq!(f.store.search("number249", None).await.unwrap().len(), 1);
    assert_eq!(f.store.search("anchor", None).await.unwrap().len(), 100, "at most 100 hits");
    f.store.rebuild().await.unwrap();
    assert_eq!(f.store.search("number7", None).await.unwrap().len(), 11, "number7 and number70 to number79");
}

#[tokio::test]
async fn odd_queries_are_no_errors() {
    let f = filled().await;
    let odd = [
        "",
        " ",
        "\"",
        "\"\"",
        "'",
        "*",
        "a*",
        "(",
        ")",
        "()",
        "AND",
        "OR NOT",
        "NEAR(",
        "NEAR/2",
        "^lamp",
        "text:lamp",
        "session : x",
        "-lamp",
        "lamp -",
        "{text} : x",
        "a\0b",
        "\0",
        "--",
        "/*",
        "%",
        "_",
        "👍",
        "lamp 👍",
        "\u{301}",
        "\u{202e}abc",
        "lamp\"; DROP TABLE words; --",
        "ｆｕｌｌ",
        "日本語",
        "a\u{0}\"",
        "\\",
        "\u{fffd}",
        "+",
        "lamp + keep",
    ];
    for text in odd {
        let hits = f.store.search(text, None).await;
        assert!(hits.is_ok(), "{text:?}: {hits:?}");
    }
    let long = "lamp ".repeat(10_000) + &"x".repeat(100_000);
    assert!(f.store.search(&long, Some(cox_protocol::SessionId::new("\" OR \0*"))).await.is_ok());
    assert_eq!(f.store.search("lamp\"; DROP TABLE words; --", None).await.unwrap(), []);
    assert_eq!(f.store.search("lamp", None).await.unwrap().len(), 4, "nothing was dropped");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_an_error(texts in prop::collection::vec(any::<String>(), 12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let f = filled().await;
            for text in texts {
                let hits = f.store.search(&text, None).await;
                assert!(hits.is_ok(), "{text:?}: {hits:?}");
            }
        });
    }
}
