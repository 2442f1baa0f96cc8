//! DMA memory from both ends (bounds, alignment, allocation), and the end of BAR 0.

mod card;

use card::{IOVA, TestCard};
use optireduce_contract::registers::BAR_BYTES;
use optireduce_driver::{Bus, DmaBuffer, DmaFault, DriverError, Nic, in_process};

const BYTES: usize = 64 << 10;

#[test]
fn copies_of_any_alignment_and_length_touch_their_bytes_only() {
    let (card, bus) = TestCard::new(BYTES);
    let dma = bus.dma();
    for start in 0..9u64 {
        for len in 0..21usize {
            dma.write(IOVA, &[0xa5; 64]).unwrap();
            let bytes: Vec<u8> = (1..=len as u8).collect();
            dma.write(IOVA + start, &bytes).unwrap();
            let mut expected = [0xa5; 64];
            expected[start as usize..start as usize + len].copy_from_slice(&bytes);
            let mut all = [0; 64];
            card.end().dma_read(IOVA, &mut all).unwrap();
            assert_eq!(all, expected, "write of {len} bytes at {start}");
            let mut out = vec![0; len];
            card.end().dma_read(IOVA + start, &mut out).unwrap();
            assert_eq!(out, bytes, "read of {len} bytes at {start}");
        }
    }
}

#[test]
fn accesses_outside_dma_memory_are_faults_and_copy_nothing() {
    let (card, bus) = TestCard::new(BYTES);
    let end = IOVA + BYTES as u64;
    for (iova, bytes) in
        [(IOVA - 1, 1), (IOVA - 1, 2), (end, 1), (end - 1, 2), (IOVA, BYTES + 1), (u64::MAX, 2), (0, 4)]
    {
        let fault = DmaFault::OutOfRange { iova, bytes, base: IOVA, len: BYTES };
        let mut out = vec![7; bytes];
        assert_eq!(card.end().dma_read(iova, &mut out), Err(fault));
        assert_eq!(out, vec![7; bytes]);
        assert_eq!(card.end().dma_write(iova, &out), Err(fault));
    }
    let mut all = vec![1; BYTES];
    card.end().dma_read(IOVA, &mut all).unwrap();
    assert_eq!(all, vec![0; BYTES]);
    card.end().dma_write(end - 1, &[9]).unwrap();
    card.end().dma_write(end, &[]).unwrap();
    assert_eq!(bus.dma().read_word(end - 4).unwrap(), 9 << 24);
    assert_eq!(
        bus.dma().read_word(end - 2),
        Err(DmaFault::OutOfRange { iova: end - 2, bytes: 4, base: IOVA, len: BYTES })
    );
}

#[test]
fn numbers_keep_their_bits_and_stay_inside_their_buffer() {
    let (card, bus) = TestCard::new(BYTES);
    let mut nic = Nic::open(bus).unwrap();
    let first = nic.alloc(64, 64).unwrap();
    let buffer = nic.alloc(64, 64).unwrap();
    let values = [1.0, -0.0, f32::from_bits(0x7fc0_1234), f32::from_bits(1), f32::INFINITY];
    nic.write_f32(buffer, 8, &values).unwrap();
    let mut bytes = [0; 20];
    card.end().dma_read(buffer.iova + 8, &mut bytes).unwrap();
    assert!(bytes.chunks(4).zip(values).all(|(bytes, value)| bytes == value.to_bits().to_le_bytes()));
    let mut back = [0.0; 5];
    nic.read_f32(buffer, 8, &mut back).unwrap();
    assert_eq!(back.map(f32::to_bits), values.map(f32::to_bits));
    nic.write_bytes(first, 62, &[1, 2]).unwrap();
    let mut out = [0; 2];
    nic.read_bytes(first, 62, &mut out).unwrap();
    assert_eq!(out, [1, 2]);

    let outside = |result: Result<(), DriverError>| matches!(result, Err(DriverError::OutsideBuffer { .. }));
    assert!(outside(nic.write_f32(first, 60, &[1.0, 2.0])));
    assert!(outside(nic.read_f32(first, 64, &mut [0.0])));
    assert!(outside(nic.write_bytes(first, usize::MAX, &[1])));
    assert!(outside(nic.read_bytes(first, 63, &mut [0; 2])));
    let misaligned = nic.write_f32(first, 2, &[1.0]).err().unwrap().to_string();
    assert_eq!(misaligned, "sim0: IOVA 0x800000002 is not a multiple of 4");
    let forged = DmaBuffer { iova: IOVA - 64, len: usize::MAX };
    assert!(matches!(nic.write_bytes(forged, 0, &[1]), Err(DriverError::Dma { .. })));
    let forged = DmaBuffer { iova: u64::MAX, len: usize::MAX };
    assert!(outside(nic.write_bytes(forged, 64, &[1])));
}

#[test]
fn exhausted_memory_says_what_was_asked_what_is_free_and_what_to_do() {
    let (_card, bus) = TestCard::new(BYTES);
    let mut nic = Nic::open(bus).unwrap();
    let low = nic.alloc(16 << 10, 4096).unwrap();
    let high = nic.alloc(40 << 10, 4096).unwrap();
    nic.free(low).unwrap();
    assert_eq!(
        nic.alloc(20_000, 256).err().unwrap().to_string(),
        "sim0: no room in DMA memory for 20000 bytes aligned to 256: 24576 of 65536 bytes are free, \
         the largest hole has 16384.\nFree buffers, or open the bus with more DMA memory."
    );
    assert!(matches!(nic.free(low), Err(DriverError::NotAllocated { .. })));
    nic.free(high).unwrap();
    assert_eq!(nic.alloc(BYTES, 4096).unwrap(), DmaBuffer { iova: IOVA, len: BYTES });
    for (bytes, align) in [(0, 64), (64, 0), (64, 96)] {
        assert!(matches!(nic.alloc(bytes, align), Err(DriverError::InvalidAllocation { .. })));
    }
}

#[test]
fn words_beyond_bar_0_read_zero_and_ignore_writes() {
    let (card, bus) = TestCard::new(BYTES);
    for word in [BAR_BYTES / 4, usize::MAX] {
        card.end().write_register(word, 5);
        assert_eq!(card.end().read_register(word), 0);
    }
    bus.write_peer(64, [5; 4]);
    bus.write(&optireduce_contract::registers::MAGIC, 5);
    assert_eq!(card.end().read_register(0), optireduce_contract::limits::MAGIC, "the host cannot write it");
}

#[test]
fn impossible_dma_memory_is_an_error() {
    for (bytes, iova) in [(0, IOVA), (4096, IOVA + 64), (8192, u64::MAX - 4095), (usize::MAX, IOVA)] {
        let (hook, _) = TestCard::new(4096);
        let error = in_process("sim1", bytes, iova, hook).err().unwrap().to_string();
        assert!(error.starts_with("sim1: cannot map "), "{error}");
    }
}
