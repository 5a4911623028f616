//! Whether a machine has what a design needs.

use crate::Error;
use strandline_design::{About, Drains};
use strandline_machine::config::Consistency;
use strandline_machine::Machine;

/// Refuses a design on a machine that lacks what it needs.
///
/// # Errors
/// What is missing and how to get it.
pub fn check(about: &About, machine: &Machine) -> Result<(), Error> {
    let needs = about.needs;
    let missing = if needs.adr && !machine.controllers.adr {
        Some(("ADR", "machine.controllers.adr=true"))
    } else if needs.stores == Drains::InOrder && machine.core.consistency != Consistency::Tso {
        Some((
            "stores that become visible in order (TSO)",
            "machine.core.consistency=tso",
        ))
    } else if needs.stores == Drains::Weak && machine.core.consistency != Consistency::Weak {
        Some((
            "stores that become visible in any order between barriers (weak cores)",
            "machine.core.consistency=weak",
        ))
    } else {
        None
    };
    match missing {
        None => Ok(()),
        Some((what, set)) => Err(Error::Input(format!(
            "design {} needs {what}, which machine {} does not have; choose another design or machine, or --set {set}",
            about.name, machine.name
        ))),
    }
}
