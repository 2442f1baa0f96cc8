//! Memory available to this process, to refuse large requests early.
//!
//! Sources: `/proc/meminfo`, control groups (versions 1 and 2), `ulimit -v` and `-d`. Without them
//! every request is accepted.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};
use thiserror::Error;

/// A request needs more memory than is available. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} needs {} of memory, {} are available on this host, or to its container or this process; {remedy}", size(*needed), size(*available))]
#[allow(missing_docs)] // described above and by the message
pub struct NotEnoughMemory {
    pub what: String,
    pub needed: u64,
    pub available: u64,
    pub remedy: &'static str,
}

/// Checks that `needed` bytes are available. `what` and `remedy` are for the error message.
///
/// # Errors
/// If they are not available.
pub fn require(what: impl Into<String>, needed: u64, remedy: &'static str) -> Result<(), NotEnoughMemory> {
    require_each(what, 1, needed, remedy)
}

/// Like [`require`] for `processes` processes of this host with the same limits.
///
/// # Errors
/// As [`require`].
pub fn require_each(
    what: impl Into<String>,
    processes: usize,
    needed: u64,
    remedy: &'static str,
) -> Result<(), NotEnoughMemory> {
    let all_need = needed.saturating_mul(processes as u64);
    let lacks = [(all_need, of_all()), (needed, of_this_process())].into_iter().find_map(|(needed, available)| {
        let available = available.filter(|available| needed > *available)?;
        Some((needed, available))
    });
    lacks.map_or(Ok(()), |(needed, available)| Err(NotEnoughMemory { what: what.into(), needed, available, remedy }))
}

/// Returns an empty vector with room for `count` values.
///
/// # Errors
/// As [`require`].
pub fn room<T>(what: &str, count: usize, remedy: &'static str) -> Result<Vec<T>, NotEnoughMemory> {
    let mut values = Vec::new();
    let needed = (count as u64).saturating_mul(size_of::<T>() as u64);
    values.try_reserve_exact(count).map_err(|_| refused(what, needed, remedy))?;
    Ok(values)
}

pub(crate) fn refused(what: impl Into<String>, needed: u64, remedy: &'static str) -> NotEnoughMemory {
    NotEnoughMemory { what: what.into(), needed, available: available_bytes().unwrap_or(0), remedy }
}

/// Bytes that this process may allocate; `None` if unknown.
pub fn available_bytes() -> Option<u64> {
    of_all().into_iter().chain(of_this_process()).min()
}

fn of_all() -> Option<u64> {
    let host = fs::read_to_string("/proc/meminfo").ok().and_then(|text| field(&text, "MemAvailable:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    host.into_iter().chain(of_groups(&groups, Path::new("/sys/fs/cgroup"))).min()
}

fn of_this_process() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    of_process(&status, [Resource::As, Resource::Data].map(|resource| getrlimit(resource).current))
}

fn field(text: &str, name: &str) -> Option<u64> {
    let kib = text.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix("kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// `status`: `/proc/self/status`.
fn of_process(status: &str, limits: [Option<u64>; 2]) -> Option<u64> {
    let left = |(limit, name): (Option<u64>, &str)| Some(limit?.saturating_sub(field(status, name)?));
    limits.into_iter().zip(["VmSize:", "VmData:"]).filter_map(left).min()
}

/// Bytes left by control groups and their parents. `groups`: `/proc/self/cgroup`.
fn of_groups(groups: &str, root: &Path) -> Option<u64> {
    let lines = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let names = match controllers {
            "" => Some((root.to_owned(), ["memory.max", "memory.current"])),
            _ if controllers.split(',').any(|name| name == "memory") => {
                Some((root.join("memory"), ["memory.limit_in_bytes", "memory.usage_in_bytes"]))
            }
            _ => None,
        };
        names.map(|(mount, names)| (mount, path.trim_start_matches('/'), names))
    });
    lines.filter_map(|(mount, path, names)| of_group(&mount, path, names)).min()
}

/// Also tries `mount` itself, where a container's own group is often mounted.
fn of_group(mount: &Path, path: &str, [limit, usage]: [&str; 2]) -> Option<u64> {
    let number = |folder: &PathBuf, name| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let mut folder = mount.join(path);
    let mut least = None;
    while folder.starts_with(mount) {
        if let (Some(limit), Some(usage)) = (number(&folder, limit), number(&folder, usage)) {
            let left = limit.saturating_sub(usage);
            least = Some(least.map_or(left, |least: u64| least.min(left)));
        }
        if !folder.pop() {
            break;
        }
    }
    least
}

fn size(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    if gib >= 1.0 { format!("{gib:.1} GiB") } else { format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_host_and_groups_counts() {
        assert_eq!(field("MemTotal: 9 kB\nMemAvailable:   2048 kB\n", "MemAvailable:"), Some(2 << 20));
        assert_eq!(field("MemTotal: 9 kB\n", "MemAvailable:"), None);
        let root = std::env::temp_dir().join(format!("optireduce-memory-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("job/memory.max", "max\n");
        write("job/memory.current", "70\n");
        write("job/step/memory.max", "1000\n");
        write("job/step/memory.current", "400\n");
        assert_eq!(of_groups("0::/job/step\n", &root), Some(600), "version 2");
        write("job/memory.max", "500\n");
        assert_eq!(of_groups("0::/job/step\n", &root), Some(430), "the group around it");
        assert_eq!(of_groups("0::/other\n", &root), None, "no limit");
        write("memory/docker/memory.limit_in_bytes", "90\n");
        write("memory/docker/memory.usage_in_bytes", "100\n");
        assert_eq!(of_groups("3:cpuset:/\n4:cpu,memory:/docker\n", &root), Some(0), "version 1, over its limit");
        write("memory/memory.limit_in_bytes", "300\n");
        write("memory/memory.usage_in_bytes", "100\n");
        assert_eq!(of_groups("4:memory:/not/mounted/here\n", &root), Some(200));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn the_limits_of_the_process_count_less_what_it_has() {
        let status = "VmPeak:\t 900 kB\nVmSize:\t     700 kB\nVmData:\t  100 kB\n";
        assert_eq!(of_process(status, [None, None]), None, "unlimited");
        assert_eq!(of_process(status, [Some(1000 << 10), None]), Some(300 << 10));
        assert_eq!(of_process(status, [Some(1000 << 10), Some(150 << 10)]), Some(50 << 10));
        assert_eq!(of_process(status, [Some(600 << 10), None]), Some(0), "it has more already");
        assert_eq!(of_process("", [Some(600 << 10), None]), None, "usage unknown");
    }

    #[test]
    fn room_that_no_memory_has_is_an_error() {
        assert_eq!(room::<f32>("a copy", 10, "-").map(|room| room.capacity()), Ok(10));
        for count in [usize::MAX, usize::MAX / 8, 1 << 60] {
            let error = room::<f32>("a copy", count, "give fewer").unwrap_err();
            assert_eq!(error.needed, (count as u64).saturating_mul(4));
            assert!(error.to_string().starts_with("a copy needs "), "{error}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named_with_both_sizes() {
        require("a buffer", 1, "-").unwrap();
        require_each("ranks", 4, 1, "-").unwrap();
        assert_eq!(require_each("ranks", 1 << 10, 1 << 52, "-").unwrap_err().needed, 1 << 62);
        let error = require("a bucket of 2^60 elements", 1 << 62, "give fewer").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("a bucket of 2^60 elements needs 4294967296.0 GiB of memory, "), "{text}");
        assert!(text.ends_with("; give fewer"), "{text}");
    }
}
