//! What the disk allows: commits of a PostgreSQL that does nothing else, and plain synchronous writes.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use sqlx::{Connection, PgConnection};
use tokio::task::JoinSet;

use crate::report::Sample;
use crate::stage::Stage;

/// As many as Qadra's pool has.
pub(crate) const CONNECTIONS: usize = 32;
const WARM_UP: Duration = Duration::from_secs(1);
const MEASURED: Duration = Duration::from_secs(4);

pub(crate) struct Commits {
    pub(crate) rate: f64,
    pub(crate) latency: Sample,
}

/// Every connection inserts one small row per transaction, in a cluster of its own.
pub(crate) async fn commits(stage: &mut Stage) -> Result<Commits> {
    let options = stage.cluster("commits").await?.connect_options();
    let mut setup = PgConnection::connect_with(&options).await?;
    sqlx::query("CREATE TABLE commits (id bigint NOT NULL, note text NOT NULL)")
        .execute(&mut setup)
        .await
        .context("make a table")?;
    let begun = Instant::now();
    let (from, until) = (begun + WARM_UP, begun + WARM_UP + MEASURED);
    let mut tasks = JoinSet::new();
    for number in 0..CONNECTIONS as i64 {
        let options = options.clone();
        tasks.spawn(async move {
            let mut conn = PgConnection::connect_with(&options).await?;
            let mut took = Vec::new();
            while Instant::now() < until {
                let begun = Instant::now();
                sqlx::query("INSERT INTO commits VALUES ($1, $2)")
                    .bind(number)
                    .bind("one small row of no consequence")
                    .execute(&mut conn)
                    .await?;
                if begun >= from {
                    took.push(begun.elapsed());
                }
            }
            conn.close().await?;
            anyhow::Ok(took)
        });
    }
    let mut latency = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latency.extend(done?.context("commit a row")?);
    }
    setup.close().await?;
    Ok(Commits {
        rate: latency.len() as f64 / MEASURED.as_secs_f64(),
        latency: latency.into_iter().collect(),
    })
}

/// Writes as PostgreSQL does to its log: a block into a file that has its full length already, then fdatasync.
pub(crate) async fn syncs(path: PathBuf) -> Result<Sample> {
    const BLOCK: [u8; 8192] = [7; 8192];
    const BLOCKS: u64 = 2_048;
    let writing = move || {
        let file = File::create(&path)?;
        for block in 0..BLOCKS {
            file.write_all_at(&BLOCK, block * BLOCK.len() as u64)?;
        }
        file.sync_all()?;
        let begun = Instant::now();
        let mut took = Vec::new();
        for block in (0..BLOCKS).cycle() {
            let one = Instant::now();
            file.write_all_at(&BLOCK, block * BLOCK.len() as u64)?;
            file.sync_data()?;
            took.push(one.elapsed());
            if begun.elapsed() > Duration::from_secs(2) {
                break;
            }
        }
        std::fs::remove_file(&path)?;
        anyhow::Ok(took.into_iter().collect())
    };
    tokio::task::spawn_blocking(writing)
        .await?
        .context("write to the disk")
}
