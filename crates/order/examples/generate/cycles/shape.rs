//! The accesses of a cycle.

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Tells the world.
    Output,
}

/// An access of a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// What it does.
    pub direction: Direction,
    /// To what: one letter.
    pub at: char,
}

/// A cycle without the edges within its threads.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its part of a test's name.
    pub name: &'static str,
    /// The accesses of each thread. The last access of a thread and the first of the next have the same location: the
    /// second reads from the first, or follows it in coherence order.
    pub threads: Vec<Vec<Access>>,
}

/// How two accesses to one location are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// The second reads from the first.
    ReadsFrom,
    /// The second overwrites the first.
    Coherence,
    /// The second overwrites the value that the first has loaded.
    FromRead,
}

impl Link {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Link::ReadsFrom => "rf",
            Link::Coherence => "co",
            Link::FromRead => "fr",
        }
    }
}

impl Shape {
    /// Parses accesses such as `Wx Wf | Rf Wz`.
    pub fn of(name: &'static str, accesses: &str) -> Shape {
        let access = |word: &str| {
            let direction = match word.chars().next() {
                Some('W') => Direction::Store,
                Some('R') => Direction::Load,
                _ => Direction::Output,
            };
            let at = word.chars().last().unwrap_or('x');
            Access { direction, at }
        };
        let thread = |thread: &str| thread.split_whitespace().map(access).collect();
        Shape {
            name,
            threads: accesses.split('|').map(thread).collect(),
        }
    }

    /// The first access of all.
    pub fn first(&self) -> Access {
        self.threads[0][0]
    }

    /// The last access of all.
    pub fn last(&self) -> Access {
        let thread = &self.threads[self.threads.len() - 1];
        thread[thread.len() - 1]
    }

    /// Whether a crash links the last access to the first.
    pub fn ends_in_crash(&self) -> bool {
        self.first().at != self.last().at
    }

    /// The link from a thread's last access to the next thread's first one; `None` for a crash.
    pub fn link(&self, thread: usize) -> Option<(Link, char)> {
        let from = *self.threads[thread].last()?;
        let to = self.threads[(thread + 1) % self.threads.len()][0];
        let link = match (from.direction, to.direction) {
            (Direction::Store, Direction::Load) => Link::ReadsFrom,
            (Direction::Store, Direction::Store) => Link::Coherence,
            _ => Link::FromRead,
        };
        (from.at == to.at && self.threads.len() > 1).then_some((link, from.at))
    }

    /// The locations of communication between threads, without those of the crash.
    pub fn between(&self) -> Vec<char> {
        let ends = [self.first().at, self.last().at];
        let mut found: Vec<char> = self.threads.iter().flatten().map(|access| access.at).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|at| !self.ends_in_crash() || !ends.contains(at));
        found
    }

    /// The positions of edges: two successive accesses of a thread.
    pub fn steps(&self) -> Vec<(Access, Access)> {
        let pairs = |thread: &Vec<Access>| thread.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>();
        self.threads.iter().flat_map(pairs).collect()
    }
}
