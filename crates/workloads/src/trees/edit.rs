//! An open operation on a tree: reads, steps, the stack of its recursion, allocation.

use super::{header, Trees};
use crate::structures::Free;
use strandline_isa::{sites, Cond, Cpu, Scoped, LINE_BYTES, W};
use strandline_runtime::{Log, Region, Step};

sites! {
    MORE_TO_GIVE = 0x2b0d_9a4f;
    ALL_FREE_ARE_LOGGED = 0x49f5_a569;
}

/// Bytes of the stack that a call takes.
const CALL: u64 = 16;

/// How an operation writes: section 3.2.
enum Access<'l, 'c, C: Cpu> {
    /// Full logging: in one region, which logs all lines before its first write.
    Full(Region<'l, 'c, C>),
    /// Incremental logging: each step in a region of its own, which logs the lines that the step writes.
    Steps(&'l mut Log<'c, C>),
}

/// An open operation on one tree.
pub struct Tree<'l, 'c, C: Cpu> {
    /// The back end.
    pub cpu: &'c C,
    /// The address of the tree's header.
    pub header: W<'c, C>,
    /// The stack of the recursion, in the program's volatile memory: for each call, a return address, and the register
    /// that it keeps, the address of the link that leads to its node. The header's is first.
    stack: W<'c, C>,
    /// The end of the stack.
    end: W<'c, C>,
    /// The calls that have not returned.
    calls: Vec<Scoped<'c, C>>,
    /// The nodes that the operation has removed, behind the stack, and their end.
    gone: W<'c, C>,
    gone_end: W<'c, C>,
    index: W<'c, C>,
    trees: &'l Trees,
    /// Free nodes behind those that the operation links.
    free: Option<Free<'c, C>>,
    /// Whether the log needs lines before they are written.
    needs_lines: bool,
    access: Access<'l, 'c, C>,
}

/// What one step of an operation writes: the unit of incremental logging.
pub struct Change<'c, C: Cpu> {
    lines: Vec<W<'c, C>>,
    fresh: Vec<W<'c, C>>,
    writes: Vec<(W<'c, C>, W<'c, C>)>,
}

impl<'c, C: Cpu> Change<'c, C> {
    /// A step that writes these lines, which differ from each other.
    pub fn of(lines: &[W<'c, C>]) -> Self {
        Change {
            lines: lines.to_vec(),
            fresh: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// It also writes this line.
    pub fn add(&mut self, line: W<'c, C>) {
        self.lines.push(line);
    }

    /// It also writes this line. The program's text says whether it is among the lines already.
    pub fn add_once(&mut self, line: W<'c, C>) {
        if !self.lines.iter().any(|known| known.bits() == line.bits()) {
            self.lines.push(line);
        }
    }

    /// It also writes this free node.
    pub fn fresh(&mut self, node: W<'c, C>) {
        self.fresh.push(node);
    }

    /// It stores a word.
    pub fn set(&mut self, at: W<'c, C>, value: W<'c, C>) {
        self.writes.push((at, value));
    }
}

impl<'l, 'c, C: Cpu> Tree<'l, 'c, C> {
    /// Opens an operation on tree `index`. The lane's stack starts at `stack`.
    pub(super) fn open(
        trees: &'l Trees,
        cpu: &'c C,
        log: &'l mut Log<'c, C>,
        stack: W<'c, C>,
        index: W<'c, C>,
    ) -> Self {
        let gone = stack.at(CALL * trees.most_links);
        Tree {
            cpu,
            header: trees.structures.headers.row(index),
            stack,
            end: stack,
            calls: Vec::new(),
            gone,
            gone_end: gone,
            index,
            trees,
            free: None,
            needs_lines: log.needs_lines(),
            access: match trees.incremental {
                false => Access::Full(log.begin()),
                true => Access::Steps(log),
            },
        }
    }

    /// Loads a field. The program's text has no function for it.
    pub fn get(&mut self, at: W<'c, C>) -> W<'c, C> {
        match &mut self.access {
            Access::Full(region) => region.read(at, 8),
            // Outside regions: its lane holds the lock, and its earlier regions are finished.
            Access::Steps(_) => at.load(),
        }
    }

    /// Whether the operation looks for all lines, to log them before its first write.
    pub fn logs_fully(&self) -> bool {
        self.needs_lines && matches!(self.access, Access::Full(_))
    }

    /// Whether each step logs the lines that it writes.
    pub fn logs_steps(&self) -> bool {
        self.needs_lines && matches!(self.access, Access::Steps(_))
    }

    /// Logs a line under full logging, each once.
    pub fn log(&mut self, line: W<'c, C>) {
        if let Access::Full(region) = &mut self.access {
            region.log(line, 0, self.trees.logged_bytes);
        }
    }

    /// Adds `number` free nodes to what full logging writes: those that [`Tree::take`] takes next.
    pub fn log_free(&mut self, number: W<'c, C>) {
        let _call = number.call(2);
        let structures = &self.trees.structures;
        let Access::Full(region) = &mut self.access else { return };
        let mut free = structures.free(self.cpu, self.index);
        let mut left = number;
        while !left.is(0).branch(ALL_FREE_ARE_LOGGED) {
            let node = structures.next(self.cpu, &mut free);
            region.fresh(node.expect("every key has nodes"));
            left = left - 1;
        }
    }

    /// Takes a free node, which full logging then knows that it writes.
    pub fn take_logged(&mut self) -> W<'c, C> {
        let node = self.take();
        if let Access::Full(region) = &mut self.access {
            region.fresh(node);
        }
        node
    }

    /// Ends full logging's first part: everything is logged.
    pub fn order(&mut self) {
        if let Access::Full(region) = &mut self.access {
            region.order(Step::Last);
        }
    }

    /// A free node, for the operation to link.
    pub fn take(&mut self) -> W<'c, C> {
        let _call = self.cpu.call(1);
        let mut free = match self.free {
            Some(free) => free,
            None => self.trees.structures.free(self.cpu, self.index),
        };
        let node = self.trees.structures.next(self.cpu, &mut free);
        self.free = Some(free);
        node.expect("every key has nodes")
    }

    /// The operation has unlinked this node.
    pub fn gives(&mut self, node: W<'c, C>) {
        self.gone_end.store(node);
        self.gone_end = self.gone_end + 8;
    }

    /// Writes a step: in a region of its own under incremental logging.
    #[inline]
    pub fn commit(&mut self, change: Change<'c, C>) {
        let _call = self.cpu.call(1);
        match &mut self.access {
            Access::Full(region) => {
                for (at, value) in change.writes {
                    region.update(at, value, 8);
                }
            }
            Access::Steps(log) => {
                let mut region = log.begin();
                for line in change.lines {
                    region.log(line, 0, self.trees.logged_bytes);
                }
                for node in change.fresh {
                    region.fresh(node);
                }
                region.order(Step::Last);
                for (at, value) in change.writes {
                    region.update(at, value, 8);
                }
                region.finish();
            }
        }
    }

    /// Ends the operation: what it has written is durable. Only now are removed nodes free, and taken ones not.
    pub(super) fn close(mut self) {
        if let Access::Full(region) = &mut self.access {
            region.finish();
        }
        if let Some(free) = self.free {
            self.trees.structures.allocate(free);
        }
        let mut at = self.gone;
        while at.less(self.gone_end).branch(MORE_TO_GIVE) {
            let node = at.load();
            self.trees.structures.give(self.cpu, self.index, node);
            at = at + 8;
        }
    }

    /// Calls the recursive function for the node to which `link` leads.
    pub fn enter(&mut self, link: W<'c, C>) {
        self.calls.push(self.cpu.call(2));
        self.end.store(self.stack);
        self.end.at(8).store(link);
        self.end = self.end + CALL;
    }

    /// Returns from the latest call: its link.
    pub fn leave(&mut self) -> W<'c, C> {
        self.end = self.end - CALL;
        let link = self.end.at(8).load();
        self.end.load();
        self.calls.pop();
        link
    }

    /// The links of the calls that have not returned, the header's first: the positions of the first and behind the last.
    pub fn open_calls(&self) -> (W<'c, C>, W<'c, C>) {
        (self.stack, self.end)
    }

    /// The link of the call at this position, and the next position.
    pub fn open_call(&self, at: W<'c, C>) -> (W<'c, C>, W<'c, C>) {
        (at.at(8).load(), at + CALL)
    }

    /// Whether all calls have returned.
    pub fn has_returned(&self) -> Cond<'c, C> {
        self.end.equals(self.stack)
    }

    /// Whether a link is the header's.
    pub fn is_to_root(&self, link: W<'c, C>) -> Cond<'c, C> {
        link.equals(self.root_link())
    }

    /// The link to the root.
    pub fn root_link(&self) -> W<'c, C> {
        self.header.at(header::ROOT)
    }

    /// Writes a word that a level computes anew, changed or not: the link that its call returns, a height. Where each
    /// step logs what it writes, only changes are written.
    pub fn write_back(&mut self, at: W<'c, C>, word: W<'c, C>) {
        if let Access::Full(region) = &mut self.access {
            return region.update(at, word, 8);
        }
        if self.writes_back() {
            let mut change = Change::of(&[]);
            change.set(at, word);
            self.commit(change);
        }
    }

    /// Whether a level writes what it returns, changed or not.
    pub fn writes_back(&self) -> bool {
        !self.logs_steps()
    }
}

/// The line of a link: its node or header.
pub fn line<C: Cpu>(link: W<'_, C>) -> W<'_, C> {
    link & !(LINE_BYTES - 1)
}

/// The offset of a link in its line.
pub fn offset<C: Cpu>(link: W<'_, C>) -> W<'_, C> {
    link & (LINE_BYTES - 1)
}
