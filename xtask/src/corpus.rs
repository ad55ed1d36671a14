//! What fuzzing has found worth keeping: one file for each target instead of thousands, one input a line. A line is a
//! JSON string whose characters stand for bytes, so that most inputs can be read in a diff.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// `corpus unpack FILE DIR` writes the inputs as files, `corpus pack DIR FILE` the other way.
pub fn run(arguments: &[String]) -> Result<()> {
    match arguments {
        [verb, file, dir] if verb == "unpack" => unpack(Path::new(file), Path::new(dir)),
        [verb, dir, file] if verb == "pack" => pack(Path::new(dir), Path::new(file)),
        _ => bail!("usage: cargo run -p xtask -- corpus unpack FILE DIR | pack DIR FILE"),
    }
}

fn unpack(file: &Path, dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    for (number, line) in text.lines().enumerate() {
        let bytes = bytes_of(line)
            .with_context(|| format!("read line {} of {}", number + 1, file.display()))?;
        let path = dir.join(format!("{number:06}"));
        fs::write(&path, bytes).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn pack(dir: &Path, file: &Path) -> Result<()> {
    // Sorted by length, then by content: the same inputs give the same file.
    let mut inputs = BTreeSet::new();
    for entry in fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))? {
        let path = entry?.path();
        let bytes = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        inputs.insert((bytes.len(), bytes));
    }
    let mut text = String::new();
    for (_, bytes) in &inputs {
        text += &line_of(bytes)?;
        text.push('\n');
    }
    fs::write(file, text).with_context(|| format!("write {}", file.display()))
}

fn line_of(bytes: &[u8]) -> Result<String> {
    let written: String = bytes.iter().map(|&b| char::from(b)).collect();
    Ok(serde_json::to_string(&written)?)
}

fn bytes_of(line: &str) -> Result<Vec<u8>> {
    let written: String = serde_json::from_str(line)?;
    let bytes = written
        .chars()
        .map(|c| u8::try_from(c).with_context(|| format!("{c:?} stands for no byte")));
    bytes.collect()
}

#[test]
fn any_bytes_are_a_line_and_back() {
    let all: Vec<u8> = (0..=255).collect();
    for bytes in [&b""[..], b"plain text\n", &all] {
        let line = line_of(bytes).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(bytes_of(&line).unwrap(), bytes);
    }
    assert!(bytes_of("\"\u{100}\"").is_err());
}
