//! The secret that signs access tokens, made once per data directory.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, Result};
use rand::RngExt;
use sha2::{Digest, Sha256};

/// Reads the secret, or makes one. It appears under its name whole, so a crash leaves no half of it.
pub(crate) fn token_secret(data_dir: &Path) -> Result<Vec<u8>> {
    let dir = data_dir.join("secrets");
    let path = dir.join("jwt");
    if let Ok(secret) = fs::read(&path)
        && secret.len() >= 32
    {
        return Ok(secret);
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&dir)
        .with_context(|| format!("make {}", dir.display()))?;
    let bytes: [u8; 32] = rand::rng().random();
    let secret: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let fresh = dir.join("jwt.new");
    let write = || -> std::io::Result<()> {
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&fresh)?;
        file.write_all(secret.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, &path)
    };
    write().with_context(|| format!("write {}", path.display()))?;
    Ok(secret.into_bytes())
}

/// The demo account's password: the same at every start of an installation, different on every other.
pub(crate) fn demo_password(secret: &[u8]) -> String {
    let digest = Sha256::new()
        .chain_update(b"qadra demo password\0")
        .chain_update(secret)
        .finalize();
    let word: String = digest.iter().take(5).map(|b| format!("{b:02x}")).collect();
    format!("demo-{word}")
}
