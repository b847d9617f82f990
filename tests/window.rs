//! The real window, driven as a person drives it.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use cox_tests::drag;
use cox_tests::models::Models;
use cox_tests::window::{Start, Window};
use serde_json::{Value, json};
use std::path::Path;

#[tokio::test]
async fn opens_and_offers_the_rehearsal_first() {
    let folder = tempfile::tempdir().unwrap();
    let window = Window::open(&Start::below(folder.path())).await;
    window.wait_for("first-run-rehearsal").await;
    assert_eq!(window.client.title().await.unwrap(), "Coxswain");
    window.picture("first-run").await;
    window.click("first-run-rehearsal").await;
    window.wait_for_text("window", "Drop a project folder").await;
    window.picture("empty").await;
    window.quit().await;
}

/// A project with a space in its name.
fn project(folder: &Path) -> std::path::PathBuf {
    let project = folder.join("my boat");
    std::fs::create_dir_all(project.join("src")).unwrap();
    std::fs::write(project.join("src/oars.rs"), "// two oars\npub const OARS: u8 = 1;\n").unwrap();
    std::fs::write(project.join("README.md"), "# My boat\n").unwrap();
    project
}

fn answers(steps: &[Value]) -> Value {
    Value::Array(steps.iter().map(|steps| json!({ "steps": steps })).collect())
}

fn agent(name: &str, prompt: &str) -> Value {
    json!({ "tool": { "name": "Agent", "input": { "description": format!("See to the {name}"), "prompt": prompt, "name": name } } })
}

/// Two workers: one reads, edits with permission and is messaged; one is stopped in mid-answer and continued.
fn script() -> Value {
    json!({
        "models": ["scripted"],
        "check": true,
        "agents": [
            { "name": "lead", "when": { "first_user": "See to the boat" }, "answers": answers(&[
                json!([{ "text": "Two at once." }, agent("oars", "Mend the oars"), agent("hull", "Look at the hull")]),
                json!([{ "text": "The oars are mended." }]),
                json!([{ "text": "The hull was stopped." }]),
                json!([{ "text": "The hull is sound after all." }]),
                json!([{ "text": "Nothing more." }]),
            ]) },
            { "name": "oars", "when": { "first_user": "Mend the oars" }, "answers": answers(&[
                json!([{ "text": "I look first." }, { "tool": { "name": "Read", "input": { "path": "src/oars.rs" } } }]),
                json!([{ "tool": { "name": "Edit", "input": { "path": "src/oars.rs", "old_string": "= 1;", "new_string": "= 2;" } } }]),
                json!([{ "text": "Nearly there" }, { "gate": "oars" }, { "text": ", mended." }]),
                json!([{ "text": "Painted blue as well." }]),
            ]) },
            { "name": "hull", "when": { "first_user": "Look at the hull" }, "answers": answers(&[
                json!([{ "text": "Looking at the planks" }, { "gate": "hull" }, { "text": "never said" }]),
                json!([{ "text": "It is sound." }]),
            ]) },
        ]
    })
}

// A real folder drop, a prompt, two panels that stream, a permission, a message, a stop, a continuation, a restart.
#[tokio::test]
async fn the_main_job() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let models = Models::start(folder.path(), &script());
    let start = Start::below(folder.path());
    let window = Window::open(&start).await;

    window.click("first-run-url").await;
    window.wait_for("provider-url").await.clear().await.unwrap();
    window.type_into("provider-url", &models.openai).await;
    window.type_into("first-run-model", "scripted").await;
    window.click("provider-check").await;
    window.picture("first-run-server").await;
    window.click("first-run-skip").await;
    window.wait_for_text("window", "Drop a project folder").await;

    drag::drop_paths(&[&project], (700, 400)).await;
    window.wait_for_text("project-row", "my boat").await;
    window.wait_for("composer").await;
    window.type_into("composer", "See to the boat\u{e007}").await;

    // Both stream; neither waits for the other.
    window.wait_for_text("panel-oars", "I look first.").await;
    models.reached("hull");
    window.wait_for_text("panel-hull", "Looking at the planks").await;

    // The edit asks, shows exactly what it changes, and nothing has happened yet.
    window.wait_for_text("card", "src/oars.rs").await;
    window.wait_for_text("card", "pub const OARS: u8 = 2;").await;
    assert!(std::fs::read_to_string(project.join("src/oars.rs")).unwrap().contains("= 1;"));
    window.picture("asks").await;
    window.click("card-allow").await;
    models.reached("oars");
    window.wait_for_text("panel-oars", "Nearly there").await;
    assert!(std::fs::read_to_string(project.join("src/oars.rs")).unwrap().contains("= 2;"));

    // A message waits for the worker's next turn.
    let composer = "[data-testid='panel-oars'] [data-testid='panel-composer']";
    let input = window.client.find(fantoccini::Locator::Css(composer)).await.unwrap();
    input.send_keys("Paint them blue\u{e007}").await.unwrap();
    window.wait_for_text("panel-oars", "Waits: Paint them blue").await;
    window.picture("streaming").await;
    models.open("oars");
    window.wait_for_text("panel-oars", "Painted blue as well.").await;

    // A stop ends one worker and no other; a message continues it, in the same panel.
    let stop = "[data-testid='panel-hull'] [data-testid='panel-stop']";
    window.client.find(fantoccini::Locator::Css(stop)).await.unwrap().click().await.unwrap();
    window.wait_for_text("panel-hull", "stopped by you").await;
    let input = "[data-testid='panel-hull'] [data-testid='panel-composer']";
    window
        .client
        .find(fantoccini::Locator::Css(input))
        .await
        .unwrap()
        .send_keys("Look again\u{e007}")
        .await
        .unwrap();
    window.wait_for_text("panel-hull", "It is sound.").await;
    window.wait_for_text("window", "The hull is sound after all.").await;
    window.picture("done").await;
    window.quit().await;

    // All of it is there again.
    let window = Window::open(&start).await;
    window.wait_for_text("session-row", "See to the boat").await;
    window.wait_for_text("window", "The hull is sound after all.").await;
    window.click("show-finished").await;
    window.click("archive-oars").await;
    window.wait_for_text("panel-oars", "Painted blue as well.").await;
    window.picture("restarted").await;
    window.quit().await;
    assert_eq!(models.problems().trim(), "[]", "every request was one that a real server takes");
}

// N24, R10: killed in mid-answer; after the start nothing says it works, and one click goes on.
#[tokio::test]
async fn killed_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let models = Models::start(folder.path(), &script());
    let start = Start::below(folder.path());
    let window = Window::open(&start).await;
    window.click("first-run-url").await;
    window.wait_for("provider-url").await.clear().await.unwrap();
    window.type_into("provider-url", &models.openai).await;
    window.type_into("first-run-model", "scripted").await;
    window.click("first-run-skip").await;
    drag::drop_paths(&[&project], (700, 400)).await;
    window.type_into("composer", "See to the boat\u{e007}").await;
    models.reached("hull");
    window.wait_for_text("panel-hull", "Looking at the planks").await;
    window.kill().await;

    let window = Window::open(&start).await;
    window.wait_for_text("window", "interrupted").await;
    window.wait_for_text("panel-hull", "Continue goes on where it was").await;
    window.picture("interrupted").await;
    models.open("hull");
    window.click("continue-all").await;
    window.wait_for_text("panel-hull", "It is sound.").await;
    window.quit().await;
}

// A file, and two folders at once, are refused in words.
#[tokio::test]
async fn what_is_no_folder_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let window = Window::open(&Start::below(folder.path())).await;
    window.click("first-run-rehearsal").await;
    window.wait_for_text("window", "Drop a project folder").await;
    drag::drop_paths(&[&project.join("README.md")], (700, 400)).await;
    window.wait_for_text("toast", "README.md").await;
    drag::drop_paths(&[&project, folder.path()], (700, 400)).await;
    window.wait_for_text("toast", "only one folder can be opened at a time").await;
    window.quit().await;
}

// Every sheet opens by its key or button, in both themes, and closes with Escape. The pictures are there to be looked at.
#[tokio::test]
async fn every_view_in_both_themes() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let window = Window::open(&Start::below(folder.path()).on(&project)).await;
    window.click("first-run-key").await;
    window.picture("first-run-key").await;
    window.click("first-run-rehearsal").await;
    window.wait_for_text("window", "my boat").await;
    window.wait_for("composer").await;
    for theme in ["dark", "light"] {
        window.click("settings").await;
        let choose = "const select = document.getElementById('theme'); select.value = arguments[0]; \
                      select.dispatchEvent(new Event('change', { bubbles: true }));";
        window.script(choose, vec![json!(theme)]).await;
        window.picture(&format!("settings-{theme}")).await;
        window.click("settings-save").await;
        window.wait_gone("settings-save").await;
        let set = window.script("return document.documentElement.dataset.theme", vec![]).await;
        assert_eq!(set, json!(theme));
        for (key, sheet) in [("\u{e031}", "Keys"), ("\u{e009}k", "Search")] {
            window.type_into("composer", key).await;
            let dialog = "[role='dialog'] h2";
            let title = window.client.wait().for_element(fantoccini::Locator::Css(dialog)).await.unwrap();
            assert_eq!(title.text().await.unwrap(), sheet);
            window.picture(&format!("{}-{theme}", sheet.to_lowercase())).await;
            window.script("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))", vec![]).await;
            let gone = "return document.querySelector('[role=\"dialog\"]') === null";
            assert_eq!(window.script(gone, vec![]).await, json!(true), "{sheet} closes");
        }
        window.click("permission-mode").await;
        window.picture(&format!("modes-{theme}")).await;
        window.click("permission-mode").await;
        window.click("new-session").await;
        window.picture(&format!("new-session-{theme}")).await;
        window.click("new-session").await;
    }
    window.quit().await;
}
