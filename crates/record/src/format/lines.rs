//! Conversion of the places in the source to and from bytes.

use super::bytes::{put, put_bytes, Bad, Cursor, Parsed};
use crate::lines::{Lines, Place, MOST_LINES};

/// Appends the places, and the instructions with the number of each one's place.
pub(crate) fn put_lines(out: &mut Vec<u8>, lines: &Lines) {
    put(out, lines.places.len() as u64);
    for place in &lines.places {
        for text in [&place.symbol, &place.file, &place.text] {
            put_bytes(out, text.as_bytes());
        }
        put(out, u64::from(place.line));
        put(out, place.inlined_in.len() as u64);
        for caller in &place.inlined_in {
            put_bytes(out, caller.as_bytes());
        }
    }
    let mut last = 0;
    for (pc, place) in &lines.of {
        put(out, pc - last);
        put(out, *place as u64);
        last = *pc;
    }
}

/// Reads the places of so many instructions.
pub(crate) fn lines(raw: &[u8], items: u32) -> Parsed<Lines> {
    let c = &mut Cursor::new(raw);
    let count = c.count(5)?;
    let places = (0..count).map(|_| place(c)).collect::<Parsed<Vec<Place>>>()?;
    let mut lines = Lines {
        places,
        ..Lines::default()
    };
    if items as usize > MOST_LINES {
        return Err(Bad("there are too many places in the source"));
    }
    let mut last: u64 = 0;
    for _ in 0..items {
        let pc = last.checked_add(c.number()?).ok_or(Bad("an address is out of range"))?;
        let place: usize = c.small()?;
        if place >= count {
            return Err(Bad("an instruction has an unknown place in the source"));
        }
        lines.of.insert(pc, place);
        last = pc;
    }
    c.end()?;
    Ok(lines)
}

fn place(c: &mut Cursor<'_>) -> Parsed<Place> {
    let (symbol, file, text) = (c.text()?, c.text()?, c.text()?);
    let line = c.small()?;
    let callers = c.count(1)?;
    let inlined_in = (0..callers).map(|_| c.text()).collect::<Parsed<_>>()?;
    Ok(Place {
        symbol,
        file,
        line,
        text,
        inlined_in,
    })
}
