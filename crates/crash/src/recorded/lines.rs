//! Maps lines of simulated memory to the recording's files.

use strandline_isa::{Addr, Line, LineData};
use strandline_record::order::{Piece, Places, PmPlace};
use strandline_record::replay::Space;
use strandline_record::Recording;
use strandline_sim::Error;

/// The file and offset of simulated persistent memory.
pub struct Lines {
    /// By simulated address, without overlap.
    spans: Vec<Span>,
    places: Places,
}

#[derive(Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
    /// The place of the start.
    place: PmPlace,
}

impl Lines {
    /// Of a recording's regions.
    ///
    /// # Errors
    /// A part of a file was mapped at two addresses, so simulated memory would hold it twice.
    pub fn of(recording: &Recording) -> Result<Lines, Error> {
        let (space, places) = (
            Space::new(recording.regions(), &[], Vec::new()),
            Places::of(recording.regions()),
        );
        let mut spans = Vec::new();
        for (index, region) in recording.regions().iter().enumerate() {
            if let (Some(at), Some((place, _))) = (space.region(index), places.of_address(region.start)) {
                spans.push(Span {
                    start: at.start,
                    end: at.end,
                    place,
                });
            }
        }
        spans.sort_by_key(|span| span.place);
        let twice = spans
            .windows(2)
            .find(|two| two[1].place < two[0].place + (two[0].end - two[0].start));
        if let Some(two) = twice {
            let place = places.show(two[1].place);
            return Err(Error::Input(format!(
                "{place} was mapped at two addresses, which simulated runs do not support"
            )));
        }
        spans.sort_by_key(|span| span.start);
        Ok(Lines { spans, places })
    }

    /// The files.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// A line's content, as stores of words; bytes outside the recording's regions are left out.
    pub fn pieces<'l>(&'l self, line: Line, data: &'l LineData) -> impl Iterator<Item = Piece> + 'l {
        let first = line.addr().0;
        let inside = self.spans.partition_point(|span| span.end <= first);
        let spans = self.spans[inside..]
            .iter()
            .take_while(move |span| span.start < first + 64);
        spans.flat_map(move |span| {
            let words = data.iter().zip((first..).step_by(8));
            words.filter_map(move |(word, at)| piece(span, at, *word))
        })
    }

    /// The place of a simulated address, as text.
    pub fn name(&self, addr: Addr) -> String {
        let behind = self.spans.partition_point(|span| span.start <= addr.0);
        match behind.checked_sub(1).map(|index| self.spans[index]) {
            Some(span) if addr.0 < span.end => self.places.show(span.place + (addr.0 - span.start)),
            _ => addr.to_string(),
        }
    }

    /// The place of a line, as text: of its first byte in a file.
    pub fn name_of(&self, line: Line) -> String {
        let first = line.addr().0;
        let inside = self.spans.partition_point(|span| span.end <= first);
        let start = self.spans.get(inside).map_or(first, |span| first.max(span.start));
        self.name(Addr(start))
    }
}

fn piece(span: &Span, at: u64, word: u64) -> Option<Piece> {
    let mut bytes = word.to_le_bytes();
    let mut mask = 0;
    for (index, byte) in bytes.iter_mut().enumerate() {
        match (span.start..span.end).contains(&(at + index as u64)) {
            true => mask |= 1 << index,
            false => *byte = 0,
        }
    }
    // A region that starts inside a word starts at this byte in its file, too.
    let word = (span.place + at).checked_sub(span.start)?;
    (mask != 0).then_some(Piece { word, bytes, mask })
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_isa::PM_BASE;

    fn lines() -> Lines {
        let span = |start, end, place| Span {
            start: PM_BASE + start,
            end: PM_BASE + end,
            place,
        };
        Lines {
            spans: vec![span(0x14, 0x30, 0x14), span(0x1000, 0x2000, 1 << 48 | 0x3000)],
            places: Places::default(),
        }
    }

    #[test]
    fn a_line_is_where_its_file_has_it() {
        let data = [1, 2, 3, 4, 5, 6, 7, 8];
        let pieces: Vec<Piece> = lines().pieces(Addr(PM_BASE + 0x1040).line(), &data).collect();
        let words: Vec<u64> = pieces.iter().map(|piece| piece.word).collect();
        assert_eq!(
            words,
            (0..8).map(|word| (1 << 48 | 0x3040) + 8 * word).collect::<Vec<_>>()
        );
        assert!(pieces
            .iter()
            .zip(&data)
            .all(|(piece, word)| u64::from_le_bytes(piece.bytes) == *word));
    }

    #[test]
    fn bytes_outside_of_the_regions_are_left_out() {
        let pieces: Vec<Piece> = lines().pieces(Addr(PM_BASE).line(), &[u64::MAX; 8]).collect();
        let masks: Vec<(u64, u8)> = pieces.iter().map(|piece| (piece.word, piece.mask)).collect();
        assert_eq!(masks, [(0x10, 0xf0), (0x18, 0xff), (0x20, 0xff), (0x28, 0xff)]);
        assert_eq!(lines().pieces(Addr(PM_BASE + 0x40).line(), &[1; 8]).count(), 0);
    }
}
