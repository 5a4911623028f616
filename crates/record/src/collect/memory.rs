//! The persistent memory and its initial contents.

use super::packets::{Fields, Packet};
use super::text;
use crate::error::RecordError;
use crate::format::Writer;
use crate::ranges::Ranges;
use crate::recording::Region;
use std::io::Write;
use strandline_capture::PAGE_BYTES;

/// The persistent memory so far.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// All that ever was persistent.
    ever: Ranges,
    /// Memory that becomes persistent for the first time: its current contents are its initial contents.
    fresh: Ranges,
    regions: Vec<Region>,
}

impl Memory {
    /// All that ever was persistent.
    pub fn persistent(&self) -> &Ranges {
        &self.ever
    }

    /// A file was mapped.
    pub fn map<W: Write>(
        &mut self,
        packet: &Packet<'_>,
        mut fields: Fields<'_>,
        writer: &mut Writer<W>,
        warnings: &mut Vec<String>,
    ) -> Result<(), RecordError> {
        let (start, bytes, offset) = (fields.number()?, fields.number()?, fields.number()?);
        let path = text(fields.rest());
        let end = start.checked_add(bytes).filter(|end| *end < 1 << 63);
        let end = end.ok_or_else(|| packet.wrong("persistent memory without an end"))?;
        self.fresh.add(start..end);
        for known in self.ever.iter() {
            let both = known.start.max(start)..known.end.min(end);
            if !both.is_empty() {
                self.fresh.remove(&both);
            }
        }
        self.ever.add(start..end);
        let region = Region {
            start,
            bytes,
            offset,
            path,
        };
        let other = |known: &&Region| {
            let overlaps = known.start < end && start < known.start + known.bytes;
            let shifted = known.start.wrapping_sub(known.offset) != start.wrapping_sub(offset);
            overlaps && (known.path != region.path || shifted)
        };
        if let Some(known) = self.regions.iter().find(other) {
            let paths = format!("{:?} and {:?}", known.path, region.path);
            warnings.push(format!(
                "{paths} were mapped at the same addresses; only the first's contents are kept"
            ));
        }
        if !self.regions.contains(&region) {
            self.regions.push(region.clone());
            writer.region(region);
        }
        Ok(())
    }

    /// What a page holds.
    pub fn page<W: Write>(
        &mut self,
        packet: &Packet<'_>,
        mut fields: Fields<'_>,
        writer: &mut Writer<W>,
    ) -> Result<(), RecordError> {
        let address = fields.number()?;
        let Ok(bytes) = <&[u8; PAGE_BYTES as usize]>::try_from(fields.rest()) else {
            return Err(packet.wrong("a page of another size"));
        };
        if address % PAGE_BYTES != 0 {
            return Err(packet.wrong(format!("{address:#x} is not the address of a page")));
        }
        // A range of addresses need not start at a page boundary.
        let page = address..address.saturating_add(PAGE_BYTES);
        if !self
            .ever
            .iter()
            .any(|range| range.start < page.end && page.start < range.end)
        {
            return Err(packet.wrong(format!("the page at {address:#x} is not persistent")));
        }
        if self
            .fresh
            .iter()
            .any(|range| range.start < page.end && page.start < range.end)
        {
            writer.page(address, bytes);
        }
        Ok(())
    }
}
