//! x
use strandline_crash::litmus::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let r = random(&Registered::named(&a[1]).unwrap(), a[2].parse().unwrap(), 1).unwrap();
    for v in r.violations {
        println!("{} {}\n{}\n{}", v.seed, v.machine, v.program, v.detail.join("\n"));
    }
}
