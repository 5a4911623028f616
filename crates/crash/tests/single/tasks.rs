//! Tasks that share a thread.

use super::spec;
use strandline_crash::{explore, Points};
use strandline_designs::abouts;
use strandline_sim::{FoundBy, Spec, Window};

#[test]
fn a_window_that_changes_while_the_program_runs_recovers() {
    let shares = abouts().into_iter().filter(|about| about.window.is_some());
    for about in shares {
        // A window is tried for 512 yields, and a task of pc has two: the third window of the search is reached.
        let spec = Spec {
            window: Some(Window::Found(FoundBy::Auto)),
            tasks: Some(700),
            ..spec("pc", about.name, 1)
        };
        let report = explore(&spec, Points::Count(80)).unwrap();
        assert_eq!(report.failures, []);
        assert!(
            report.record.stats.window > 1,
            "{} has never tried another window",
            about.name
        );
    }
}
