//! Grounding over graphs of several sizes: the questions go over the in-process bus to the use case, as a turn's do,
//! and everything that it takes, PostgreSQL included, is in the figures.

mod fill;
mod graph;
mod questions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use qadra_app::{App, Builtin, Settings, TokenKey};
use qadra_epistemic::{
    Kind, NameHit, NameTarget, NodeRef, Object, Polarity, Question, Triple, undecided,
};
use qadra_nats::{Bus, Headers, InProcess, Reply, Subject, messages::ACTOR};
use qadra_store::cluster::{Cluster, Options};
use qadra_store::{NameRow, Presence, Store, TripleRow};
use qadra_types::{Actor, Ctx, Role, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::machine;
use crate::process::Cpu;
use crate::report::{Report, Sample, rounded};
use graph::Graph;
use questions::{Asked, KINDS};

/// Measures grounding alone, over graphs of several sizes
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Statements of the main tenant, one run for each
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000])]
    sizes: Vec<usize>,
    /// Questions of each of the eight kinds
    #[arg(long, default_value_t = 130)]
    each: usize,
    /// Where the databases stand; must be on a disk
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// PostgreSQL's own cache; the product's setting if it is not given
    #[arg(long, value_name = "MB")]
    shared_buffers: Option<u32>,
}

/// Longest time at the 99th percentile, by the number of statements.
fn goal(size: usize) -> f64 {
    if size <= 1_000_000 { 15.0 } else { 40.0 }
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    let dir = arguments.dir.clone().unwrap_or_else(crate::scratch);
    let mut facts = machine::facts(&dir);
    facts["optimised"] = (!cfg!(debug_assertions)).into();
    let mut report = Report::default();
    for size in &arguments.sizes {
        let done = one_size(*size, &arguments, &dir, &mut report).await;
        if let Err(error) = done {
            report.print(&facts);
            return Err(error.context(format!("with {size} statements")));
        }
    }
    facts["load_at_end"] = machine::load().into();
    report.print(&facts);
    Ok(())
}

async fn one_size(
    size: usize,
    arguments: &Arguments,
    dir: &Path,
    report: &mut Report,
) -> Result<()> {
    let place = tempfile::Builder::new()
        .prefix("qadra-bench-")
        .tempdir_in(dir)
        .with_context(|| format!("make a directory in {}", dir.display()))?;
    std::fs::set_permissions(
        place.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o711),
    )?;
    let mut options = Options::new(place.path().join("database"));
    if let Some(size) = arguments.shared_buffers {
        options.shared_buffers_mb = size;
    }
    let cluster = Cluster::start(options)
        .await
        .context("start a private PostgreSQL")?;
    let done = tokio::select! {
        done = measure(size, arguments.each, &cluster, report) => done,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    let stopped = cluster.stop().await.context("stop the private PostgreSQL");
    // It stands elsewhere when PostgreSQL's user cannot enter the directory.
    let pgdata = cluster.pgdata().to_owned();
    if !pgdata.starts_with(place.path()) {
        let _ = std::fs::remove_dir_all(&pgdata);
        for extension in ["origin", "lock"] {
            let _ = std::fs::remove_file(pgdata.with_extension(extension));
        }
    }
    drop(cluster);
    place
        .close()
        .context("remove the directory of the benchmark")?;
    done.and(stopped)
}

async fn measure(size: usize, each: usize, cluster: &Cluster, report: &mut Report) -> Result<()> {
    let store = Store::open(cluster.connect_options(), 8);
    store.migrate().await?;
    let begun = Instant::now();
    let graph = Graph::new(size);
    let superuser = cluster
        .superuser_options()
        .database(qadra_store::cluster::DATABASE);
    let filled = fill::fill(&store, superuser, &graph).await?;
    eprintln!(
        "{size} statements stand after {} s; hub of {}",
        begun.elapsed().as_secs(),
        filled.largest_hub
    );
    let asked = questions::questions(&graph, each);
    let presence = Presence::announce(&cluster.connect_options()).await?;
    let bus: Arc<dyn Bus> = Arc::new(InProcess::new());
    let key = TokenKey::new(&[7; 64]).map_err(|f| anyhow::anyhow!("{}", f.detail))?;
    let app = App::new(
        store.clone(),
        bus.clone(),
        Arc::new(Builtin),
        key,
        Settings::default(),
        &presence,
    );
    let running = app.serve().await?;
    let asker = Asker {
        bus,
        ctx: Ctx {
            tenant_id: filled.tenant_id,
            actor: Actor {
                user_id: filled.user_id,
                role: Role::Owner,
                scopes: None,
            },
            request_id: new_id(),
        },
    };
    // Each statement is prepared once for a connection, and pages come into memory.
    for question in asked.iter().step_by(3) {
        asker.ask(&question.text).await?;
    }
    let groups = [
        ("postgres", cluster.pid(), true),
        ("core_and_client", std::process::id(), false),
    ];
    let before = Cpu::of(&groups);
    let one = asker.all(&asked, 1).await?;
    let cpu = Cpu::of(&groups).since(&before, asked.len());
    let four = asker.all(&asked, 4).await?;
    let steps = steps(&store, &asker.ctx, &asked).await?;
    for (way, times) in [("one at a time", &one), ("four at once", &four)] {
        let all: Sample = times.iter().map(|(_, time, _)| *time).collect();
        let about = |what: &str| format!("grounding, {size} statements, {way}, {what}");
        let goal = Some(goal(size)).filter(|_| way == "one at a time");
        report.add(
            "grounding_p50",
            about("p50"),
            (all.percentile(50), "ms"),
            None,
            json!({"statements": size}),
        );
        let mut detail = json!({"statements": size, "largest_hub": filled.largest_hub, "bytes": filled.bytes,
            "all": all.json(), "kinds": by_kind(times)});
        if way == "one at a time" {
            detail["cpu_ms_each"] = json!(cpu);
            detail["steps"] = steps.clone();
        }
        report.add(
            "grounding_p99",
            about("p99"),
            (all.percentile(99), "ms"),
            goal,
            detail,
        );
    }
    for kind in KINDS {
        let some: Sample = one
            .iter()
            .filter(|(k, ..)| *k == kind)
            .map(|(_, time, _)| *time)
            .collect();
        let about = format!(
            "grounding, {size} statements, {kind}, p99 (p50 {:.2})",
            some.percentile(50)
        );
        report.add(
            "grounding_kind_p99",
            about,
            (some.percentile(99), "ms"),
            None,
            json!({"statements": size, "kind": kind}),
        );
    }
    running.stop(Duration::from_secs(5)).await;
    presence.withdraw().await?;
    store.close().await;
    Ok(())
}

/// Kind, time and number of statements shown.
type Timed = (&'static str, Duration, usize);

fn by_kind(times: &[Timed]) -> Value {
    let mut kinds: BTreeMap<&str, Vec<&Timed>> = BTreeMap::new();
    for timed in times {
        kinds.entry(timed.0).or_default().push(timed);
    }
    kinds
        .into_iter()
        .map(|(kind, timed)| {
            let mut line = timed.iter().map(|t| t.1).collect::<Sample>().json();
            let shown = timed.iter().filter(|t| t.2 > 0).count();
            line["with_statements"] = rounded(shown as f64 / timed.len() as f64).into();
            (kind.to_owned(), line)
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

struct Asker {
    bus: Arc<dyn Bus>,
    ctx: Ctx,
}

impl Asker {
    async fn ask(&self, text: &str) -> Result<usize> {
        let subject = Subject::op(self.ctx.tenant_id, "knowledge", "query")?;
        let mut headers = Headers::default();
        headers.insert(ACTOR, &serde_json::to_string(&self.ctx.actor)?)?;
        let payload = Bytes::from(serde_json::to_vec(&json!({"query": text}))?);
        let message = self
            .bus
            .request(subject.as_str(), headers, payload, Duration::from_secs(60))
            .await?;
        let reply = Reply::<Value>::from_bytes(&message.payload)
            .into_result()
            .map_err(|f| anyhow::anyhow!("the core answered: {}", f.detail))?;
        Ok(reply["triples"].as_array().map_or(0, Vec::len))
    }

    async fn all(&self, asked: &[Asked], at_once: usize) -> Result<Vec<Timed>> {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let askers = (0..at_once).map(|_| async {
            let mut times = Vec::new();
            while let Some(question) =
                asked.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
            {
                let begun = Instant::now();
                let shown = self.ask(&question.text).await?;
                times.push((question.kind, begun.elapsed(), shown));
            }
            Ok::<_, anyhow::Error>(times)
        });
        let times: Vec<Timed> = futures::future::try_join_all(askers)
            .await?
            .into_iter()
            .flatten()
            .collect();
        if times.iter().all(|(_, _, shown)| *shown == 0) {
            bail!("grounding found nothing");
        }
        Ok(times)
    }
}

/// The steps of grounding one after the other, as the use case takes them, without the bus and the answer's JSON.
async fn steps(store: &Store, ctx: &Ctx, asked: &[Asked]) -> Result<Value> {
    let mut times: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let mut rows: Vec<usize> = Vec::new();
    for Asked { text, .. } in asked {
        let mut at = Instant::now();
        let mut lap = |step| {
            times.entry(step).or_default().push(at.elapsed());
            at = Instant::now();
        };
        let question = Question::parse(text);
        let keys = question.lookup_keys();
        lap("1 parse");
        let mut tx = store.tenant(ctx).await?;
        lap("2 open");
        let mut hits: Vec<NameHit> = tx.names_find(&keys).await?.into_iter().map(hit).collect();
        lap("3 names");
        let misspelt = question.fuzzy_keys(&hits);
        lap("4 fuzzy keys");
        if !misspelt.is_empty() {
            for row in tx.names_similar(&misspelt).await? {
                hits.push(NameHit {
                    target: NameTarget::Similar {
                        id: row.node_id,
                        label: row.label,
                        name: row.name,
                        similarity: 0.5,
                    },
                    key: row.key,
                });
            }
            lap("5 similar names");
        }
        let found = question.mentions(&hits);
        lap("6 mentions");
        let (nodes, mut predicates) = (found.node_ids(), found.predicate_ids());
        predicates.truncate((64 / nodes.len().max(1)).max(1));
        let mut triples = Vec::new();
        if !nodes.is_empty() || !predicates.is_empty() {
            let share = i64::try_from(if nodes.is_empty() {
                predicates.len()
            } else {
                nodes.len()
            })?;
            let many = nodes.len() > 8;
            let hops = if found.connects() && !many { 2 } else { 1 };
            let (fetched, least) = if many { (120, 3) } else { (200, 8) };
            let each = (fetched / share).clamp(least, 150);
            let around = tx.triples_around(&nodes, &predicates, each, hops).await?;
            lap("7 neighbourhood");
            rows.push(around.len());
            triples = around.into_iter().filter_map(statement).collect();
        }
        let options = qadra_epistemic::Options::default();
        let none = qadra_epistemic::PredicateFacts::default();
        let assessment = question.assess(&found, &triples, &none, &options);
        lap("8 assessment");
        let kept: Vec<&Triple> = assessment.triples.iter().map(|t| &t.triple).collect();
        if kept.len() > 1 {
            let ids: BTreeSet<Uuid> = kept.iter().map(|t| t.predicate_id).collect();
            let ids: Vec<Uuid> = ids.into_iter().collect();
            let counted: Vec<Uuid> = undecided(&kept).into_iter().collect();
            tx.predicate_uses(&ids, &counted).await?;
            lap("9 predicates");
        }
    }
    rows.sort_unstable();
    let mut steps: serde_json::Map<String, Value> = times
        .into_iter()
        .map(|(step, times)| {
            (
                step.to_owned(),
                times.into_iter().collect::<Sample>().json(),
            )
        })
        .collect();
    steps.insert(
        "rows".into(),
        json!({"p50": rows.get(rows.len() / 2), "max": rows.last()}),
    );
    Ok(steps.into())
}

fn statement(row: TripleRow) -> Option<Triple> {
    let object = match (row.object_node_id, row.object) {
        (Some(id), _) => Object::Node {
            id,
            label: row.object_label,
        },
        (None, object) => serde_json::from_value(object?).ok()?,
    };
    Some(Triple {
        id: row.id,
        subject: NodeRef {
            id: row.subject_id,
            label: row.subject_label,
        },
        predicate_id: row.predicate_id,
        predicate: row.predicate,
        object,
        polarity: Polarity::Positive,
        confidence: row.confidence,
        kind: Kind::Fact,
        source: row.source,
        valid_from: row.valid_from,
        valid_to: row.valid_to,
    })
}

fn hit(row: NameRow) -> NameHit {
    match row {
        NameRow::Node { key, id, label, .. } => NameHit {
            key,
            target: NameTarget::Node { id, label },
        },
        NameRow::Predicate { key, predicate } => NameHit {
            key,
            target: NameTarget::Predicate {
                id: predicate.id,
                name: predicate.name,
            },
        },
    }
}
