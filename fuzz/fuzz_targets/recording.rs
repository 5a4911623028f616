//! Any bytes are a recording or an error. Built for fuzzing, the reader does not look at checksums.

#![no_main]

use libfuzzer_sys::fuzz_target;
use strandline_record::replay::Replayed;
use strandline_record::{RecordError, Recording};

fn read(bytes: &[u8]) -> Result<(), RecordError> {
    let recording = Recording::from_bytes(bytes.to_vec())?;
    let _pages = recording.initial_pages()?.count();
    for thread in 0..recording.threads().len() {
        let mut stream = recording.stream(thread)?;
        while stream.next()?.is_some() {}
    }
    Replayed::new(recording).map(drop)
}

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = read(bytes) {
        assert_eq!(error.to_string().lines().count(), 1);
    }
});
