//! The lines of source files.

use crate::Site;
use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

/// Larger files are not read.
const MOST_BYTES: u64 = 16 << 20;

/// A longer line is cut.
const MOST_CHARACTERS: usize = 160;

/// Source files, read on demand.
#[derive(Debug, Default)]
pub struct Texts(HashMap<String, Option<Vec<String>>>);

impl Texts {
    /// The line of a site, without its indentation. A source file that changed after the program was built says nothing of
    /// its lines.
    pub fn of(&mut self, site: &Site, program: &Path) -> Option<String> {
        let (file, line) = (site.file.as_ref()?, site.line?.checked_sub(1)?);
        let lines = self.0.entry(file.clone()).or_insert_with(|| {
            let built = modified(program)?;
            read(Path::new(file), built)
        });
        lines
            .as_ref()?
            .get(line as usize)
            .cloned()
            .filter(|text| !text.is_empty())
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

fn read(file: &Path, built: SystemTime) -> Option<Vec<String>> {
    let about = std::fs::metadata(file).ok()?;
    let fits = about.is_file() && about.len() <= MOST_BYTES && about.modified().ok()? <= built;
    let bytes = fits.then(|| std::fs::read(file).ok())??;
    let text = String::from_utf8_lossy(&bytes);
    Some(
        text.lines()
            .map(|line| line.trim().chars().take(MOST_CHARACTERS).collect())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_unless_its_file_changed_after_the_program_was_built() {
        let folder = std::env::temp_dir().join(format!("strandline-texts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let (source, program) = (folder.join("list.c"), folder.join("list"));
        std::fs::write(&source, "int a;\n    a = 1;\n\n").expect("it can be written");
        std::fs::write(&program, "").expect("it can be written");
        let site = |line| Site {
            file: Some(source.display().to_string()),
            line: Some(line),
            ..Site::default()
        };
        let told = |line| Texts::default().of(&site(line), &program);
        assert_eq!(told(2).as_deref(), Some("a = 1;"));
        assert_eq!((told(0), told(3), told(9)), (None, None, None));
        let built = std::fs::File::open(&program).expect("it is there");
        built.set_modified(SystemTime::UNIX_EPOCH).expect("it is ours");
        assert_eq!(told(2), None);
        std::fs::remove_dir_all(folder).expect("it is there");
    }
}
