//! Belnap's four values (Belnap 1977, "A useful four-valued logic").

use serde::{Deserialize, Serialize};

/// What one has been told: bit 0 is "it is true", bit 1 is "it is false".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Truth {
    #[default]
    #[serde(rename = "N")]
    Neither = 0b00,
    #[serde(rename = "T")]
    True = 0b01,
    #[serde(rename = "F")]
    False = 0b10,
    #[serde(rename = "B")]
    Both = 0b11,
}
