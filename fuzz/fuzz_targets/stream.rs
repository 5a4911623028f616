//! Any bytes are a recorder's stream or an error, and what is collected can be read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use strandline_record::{collect_to, Recording};

fuzz_target!(|bytes: &[u8]| {
    let collected = collect_to(bytes, || Ok(Vec::new()), &mut |_| ());
    let Ok((bytes, _)) = collected else { return };
    let recording = Recording::from_bytes(bytes).expect("what is collected can be opened");
    for thread in 0..recording.threads().len() {
        let mut stream = recording.stream(thread).expect("there is such a thread");
        while stream.next().expect("what is collected can be read").is_some() {}
    }
});
