//! The environment of children: an allow-list (W28).
//!
//! A name gets through because building, testing and running a project needs it, not because nothing speaks against
//! it. Keys, what names them, agents' sockets, BASH_ENV, ENV and exported functions have no way in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Names that get through.
const ALLOWED: &[&str] = &[
    // Who and where
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_DIRS",
    "XDG_RUNTIME_DIR",
    // Toolchains: where they are installed
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_TARGET_DIR",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "GOMODCACHE",
    "GOPROXY",
    "JAVA_HOME",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "GRADLE_USER_HOME",
    "MAVEN_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "PNPM_HOME",
    "VOLTA_HOME",
    "FNM_DIR",
    "BUN_INSTALL",
    "DENO_DIR",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYENV_ROOT",
    "UV_CACHE_DIR",
    "RBENV_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "DOTNET_ROOT",
    "SDKMAN_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "HOMEBREW_PREFIX",
    "HOMEBREW_CELLAR",
    "HOMEBREW_REPOSITORY",
    "NIX_PATH",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "CC",
    "CXX",
    "MAKEFLAGS",
    "CMAKE_PREFIX_PATH",
    // Which certificates to trust: paths
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "GIT_SSL_CAINFO",
    // Windows can't start programs without these
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "COMMONPROGRAMFILES",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
    "OS",
    "MSYSTEM",
];

/// Names that get through unless the value holds a user name and password.
const PROXIES: &[&str] = &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY"];

/// What every child gets: nothing may open a pager or ask on a terminal, since there is none.
const FIXED: &[(&str, &str)] = &[("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];

/// The environment of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildEnv {
    vars: BTreeMap<OsString, OsString>,
}

impl ChildEnv {
    /// What gets through of this process's own environment.
    pub fn inherited() -> Self {
        // `vars_os` and not `vars`: a value need not be UTF-8.
        Self::from_parent(std::env::vars_os())
    }

    /// What gets through of these.
    pub fn from_parent(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut env = Self { vars: vars.into_iter().filter(|(name, value)| passes(name, value)).collect() };
        for (name, value) in FIXED {
            env.vars.insert((*name).into(), (*value).into());
        }
        env.vars.entry("TERM".into()).or_insert_with(|| "dumb".into());
        env
    }

    /// Sets a variable by hand. What makes bash run something of its own accord can't be set.
    #[must_use]
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let (name, value) = (name.into(), value.into());
        if !steers_bash(&name, &value) {
            self.vars.insert(name, value);
        }
        self
    }

    /// All of it, but for the markers that each run adds.
    pub fn vars(&self) -> &BTreeMap<OsString, OsString> {
        &self.vars
    }
}

fn passes(name: &OsStr, value: &OsStr) -> bool {
    let Some(text) = name.to_str() else { return false };
    if steers_bash(name, value) {
        return false;
    }
    // Windows doesn't tell case apart, and proxies are written both ways everywhere.
    let upper = text.to_ascii_uppercase();
    let key = if cfg!(windows) { upper.as_str() } else { text };
    if ALLOWED.contains(&key) || text.starts_with("LC_") {
        return true;
    }
    PROXIES.contains(&upper.as_str()) && !value.as_encoded_bytes().contains(&b'@')
}

/// Files that bash reads by itself, options that change it, and exported functions.
fn steers_bash(name: &OsStr, value: &OsStr) -> bool {
    matches!(name.to_str(), Some("BASH_ENV" | "ENV" | "SHELLOPTS" | "BASHOPTS" | "PROMPT_COMMAND" | "PS4"))
        || name.as_encoded_bytes().starts_with(b"BASH_FUNC_")
        || value.as_encoded_bytes().starts_with(b"() {")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(vars: &[(&str, &str)], through: &[&str]) {
        let env = ChildEnv::from_parent(vars.iter().map(|(name, value)| (name.into(), value.into())));
        let fixed: Vec<&str> = FIXED.iter().map(|(name, _)| *name).chain(["TERM"]).collect();
        let names: Vec<&str> =
            env.vars.keys().filter_map(|name| name.to_str()).filter(|name| !fixed.contains(name)).collect();
        assert_eq!(names, through);
    }

    #[test]
    fn keys_and_what_names_them_stay_behind() {
        // W28
        check(
            &[
                ("PATH", "/bin"),
                ("ANTHROPIC_API_KEY", "sk-1"),
                ("OPENAI_API_KEY", "sk-2"),
                ("COXSWAIN_API_KEY_ENV", "MY_KEY"),
                ("MY_KEY", "sk-3"),
                ("AWS_SECRET_ACCESS_KEY", "x"),
                ("GITHUB_TOKEN", "x"),
                ("SSH_AUTH_SOCK", "/run/agent"),
                ("LC_ALL", "C"),
            ],
            &["LC_ALL", "PATH"],
        );
    }

    #[test]
    fn nothing_makes_bash_run_something_first() {
        // W28
        check(
            &[
                ("BASH_ENV", "/tmp/x"),
                ("ENV", "/tmp/x"),
                ("BASH_FUNC_ls%%", "() { evil; }"),
                ("TZ", "() { evil; }"),
                ("SHELLOPTS", "xtrace"),
                ("HOME", "/h"),
            ],
            &["HOME"],
        );
        let env = ChildEnv::from_parent([]).set("BASH_ENV", "/tmp/x").set("MINE", "1");
        assert!(!env.vars().contains_key(OsStr::new("BASH_ENV")));
        assert_eq!(env.vars().get(OsStr::new("MINE")), Some(&OsString::from("1")));
    }

    #[test]
    fn proxies_pass_without_their_passwords() {
        check(
            &[("http_proxy", "http://proxy:3128"), ("HTTPS_PROXY", "http://me:secret@proxy:3128")],
            &["http_proxy"],
        );
    }
}
