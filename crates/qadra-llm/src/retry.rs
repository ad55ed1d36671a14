//! When to try again.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::{LlmError, Options};

/// How long to wait before the attempt that follows attempt number `made` (1 is the first), or `None`
/// when `error` ends the call.
pub(crate) fn delay_before_next(
    options: &Options,
    made: u32,
    error: &LlmError,
    random: f64,
) -> Option<Duration> {
    if made >= options.max_attempts || !error.retry_within_call() {
        return None;
    }
    if let Some(asked) = error.retry_after() {
        return Some(asked.min(options.max_retry_after));
    }
    let doubled = options
        .base_delay
        .saturating_mul(2_u32.saturating_pow(made.saturating_sub(1)));
    // Half to whole, so that callers who failed together do not return together.
    Some(
        doubled
            .min(options.max_delay)
            .mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0),
    )
}

/// What the server asks for: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date.
pub(crate) fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |value: &reqwest::header::HeaderValue| value.to_str().ok().map(str::to_owned);
    if let Some(millis) = headers.get("retry-after-ms").and_then(text)
        && let Ok(millis) = millis.trim().parse::<f64>()
    {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let value = headers.get(RETRY_AFTER).and_then(text)?;
    if let Ok(seconds) = value.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = DateTime::parse_from_rfc2822(value.trim()).ok()?;
    Some((date.to_utc() - now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(retry_after: Option<Duration>) -> LlmError {
        LlmError::RateLimited {
            message: String::new(),
            retry_after,
        }
    }

    #[test]
    fn delays_double_up_to_the_cap_with_jitter_below() {
        let options = Options {
            max_attempts: 99,
            base_delay: Duration::from_millis(100),
            max_delay: Duration::from_millis(300),
            ..Options::default()
        };
        let delay = |made, random| {
            delay_before_next(&options, made, &limited(None), random)
                .unwrap()
                .as_millis()
        };
        assert_eq!(
            [delay(1, 1.0), delay(2, 1.0), delay(3, 1.0), delay(90, 1.0)],
            [100, 200, 300, 300]
        );
        assert_eq!([delay(1, 0.0), delay(90, 0.0)], [50, 150]);
    }

    #[test]
    fn what_the_server_asks_for_is_kept_up_to_a_cap() {
        let options = Options::default();
        let delay = |asked| delay_before_next(&options, 1, &limited(Some(asked)), 0.5);
        assert_eq!(delay(Duration::from_secs(3)), Some(Duration::from_secs(3)));
        assert_eq!(
            delay(Duration::from_secs(3600)),
            Some(options.max_retry_after)
        );
    }

    #[test]
    fn the_last_attempt_and_a_refusal_end_the_call() {
        let options = Options::default();
        assert_eq!(
            delay_before_next(&options, options.max_attempts, &limited(None), 0.5),
            None
        );
        let refused = LlmError::Refused {
            status: 400,
            message: String::new(),
        };
        assert_eq!(delay_before_next(&options, 1, &refused, 0.5), None);
    }

    #[test]
    fn retry_after_is_read_in_every_form() {
        let now = DateTime::parse_from_rfc2822("Sun, 06 Nov 1994 08:49:37 GMT")
            .unwrap()
            .to_utc();
        let read = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers, now).map(|delay| delay.as_millis())
        };
        assert_eq!(read("retry-after", "7"), Some(7000));
        assert_eq!(read("retry-after", "1.5"), Some(1500));
        assert_eq!(read("retry-after-ms", "250"), Some(250));
        assert_eq!(
            read("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"),
            Some(30_000)
        );
        assert_eq!(
            read("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"),
            Some(0)
        );
        for nonsense in ["soon", "-5", "NaN", "1e400", ""] {
            assert_eq!(read("retry-after", nonsense), None, "{nonsense}");
        }
    }
}
