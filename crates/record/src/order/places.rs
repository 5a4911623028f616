//! Maps persistent memory to files and offsets.

use super::op::{PmPlace, OFFSET_BITS};
use crate::{Region, PAGE_BYTES};
use std::path::Path;

/// A file of persistent memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolFile {
    /// Its unique name, without folder.
    pub name: String,
    /// Where it was.
    pub path: String,
    /// Its mapped length, in bytes.
    pub bytes: u64,
}

/// The files of a recording, and their mappings.
#[derive(Clone, Debug, Default)]
pub struct Places {
    files: Vec<PoolFile>,
    /// Start, end, and location of the start, sorted by start.
    mapped: Vec<(u64, u64, PmPlace)>,
}

impl Places {
    /// From a recording's regions. A range of addresses is a file of its own.
    #[must_use]
    pub fn of(regions: &[Region]) -> Places {
        let mut places = Places::default();
        for region in regions {
            let (start, offset) = match region.path.is_empty() {
                true => (region.start & !(PAGE_BYTES - 1), 0),
                false => (region.start, region.offset),
            };
            let end = region.start.saturating_add(region.bytes);
            let file = places.file(region);
            let length = &mut places.files[file].bytes;
            *length = (*length).max(offset + (end - start));
            places.mapped.push((start, end, (file as u64) << OFFSET_BITS | offset));
        }
        places.mapped.sort_unstable();
        places
    }

    fn file(&mut self, region: &Region) -> usize {
        let known = self
            .files
            .iter()
            .position(|file| !region.path.is_empty() && file.path == region.path);
        known.unwrap_or_else(|| {
            let base = Path::new(&region.path).file_name().and_then(|name| name.to_str());
            let base = base.map_or_else(|| format!("memory-{:x}", region.start), str::to_owned);
            let taken = |name: &String| self.files.iter().any(|file| file.name == *name);
            let others = (2..).map(|number| format!("{base}.{number}"));
            let name = std::iter::once(base.clone()).chain(others).find(|name| !taken(name));
            self.files.push(PoolFile {
                name: name.unwrap_or(base),
                path: region.path.clone(),
                bytes: 0,
            });
            self.files.len() - 1
        })
    }

    /// The files, in the order of their numbers.
    #[must_use]
    pub fn files(&self) -> &[PoolFile] {
        &self.files
    }

    /// The location of an address, and the number of bytes from there that are mapped contiguously; `None` if it is not
    /// persistent.
    #[must_use]
    pub fn of_address(&self, address: u64) -> Option<(PmPlace, u64)> {
        let next = self.mapped.partition_point(|(start, ..)| *start <= address);
        let (start, end, place) = self.mapped.get(next.checked_sub(1)?)?;
        (address < *end).then(|| (place + (address - start), end - address))
    }

    /// The persistent parts of a range of addresses: location and bytes.
    pub fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (PmPlace, u64)> + '_ {
        self.mapped.iter().filter_map(move |(first, last, place)| {
            let (from, upto) = (start.max(*first), end.min(*last));
            (from < upto).then(|| (place + (from - first), upto - from))
        })
    }

    /// A location as text: the file's name and the offset.
    #[must_use]
    pub fn show(&self, place: PmPlace) -> String {
        let name = self
            .files
            .get((place >> OFFSET_BITS) as usize)
            .map_or("?", |file| &file.name);
        format!("{name}+{:#x}", place & ((1 << OFFSET_BITS) - 1))
    }

    /// The first location of a file.
    #[must_use]
    pub fn start(file: usize) -> PmPlace {
        (file as u64) << OFFSET_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: u64, bytes: u64, offset: u64, path: &str) -> Region {
        Region {
            start,
            bytes,
            offset,
            path: path.to_owned(),
        }
    }

    #[test]
    fn a_file_that_is_mapped_twice_is_one_file() {
        let places = Places::of(&[
            region(0x20000, 0x2000, 0x1000, "/pm/a"),
            region(0x10000, 0x1000, 0, "/pm/a"),
        ]);
        assert_eq!(places.files().len(), 1);
        assert_eq!(places.files()[0].bytes, 0x3000);
        assert_eq!(places.of_address(0x20010), Some((0x1010, 0x1ff0)));
        assert_eq!(places.of_address(0x10fff), Some((0xfff, 1)));
        assert_eq!((places.of_address(0x11000), places.of_address(0xffff)), (None, None));
    }

    #[test]
    fn files_of_one_name_in_two_folders_are_told_apart() {
        let places = Places::of(&[
            region(0x1000, 0x1000, 0, "/a/pool"),
            region(0x3000, 0x1000, 0, "/b/pool"),
            region(0x5010, 8, 0, ""),
        ]);
        let names: Vec<&str> = places.files().iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["pool", "pool.2", "memory-5010"]);
        assert_eq!(
            places.of_address(0x5010),
            Some((2 << OFFSET_BITS | 0x10, 8)),
            "lines stay lines"
        );
        assert_eq!(places.show(1 << OFFSET_BITS | 0x40), "pool.2+0x40");
    }
}
