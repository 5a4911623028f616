//! Programs across hosts: they survive that power fails, and that a host does; and each part of their protocols is needed.
//! Each design runs one on hosts that a directory keeps alike, or says why not.

mod page;

use crate::case::Case;
use crate::exploration::explored;
use crate::planted::Planted;
use crate::thinning::amount;
use strandline_crash::litmus::{Registered, Subject};
use strandline_crash::{Points, Request, Stop};
use strandline_design::Hosts;
use strandline_sim::Spec;
use strandline_workloads::{names, About};

/// Crash states in which an omission must show.
const POINTS: u64 = 1_500;

/// The others learn soon that a host has failed, so that they find more half done.
const TOLD_SOON: &str = "machine.cxl.detection=200";

/// A directory keeps the copies of hosts alike.
const ALIKE: &str = "machine.cxl.coherence=hardware";

/// Omissions that only the failure of a host shows.
const OF_A_FAILURE: &[(&str, u64)] = &[("shared-heap", 7)];

/// Omissions that only reserve power shows that ends too early.
const OF_A_RESERVE: &[(&str, u64)] = &[("shared-log", 5)];

/// Reserve power for six pages of a device's cache, which are lines here.
const SHORT_RESERVE: [&str; 2] = ["machine.cxl.cache_page_bytes=64", "machine.fail.hold_up=200ns"];

/// All of them.
pub fn cases() -> Vec<Case> {
    let programs = || names().iter().filter(|about| about.across_hosts);
    let (right, omitted) = (programs().flat_map(right), programs().flat_map(omitted));
    let page = Case::new("tables", "docs_cxl_md_has_the_hosts_of_designs", 1, page::is_current);
    let refusals = Case::new("hosts", "refusals", 1, refusals);
    let lossy = programs().filter_map(lossy);
    let all = right.chain(omitted).chain(lossy).chain(designs());
    all.chain([page, refusals, without_adr()]).collect()
}

/// Each design that promises recovery, on the hosts that it runs on. On hosts that a directory keeps alike its model judges
/// every crash state.
fn designs() -> impl Iterator<Item = Case> {
    let programs = names().iter().filter(|about| about.across_hosts).cycle();
    let designs = Registered::all().into_iter().map(|design| design.about());
    let promise = designs.filter(|about| about.promises_recovery && !interrupts(about.name));
    promise.zip(programs).flat_map(|(design, program)| {
        let any: &[(bool, Option<u64>)] = &[(true, None), (true, Some(0)), (false, None), (false, Some(0))];
        let kinds = match design.needs.hosts {
            Hosts::Any => any,
            Hosts::Apart(_) => &any[2..],
            Hosts::Saved(_) => &any[..2],
            Hosts::Coherent(_) => &any[..1],
        };
        let shapes: &[(u64, u64)] = if amount().thorough {
            &[(2, 2), (3, 3), (2, 4), (4, 4)]
        } else {
            &[(2, 4)]
        };
        let pairs = kinds
            .iter()
            .flat_map(move |kind| shapes.iter().map(move |shape| (*kind, *shape)));
        pairs.map(move |(kind, shape)| of_design(&design, program, kind, shape))
    })
}

fn of_design(
    design: &strandline_design::About,
    program: &'static About,
    kind: (bool, Option<u64>),
    shape: (u64, u64),
) -> Case {
    let ((alike, fails), (hosts, threads)) = (kind, shape);
    let mut spec = Spec {
        tasks: (!amount().thorough).then_some(8),
        design: design.name.to_owned(),
        ..run(program, hosts, threads, 0)
    };
    spec.set.push(TOLD_SOON.to_owned());
    spec.set.extend(alike.then(|| ALIKE.to_owned()));
    let name = format!(
        "{}-{}-{hosts}-hosts-{threads}-threads-{alike}-alike-{fails:?}-fails",
        design.name, program.name
    );
    Case::new("hosts", name, 60, move || {
        let points = if amount().thorough { 2_000 } else { 12 };
        found(&spec, fails, points).map_or(Ok(()), Err)
    })
}

/// Without ADR a fence waits until lines are on the media; not for one that was lost with its host.
fn without_adr() -> Case {
    let about = names().iter().find(|about| about.across_hosts).expect("a program");
    let mut spec = Spec {
        design: "dccvap".to_owned(),
        ..run(about, 2, 2, 0)
    };
    spec.set.push("machine.controllers.adr=false".to_owned());
    Case::new("hosts", "without-adr".to_owned(), 60, move || {
        found(&spec, Some(0), 40).map_or(Ok(()), Err)
    })
}

/// Whether a design needs programs that begin a region again, as none across hosts does.
fn interrupts(design: &str) -> bool {
    strandline_designs::design(design).is_some_and(|design| design.lowering().interrupts())
}

/// Designs that need hosts kept alike are refused on others, and where one fails, in a line that says what is missing.
fn refusals() -> Result<(), String> {
    let program = names().iter().find(|about| about.across_hosts).expect("a program");
    for design in Registered::all().iter().map(Subject::about) {
        let all = [&[][..], &[ALIKE, "machine.simulation.fails=h0"], &[ALIKE]];
        let (mechanism, refused) = match design.needs.hosts {
            Hosts::Any => continue,
            Hosts::Apart(mechanism) => (mechanism, &all[1..]),
            Hosts::Saved(mechanism) => (mechanism, &all[..1]),
            Hosts::Coherent(mechanism) => (mechanism, &all[..2]),
        };
        for sets in refused {
            let mut spec = Spec {
                design: design.name.to_owned(),
                ..run(program, 2, 2, 0)
            };
            spec.set.extend(sets.iter().map(|set| (*set).to_owned()));
            let error = strandline_sim::run(&spec).err().map(|error| error.to_string());
            let says = error
                .as_ref()
                .is_some_and(|line| line.contains(mechanism) && !line.contains('\n'));
            if !says {
                return Err(format!("{} {sets:?}: {error:?}", design.name));
            }
        }
    }
    let there = "there are 2 hosts (give one of h0 to h1)";
    let more = "there is one host (give more, as with --set machine.hosts=2)";
    for (host, hosts, says) in [(3, 2, there), (0, 1, more)] {
        let error = with_failure(&run(program, hosts, 2, 0), host, 2).answer(Stop::default());
        let error = error.err().map(|error| error.to_string());
        if error != Some(format!("--fails h{host}: {says}")) {
            return Err(format!("--fails h{host}: {error:?}"));
        }
    }
    Ok(())
}

/// A program on so many hosts, of which some have two cores.
fn run(about: &About, hosts: u64, threads: u64, omit: u64) -> Spec {
    Spec {
        threads: Some(threads),
        set: vec![format!("machine.hosts={hosts}"), format!("workload.omit={omit}")],
        ..Spec::new(about.name, "x86")
    }
}

fn with_failure(run: &Spec, host: u64, points: u64) -> Request {
    Request {
        run: run.clone(),
        points: Points::Count(points),
        replay: None,
        fails: Some(format!("h{host}")),
        max_failures: Some(1),
    }
}

/// The failure that is found first, of power alone or of a host.
fn found(run: &Spec, fails: Option<u64>, points: u64) -> Option<String> {
    let Some(host) = fails else {
        let found = explored(&Planted::unbroken(&run.design), run, Points::Count(points));
        return found.map(|found| found.text);
    };
    let report = with_failure(run, host, points)
        .answer(Stop::default())
        .expect("a right request");
    report
        .failures
        .first()
        .map(|failure| format!("{}; strandline {}", failure.why, failure.replay))
}

fn with_short_reserve(mut spec: Spec) -> Spec {
    spec.set.extend(SHORT_RESERVE.map(str::to_owned));
    Spec {
        machine: Some("cmm-h".to_owned()),
        ..spec
    }
}

/// A program that reads the dirty-shutdown bit recovers from what it has lost.
fn lossy(about: &'static About) -> Option<Case> {
    let reads_it = OF_A_RESERVE.iter().any(|(name, _)| *name == about.name);
    let judge = || found(&with_short_reserve(run(about, 2, 2, 0)), None, 60).map_or(Ok(()), Err);
    reads_it.then(|| Case::new("hosts", format!("{}-short-reserve", about.name), 30, judge))
}

fn right(about: &'static About) -> Vec<Case> {
    let shapes: &[(u64, u64)] = match amount().thorough {
        true => &[(2, 2), (2, 4), (3, 3), (3, 6), (4, 4), (4, 8)],
        false => &[(2, 2), (2, 4), (3, 3)],
    };
    let of = move |(hosts, threads): &(u64, u64)| {
        let (hosts, threads) = (*hosts, *threads);
        let fails = move |fails: Option<u64>| {
            let name = format!("{}-{hosts}-hosts-{threads}-threads-{fails:?}-fails", about.name);
            let points = if amount().thorough { 4_000 } else { 12 };
            Case::new("hosts", name, 30, move || {
                let mut spec = Spec {
                    tasks: (!amount().thorough).then_some(16),
                    ..run(about, hosts, threads, 0)
                };
                if hosts == threads {
                    spec.set.push(TOLD_SOON.to_owned());
                }
                found(&spec, fails, points).map_or(Ok(()), Err)
            })
        };
        let failing = (0..hosts).filter(move |host| amount().thorough || host % 2 == threads % 2);
        std::iter::once(None)
            .chain(failing.map(Some))
            .map(fails)
            .collect::<Vec<_>>()
    };
    shapes.iter().flat_map(of).collect()
}

fn omitted(about: &'static About) -> Vec<Case> {
    let omit = about
        .params
        .iter()
        .find(|param| param.name == "omit")
        .expect("parts to leave out");
    let case = |part: u64| {
        let name = format!("{}-without-part-{part}", about.name);
        Case::new("hosts", name, 100, move || {
            let fails = OF_A_FAILURE.contains(&(about.name, part)).then_some(0);
            let mut spec = run(about, 2, 2, part);
            if fails.is_some() {
                spec.set.push(TOLD_SOON.to_owned());
            }
            if OF_A_RESERVE.contains(&(about.name, part)) {
                spec = with_short_reserve(spec);
            }
            let found = found(&spec, fails, POINTS);
            found.map(|_| ()).ok_or_else(|| "nothing is found".to_owned())
        })
    };
    (1..=omit.max).map(case).collect()
}
