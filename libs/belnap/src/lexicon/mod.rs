//! Words that mean the same, the opposite, or the same seen from the other side.
