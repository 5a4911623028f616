//! The families of tests: the edges of each family's instructions, and its shapes.

use super::build::{Crash, Placement};
use super::edge::{Edge, Needs};
use super::shape::{Direction, Shape};

/// Tests for the models of one instruction set.
pub struct Family {
    /// The folder below `litmus/`.
    pub folder: &'static str,
    /// The model whose verdict decides the condition's quantifier.
    pub main: &'static str,
    /// The names of its shapes, smaller ones first.
    pub shapes: &'static [&'static str],
    /// The possible edges between two accesses, simpler ones first.
    pub edges: &'static [Edge],
    /// Maximum number of edges of a test that are more than program order.
    pub most: usize,
    /// Whether two locations share a line.
    pub lines: bool,
    /// Whether accesses to locations of several threads are acquires and releases.
    pub synchronised: bool,
    /// What fails, each: none if the threads are on one host.
    pub crashes: &'static [Option<Crash>],
}

impl Family {
    /// Its shapes.
    pub fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.shapes.iter().map(|name| {
            let known = SHAPES.iter().find(|(known, _)| known == name);
            let (name, accesses) = known.expect("a shape of the table");
            Shape::of(name, accesses)
        })
    }

    /// The possible memories of a shape's locations.
    pub fn placements(&self, shape: &Shape) -> Vec<Placement> {
        let between = shape.between();
        let mut found = Vec::new();
        let apart = self.crashes.iter().any(Option::is_some);
        for dram in [true, false] {
            // Hosts share persistent memory only.
            if dram && (between.is_empty() || apart) {
                continue;
            }
            found.push(Placement { dram, line: None });
            if !self.lines {
                continue;
            }
            let accesses = shape
                .threads
                .iter()
                .flatten()
                .filter(|access| access.direction != Direction::Output);
            let mut persistent: Vec<char> = accesses.map(|access| access.at).collect();
            persistent.retain(|at| !dram || !between.contains(at));
            persistent.sort_unstable();
            persistent.dedup();
            for (index, a) in persistent.iter().enumerate() {
                let lines = persistent[index + 1..].iter().map(|b| Some((*a, *b)));
                found.extend(lines.map(|line| Placement { dram, line }));
            }
        }
        found
    }
}

const PO: Edge = Edge::any("po", "");

/// The accesses of each shape.
const SHAPES: &[(&str, &str)] = &[
    // These end in a crash.
    ("ww", "Wx Wz"),
    ("wo", "Wx Oo"),
    ("www", "Wx Wy Wz"),
    ("wwo", "Wx Wy Oo"),
    ("mp", "Wx Wf | Rf Wz"),
    ("mpo", "Wx Wf | Rf Oo"),
    ("wrw", "Wx | Rx Wz"),
    ("wro", "Wx | Rx Oo"),
    ("co", "Wx Wf | Wf Wz"),
    ("coo", "Wx Wf | Wf Oo"),
    ("fr", "Wx Rf | Wf Wz"),
    ("over", "Wx | Wx Wz"),
    ("isa2", "Wx Wf | Rf Wg | Rg Wz"),
    ("wrc", "Wx | Rx Wf | Rf Wz"),
    ("mpw", "Wx Wf | Rf Wy Oo"),
    // Cycles without a crash: what threads may observe.
    ("sb", "Wx Rf | Wf Rx"),
    ("lb", "Rx Wf | Rf Wx"),
    ("see", "Wx Wf | Rf Rx"),
    ("2+2w", "Wx Wf | Wf Wx"),
    ("r", "Wx Wf | Wf Rx"),
    ("s", "Wx Wf | Rf Wx"),
];

/// All shapes with a crash.
const CRASHES: &[&str] = &[
    "ww", "wo", "www", "wwo", "mp", "mpo", "wrw", "wro", "co", "coo", "fr", "over", "isa2", "wrc", "mpw",
];

/// All families.
pub const FAMILIES: &[&Family] = &[
    &X86, &PCOMMIT, &CFENCE, &STRAND, &EPOCH, &RELEASE, &WEAK, &INTENTS, &HOSTS,
];

const X86: Family = Family {
    folder: "x86",
    main: "px86",
    shapes: &["ww", "wo", "mp", "mpo", "wrw", "wro", "www", "isa2", "wrc"],
    edges: &[
        PO,
        Edge::after_store("clwb", "CLWB a"),
        Edge::any("clwb.sfence", "CLWB a; SFENCE"),
        Edge::any("clwb.mfence", "CLWB a; MFENCE"),
        Edge::of("clwb.locked", ('_', 'L'), "CLWB a"),
        Edge::any("opt.sfence", "CLFLUSHOPT a; SFENCE"),
        Edge::any("opt.mfence", "CLFLUSHOPT a; MFENCE"),
        Edge::any("clflush", "CLFLUSH a"),
        Edge::any("clflush.sfence", "CLFLUSH a; SFENCE"),
        Edge::any("clflush.mfence", "CLFLUSH a; MFENCE"),
        Edge::of("clflush.locked", ('_', 'L'), "CLFLUSH a"),
        Edge::of("nt", ('N', '_'), ""),
        Edge::of("nt.sfence", ('N', '_'), "SFENCE"),
        Edge::of("nt.mfence", ('N', '_'), "MFENCE"),
        Edge::of("nt.locked", ('N', 'L'), ""),
        Edge::of("nt.clflush-next", ('N', 'W'), "CLFLUSH b"),
        Edge::after_store("clwb-neighbour.sfence", "CLWB n; SFENCE"),
        Edge::after_store("clflush-neighbour", "CLFLUSH n"),
        Edge::of("to-nt", ('_', 'N'), ""),
        Edge::of("clwb.sfence.to-nt", ('_', 'N'), "CLWB a; SFENCE"),
        Edge::any("sfence", "SFENCE"),
        Edge::any("mfence", "MFENCE"),
        Edge::of("from-locked", ('L', '_'), ""),
    ],
    most: 2,
    lines: true,
    synchronised: false,
    crashes: &[None],
};

const PCOMMIT: Family = Family {
    folder: "pcommit",
    main: "so",
    shapes: &["ww", "wo", "mp", "mpo", "wrw"],
    edges: &[
        PO,
        Edge::any("clwb.sfence", "CLWB a; SFENCE"),
        Edge::any("clwb.barrier", "CLWB a; SFENCE; PCOMMIT; SFENCE"),
        Edge::any("clwb.mfence-barrier", "CLWB a; MFENCE; PCOMMIT; MFENCE"),
        Edge::any("opt.barrier", "CLFLUSHOPT a; SFENCE; PCOMMIT; SFENCE"),
        Edge::any("clflush.pcommit.sfence", "CLFLUSH a; PCOMMIT; SFENCE"),
        Edge::of("nt.barrier", ('N', '_'), "SFENCE; PCOMMIT; SFENCE"),
        Edge::of("clwb.barrier-locked", ('_', 'L'), "CLWB a; SFENCE; PCOMMIT"),
        Edge::any("pcommit.sfence", "PCOMMIT; SFENCE"),
    ],
    most: 2,
    lines: false,
    synchronised: false,
    crashes: &[None],
};

const CFENCE: Family = Family {
    folder: "cfence",
    main: "cfence",
    shapes: &["ww", "wo", "www", "mp", "mpo", "wrw"],
    edges: &[
        PO,
        Edge::any("clwb.cfence", "CLWB a; CFENCE $0"),
        Edge::any("opt.cfence", "CLFLUSHOPT a; CFENCE $0"),
        Edge::any("clflush", "CLFLUSH a"),
        Edge::of("nt.cfence", ('N', '_'), "CFENCE $0"),
        Edge::any("clwb.other-cfence", "CLWB a; CFENCE $1"),
        Edge::any("clwb.cfence-1", "CLWB a; CFENCE $1").before("SETCTX $1"),
        Edge::any("clwb.cfence.then-1", "CLWB a; CFENCE $0; SETCTX $1"),
        Edge::any("clwb-by-1.cfence", "SETCTX $1; CLWB a; SETCTX $0; CFENCE $0"),
        Edge::any("clwb.sfence.then-1", "CLWB a; SFENCE; SETCTX $1"),
    ],
    most: 2,
    lines: false,
    synchronised: false,
    crashes: &[None],
};

const STRAND: Family = Family {
    folder: "strand",
    main: "strand",
    shapes: &[
        "ww", "wo", "www", "wwo", "mp", "mpo", "wrw", "co", "coo", "fr", "over", "mpw",
    ],
    edges: &[
        PO,
        Edge::any("pb", "PB"),
        Edge::any("js", "JS"),
        Edge::any("ns", "NS"),
        Edge::any("pb.ns", "PB; NS"),
        Edge::any("ns.pb", "NS; PB"),
        Edge::any("ns.js", "NS; JS"),
        Edge::any("js.ns", "JS; NS"),
    ],
    most: 3,
    lines: false,
    synchronised: false,
    crashes: &[None],
};

const EPOCH: Family = Family {
    folder: "epoch",
    main: "ep",
    shapes: CRASHES,
    edges: &[PO, Edge::any("ofence", "OFENCE"), Edge::any("dfence", "DFENCE")],
    most: 3,
    lines: false,
    synchronised: false,
    crashes: &[None],
};

const RELEASE: Family = Family {
    folder: "release",
    main: "rp",
    shapes: CRASHES,
    edges: &[
        PO,
        Edge::any("ofence", "OFENCE"),
        Edge::any("dfence", "DFENCE"),
        Edge::of("to-release", ('_', 'S'), ""),
        Edge::of("from-acquire", ('A', '_'), ""),
        Edge::of("from-release", ('S', '_'), ""),
    ],
    most: 3,
    lines: false,
    synchronised: true,
    crashes: &[None],
};

const WEAK: Family = Family {
    folder: "weak",
    main: "rcbsp:weak-stores",
    shapes: &[
        "ww", "wo", "www", "mp", "mpo", "wrw", "wro", "co", "coo", "fr", "over", "isa2", "wrc", "sb", "lb", "see",
        "2+2w", "r", "s",
    ],
    edges: &[
        PO.independent(),
        Edge::of("data", ('R', 'W'), ""),
        Edge::through("addr", 'R', Needs::Address),
        Edge::through("addr", 'W', Needs::Address),
        Edge::through("ctrl", '_', Needs::Branch),
        Edge::any("dmb", "DMB").independent(),
        Edge::any("dfence", "DFENCE").independent(),
        Edge::of("locked", ('_', 'L'), "").independent(),
        Edge::of("dmb.locked", ('_', 'L'), "DMB").independent(),
    ],
    most: 3,
    lines: false,
    synchronised: false,
    crashes: &[None],
};

const INTENTS: Family = Family {
    folder: "intents",
    main: "intents",
    shapes: &["ww", "wo", "www", "wwo", "mp", "mpo", "co", "coo", "isa2", "mpw"],
    edges: &[
        PO,
        Edge::after_store("order", "PERSIST a; ORDER"),
        Edge::after_store("commit", "PERSIST a; COMMIT"),
        Edge::after_store("durable", "PERSIST a; DURABLE"),
        Edge::after_store("neighbour-order", "PERSIST n; ORDER"),
        Edge::after_store("neighbour-durable", "PERSIST n; DURABLE"),
        Edge::after_store("durable.strand", "PERSIST a; DURABLE; STRAND"),
        Edge::after_store("order.strand", "PERSIST a; ORDER; STRAND"),
        Edge::after_store("strand.order", "PERSIST a; STRAND; ORDER"),
        Edge::after_store("strand.commit", "PERSIST a; STRAND; COMMIT"),
        Edge::after_store("strand.durable", "PERSIST a; STRAND; DURABLE"),
    ],
    most: 3,
    lines: false,
    synchronised: false,
    crashes: &[None],
};

/// Threads on two hosts, of which either fails, or all power.
const HOSTS: Family = Family {
    folder: "cxl-cycles",
    main: "cxl-coherent",
    shapes: &["wrw", "wro", "mp", "mpo", "co", "coo", "fr", "see", "sb", "r", "s"],
    edges: &[
        PO,
        Edge::after_store("clwb", "CLWB a"),
        Edge::any("clwb.sfence", "CLWB a; SFENCE"),
        Edge::any("clflush", "CLFLUSH a"),
        Edge::of("nt.sfence", ('N', '_'), "SFENCE"),
        Edge::any("mfence", "MFENCE"),
        Edge::of("opt-next.mfence", ('_', 'R'), "CLFLUSHOPT b; MFENCE"),
        Edge::of(
            "clwb.mfence.opt-next.mfence",
            ('W', 'R'),
            "CLWB a; MFENCE; CLFLUSHOPT b; MFENCE",
        ),
    ],
    most: 2,
    lines: false,
    synchronised: false,
    crashes: &[Some(Crash::Power), Some(Crash::First), Some(Crash::Second)],
};
