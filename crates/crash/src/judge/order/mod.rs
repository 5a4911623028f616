//! The verdict of a design's formal model on a run: is each crash state a cut that the model allows?

mod history;
mod judge;
mod marks;
mod ordered;
mod places;
mod repeats;
mod stale;

pub use history::in_words;
pub use judge::{input, judge, judge_all, judge_named, Models};
pub use ordered::Ordered;

#[cfg(test)]
mod marks_tests;
#[cfg(test)]
mod tests;
