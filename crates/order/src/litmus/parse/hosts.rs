//! The parser of hosts: `P0@h0`, `Crash=h0` and `Owner=x h0`.

use super::{Instruction, LocationKind, Parser, MOST_EVENTS};
use crate::Fault;

/// Maximum number of hosts.
const MOST_HOSTS: u8 = 4;

impl Parser<'_> {
    /// The host behind the name of a thread, if the test names hosts.
    pub(super) fn placed(&mut self, thread: usize) -> Result<(), Fault> {
        let place = self.text.place();
        let is_named = self.text.eat("@");
        if thread > 0 && is_named != self.hosts.are_named() {
            let message = format!("P0 and P{thread}: name the host of every thread (`P{thread}@h0`), or of none");
            return Err(Fault::new(place, message));
        }
        if is_named {
            let host = self.host()?;
            self.hosts.of_threads.push(host);
        }
        Ok(())
    }

    fn host(&mut self) -> Result<u8, Fault> {
        let place = self.text.place();
        let word = self.text.take_while(|c| c.is_ascii_alphanumeric());
        let number = word.strip_prefix('h').and_then(|digits| digits.parse().ok());
        let host = number.filter(|host| *host < MOST_HOSTS && word.len() == 2);
        host.ok_or_else(|| Fault::new(place, format!("expected a host, h0 to h{}", MOST_HOSTS - 1)))
    }

    /// The hosts that fail, to the end of the line.
    pub(super) fn failing(&mut self) -> Result<(), Fault> {
        let place = self.text.place();
        if self.crash.replace(place).is_some() {
            return Err(Fault::new(
                place,
                "a test has one `Crash=`: name all hosts that fail there",
            ));
        }
        while !self.is_line_over()? {
            let place = self.text.place();
            let host = self.host()?;
            if self.hosts.fail.contains(&host) {
                return Err(Fault::new(place, format!("h{host} is named here a second time")));
            }
            self.hosts.fail.push(host);
        }
        self.hosts.fail.sort_unstable();
        match self.hosts.fail.is_empty() {
            true => Err(Fault::new(place, "expected the hosts that fail: `Crash=h0`")),
            false => Ok(()),
        }
    }

    /// The owners of locations, to the end of the line: pairs of a location and its host, separated by commas.
    pub(super) fn owners(&mut self) -> Result<(), Fault> {
        while !self.is_line_over()? {
            let place = self.text.place();
            let id = self.location()?;
            self.is_line_over()?;
            let host_place = self.text.place();
            let host = self.host()?;
            let named = self.named(id);
            if named.owner.replace((host, host_place)).is_some() {
                return Err(Fault::new(place, format!("{} is named here a second time", named.name)));
            }
            if !self.is_line_over()? {
                self.expect(",", "between owned locations: `Owner=x h0, y h1`")?;
            }
        }
        Ok(())
    }

    /// Refuses what a test with owners cannot have: owners without a thread, other memory, lines, and plain stores.
    pub(super) fn refuse_owned(&self) -> Result<(), Fault> {
        for at in &self.locations {
            let refuse = |place, message: String| Err(Fault::new(place, format!("{}{message}", at.name)));
            match at.owner {
                _ if at.kind == LocationKind::Volatile => {
                    return refuse(
                        at.place,
                        " is volatile, and all memory of a test with owners is persistent".into(),
                    );
                }
                _ if at.group.is_some() => {
                    return refuse(
                        at.place,
                        " shares a line, and a test with owners has none: leave out `Line=`".into(),
                    );
                }
                Some((_, place)) if at.kind == LocationKind::Output => {
                    return refuse(place, " is an output, which no host owns".into());
                }
                Some((host, place)) if !self.hosts.of_threads.contains(&host) => {
                    let message = format!(": no thread is on h{host}: name a host that has one (`P0@h{host}`)");
                    return refuse(place, message);
                }
                _ => {}
            }
        }
        let message = "a plain store does not say how far its value goes: write LSTORE, RSTORE or MSTORE";
        match self.store {
            Some(place) => Err(Fault::new(place, message)),
            None => Ok(()),
        }
    }

    /// Refuses hosts that fail and have no thread, volatile locations of several hosts, and too many events.
    pub(super) fn refuse_hosts(&self, threads: &[Vec<Instruction>]) -> Result<(), Fault> {
        if let (Some(place), false) = (self.crash, self.hosts.are_named()) {
            return Err(Fault::new(
                place,
                "`Crash=` is of a test with hosts: name them, `P0@h0`",
            ));
        }
        let lacks = |host: &&u8| !self.hosts.of_threads.contains(host);
        if let (Some(place), Some(host)) = (self.crash, self.hosts.fail.iter().find(lacks)) {
            return Err(Fault::new(
                place,
                format!("no thread is on h{host}: name hosts that have one"),
            ));
        }
        self.refuse_shared_dram(threads)?;
        let survivors = (0..threads.len()).filter(|thread| self.hosts.survives(*thread));
        let initial = self.locations.iter().filter(|at| at.kind != LocationKind::Output);
        match self.events + initial.count() + survivors.count() <= MOST_EVENTS {
            true => Ok(()),
            false => {
                let message = format!("more than {MOST_EVENTS} events, the ends of surviving threads among them");
                Err(Fault::of_whole(format!("{message}: use fewer instructions")))
            }
        }
    }

    fn refuse_shared_dram(&self, threads: &[Vec<Instruction>]) -> Result<(), Fault> {
        let volatile = self.locations.iter().enumerate();
        for (index, at) in volatile.filter(|(_, at)| at.kind == LocationKind::Volatile) {
            let names = |thread: &Vec<Instruction>| {
                let mut named = thread.iter().filter_map(|instruction| instruction.location());
                named.any(|id| usize::from(id.0) == index)
            };
            let users = self.hosts.of_threads.iter().zip(threads);
            let mut users = users.filter(|(_, thread)| names(thread)).map(|(host, _)| *host);
            let first = users.next();
            if let Some((first, other)) = first.and_then(|first| Some((first, users.find(|other| *other != first)?))) {
                let message = format!("{} is volatile, and h{first} and h{other} use it", at.name);
                let mend = "hosts share persistent locations only";
                return Err(Fault::new(at.place, format!("{message}: {mend}")));
            }
        }
        Ok(())
    }
}
