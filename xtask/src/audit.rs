use anyhow::{Result, bail};
use serde_json::Value;

use crate::metadata::{cargo_metadata, list, text};

/// Licences that Apache-2.0 software may be distributed with.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that must not come back, with the reason.
const BANNED: &[(&str, &str)] = &[
    ("openssl", "one TLS stack (rustls) in one process"),
    ("native-tls", "one TLS stack (rustls) in one process"),
    (
        "aws-lc-rs",
        "one crypto provider (ring), which needs no C++ tool chain",
    ),
    (
        "handlebars",
        "recursive partials overflow the stack of a tenant's template",
    ),
];

/// Judges every package that the workspace can build with: its source, its licence, its name.
pub(crate) fn run() -> Result<()> {
    let metadata = cargo_metadata()?;
    let (mut problems, mut count) = (Vec::new(), 0);
    for package in list(&metadata, "packages") {
        count += 1;
        problems.extend(judge(package));
    }
    if !problems.is_empty() {
        bail!(
            "{} problems in the dependency tree:\n  {}",
            problems.len(),
            problems.join("\n  ")
        );
    }
    println!("audit: {count} packages, every source, licence and name is allowed");
    Ok(())
}

fn judge(package: &Value) -> Vec<String> {
    let name = format!("{} {}", text(package, "name"), text(package, "version"));
    let mut problems = Vec::new();
    if let Some((_, reason)) = BANNED
        .iter()
        .find(|(banned, _)| *banned == text(package, "name"))
    {
        problems.push(format!("{name} is banned: {reason}"));
    }
    let source = text(package, "source");
    if !source.is_empty() && !source.starts_with("registry+") && !source.starts_with("sparse+") {
        problems.push(format!("{name} comes from {source}, not from the registry"));
    }
    let licence = text(package, "license");
    if !allowed(licence) {
        problems.push(format!("{name} has the licence {licence:?}"));
    }
    problems
}

/// Whether one alternative of an SPDX expression consists of allowed licences only.
fn allowed(expression: &str) -> bool {
    let flat = expression.replace('/', " OR ").replace(['(', ')'], "");
    flat.split(" OR ")
        .any(|way| way.split(" AND ").all(|l| LICENCES.contains(&l.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_allowed_alternative_is_enough_and_every_part_of_it_counts() {
        assert!(allowed("MIT OR GPL-3.0-only") && allowed("MIT/Apache-2.0"));
        assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!allowed("GPL-3.0-only") && !allowed("MIT AND GPL-3.0-only") && !allowed(""));
    }

    #[test]
    fn a_banned_crate_and_a_foreign_source_are_named() {
        let p = serde_json::json!({"name": "openssl", "version": "1.0.0", "license": "MIT", "source": "git+ssh://x"});
        let problems = judge(&p);
        assert_eq!(problems.len(), 2, "{problems:?}");
    }
}
