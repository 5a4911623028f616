use std::collections::BTreeMap;
use std::path::Path;
use strandline_order::*;
fn main() {
    let root = Path::new("litmus");
    for dir in std::fs::read_dir(root).unwrap() {
        let dir = dir.unwrap().path();
        if !dir.is_dir() {
            continue;
        }
        let mut tests: BTreeMap<String, Test> = BTreeMap::new();
        for f in std::fs::read_dir(&dir).unwrap() {
            let f = f.unwrap().path();
            let name = f.file_name().unwrap().to_str().unwrap().to_owned();
            if let Some(stem) = name.strip_suffix(".litmus") {
                let text = std::fs::read_to_string(&f).unwrap();
                let test = Test::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
                if test.to_string() != text {
                    println!("rewrite {name}");
                    std::fs::write(&f, test.to_string()).unwrap();
                }
                tests.insert(stem.to_owned(), test);
            }
        }
        for name in Model::names() {
            let text = std::fs::read_to_string(format!("models/{name}.cat")).unwrap();
            let model = Model::parse(&name, &text, &Default::default()).unwrap();
            let mut out = String::new();
            for (stem, test) in &tests {
                if model.takes(test) {
                    out += &show_expected(stem, &name, &expected(test, &model).unwrap());
                }
            }
            let path = dir.join(format!("{name}.expected"));
            let old = std::fs::read_to_string(&path).unwrap_or_default();
            if out.is_empty() {
                if path.exists() {
                    println!("rm {path:?}");
                    std::fs::remove_file(path).unwrap();
                }
            } else if out != old {
                println!("write {path:?}");
                std::fs::write(path, out).unwrap();
            }
        }
    }
}
