//! The designs: commits in turn or pipelined, each with three persistency models.

use super::Asap;
use crate::epochs::persistency::Persistency;
use crate::parts::epochs::Commits;
use strandline_design::{About, Hosts, Needs};

/// The hosts that speculative writes allow.
const SPECULATED: Hosts = Hosts::Coherent(
    "controllers hold values that may be undone, which only coherence keeps from other hosts, and epochs that others wait for are lost in the buffers of a failed host",
);

const ABOUT: About = About {
    name: "asap-ep",
    paper: "ASAP IV, V",
    summary: "ofence and dfence; persist buffers flush at once, controllers undo what was too early",
    needs: Needs {
        hosts: SPECULATED,
        ..Needs::ADR_IN_ORDER
    },
    promises_recovery: true,
    model: "ep",
    intents: Some("intents"),
    window: None,
};

/// Eager flushing, epoch persistency.
#[must_use]
pub fn asap_ep() -> Asap {
    Asap::new(ABOUT, Persistency::Epoch, Commits::InTurn)
}

/// Eager flushing, release persistency.
#[must_use]
pub fn asap_rp() -> Asap {
    let about = About {
        name: "asap-rp",
        summary: "as asap-ep, and only acquires make threads wait for each other's epochs",
        model: "rp",
        ..ABOUT
    };
    Asap::new(about, Persistency::Release, Commits::InTurn)
}

/// Eager flushing, strand persistency.
#[must_use]
pub fn asap_strand() -> Asap {
    let about = About {
        name: "asap-strand",
        paper: "ASAP IV-A (beyond the paper)",
        summary: "eager flushing under strands: persist barriers order within a strand, ofences all of them",
        model: "asap-strand",
        ..ABOUT
    };
    Asap::new(about, Persistency::Strand, Commits::InTurn)
}

/// The paper of `asap-frontier`.
const OURS: &str = "none (docs/asap-frontier.md)";

/// Eager flushing and pipelined commits, epoch persistency.
#[must_use]
pub fn asap_frontier_ep() -> Asap {
    let about = About {
        name: "asap-frontier-ep",
        paper: OURS,
        summary: "as asap-ep, and commits are pipelined: each carries the frontier of its core's proved epochs",
        ..ABOUT
    };
    Asap::new(about, Persistency::Epoch, Commits::Pipelined)
}

/// Eager flushing and pipelined commits, release persistency.
#[must_use]
pub fn asap_frontier_rp() -> Asap {
    let about = About {
        name: "asap-frontier-rp",
        paper: OURS,
        summary: "as asap-rp, with the pipelined commits of asap-frontier-ep",
        model: "rp",
        ..ABOUT
    };
    Asap::new(about, Persistency::Release, Commits::Pipelined)
}

/// Eager flushing and pipelined commits, strand persistency.
#[must_use]
pub fn asap_frontier_strand() -> Asap {
    let about = About {
        name: "asap-frontier-strand",
        paper: OURS,
        summary: "as asap-strand, with pipelined commits: strands prove their epochs out of order",
        model: "asap-strand",
        ..ABOUT
    };
    Asap::new(about, Persistency::Strand, Commits::Pipelined)
}
