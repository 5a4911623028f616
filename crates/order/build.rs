//! Models and tests are built in: an added or removed file rebuilds this crate.

fn main() {
    for folder in ["models", "litmus"] {
        println!("cargo::rerun-if-changed=../../{folder}");
    }
}
