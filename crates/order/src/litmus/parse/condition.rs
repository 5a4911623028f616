//! The parser of conditions.

use super::{is_name, Parser};
use crate::litmus::{Condition, Formula, LocationId, LocationKind, Quantifier};
use crate::{Fault, TextPlace};

/// Maximum number of operators of a condition, which bounds the depth of its tree.
const MOST_OPERATORS: usize = 50;

impl Parser<'_> {
    pub(super) fn condition(&mut self) -> Result<Condition, Fault> {
        self.text.skip_blanks()?;
        let words = [Quantifier::NotExists, Quantifier::Exists, Quantifier::Forall];
        let found = words.into_iter().find(|quantifier| self.text.eat(quantifier.word()));
        let quantifier = found.ok_or_else(|| self.text.fault("expected `exists`, `~exists` or `forall`"))?;
        let formula = self.either(0)?;
        Ok(Condition { quantifier, formula })
    }

    fn either(&mut self, depth: usize) -> Result<Formula, Fault> {
        let mut formula = self.both(depth)?;
        while self.operator("\\/")? {
            formula = Formula::Or(Box::new(formula), Box::new(self.both(depth)?));
        }
        Ok(formula)
    }

    fn both(&mut self, depth: usize) -> Result<Formula, Fault> {
        let mut formula = self.part(depth)?;
        while self.operator("/\\")? {
            formula = Formula::And(Box::new(formula), Box::new(self.part(depth)?));
        }
        Ok(formula)
    }

    /// Whether this operator was next.
    fn operator(&mut self, mark: &str) -> Result<bool, Fault> {
        self.text.skip_blanks()?;
        let place = self.text.place();
        let is_next = self.text.eat(mark);
        if is_next {
            self.count(place)?;
        }
        Ok(is_next)
    }

    fn count(&mut self, place: TextPlace) -> Result<(), Fault> {
        self.operators += 1;
        match self.operators <= MOST_OPERATORS {
            true => Ok(()),
            false => {
                let message = format!("more than {MOST_OPERATORS} operators: use a shorter condition");
                Err(Fault::new(place, message))
            }
        }
    }

    fn part(&mut self, depth: usize) -> Result<Formula, Fault> {
        if depth > 2 * MOST_OPERATORS {
            return Err(self.text.fault("the condition is nested too deeply: use a shorter one"));
        }
        self.text.skip_blanks()?;
        let place = self.text.place();
        if self.text.eat("~") || self.eat_word("not") {
            self.count(place)?;
            return Ok(Formula::Not(Box::new(self.part(depth + 1)?)));
        }
        if self.text.eat("(") {
            let formula = self.either(depth + 1)?;
            self.expect(")", "after the formula, or `/\\` or `\\/` and another")?;
            return Ok(formula);
        }
        if self.eat_word("true") {
            return Ok(Formula::True);
        }
        self.value()
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self
            .text
            .rest()
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(is_name));
        is_next && self.text.eat(word)
    }

    fn value(&mut self) -> Result<Formula, Fault> {
        let place = self.text.place();
        let known = self.locations.len();
        let id = self.location()?;
        let named = self.named(id);
        if id.0 as usize >= known {
            return Err(Fault::new(
                place,
                format!("{}: the test has no such location", named.name),
            ));
        }
        if named.kind == LocationKind::Volatile {
            let message = format!(
                "{} is volatile, and a crash leaves nothing of it: store the value to a persistent location",
                named.name
            );
            return Err(Fault::new(place, message));
        }
        self.expect("=", "and a value")?;
        self.text.skip_blanks()?;
        Ok(Formula::Is(id, self.number()?))
    }
}

impl Formula {
    pub(super) fn relocate(&mut self, place_of: &impl Fn(LocationId) -> LocationId) {
        match self {
            Formula::True => {}
            Formula::Is(at, _) => *at = place_of(*at),
            Formula::Not(inner) => inner.relocate(place_of),
            Formula::And(a, b) | Formula::Or(a, b) => {
                a.relocate(place_of);
                b.relocate(place_of);
            }
        }
    }
}
