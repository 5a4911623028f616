//! Crash states as files.

use super::image::{patch, Image};
use crate::order::{Piece, Places, PmPlace};
use crate::{RecordError, PAGE_BYTES};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Writes a crash state into a new folder, one file for each file of persistent memory, and returns their paths. The
/// folder appears with all files or not at all. Pages of zeros are holes.
///
/// # Errors
/// Something cannot be written.
pub fn write(places: &Places, image: &Image, stores: &[Piece], folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let mut partial = folder.as_os_str().to_owned();
    partial.push(".part");
    let partial = PathBuf::from(partial);
    let written = fill(places, image, stores, &partial).and_then(|()| fs::rename(&partial, folder));
    written.map_err(|error| {
        // An incomplete state is deleted; if that fails, the first error is still the reported one.
        let _ = fs::remove_dir_all(&partial);
        let mend = "give a folder on a disk with room that you may write";
        RecordError::new(format!("{}: cannot be written ({error})", folder.display()), mend)
    })?;
    Ok(places.files().iter().map(|file| folder.join(&file.name)).collect())
}

fn fill(places: &Places, image: &Image, stores: &[Piece], folder: &Path) -> std::io::Result<()> {
    fs::create_dir(folder)?;
    let mut patches: BTreeMap<PmPlace, Vec<&Piece>> = BTreeMap::new();
    for piece in stores {
        patches.entry(piece.word & !(PAGE_BYTES - 1)).or_default().push(piece);
    }
    for (number, pool) in places.files().iter().enumerate() {
        let (start, mut file) = (Places::start(number), File::create_new(folder.join(&pool.name))?);
        let end = start + pool.bytes;
        file.set_len(pool.bytes)?;
        let mut put = |at: PmPlace, page: &[u8]| {
            let length = PAGE_BYTES.min(end - at) as usize;
            file.seek(SeekFrom::Start(at - start))?;
            file.write_all(&page[..length])
        };
        for (at, page) in image.pages(start, end) {
            match patches.remove(&at) {
                Some(pieces) => put(at, &patched(*page, &pieces))?,
                None => put(at, page)?,
            }
        }
        for (at, pieces) in patches.range(start..end) {
            put(*at, &patched([0; PAGE_BYTES as usize], pieces))?;
        }
    }
    Ok(())
}

fn patched(mut page: [u8; PAGE_BYTES as usize], pieces: &[&Piece]) -> [u8; PAGE_BYTES as usize] {
    pieces.iter().for_each(|piece| patch(&mut page, piece));
    page
}
