#!/bin/sh
# Every Rust test against one private PostgreSQL that lives as long as this script.
set -eu

with_postgres="$CARGO_TARGET_DIR/debug/with-postgres"
if cargo nextest --version >/dev/null 2>&1; then
    "$with_postgres" -- cargo nextest run --workspace "$@"
else
    "$with_postgres" -- cargo test --workspace "$@"
fi
