//! Who is compared, and how its ranks are started.

use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use optireduce_badnet::{Hosts, INTERFACE, Tcp, address};

/// An all-reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Contender {
    /// This project over UDP: bounded, reports what was lost.
    Optireduce,
    /// The same through shared memory: over loopback only.
    OptireduceShm,
    /// This project's Transpose AllReduce over TCP: waits for everybody.
    OptireduceTcp,
    /// torch.distributed with Gloo over TCP.
    Gloo,
    /// Gloo, with TCP told to send again after 5 ms instead of 200 ms.
    GlooTuned,
    /// Open MPI over TCP.
    Openmpi,
    /// Open MPI, with TCP told to send again after 5 ms instead of 200 ms.
    OpenmpiTuned,
    /// Open MPI through shared memory (vader): over loopback only.
    OpenmpiVader,
    /// MPICH through its network module, UCX: over loopback only. Through shared memory its ranks spin until all have a core of their own.
    Mpich,
}

impl Contender {
    /// Its name on the command line and in tables.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }

    /// Whether it can take part: tuned TCP is of networks, shared memory of one host.
    pub fn takes_part(self, over_loopback: bool) -> bool {
        match self {
            Self::OptireduceShm | Self::OpenmpiVader | Self::Mpich => over_loopback,
            _ => !over_loopback || self.tcp() == Tcp::AsItComes,
        }
    }

    /// Its exit codes that come with rows. 3: optireduce has measured, and would have halted a training job.
    pub fn accepted(self) -> &'static [i32] {
        if matches!(self, Self::Optireduce | Self::OptireduceShm) { &[0, 3] } else { &[0] }
    }

    /// What it wants TCP to be like.
    pub fn tcp(self) -> Tcp {
        match self {
            Self::GlooTuned | Self::OpenmpiTuned => Tcp::Tuned,
            _ => Tcp::AsItComes,
        }
    }
}

/// Where the programs are.
#[derive(Clone, Debug, clap::Args)]
pub struct Programs {
    /// Python with torch, for Gloo.
    #[arg(long, value_name = "PYTHON", default_value = "python3")]
    pub python: PathBuf,
    /// `mpi.c`, compiled by mpicc.
    #[arg(long, value_name = "PROGRAM", default_value = "mpi")]
    pub mpi: PathBuf,
    /// `mpi.c`, compiled by MPICH's mpicc.
    #[arg(long, value_name = "PROGRAM", default_value = "mpich")]
    pub mpich: PathBuf,
    /// MPICH's mpiexec.
    #[arg(long, value_name = "PROGRAM", default_value = "mpiexec.hydra")]
    pub mpiexec: PathBuf,
    /// The command `optireduce`. Default: the one beside this program.
    #[arg(long, value_name = "PROGRAM")]
    pub optireduce: Option<PathBuf>,
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Measurement<'a> {
    pub ranks: usize,
    pub sizes: &'a [usize],
    pub secs: f64,
    pub straggler_ms: f64,
    /// Where ranks meet. A new one for each run, since TCP keeps old ones for a while.
    pub port: u16,
}

/// The processes of one run: on `hosts`, or all on this one.
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
            // Beside others that use the network: ours, too.
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

/// Sets the variables that torchrun sets. `local`: which of its host's ranks it is.
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
    // No spinning where ranks share the cores.
    let btl = if contender == Contender::OpenmpiVader { "vader,self" } else { "tcp,self" };
    let way = ["--mca", "pml", "ob1", "--mca", "btl", btl, "--mca", "mpi_yield_when_idle", "1"];
    let mut command = match hosts {
        None => Command::new("mpirun"),
        Some(hosts) => {
            // Open MPI wants hosts of different names, and a way to start processes on them.
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

/// The arguments of `mpi.c`.
fn mpi_arguments(run: &Measurement<'_>) -> impl Iterator<Item = String> {
    let times = [run.secs, run.straggler_ms].map(|time| time.to_string());
    times.into_iter().chain(run.sizes.iter().map(usize::to_string))
}

/// The variable that tells [`rsh`] what the namespaces are called.
const PREFIX: &str = "BADNET_PREFIX";

/// `badnet rsh [OPTIONS] 10.77.0.K COMMAND...`: becomes the command on that host.
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

/// This program, to be run again.
pub fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("this program's path: {error}"))
}

/// Processes on other hosts begin in other folders.
fn absolute(program: &Path) -> Result<PathBuf, String> {
    program.canonicalize().map_err(|error| format!("{}: {error}; tests/compare builds it", program.display()))
}
