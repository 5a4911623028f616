//! The order between the chosen events of a case.

use super::choice::Choice;
use super::words::Words;
use super::Order;
use crate::judge::order::Ordered;
use strandline_machine::OpId;

/// The pairs of the model's order between the chosen events, without those that follow from others, and the orders that
/// the program lacked if the state is allowed.
pub fn pairs(
    choice: &Choice,
    ordered: Option<&Ordered>,
    words: &Words<'_>,
    forbidden: bool,
) -> Vec<(OpId, OpId, Order)> {
    let events = &choice.events;
    let is_before = |one: &OpId, other: &OpId| {
        let wanted = ordered.is_some_and(|ordered| ordered.is_before(*one, *other));
        // Where contents leave open which store is durable, an allowed state breaks nothing.
        wanted && (forbidden || !is_broken(words, *one, *other))
    };
    let mut found = Vec::new();
    for (one, other) in events
        .iter()
        .flat_map(|one| events.iter().map(move |other| (one, other)))
    {
        let between = |middle: &OpId| is_before(one, middle) && is_before(middle, other);
        if is_before(one, other) && !events.iter().any(between) {
            let kind = match is_broken(words, *one, *other) {
                true => Order::Broken,
                false => Order::Kept,
            };
            found.push((*one, *other, kind));
        }
    }
    if !forbidden {
        let missing = choice.missing.iter();
        found.extend(missing.map(|(one, other)| (*one, *other, Order::Missing)));
    }
    found
}

fn is_broken(words: &Words<'_>, one: OpId, other: OpId) -> bool {
    words.is_durable(other) && !words.is_durable(one)
}
