//! Maps instructions to the program's source, from the DWARF of the mapped code files.

use crate::brief::brief;
use crate::code;
use crate::recording::is_library;
use crate::symbols::Symbols;
use crate::texts::Texts;
use crate::{At, Lines, Module, Recording};
use addr2line::Loader;
use object::{Object, ObjectSegment, ObjectSymbol};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;

/// Bytes of a function's code that identify its file.
const CODE_BYTES: usize = 32;

/// The place of an instruction. Prints as `append (list.c:31)`, `memcpy (libc.so.6+0x1234)`, `list+0x1234` or `0x1234`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The address.
    pub pc: u64,
    /// The function.
    pub symbol: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// What that line says, if the file is there.
    pub text: Option<String>,
    /// The functions into which the function was inlined, each with file and line, the innermost first.
    pub inlined_in: Vec<String>,
    /// The mapped file.
    pub module: Option<String>,
    /// The address in the mapped file, as for `addr2line`.
    pub offset: Option<u64>,
}

impl Site {
    /// Whether it is in a shared library, not in the program's own file.
    #[must_use]
    pub fn in_library(&self) -> bool {
        self.module.as_ref().is_some_and(|module| is_library(module))
    }

    /// The line of the source, which many instructions may share. A line of a header is inlined in many places, so it comes
    /// with those into which it was inlined, up to the first that is in no header.
    #[must_use]
    pub fn source_line(&self) -> String {
        let (Some(file), Some(line)) = (&self.file, self.line) else {
            return self.to_string();
        };
        let own = format!("{}:{line}", base_name(file));
        let own = self
            .symbol
            .as_ref()
            .map_or(own.clone(), |symbol| format!("{symbol} ({own})"));
        let mut places = vec![own.as_str()];
        for caller in &self.inlined_in {
            if !places.last().is_some_and(|place| is_header(place)) {
                break;
            }
            places.push(caller);
        }
        places.join(" in ")
    }
}

/// Whether a place, `function (file:line)`, is in a header.
fn is_header(place: &str) -> bool {
    let file = place.rsplit_once(" (").map_or(place, |(_, file)| file);
    let file = file.rsplit_once(':').map_or(file, |(file, _)| file);
    let ending = file.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_none_or(|ending| ["h", "hh", "hpp", "hxx", "ipp", "inl", "tcc"].contains(&ending))
}

/// Finds the places of instructions. Files are read on demand; a missing file is no error.
pub struct Source {
    modules: Vec<Module>,
    lines: Lines,
    texts: Texts,
    loaded: HashMap<String, Option<Loaded>>,
    sites: HashMap<u64, Site>,
    at_once: BTreeMap<u64, &'static str>,
}

/// A mapped file.
struct Loaded {
    loader: Loader,
    symbols: Symbols,
    /// The file offset, size and address of each segment.
    segments: Vec<(u64, u64, u64)>,
}

impl Source {
    /// Of a recording: what it says itself, and the files that it mapped.
    #[must_use]
    pub fn of(recording: &Recording) -> Source {
        Source {
            lines: recording.lines().clone(),
            at_once: recording.blocks().iter().flat_map(code::at_once).collect(),
            ..Source::new(recording.modules())
        }
    }

    /// Of these mapped files.
    #[must_use]
    pub fn new(modules: &[Module]) -> Source {
        Source {
            modules: modules.to_vec(),
            lines: Lines::default(),
            texts: Texts::default(),
            loaded: HashMap::new(),
            sites: HashMap::new(),
            at_once: BTreeMap::new(),
        }
    }

    /// What an instruction is called that stores more than eight bytes at once, as its manual says.
    #[must_use]
    pub fn at_once(&self, pc: u64) -> Option<&'static str> {
        self.at_once.get(&pc).copied()
    }

    /// The place of the instruction at this address.
    pub fn site(&mut self, pc: u64) -> &Site {
        if !self.sites.contains_key(&pc) {
            let site = self.find(pc);
            self.sites.insert(pc, site);
        }
        &self.sites[&pc]
    }

    /// An instruction as text: of a library, the program's own call first.
    pub fn told(&mut self, at: At) -> String {
        let site = self.site(at.pc).to_string();
        match self.folded(at).from {
            0 => site,
            from => format!("{} via {site}", self.site(from)),
        }
    }

    /// The place in the program's own code: of a library's instruction, the call.
    pub fn own(&mut self, at: At) -> &Site {
        let pc = match self.folded(at) {
            At { pc, from: 0 } => pc,
            At { from, .. } => from,
        };
        self.site(pc)
    }

    /// An instruction without its call, if it is the program's own.
    pub fn folded(&mut self, at: At) -> At {
        if self.site(at.pc).in_library() && self.caller(at).is_some() {
            at
        } else {
            At::alone(at.pc)
        }
    }

    /// The program's own call that led to an instruction. The one with which the C library starts it is not its own.
    pub fn caller(&mut self, at: At) -> Option<&Site> {
        if at.from == 0 {
            return None;
        }
        let site = self.site(at.from);
        (site.symbol.as_deref() != Some("_start")).then_some(site)
    }

    fn find(&mut self, pc: u64) -> Site {
        // If one mapping replaced another, the later one is more likely.
        let module = self
            .modules
            .iter()
            .rev()
            .find(|module| (module.base..module.end).contains(&pc));
        let Some(module) = module else {
            return Site { pc, ..Site::default() };
        };
        let loaded = self
            .loaded
            .entry(module.path.clone())
            .or_insert_with(|| Loaded::of(Path::new(&module.path)));
        let within = pc - module.base;
        let address = loaded.as_ref().and_then(|loaded| loaded.address(module.offset, within));
        let mut site = Site {
            pc,
            module: Some(base_name(&module.path)),
            offset: Some(address.unwrap_or(module.offset + within)),
            ..Site::default()
        };
        match (self.lines.place(pc), loaded, address) {
            (Some(place), ..) => place.fill(&mut site),
            (None, Some(loaded), Some(address)) => {
                loaded.fill(&mut site, address);
                site.text = self.texts.of(&site, Path::new(&module.path));
            }
            _ => {}
        }
        site
    }
}

/// Where functions of these names start in mapped files, with the first bytes of their code. Files that cannot be read
/// have none.
pub(crate) fn functions(modules: &[&Module], names: &[&str]) -> Vec<(u64, Vec<u8>)> {
    let mut paths: Vec<&str> = modules.iter().map(|module| module.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let of_file = |path: &&str| {
        let mapped = modules.iter().filter(|module| module.path == **path);
        functions_of(Path::new(path), &mapped.copied().collect::<Vec<_>>(), names).unwrap_or_default()
    };
    paths.iter().flat_map(of_file).collect()
}

fn functions_of(path: &Path, mapped: &[&Module], names: &[&str]) -> Option<Vec<(u64, Vec<u8>)>> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let named =
        symbols.filter(|symbol| symbol.is_definition() && symbol.name().is_ok_and(|name| names.contains(&name)));
    let start = |symbol: object::Symbol<'_, '_>| {
        let holds = |segment: &object::Segment<'_, '_>| {
            (segment.address()..segment.address().saturating_add(segment.size())).contains(&symbol.address())
        };
        let segment = file.segments().find(holds)?;
        let offset = symbol.address() - segment.address() + segment.file_range().0;
        let within = |module: &&&Module| (module.offset..module.offset + (module.end - module.base)).contains(&offset);
        let module = mapped.iter().find(within)?;
        let code = bytes.get(offset as usize..)?;
        Some((
            module.base + (offset - module.offset),
            code[..code.len().min(CODE_BYTES)].to_vec(),
        ))
    };
    Some(named.filter_map(start).collect())
}

impl Loaded {
    fn of(path: &Path) -> Option<Loaded> {
        let loader = Loader::new(path).ok()?;
        let bytes = std::fs::read(path).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let segments = file.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            (offset, size, segment.address())
        });
        Some(Loaded {
            segments: segments.collect(),
            symbols: Symbols::of(&file),
            loader,
        })
    }

    /// The file's own address of this offset in a mapping.
    fn address(&self, offset: u64, within: u64) -> Option<u64> {
        let holds =
            |(start, size, _): &&(u64, u64, u64)| start & !4095 <= offset && offset < start.saturating_add(*size);
        let (start, _, address) = self.segments.iter().rev().find(holds)?;
        Some(offset.wrapping_sub(*start).wrapping_add(*address).wrapping_add(within))
    }

    fn fill(&self, site: &mut Site, address: u64) {
        let frames = self.frames(address);
        // Headers of a compiler or the system are not the cause: the function into which they were inlined is shown.
        let own = frames
            .iter()
            .position(|(_, file, _)| file.as_deref().is_some_and(is_own));
        let mut frames = frames.into_iter().skip(own.unwrap_or(0));
        if let Some((symbol, file, line)) = frames.next() {
            (site.symbol, site.file, site.line) = (symbol, file, line);
        }
        let caller = |(symbol, file, line): Frame| Some(format!("{} ({}:{})", symbol?, base_name(&file?), line?));
        site.inlined_in = frames.filter_map(caller).collect();
        site.symbol = site.symbol.take().or_else(|| {
            let name = self.symbols.name(address)?;
            Some(addr2line::demangle_auto(name.into(), None).into_owned())
        });
    }

    /// The functions of the instruction, the innermost first: each but the last was inlined into the next.
    fn frames(&self, address: u64) -> Vec<Frame> {
        let mut found = Vec::new();
        let Ok(mut frames) = self.loader.find_frames(address) else {
            return found;
        };
        while let Ok(Some(frame)) = frames.next() {
            let symbol = frame
                .function
                .and_then(|function| Some(function.demangle().ok()?.into_owned()));
            let place = frame.location.map(|place| (place.file.map(str::to_owned), place.line));
            let (file, line) = place.unwrap_or_default();
            found.push((symbol, file, line));
        }
        found
    }
}

/// A function, and file and line in it.
type Frame = (Option<String>, Option<String>, Option<u32>);

/// Whether a source file probably belongs to the program.
fn is_own(file: &str) -> bool {
    let others = ["/usr/include/", "/usr/lib/", "/lib/gcc/", "/rustc/"];
    !others.iter().any(|folder| file.contains(folder))
}

fn base_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (&self.file, self.line, &self.module, self.offset) {
            (Some(file), Some(line), ..) => Some(format!("{}:{line}", base_name(file))),
            (_, _, Some(module), Some(offset)) => Some(format!("{module}+{offset:#x}")),
            _ => None,
        };
        match (&self.symbol, place) {
            (Some(symbol), Some(place)) => write!(f, "{} ({place})", brief(symbol)),
            (None, Some(place)) => f.write_str(&place),
            _ => write!(f, "{:#x}", self.pc),
        }?;
        self.inlined_in
            .iter()
            .take(3)
            .try_for_each(|caller| match caller.rsplit_once(" (") {
                Some((name, place)) => write!(f, " in {} ({place}", brief(name)),
                None => write!(f, " in {caller}"),
            })
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("modules", &self.modules)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function to look for.
    #[inline(never)]
    fn planted(more: u32) -> u32 {
        line!() + more
    }

    /// A line of `/proc/self/maps`: addresses, permissions, offset, device, inode, and a path that may contain spaces.
    fn module(map: &str) -> Option<Module> {
        let words: Vec<&str> = map.splitn(6, ' ').collect();
        let (base, end) = words.first()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(Module {
            base: number(base)?,
            end: number(end)?,
            offset: number(words.get(2)?)?,
            path: words.get(5).unwrap_or(&"").trim_start().to_owned(),
        })
    }

    #[test]
    fn an_instruction_of_this_test_is_found_by_function_and_line() {
        let line = planted(std::hint::black_box(0));
        let pc = planted as fn(u32) -> u32 as usize as u64;
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux tells mappings");
        let holds = |module: &Module| (module.base..module.end).contains(&pc);
        let module = maps.lines().filter_map(module).find(holds);
        let mut source = Source::new(&[module.expect("the test is mapped")]);
        let site = source.site(pc).clone();
        assert!(
            site.symbol.as_ref().is_some_and(|symbol| symbol.contains("planted")),
            "{site:?}"
        );
        assert!(
            site.file.as_ref().is_some_and(|file| file.ends_with("source.rs")),
            "{site:?}"
        );
        assert!(site.line.is_some_and(|found| line.abs_diff(found) <= 1), "{site:?}");
    }

    #[test]
    fn a_function_is_found_in_a_mapped_library() {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux tells mappings");
        let modules: Vec<Module> = maps.lines().filter_map(module).collect();
        let libraries: Vec<&Module> = modules
            .iter()
            .filter(|module| module.path.contains("libc.so"))
            .collect();
        let starts = functions(&libraries, &["exit"]);
        let (pc, code) = starts.first().expect("the C library ends programs");
        assert_eq!(code.len(), CODE_BYTES);
        assert_eq!(Source::new(&modules).site(*pc).symbol.as_deref(), Some("exit"));
        assert_eq!(
            Source::new(&modules)
                .site(*pc - 1)
                .symbol
                .as_deref()
                .filter(|name| *name == "exit"),
            None
        );
    }

    #[test]
    fn what_was_inlined_is_told_with_its_callers() {
        let site = Site {
            pc: 1,
            symbol: Some("flush".to_owned()),
            file: Some("/home/list.c".to_owned()),
            line: Some(12),
            inlined_in: vec!["append (list.c:23)".to_owned()],
            ..Site::default()
        };
        assert_eq!(site.to_string(), "flush (list.c:12) in append (list.c:23)");
        assert!(is_own("/home/list.c") && !is_own("/usr/lib/gcc/x86_64-linux-gnu/12/include/clwbintrin.h"));
    }

    #[test]
    fn a_line_of_a_header_is_told_with_the_line_of_the_program() {
        let site = |file: &str| Site {
            symbol: Some("set".to_owned()),
            file: Some(format!("/home/{file}")),
            line: Some(12),
            inlined_in: vec![
                "log (pm.hpp:3)".to_owned(),
                "put (map.c:7)".to_owned(),
                "main (map.c:9)".to_owned(),
            ],
            ..Site::default()
        };
        assert_eq!(
            site("set.h").source_line(),
            "set (set.h:12) in log (pm.hpp:3) in put (map.c:7)"
        );
        assert_eq!(site("map.c").source_line(), "set (map.c:12)");
    }

    #[test]
    fn a_librarys_instructions_are_told_from_the_programs() {
        let of = |module: &str| Site {
            module: Some(module.to_owned()),
            ..Site::default()
        };
        assert!(of("libpmem.so.1.0.0").in_library() && of("libfast.so").in_library());
        assert!(!of("list").in_library() && !of("a.sort").in_library() && !Site::default().in_library());
    }

    #[test]
    fn without_its_file_an_instruction_is_named_by_module_and_offset() {
        let module = Module {
            base: 0x1000,
            end: 0x3000,
            offset: 0x400,
            path: "/gone/program".to_owned(),
        };
        let mut source = Source::new(&[module]);
        assert_eq!(source.site(0x1010).to_string(), "program+0x410");
        assert_eq!(source.site(0x3000).to_string(), "0x3000");
    }
}
