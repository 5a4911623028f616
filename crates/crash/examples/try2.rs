//! x
use strandline_crash::litmus::*;
fn main() {
    let n: u64 = std::env::args().nth(1).map_or(20, |x| x.parse().unwrap());
    let start = std::time::Instant::now();
    let shelf = strandline_order::shelf();
    let (mut pairs, mut states) = (0, 0);
    for e in &shelf {
        let t = e.test().unwrap();
        let s = std::time::Instant::now();
        for m in strandline_order::models_of(&t).unwrap() {
            pairs += 1;
            states += strandline_order::allowed(&t, &m).unwrap().states.len();
        }
        if s.elapsed().as_millis() > 100 {
            println!("{} {:?}", e.path, s.elapsed());
        }
    }
    println!(
        "{} tests {pairs} pairs {states} states {:?}",
        shelf.len(),
        start.elapsed()
    );
    for subject in Registered::all() {
        let start = std::time::Instant::now();
        let (mut runs, mut tests, mut shown, mut may) = (0, 0, 0, 0);
        for e in &shelf {
            let t = e.test().unwrap();
            let Some(c) = conform(&subject, &t, None, n, 1).unwrap() else {
                continue;
            };
            tests += 1;
            runs += c.runs;
            shown += c.shown.len();
            let m = strandline_order::Model::named(&c.model).unwrap();
            let a = strandline_order::allowed(&t, &m).unwrap().states;
            may += a.len();
            for v in &c.violations {
                println!(
                    "VIOLATION {} {} {} {:?}\n{}",
                    c.design,
                    e.path,
                    v.seed,
                    t.show_state(&v.values),
                    v.detail.join("\n")
                );
            }
            if n > 500 {
                for s in a.difference(&c.shown) {
                    println!("never {} {} {}", c.design, e.path, t.show_state(s));
                }
            }
        }
        println!(
            "{} {tests} tests {runs} runs shown {shown} allowed {may} {:?}",
            subject.about().name,
            start.elapsed()
        );
    }
}
