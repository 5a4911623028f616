//! Models and tests are built in: a file that comes or goes builds this crate again.

fn main() {
    for folder in ["models", "litmus"] {
        println!("cargo::rerun-if-changed=../../{folder}");
    }
}
