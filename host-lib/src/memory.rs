//! How much memory this process may still take, so that what would not fit is an error before it begins, and not the end of
//! the process, or of another one, in the middle.
//!
//! Source: `/proc/meminfo`, and the limits of the process's control groups (version 1 and 2). Where neither says anything,
//! everything fits.

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Something needs more memory than there is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} needs {} of memory, {} are available on this host or to its container; {remedy}", size(*needed), size(*available))]
pub struct NotEnoughMemory {
    /// What needs it.
    pub what: String,
    /// Bytes that it needs.
    pub needed: u64,
    /// Bytes that there are.
    pub available: u64,
    /// What to do.
    pub remedy: &'static str,
}

/// Checks that `needed` bytes are available.
///
/// # Errors
/// If not; `what` and `remedy` are for the message.
pub fn require(what: impl Into<String>, needed: u64, remedy: &'static str) -> Result<(), NotEnoughMemory> {
    match available_bytes() {
        Some(available) if needed > available => Err(NotEnoughMemory { what: what.into(), needed, available, remedy }),
        _ => Ok(()),
    }
}

/// Bytes that this process may still take without another having to give some back; `None`: nobody says.
pub fn available_bytes() -> Option<u64> {
    let host = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_host(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    host.into_iter().chain(of_groups(&groups, Path::new("/sys/fs/cgroup"))).min()
}

/// What the kernel says of the whole host.
fn of_host(meminfo: &str) -> Option<u64> {
    let kib = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?.trim().strip_suffix("kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What the process's control groups, and those around them, leave. `groups`: `/proc/self/cgroup`.
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

/// What one group and those around it leave. In a container its own group is often mounted as the root.
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

/// As people write it.
fn size(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    if gib >= 1.0 { format!("{gib:.1} GiB") } else { format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_host_and_groups_counts() {
        assert_eq!(of_host("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(2 << 20));
        assert_eq!(of_host("MemTotal: 9 kB\n"), None);
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
        // The limit of a container, whose own group is mounted as the root.
        write("memory/memory.limit_in_bytes", "300\n");
        write("memory/memory.usage_in_bytes", "100\n");
        assert_eq!(of_groups("4:memory:/not/mounted/here\n", &root), Some(200));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn what_does_not_fit_is_named_with_both_sizes() {
        require("a buffer", 1, "-").unwrap();
        let error = require("a bucket of 2^60 elements", 1 << 62, "give fewer").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("a bucket of 2^60 elements needs 4294967296.0 GiB of memory, "), "{text}");
        assert!(text.ends_with("; give fewer"), "{text}");
    }
}
