//! Paths as text, for models, JSON and the window, without loss: a name need not be UTF-8.
//!
//! Each byte that is not part of valid UTF-8 is written `\xNN`. Such a byte is 80 or above, so nothing else is ever
//! written that way; a file whose name really holds those four characters wins over the decoded one.

use std::path::{Path, PathBuf};

/// A path as text: with '/', and `\xNN` for each byte that is not UTF-8.
pub fn path_to_text(path: &Path) -> String {
    #[cfg(unix)]
    {
        use std::fmt::Write;
        use std::os::unix::ffi::OsStrExt;
        let bytes = path.as_os_str().as_bytes();
        if let Ok(text) = std::str::from_utf8(bytes) {
            return text.to_owned();
        }
        let mut text = String::with_capacity(bytes.len() + 8);
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
        text
    }
    #[cfg(not(unix))]
    {
        path.to_string_lossy().replace('\\', "/")
    }
}

/// The path that [`path_to_text`] wrote as this text.
pub fn text_to_path(text: &str) -> PathBuf {
    #[cfg(unix)]
    {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("\\x") {
            let (before, escape) = rest.split_at(at);
            bytes.extend_from_slice(before.as_bytes());
            let digits =
                escape.get(2..4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
            match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|byte| *byte >= 0x80) {
                Some(byte) => {
                    bytes.push(byte);
                    rest = &escape[4..];
                }
                None => {
                    bytes.extend_from_slice(b"\\x");
                    rest = &escape[2..];
                }
            }
        }
        bytes.extend_from_slice(rest.as_bytes());
        PathBuf::from(OsString::from_vec(bytes))
    }
    #[cfg(not(unix))]
    {
        PathBuf::from(text)
    }
}
