//! A missing function of DynamoRIO must be a link error, not a null pointer at run time.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,defs");
    println!("cargo:rerun-if-changed=build.rs");
}
