# `make run` starts Qadra, `make test` runs every test, `make check` is what CI runs.
# Everything builds into target/ or, if it is set, into CARGO_TARGET_DIR.

CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_TARGET_DIR

BIN       := $(CARGO_TARGET_DIR)/debug
NODE      := sh $(CURDIR)/web/scripts/with-node.sh
WEB_SRC   := $(shell find web/src web/public web/index.html web/vite.config.ts web/package-lock.json web/scripts -type f 2>/dev/null)

.PHONY: crash eval fuzz run demo build web check test fmt lint audit test-rust test-web e2e bench openapi deps deps-test clean

## Start on http://127.0.0.1:8520, installing what is missing.
run: deps build
	exec $(BIN)/qadra up

## The same with a demo tenant; its login is printed.
demo: deps build
	exec $(BIN)/qadra up --demo

build: web
	cargo build -p qadra

web: web/dist/index.html

web/node_modules/.installed: web/package-lock.json
	cd web && $(NODE) npm ci --no-audit --no-fund
	touch $@

web/dist/index.html: web/node_modules/.installed $(WEB_SRC)
	cd web && $(NODE) npm run build

## What CI runs.
check: fmt lint audit test

## Every test: Rust, web, browser. Needs no running service.
test: deps-test test-rust test-web e2e

fmt:
	cargo fmt --all --check

lint: web
	cargo clippy --workspace --all-targets -- -D warnings
	cd web && $(NODE) npm run check

## Licences, sources and banned crates of the dependency tree; works without a network.
audit:
	cargo run -q -p xtask -- audit

# The workspace is built as one: with one crate at a time, Cargo would unify features differently for
# each and build the heavy dependencies again and again.
test-rust: web
	cargo build --workspace
	sh scripts/test-rust.sh

test-web: web/node_modules/.installed
	cd web && $(NODE) npm test

e2e/node_modules/.installed: e2e/package-lock.json
	cd e2e && $(NODE) npm ci --no-audit --no-fund
	touch $@

e2e: build e2e/node_modules/.installed
	cd e2e && QADRA_BIN=$(BIN)/qadra $(NODE) npm test

## Ratios against the bare model server and the bare database, in one run; see docs/benchmarks.md.
bench:
	cargo build --release -p qadra -p qadra-bench
	$(CARGO_TARGET_DIR)/release/qadra-bench --qadra $(CARGO_TARGET_DIR)/release/qadra

## Kills workers of flows KILLS times at random moments and checks that nothing is lost and nothing done twice.
KILLS ?= 500
SEED ?= 1
crash:
	cargo build -p qadra -p qadra-bench
	$(BIN)/qadra-bench crash --qadra $(BIN)/qadra --kills $(KILLS) --seed $(SEED)

## Scores of parser, claims, verdicts and grounding; DATA is a folder with parser/, claims/, verify/, grounding/.
DATA ?= evals
eval:
	cargo build --release -p qadra-evals
	$(CARGO_TARGET_DIR)/release/qadra-evals --out $(CARGO_TARGET_DIR)/eval.json all $(DATA)

## Fuzzes each target for SECONDS_EACH seconds.
fuzz:
	sh scripts/fuzz.sh

## Web types from the OpenAPI document of this build.
openapi: build
	$(BIN)/qadra openapi > $(CARGO_TARGET_DIR)/openapi.json
	cd web && $(NODE) npm run gen -- $(CARGO_TARGET_DIR)/openapi.json

deps:
	sh scripts/deps.sh run

deps-test:
	sh scripts/deps.sh test

clean:
	cargo clean
	rm -rf web/dist web/node_modules e2e/node_modules
