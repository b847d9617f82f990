//! The one window. It shows the page that is compiled in, and goes nowhere else.

use crate::log;
use crate::pump::Pump;
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{AppHandle, Manager, Url, WebviewUrl, WebviewWindowBuilder};

/// Its label, which the capability names.
const LABEL: &str = "main";

/// Opens it, or says why it can't be opened and ends the process with 1.
pub(crate) fn open_or_end(app: &AppHandle) {
    if let Err(error) = open(app) {
        tracing::error!(%error, "the window could not be opened");
        log::to_stderr(&format!("coxswain: the window could not be opened: {error}"));
        app.exit(1);
    }
}

fn open(app: &AppHandle) -> tauri::Result<()> {
    WebviewWindowBuilder::new(app, LABEL, WebviewUrl::default())
        .title("Coxswain")
        .inner_size(1440.0, 900.0)
        .min_inner_size(900.0, 600.0)
        .on_navigation(is_ours)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_page_load(|window, load| match load.event() {
            // A page that begins to load has taken the place of the one that listened.
            PageLoadEvent::Started => window.state::<Pump>().detach(),
            PageLoadEvent::Finished => {}
        })
        .build()?;
    Ok(())
}

/// Only the app's own pages: the compiled-in ones, or the development server's.
fn is_ours(url: &Url) -> bool {
    match url.scheme() {
        "tauri" => true,
        // On Windows custom schemes look like this.
        "http" | "https" if url.host_str() == Some("tauri.localhost") => true,
        "http" => cfg!(dev) && url.host_str() == Some("127.0.0.1") && url.port() == Some(1420),
        "about" => url.path() == "blank",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    fn check(url: &str, expected: bool) {
        assert_eq!(is_ours(&url.parse().unwrap()), expected, "{url}");
    }

    #[test]
    fn goes_nowhere_else() {
        check("tauri://localhost/", true);
        check("http://tauri.localhost/index.html", true);
        check("https://example.com/", false);
        check("file:///etc/passwd", false);
        check("javascript:alert(1)", false);
        check("data:text/html,hello", false);
    }
}
