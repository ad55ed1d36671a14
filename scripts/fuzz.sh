#!/bin/sh
# Fuzzes each target for SECONDS_EACH (default 60) on one core, starting from the corpus in the repository.
#   sh scripts/fuzz.sh [TARGET…]          crashes go to fuzz/artifacts; exits 1 on a crash
#   KEEP=1 sh scripts/fuzz.sh             afterwards puts the smallest corpus with the same coverage into fuzz/corpus
# libFuzzer needs its counters compiled in, which a stable compiler can do; there is no unsafe code to need a sanitizer.
set -eu
cd "$(dirname "$0")/../fuzz"

CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../target}/fuzz"
export CARGO_TARGET_DIR
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
export RUSTFLAGS
# With a target named, the flags do not reach build scripts and macros.
host="$(rustc -vV | sed -n 's/^host: //p')"
cargo build --release --target "$host"

xtask() {
    RUSTFLAGS="" cargo run -q --manifest-path ../Cargo.toml -p xtask -- "$@"
}

[ $# -gt 0 ] || set -- tokenize conllu parse extract verify
for target in "$@"; do
    inputs="$CARGO_TARGET_DIR/corpus/$target"
    rm -rf "$inputs"
    mkdir -p "artifacts/$target"
    xtask corpus unpack "corpus/$target.jsonl" "$inputs"
    binary="$CARGO_TARGET_DIR/$host/release/$target"
    "$binary" -max_total_time="${SECONDS_EACH:-60}" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
        -artifact_prefix="artifacts/$target/" -print_final_stats=1 "$inputs"
    if [ -n "${KEEP:-}" ]; then
        rm -rf "$inputs.merged"
        mkdir "$inputs.merged"
        "$binary" -merge=1 -max_len=1024 "$inputs.merged" "$inputs"
        xtask corpus pack "$inputs.merged" "corpus/$target.jsonl"
    fi
done
