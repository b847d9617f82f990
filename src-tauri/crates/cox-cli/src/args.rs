//! The command line.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use cox_protocol::settings::ProviderKind;
use cox_protocol::task::{PermissionMode, SessionMode};
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0    done; commands that nobody could be asked about are named in the report
  1    the session failed, or was stopped from elsewhere
  2    the command line can't be used: unknown id, missing confirmation, bad schema
  3    the data or the project folder can't be opened, or another process owns the session
  4    the provider refused or did not answer: key, account, model, address, limits
  130  interrupted (SIGINT); the work was stopped first
  141  standard output was closed by its reader
  143  terminated (SIGTERM); the work was stopped first

Keys come from the keychain, from ANTHROPIC_API_KEY or OPENAI_API_KEY for the provider's own
address, or from the variable that --api-key-env names. A server at another address gets a key
only from --api-key-env or from its own keychain entry.";

/// A coordinator directs workers over a project folder, without a window.
#[derive(Debug, Parser)]
#[command(name = "cox", version, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) host: HostArgs,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What every command takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct HostArgs {
    /// Where the database is; the window's own place by default
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Starts a session over a folder, and waits until everything in it is done
    Run(RunArgs),
    /// Gives a session another message, and waits again
    Resume(ResumeArgs),
    /// Lists the sessions, the one that changed last first
    Sessions(SessionsArgs),
    /// Prints a session: its tasks, and the conversation with its lead
    Show(ShowArgs),
    /// Says what is there and what is missing
    Doctor(DoctorArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunArgs {
    /// The folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: PathBuf,
    /// Who works: workers that a coordinator directs, or one agent alone
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<Mode>,
    /// Who answers; by default what the settings say, which is the rehearsal at first
    #[arg(long)]
    pub(crate) provider: Option<Provider>,
    /// The lead's model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Another server of that kind: Anthropic without /v1, OpenAI-compatible with it
    #[arg(long, value_name = "URL", requires = "provider")]
    pub(crate) base_url: Option<String>,
    /// The variable that holds the key for this server
    #[arg(long, value_name = "NAME", requires = "provider")]
    pub(crate) api_key_env: Option<String>,
    /// What passes without asking. Here nobody can be asked: what would be asked is refused
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<Permission>,
    /// The folder's own name: needed for bypassPermissions, and for a home or system folder
    #[arg(long, value_name = "NAME")]
    pub(crate) confirm_folder: Option<String>,
    /// Workers at once; more wait their turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max_workers: Option<u32>,
    /// A JSON schema that the result has to meet
    #[arg(long, value_name = "FILE")]
    pub(crate) json_schema: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, default_value = "text")]
    pub(crate) output: Output,
    /// What to do; `-` reads it from standard input
    pub(crate) prompt: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ResumeArgs {
    /// The session
    pub(crate) id: String,
    /// What to say; `-` reads it from standard input
    pub(crate) prompt: String,
    /// The variable that holds the key for the session's server
    #[arg(long, value_name = "NAME")]
    pub(crate) api_key_env: Option<String>,
    /// Workers at once; more wait their turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max_workers: Option<u32>,
    /// What goes to standard output
    #[arg(long, default_value = "text")]
    pub(crate) output: Output,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SessionsArgs {
    /// Only sessions over this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// How many at most
    #[arg(long, value_name = "N", default_value = "50")]
    pub(crate) limit: u32,
    /// What goes to standard output
    #[arg(long, default_value = "text")]
    pub(crate) output: ListOutput,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    /// The session
    pub(crate) id: String,
    /// What goes to standard output
    #[arg(long, default_value = "text")]
    pub(crate) output: ListOutput,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// Makes everything that is derived from the event log anew
    #[arg(long)]
    pub(crate) rebuild: bool,
}

/// What a run prints on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// The report
    Text,
    /// One object: session, outcome, result, value, tasks
    Json,
    /// Every event as it is stored, one a line
    StreamJson,
}

/// What a list prints on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListOutput {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    Coordinator,
    Solo,
}

impl From<Mode> for SessionMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Coordinator => Self::Coordinator,
            Mode::Solo => Self::Solo,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Provider {
    Anthropic,
    Openai,
    Rehearsal,
}

impl From<Provider> for ProviderKind {
    fn from(provider: Provider) -> Self {
        match provider {
            Provider::Anthropic => Self::Anthropic,
            Provider::Openai => Self::Openai,
            Provider::Rehearsal => Self::Rehearsal,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "camelCase")]
pub(crate) enum Permission {
    Plan,
    Default,
    AcceptEdits,
    BypassPermissions,
}

impl From<Permission> for PermissionMode {
    fn from(permission: Permission) -> Self {
        match permission {
            Permission::Plan => Self::Plan,
            Permission::Default => Self::Default,
            Permission::AcceptEdits => Self::AcceptEdits,
            Permission::BypassPermissions => Self::BypassPermissions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, Output, Verb};
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_definition_holds() {
        Args::command().debug_assert();
    }

    #[test]
    fn takes_the_documented_line() {
        let line = "cox run --project . --mode solo --provider openai --model m --base-url http://127.0.0.1:1/v1 \
                    --api-key-env KEY --permission-mode acceptEdits --max-workers 3 --data-dir d --json-schema s \
                    --output stream-json prompt";
        let args = Args::try_parse_from(line.split_whitespace()).unwrap();
        let Verb::Run(run) = args.verb else { panic!("not run") };
        assert_eq!(run.output, Output::StreamJson);
        assert_eq!(run.max_workers, Some(3));
        assert_eq!(args.host.data_dir.as_deref(), Some("d".as_ref()));
    }

    #[test]
    fn a_server_needs_its_kind() {
        let line = ["cox", "run", "--project", ".", "--base-url", "http://127.0.0.1:1", "prompt"];
        assert_eq!(Args::try_parse_from(line).unwrap_err().exit_code(), 2);
    }
}
