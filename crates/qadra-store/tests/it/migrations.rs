//! From nothing to the newest schema, by however many processes at once.

use qadra_store::{PgConnectOptions, Store};
use qadra_testkit::db::TestDb;

use super::bed::{connect, join_all};

async fn empty() -> TestDb {
    TestDb::with("empty", async |_: PgConnectOptions| Ok(())).await
}

async fn applied(db: &TestDb) -> Vec<(i64, bool)> {
    let mut session = connect(&db.options()).await;
    sqlx::query_as("SELECT version, success FROM _sqlx_migrations ORDER BY version")
        .fetch_all(&mut session)
        .await
        .unwrap()
}

fn known() -> Vec<(i64, bool)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
    let mut versions: Vec<(i64, bool)> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|file| {
            let name = file.unwrap().file_name().into_string().unwrap();
            name.ends_with(".sql")
                .then(|| (name.split('_').next().unwrap().parse().unwrap(), true))
        })
        .collect();
    versions.sort_unstable();
    versions
}

#[tokio::test]
async fn an_empty_database_reaches_the_newest_schema_and_a_second_run_changes_nothing() {
    let db = empty().await;
    let store = Store::open(db.options(), 2);
    store.migrate().await.unwrap();
    assert_eq!(applied(&db).await, known());
    store.migrate().await.unwrap();
    assert_eq!(applied(&db).await, known());
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_migrate_the_same_database_at_once() {
    let db = empty().await;
    let options = db.options();
    let runs = (0..6).map(|_| {
        let store = Store::open(options.clone(), 2);
        async move { store.migrate().await.map(|()| store) }
    });
    for run in join_all(runs).await {
        run.unwrap().close().await;
    }
    assert_eq!(applied(&db).await, known());
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_of_one_server_migrate_at_once_although_they_share_the_roles() {
    let databases = [empty().await, empty().await, empty().await];
    let runs: Vec<_> = databases
        .iter()
        .map(|db| Store::open(db.options(), 2))
        .collect();
    for run in join_all(
        runs.into_iter()
            .map(|store| async move { store.migrate().await }),
    )
    .await
    {
        run.unwrap();
    }
    for db in &databases {
        assert_eq!(applied(db).await, known());
    }
}
