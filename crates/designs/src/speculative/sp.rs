//! What the two designs of the family say of themselves.

use strandline_design::{About, Drains, Hosts, Needs};

/// Speculation past `pcommit` (Speculative Persistence, ISCA 2017), and with `adr` past an `sfence` alone.
pub fn about(adr: bool) -> About {
    let sp = About {
        name: "sp",
        paper: "Speculative Persistence (ISCA 2017)",
        summary: "clwb, sfence and pcommit; a core executes past them speculatively",
        needs: Needs {
            adr: false,
            stores: Drains::InOrder,
            hosts: Hosts::Coherent("a core learns by coherence that it has speculated on what another has changed"),
        },
        promises_recovery: true,
        model: "so",
        intents: Some("intents"),
        window: None,
    };
    match adr {
        false => sp,
        true => About {
            name: "sp-adr",
            summary: "clwb and sfence; a core executes past them speculatively (ADR)",
            needs: Needs { adr: true, ..sp.needs },
            model: "px86",
            ..sp
        },
    }
}
