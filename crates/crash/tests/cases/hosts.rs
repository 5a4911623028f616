//! Programs across hosts: they survive that power fails, and that a host does; and each part of their protocols is needed.

use crate::case::Case;
use crate::exploration::explored;
use crate::planted::Planted;
use crate::thinning::amount;
use strandline_crash::{Points, Request, Stop};
use strandline_sim::Spec;
use strandline_workloads::{names, About};

/// Crash states in which an omission must show.
const POINTS: u64 = 1_500;

/// The others learn soon that a host has failed, so that they find more half done.
const TOLD_SOON: &str = "machine.cxl.detection=200";

/// Omissions that only the failure of a host shows.
const OF_A_FAILURE: &[(&str, u64)] = &[("shared-heap", 7)];

/// All of them.
pub fn cases() -> Vec<Case> {
    let programs = || names().iter().filter(|about| about.across_hosts);
    let (right, omitted) = (programs().flat_map(right), programs().flat_map(omitted));
    right.chain(omitted).collect()
}

/// A program on so many hosts, of which some have two cores.
fn run(about: &About, hosts: u64, threads: u64, omit: u64) -> Spec {
    Spec {
        threads: Some(threads),
        set: vec![format!("machine.hosts={hosts}"), format!("workload.omit={omit}")],
        ..Spec::new(about.name, "x86")
    }
}

/// The failure that is found first, of power alone or of a host.
fn found(run: &Spec, fails: Option<u64>, points: u64) -> Option<String> {
    let Some(host) = fails else {
        let found = explored(&Planted::unbroken(&run.design), run, Points::Count(points));
        return found.map(|found| found.text);
    };
    let request = Request {
        run: run.clone(),
        points: Points::Count(points),
        replay: None,
        fails: Some(format!("h{host}")),
        max_failures: Some(1),
    };
    let report = request.answer(Stop::default()).expect("a right request");
    report
        .failures
        .first()
        .map(|failure| format!("{}; strandline {}", failure.why, failure.replay))
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
            let found = found(&spec, fails, POINTS);
            found.map(|_| ()).ok_or_else(|| "nothing is found".to_owned())
        })
    };
    (1..=omit.max).map(case).collect()
}
