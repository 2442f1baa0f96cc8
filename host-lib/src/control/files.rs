//! Limit of open files, since each connection needs one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::bootstrap::{BootstrapError, io_error};

/// Reserve for other files of a rank, and strangers' connections.
const OTHERS: usize = 300;

/// Raises the soft limit of open files, if necessary.
///
/// # Errors
/// [`BootstrapError::Files`] if the hard limit is too low.
pub(super) fn make_room(ranks: usize) -> Result<(), BootstrapError> {
    // Without /proc, the reserve has to suffice.
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let expected = (open + ranks + OTHERS) as u64;
    let Some(limits) = raised(getrlimit(Resource::Nofile), expected, ranks)? else { return Ok(()) };
    tracing::debug!(files = expected, "raising the limit of open files");
    setrlimit(Resource::Nofile, limits).map_err(|error| io_error("the limit of open files")(error.into()))
}

fn raised(limits: Rlimit, expected: u64, ranks: usize) -> Result<Option<Rlimit>, BootstrapError> {
    let holds = |limit: Option<u64>| limit.is_none_or(|limit| limit >= expected);
    match limits {
        Rlimit { current, .. } if holds(current) => Ok(None),
        Rlimit { maximum, .. } if holds(maximum) => Ok(Some(Rlimit { current: Some(expected), maximum })),
        Rlimit { maximum, .. } => Err(BootstrapError::Files { ranks, found: maximum.unwrap_or(u64::MAX), expected }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_no_further_than_needed_and_never_lowered() {
        let limits = |current, maximum| Rlimit { current, maximum };
        for (found, expected) in [
            (limits(Some(1024), Some(4096)), Ok(Some(2000))),
            (limits(Some(1024), None), Ok(Some(2000))),
            (limits(Some(2000), Some(2000)), Ok(None)),
            (limits(None, None), Ok(None)),
            (limits(Some(1024), Some(1999)), Err("1999")),
        ] {
            match (raised(found, 2000, 900), expected) {
                (Ok(raised), Ok(current)) => {
                    assert_eq!(raised.as_ref().and_then(|raised| raised.current), current);
                    assert!(raised.is_none_or(|raised| raised.maximum == found.maximum));
                }
                (Err(error), Err(limit)) => {
                    let text = error.to_string();
                    assert!(["900 ranks", "2000", limit, "ulimit -n"].iter().all(|part| text.contains(part)), "{text}");
                }
                (found, expected) => panic!("{found:?}, expected {expected:?}"),
            }
        }
    }
}
