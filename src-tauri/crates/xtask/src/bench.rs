//! `bench`: a release build, and the program that measures it.

use crate::stop::Stop;
use crate::system::{self, Need};
use crate::{step, ui};

/// Builds and measures.
pub(crate) fn bench(args: &[String]) -> Result<(), Stop> {
    system::ensure(&[Need::Build])?;
    ui::install()?;
    ui::build()?;
    step::show(&mut step::cargo(&["build", "--workspace", "--release"]))?;
    let measure =
        step::root().join("target/release").join(format!("cox-bench{}", std::env::consts::EXE_SUFFIX));
    if !measure.exists() {
        return Err(Stop::missing("there is no `cox-bench` in target/release: nothing to measure with"));
    }
    let mut command = step::program(&measure.to_string_lossy());
    step::show(command.args(args))
}
