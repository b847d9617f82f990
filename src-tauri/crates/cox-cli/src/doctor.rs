//! `cox doctor`: what is there and what is missing. `--rebuild` makes everything that is derived from the event
//! log anew.

use crate::args::{DoctorArgs, HostArgs};
use crate::exit::{Exit, Stop};
use crate::host::{self, More};
use crate::{list, print, run};
use cox_engine::Engine;
use cox_protocol::view::{KeyState, Snapshot, TreeState};

/// Programs that workers and their commands use, and what is missed without them.
const PROGRAMS: [(&str, &str); 2] =
    [("bash", "commands can't be run"), ("git", "workers can't ask a repository about itself")];

/// Looks at everything, and says what it sees.
pub(crate) async fn doctor(host: &HostArgs, args: &DoctorArgs) -> Result<Exit, Stop> {
    let engine = host::open(host, More::default()).await?;
    let seen = look(&engine, args).await;
    run::shut_down(&engine).await;
    seen
}

async fn look(engine: &Engine, args: &DoctorArgs) -> Result<Exit, Stop> {
    if args.rebuild {
        print::line(&format!("rebuilt      {}", engine.rebuild().await?))?;
    }
    let (snapshot, _) = engine.attach().await?;
    tell(&snapshot)?;
    for (program, without) in PROGRAMS {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found =
            std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file());
        match found {
            Some(file) => print::line(&format!("{program:<12} {}", file.display()))?,
            None => print::line(&format!("{program:<12} not found: {without}"))?,
        }
    }
    Ok(Exit::Done)
}

fn tell(snapshot: &Snapshot) -> Result<(), Stop> {
    let environment = &snapshot.environment;
    let key = match environment.key {
        KeyState::NotNeeded => "not needed",
        KeyState::Environment => "from the environment",
        KeyState::Keychain => "in the keychain",
        KeyState::Memory => "in memory only: there is no keychain here",
        KeyState::Missing => "missing",
    };
    print::line(&format!("version      {}", environment.version))?;
    print::line(&format!(
        "data folder  {}, {} kB, {} events",
        print::plain(&environment.data_folder),
        environment.data_bytes / 1000,
        snapshot.seq
    ))?;
    print::line(&format!("provider     {}, key {key}", snapshot.settings.provider.kind.name()))?;
    print::line(&format!("projects     {}", snapshot.projects.len()))?;
    for project in snapshot.projects.iter().filter(|project| !project.available) {
        print::line(&format!("             can't be opened: {}", print::plain(&project.path)))?;
    }
    for row in snapshot.sessions.iter().filter(|row| row.state == TreeState::Interrupted) {
        print::line(&format!(
            "session      {} is {}: cox resume {} \"Go on.\"",
            row.id,
            list::state(row.state),
            row.id
        ))?;
    }
    Ok(())
}
