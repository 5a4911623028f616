//! Reserve power that ends before a device has written the dirty pages of its DRAM to its flash: what a crash leaves then.
//!
//! The cut is that of `strandline places`: the pages that were written to first are nearest to the flash. Simplified: what a queue
//! has accepted counts as in its page, and a page that makes room is on the flash at once.

use super::running::Running;
use crate::config::MachineConfig;
use strandline_design::ControllerId;
use strandline_isa::{Line, LineData, LINE_BYTES};

/// The lines that controllers have accepted and flash lacks, while a run is observed.
pub struct DeviceReserve {
    /// For how many pages it lasts.
    pages: usize,
    /// Whether it lasts for what stands before them, too.
    is_enough: bool,
    page_lines: u64,
    /// In the order in which they were first accepted.
    dirty: Vec<Dirty>,
}

struct Dirty {
    page: (ControllerId, u64),
    line: Line,
    flash: LineData,
}

impl DeviceReserve {
    /// `None`: there is no such cache, or the reserve lasts.
    pub fn of(machine: &MachineConfig) -> Option<DeviceReserve> {
        let (pages, is_enough) = machine.pages_in_time()?;
        Some(DeviceReserve {
            pages,
            is_enough,
            page_lines: machine.cxl.cache_page_bytes / LINE_BYTES,
            dirty: Vec::new(),
        })
    }

    /// The lines of pages that are late, as flash has them.
    fn lost(&self) -> Vec<(Line, LineData)> {
        let mut pages = Vec::new();
        let mut is_late = |dirty: &&Dirty| {
            let place = pages.iter().position(|page| *page == dirty.page);
            pages.extend(place.is_none().then_some(dirty.page));
            place.unwrap_or(pages.len() - 1) >= self.pages
        };
        let late = self.dirty.iter().filter(|dirty| is_late(dirty));
        late.map(|dirty| (dirty.line, dirty.flash)).collect()
    }
}

impl Running {
    /// What is left of the lines that are lost, as the first of these is accepted; and whether all is that stands before the queues.
    #[inline(never)]
    pub(super) fn cut_at_device(&mut self, accepted: Option<(Line, LineData)>) -> (Vec<(Line, LineData)>, bool) {
        let (hw, Some(reserve)) = (&mut self.hw, &mut self.device_reserve) else {
            return Default::default();
        };
        for (number, controller) in hw.controllers.iter_mut().enumerate() {
            let given_up = controller.media.given_up();
            let is_there = |(of, page)| of != ControllerId(number as u16) || !given_up.contains(&page);
            reserve.dirty.retain(|dirty| is_there(dirty.page));
        }
        if let Some((line, _)) = accepted.filter(|(line, _)| reserve.dirty.iter().all(|dirty| dirty.line != *line)) {
            let (page, flash) = (
                (hw.controller_of(line), line.0 / reserve.page_lines),
                hw.durable_bytes(line),
            );
            reserve.dirty.push(Dirty { page, line, flash });
        }
        (reserve.lost(), !reserve.is_enough)
    }
}
