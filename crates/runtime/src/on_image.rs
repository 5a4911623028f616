//! The back end of a program that runs on during recovery.

use strandline_isa::{Addr, CoreId, Cpu, Flush, Image, Lowering, Note, Primitive, Rmw, W};

/// One core over a crash image. Each store is durable at once, in program order, so nothing needs to be flushed or
/// ordered; but power may fail again, so regions are logged.
pub struct OnImage<'i> {
    image: &'i dyn Image,
    lowering: Lowering,
}

impl<'i> OnImage<'i> {
    /// A core over `image`.
    #[must_use]
    pub fn new(image: &'i dyn Image) -> Self {
        OnImage {
            image,
            lowering: Lowering {
                log: true,
                ..Lowering::NOTHING
            },
        }
    }

    /// The word that holds `addr`, the position of the addressed bits in it, and the mask of `size` bytes.
    fn place(addr: Addr, size: u8) -> (Addr, u64, u64) {
        (
            Addr(addr.0 & !7),
            (addr.0 & 7) * 8,
            u64::MAX >> (64 - 8 * u32::from(size)),
        )
    }
}

impl Cpu for OnImage<'_> {
    type Tag = u64;

    fn core(&self) -> CoreId {
        CoreId(0)
    }

    fn lowering(&self) -> &Lowering {
        &self.lowering
    }

    fn load(&self, addr: Addr, _address: u64, size: u8) -> W<'_, Self> {
        let (word, shift, mask) = OnImage::place(addr, size);
        W::new(self, self.image.word(word) >> shift & mask, 0)
    }

    fn store(&self, addr: Addr, _address: u64, size: u8, value: u64, _data: u64) {
        let (word, shift, mask) = OnImage::place(addr, size);
        let rest = self.image.word(word) & !(mask << shift);
        self.image.set_word(word, rest | (value & mask) << shift);
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        self.store(addr, address, size, value, data);
    }

    fn rmw(&self, addr: Addr, _address: u64, op: Rmw, operand: u64, _data: u64) -> W<'_, Self> {
        let old = self.image.word(addr);
        self.image.set_word(addr, op.apply(old, operand));
        W::new(self, old, 0)
    }

    fn flush(&self, _addr: Addr, _address: u64, _flush: Flush) {}

    fn primitive(&self, _primitive: Primitive) {}

    fn note(&self, _note: Note) {}

    fn start_line(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finish;
    use strandline_isa::Memory;

    #[test]
    fn loads_and_stores_of_any_size_are_those_of_memory() {
        let (memory, image) = (Memory::new(64, 0), Memory::new(64, 0));
        let cpu = OnImage::new(&image);
        let mut value = 0x0123_4567_89ab_cdef_u64;
        for size in [1, 2, 4, 8] {
            for addr in (0..64).step_by(usize::from(size)).map(Addr) {
                value = value.rotate_left(7);
                memory.write(addr, size, value);
                let read = finish(|| {
                    cpu.store(addr, 0, size, value, 0);
                    cpu.load(addr, 0, size).bits()
                });
                assert_eq!(read, Ok(memory.read(addr, size)));
                assert_eq!(image.word(Addr(addr.0 & !7)), memory.word(Addr(addr.0 & !7)));
            }
        }
    }
}
