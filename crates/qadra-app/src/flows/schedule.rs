//! Schedules: when they are due, and starting what is.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use qadra_store::{DueTrigger, StoreError};
use qadra_types::{Fault, new_id};
use tokio_util::sync::CancellationToken;

use super::start::{Cause, begin};
use crate::App;

const EVERY: Duration = Duration::from_secs(2);
/// Schedules that one round looks at.
const ROUND: i64 = 100;
const SWEEP_ROUNDS: u64 = 1800;

/// When something is due, on the clock of a place.
pub(super) struct Schedule {
    pub cron: String,
    pub zone: Tz,
    times: Cron,
}

impl Schedule {
    /// Five fields: minute, hour, day of month, month, day of week.
    pub(super) fn parse(cron: &str, zone: &str) -> Result<Self, Fault> {
        let cron = cron.trim();
        if cron.is_empty() || cron.len() > 200 {
            return Err(Fault::invalid(
                "cron is empty or has more than 200 characters",
            ));
        }
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .build();
        let times = parser
            .parse(cron)
            .map_err(|e| Fault::invalid(format!("cron {cron:?} cannot be read: {e}")))?;
        let zone = Tz::from_str_insensitive(zone.trim()).map_err(|_| {
            Fault::invalid(format!("time_zone {zone:?} is not known"))
                .hint("give an IANA name such as Europe/Berlin")
        })?;
        let schedule = Self {
            cron: cron.to_owned(),
            zone,
            times,
        };
        schedule.next(Utc::now())?;
        Ok(schedule)
    }

    /// The first moment after `after`.
    pub(super) fn next(&self, after: DateTime<Utc>) -> Result<DateTime<Utc>, Fault> {
        self.times
            .find_next_occurrence(&after.with_timezone(&self.zone), false)
            .map(|t| t.with_timezone(&Utc))
            .map_err(|_| Fault::invalid(format!("cron {:?} is never due", self.cron)))
    }
}

impl App {
    /// Starts what is due, until stopped. Every core does; a schedule's row is locked by the one that starts it.
    pub(crate) async fn schedules_work(self: Arc<Self>, stop: CancellationToken) {
        let mut round = 0u64;
        loop {
            if let Err(e) = self.schedules_fire().await {
                tracing::warn!(error = %e, "schedules could not be looked at");
            }
            if round.is_multiple_of(SWEEP_ROUNDS)
                && let Err(e) = self.sweep_deliveries().await
            {
                tracing::warn!(error = %e, "old webhook deliveries could not be swept");
            }
            round += 1;
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    async fn schedules_fire(&self) -> Result<(), StoreError> {
        let mut tx = self.store.system().await?;
        let due = tx.triggers_due(ROUND).await?;
        drop(tx);
        for one in due {
            match self.schedule_fire(one).await {
                Ok(true) => self.wake_workers().await,
                Ok(false) => {}
                Err(fault) => {
                    tracing::warn!(error = %fault, trigger = %one.id, "a schedule could not be started");
                }
            }
        }
        Ok(())
    }

    /// False when another core was quicker, or the flow could not be started, which is noted at the trigger.
    async fn schedule_fire(&self, due: DueTrigger) -> Result<bool, Fault> {
        let mut tx = self.store.tenant_id(due.tenant_id).await?;
        let Some(trigger) = tx.trigger_take(due.id).await? else {
            return Ok(false);
        };
        let (cron, zone) = (trigger.cron.as_deref(), trigger.time_zone.as_deref());
        let schedule = Schedule::parse(cron.unwrap_or_default(), zone.unwrap_or_default());
        // However many were missed while nothing ran, they are made up for by one.
        let next = schedule.and_then(|s| s.next(Utc::now())).ok();
        let id = new_id();
        let outcome = match tx.flow_get(trigger.flow_id).await? {
            Some(flow) => {
                let cause = Cause {
                    trigger: "schedule",
                    triggered_by: trigger.created_by,
                    input: &trigger.input,
                    idempotency_key: None,
                };
                begin(&mut tx, &flow, id, cause).await.map(|_| id)
            }
            None => Err(super::missing()),
        };
        let started = outcome.is_ok();
        let outcome = outcome
            .as_ref()
            .map(|id| *id)
            .map_err(|f| f.detail.as_str());
        tx.trigger_fired(due.id, outcome, next).await?;
        tx.commit().await?;
        Ok(started)
    }

    async fn sweep_deliveries(&self) -> Result<(), StoreError> {
        let mut tx = self.store.system().await?;
        tx.deliveries_sweep().await?;
        tx.commit().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(cron: &str, zone: &str, at: &str) -> String {
        let at: DateTime<Utc> = at.parse().unwrap();
        let next = Schedule::parse(cron, zone).unwrap().next(at).unwrap();
        next.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
    }

    #[test]
    fn a_schedule_follows_the_clock_of_its_place_through_summer_time() {
        let nine = |at| after("0 9 * * *", "Europe/Berlin", at);
        assert_eq!(nine("2027-01-10T00:00:00Z"), "2027-01-10T08:00:00Z");
        assert_eq!(nine("2027-07-10T00:00:00Z"), "2027-07-10T07:00:00Z");
        assert_eq!(nine("2027-07-10T07:00:00Z"), "2027-07-11T07:00:00Z");
        // 2:30 does not exist in the night of the change; the day is not left out.
        let skipped = after("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z");
        assert!(skipped.starts_with("2027-03-28T01:"), "{skipped}");
        // It exists twice in the other one, and is due once.
        assert_eq!(
            after("30 2 * * *", "Europe/Berlin", "2027-10-31T00:30:00Z"),
            "2027-11-01T01:30:00Z"
        );
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for (cron, zone) in [
            ("", "UTC"),
            ("* * * *", "UTC"),
            ("61 * * * *", "UTC"),
            ("* * * * * *", "UTC"),
            ("0 0 30 2 *", "UTC"),
            ("* * * * *", "Mars/Olympus"),
        ] {
            assert!(Schedule::parse(cron, zone).is_err(), "{cron} {zone}");
        }
        assert_eq!(
            Schedule::parse("* * * * *", "europe/berlin")
                .ok()
                .map(|s| s.zone.name()),
            Some("Europe/Berlin")
        );
    }
}
