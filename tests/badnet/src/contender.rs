//! Contenders, and the commands that start their ranks.

use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use optireduce_badnet::{Hosts, INTERFACE, Tcp, address};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Contender {
    /// OptiReduce over UDP: bounded time, reports losses.
    Optireduce,
    /// OptiReduce over shared memory; loopback only.
    OptireduceShm,
    /// OptiReduce's Transpose AllReduce over TCP: exact, waits for every rank.
    OptireduceTcp,
    /// torch.distributed with Gloo over TCP.
    Gloo,
    /// Gloo with a minimum TCP retransmission timeout of 5 ms.
    GlooTuned,
    /// Open MPI over TCP.
    Openmpi,
    /// Open MPI with a minimum TCP retransmission timeout of 5 ms.
    OpenmpiTuned,
    /// Open MPI over shared memory (vader); loopback only.
    OpenmpiVader,
    /// MPICH over UCX; loopback only. Its ranks spin over shared memory and need a core each.
    Mpich,
}

impl Contender {
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }

    /// True where the contender runs: tuned TCP on networks, shared memory on one host.
    pub fn takes_part(self, over_loopback: bool) -> bool {
        match self {
            Self::OptireduceShm | Self::OpenmpiVader | Self::Mpich => over_loopback,
            _ => !over_loopback || self.tcp() == Tcp::AsItComes,
        }
    }

    /// Exit codes of a run with rows. Code 3: optireduce would have halted training.
    pub fn accepted(self) -> &'static [i32] {
        if matches!(self, Self::Optireduce | Self::OptireduceShm) { &[0, 3] } else { &[0] }
    }

    pub fn tcp(self) -> Tcp {
        match self {
            Self::GlooTuned | Self::OpenmpiTuned => Tcp::Tuned,
            _ => Tcp::AsItComes,
        }
    }
}

#[derive(Clone, Debug, clap::Args)]
pub struct Programs {
    /// Python with torch, for Gloo
    #[arg(long, value_name = "PYTHON", default_value = "python3")]
    pub python: PathBuf,
    /// Program compiled from tests/badnet/mpi.c by Open MPI's mpicc
    #[arg(long, value_name = "PROGRAM", default_value = "mpi")]
    pub mpi: PathBuf,
    /// Program compiled from tests/badnet/mpi.c by MPICH's mpicc
    #[arg(long, value_name = "PROGRAM", default_value = "mpich")]
    pub mpich: PathBuf,
    /// MPICH's mpiexec
    #[arg(long, value_name = "PROGRAM", default_value = "mpiexec.hydra")]
    pub mpiexec: PathBuf,
    /// Command `optireduce` [default: in the folder of this program]
    #[arg(long, value_name = "PROGRAM")]
    pub optireduce: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct Measurement<'a> {
    pub ranks: usize,
    pub sizes: &'a [usize],
    pub secs: f64,
    pub straggler_ms: f64,
    /// Port of the rendezvous. New for each run, since old TCP ports stay in TIME_WAIT.
    pub port: u16,
}

/// Returns the commands of one run: one per rank, or one launcher.
pub fn processes(
    contender: Contender,
    programs: &Programs,
    run: &Measurement<'_>,
    hosts: Option<&Hosts>,
) -> Result<Vec<Command>, String> {
    if contender == Contender::Mpich {
        let mut command = Command::new(&programs.mpiexec);
        command.args(["-n", &run.ranks.to_string()]).arg(absolute(&programs.mpich)?).args(mpi_arguments(run));
        command.env("MPIR_CVAR_NOLOCAL", "1");
        return Ok(vec![command]);
    }
    if contender >= Contender::Openmpi {
        return Ok(vec![mpirun(contender, programs, run, hosts)?]);
    }
    let optireduce = match &programs.optireduce {
        Some(program) => program.clone(),
        None => own_program()?.with_file_name("optireduce"),
    };
    let root = if hosts.is_some() { address(0) } else { Ipv4Addr::LOCALHOST };
    let sizes: Vec<String> = run.sizes.iter().map(usize::to_string).collect();
    let commands = (0..run.ranks).map(|rank| {
        let program = if contender < Contender::Gloo { &optireduce } else { &programs.python };
        let mut command = match hosts {
            Some(hosts) => hosts.command(rank, &program.to_string_lossy()),
            None => Command::new(program),
        };
        match contender {
            // The other contenders of this comparison use the network, so this one does as well.
            Contender::OptireduceShm => command.args(["run", "--json", "--shared-memory", "auto"]),
            Contender::Optireduce => command.args(["run", "--json", "--shared-memory", "off"]),
            Contender::OptireduceTcp => command.args(["run", "--json", "--engine", "tcp"]),
            _ => command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/gloo.py")),
        };
        command.args(["--bench", &sizes.join(","), "--secs", &run.secs.to_string()]);
        command.args(["--straggler-ms", &run.straggler_ms.to_string()]);
        launch(&mut command, (rank, 0), run.ranks, root);
        command.env("MASTER_PORT", run.port.to_string());
        command.env("GLOO_SOCKET_IFNAME", if hosts.is_some() { INTERFACE } else { "lo" });
        command.env("OMP_NUM_THREADS", "1");
        command
    });
    Ok(commands.collect())
}

/// Sets the variables that torchrun sets. `local`: rank within the host.
pub fn launch(command: &mut Command, (rank, local): (usize, usize), ranks: usize, root: Ipv4Addr) {
    let [rank, local, ranks] = [rank, local, ranks].map(|number| number.to_string());
    command.envs([("RANK", rank), ("WORLD_SIZE", ranks), ("LOCAL_RANK", local)]);
    command.envs([("MASTER_ADDR", root.to_string()), ("MASTER_PORT", "29517".into())]);
}

fn mpirun(
    contender: Contender,
    programs: &Programs,
    run: &Measurement<'_>,
    hosts: Option<&Hosts>,
) -> Result<Command, String> {
    let ranks = run.ranks.to_string();
    // Ranks share the cores, so they must not spin.
    let btl = if contender == Contender::OpenmpiVader { "vader,self" } else { "tcp,self" };
    let way = ["--mca", "pml", "ob1", "--mca", "btl", btl, "--mca", "mpi_yield_when_idle", "1"];
    let mut command = match hosts {
        None => Command::new("mpirun"),
        Some(hosts) => {
            // Open MPI needs a different name for each host, and a program that starts processes
            // there.
            let mut command = hosts.command(0, "unshare");
            command.args(["-u", "sh", "-c", "hostname node0; exec \"$@\"", "sh", "mpirun"]);
            let names: Vec<String> = (0..run.ranks).map(|host| format!("{}:1", address(host))).collect();
            command.args(["--host", &names.join(",")]);
            command.args(["--mca", "plm_rsh_agent", &format!("{} rsh", own_program()?.display())]);
            command.args(["--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "oob_tcp_if_include", INTERFACE]);
            command.args(["--mca", "btl_tcp_if_include", INTERFACE]).env(PREFIX, Hosts::prefix());
            command
        }
    };
    command.args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]).args(way).args(["-np", &ranks]);
    command.arg(absolute(&programs.mpi)?).args(mpi_arguments(run));
    Ok(command)
}

fn mpi_arguments(run: &Measurement<'_>) -> impl Iterator<Item = String> {
    let times = [run.secs, run.straggler_ms].map(|time| time.to_string());
    times.into_iter().chain(run.sizes.iter().map(usize::to_string))
}

/// Variable for [`Hosts::prefix`], which [`rsh`] needs.
const PREFIX: &str = "BADNET_PREFIX";

/// `badnet rsh [OPTIONS] 10.77.0.K COMMAND...`: replaces this process by the command on that host.
pub fn rsh(arguments: &[String]) -> Result<(), String> {
    let expected = || format!("rsh: found {arguments:?}, expected a host 10.77.0.K and a command");
    let mut rest = arguments.iter().skip_while(|argument| argument.starts_with('-'));
    let octet =
        rest.next().and_then(|host| host.strip_prefix("10.77.0.")).and_then(|octet| octet.parse::<usize>().ok());
    let host = octet.and_then(|octet| octet.checked_sub(1)).ok_or_else(expected)?;
    let prefix = std::env::var(PREFIX).map_err(|_| format!("rsh: {PREFIX} is not set; mpirun calls this"))?;
    let command: Vec<&str> = rest.map(String::as_str).collect();
    let script = format!("hostname node{host}; {}", command.join(" "));
    let mut ip = Command::new("ip");
    ip.args(["netns", "exec", &format!("{prefix}{host}"), "unshare", "-u", "sh", "-c", &script]);
    Err(format!("rsh: ip: {}", ip.exec()))
}

pub fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("this program's path: {error}"))
}

/// Makes a path absolute, since processes on other hosts start in other folders.
fn absolute(program: &Path) -> Result<PathBuf, String> {
    program.canonicalize().map_err(|error| format!("{}: {error}; tests/compare builds it", program.display()))
}
