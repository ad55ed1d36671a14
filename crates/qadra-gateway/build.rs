//! The web UI is embedded from `web/dist`, which `make web` builds. A build without it must work too (tests
//! of other crates, a first `cargo build`), so an empty folder is made; the server then says how to build the UI.

fn main() {
    let dist = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    if let Err(e) = std::fs::create_dir_all(&dist) {
        println!("cargo::error=make {}: {e}", dist.display());
    }
}
