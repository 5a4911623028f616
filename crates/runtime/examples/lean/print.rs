//! The table of counts and the listings.

use crate::count::{Counts, Passage, Whose};
use crate::library::run;
use crate::pc::{logged, marks, start, updated, waited, Live, WindowSlot};
use iced_x86::{Formatter, Instruction, IntelFormatter, SymbolResolver, SymbolResult};
use std::collections::BTreeMap;

/// What a marker stands for.
fn name(mark: u8) -> &'static str {
    match mark {
        marks::BEGIN => "start",
        marks::END => "end",
        _ => ["lock wait", "logged", "updated"][usize::from(mark & 0xf)],
    }
}

/// Prints a row for each part of a switch: its instructions, and how often it occurred with that number.
pub fn table(passages: &[(Passage, u32)]) {
    let mut rows: BTreeMap<(String, Counts), u32> = BTreeMap::new();
    for (passage, times) in passages {
        for whose in [Whose::Switch, Whose::End, Whose::Start, Whose::Save, Whose::Reload] {
            let what = match whose {
                Whose::Save => format!("task: save, {}", name(passage.from)),
                Whose::Reload => format!("task: reload, {}", name(passage.to)),
                library => format!("library: {library:?}").to_lowercase(),
            };
            *rows.entry((what, passage.counts(whose))).or_default() += times;
        }
    }
    println!("| part | instructions | loads | stores | arithmetic, moves | conditional branches | direct jumps | indirect jumps, returns | times |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for ((what, c), times) in rows.iter().filter(|((_, counts), _)| *counts != Counts::default()) {
        let parts: Vec<String> = c.numbers().iter().chain([times]).map(u32::to_string).collect();
        println!("| {what} | {} |", parts.join(" | "));
    }
}

/// Prints the machine code of one switch, with the dependences of each instruction.
pub fn listing(passage: &Passage) {
    println!("\n{} -> {}:", name(passage.from), name(passage.to));
    let mut formatter = IntelFormatter::with_options(Some(Box::new(Functions)), None);
    formatter.options_mut().set_show_branch_size(false);
    for (position, passed) in passage.passed.iter().enumerate() {
        let mut text = String::new();
        formatter.format(&passed.instruction, &mut text);
        let needs: Vec<String> = passed.needs.iter().map(ToString::to_string).collect();
        println!(
            "{position:2}  {text:28} {:8} {}",
            format!("{:?}", passed.whose),
            needs.join(" ")
        );
    }
}

/// Names the code, whose address differs in each run.
struct Functions;

impl SymbolResolver for Functions {
    fn symbol(&mut self, _: &Instruction, _: u32, _: Option<u32>, address: u64, _: u32) -> Option<SymbolResult<'_>> {
        let functions = [
            ("start", start as *const ()),
            ("waited", waited as *const ()),
            ("logged", logged as *const ()),
            ("updated", updated as *const ()),
            ("run", run::<Live<'_>, &WindowSlot<'_>> as *const ()),
        ];
        let before = functions
            .iter()
            .map(|(name, code)| (code.addr() as u64, *name))
            .filter(|(at, _)| *at <= address);
        before.max().map(|(at, name)| SymbolResult::with_str(at, name))
    }
}
