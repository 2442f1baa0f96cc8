//! Rank, world size, root and job id of this process, from its launcher's environment.
//!
//! | launcher | rank, world size | root | job id |
//! |---|---|---|---|
//! | torchrun | `RANK`, `WORLD_SIZE` | `MASTER_ADDR`, port from `MASTER_PORT` | `TORCHELASTIC_RUN_ID`, `TORCHELASTIC_RESTART_COUNT` |
//! | Open MPI | `OMPI_COMM_WORLD_RANK`, `_SIZE` | this host, if all ranks are on it | `PMIX_NAMESPACE` |
//! | MPICH, PMI | `PMI_RANK`, `PMI_SIZE` | none | empty |
//! | Slurm | `SLURM_PROCID`, `SLURM_NTASKS` | `SLURM_LAUNCH_NODE_IPADDR` | `SLURM_JOB_ID`, `SLURM_STEP_ID`, `SLURM_RESTART_COUNT` |
//!
//! The first launcher whose rank is set applies, so torchrun inside a Slurm job is torchrun. The
//! settings `root` and `job_id` override its values. With the setting `rank` there is no launcher.
//!
//! The port of torchrun's root is `MASTER_PORT` + 17. If `MASTER_PORT` is an ephemeral port (32768
//! or above), the root's port is `MASTER_PORT` mod 16384 + 16384.
//!
//! The setting `rejoin` allows a restarted process to rejoin a running job. Its default is on if
//! `TORCHELASTIC_RESTART_COUNT` or `SLURM_RESTART_COUNT` is not 0. These launchers restart all
//! processes, and their counters are part of the job id, so a restart begins another job.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use optireduce_core::protocol::RANKS_MAX;
use socket2::{Domain, Socket, Type};
use thiserror::Error;

use super::host::{host_and_port, with_port};

/// Offset from `MASTER_PORT`, at which torch's own store listens.
const TORCH_PORT_OFFSET: u16 = 17;
/// First ephemeral port of Linux by default (`net.ipv4.ip_local_port_range`).
const HANDED_OUT_MIN: u16 = 1 << 15;
/// Largest world size on two levels ([`Settings::groups`](crate::Settings::groups)).
pub(crate) const RANKS_MAX_LEVELS: usize = 65_536;
/// Port of the root if the launcher provides only a host.
const ROOT_PORT_DEFAULT: u16 = 29_517;

const WORLD_SIZE: &str = "world_size (OPTIREDUCE_WORLD_SIZE, --world-size)";
const ROOT: &str = "root (OPTIREDUCE_ROOT, --root)";

/// Root of a job of one rank, which nobody contacts: any free port.
const ROOT_ALONE: &str = "127.0.0.1:0";

/// Ports next to an ephemeral port (`torchrun --standalone`) may be in use.
fn torch_root_port(master_port: u16) -> u16 {
    match master_port < HANDED_OUT_MIN {
        true => master_port + TORCH_PORT_OFFSET,
        false => HANDED_OUT_MIN / 2 + master_port % (HANDED_OUT_MIN / 2),
    }
}

/// Place of a process in its job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launch {
    /// Rank of this process.
    pub rank: usize,
    /// Number of ranks of the job.
    pub world_size: usize,
    /// Address of rank 0 as host:port.
    pub root: String,
    /// Distinguishes jobs with the same root. Not secret; may be empty.
    pub job_id: String,
    /// See [`Settings::rejoin`](crate::Settings::rejoin).
    pub rejoin: bool,
}

/// The place of a process is incomplete or invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LaunchError {
    /// No launcher's variables are set.
    #[error(
        "no launcher's environment found (torchrun, Open MPI, MPICH, Slurm); give rank, world_size and root, or set \
         OPTIREDUCE_RANK, OPTIREDUCE_WORLD_SIZE and OPTIREDUCE_ROOT; for one rank, a world size of 1 suffices"
    )]
    NoLauncher,
    /// A launcher's variable is missing.
    #[error("{missing} is not set, but {because} is: the place of this process is incomplete")]
    Missing { missing: &'static str, because: &'static str },
    /// A value is malformed or out of range.
    #[error("{name} is {found:?}, expected {expected}")]
    Invalid { name: &'static str, found: String, expected: String },
    /// The launcher does not provide the address of rank 0.
    #[error("{launcher} does not provide the address of rank 0; set OPTIREDUCE_ROOT=host:port or give --root")]
    NoRoot { launcher: &'static str },
}

const LAUNCHERS: [(&str, &str, &str); 4] = [
    ("torchrun", "RANK", "WORLD_SIZE"),
    ("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MPICH", "PMI_RANK", "PMI_SIZE"),
    ("Slurm", "SLURM_PROCID", "SLURM_NTASKS"),
];

/// Parts of a place that are set, in place of the launcher's.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnPlace {
    pub rank: Option<usize>,
    pub world_size: Option<usize>,
    pub root: Option<String>,
    pub job_id: Option<String>,
    pub rejoin: Option<bool>,
}

/// Returns the expected form, if `root` does not have it.
pub(crate) fn root_form(root: &str) -> Option<String> {
    let expected = match host_and_port(root) {
        Some((_, 0)) => "host:port with a port that all ranks know, 1 to 65535",
        Some(_) => return None,
        None if root.matches(':').count() > 1 => {
            "host:port, with brackets around an IPv6 address, as in [fd00::1]:29517"
        }
        None => "host:port",
    };
    Some(expected.into())
}

impl Launch {
    /// Creates a place from explicit values.
    ///
    /// # Errors
    /// If `rank` is not below `world_size`, `world_size` is not 1 to [`RANKS_MAX_LEVELS`], or
    /// `root` is not host:port. One rank is a job, and needs no root.
    pub(super) fn new(rank: usize, world_size: usize, root: impl Into<String>) -> Result<Self, LaunchError> {
        let root = if world_size == 1 { ROOT_ALONE.into() } else { root.into() };
        if !(1..=RANKS_MAX_LEVELS).contains(&world_size) {
            let expected = format!("1 to {RANKS_MAX} ranks, or to {RANKS_MAX_LEVELS} on two levels");
            return Err(LaunchError::Invalid { name: "world size", found: world_size.to_string(), expected });
        }
        if rank >= world_size {
            let expected = format!("0 to {}", world_size - 1);
            return Err(LaunchError::Invalid { name: "rank", found: rank.to_string(), expected });
        }
        if let Some(expected) = root_form(&root).filter(|_| world_size > 1) {
            return Err(LaunchError::Invalid { name: "root", found: root, expected });
        }
        Ok(Self { rank, world_size, root, job_id: String::new(), rejoin: false })
    }

    /// Reserves a free port of this host for rank 0 while the returned socket is open, so that all
    /// ranks can learn the port before rank 0 listens.
    ///
    /// # Errors
    /// If the address is not of this host, or no port is free.
    pub fn reserve_root(address: IpAddr) -> io::Result<(SocketAddr, OwnedFd)> {
        let socket = Socket::new(Domain::for_address((address, 0).into()), Type::STREAM, None)?;
        socket.bind(&SocketAddr::new(address, 0).into())?;
        // After `bind`, or the kernel might choose a port that is reserved in the same way.
        socket.set_reuse_address(true)?;
        let root = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok((root, socket.into()))
    }

    /// Returns this process's place: what is set in `own`, otherwise from `variable`, the
    /// environment of torchrun, Open MPI, MPICH or Slurm.
    pub(crate) fn find(own: OwnPlace, variable: impl Fn(&str) -> Option<String>) -> Result<Self, LaunchError> {
        let number = |name: &'static str, because| {
            let found = variable(name).ok_or(LaunchError::Missing { missing: name, because })?;
            found.parse::<usize>().map_err(|_| LaunchError::Invalid { name, found, expected: "a number".into() })
        };
        let is_alone = own.world_size == Some(1);
        let is_set = |(_, rank, _): &&(_, &str, _)| variable(rank).is_some();
        let launcher = LAUNCHERS.iter().find(is_set).filter(|_| own.rank.is_none() && !is_alone);
        let rank = match (own.rank, launcher) {
            (Some(rank), _) => rank,
            (None, Some((_, rank, _))) => number(rank, rank)?,
            (None, None) if is_alone => 0,
            (None, None) => return Err(LaunchError::NoLauncher),
        };
        let world_size = match (own.world_size, launcher) {
            (Some(world_size), _) => world_size,
            (None, Some((_, rank, size))) => number(size, rank)?,
            (None, None) => return Err(LaunchError::Missing { missing: WORLD_SIZE, because: "rank" }),
        };
        let root = match (own.root, launcher) {
            _ if world_size == 1 => String::new(),
            (Some(root), _) => root,
            (None, Some(launcher)) => Self::root_of(launcher, &variable)?,
            (None, None) => return Err(LaunchError::Missing { missing: ROOT, because: "rank" }),
        };
        let (of_launcher, counter): (&[&str], &[&str]) = match launcher {
            Some(("torchrun", ..)) => {
                (&["TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"], &["TORCHELASTIC_RESTART_COUNT"])
            }
            Some(("Open MPI", ..)) => (&["PMIX_NAMESPACE"], &[]),
            Some(("Slurm", ..)) => {
                (&["SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"], &["SLURM_RESTART_COUNT"])
            }
            _ => (&[], &[]),
        };
        let parts = || of_launcher.iter().filter_map(|name| variable(name)).collect::<Vec<_>>().join(".");
        let counts = || counter.iter().filter_map(|name| variable(name)).any(|count| count != "0");
        let (job_id, rejoin) = (own.job_id.unwrap_or_else(parts), own.rejoin.unwrap_or_else(counts));
        Ok(Self { job_id, rejoin, ..Self::new(rank, world_size, root)? })
    }

    fn root_of(
        &(launcher, rank, size): &(&'static str, &'static str, &'static str),
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<String, LaunchError> {
        let with_default_port = |host: String| with_port(&host, ROOT_PORT_DEFAULT);
        match launcher {
            "torchrun" => {
                let missing = |missing| LaunchError::Missing { missing, because: rank };
                let host = variable("MASTER_ADDR").ok_or(missing("MASTER_ADDR"))?;
                let found = variable("MASTER_PORT").ok_or(missing("MASTER_PORT"))?;
                match found.parse() {
                    Ok(port) if port > 0 => Ok(with_port(&host, torch_root_port(port))),
                    _ => {
                        let expected = "a port that all ranks know, 1 to 65535".into();
                        Err(LaunchError::Invalid { name: "MASTER_PORT", found, expected })
                    }
                }
            }
            "Open MPI" if variable("OMPI_COMM_WORLD_LOCAL_SIZE") == variable(size) => {
                Ok(with_default_port("127.0.0.1".into()))
            }
            "Slurm" => {
                variable("SLURM_LAUNCH_NODE_IPADDR").map(with_default_port).ok_or(LaunchError::NoRoot { launcher })
            }
            launcher => Err(LaunchError::NoRoot { launcher }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn launch(variables: &[(&str, &str)]) -> Result<Launch, String> {
        let all: Vec<(String, String)> =
            variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let variable = move |name: &str| all.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        Settings::new().variables(variable).launch().map_err(|error| error.to_string())
    }

    fn place(rank: usize, world_size: usize, root: &str) -> Result<Launch, String> {
        Ok(Launch { rank, world_size, root: root.into(), job_id: String::new(), rejoin: false })
    }

    #[test]
    fn the_launchers_id_of_the_job_counts_unless_another_is_given() {
        let id = |variables: &[(&str, &str)]| launch(variables).unwrap().job_id;
        let torch = [("RANK", "3"), ("WORLD_SIZE", "4"), ("MASTER_ADDR", "10.0.0.1"), ("MASTER_PORT", "29500")];
        let run = [("TORCHELASTIC_RUN_ID", "r7"), ("TORCHELASTIC_RESTART_COUNT", "2")];
        let slurm = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8"), ("SLURM_LAUNCH_NODE_IPADDR", "10.1.2.3")];
        let step = [("SLURM_JOB_ID", "99"), ("SLURM_STEP_ID", "0")];
        assert_eq!(id(&torch), "");
        assert_eq!(id(&[&torch[..], &run, &step].concat()), "r7.2", "torchrun inside Slurm");
        assert_eq!(id(&[&slurm[..], &step, &run].concat()), "99.0");
        let mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2"), ("OPTIREDUCE_ROOT", "h:1")];
        assert_eq!(id(&[&mpi[..], &[("PMIX_NAMESPACE", "prte@1")]].concat()), "prte@1");
        assert_eq!(id(&[&slurm[..], &step, &[("OPTIREDUCE_JOB_ID", "mine")]].concat()), "mine");
        assert_eq!(id(&[&slurm[..], &step, &[("SLURM_RESTART_COUNT", "1")]].concat()), "99.0.1");
    }

    #[test]
    fn a_process_that_was_started_again_may_rejoin() {
        let may = |variables: &[(&str, &str)]| {
            let root = [("OPTIREDUCE_ROOT", "h:1")];
            launch(&[&root[..], variables].concat()).map(|launch| launch.rejoin)
        };
        let torch = [("RANK", "3"), ("WORLD_SIZE", "4")];
        let slurm = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")];
        assert_eq!(may(&torch), Ok(false));
        assert_eq!(may(&[&torch[..], &[("TORCHELASTIC_RESTART_COUNT", "0")]].concat()), Ok(false));
        assert_eq!(may(&[&torch[..], &[("TORCHELASTIC_RESTART_COUNT", "2")]].concat()), Ok(true));
        assert_eq!(may(&[&slurm[..], &[("SLURM_RESTART_COUNT", "1")]].concat()), Ok(true));
        assert_eq!(may(&[&torch[..], &[("SLURM_RESTART_COUNT", "1")]].concat()), Ok(false), "of another launcher");
        assert_eq!(may(&[&torch[..], &[("OPTIREDUCE_REJOIN", "1")]].concat()), Ok(true));
        let off = [("TORCHELASTIC_RESTART_COUNT", "2"), ("OPTIREDUCE_REJOIN", "0")];
        assert_eq!(may(&[&torch[..], &off].concat()), Ok(false));
        let error = may(&[&torch[..], &[("OPTIREDUCE_REJOIN", "yes")]].concat()).unwrap_err();
        assert_eq!(error, "rejoin is yes (OPTIREDUCE_REJOIN), expected on or off");
    }

    #[test]
    fn every_launcher_is_understood() {
        let torch = [("RANK", "3"), ("WORLD_SIZE", "4"), ("MASTER_ADDR", "10.0.0.1"), ("MASTER_PORT", "29500")];
        assert_eq!(launch(&torch), place(3, 4, "10.0.0.1:29517"));
        let standalone = [&torch[..3], &[("MASTER_PORT", "44845")]].concat();
        assert_eq!(launch(&standalone), place(3, 4, "10.0.0.1:28461"), "below the ephemeral ports");
        let mpi = [
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "2"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "2"),
            ("PMIX_RANK", "1"),
        ];
        assert_eq!(launch(&mpi), place(1, 2, "127.0.0.1:29517"));
        let slurm = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8"), ("SLURM_LAUNCH_NODE_IPADDR", "10.1.2.3")];
        assert_eq!(launch(&slurm), place(0, 8, "10.1.2.3:29517"));
        let pmi = [("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("OPTIREDUCE_ROOT", "node1:5000")];
        assert_eq!(launch(&pmi), place(0, 2, "node1:5000"));
        assert_eq!(launch(&[&torch[..], &slurm[..]].concat()), place(3, 4, "10.0.0.1:29517"), "torchrun inside Slurm");
        let ours = [("OPTIREDUCE_RANK", "1"), ("OPTIREDUCE_WORLD_SIZE", "2"), ("OPTIREDUCE_ROOT", "h:1")];
        assert_eq!(launch(&[&ours[..], &torch[..]].concat()), place(1, 2, "h:1"));
    }

    #[test]
    fn one_rank_needs_no_root_whichever_launcher_says_so() {
        let alone = place(0, 1, ROOT_ALONE);
        for (_, rank, size) in LAUNCHERS {
            assert_eq!(launch(&[(rank, "0"), (size, "1")]), alone);
            assert_eq!(launch(&[(rank, "0"), (size, "1"), ("OPTIREDUCE_ROOT", "h:1")]), alone);
            assert_eq!(launch(&[(rank, "1"), (size, "1")]), Err(r#"rank is "1", expected 0 to 0"#.into()));
        }
        assert_eq!(launch(&[("OPTIREDUCE_WORLD_SIZE", "1")]), alone);
        assert!(launch(&[("OPTIREDUCE_WORLD_SIZE", "2")]).unwrap_err().starts_with("no launcher's environment found"));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let error = |variables: &[(&str, &str)]| launch(variables).unwrap_err();
        assert!(error(&[]).starts_with("no launcher's environment found"));
        assert!(error(&[("RANK", "0")]).starts_with("WORLD_SIZE is not set, but RANK is"));
        assert!(error(&[("RANK", "0"), ("WORLD_SIZE", "2")]).starts_with("MASTER_ADDR is not set"));
        assert!(
            error(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]).starts_with("MPICH does not provide the address of rank 0")
        );
        let root = ("OPTIREDUCE_ROOT", "h:1");
        assert_eq!(error(&[("RANK", "x"), ("WORLD_SIZE", "2"), root]), r#"RANK is "x", expected a number"#);
        assert_eq!(error(&[("RANK", "2"), ("WORLD_SIZE", "2"), root]), r#"rank is "2", expected 0 to 1"#);
        assert_eq!(
            error(&[("RANK", "0"), ("WORLD_SIZE", "65537"), root]),
            r#"world size is "65537", expected 1 to 1024 ranks, or to 65536 on two levels"#
        );
        let of_two = [("RANK", "0"), ("WORLD_SIZE", "2")];
        let portless = [&of_two[..], &[("OPTIREDUCE_ROOT", "h")]].concat();
        assert_eq!(error(&portless), "root is h (OPTIREDUCE_ROOT), expected host:port");
        let own = [("OPTIREDUCE_RANK", "0")];
        assert!(error(&own).starts_with("world_size (OPTIREDUCE_WORLD_SIZE, --world-size) is not set, but rank is"));
        let own = [("OPTIREDUCE_RANK", "0"), ("OPTIREDUCE_WORLD_SIZE", "2"), of_two[0], of_two[1]];
        assert!(error(&own).starts_with("root (OPTIREDUCE_ROOT, --root) is not set, but rank is"));
        for port in ["0", "65536", "x"] {
            let torch = [&of_two[..], &[("MASTER_ADDR", "h"), ("MASTER_PORT", port)]].concat();
            assert_eq!(
                error(&torch),
                format!("MASTER_PORT is {port:?}, expected a port that all ranks know, 1 to 65535")
            );
        }
        let any = [&of_two[..], &[("OPTIREDUCE_ROOT", "h:0")]].concat();
        let expected = "root is h:0 (OPTIREDUCE_ROOT), expected host:port with a port that all ranks know, 1 to 65535";
        assert_eq!(error(&any), expected);
    }
}
