use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::ClusterError;

/// The oldest release that the tests run against: Debian 12 has it.
const MINIMUM: u32 = 15;

const INSTALL: &str = if cfg!(target_os = "macos") {
    "brew install postgresql@16"
} else {
    "apt-get install postgresql"
};

/// Folders whose entries are one PostgreSQL version each, with `bin` below.
const VERSIONED: [&str; 5] = [
    "/usr/lib/postgresql",
    "/usr/local/lib/postgresql",
    "/opt/homebrew/opt",
    "/usr/local/opt",
    "/Applications/Postgres.app/Contents/Versions",
];

/// One installed PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binaries {
    dir: PathBuf,
    pub(super) major: u32,
}

impl Binaries {
    pub(super) fn postgres(&self) -> PathBuf {
        self.dir.join("postgres")
    }

    pub(super) fn initdb(&self) -> PathBuf {
        self.dir.join("initdb")
    }

    /// The installation for a cluster of version `cluster`, or the preferred one for a new cluster. `only` limits
    /// the search to one folder.
    pub(super) fn find(
        only: Option<&Path>,
        cluster: Option<(&Path, u32)>,
    ) -> Result<Self, ClusterError> {
        let places = match only {
            Some(dir) => vec![(dir.display().to_string(), vec![dir.to_owned()])],
            None => usual_places(),
        };
        choose(&places, cluster)
    }
}

/// Places in order of preference: what was said (`PATH`), and the folders it stands for.
type Places = Vec<(String, Vec<PathBuf>)>;

fn choose(places: &Places, cluster: Option<(&Path, u32)>) -> Result<Binaries, ClusterError> {
    let mut seen = BTreeSet::new();
    let mut installed = BTreeSet::new();
    for dir in places.iter().flat_map(|(_, dirs)| dirs) {
        let Some(found) = inspect(dir) else { continue };
        if !seen.insert(found.dir.clone()) {
            continue;
        }
        installed.insert(found.major);
        let fits = match cluster {
            Some((_, major)) => found.major == major,
            None => found.major >= MINIMUM,
        };
        if fits {
            return Ok(found);
        }
    }
    match cluster {
        Some((dir, major)) if !installed.is_empty() => Err(ClusterError::VersionMismatch {
            dir: dir.to_owned(),
            cluster: major,
            installed: installed
                .iter()
                .map(u32::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        }),
        _ => Err(ClusterError::MissingBinaries {
            minimum: MINIMUM,
            searched: places
                .iter()
                .map(|(name, _)| name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
            install: INSTALL,
        }),
    }
}

fn usual_places() -> Places {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = vec![("PATH".to_owned(), std::env::split_paths(&path).collect())];
    places.push((
        "`pg_config --bindir`".to_owned(),
        pg_config().into_iter().collect(),
    ));
    for root in VERSIONED {
        let root = Path::new(root);
        let shown = format!("{}/*/bin", root.display());
        if cfg!(target_os = "macos") || root.starts_with("/usr") {
            places.push((shown, versions_below(root)));
        }
    }
    let rpm = (MINIMUM..MINIMUM + 20)
        .rev()
        .map(|major| PathBuf::from(format!("/usr/pgsql-{major}/bin")))
        .collect();
    places.push(("/usr/pgsql-*/bin".to_owned(), rpm));
    places
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let dir = text.trim();
    (!dir.is_empty()).then(|| PathBuf::from(dir))
}

fn versions_below(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((version_in_name(&entry.file_name())?, entry.path())))
        .collect();
    found.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
    found
        .into_iter()
        .map(|(_, path)| path.join("bin"))
        .collect()
}

/// `16` and `postgresql@16` are versions, `python@3.12` and `latest` are not.
fn version_in_name(name: &OsStr) -> Option<u32> {
    let name = name.to_str()?;
    name.strip_prefix("postgresql@")
        .unwrap_or(name)
        .parse()
        .ok()
}

fn inspect(dir: &Path) -> Option<Binaries> {
    // Debian's and Homebrew's entries in PATH are links; postgres looks for initdb and its library folder beside
    // the real file, so the real folder is what counts.
    let real = fs::canonicalize(dir.join("postgres")).ok()?;
    let dir = real.parent()?.to_owned();
    if !dir.join("initdb").is_file() {
        return None;
    }
    let output = Command::new(&real)
        .arg("--version")
        .env("LC_ALL", "C")
        .output()
        .ok()?;
    let major = major_of(std::str::from_utf8(&output.stdout).ok()?)?;
    Some(Binaries { dir, major })
}

/// `postgres (PostgreSQL) 15.18 (Debian 15.18-0)`, `postgres (PostgreSQL) 18beta1`.
fn major_of(version: &str) -> Option<u32> {
    let word = version.split("(PostgreSQL) ").nth(1)?;
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn fake(root: &Path, name: &str, version: &str) -> PathBuf {
        let dir = root.join(name);
        fs::create_dir_all(&dir).unwrap();
        for program in ["postgres", "initdb"] {
            let file = dir.join(program);
            fs::write(
                &file,
                format!("#!/bin/sh\necho '{program} (PostgreSQL) {version}'\n"),
            )
            .unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::canonicalize(dir).unwrap()
    }

    #[test]
    fn versions_are_read_from_the_banner() {
        assert_eq!(
            major_of("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"),
            Some(15)
        );
        assert_eq!(major_of("postgres (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(major_of("psql 15"), None);
    }

    #[test]
    fn a_cluster_gets_its_own_version_and_a_new_one_the_first_that_is_recent_enough() {
        let root = tempfile::tempdir().unwrap();
        let old = fake(root.path(), "a", "14.2");
        let first = fake(root.path(), "b", "16.1");
        let other = fake(root.path(), "c", "17.0");
        let places = vec![("here".to_owned(), vec![old, first.clone(), other.clone()])];
        assert_eq!(choose(&places, None).unwrap().dir, first);
        let cluster = Path::new("/data/pg");
        assert_eq!(choose(&places, Some((cluster, 17))).unwrap().dir, other);
        let error = choose(&places, Some((cluster, 15)))
            .unwrap_err()
            .to_string();
        insta::assert_snapshot!(error, @"/data/pg was made by PostgreSQL 15, but only 14, 16, 17 is installed; hint: install PostgreSQL 15, or move the data with `pg_upgrade` or with `pg_dump` from 15 into a new data directory");
    }

    #[test]
    fn missing_binaries_name_every_place_and_the_command() {
        let places = vec![
            ("PATH".to_owned(), vec![]),
            ("/usr/lib/postgresql/*/bin".to_owned(), vec![]),
        ];
        let error = choose(&places, None).unwrap_err().to_string();
        assert!(
            error.contains("looked in PATH, /usr/lib/postgresql/*/bin"),
            "{error}"
        );
        assert!(error.contains(INSTALL), "{error}");
    }
}
