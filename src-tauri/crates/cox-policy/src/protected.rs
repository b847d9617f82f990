//! Paths that always ask, whatever rules and modes say (W29): what starts programs, what holds keys.

/// Why a path is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// It is read by programs that then run what it says: version control, shells, editors, agents.
    Control,
    /// It holds a key or a credential; reading it asks too.
    Secret,
}

impl Protection {
    /// For a person: "`path` …".
    pub fn words(self) -> &'static str {
        match self {
            Self::Control => "is protected: other programs act on it",
            Self::Secret => "may hold a key or a credential",
        }
    }
}

const CONTROL_NAMES: [&str; 13] = [
    ".agents",
    ".claude",
    ".claude.json",
    ".coxswain",
    ".envrc",
    ".git",
    ".gitconfig",
    ".gitmodules",
    ".husky",
    ".idea",
    ".mcp.json",
    ".ripgreprc",
    ".vscode",
];

const SHELL_PROFILES: [&str; 17] = [
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".logout",
    ".profile",
    ".tcshrc",
    ".xprofile",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

const SECRET_NAMES: [&str; 23] = [
    ".aws",
    ".azure",
    ".dockercfg",
    ".env",
    ".git-credentials",
    ".gnupg",
    ".htpasswd",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".ssh",
    "_netrc",
    "application_default_credentials.json",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "secrets.toml",
];

const SECRET_ENDINGS: [&str; 9] =
    [".jks", ".kdbx", ".key", ".keystore", ".p12", ".p8", ".pem", ".pfx", ".ppk"];

/// Examples that are meant to be read.
const EXAMPLES: [&str; 5] = [".env.defaults", ".env.dist", ".env.example", ".env.sample", ".env.template"];

/// Is this path, or a folder on the way to it, protected?
pub fn protection(path: &str) -> Option<Protection> {
    let mut found = None;
    for part in path.split(['/', '\\']) {
        match part_protection(part) {
            Some(Protection::Secret) => return Some(Protection::Secret),
            other => found = found.or(other),
        }
    }
    found
}

fn part_protection(part: &str) -> Option<Protection> {
    // `.GIT`, `.git.` and a `.git` with an invisible character are the same folder on some disks.
    let name: String = part
        .trim_end_matches(['.', ' '])
        .chars()
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'))
        .flat_map(char::to_lowercase)
        .collect();
    let name = name.as_str();
    if name.is_empty() || EXAMPLES.contains(&name) {
        None
    } else if SECRET_NAMES.contains(&name)
        || name.starts_with(".env.")
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
    {
        Some(Protection::Secret)
    } else if CONTROL_NAMES.contains(&name) || SHELL_PROFILES.contains(&name) {
        Some(Protection::Control)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_paths() {
        // W29
        let control = [
            ".git",
            ".git/config",
            "a/.git/hooks/pre-commit",
            ".envrc",
            ".bashrc",
            "x/.zshrc",
            ".vscode/tasks.json",
            ".idea/x",
            ".claude/settings.json",
            ".coxswain/x",
            ".agents/a.md",
            ".GIT/config",
            ".git./config",
            ".g\u{200c}it/config",
        ];
        for path in control {
            assert_eq!(protection(path), Some(Protection::Control), "{path:?}");
        }
        let secret = [
            ".env",
            "api/.env",
            ".env.local",
            "a.pem",
            "tls/server.key",
            "id_rsa",
            ".ssh/config",
            ".netrc",
            ".npmrc",
            ".aws/credentials",
            ".ENV",
            ".git/x.pem",
        ];
        for path in secret {
            assert_eq!(protection(path), Some(Protection::Secret), "{path:?}");
        }
        let open = [
            ".",
            "",
            "src/main.rs",
            ".github/workflows/ci.yml",
            ".gitignore",
            ".env.example",
            "id_rsa.pub",
            "key.rs",
            "git/config",
            "environment",
            ".editorconfig",
        ];
        for path in open {
            assert_eq!(protection(path), None, "{path:?}");
        }
    }
}
