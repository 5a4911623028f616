//! A function that DynamoRIO does not have would be a null pointer at run time: the linker is to say so.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,defs");
    println!("cargo:rerun-if-changed=build.rs");
}
