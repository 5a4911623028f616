//! Recovery of write-ahead logs after a crash (Speculative Persistence, ISCA 2017, section 3.1).

use super::layout::{Span, WalLayout};
use crate::mutants::ever_written;
use strandline_isa::{Addr, Image, LINE_BYTES};
use strandline_rules::{kept, last_first, Rule};

/// Undoes, for each lane whose logged word is not zero, its records, the newest first; then clears the word. "Because
/// we do not know at what step the failure occurred, we must pessimistically recover using the undo log regardless."
///
/// It is idempotent: the records stay until the word is cleared, and undoing them again leaves the same.
pub(crate) fn undo_logged(image: &dyn Image, layout: &WalLayout) {
    for lane in 0..layout.pm.lanes() {
        let logged = image.word(layout.logged(lane));
        let count = kept(Rule::WalBitDecides, logged, || ever_written(image, layout, lane));
        if count == 0 {
            continue;
        }
        let first = kept(Rule::WalEveryRecordUndone, 0, || 1);
        let records = first..count.min(layout.records);
        last_first(Rule::WalNewestUndoneFirst, records, |index| {
            undo(image, layout, lane, index);
        });
        image.set_word(layout.logged(lane), 0);
    }
}

/// Writes the old words of a record back.
fn undo(image: &dyn Image, layout: &WalLayout, lane: usize, index: u64) {
    let (line, span) = Span::unpack(image.word(Addr(layout.addresses(lane).0 + 8 * index)));
    let data = layout.data(lane).0 + index * LINE_BYTES;
    for word in span.first..span.first + span.words {
        image.set_word(Addr(line.0 + 8 * word), image.word(Addr(data + 8 * word)));
    }
}
