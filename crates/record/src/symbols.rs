//! The functions of a file, from its symbols.

use crate::brief::brief;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::ops::Range;
use std::path::Path;

/// Functions by address, in the file's own addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    /// Sorted by start; of several with one start, the largest is last.
    functions: Vec<Function>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    range: (u64, u64),
    name: String,
}

impl Symbols {
    /// The functions with symbols in a file. Those without a size, which are written in assembler, end at the next one
    /// or at their section's end.
    pub fn of<'d>(file: &impl Object<'d>) -> Symbols {
        let sections: Vec<Range<u64>> = file
            .sections()
            .map(|section| section.address()..section.address().saturating_add(section.size()))
            .collect();
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let functions = symbols.filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text);
        let sized =
            functions.filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?.to_owned())));
        Symbols::sized(sized.collect(), &sections)
    }

    /// Functions with these addresses, sizes and names, in a file with these sections.
    fn sized(mut symbols: Vec<(u64, u64, String)>, sections: &[Range<u64>]) -> Symbols {
        symbols.sort_unstable();
        let end = |(start, size, _): &(u64, u64, String)| match size {
            0 => {
                let next = symbols.partition_point(|(other, ..)| other <= start);
                let next = symbols.get(next).map_or(u64::MAX, |(next, ..)| *next);
                let section = sections.iter().find(|section| section.contains(start));
                section.map_or(*start, |section| section.end.min(next))
            }
            size => start.saturating_add(*size),
        };
        let function = |symbol: &(u64, u64, String)| Function {
            range: (symbol.0, end(symbol)),
            name: symbol.2.clone(),
        };
        let mut functions: Vec<Function> = symbols.iter().map(function).collect();
        functions.sort_unstable();
        Symbols { functions }
    }

    /// The function that contains this address: of several, the one that starts last.
    pub fn name(&self, address: u64) -> Option<&str> {
        let behind = self.functions.partition_point(|function| function.range.0 <= address);
        let mut before = self.functions[..behind].iter().rev();
        let found = before.find(|function| address < function.range.1)?;
        Some(&found.name)
    }
}

/// The functions of an executable file or a library: the names of their symbols, each with its name in the source and with
/// the short form that reports print. None if it cannot be read.
#[must_use]
pub fn functions(path: &Path) -> Vec<[String; 3]> {
    let Ok(bytes) = std::fs::read(path) else {
        return Vec::new();
    };
    let Ok(file) = object::File::parse(&*bytes) else {
        return Vec::new();
    };
    let mut names: Vec<String> = Symbols::of(&file).functions.into_iter().map(|each| each.name).collect();
    names.sort_unstable();
    names.dedup();
    let described = names.into_iter().map(|name| {
        let told = addr2line::demangle_auto(name.as_str().into(), None).into_owned();
        let short = brief(&told);
        [name, told, short]
    });
    described.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols() -> Symbols {
        let symbol = |start, size, name: &str| (start, size, name.to_owned());
        Symbols::sized(
            vec![
                symbol(0x1000, 0x20, "flush"),
                symbol(0x3000, 0, "copy"),
                symbol(0x3100, 0, "fill"),
                symbol(0x4000, 0x100, "outer"),
                symbol(0x4040, 0x10, "inner"),
            ],
            &[0x1000..0x2800, 0x3000..0x3200, 0x4000..0x5000],
        )
    }

    #[test]
    fn an_address_past_a_functions_end_is_of_no_function() {
        let named = |address| symbols().name(address).map(str::to_owned);
        assert_eq!(named(0x101f).as_deref(), Some("flush"));
        assert_eq!((named(0x1020), named(0x2000), named(0xfff)), (None, None, None));
    }

    #[test]
    fn a_function_without_a_size_ends_with_the_next_one_or_its_section() {
        let named = |address| symbols().name(address).map(str::to_owned);
        assert_eq!(named(0x30ff).as_deref(), Some("copy"));
        assert_eq!(named(0x31ff).as_deref(), Some("fill"));
        assert_eq!(named(0x3200), None);
    }

    #[test]
    fn of_functions_in_one_another_the_inner_one_is_named() {
        let named = |address| symbols().name(address).map(str::to_owned);
        assert_eq!(named(0x4048).as_deref(), Some("inner"));
        assert_eq!(named(0x4050).as_deref(), Some("outer"));
    }
}
