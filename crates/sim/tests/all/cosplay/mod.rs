//! COSPlay on its machine: fences by context, looked at cycle by cycle.

mod ledger;
mod random;
#[path = "../../../../machine/tests/all/common/random_machine.rs"]
mod random_machine;
mod running_example;

use strandline_design::Design;
use strandline_designs::{cosplay, Cosplay};
use strandline_kernel::Params;

/// The design with `contexts` contexts.
fn with_contexts(contexts: u64) -> Cosplay {
    let mut design = cosplay();
    let count = contexts.to_string();
    let params = Params::parse("design", design.params(), [("contexts", count.as_str())]);
    design.set(&params.expect("a right number"));
    design
}
