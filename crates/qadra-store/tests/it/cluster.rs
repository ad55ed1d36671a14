//! The private PostgreSQL, started for real in a temporary directory each time.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use qadra_store::cluster::{Cluster, ClusterError, Options};
use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions, Connection, Executor};
use tempfile::TempDir;

/// A directory as `mktemp -d` makes it: only its owner can enter.
fn data_dir() -> TempDir {
    let closed = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new()
        .permissions(closed)
        .tempdir()
        .unwrap()
}

/// Runs initdb as the product does.
fn first_options(dir: &Path) -> Options {
    Options {
        image: None,
        ..options(dir)
    }
}

/// Copies a finished cluster, because most tests are not about making one.
fn options(dir: &Path) -> Options {
    Options {
        image: Some(image()),
        stop_patience: Duration::from_secs(10),
        shared_buffers_mb: 16,
        ..Options::new(dir)
    }
}

fn image() -> PathBuf {
    static IMAGE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(qadra_testkit::db::image()).unwrap()
    };
    let made = || std::thread::spawn(make).join().unwrap();
    IMAGE.get_or_init(made).clone()
}

async fn start(dir: &Path) -> Cluster {
    let begun = Instant::now();
    let cluster = Cluster::start(options(dir)).await.unwrap();
    eprintln!("started in {} ms", begun.elapsed().as_millis());
    cluster
}

async fn owner(cluster: &Cluster) -> PgConnection {
    cluster.connect_options().connect().await.unwrap()
}

async fn rows(cluster: &Cluster) -> i64 {
    let mut connection = owner(cluster).await;
    let table: bool = sqlx::query_scalar("SELECT to_regclass('kept') IS NOT NULL")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    if !table {
        return 0;
    }
    sqlx::query_scalar("SELECT count(*) FROM kept")
        .fetch_one(&mut connection)
        .await
        .unwrap()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Waits for something that another process does; fails loudly when it never comes.
fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "never happened: {what}"
        );
        #[expect(
            clippy::disallowed_methods,
            reason = "polls a file that another process writes"
        )]
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// A qadra to be killed: this test binary again, running [`parent`] on a data directory.
struct Parent {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Parent {
    fn on(dir: &Path) -> Self {
        Self::with("QADRA_CLUSTER_PARENT", dir)
    }

    /// Runs initdb on the way.
    fn first_on(dir: &Path) -> Self {
        Self::with("QADRA_CLUSTER_FIRST_PARENT", dir)
    }

    fn with(variable: &str, dir: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "cluster::parent", "--ignored", "--nocapture"])
            .env(variable, dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// What follows `word` on the next line that has it.
    fn wait_for(&mut self, word: &str) -> String {
        self.lines
            .by_ref()
            .map(Result::unwrap)
            .find_map(|line| Some(line.split_once(word)?.1.trim().to_owned()))
            .unwrap_or_else(|| panic!("the parent ended without saying {word}"))
    }

    fn say_stop(&mut self) {
        writeln!(self.child.stdin.as_mut().unwrap(), "stop").unwrap();
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "not a test: the process that the tests here start and kill"]
fn parent() {
    let options = match (
        std::env::var_os("QADRA_CLUSTER_PARENT"),
        std::env::var_os("QADRA_CLUSTER_FIRST_PARENT"),
    ) {
        (Some(dir), _) => options(Path::new(&dir)),
        (_, Some(dir)) => first_options(Path::new(&dir)),
        _ => return,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let cluster = Cluster::start(options).await.unwrap();
        println!("\nready {}", cluster.pid());
        let mut connection = owner(&cluster).await;
        connection
            .execute("CREATE TABLE IF NOT EXISTS kept (id int GENERATED ALWAYS AS IDENTITY)")
            .await
            .unwrap();
        let (told, stop) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).unwrap();
            let _ = told.send(());
        });
        let mut count = rows(&cluster).await;
        while stop.try_recv().is_err() {
            connection
                .execute("INSERT INTO kept DEFAULT VALUES")
                .await
                .unwrap();
            count += 1;
            println!("row {count}");
        }
        println!("stopping");
        cluster.stop().await.unwrap();
        println!("stopped");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn first_start_makes_what_the_product_needs_and_a_restart_keeps_it() {
    let dir = data_dir();
    let cluster = Cluster::start(first_options(dir.path())).await.unwrap();
    let mut connection = owner(&cluster).await;
    let role: (String, bool, bool, bool, bool) = sqlx::query_as(
        "SELECT current_user::text, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb
         FROM pg_roles WHERE rolname = current_user",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(role, ("qadra".to_owned(), false, false, true, false));
    for (setting, value) in [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("listen_addresses", ""),
        ("server_encoding", "UTF8"),
        ("TimeZone", "UTC"),
        ("jit", "off"),
        ("max_connections", "60"),
    ] {
        let found: String = sqlx::query_scalar("SELECT current_setting($1)")
            .bind(setting)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(found, value, "{setting}");
    }
    let folded: String = sqlx::query_scalar("SELECT lower('ÀÉ')")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(folded, "àé");
    connection
        .execute(
            "CREATE EXTENSION pg_trgm; CREATE ROLE kept_app NOLOGIN; GRANT kept_app TO qadra;
             CREATE TABLE kept (id int); INSERT INTO kept VALUES (1); SET ROLE kept_app",
        )
        .await
        .unwrap();
    connection.close().await.unwrap();
    let mut superuser = cluster.superuser_options().connect().await.unwrap();
    let is_superuser: String = sqlx::query_scalar("SELECT current_setting('is_superuser')")
        .fetch_one(&mut superuser)
        .await
        .unwrap();
    assert_eq!(is_superuser, "on");
    drop(superuser);

    cluster.stop().await.unwrap();
    let exit = cluster.watch().exited().await;
    assert!(exit.asked && exit.status.success(), "{exit:?}");
    drop(cluster);
    let cluster = start(dir.path()).await;
    assert_eq!(rows(&cluster).await, 1);
    cluster.stop().await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn postgres_has_no_root_identity_and_no_foreign_files() {
    let dir = data_dir();
    let cluster = start(dir.path()).await;
    let process = PathBuf::from(format!("/proc/{}", cluster.pid()));
    let status = fs::read_to_string(process.join("status")).unwrap();
    let line = |name: &str| {
        let found = status.lines().find_map(|line| line.strip_prefix(name));
        found
            .unwrap()
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let owner = fs::metadata(cluster.pgdata()).unwrap().uid().to_string();
    assert_eq!(line("Uid:"), vec![owner.clone(); 4]);
    if is_root() {
        assert_ne!(owner, "0");
        assert!(!line("Gid:").contains(&"0".to_owned()));
        assert_eq!(line("Groups:"), Vec::<String>::new());
        assert_eq!(line("CapEff:"), ["0000000000000000"]);
    }
    let open: Vec<PathBuf> = fs::read_dir(process.join("fd"))
        .unwrap()
        .filter_map(|fd| fs::read_link(fd.unwrap().path()).ok())
        .collect();
    assert!(
        !open.iter().any(|file| file.ends_with("qadra.lock")),
        "{open:?}"
    );
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_is_refused_with_directory_and_pid() {
    let dir = data_dir();
    let mut parent = Parent::on(dir.path());
    parent.wait_for("row 1");
    let error = Cluster::start(options(dir.path())).await.unwrap_err();
    let pid = parent.child.id();
    assert!(
        matches!(error, ClusterError::Locked { pid: Some(found), .. } if found == pid),
        "{error:?}"
    );
    let message = error.to_string();
    let path = fs::canonicalize(dir.path()).unwrap();
    assert!(message.contains(path.to_str().unwrap()), "{message}");
    assert!(message.contains(&pid.to_string()), "{message}");
    // The refused start has disturbed nothing.
    parent.wait_for("row ");
    parent.say_stop();
    parent.wait_for("stopped");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_killed_while_it_makes_the_cluster_leaves_a_startable_directory() {
    for made in [
        "qadra.lock",
        "pg.init",
        "pg.init/PG_VERSION",
        "pg.init/base/4",
        "pg",
        "log",
    ] {
        let dir = data_dir();
        let parent = Parent::first_on(dir.path());
        until(made, || dir.path().join(made).exists());
        parent.kill();
        let cluster = start(dir.path()).await;
        assert_eq!(rows(&cluster).await, 0, "{made}");
        assert!(!dir.path().join("pg.init").exists());
        cluster.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_killed_in_service_loses_no_committed_row() {
    let dir = data_dir();
    let mut committed = 0;
    for round in 0..4 {
        let mut parent = Parent::on(dir.path());
        parent.wait_for("ready");
        for _ in 0..(round * 20 + 1) {
            committed = parent.wait_for("row ").parse().unwrap();
        }
        parent.kill();
    }
    let cluster = start(dir.path()).await;
    assert!(rows(&cluster).await >= committed);
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_killed_while_postgres_starts_or_stops_leaves_a_startable_directory() {
    let dir = data_dir();
    let mut parent = Parent::on(dir.path());
    let committed: i64 = parent.wait_for("row ").parse().unwrap();
    parent.say_stop();
    parent.wait_for("stopping");
    parent.kill();

    let parent = Parent::on(dir.path());
    let lock = dir.path().join("qadra.lock");
    let pid = format!("{}\n", parent.child.id());
    until("the lock is taken", || {
        fs::read_to_string(&lock).is_ok_and(|text| text == pid)
    });
    until("PostgreSQL starts", || {
        dir.path().join("pg/postmaster.pid").exists()
    });
    parent.kill();

    let cluster = start(dir.path()).await;
    assert!(rows(&cluster).await >= committed);
    cluster.stop().await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn postgres_shuts_down_by_itself_when_its_parent_is_killed() {
    let dir = data_dir();
    let mut parent = Parent::on(dir.path());
    let postmaster: u32 = parent.wait_for("ready").parse().unwrap();
    parent.wait_for("row ");
    parent.kill();
    until("the postmaster ends", || !alive(postmaster));
    // A fast shutdown removes the file; a crash would have left it.
    assert!(!dir.path().join("pg/postmaster.pid").exists());
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn everything_killed_at_once_is_recovered_from_the_log() {
    let dir = data_dir();
    let mut parent = Parent::on(dir.path());
    let postmaster: u32 = parent.wait_for("ready").parse().unwrap();
    for _ in 0..20 {
        parent.wait_for("row ");
    }
    let committed: i64 = parent.wait_for("row ").parse().unwrap();
    for pid in workers_of(&fs::canonicalize(dir.path().join("pg")).unwrap()) {
        signal(pid, rustix::process::Signal::KILL);
    }
    parent.kill();
    until("the postmaster ends", || !alive(postmaster));
    let cluster = start(dir.path()).await;
    assert!(rows(&cluster).await >= committed);
    cluster.stop().await.unwrap();
}

fn workers_of(pgdata: &Path) -> Vec<u32> {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == pgdata)
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_pid_file_of_any_kind_is_no_obstacle() {
    let dir = data_dir();
    let cluster = start(dir.path()).await;
    let pgdata = cluster.pgdata().to_owned();
    let owner = fs::metadata(&pgdata).unwrap();
    cluster.stop().await.unwrap();
    drop(cluster);
    let mut ended = Command::new("true").spawn().unwrap();
    let gone = ended.id();
    ended.wait().unwrap();
    let of = |pid: u32| {
        format!(
            "{pid}\n{}\n1700000000\n5432\n\n\n\nready   \n",
            pgdata.display()
        )
    };
    for content in [
        String::new(),
        "garbage \u{0}\n\n\n".to_owned(),
        of(gone),
        of(1),
    ] {
        let file = pgdata.join("postmaster.pid");
        fs::write(&file, &content).unwrap();
        chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
        let cluster = start(dir.path()).await;
        cluster.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reused_pid_does_not_cost_an_innocent_process_its_life() {
    let dir = data_dir();
    let cluster = start(dir.path()).await;
    let pgdata = cluster.pgdata().to_owned();
    let owner = fs::metadata(&pgdata).unwrap();
    cluster.stop().await.unwrap();
    drop(cluster);
    // Of the same user, and even in the same directory: PostgreSQL alone would refuse to start.
    let mut innocent = Command::new("sleep");
    innocent.arg("600").current_dir(&pgdata);
    if is_root() {
        innocent.uid(owner.uid()).gid(owner.gid());
    }
    let mut innocent = innocent.spawn().unwrap();
    let file = pgdata.join("postmaster.pid");
    let content = format!(
        "{}\n{}\n1700000000\n5432\n",
        innocent.id(),
        pgdata.display()
    );
    // The socket has a pid file too.
    let socket = dir.path().join("run/.s.PGSQL.5432.lock");
    for file in [file, socket] {
        fs::write(&file, &content).unwrap();
        chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    let cluster = start(dir.path()).await;
    assert_eq!(innocent.try_wait().unwrap(), None);
    cluster.stop().await.unwrap();
    assert_eq!(innocent.try_wait().unwrap(), None);
    innocent.kill().unwrap();
    innocent.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_postmaster_that_another_left_running_is_stopped() {
    let dir = data_dir();
    let cluster = start(dir.path()).await;
    let pgdata = cluster.pgdata().to_owned();
    let owner = fs::metadata(&pgdata).unwrap();
    let program = fs::read_link(format!("/proc/{}/exe", cluster.pid())).unwrap();
    cluster.stop().await.unwrap();
    drop(cluster);
    let mut command = Command::new(program);
    command
        .arg("-D")
        .arg(&pgdata)
        .args(["-c", "listen_addresses=", "-c", "unix_socket_directories=."])
        .current_dir("/")
        .stderr(Stdio::null());
    if is_root() {
        command.uid(owner.uid()).gid(owner.gid());
    }
    let mut orphan = command.spawn().unwrap();
    until("the orphan serves", || {
        fs::read_to_string(pgdata.join("postmaster.pid")).is_ok_and(|text| text.contains("ready"))
    });
    // The test is its parent and has to collect it, or it would stay a zombie; start must not mind either way.
    let cluster = start(dir.path()).await;
    assert!(orphan.wait().unwrap().success());
    cluster.stop().await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_postmaster_killed_under_an_open_backend_is_reported_and_recovered() {
    let dir = data_dir();
    let cluster = start(dir.path()).await;
    let mut connection = owner(&cluster).await;
    connection
        .execute("CREATE TABLE kept (id int); INSERT INTO kept VALUES (1)")
        .await
        .unwrap();
    let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    let backend = u32::try_from(backend).unwrap();
    // A stopped backend cannot notice that its postmaster is gone, as a busy one would not for long.
    signal(backend, rustix::process::Signal::STOP);
    let mut watch = cluster.watch();
    signal(cluster.pid(), rustix::process::Signal::KILL);
    let exit = watch.exited().await;
    assert!(!exit.asked, "{exit:?}");
    assert!(alive(backend));
    drop(cluster);

    let cluster = start(dir.path()).await;
    assert!(!alive(backend));
    assert_eq!(rows(&cluster).await, 1);
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_postgres_cannot_enter_keeps_its_cluster_elsewhere() {
    if !is_root() {
        return;
    }
    // As pytest leaves it for root: the parent is closed and not ours to open.
    let closed = data_dir();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::set_permissions(elsewhere.path(), fs::Permissions::from_mode(0o711)).unwrap();
    let dir = closed.path().join("data");
    let options = || Options {
        elsewhere: elsewhere.path().join("clusters"),
        ..options(&dir)
    };
    let cluster = Cluster::start(options()).await.unwrap();
    owner(&cluster)
        .await
        .execute("CREATE TABLE kept (id int); INSERT INTO kept VALUES (1)")
        .await
        .unwrap();
    let mode = fs::metadata(closed.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let target = fs::read_link(dir.join("pg")).unwrap();
    assert!(target.starts_with(elsewhere.path()), "{target:?}");
    cluster.stop().await.unwrap();
    drop(cluster);

    // A copy of the data directory leads to the same cluster, which must not run twice.
    let cluster = Cluster::start(options()).await.unwrap();
    assert_eq!(rows(&cluster).await, 1);
    let copy = closed.path().join("copy");
    fs::create_dir(&copy).unwrap();
    std::os::unix::fs::symlink(&target, copy.join("pg")).unwrap();
    let error = Cluster::start(super::cluster::options(&copy))
        .await
        .unwrap_err();
    assert!(matches!(error, ClusterError::Locked { .. }), "{error:?}");
    cluster.stop().await.unwrap();
    drop(cluster);

    // Nor is a new one made when the old one is out of reach.
    fs::rename(&target, target.with_extension("away")).unwrap();
    let error = Cluster::start(options()).await.unwrap_err();
    assert!(
        matches!(error, ClusterError::NotACluster { .. }),
        "{error:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_too_long_for_a_socket_works() {
    let root = data_dir();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let dir = root
        .path()
        .join("d".repeat(120))
        .join("with space, comma \"and\" quote");
    fs::create_dir_all(&dir).unwrap();
    let cluster = start(&dir).await;
    assert_eq!(rows(&cluster).await, 0);
    let again = cluster
        .superuser_url()
        .parse::<sqlx::postgres::PgConnectOptions>()
        .unwrap();
    again.connect().await.unwrap().close().await.unwrap();
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_path_with_special_characters_works() {
    let root = data_dir();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let dir = root.path().join("a b,\"c\" é%");
    let cluster = start(&dir).await;
    assert!(dir.join("run/.s.PGSQL.5432").exists());
    let again = cluster
        .superuser_url()
        .parse::<sqlx::postgres::PgConnectOptions>()
        .unwrap();
    again.connect().await.unwrap().close().await.unwrap();
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn loopback_asks_for_the_password_of_this_start() {
    let dir = data_dir();
    for _ in 0..2 {
        let cluster = Cluster::start(Options {
            loopback: true,
            ..options(dir.path())
        })
        .await
        .unwrap();
        assert_eq!(rows(&cluster).await, 0);
        let url = cluster.superuser_url();
        let options = url.parse::<sqlx::postgres::PgConnectOptions>().unwrap();
        options
            .clone()
            .connect()
            .await
            .unwrap()
            .close()
            .await
            .unwrap();
        assert!(options.password("wrong").connect().await.is_err());
        assert!(
            cluster
                .connect_options()
                .password("wrong")
                .connect()
                .await
                .is_err()
        );
        cluster.stop().await.unwrap();
    }
    // The same directory serves over its socket again.
    let cluster = start(dir.path()).await;
    assert_eq!(rows(&cluster).await, 0);
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_binaries_are_told_before_anything_is_made() {
    let dir = data_dir();
    let bin_dir = Some(PathBuf::from("/nonexistent/bin"));
    let error = Cluster::start(Options {
        bin_dir,
        ..options(dir.path())
    })
    .await
    .unwrap_err();
    let message = error.to_string();
    assert!(message.contains("looked in /nonexistent/bin"), "{message}");
    assert!(message.contains("install postgresql"), "{message}");
    assert!(!dir.path().join("pg").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_of_another_version_is_refused_and_left_alone() {
    let dir = data_dir();
    start(dir.path()).await.stop().await.unwrap();
    let version = dir.path().join("pg/PG_VERSION");
    fs::write(&version, "9\n").unwrap();
    let error = Cluster::start(options(dir.path())).await.unwrap_err();
    assert!(
        matches!(error, ClusterError::VersionMismatch { cluster: 9, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("pg_upgrade"), "{error}");
    assert_eq!(fs::read_to_string(version).unwrap(), "9\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_no_cluster_is_refused_and_left_alone() {
    let dir = data_dir();
    let kept = dir.path().join("pg/thesis.txt");
    fs::create_dir(dir.path().join("pg")).unwrap();
    fs::write(&kept, "years of work").unwrap();
    let error = Cluster::start(options(dir.path())).await.unwrap_err();
    assert!(
        matches!(error, ClusterError::NotACluster { .. }),
        "{error:?}"
    );
    assert_eq!(fs::read_to_string(kept).unwrap(), "years of work");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_fails_says_what_postgres_said() {
    let dir = data_dir();
    start(dir.path()).await.stop().await.unwrap();
    fs::write(
        dir.path().join("pg/postgresql.conf"),
        "no_such_setting = 1\n",
    )
    .unwrap();
    let error = Cluster::start(options(dir.path())).await.unwrap_err();
    assert!(
        matches!(error, ClusterError::EndedEarly { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("no_such_setting"), "{error}");
    // The failed start holds nothing.
    fs::write(dir.path().join("pg/postgresql.conf"), "").unwrap();
    start(dir.path()).await.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_cluster_stops() {
    let dir = data_dir();
    let cluster = start(dir.path()).await;
    let mut watch = cluster.watch();
    drop(cluster);
    assert!(watch.exited().await.status.success());
}
