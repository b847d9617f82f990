//! A measured number and its target.

use serde::Serialize;

/// One line of the table.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Figure {
    pub(crate) name: String,
    /// Null: it was not measured; the note says why.
    pub(crate) value: Option<f64>,
    pub(crate) unit: &'static str,
    /// It has to stay below this. Null: it is shown for what it tells.
    pub(crate) target: Option<f64>,
    pub(crate) verdict: Verdict,
    /// From how many samples, and whatever else is needed to read it.
    pub(crate) note: String,
}

/// Is the target met?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Ok,
    Missed,
    /// It has none.
    NoTarget,
    NotMeasured,
}

impl Figure {
    /// A number that has to stay below a target.
    pub(crate) fn below(name: impl Into<String>, value: f64, unit: &'static str, target: f64) -> Self {
        let verdict = if value < target { Verdict::Ok } else { Verdict::Missed };
        let target = Some(target);
        Self { name: name.into(), value: Some(value), unit, target, verdict, note: String::new() }
    }

    /// A number without a target.
    pub(crate) fn shown(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        let verdict = Verdict::NoTarget;
        Self { name: name.into(), value: Some(value), unit, target: None, verdict, note: String::new() }
    }

    /// No number, and why.
    pub(crate) fn not_measured(
        name: impl Into<String>,
        unit: &'static str,
        target: f64,
        why: impl Into<String>,
    ) -> Self {
        let (target, verdict) = (Some(target), Verdict::NotMeasured);
        Self { name: name.into(), value: None, unit, target, verdict, note: why.into() }
    }

    /// With this note.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The value with its unit.
    pub(crate) fn value_text(&self) -> String {
        self.value.map_or_else(|| "-".to_owned(), |value| format!("{} {}", rounded(value), self.unit))
    }

    /// The target with its unit.
    pub(crate) fn target_text(&self) -> String {
        self.target.map_or_else(|| "-".to_owned(), |target| format!("< {target} {}", self.unit))
    }

    /// In one line.
    pub(crate) fn line(&self) -> String {
        format!("{}: {} ({}) {}", self.name, self.value_text(), self.verdict.text(), self.note)
    }
}

impl Verdict {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missed => "MISSED",
            Self::NoTarget => "no target",
            Self::NotMeasured => "not measured",
        }
    }
}

/// Three digits that count.
fn rounded(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// The sample below which this share of them lies (nearest rank). Of none: zero.
pub(crate) fn quantile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or_default()
}

/// The middle one.
pub(crate) fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples() {
        let samples: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!((median(&samples), quantile(&samples, 0.95), quantile(&samples, 1.0)), (10.0, 19.0, 20.0));
        assert_eq!((median(&[3.0]), median(&[])), (3.0, 0.0));
    }

    #[test]
    fn a_target_that_is_reached_exactly_is_missed() {
        assert_eq!(Figure::below("x", 2.0, "ms", 2.0).verdict, Verdict::Missed);
        assert_eq!(Figure::below("x", 1.99, "ms", 2.0).verdict, Verdict::Ok);
    }
}
