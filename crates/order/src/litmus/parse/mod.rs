//! The parser of litmus tests: the whole file.

mod condition;
mod hosts;
mod instruction;
mod through;

use super::{Condition, Hosts, Instruction, Location, LocationId, LocationKind, Test};
use crate::text::Text;
use crate::{Fault, TextPlace};

/// Limits of a test: locations, threads and events.
const MOST_LOCATIONS: usize = 16;
const MOST_THREADS: usize = 8;
const MOST_EVENTS: usize = 64;

impl Test {
    /// Reads a test.
    ///
    /// # Errors
    /// The first mistake, and its position.
    pub fn parse(text: &str) -> Result<Test, Fault> {
        let mut parser = Parser {
            text: Text::new(text)?,
            locations: Vec::new(),
            events: 0,
            told: Vec::new(),
            operators: 0,
            hosts: Hosts::default(),
            crash: None,
            store: None,
        };
        parser.test()
    }
}

/// What is known of a location so far.
struct Named {
    name: String,
    kind: LocationKind,
    group: Option<usize>,
    initial: Option<u8>,
    place: TextPlace,
    /// The host that owns it, and where that is said.
    owner: Option<(u8, TextPlace)>,
}

struct Parser<'t> {
    text: Text<'t>,
    locations: Vec<Named>,
    /// Number of events of the instructions so far.
    events: usize,
    /// The outputs written so far.
    told: Vec<LocationId>,
    /// The operators of the condition so far.
    operators: usize,
    hosts: Hosts,
    /// Where `Crash=` stands.
    crash: Option<TextPlace>,
    /// Where the first plain store stands.
    store: Option<TextPlace>,
}

fn is_name(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'
}

impl Parser<'_> {
    fn test(&mut self) -> Result<Test, Fault> {
        let name = self.header()?;
        self.text.skip_blanks()?;
        let title = match self.text.peek() {
            Some('"') => self.text.quoted()?.to_owned(),
            _ => String::new(),
        };
        self.keys()?;
        self.initial_values()?;
        let threads = self.threads()?;
        let condition = self.condition()?;
        self.text.skip_blanks()?;
        if self.text.peek().is_some() {
            return Err(self.text.fault("nothing may follow the condition"));
        }
        self.refuse_mixed_lines()?;
        self.refuse_hosts(&threads)?;
        let test = self.sorted(name, title, threads, condition);
        match test.has_owners() {
            true => self.refuse_owned().map(|()| test),
            false => Ok(test),
        }
    }

    fn header(&mut self) -> Result<String, Fault> {
        self.text.skip_blanks()?;
        if !self.text.eat("X86 ") {
            return Err(self.text.fault("a test begins with `X86 ` and its name"));
        }
        let place = self.text.place();
        let name = self.text.take_while(|c| c != '\n').trim().to_owned();
        match (1..=100).contains(&name.chars().count()) {
            true => Ok(name),
            false => Err(Fault::new(place, "the name after `X86` must have 1 to 100 characters")),
        }
    }

    /// A punctuation mark that must come next.
    fn expect(&mut self, mark: &str, what: &str) -> Result<(), Fault> {
        self.text.skip_blanks()?;
        match self.text.eat(mark) {
            true => Ok(()),
            false => Err(self.text.fault(format!("expected `{mark}` {what}"))),
        }
    }

    fn eat(&mut self, mark: &str) -> Result<bool, Fault> {
        self.text.skip_blanks()?;
        Ok(self.text.eat(mark))
    }

    fn number(&mut self) -> Result<u8, Fault> {
        let place = self.text.place();
        let digits = self.text.take_while(|c| c.is_ascii_digit());
        let number = digits.parse();
        number.map_err(|_| Fault::new(place, "expected a number from 0 to 255"))
    }

    /// The location of this name, which may be new.
    fn location(&mut self) -> Result<LocationId, Fault> {
        self.text.skip_blanks()?;
        let place = self.text.place();
        let name = self.text.take_while(is_name);
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || name.len() > 16 {
            let message = "expected a location: a letter and up to 15 lower-case letters, digits or `_`";
            return Err(Fault::new(place, message));
        }
        if ["not", "true"].contains(&name) {
            let message = format!("`{name}` is a keyword of conditions: give the location another name");
            return Err(Fault::new(place, message));
        }
        if let Some(index) = self.locations.iter().position(|at| at.name == name) {
            return Ok(LocationId(index as u8));
        }
        if self.locations.len() == MOST_LOCATIONS {
            return Err(Fault::new(
                place,
                format!("more than {MOST_LOCATIONS} locations: use fewer"),
            ));
        }
        self.locations.push(Named {
            name: name.to_owned(),
            kind: LocationKind::Persistent,
            group: None,
            initial: None,
            place,
            owner: None,
        });
        Ok(LocationId((self.locations.len() - 1) as u8))
    }

    fn named(&mut self, id: LocationId) -> &mut Named {
        &mut self.locations[id.0 as usize]
    }

    /// Parses `Line=`, `Volatile=`, `Output=`, `Owner=` and `Crash=`, each to the end of its line.
    fn keys(&mut self) -> Result<(), Fault> {
        let mut groups = 0;
        loop {
            self.text.skip_blanks()?;
            let kind = if self.text.eat("Volatile=") {
                Some(LocationKind::Volatile)
            } else if self.text.eat("Output=") {
                Some(LocationKind::Output)
            } else if self.text.eat("Line=") {
                None
            } else if self.text.eat("Crash=") {
                self.failing()?;
                continue;
            } else if self.text.eat("Owner=") {
                self.owners()?;
                continue;
            } else {
                return Ok(());
            };
            self.key(kind, &mut groups)?;
        }
    }

    /// Whether nothing follows on this line but blanks and comments, which it skips.
    fn is_line_over(&mut self) -> Result<bool, Fault> {
        loop {
            self.text.take_while(|c| c == ' ' || c == '\t' || c == '\r');
            if !self.text.rest().starts_with("(*") {
                return Ok(matches!(self.text.peek(), None | Some('\n')));
            }
            self.text.skip_comment()?;
        }
    }

    fn key(&mut self, kind: Option<LocationKind>, groups: &mut usize) -> Result<(), Fault> {
        *groups += 1;
        loop {
            if self.is_line_over()? {
                return Ok(());
            }
            if kind.is_none() && self.text.eat(",") {
                *groups += 1;
                continue;
            }
            let place = self.text.place();
            let id = self.location()?;
            let group = *groups;
            let named = self.named(id);
            let twice = match kind {
                Some(kind) => std::mem::replace(&mut named.kind, kind) != LocationKind::Persistent,
                None => {
                    named.place = place;
                    named.group.replace(group).is_some()
                }
            };
            if twice {
                return Err(Fault::new(place, format!("{} is named here a second time", named.name)));
            }
        }
    }

    fn initial_values(&mut self) -> Result<(), Fault> {
        self.expect("{", "and the initial values (`{ }` if all are 0)")?;
        while !self.eat("}")? {
            let place = self.text.place();
            let id = self.location()?;
            self.expect("=", "and the initial value")?;
            self.text.skip_blanks()?;
            let value = self.number()?;
            let named = self.named(id);
            if named.kind == LocationKind::Output && value != 0 {
                return Err(Fault::new(
                    place,
                    format!("{} is an output, which begins with 0", named.name),
                ));
            }
            if named.initial.replace(value).is_some() {
                return Err(Fault::new(
                    place,
                    format!("{} has an initial value already", named.name),
                ));
            }
            self.text.skip_blanks()?;
            if !self.text.eat(";") && self.text.peek() != Some('}') {
                return Err(self.text.fault("expected `;` or `}` after an initial value"));
            }
        }
        Ok(())
    }

    fn at_condition(&mut self) -> Result<bool, Fault> {
        self.text.skip_blanks()?;
        let starts = |word: &str| self.text.rest().starts_with(word);
        Ok(["exists", "~exists", "forall"].into_iter().any(starts))
    }

    fn threads(&mut self) -> Result<Vec<Vec<Instruction>>, Fault> {
        let count = self.thread_names()?;
        let mut threads = vec![Vec::new(); count];
        let mut checks: Vec<through::Through> = (0..count).map(|_| through::Through::default()).collect();
        while !self.at_condition()? {
            for (index, thread) in threads.iter_mut().enumerate() {
                self.text.skip_blanks()?;
                if !matches!(self.text.peek(), Some('|' | ';')) {
                    let place = self.text.place();
                    let instruction = self.instruction()?;
                    self.refuse(place, instruction)?;
                    checks[index].take(place, instruction)?;
                    thread.push(instruction);
                }
                match index + 1 == count {
                    true => self.expect(";", &format!("after what P{index} does: it is the last thread"))?,
                    false => self.expect("|", &format!("after what P{index} does: P{} is next", index + 1))?,
                }
            }
        }
        checks.iter().try_for_each(through::Through::finish)?;
        Ok(threads)
    }

    fn thread_names(&mut self) -> Result<usize, Fault> {
        for index in 0..MOST_THREADS {
            self.expect(&format!("P{index}"), "as the next thread's name")?;
            self.placed(index)?;
            if self.eat(";")? {
                return Ok(index + 1);
            }
            self.expect("|", "or `;` after a thread's name")?;
        }
        self.text.skip_blanks()?;
        Err(self.text.fault(format!("more than {MOST_THREADS} threads: use fewer")))
    }

    fn refuse_mixed_lines(&self) -> Result<(), Fault> {
        for at in self.locations.iter().filter(|at| at.group.is_some()) {
            let mut group = self.locations.iter().filter(|other| other.group == at.group);
            let first = group.next();
            if at.kind == LocationKind::Output || first.is_some_and(|first| first.kind != at.kind) {
                let message = format!("{} cannot share a line with what is not in the same memory", at.name);
                return Err(Fault::new(at.place, message));
            }
            let members = self.locations.iter().filter(|other| other.group == at.group);
            if members.count() > 8 {
                return Err(Fault::new(at.place, "a line holds at most 8 locations"));
            }
        }
        Ok(())
    }

    /// The test with its locations in order.
    fn sorted(
        &mut self,
        name: String,
        title: String,
        mut threads: Vec<Vec<Instruction>>,
        mut condition: Condition,
    ) -> Test {
        let mut order: Vec<usize> = (0..self.locations.len()).collect();
        order.sort_by_key(|index| {
            let at = &self.locations[*index];
            (at.kind == LocationKind::Output, at.name.clone())
        });
        let place_of = |id: LocationId| {
            let place = order.iter().position(|index| *index == id.0 as usize);
            LocationId(place.unwrap_or(0) as u8)
        };
        for instruction in threads.iter_mut().flatten() {
            if let Some(at) = instruction.location_mut() {
                *at = place_of(*at);
            }
        }
        condition.formula.relocate(&place_of);
        let mut locations: Vec<Location> = Vec::new();
        for index in &order {
            let at = &self.locations[*index];
            let shares = |other: &&usize| at.group.is_some() && self.locations[**other].group == at.group;
            let line = order.iter().find(shares).unwrap_or(index);
            locations.push(Location {
                name: at.name.clone(),
                kind: at.kind,
                line: order.iter().position(|other| other == line).unwrap_or(0),
                initial: at.initial.unwrap_or(0),
            });
        }
        let mut hosts = self.hosts.clone();
        if self.locations.iter().any(|at| at.owner.is_some()) {
            let owner = |index: &usize| self.locations[*index].owner.map(|(host, _)| host);
            hosts.owners = order.iter().map(owner).collect();
        }
        Test {
            name,
            title,
            locations,
            threads,
            hosts,
            condition,
        }
    }
}
