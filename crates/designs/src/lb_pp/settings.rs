//! The parameters of LB++, and its storage.

use crate::parts::epochs::bits;
use strandline_design::Sizes;
use strandline_isa::LINE_BYTES;
use strandline_kernel::{Param, Params};

/// `--set design.idt=0|1`.
pub const IDT: Param = Param {
    name: "idt",
    default: 1,
    min: 0,
    max: 1,
    help: "whether inter-thread dependences are tracked in registers, in place of online flushes",
    source: "LB++ (MICRO 2015); ASAP I, IV-A",
    words: &["off", "on"],
};

/// `--set design.proactive=0|1`.
pub const PROACTIVE: Param = Param {
    name: "proactive",
    default: 1,
    min: 0,
    max: 1,
    help: "whether an epoch is flushed once it has ended, in place of at a conflict",
    source: "LB++ (MICRO 2015); ASAP I, IV-A",
    words: &["off", "on"],
};

/// `--set design.epochs=N`: not in the papers.
pub const EPOCHS: Param = Param {
    name: "epochs",
    default: 8,
    min: 2,
    max: 4096,
    help: "epochs of a core that are not durable",
    source: "not in the papers",
    words: &[],
};

/// `--set design.registers=N`: not in the papers.
pub const REGISTERS: Param = Param {
    name: "registers",
    default: 4,
    min: 1,
    max: 64,
    help: "dependence registers of an epoch",
    source: "not in the papers",
    words: &[],
};

/// The values of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Dependences are tracked in registers.
    pub idt: bool,
    /// Epochs are flushed once they have ended.
    pub proactive: bool,
    /// Epochs of a core that are not durable.
    pub epochs: usize,
    /// Dependence registers of an epoch.
    pub registers: usize,
}

impl Settings {
    /// The parameters.
    pub const PARAMS: &'static [Param] = &[IDT, PROACTIVE, EPOCHS, REGISTERS];

    /// These values.
    pub fn of(params: &Params) -> Settings {
        Settings {
            idt: params.get(IDT.name) == 1,
            proactive: params.get(PROACTIVE.name) == 1,
            epochs: params.get(EPOCHS.name) as usize,
            registers: params.get(REGISTERS.name) as usize,
        }
    }

    /// Each line of the caches has the number of its core and epoch. Each epoch has dependence and
    /// inform registers.
    pub fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let epoch = bits(machine.cores) + bits(self.epochs as u64);
        let lines = (machine.cores * machine.private_bytes + machine.shared_bytes) / LINE_BYTES;
        let mut storage = vec![("epoch tags", (lines * epoch).div_ceil(8))];
        if self.idt {
            let registers = 2 * (self.epochs * self.registers) as u64;
            storage.push(("dependence registers", machine.cores * (registers * epoch).div_ceil(8)));
        }
        storage
    }
}
