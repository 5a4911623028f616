use super::*;
use crate::order::Fence;

const FIRST: At = At { pc: 1, from: 0 };
const SECOND: At = At { pc: 2, from: 0 };

/// A store of host 0 and what host 1 does then, of which the hosts with these numbers fail; `faulty` reads show nothing.
fn left(fails: &[u32], faulty: bool, then: &[What]) -> usize {
    let pair = faulty.then_some((FIRST, SECOND));
    let hosts = Failing {
        threads: fails.to_vec(),
        faulty: Arc::new(pair.into_iter().collect()),
    };
    let mut pending = Pending::new(Rules::Flushed, 2, Image::default()).of_hosts(Some(hosts));
    let piece = Piece {
        word: 64,
        bytes: [1; 8],
        mask: u8::MAX,
    };
    let mut done = |thread, at, what| {
        pending.apply(&PmOp {
            thread,
            at,
            rest: false,
            what,
        });
    };
    done(0, FIRST, What::Store(piece));
    then.iter().for_each(|what| done(1, SECOND, *what));
    pending.settle_due();
    pending.lines.len()
}

#[test]
fn a_host_that_lives_on_keeps_its_stores() {
    assert_eq!(left(&[0], false, &[]), 1);
    assert_eq!(left(&[1], false, &[]), 0);
}

#[test]
fn another_hosts_flush_does_not_reach_a_store() {
    let flushes = [
        What::Flush(Flush::Clwb, Some(64)),
        What::Fence(Fence::Mfence),
        What::Flush(Flush::Clflush, Some(64)),
    ];
    assert_eq!(left(&[0, 1], false, &flushes), 1);
    let mut coherent = Pending::new(Rules::Flushed, 2, Image::default());
    let piece = Piece {
        word: 64,
        bytes: [1; 8],
        mask: u8::MAX,
    };
    let ops = std::iter::once((0, What::Store(piece))).chain(flushes.map(|what| (1, what)));
    for (thread, what) in ops {
        let (at, rest) = (FIRST, false);
        coherent.apply(&PmOp { thread, at, rest, what });
    }
    assert_eq!(
        coherent.lines.len(),
        0,
        "caches that are coherent write back for each other"
    );
}

#[test]
fn what_another_host_has_read_has_come_to_the_device() {
    let read = [What::Load { word: 64, mask: 1 }];
    assert_eq!(left(&[0, 1], false, &read), 0);
    assert_eq!(left(&[0, 1], true, &read), 1, "if it could have been read so");
    assert_eq!(
        left(&[0, 1], false, &[What::Load { word: 72, mask: 1 }]),
        1,
        "another word"
    );
}
