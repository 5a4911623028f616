fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut s = strandline_sim::Spec::new(&a[1], &a[2]);
    for x in &a[3..] {
        if let Some(t) = x.strip_prefix("threads=") {
            s.threads = t.parse().unwrap();
        } else if let Some(t) = x.strip_prefix("tasks=") {
            s.tasks = Some(t.parse().unwrap());
        } else if let Some(t) = x.strip_prefix("bmo=") {
            s.bmo = Some(t.parse().unwrap());
        } else {
            s.set.push(x.clone());
        }
    }
    match strandline_sim::run(&s) {
        Ok(r) => println!("{}", serde_json::to_string_pretty(&r).unwrap()),
        Err(e) => println!("{e}"),
    }
}
