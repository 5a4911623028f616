//! A case, which becomes one test.

use crate::planted::{FoundFault, Planted};
use crate::times::Times;
use libtest_mimic::Trial;
use std::sync::Arc;

/// The fault of a design, if any.
type Finds = Box<dyn Fn(&Planted) -> Option<FoundFault> + Send + Sync>;

/// A run under one design, which finds nothing unless a bug is planted.
pub struct Check {
    pub suite: &'static str,
    /// Its name within the suite.
    pub name: String,
    pub design: &'static str,
    /// Approximate duration, relative to other cases.
    pub weight: u64,
    pub finds: Finds,
}

impl Check {
    /// The test that it finds nothing in the unchanged design.
    pub fn case(self) -> Case {
        let run = move || match (self.finds)(&Planted::unbroken(self.design)) {
            None => Ok(()),
            Some(found) => Err(found.text),
        };
        Case::new(self.suite, self.name, self.weight, run)
    }
}

/// A test with its suite and a name.
pub struct Case {
    suite: &'static str,
    name: String,
    pub weight: u64,
    run: Box<dyn FnOnce() -> Result<(), String> + Send>,
}

impl Case {
    pub fn new(
        suite: &'static str,
        name: impl Into<String>,
        weight: u64,
        run: impl FnOnce() -> Result<(), String> + Send + 'static,
    ) -> Case {
        Case {
            suite,
            name: name.into(),
            weight,
            run: Box::new(run),
        }
    }

    /// In the form of the test harness.
    pub fn trial(self, times: Arc<Times>) -> Trial {
        let name = format!("{}::{}", self.suite, self.name);
        Trial::test(name, move || {
            times.of(self.suite, self.name, self.run).map_err(Into::into)
        })
    }
}
