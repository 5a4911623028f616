//! What the workloads of a paper have in common: its machine, its runtime, and its programs' locks.

use crate::About;
use strandline_runtime::LockKind;

const fn of(machine: &'static str, runtime: &'static str, lock: LockKind) -> About {
    About {
        name: "",
        aliases: &[],
        line: "",
        paper: "",
        machine,
        runtime,
        lock,
        across_hosts: false,
        tasks: 0,
        drift: None,
        params: &[],
        small: &[],
    }
}

/// COSPlay (MICRO 2021), Table 3.
pub(crate) const COSPLAY: About = of("cosplay", "undo", LockKind::Test);

/// StrandWeaver (ISCA 2020), Table II.
pub(crate) const STRANDWEAVER: About = of("strandweaver", "txn", LockKind::Test);

/// Speculative Persistence (ISCA 2017), Table 1.
pub(crate) const SPECULATIVE: About = of("sp", "log-p-sf", LockKind::Test);

/// ASAP (HPCA 2022): what orders its own stores.
pub(crate) const ASAP: About = of("asap", "undo", LockKind::Test);

/// Programs across hosts, of no paper: two hosts share a device.
pub(crate) const SHARED: About = of("cxl-asic", "undo", LockKind::Test);

/// ASAP, the structures after Atlas (OOPSLA 2014).
pub(crate) const ATLAS: About = of("asap", "atlas", LockKind::Pthread);

/// ASAP, the applications of WHISPER (ASPLOS 2017).
pub(crate) const WHISPER: About = of("asap", "txn", LockKind::Pthread);
