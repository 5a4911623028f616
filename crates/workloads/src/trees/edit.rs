//! An open operation on a tree: reads, steps, the path, allocation.

use super::Trees;
use crate::structures::Free;
use strandline_isa::{sites, Cpu, LINE_BYTES, W};
use strandline_runtime::{Log, Region, Step};

sites! {
    MORE_TO_GIVE = 0x2b0d_9a4f;
    MORE_OF_PATH = 0xc713_4ad9;
}

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
    /// The path: the addresses of the links that lead to a node, the header's first. It is in the program's volatile
    /// memory.
    path: W<'c, C>,
    /// The end of the path.
    end: W<'c, C>,
    /// The nodes that the operation has removed, behind the path, and their end.
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
    /// Opens an operation on tree `index`. The lane's list for paths starts at `path`.
    pub(super) fn open(trees: &'l Trees, cpu: &'c C, log: &'l mut Log<'c, C>, path: W<'c, C>, index: W<'c, C>) -> Self {
        let gone = path + 8 * trees.most_links;
        Tree {
            cpu,
            header: trees.structures.headers.row(index),
            path,
            end: path,
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

    /// Loads a word.
    pub async fn get(&mut self, at: W<'c, C>) -> W<'c, C> {
        let _call = at.call(2);
        match &mut self.access {
            Access::Full(region) => region.read(at, 8).await,
            // Outside regions: its lane holds the lock, and its earlier regions are finished.
            Access::Steps(_) => at.load().await,
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
    pub async fn log(&mut self, line: W<'c, C>) {
        if let Access::Full(region) = &mut self.access {
            region.log(line, 0, self.trees.logged_bytes).await;
        }
    }

    /// Adds the next free node to what full logging writes; [`Tree::take`] then takes it.
    pub(crate) async fn fresh(&mut self, free: &mut Free<'c, C>) {
        let _call = self.cpu.call(1);
        let node = self.trees.structures.next(self.cpu, free).await;
        if let Access::Full(region) = &mut self.access {
            region.fresh(node.expect("every key has nodes")).await;
        }
    }

    /// The tree's free nodes.
    pub(crate) async fn free(&mut self) -> Free<'c, C> {
        self.trees.structures.free(self.cpu, self.index).await
    }

    /// Ends full logging's first part: everything is logged.
    pub async fn order(&mut self) {
        if let Access::Full(region) = &mut self.access {
            region.order(Step::Last).await;
        }
    }

    /// A free node, for the operation to link.
    pub async fn take(&mut self) -> W<'c, C> {
        let _call = self.cpu.call(1);
        let mut free = match self.free {
            Some(free) => free,
            None => self.free().await,
        };
        let node = self.trees.structures.next(self.cpu, &mut free).await;
        self.free = Some(free);
        node.expect("every key has nodes")
    }

    /// The operation has unlinked this node.
    pub async fn gives(&mut self, node: W<'c, C>) {
        self.gone_end.store(node).await;
        self.gone_end = self.gone_end + 8;
    }

    /// Writes a step: in a region of its own under incremental logging.
    #[inline]
    pub async fn commit(&mut self, change: Change<'c, C>) {
        let _call = self.cpu.call(1);
        match &mut self.access {
            Access::Full(region) => {
                for (at, value) in change.writes {
                    region.update(at, value, 8).await;
                }
            }
            Access::Steps(log) => {
                let mut region = log.begin();
                for line in change.lines {
                    region.log(line, 0, self.trees.logged_bytes).await;
                }
                for node in change.fresh {
                    region.fresh(node).await;
                }
                region.order(Step::Last).await;
                for (at, value) in change.writes {
                    region.update(at, value, 8).await;
                }
                region.finish().await;
            }
        }
    }

    /// Ends the operation: what it has written is durable. Only now are removed nodes free, and taken ones not.
    pub(super) async fn close(mut self) {
        if let Access::Full(region) = &mut self.access {
            region.finish().await;
        }
        if let Some(free) = self.free {
            self.trees.structures.allocate(free).await;
        }
        let mut at = self.gone;
        while at.less(self.gone_end).branch(MORE_TO_GIVE) {
            let node = at.load().await;
            self.trees.structures.give(self.cpu, self.index, node).await;
            at = at + 8;
        }
    }

    /// Logs the lines of all links of the path under full logging: the header, and the nodes above the last one.
    pub async fn log_path(&mut self) {
        let _call = self.cpu.call(1);
        let mut at = self.path;
        while self.logs_fully() && at.less(self.end).branch(MORE_OF_PATH) {
            let link = at.load().await;
            self.log(line(link)).await;
            at = at + 8;
        }
    }

    /// Appends a link to the path.
    pub async fn push(&mut self, link: W<'c, C>) {
        self.end.store(link).await;
        self.end = self.end + 8;
    }

    /// The position of the path's last link.
    pub fn last(&self) -> W<'c, C> {
        self.end - 8
    }

    /// The position of the path's first link, the header's.
    pub fn first(&self) -> W<'c, C> {
        self.path
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
