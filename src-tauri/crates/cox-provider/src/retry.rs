//! When a request is sent again, and after how long: the policy of the official clients (WIRE.md 1.8).

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use std::time::Duration;

/// Tries in all: one, and two more.
pub(crate) const MAX_ATTEMPTS: u32 = 3;

const LONGEST: Duration = Duration::from_secs(8);
/// A server that asks for more than this is not obeyed; the back-off is used.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

/// May it be sent again?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// It can't help.
    Never,
    /// After the back-off.
    BackOff,
    /// After the time that the server asked for.
    After(Duration),
}

impl Again {
    /// How long to wait after the try of this number, from 1; null: don't.
    pub(crate) fn wait(self, attempt: u32, first: Duration, jitter: f64) -> Option<Duration> {
        if attempt >= MAX_ATTEMPTS {
            return None;
        }
        match self {
            Self::Never => None,
            Self::After(wait) => Some(wait),
            Self::BackOff => {
                let full = first.saturating_mul(1 << (attempt - 1)).min(LONGEST);
                Some(full.mul_f64(1.0 - 0.25 * jitter.clamp(0.0, 1.0)))
            }
        }
    }

    /// What the headers of an answer make of what its status and words say. The server's own word wins.
    pub(crate) fn told_by(self, headers: &HeaderMap) -> Self {
        let again = match text(headers, "x-should-retry") {
            Some("true") if self == Self::Never => Self::BackOff,
            Some("false") => Self::Never,
            _ => self,
        };
        match again {
            Self::Never => Self::Never,
            Self::BackOff | Self::After(_) => asked(headers).map_or(again, Self::After),
        }
    }
}

/// Is a status worth another try by itself?
pub(crate) fn by_status(status: u16) -> Again {
    match status {
        408 | 409 | 429 | 500.. => Again::BackOff,
        _ => Again::Never,
    }
}

fn asked(headers: &HeaderMap) -> Option<Duration> {
    let exact = text(headers, "retry-after-ms").and_then(|text| text.parse().ok()).map(|ms: f64| ms / 1000.0);
    let seconds = exact.or_else(|| {
        let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
        text.parse().ok().or_else(|| from_date(text, headers))
    })?;
    let fits = seconds > 0.0 && seconds <= LONGEST_ASKED.as_secs_f64();
    fits.then(|| Duration::from_secs_f64(seconds))
}

/// A date is measured against the server's own clock, so that a wrong one here does no harm.
fn from_date(text: &str, headers: &HeaderMap) -> Option<f64> {
    let now = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let then = httpdate::parse_http_date(text).ok()?;
    then.duration_since(now).ok().map(|wait| wait.as_secs_f64())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    fn ms(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    // WIRE.md 1.8
    #[test]
    fn backs_off_with_jitter_and_gives_up() {
        let wait = |again: Again, attempt, jitter| again.wait(attempt, Duration::from_millis(500), jitter);
        assert_eq!(wait(Again::BackOff, 1, 0.0), ms(500));
        assert_eq!(wait(Again::BackOff, 2, 0.0), ms(1000));
        assert_eq!(wait(Again::BackOff, 1, 1.0), ms(375));
        assert_eq!(wait(Again::After(Duration::from_secs(7)), 1, 1.0), ms(7000));
        assert_eq!(wait(Again::BackOff, 3, 0.0), None);
        assert_eq!(wait(Again::Never, 1, 0.0), None);
    }

    #[test]
    fn the_headers_have_the_last_word() {
        let told = |again: Again, pairs: &[(&'static str, &'static str)]| again.told_by(&headers(pairs));
        let after = |ms| Again::After(Duration::from_millis(ms));
        assert_eq!(told(Again::Never, &[]), Again::Never);
        assert_eq!(told(Again::Never, &[("x-should-retry", "true")]), Again::BackOff);
        assert_eq!(told(Again::BackOff, &[("x-should-retry", "false"), ("retry-after", "3")]), Again::Never);
        assert_eq!(told(Again::BackOff, &[("retry-after", "3")]), after(3000));
        assert_eq!(told(Again::BackOff, &[("retry-after", "3"), ("retry-after-ms", "250")]), after(250));
        assert_eq!(told(Again::BackOff, &[("retry-after", "61")]), Again::BackOff);
        assert_eq!(told(Again::BackOff, &[("retry-after", "0")]), Again::BackOff);
        assert_eq!(told(Again::BackOff, &[("retry-after", "soon")]), Again::BackOff);
        let date =
            [("date", "Tue, 01 Dec 2026 10:00:00 GMT"), ("retry-after", "Tue, 01 Dec 2026 10:00:09 GMT")];
        assert_eq!(told(Again::BackOff, &date), after(9000));
        assert_eq!(told(Again::BackOff, &date[1..]), Again::BackOff);
    }

    #[test]
    fn statuses() {
        let again: Vec<u16> = (400..600).filter(|status| by_status(*status) == Again::BackOff).collect();
        let expect: Vec<u16> = [408, 409, 429].into_iter().chain(500..600).collect();
        assert_eq!(again, expect);
    }
}
