use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// What a figure depends on and the benchmark cannot choose.
pub(crate) fn facts(dir: &Path) -> Value {
    json!({
        "cores": cores(),
        "processor": field("/proc/cpuinfo", "model name"),
        "memory": field("/proc/meminfo", "MemTotal"),
        "kernel": fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim(),
        "load_at_start": load(),
        "file_system": file_system(dir),
    })
}

pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// The average number of runnable processes over the last minute.
pub(crate) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split(' ').next().unwrap_or_default();
    first.parse().unwrap_or(-1.0)
}

/// The type of the file system that holds `dir`: on one in memory, a commit waits for no disk.
pub(crate) fn file_system(dir: &Path) -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let (at, kind) = (words.next()?, words.next()?);
            dir.starts_with(at).then_some((at.len(), kind))
        })
        .max_by_key(|(length, _)| *length)
        .map_or("unknown".to_owned(), |(_, kind)| kind.to_owned())
}

fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
}
