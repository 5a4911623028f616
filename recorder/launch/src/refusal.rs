//! Refusals before the program starts: the launcher passes them to the collector, which prints them.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use strandline_capture::{PacketKind, HEADER_BYTES, MAGIC, VERSION};

/// The pipe in these arguments, even if others are wrong.
pub fn pipe_among(words: &[OsString]) -> Option<&OsStr> {
    let options = words.iter().take_while(|word| *word != "--");
    let mut after = options.skip_while(|word| *word != "--pipe").skip(1);
    after.next().map(OsString::as_os_str)
}

/// Writes a stream with only the reason of the refusal.
///
/// # Errors
/// There is no such pipe, or it has no reader.
pub fn tell(pipe: &OsStr, program: &[OsString], what: &str) -> io::Result<()> {
    // A missing file is not created, because a recording without a program is none.
    let mut pipe = OpenOptions::new().write(true).truncate(true).open(pipe)?;
    pipe.write_all(&stream(program, what))
}

fn stream(program: &[OsString], what: &str) -> Vec<u8> {
    let mut start = Vec::from(VERSION.to_le_bytes());
    start.extend(std::process::id().to_le_bytes());
    let words: Vec<&[u8]> = program.iter().map(|word| word.as_bytes()).collect();
    start.extend(words.join(&0));
    let mut stream = Vec::from(MAGIC);
    for (kind, payload) in [(PacketKind::Start, &start[..]), (PacketKind::Refused, what.as_bytes())] {
        stream.extend((kind as u32).to_le_bytes());
        stream.extend(0u32.to_le_bytes());
        stream.extend((payload.len() as u64).to_le_bytes());
        stream.extend(payload);
        stream.resize(stream.len().next_multiple_of(8), 0);
    }
    stream
}

const _: () = assert!(HEADER_BYTES == 16 && MAGIC.len() == 8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipe_is_found_among_wrong_words_but_not_among_the_programs() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(
            pipe_among(&words(&["--wrong", "--pipe", "/p", "--", "a"])),
            Some("/p".as_ref())
        );
        assert_eq!(pipe_among(&words(&["--", "a", "--pipe", "/p"])), None);
        assert_eq!(pipe_among(&words(&["--pipe"])), None);
    }

    #[test]
    fn packets_are_padded_to_words() {
        let stream = stream(&["a".into(), "b".into()], "no");
        assert_eq!(
            stream.len(),
            8 + 16 + 16 + 16 + 8,
            "8 bytes and `a`, NUL, `b`; then `no`"
        );
        assert_eq!(
            stream[24..35],
            [&VERSION.to_le_bytes()[..], &std::process::id().to_le_bytes(), b"a\0b"].concat()
        );
    }
}
