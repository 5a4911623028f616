//! A core's persist buffer.

use super::*;

const A: Line = Line(1);
const B: Line = Line(2);

/// Flushes the oldest write of an epoch.
fn flush(buffer: &mut Buffer, epoch: u64) -> Option<Write> {
    buffer.flush(None, u64::MAX, |of| (of == epoch).then_some(Flush::Safe))
}

#[test]
fn stores_of_one_epoch_to_a_line_share_an_entry_until_it_is_sent() {
    let mut buffer = Buffer::new(2);
    assert!(buffer.insert(A, [1; 8], 0));
    assert!(!buffer.insert(A, [2; 8], 0));
    let sent = flush(&mut buffer, 0).expect("a write");
    assert_eq!((sent.line, sent.data), (A, [2; 8]));
    assert!(buffer.insert(A, [3; 8], 0), "what is in flight does not change");
}

#[test]
fn stores_of_two_epochs_to_a_line_have_an_entry_each() {
    let mut buffer = Buffer::new(4);
    buffer.insert(A, [1; 8], 0);
    assert!(buffer.insert(A, [2; 8], 1));
    assert_eq!(flush(&mut buffer, 0).map(|w| w.data), Some([1; 8]));
    assert_eq!(flush(&mut buffer, 0), None, "the other entry is the next epoch's");
}

#[test]
fn a_full_buffer_has_room_for_what_coalesces_and_nothing_else() {
    let mut buffer = Buffer::new(1);
    buffer.insert(A, [1; 8], 0);
    assert!(buffer.has_room(A, 0));
    assert!(!buffer.has_room(B, 0) && !buffer.has_room(A, 1));
    let sent = flush(&mut buffer, 0).expect("a write");
    assert!(
        !buffer.has_room(A, 0),
        "an entry is used until its write is acknowledged"
    );
    assert_eq!(buffer.acknowledge(sent.tag.id), Some(0));
    assert!(buffer.has_room(B, 0));
    assert_eq!(buffer.occupied(), 0);
}

#[test]
fn entries_can_be_held_back_for_stores_that_follow() {
    let mut buffer = Buffer::new(4);
    buffer.insert(A, [1; 8], 0);
    buffer.insert(B, [1; 8], 0);
    assert_eq!(buffer.gathering(0, None), Some((0, 2)));
    assert_eq!(buffer.gathering(0, Some(0)), Some((1, 1)));
    assert_eq!((buffer.gathering(0, Some(1)), buffer.gathering(1, None)), (None, None));
    assert!(buffer.flush(Some(0), u64::MAX, |_| Some(Flush::Safe)).is_none());
    assert_eq!(
        buffer.flush(Some(1), u64::MAX, |_| Some(Flush::Safe)).map(|e| e.line),
        Some(A)
    );
    assert_eq!(
        buffer.gathering(0, None),
        Some((1, 1)),
        "what is in flight does not wait"
    );
    assert!(
        !buffer.insert(B, [2; 8], 0),
        "it coalesces with the entry that was held back"
    );
    assert_eq!(flush(&mut buffer, 0).map(|w| w.data), Some([2; 8]));
}

#[test]
fn a_safe_write_waits_for_an_early_one_of_its_line_and_epoch_and_no_other_does() {
    let mut buffer = Buffer::new(8);
    let flush = |buffer: &mut Buffer, how| buffer.flush(None, u64::MAX, |_| Some(how)).map(|e| e.data);
    buffer.insert(A, [1; 8], 0);
    assert_eq!(flush(&mut buffer, Flush::Early), Some([1; 8]));
    buffer.insert(A, [2; 8], 0);
    assert_eq!(
        flush(&mut buffer, Flush::Early),
        Some([2; 8]),
        "both can be refused, and then in order"
    );
    buffer.insert(A, [3; 8], 0);
    assert_eq!(flush(&mut buffer, Flush::Safe), None);
    buffer.insert(A, [4; 8], 1);
    assert_eq!(
        flush(&mut buffer, Flush::Safe),
        Some([4; 8]),
        "another epoch's does not wait"
    );
    buffer.acknowledge(0);
    assert_eq!(flush(&mut buffer, Flush::Safe), None);
    buffer.acknowledge(1);
    assert_eq!(flush(&mut buffer, Flush::Safe), Some([3; 8]));
    buffer.insert(A, [5; 8], 0);
    assert_eq!(
        flush(&mut buffer, Flush::Safe),
        Some([5; 8]),
        "safe writes follow one another"
    );
}

#[test]
fn a_write_waits_for_a_refused_one_of_its_line_and_epoch() {
    let mut buffer = Buffer::new(4);
    buffer.insert(A, [1; 8], 0);
    buffer.flush(None, u64::MAX, |_| Some(Flush::Early));
    buffer.insert(A, [2; 8], 0);
    buffer.flush(None, u64::MAX, |_| Some(Flush::Early));
    assert_eq!(buffer.refuse(0), Some(0));
    assert!(
        buffer.insert(A, [3; 8], 0),
        "what coalesced with the older one would be overwritten by the younger"
    );
    assert_eq!(buffer.refuse(1), Some(0));
    let again = |buffer: &mut Buffer| buffer.flush(None, u64::MAX, |_| Some(Flush::Safe)).map(|e| e.data);
    assert_eq!(again(&mut buffer), Some([1; 8]));
    assert_eq!(again(&mut buffer), Some([2; 8]));
    assert_eq!(again(&mut buffer), Some([3; 8]));
}

#[test]
fn a_refused_write_waits_again_and_coalesces_again() {
    let mut buffer = Buffer::new(4);
    buffer.insert(A, [1; 8], 3);
    let sent = buffer.flush(None, u64::MAX, |_| Some(Flush::Early)).expect("a write");
    assert_eq!((sent.tag.flush, sent.tag.was_refused), (Flush::Early, false));
    assert_eq!(buffer.refuse(sent.tag.id), Some(3));
    assert!(buffer.is_blocked(u64::MAX, |_| false) && !buffer.is_blocked(u64::MAX, |_| true));
    assert!(!buffer.insert(A, [2; 8], 3), "it coalesces with the refused one");
    let again = buffer.flush(None, u64::MAX, |_| Some(Flush::Safe)).expect("a write");
    assert_eq!((again.tag.id, again.data), (sent.tag.id, [2; 8]));
    assert!(again.tag.was_refused);
}

#[test]
fn a_refused_write_is_not_held_back() {
    let mut buffer = Buffer::new(4);
    buffer.insert(A, [1; 8], 0);
    let sent = buffer.flush(None, u64::MAX, |_| Some(Flush::Early)).expect("a write");
    buffer.refuse(sent.tag.id);
    assert_eq!(buffer.gathering(0, None), None, "no time is set for it");
    buffer.insert(B, [1; 8], 0);
    assert_eq!(buffer.gathering(0, None), Some((1, 1)));
}

#[test]
fn a_write_that_was_not_sent_cannot_be_acknowledged() {
    let mut buffer = Buffer::new(1);
    buffer.insert(A, [1; 8], 0);
    assert_eq!(buffer.acknowledge(0), None);
    assert_eq!(buffer.occupied(), 1);
}
