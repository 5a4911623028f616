//! Filled memory, which programs of several runtimes share.

use strandline_isa::{Addr, Image};
use strandline_kernel::Params;
use strandline_runtime::{runtimes, BuildPlan, Logging, RUNTIME_PARAMS};
use strandline_workloads::{build, names, About};

/// All words of memory that a workload fills; `None` if its regions exceed the log.
fn filled(about: &About, window: Option<usize>, logging: Logging) -> Option<Vec<u64>> {
    let plan = BuildPlan {
        threads: 2,
        window,
        seed: 3,
        logging,
    };
    let (_, memory) = build(about.name, about.small.iter().copied(), &plan).ok()?;
    let volatile = (0..memory.dram_bytes()).step_by(8).map(|at| memory.word(Addr(at)));
    let persistent = memory.pm_words().into_iter().map(|word| word.get());
    Some(volatile.chain(persistent).collect())
}

#[test]
fn runtimes_that_fill_alike_leave_the_same_bytes() {
    let params = Params::defaults(RUNTIME_PARAMS);
    for about in names() {
        for window in [None, Some(3)] {
            let mut compared = 0;
            for runtime in runtimes() {
                let logging = Logging::of(runtime.runtime, &params, about.lock);
                let filling = logging.as_filling();
                if filling != logging {
                    let (own, other) = (filled(about, window, logging), filled(about, window, filling));
                    assert!(own.is_some() && own == other, "{} with {}", about.name, runtime.name);
                    compared += 1;
                }
            }
            assert_eq!(
                compared, 3,
                "write-ahead logs of three variants are those of the plain program"
            );
        }
    }
}
