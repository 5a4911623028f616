//! How tests start programs on cores.

use strandline_isa::CoreId;
use strandline_machine::{factory, SimCpu, System};

/// Starts a program on a core of the system.
pub fn start(system: &mut System, core: u16, program: impl Fn(&SimCpu<'_>) + 'static) {
    system.start(CoreId(core), factory(program));
}
