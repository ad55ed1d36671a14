use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Beyond this size the log moves to `postgres.log.1`, so both together stay near twice of it.
const BOUND: u64 = 10 * 1024 * 1024;
const TAIL_BYTES: u64 = 4 * 1024;

/// The server's stderr in a file of bounded size.
///
/// The server writes to the file itself, not through us, so that its last words survive our death. It is opened
/// for appending, therefore the file can be emptied under the writer.
#[derive(Debug)]
pub(super) struct ServerLog {
    path: PathBuf,
    /// Where this start's lines begin.
    begin: u64,
}

impl ServerLog {
    pub(super) fn open(path: PathBuf) -> io::Result<(Self, File)> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)?;
        let mut log = Self { path, begin: 0 };
        log.keep_bounded()?;
        log.begin = file.metadata()?.len();
        Ok((log, file))
    }

    /// Copies and empties the file if it is too long. Lines that arrive between the two are lost.
    pub(super) fn keep_bounded(&self) -> io::Result<()> {
        keep_bounded(&self.path, BOUND)
    }

    /// The last lines since this start, for an error message.
    pub(super) fn tail(&self) -> String {
        tail(&self.path, self.begin).unwrap_or_default()
    }
}

fn keep_bounded(path: &Path, bound: u64) -> io::Result<()> {
    if fs::metadata(path)?.len() <= bound {
        return Ok(());
    }
    let mut old = path.as_os_str().to_owned();
    old.push(".1");
    fs::copy(path, old)?;
    OpenOptions::new().write(true).open(path)?.set_len(0)
}

fn tail(path: &Path, begin: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let begin = if begin > length { 0 } else { begin };
    file.seek(SeekFrom::Start(
        begin.max(length.saturating_sub(TAIL_BYTES)),
    ))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(10);
    Ok(lines.get(first..).unwrap_or_default().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_long_log_is_moved_aside_while_its_writer_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("postgres.log");
        let mut writer = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .unwrap();
        writeln!(writer, "first").unwrap();
        keep_bounded(&path, 100).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first\n");
        keep_bounded(&path, 3).unwrap();
        writeln!(writer, "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second\n");
        assert_eq!(
            fs::read_to_string(dir.path().join("postgres.log.1")).unwrap(),
            "first\n"
        );
    }

    #[test]
    fn the_tail_is_the_end_of_this_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("postgres.log");
        fs::write(&path, "before\n").unwrap();
        let (log, mut file) = ServerLog::open(path).unwrap();
        for line in 0..20 {
            writeln!(file, "{line}").unwrap();
        }
        assert_eq!(log.tail(), "10\n11\n12\n13\n14\n15\n16\n17\n18\n19");
    }
}
