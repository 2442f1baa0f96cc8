//! Sealed packets: encrypted, authenticated, and accepted once.
//!
//! Why: anyone who sees a packet knows the job's tag, and could forge others.
//! How: AES-128-GCM (NIST SP 800-38D) over the whole packet, header included. A sealed packet is
//! its number (8 bytes, little-endian), the encrypted bytes, and 16 bytes of authentication. Every
//! pair of ranks has a key for each direction: HKDF-SHA256 (RFC 5869) of the job's random key, with
//! the secret as salt. The number is the nonce and never repeats under a key. The receiver accepts
//! each number once, as in RFC 6479.
//! Limits: packets more than [`WINDOW`] numbers late are dropped. Cards have no keys.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf;

use crate::secret::{NUMBER_BYTES, SealDrops, Secret};

const WINDOW: u64 = 8192;
const WORDS: usize = (WINDOW / 64) as usize;

pub(crate) struct Seals {
    sending: Vec<Sending>,
    receiving: Vec<Receiving>,
    drops: SealDrops,
    job: hkdf::Prk,
    rank: usize,
    /// By rank, this one included.
    sessions: Vec<u64>,
}

struct Sending {
    key: LessSafeKey,
    next: u64,
}

struct Receiving {
    key: LessSafeKey,
    taken: Taken,
}

struct Taken {
    /// Highest received number + 1.
    next: u64,
    /// Bit n modulo [`WINDOW`] is set if number n was received.
    words: [u64; WORDS],
}

struct KeyBytes;

impl hkdf::KeyType for KeyBytes {
    fn len(&self) -> usize {
        AES_128_GCM.key_len()
    }
}

fn key(job: &hkdf::Prk, from: usize, to: usize, sessions: [u64; 2]) -> LessSafeKey {
    let numbers = [from as u64, to as u64, sessions[0], sessions[1]].map(u64::to_le_bytes);
    let info = [b"OptiReduce packets".as_slice(), &numbers[0], &numbers[1], &numbers[2], &numbers[3]];
    // Cannot fail: the lengths are constant and valid.
    let expanded = job.expand(&info, KeyBytes).and_then(|okm| {
        let mut bytes = [0; 16];
        okm.fill(&mut bytes)?;
        UnboundKey::new(&AES_128_GCM, &bytes)
    });
    match expanded {
        Ok(key) => LessSafeKey::new(key),
        Err(_) => unreachable!("16 bytes are a key of AES-128"),
    }
}

fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[..NUMBER_BYTES].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(bytes)
}

impl Sending {
    fn new(job: &hkdf::Prk, rank: usize, to: usize, sessions: &[u64]) -> Self {
        Self { key: key(job, rank, to, [sessions[rank], sessions[to]]), next: 0 }
    }

    /// Seals the last `bytes` of `sealed`.
    fn seal_last(&mut self, bytes: usize, sealed: &mut Vec<u8>) {
        let begin = sealed.len() - bytes;
        match self.key.seal_in_place_separate_tag(nonce(self.next), Aad::empty(), &mut sealed[begin..]) {
            Ok(tag) => sealed.extend(tag.as_ref()),
            Err(_) => unreachable!("a packet is shorter than 64 GiB"),
        }
        self.next += 1;
    }
}

impl Receiving {
    fn new(job: &hkdf::Prk, from: usize, rank: usize, sessions: &[u64]) -> Self {
        let taken = Taken { next: 0, words: [0; WORDS] };
        Self { key: key(job, from, rank, [sessions[from], sessions[rank]]), taken }
    }
}

impl Seals {
    /// `sessions`: a number for each rank, different for each of its processes. Packet numbers
    /// begin at 0 in each process, so two processes must not share a key.
    pub fn new(secret: &Secret, job_key: &[u8; 32], rank: usize, sessions: &[u64]) -> Self {
        let job = hkdf::Salt::new(hkdf::HKDF_SHA256, secret.0.bytes()).extract(job_key);
        let ranks = 0..sessions.len();
        Self {
            sending: ranks.clone().map(|to| Sending::new(&job, rank, to, sessions)).collect(),
            receiving: ranks.map(|from| Receiving::new(&job, from, rank, sessions)).collect(),
            drops: SealDrops::default(),
            job,
            rank,
            sessions: sessions.to_vec(),
        }
    }

    /// Replaces the keys of a restarted rank.
    pub fn renew(&mut self, peer: usize, session: u64) {
        let Self { sending, receiving, job, rank, sessions, .. } = self;
        sessions[peer] = session;
        sending[peer] = Sending::new(job, *rank, peer, sessions);
        receiving[peer] = Receiving::new(job, peer, *rank, sessions);
    }

    pub fn drops(&self) -> &SealDrops {
        &self.drops
    }

    /// Seals packets into `sealed`, which is overwritten. `plain`: consecutive packets of
    /// `segment_bytes` bytes, in any pieces. The last packet may be shorter.
    pub fn seal<'a>(
        &mut self,
        to: usize,
        plain: impl IntoIterator<Item = &'a [u8]>,
        segment_bytes: usize,
        sealed: &mut Vec<u8>,
    ) {
        sealed.clear();
        let sending = &mut self.sending[to];
        let mut left_bytes = 0;
        for mut piece in plain {
            while !piece.is_empty() {
                if left_bytes == 0 {
                    sealed.extend(sending.next.to_le_bytes());
                    left_bytes = segment_bytes.max(1);
                }
                let (now, later) = piece.split_at(piece.len().min(left_bytes));
                sealed.extend(now);
                left_bytes -= now.len();
                piece = later;
                if left_bytes == 0 {
                    sending.seal_last(segment_bytes, sealed);
                }
            }
        }
        if left_bytes > 0 {
            sending.seal_last(segment_bytes - left_bytes, sealed);
        }
    }

    /// Decrypts in place. Returns `None` if the datagram must be dropped.
    pub fn open<'a>(&mut self, from: Option<usize>, datagram: &'a mut [u8]) -> Option<&'a [u8]> {
        let Self { receiving, drops, .. } = self;
        let sender = from.and_then(|from| receiving.get_mut(from));
        let parts = datagram.split_first_chunk_mut::<NUMBER_BYTES>();
        let (Some(sender), Some((number, sealed))) = (sender, parts) else {
            drops.forged += 1;
            return None;
        };
        let number = u64::from_le_bytes(*number);
        if sender.taken.has(number) {
            drops.replayed += 1;
            return None;
        }
        match sender.key.open_in_place(nonce(number), Aad::empty(), sealed) {
            Ok(plain) => {
                sender.taken.take(number);
                Some(plain)
            }
            Err(_) => {
                drops.forged += 1;
                None
            }
        }
    }
}

impl Taken {
    /// Returns whether a number was received, or is too old to tell.
    fn has(&self, number: u64) -> bool {
        if number >= self.next {
            return false;
        }
        self.next - number > WINDOW || self.words[(number % WINDOW / 64) as usize] >> (number % 64) & 1 == 1
    }

    fn take(&mut self, number: u64) {
        if number >= self.next {
            // The bits of skipped numbers belong to older numbers.
            let first = self.next.max(number.saturating_sub(WINDOW - 1));
            for skipped in first..number {
                self.words[(skipped % WINDOW / 64) as usize] &= !(1 << (skipped % 64));
            }
            self.next = number.saturating_add(1);
        }
        self.words[(number % WINDOW / 64) as usize] |= 1 << (number % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::SEAL_BYTES;

    fn seals(rank: usize, ranks: usize) -> Seals {
        seals_of(1, 7, rank, ranks)
    }

    fn seals_of(secret: u8, job: u8, rank: usize, ranks: usize) -> Seals {
        Seals::new(&Secret::new([secret; 32]).unwrap(), &[job; 32], rank, &vec![0; ranks])
    }

    fn sealed(by: &mut Seals, to: usize, plain: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::new();
        by.seal(to, [plain], plain.len(), &mut sealed);
        sealed
    }

    #[test]
    fn packets_arrive_whole_and_each_of_a_batch_by_itself() {
        let [mut one, mut other] = [0, 1].map(|rank| seals(rank, 2));
        let plain: Vec<u8> = (0..250).collect();
        let mut batch = Vec::new();
        let pieces = [&plain[..30], &[], &plain[30..100], &plain[100..220], &plain[220..]];
        one.seal(1, pieces, 100, &mut batch);
        assert_eq!(batch.len(), 250 + 3 * SEAL_BYTES);
        assert!(batch.windows(8).all(|sealed| plain.windows(8).all(|plain| plain != sealed)), "readable");
        let opened: Vec<Vec<u8>> = batch
            .chunks_mut(100 + SEAL_BYTES)
            .map(|datagram| other.open(Some(0), datagram).expect("a packet of rank 0").to_vec())
            .collect();
        assert_eq!(opened.concat(), plain);
        assert_eq!(*other.drops(), SealDrops::default());
    }

    #[test]
    fn what_is_forged_changed_or_misdirected_is_dropped_and_counted() {
        let mut ranks = [0, 1, 2].map(|rank| seals(rank, 3));
        let good = sealed(&mut ranks[0], 1, b"a packet of rank 0 for rank 1");
        let mut drops = 0;
        let mut refused = |of: &mut Seals, from: Option<usize>, datagram: &[u8], what: &str| {
            drops += 1;
            assert_eq!(of.open(from, &mut datagram.to_vec()), None, "{what}");
        };
        for bit in 0..8 * good.len() {
            let mut changed = good.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            refused(&mut ranks[1], Some(0), &changed, &format!("bit {bit}"));
        }
        for length in 0..good.len() {
            refused(&mut ranks[1], Some(0), &good[..length], &format!("{length} bytes"));
        }
        refused(&mut ranks[1], Some(2), &good, "of rank 0, from the address of rank 2");
        refused(&mut ranks[1], None, &good, "from an unknown address");
        refused(&mut ranks[1], Some(9), &good, "from a rank that is not there");
        for (secret, job) in [(1, 8), (2, 7)] {
            let another = sealed(&mut seals_of(secret, job, 0, 3), 1, b"of another job");
            refused(&mut ranks[1], Some(0), &another, &format!("of secret {secret} and job {job}"));
        }
        assert_eq!(ranks[2].open(Some(0), &mut good.clone()), None, "for another rank");
        assert_eq!(ranks[0].open(Some(1), &mut good.clone()), None, "sent back");
        assert_eq!(*ranks[1].drops(), SealDrops { forged: drops, replayed: 0 });
        assert!(ranks[1].open(Some(0), &mut good.clone()).is_some(), "dropped packets have no other effect");
    }

    #[test]
    fn a_packet_is_taken_once_whatever_comes_in_between() {
        let [mut one, mut other] = [0, 1].map(|rank| seals(rank, 2));
        let packets: Vec<Vec<u8>> = (0..3 * WINDOW).map(|_| sealed(&mut one, 1, b"packet")).collect();
        let mut open = |index: u64| other.open(Some(0), &mut packets[index as usize].clone()).is_some();
        // Swaps each pair of packets.
        assert!((0..2 * WINDOW).all(|index| open(index ^ 1)));
        assert!((WINDOW..2 * WINDOW).all(|index| !open(index)), "replayed");
        assert!(open(3 * WINDOW - 1), "a gap");
        assert!(!open(2 * WINDOW - 1), "too old to know");
        assert!((2 * WINDOW..3 * WINDOW - 1).all(&mut open), "late, but not before");
        assert!((0..3 * WINDOW).all(|index| !open(index)), "all replayed");
        assert_eq!(*other.drops(), SealDrops { forged: 0, replayed: WINDOW + 1 + 3 * WINDOW });
    }

    #[test]
    fn a_process_that_has_a_rank_anew_has_other_keys() {
        let [mut one, mut before] = [0, 1].map(|rank| seals(rank, 2));
        let old = sealed(&mut before, 0, b"before");
        one.renew(1, 77);
        assert!(one.open(Some(1), &mut old.clone()).is_none(), "of the process before");
        let (secret, job) = (Secret::new([1; 32]).unwrap(), [7; 32]);
        let mut after = Seals::new(&secret, &job, 1, &[0, 77]);
        let mut one = Seals::new(&secret, &job, 0, &[0, 5]);
        one.renew(1, 77);
        let new = sealed(&mut after, 0, b"after");
        assert_eq!(one.open(Some(1), &mut new.clone()), Some(b"after".as_slice()));
        let back = sealed(&mut one, 1, b"back");
        assert_eq!(after.open(Some(0), &mut back.clone()), Some(b"back".as_slice()));
        let again = sealed(&mut Seals::new(&secret, &job, 1, &[0, 78]), 0, b"after");
        assert_ne!(again, new);
    }

    #[test]
    fn numbers_at_the_end_of_their_range_do_no_harm() {
        let mut taken = Taken { next: 0, words: [0; WORDS] };
        taken.take(u64::MAX - 1);
        assert!(taken.has(u64::MAX - 1) && taken.has(0) && !taken.has(u64::MAX) && !taken.has(u64::MAX - 2));
    }
}
