//! Frames in a pcap file: pcap-savefile(5) with nanoseconds, link type 1 (Ethernet).

use std::io::{self, Write};

use crate::wire::Arrival;

const MAGIC: u32 = 0xa1b2_3c4d;
const NS_PER_S: u64 = 1_000_000_000;

pub struct Capture<W: Write> {
    to: W,
    /// Frames that earlier ones may still precede.
    pending: Vec<Arrival>,
}

impl<W: Write> Capture<W> {
    pub fn new(mut to: W) -> io::Result<Self> {
        // Version 2.4; time zone and accuracy, unused; longest frame; Ethernet.
        for word in [MAGIC, 4 << 16 | 2, 0, 0, 0xffff, 1] {
            to.write_all(&word.to_le_bytes())?;
        }
        Ok(Self { to, pending: Vec::new() })
    }

    pub fn take<'a>(&mut self, frames: impl IntoIterator<Item = &'a Arrival>) {
        self.pending.extend(frames.into_iter().cloned());
    }

    /// Writes the queued frames before `until_ns`. No earlier frame may be queued afterwards.
    pub fn write_until(&mut self, until_ns: u64) -> io::Result<()> {
        self.pending.sort_by_key(|frame| frame.at_ns);
        let ready = self.pending.partition_point(|frame| frame.at_ns < until_ns);
        for Arrival { at_ns, frame } in self.pending.drain(..ready) {
            let (seconds, ns, bytes) = (at_ns / NS_PER_S, at_ns % NS_PER_S, frame.len());
            for word in [seconds as u32, ns as u32, bytes as u32, bytes as u32] {
                self.to.write_all(&word.to_le_bytes())?;
            }
            self.to.write_all(&frame)?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.write_until(u64::MAX)?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_its_header_and_records_in_order_of_time() {
        let mut file = Vec::new();
        let mut capture = Capture::new(&mut file).unwrap();
        let at = |at_ns, byte| Arrival { at_ns, frame: vec![byte; 3] };
        capture.take(&[at(3 * NS_PER_S + 5, 7)]);
        capture.write_until(4).unwrap();
        capture.take(&[at(4, 6)]);
        capture.write_until(5).unwrap();
        capture.finish().unwrap();
        let words =
            |bytes: &[u8]| bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<u32>>();
        assert_eq!(words(&file[..40]), [0xa1b2_3c4d, 0x0004_0002, 0, 0, 65535, 1, 0, 4, 3, 3]);
        assert_eq!(file[40..43], [6, 6, 6]);
        assert_eq!(words(&file[43..59]), [3, 5, 3, 3]);
        assert_eq!(file[59..], [7, 7, 7]);
    }
}
