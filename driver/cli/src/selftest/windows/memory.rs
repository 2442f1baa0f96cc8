//! Host memory of a window, and its expected contents.
//!
//! Gradient and result lie between guard patterns that no window may change.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use optireduce_contract::limits::{BEAT_BYTES, LANES, NAN_BITS};
use optireduce_contract::queue::REPORT_BYTES;
use optireduce_driver::{Bus, DmaBuffer, DriverError, Nic, memory_file};

use super::super::problem::Problem;
use super::case::{Case, PAGE_BYTES, Places};

/// Pattern of guard areas, and of the result until the card writes it.
const PATTERN: u8 = 0xa5;

const NOT_GIVEN: &str =
    "The card writes to memory outside its buffers. Do not use it: it may overwrite any memory that it can reach.";
const WRONG_VALUE: &str = "The mean of one contribution is that contribution, and every NaN is 0x7fc00000. Either the card's arithmetic is \
     wrong, or it cannot reach all of host memory: look for IOMMU faults in the kernel log.";
const NOT_ZERO: &str = "A beat without contributions must be zero: compare the card's build with hw/contract.";

pub struct Memory {
    gradient: Room,
    result: Room,
    reports: DmaBuffer,
}

pub enum Room {
    Own(DmaBuffer),
    /// Memory file and its IOVA.
    Lent(File, u64),
}

impl Room {
    /// Lends the card a memory file. `None` if the bus cannot map it.
    pub fn lent<B: Bus>(nic: &Nic<B>, bytes: usize) -> Result<Option<Self>, DriverError> {
        let file = File::from(memory_file(bytes).map_err(|source| failed(nic, bytes, source))?);
        Ok(nic.bus().map(file.as_fd(), bytes)?.map(|iova| Self::Lent(file, iova)))
    }

    pub fn iova(&self) -> u64 {
        match self {
            Self::Own(buffer) => buffer.iova,
            Self::Lent(_, iova) => *iova,
        }
    }

    fn write<B: Bus>(&self, nic: &Nic<B>, at: usize, bytes: &[u8]) -> Result<(), DriverError> {
        match self {
            Self::Own(buffer) => nic.write_bytes(*buffer, at, bytes),
            Self::Lent(file, _) => {
                file.write_all_at(bytes, at as u64).map_err(|source| failed(nic, bytes.len(), source))
            }
        }
    }

    fn read<B: Bus>(&self, nic: &Nic<B>, at: usize, out: &mut [u8]) -> Result<(), DriverError> {
        match self {
            Self::Own(buffer) => nic.read_bytes(*buffer, at, out),
            Self::Lent(file, _) => {
                let bytes = out.len();
                file.read_exact_at(out, at as u64).map_err(|source| failed(nic, bytes, source))
            }
        }
    }

    pub fn free<B: Bus>(self, nic: &mut Nic<B>) -> Result<(), DriverError> {
        match self {
            Self::Own(buffer) => nic.free(buffer),
            Self::Lent(_, iova) => nic.bus().unmap(iova),
        }
    }
}

fn failed<B: Bus>(nic: &Nic<B>, bytes: usize, source: io::Error) -> DriverError {
    DriverError::Map { device: nic.bus().name().into(), what: "a memory file", bytes, source }
}

impl Memory {
    pub fn new<B: Bus>(nic: &mut Nic<B>, beats: usize) -> Result<Self, DriverError> {
        let bytes = room_bytes(beats);
        let [gradient, result] = [nic.alloc(bytes, PAGE_BYTES)?, nic.alloc(bytes, PAGE_BYTES)?].map(Room::Own);
        let reports = nic.alloc(3 * REPORT_BYTES, REPORT_BYTES)?;
        Ok(Self { gradient, result, reports })
    }

    /// [`Memory::new`] in memory files. `None` if the bus cannot map them.
    pub fn lent<B: Bus>(nic: &mut Nic<B>, beats: usize) -> Result<Option<Self>, DriverError> {
        let bytes = room_bytes(beats);
        let (Some(gradient), Some(result)) = (Room::lent(nic, bytes)?, Room::lent(nic, bytes)?) else {
            return Ok(None);
        };
        let reports = nic.alloc(3 * REPORT_BYTES, REPORT_BYTES)?;
        Ok(Some(Self { gradient, result, reports }))
    }

    pub fn free<B: Bus>(self, nic: &mut Nic<B>) -> Result<(), DriverError> {
        self.gradient.free(nic)?;
        self.result.free(nic)?;
        nic.free(self.reports)
    }

    pub fn prepare<B: Bus>(&self, nic: &Nic<B>, case: &Case, values: &[u32]) -> Result<Places, DriverError> {
        let bytes = case.host_beats * BEAT_BYTES;
        self.gradient.write(nic, start(case.gradient_at) - PAGE_BYTES, &guarded(&gradient(case, values)))?;
        self.result.write(nic, start(case.result_at) - PAGE_BYTES, &guarded(&vec![PATTERN; bytes]))?;
        nic.write_bytes(self.reports, 0, &[PATTERN; 3 * REPORT_BYTES])?;
        Ok(Places {
            gradient: self.gradient.iova() + start(case.gradient_at) as u64,
            result: self.result.iova() + start(case.result_at) as u64,
            reports: self.reports.iova + REPORT_BYTES as u64,
        })
    }

    pub fn reports<B: Bus>(&self, nic: &Nic<B>) -> Result<[u8; REPORT_BYTES], DriverError> {
        let mut out = [0; REPORT_BYTES];
        nic.read_bytes(self.reports, REPORT_BYTES, &mut out)?;
        Ok(out)
    }

    pub fn check<B: Bus>(&self, nic: &Nic<B>, case: &Case, values: &[u32], object: &str) -> Result<(), Problem> {
        let mut reports = vec![0; 3 * REPORT_BYTES];
        nic.read_bytes(self.reports, 0, &mut reports)?;
        let mut expected = vec![PATTERN; 3 * REPORT_BYTES];
        // The reports themselves are checked elsewhere.
        expected[REPORT_BYTES..2 * REPORT_BYTES].copy_from_slice(&reports[REPORT_BYTES..2 * REPORT_BYTES]);
        let around = |_: usize| ("memory around the stage reports".to_owned(), NOT_GIVEN);
        compare(object, self.reports.iova, &reports, &expected, around)?;

        let given = gradient(case, values);
        let describe = |at: usize| match place(at, given.len()) {
            Some(_) => ("the gradient, which the card must only read".to_owned(), NOT_GIVEN),
            None => ("memory around the gradient".to_owned(), NOT_GIVEN),
        };
        check_buffer(nic, &self.gradient, start(case.gradient_at), &given, object, describe)?;

        let describe = |at: usize| match place(at, given.len()) {
            Some(byte) => describe_result(case, values, byte),
            None => ("memory around the result".to_owned(), NOT_GIVEN),
        };
        check_buffer(nic, &self.result, start(case.result_at), &result(case, values), object, describe)
    }
}

/// Size of a buffer: guard page, page for the data's offset, window, guard page.
fn room_bytes(beats: usize) -> usize {
    (beats * BEAT_BYTES).next_multiple_of(PAGE_BYTES) + 3 * PAGE_BYTES
}

fn start(beats: usize) -> usize {
    PAGE_BYTES + beats * BEAT_BYTES
}

fn guarded(data: &[u8]) -> Vec<u8> {
    [&[PATTERN; PAGE_BYTES], data, &[PATTERN; PAGE_BYTES]].concat()
}

/// Maps an offset in [`guarded`] data to one in the data; `None` in the pattern.
fn place(at: usize, data_bytes: usize) -> Option<usize> {
    at.checked_sub(PAGE_BYTES).filter(|byte| *byte < data_bytes)
}

fn gradient(case: &Case, values: &[u32]) -> Vec<u8> {
    let mut bytes: Vec<u8> = values.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    bytes.resize(case.host_beats * BEAT_BYTES, 0);
    bytes
}

/// Expected result: the mean of one contribution in this rank's shard, zero elsewhere.
fn result(case: &Case, values: &[u32]) -> Vec<u8> {
    let own = case.own();
    let lane = |at: usize| {
        let given = values.get(at).filter(|_| own.contains(&(at / LANES))).copied().unwrap_or(0);
        if f32::from_bits(given).is_nan() { NAN_BITS } else { given }
    };
    (0..case.host_beats * LANES).flat_map(|at| lane(at).to_le_bytes()).collect()
}

fn describe_result(case: &Case, values: &[u32], byte: usize) -> (String, &'static str) {
    let (beat, lane) = (byte / BEAT_BYTES, byte % BEAT_BYTES / 4);
    if !case.own().contains(&beat) {
        return (format!("beat {beat} lane {lane} of the result, in the absent rank's shard"), NOT_ZERO);
    }
    let given = values.get(byte / 4).copied().unwrap_or(0);
    (format!("beat {beat} lane {lane} of the result, in this rank's shard, for input {given:#010x}"), WRONG_VALUE)
}

fn check_buffer<B: Bus>(
    nic: &Nic<B>,
    room: &Room,
    start: usize,
    data: &[u8],
    object: &str,
    describe: impl Fn(usize) -> (String, &'static str),
) -> Result<(), Problem> {
    let expected = guarded(data);
    let mut found = vec![0; expected.len()];
    room.read(nic, start - PAGE_BYTES, &mut found)?;
    compare(object, room.iova() + (start - PAGE_BYTES) as u64, &found, &expected, describe)
}

/// Compares word by word. `describe` returns object and advice for a byte.
fn compare(
    object: &str,
    iova: u64,
    found: &[u8],
    expected: &[u8],
    describe: impl Fn(usize) -> (String, &'static str),
) -> Result<(), Problem> {
    let words = found.as_chunks::<4>().0.iter().zip(expected.as_chunks::<4>().0);
    let Some((word, (found, expected))) = words.enumerate().find(|(_, (found, expected))| found != expected) else {
        return Ok(());
    };
    let (what, advice) = describe(4 * word);
    let [found, expected] = [found, expected].map(|word| format!("{:#010x}", u32::from_le_bytes(*word)));
    let object = format!("{object}: {what}, at IOVA {:#x}", iova + 4 * word as u64);
    Err(Problem::Wrong { object, found, expected, advice })
}
