use serde::{Deserialize, Serialize};

use crate::ReadError;

const MIB: u64 = 1024 * 1024;

/// What one document may cost. `read` keeps the first five; a worker keeps all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    pub max_bytes: u64,
    /// Code points of the text that comes out.
    pub max_chars: u64,
    pub max_pages: u32,
    /// Bytes of an archive's parts after unpacking, those that are read.
    pub max_unpacked: u64,
    /// Elements within elements.
    pub max_depth: u32,
    /// Address space of the worker, in bytes.
    pub max_memory: u64,
    pub max_seconds: u64,
    pub max_cpu_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_bytes: 64 * MIB,
            max_chars: 64 * MIB,
            max_pages: 20_000,
            max_unpacked: 256 * MIB,
            max_depth: 256,
            max_memory: 2048 * MIB,
            max_seconds: 60,
            max_cpu_seconds: 60,
        }
    }
}

impl Limits {
    pub(crate) fn check_bytes(&self, found: usize) -> Result<(), ReadError> {
        let found = found as u64;
        if found > self.max_bytes {
            return Err(ReadError::too_large("bytes", found, self.max_bytes));
        }
        Ok(())
    }
}
