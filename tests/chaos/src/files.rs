//! Files that ranks average, and a full file system.

use std::path::{Path, PathBuf};
use std::process::Command;

use optireduce_badnet::say;

/// Elements of a rank's file (4 MiB).
const ELEMENTS: usize = 1 << 20;

/// A rank's value: a whole number, so that sums are exact.
fn value(rank: usize, at: usize) -> f32 {
    ((at * 31 + rank * 977) % 2003) as f32 - 1000.0
}

pub fn given(folder: &Path, rank: usize) -> PathBuf {
    folder.join(format!("given.{rank}.raw"))
}

pub fn mean(folder: &Path, rank: usize) -> PathBuf {
    folder.join(format!("out.{rank}")).join("mean.raw")
}

pub fn write(folder: &Path, ranks: usize) -> std::io::Result<()> {
    for rank in 0..ranks {
        let bytes: Vec<u8> = (0..ELEMENTS).flat_map(|at| value(rank, at).to_le_bytes()).collect();
        std::fs::write(given(folder, rank), bytes)?;
        std::fs::create_dir(folder.join(format!("out.{rank}")))?;
    }
    Ok(())
}

/// Returns the error in a rank's mean. `has_written`: its exit code is 0. `is_whole`: nothing was
/// lost; else a mean over some ranks is right as well.
pub fn judge(folder: &Path, rank: usize, ranks: usize, has_written: bool, is_whole: bool) -> Option<String> {
    let path = mean(folder, rank);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(_) if has_written => return Some(format!("rank {rank} ended with 0, but wrote no mean")),
        Err(_) => return None,
    };
    if bytes.len() != ELEMENTS * 4 {
        return Some(format!("rank {rank}: {} holds {} bytes, not {}", path.display(), bytes.len(), ELEMENTS * 4));
    }
    let values = bytes.as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
    let all = (1u32 << ranks) - 1;
    let mean = |at: usize, of: u32| {
        let of_them = (0..ranks).filter(|rank| of >> rank & 1 == 1).map(|rank| f64::from(value(rank, at)));
        of_them.sum::<f64>() / f64::from(of.count_ones())
    };
    let is_mean = |at: usize, found: f64, of: u32| (found - mean(at, of)).abs() <= 1e-3;
    let is_right =
        |at: usize, found: f64| is_mean(at, found, all) || !is_whole && (1..all).any(|some| is_mean(at, found, some));
    let wrong = values.enumerate().find(|(at, found)| !is_right(*at, *found));
    wrong.map(|(at, found)| format!("rank {rank}: element {at} of the mean is {found}, not {}", mean(at, all)))
}

/// A mounted file system of 64 KiB.
#[derive(Debug)]
pub struct Small(PathBuf);

impl Small {
    pub fn mount(folder: PathBuf) -> Result<Self, String> {
        let made = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "chaos"]).arg(&folder).status();
        match made {
            Ok(status) if status.success() => Ok(Self(folder)),
            Ok(status) => Err(format!("mount -t tmpfs {}: {status}", folder.display())),
            Err(error) => Err(format!("mount: {error}")),
        }
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            say(&format!("optireduce-chaos: {} is still mounted", self.0.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_whole_and_right_or_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), 2).expect("room");
        let judge = |has_written| judge(folder.path(), 1, 2, has_written, true).unwrap_or_default();
        assert_eq!(judge(false), "");
        assert!(judge(true).contains("wrote no mean"));
        let means: Vec<f32> = (0..ELEMENTS).map(|at| (value(0, at) + value(1, at)) / 2.0).collect();
        let bytes = |means: &[f32]| means.iter().flat_map(|mean| mean.to_le_bytes()).collect::<Vec<u8>>();
        let put = |bytes: &[u8]| std::fs::write(mean(folder.path(), 1), bytes).expect("room");
        put(&bytes(&means));
        assert_eq!(judge(true), "");
        put(&bytes(&means)[4..]);
        assert!(judge(false).contains("bytes"));
        for wrong in [value(0, 77), f32::NAN] {
            let mut means = means.clone();
            means[77] = wrong;
            put(&bytes(&means));
            assert!(judge(false).contains("element 77"));
            let of_some = super::judge(folder.path(), 1, 2, true, false).unwrap_or_default();
            assert_eq!(of_some.contains("element 77"), wrong.is_nan(), "{of_some}");
        }
    }
}
