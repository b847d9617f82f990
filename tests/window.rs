//! The real window, driven as a person drives it.
#![cfg(target_os = "linux")]

use cox_tests::window::{Start, Window};

#[tokio::test]
async fn opens_and_offers_the_rehearsal_first() {
    let folder = tempfile::tempdir().unwrap();
    let window = Window::open(&Start::below(folder.path())).await;
    window.wait_for("first-run-rehearsal").await;
    assert_eq!(window.client.title().await.unwrap(), "Coxswain");
    window.picture("first-run").await;
    window.quit().await;
}
