//! `migrate!` embeds the folder at compile time; without this line a new file in it would go unseen.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
