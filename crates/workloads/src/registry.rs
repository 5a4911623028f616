//! Names and descriptions of workloads.

use crate::operations::OPERATIONS;
use std::fmt;
use std::rc::Rc;
use strandline_isa::Memory;
use strandline_kernel::{did_you_mean, Param, ParamError, Params};
use strandline_runtime::{BuildPlan, Demand, Heap, HostBytes, LockKind, Program, Workload, MAX_LANES};

/// Another name of a workload, which may set parameters.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The other name.
    pub name: &'static str,
    /// Keys and values that it sets, unless the user does.
    pub set: &'static [(&'static str, &'static str)],
}

/// The description of a workload, available without building it.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [Alias],
    /// What it does, in one line.
    pub line: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// The machine preset of that paper.
    pub machine: &'static str,
    /// That paper's runtime: one of [`strandline_runtime::runtimes`].
    pub runtime: &'static str,
    /// The locks that the paper's program takes around its regions.
    pub lock: LockKind,
    /// Whether its threads share no volatile memory, and see each other's persistent writes without coherence: they may be
    /// on several hosts.
    pub across_hosts: bool,
    /// Default number of tasks of a run, all threads together.
    pub tasks: u64,
    /// Why a task's time depends on how many have ended before it, so that a mean depends on the length of the run; `None`
    /// if tasks are stationary.
    pub drift: Option<&'static str>,
    /// What can be set.
    pub params: &'static [Param],
    /// Keys and values that make it small: threads contend, crash images are cheap, and the ring of its log has the
    /// minimum size.
    pub small: &'static [(&'static str, &'static str)],
}

impl About {
    /// The keys and values that `name` sets, if it is an alias.
    #[must_use]
    pub fn sets(&self, name: &str) -> &'static [(&'static str, &'static str)] {
        let alias = self.aliases.iter().find(|alias| alias.name == name);
        alias.map_or(&[], |alias| alias.set)
    }

    /// Whether its regions have logs.
    #[must_use]
    pub fn is_logged(&self) -> bool {
        self.params.iter().any(|param| param.name == "log_records")
    }

    /// All its names, its own first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().map(|alias| alias.name))
    }
}

/// What compiles a workload for a back end of its own.
pub trait Visitor {
    /// What comes of it.
    type Out;

    /// Receives the workload and the layout of its memory, which is still to be filled.
    fn visit<W: Workload + 'static>(self, workload: W, heap: Heap) -> Self::Out;
}

/// A workload for any back end, and the layout of its memory.
pub type LaidOut = (Rc<dyn Program>, Heap);

struct Erased;

impl Visitor for Erased {
    type Out = LaidOut;

    fn visit<W: Workload + 'static>(self, workload: W, heap: Heap) -> LaidOut {
        (Rc::new(workload), heap)
    }
}

/// A workload for any back end, and its filled memory.
pub type Built = (Rc<dyn Program>, Memory);

/// Builds the workload `name`, with the user's parameters `set` as keys and values.
///
/// # Errors
/// An unknown name; no thread, or more concurrent tasks than an undo log supports; an unknown parameter, or one out of
/// range.
pub fn build<'a>(
    name: &str,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
    plan: &BuildPlan,
) -> Result<Built, Error> {
    let (program, heap) = lay_out(name, set, plan)?;
    let memory = program.filled(&heap);
    Ok((program, memory))
}

/// As [`build`], and leaves memory to be filled.
///
/// # Errors
/// As [`build`].
pub fn lay_out<'a>(
    name: &str,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
    plan: &BuildPlan,
) -> Result<LaidOut, Error> {
    lay_out_chosen(name, &set.into_iter().collect::<Vec<_>>(), plan)
}

/// As [`lay_out`]. Not generic, so that all workloads are compiled here.
fn lay_out_chosen(name: &str, set: &[(&str, &str)], plan: &BuildPlan) -> Result<LaidOut, Error> {
    with_workload(name, set.iter().copied(), plan, Erased)
}

/// No workload could be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is none of this name.
    Unknown(String),
    /// A parameter is wrong.
    Param(ParamError),
    /// No concurrent task, or more than undo logs support.
    Lanes {
        /// Threads.
        threads: usize,
        /// Tasks of each at once.
        window: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown(name) => {
                let meant = did_you_mean(name, ALL.iter().flat_map(About::names));
                write!(f, "workload {name}: unknown name{meant} (`strandline list workloads` shows all)")
            }
            Error::Param(error) => error.fmt(f),
            Error::Lanes { threads, window } => write!(
                f,
                "--threads {threads} with --window {window}: must be from 1 to {MAX_LANES} tasks at once, all threads together; ask for fewer threads or a smaller window"
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        Error::Param(error)
    }
}

macro_rules! workloads {
    ($($type:ty: $about:expr,)*) => {
        const ALL: &[About] = &[$($about),*];

        /// Lays the workload `name` out, with the user's parameters `set` as keys and values, and passes it to `visitor`.
        ///
        /// # Errors
        /// As [`build`].
        pub fn with_workload<'a, V: Visitor>(
            name: &str,
            set: impl IntoIterator<Item = (&'a str, &'a str)>,
            plan: &BuildPlan,
            visitor: V,
        ) -> Result<V::Out, Error> {
            let (about, params) = chosen(name, set, plan)?;
            $(if about.name == $about.name {
                fits(&params, plan, <$type>::region)?;
                let (workload, heap) = <$type>::lay_out(&params, plan)?;
                return Ok(visitor.visit(workload, heap));
            })*
            unreachable!("{} is described but has no type", about.name)
        }

        /// The host memory for the workload `name`. Builds nothing.
        ///
        /// # Errors
        /// As [`build`].
        pub fn memory_bytes<'a>(
            name: &str,
            set: impl IntoIterator<Item = (&'a str, &'a str)>,
            plan: &BuildPlan,
        ) -> Result<HostBytes, Error> {
            let (about, params) = chosen(name, set, plan)?;
            $(if about.name == $about.name {
                fits(&params, plan, <$type>::region)?;
                let heap = <$type>::lay_out(&params, plan)?.1;
                return Ok(heap.host_bytes(<$type>::region(&params)));
            })*
            unreachable!("{} is described but has no type", about.name)
        }
    };
}

workloads! {
    crate::sps::Sps: crate::sps::ABOUT,
    crate::pc::Pc: crate::pc::ABOUT,
    crate::tatp::Tatp: crate::tatp::ABOUT,
    crate::tpcc::Tpcc: crate::tpcc::ABOUT,
    crate::cq::Cq: crate::cq::ABOUT,
    crate::hashmap::Hashmap: crate::hashmap::ABOUT,
    crate::rb_tree::RbTree: crate::rb_tree::ABOUT,
    crate::nstore::Nstore: crate::nstore::ABOUT,
    crate::bandwidth::Bandwidth: crate::bandwidth::ABOUT,
    crate::linked_list::LinkedList: crate::linked_list::ABOUT,
    crate::sp_hashmap::SpHashmap: crate::sp_hashmap::ABOUT,
    crate::string_swap::StringSwap: crate::string_swap::ABOUT,
    crate::graph::Graph: crate::graph::ABOUT,
    crate::avl_tree::AvlTree: crate::avl_tree::ABOUT,
    crate::b_tree::BTree: crate::b_tree::ABOUT,
    crate::sp_rb_tree::SpRbTree: crate::sp_rb_tree::ABOUT,
    crate::maps::Program<crate::cceh::Cceh>: crate::cceh::ABOUT,
    crate::maps::Program<crate::dash_eh::DashEh>: crate::dash_eh::ABOUT,
    crate::maps::Program<crate::dash_lh::DashLh>: crate::dash_lh::ABOUT,
    crate::maps::Program<crate::fast_fair::FastFair>: crate::fast_fair::ABOUT,
    crate::maps::Program<crate::p_art::Art>: crate::p_art::ABOUT,
    crate::maps::Program<crate::p_clht::Clht>: crate::p_clht::ABOUT,
    crate::heap::PriorityQueue: crate::heap::ABOUT,
    crate::atlas_queue::AtlasQueue: crate::atlas_queue::ABOUT,
    crate::skiplist::SkipList: crate::skiplist::ABOUT,
    crate::maps::Program<crate::p_masstree::Masstree>: crate::p_masstree::ABOUT,
    crate::memcached::Memcached: crate::memcached::ABOUT,
    crate::vacation::Vacation: crate::vacation::ABOUT,
    crate::echo::Echo: crate::echo::ABOUT,
    crate::publish::Publish: crate::publish::ABOUT,
    crate::shared_heap::SharedHeap: crate::shared_heap::ABOUT,
    crate::host_queue::HostQueue: crate::host_queue::ABOUT,
    crate::shared_log::SharedLog: crate::shared_log::ABOUT,
}

/// The requested workload and its parameters.
fn chosen<'a>(
    name: &str,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
    plan: &BuildPlan,
) -> Result<(&'static About, Params), Error> {
    let about = describe(name)?;
    if !(1..=MAX_LANES).contains(&plan.lanes()) {
        let window = plan.window.unwrap_or(1);
        return Err(Error::Lanes {
            threads: plan.threads,
            window,
        });
    }
    let presets = about.sets(name);
    let params = Params::parse("workload", about.params, presets.iter().copied().chain(set))?;
    Ok((about, params))
}

/// Refuses regions that exceed the runtime's log; the error has the maximum number of operations.
fn fits(params: &Params, plan: &BuildPlan, region: fn(&Params) -> Demand) -> Result<(), Error> {
    let Err(excess) = plan.logging.admits(region(params)) else {
        return Ok(());
    };
    let key = OPERATIONS.name;
    let with = |operations: u64| region(&params.with(key, operations));
    let most = (1..params.get(key))
        .take_while(|operations| plan.logging.admits(with(*operations)).is_ok())
        .last();
    let instead = match most {
        Some(most) => format!("set workload.{key} to at most {most}, or choose another --runtime"),
        None => "choose another --runtime".to_owned(),
    };
    Err(Error::Param(ParamError(format!(
        "workload.{key}={}: {excess} ({}); {instead}",
        params.get(key),
        plan.logging.runtime.name()
    ))))
}

/// All workloads.
#[must_use]
pub fn names() -> &'static [About] {
    ALL
}

/// The description of the workload `name`, or of the workload with this alias.
///
/// # Errors
/// If there is none.
pub fn describe(name: &str) -> Result<&'static About, Error> {
    let found = ALL.iter().find(|about| about.names().any(|known| known == name));
    found.ok_or_else(|| Error::Unknown(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_suggests_the_nearest() {
        let error = describe("array-swp").unwrap_err();
        assert!(error.to_string().contains("did you mean array-swap?"), "{error}");
    }

    #[test]
    fn names_and_keys_are_told_apart_and_defaults_lie_in_their_ranges() {
        let mut names: Vec<&str> = ALL.iter().flat_map(About::names).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        for about in ALL {
            assert!(
                strandline_runtime::Runtime::named(about.runtime).is_some(),
                "{}",
                about.name
            );
            for (i, param) in about.params.iter().enumerate() {
                assert!(
                    (param.min..=param.max).contains(&param.default),
                    "{}: {}",
                    about.name,
                    param.name
                );
                assert!(about.params[..i].iter().all(|other| other.name != param.name));
            }
            let why = about.drift.unwrap_or("why");
            assert!(
                !why.is_empty() && !why.ends_with('.'),
                "{}: a part of a line",
                about.name
            );
            let small = Params::parse("workload", about.params, about.small.iter().copied()).unwrap();
            assert_ne!(small, Params::defaults(about.params), "{}", about.name);
        }
    }
}
