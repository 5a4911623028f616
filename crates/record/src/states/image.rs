//! What persistent memory holds.

use crate::order::{Piece, Places, PmPlace};
use crate::{RecordError, Recording, PAGE_BYTES};
use std::collections::BTreeMap;

/// Contents by page; absent pages are zeros.
#[derive(Clone, Debug, Default)]
pub struct Image {
    pages: BTreeMap<PmPlace, Box<[u8; PAGE_BYTES as usize]>>,
}

impl Image {
    /// The initial memory of the recording. If a file was mapped twice, the contents at the lower address count.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn initial(recording: &Recording, places: &Places) -> Result<Image, RecordError> {
        let mut image = Image::default();
        for (address, bytes) in recording.initial_pages()? {
            if let Some((place, _)) = places.of_address(address) {
                if image.pages(place, place + PAGE_BYTES).next().is_none() {
                    image.set_page(place, &bytes);
                }
            }
        }
        Ok(image)
    }

    /// Sets a whole page.
    pub fn set_page(&mut self, at: PmPlace, bytes: &[u8; PAGE_BYTES as usize]) {
        self.pages.insert(at, Box::new(*bytes));
    }

    /// Stores bytes.
    pub fn store(&mut self, piece: &Piece) {
        let page = self.pages.entry(piece.word & !(PAGE_BYTES - 1));
        let page = page.or_insert_with(|| Box::new([0; PAGE_BYTES as usize]));
        patch(page, piece);
    }

    /// What an aligned word holds.
    #[must_use]
    pub fn word(&self, word: PmPlace) -> [u8; 8] {
        let (mut bytes, at) = ([0; 8], (word & (PAGE_BYTES - 1)) as usize);
        if let Some(page) = self.pages.get(&(word & !(PAGE_BYTES - 1))) {
            bytes.copy_from_slice(&page[at..at + 8]);
        }
        bytes
    }

    /// The pages between two locations, in order.
    pub fn pages(&self, from: PmPlace, to: PmPlace) -> impl Iterator<Item = (PmPlace, &[u8; PAGE_BYTES as usize])> {
        self.pages.range(from..to).map(|(at, page)| (*at, &**page))
    }
}

/// Stores bytes into the page that they are in.
pub fn patch(page: &mut [u8; PAGE_BYTES as usize], piece: &Piece) {
    let at = (piece.word & (PAGE_BYTES - 1)) as usize;
    for byte in (0..8).filter(|byte| piece.mask >> byte & 1 == 1) {
        page[at + byte] = piece.bytes[byte];
    }
}
