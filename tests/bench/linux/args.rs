//! What is asked for on the command line.

use cox_protocol::settings::ProviderKind;

const USAGE: &str = "\
usage: cox-bench [--quick] [--wire anthropic|openai] [SCENARIO…]

  gap      from an answer's last byte to the last byte of the next request
  cpu      CPU of one turn
  memory   memory with one worker, with 100, and for each further idle one
  crowd    100 workers with 5 turns each
  stop     from stop to the last process gone
  window   window ready over 50 projects and 2,000 sessions

Without a scenario: all of them. --quick: fewer and smaller runs, for a look.";

/// What is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scenario {
    Gap,
    Cpu,
    Memory,
    Crowd,
    Stop,
    Window,
}

/// All that is asked for.
pub(crate) struct Ask {
    pub(crate) scenarios: Vec<Scenario>,
    /// Fewer and smaller runs.
    pub(crate) quick: bool,
    /// The wire format of the scripted server.
    pub(crate) wire: ProviderKind,
}

impl Scenario {
    const ALL: [Self; 6] = [Self::Gap, Self::Cpu, Self::Memory, Self::Crowd, Self::Stop, Self::Window];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Crowd => "crowd",
            Self::Stop => "stop",
            Self::Window => "window",
        }
    }

    pub(crate) fn purpose(self) -> &'static str {
        match self {
            Self::Gap => "from an answer's last byte to the last byte of the worker's next request",
            Self::Cpu => "CPU of one turn",
            Self::Memory => "memory of the engine's process",
            Self::Crowd => "many workers at once, instant answers",
            Self::Stop => "from stop to the last process gone",
            Self::Window => "from start to the session list on screen",
        }
    }
}

impl Ask {
    /// Reads the command line; the error says what is wrong, and how it is used.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut ask = Self { scenarios: Vec::new(), quick: false, wire: ProviderKind::Openai };
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "--quick" => ask.quick = true,
                "--wire" => ask.wire = wire(words.next().unwrap_or_default())?,
                "--help" | "-h" => return Err(USAGE.to_owned()),
                name => match Scenario::ALL.into_iter().find(|scenario| scenario.name() == name) {
                    Some(scenario) if !ask.scenarios.contains(&scenario) => ask.scenarios.push(scenario),
                    Some(_) => {}
                    None => return Err(format!("`{name}` is no scenario\n\n{USAGE}")),
                },
            }
        }
        if ask.scenarios.is_empty() {
            ask.scenarios.extend(Scenario::ALL);
        }
        Ok(ask)
    }

    /// The first in a whole run, the second in a quick one.
    pub(crate) fn whole_or_quick<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }
}

fn wire(name: &str) -> Result<ProviderKind, String> {
    match name {
        "anthropic" => Ok(ProviderKind::Anthropic),
        "openai" => Ok(ProviderKind::Openai),
        other => Err(format!("`{other}` is no wire format that can be scripted\n\n{USAGE}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Ask, String> {
        Ask::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn all_scenarios_unless_some_are_named() {
        assert_eq!(parse(&[]).unwrap().scenarios, Scenario::ALL);
        let ask = parse(&["gap", "--quick", "memory", "gap", "--wire", "anthropic"]).unwrap();
        assert_eq!(ask.scenarios, [Scenario::Gap, Scenario::Memory]);
        assert_eq!((ask.quick, ask.wire), (true, ProviderKind::Anthropic));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert!(parse(&["speed"]).is_err_and(|problem| problem.starts_with("`speed` is no scenario")));
        assert!(parse(&["--wire"]).is_err());
    }
}
