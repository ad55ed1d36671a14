#![no_main]

#[allow(dead_code, reason = "each target uses one of them")]
#[path = "../checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::conllu(bytes));
