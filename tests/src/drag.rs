//! A folder dragged from another window into the app's, with a real pointer.
//!
//! A small window of its own offers the paths (`drag_source.py`); xdotool presses, moves and lets go.

use crate::place;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Where the source window is.
const FROM: (i32, i32) = (1160, 60);
/// Between two moves of the pointer, so that each arrives as a move of its own.
const STEP: Duration = Duration::from_millis(40);

/// Drags these paths to a place on the screen and drops them there.
pub async fn drop_paths(paths: &[&Path], to: (i32, i32)) {
    let mut source = place::program("/usr/bin/python3")
        .arg(place::root().join("tests/drag_source.py"))
        .args(paths)
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 (packages python3-gi, gir1.2-gtk-3.0)");
    let mut said = BufReader::new(source.stdout.take().expect("its output"));
    wait_for(&mut said, "ready", &mut source);
    pointer(&["mousemove", &FROM.0.to_string(), &FROM.1.to_string(), "mousedown", "1"]);
    for part in 1..=12 {
        tokio::time::sleep(STEP).await;
        let along = |from: i32, to: i32| (from + (to - from) * part / 12).to_string();
        pointer(&["mousemove", &along(FROM.0, to.0), &along(FROM.1, to.1)]);
    }
    // A last small move: the target answers to moves, and only a target that answered gets the drop.
    for shift in [1, 0, 1] {
        tokio::time::sleep(STEP).await;
        pointer(&["mousemove", &(to.0 + shift).to_string(), &to.1.to_string()]);
    }
    tokio::time::sleep(STEP * 5).await;
    pointer(&["mouseup", "1"]);
    wait_for(&mut said, "end", &mut source);
    source.wait().expect("it ends by itself");
}

fn wait_for(said: &mut impl BufRead, word: &str, source: &mut Child) {
    let mut line = String::new();
    while line.trim() != word {
        line.clear();
        if said.read_line(&mut line).expect("its output") == 0 {
            source.kill().ok();
            panic!("the window to drag from never said {word:?}");
        }
    }
}

fn pointer(args: &[&str]) {
    let moved = place::program("xdotool").args(args).status().expect("xdotool (package xdotool)");
    assert!(moved.success(), "xdotool {}", args.join(" "));
}
