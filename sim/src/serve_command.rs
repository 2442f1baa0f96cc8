//! The command `optireduce-sim serve`: its arguments, which are there in every build, and what it does.

use std::path::PathBuf;

use clap::Args;

use crate::card::engine::Engine;
use crate::error::SimError;

const EXAMPLES: &str = "Examples:
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2
  optireduce-sim serve --socket /tmp/card.sock --network udp:10.0.0.7:4791
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2 --loss 0.01 --seed 7
  RUST_LOG=debug optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2

A job of the first card and a rank without one, in a terminal each (ranks need an address each, hence --interface):
  optireduce run --rank 0 --world-size 2 --root 127.0.0.1:29517 --bench 64K --card /tmp/card.sock
  optireduce run --rank 1 --world-size 2 --root 127.0.0.1:29517 --bench 64K --interface 127.0.0.3";

/// How often it is looked whether a fault is to befall the card.
#[cfg(feature = "serve")]
const LOOK: std::time::Duration = std::time::Duration::from_millis(5);

/// Arguments of `serve`.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Where the card is served: a Unix socket that speaks vfio-user
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// What the card's network port is connected to. udp:ADDRESS[:PORT]: an address of this host that nobody else uses, which the
    /// card then has; its packets go through the kernel's network stack [default port: 5791]
    #[arg(long, value_name = "NETWORK")]
    network: String,
    /// Probability that a packet is lost, of those that leave the card and of those that come to it, each on its own; at least 0 and less than 1
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.0)]
    loss: f64,
    /// Which packets are lost: the same seed loses the same ones, counted in each direction
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Once this file is there, the card leaves the bus, as one that is pulled out of its slot: it reads as ones, and does nothing more
    #[arg(long, value_name = "FILE")]
    leave_when: Option<PathBuf>,
    /// Once this file is there, the card is reset, as by a function-level reset of somebody else's
    #[arg(long, value_name = "FILE")]
    reset_when: Option<PathBuf>,
    /// Once this file is there, the card hangs: its registers answer, but it takes no command, closes no stage and sends nothing, until it is reset
    #[arg(long, value_name = "FILE")]
    hang_when: Option<PathBuf>,
    /// How the card is simulated; only functional cards are served so far
    #[arg(long, value_enum, default_value_t = Engine::Functional)]
    engine: Engine,
}

/// Serves a card until the process is told to end. `print`: for what is to be said.
///
/// # Errors
/// If it cannot be served.
#[cfg(feature = "serve")]
pub(crate) fn run(args: &ServeArgs, print: &mut dyn FnMut(&str) -> Result<(), SimError>) -> Result<u8, SimError> {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    type Befall = fn(&crate::serve::Served);

    let network = args.network.parse().map_err(|error| SimError::Argument(format!("--network: {error}")))?;
    if args.engine != Engine::Functional {
        let engine = args.engine;
        return Err(SimError::Argument(format!("--engine {engine}: cannot be served yet, expected functional")));
    }
    let loss = crate::serve::Loss { probability: args.loss, seed: args.seed };
    if !(0.0..1.0).contains(&loss.probability) {
        return Err(SimError::Argument(format!("--loss is {}, expected at least 0 and less than 1", args.loss)));
    }
    let (ends, ended) = channel();
    // Whoever waits for it ends with the first.
    ctrlc::set_handler(move || ends.send(()).unwrap_or_default())
        .map_err(|error| SimError::Argument(format!("cannot take note of signals: {error}")))?;
    let served = crate::serve::Served::start(&args.socket, network, loss)?;
    print(&served.describe())?;
    let mut faults: Vec<(&PathBuf, Befall)> = Vec::new();
    faults.extend(args.leave_when.iter().map(|file| (file, crate::serve::Served::leave as _)));
    faults.extend(args.reset_when.iter().map(|file| (file, crate::serve::Served::reset as _)));
    faults.extend(args.hang_when.iter().map(|file| (file, crate::serve::Served::hang as _)));
    // The handler lives as long as the process. Without faults to look for nobody wakes up.
    let look = |faults: &[(&PathBuf, Befall)]| if faults.is_empty() { std::time::Duration::MAX } else { LOOK };
    while ended.recv_timeout(look(&faults)) == Err(RecvTimeoutError::Timeout) {
        // Each befalls the card once.
        faults.extract_if(.., |(file, _)| file.exists()).for_each(|(_, befall)| befall(&served));
    }
    print(&served.counted())?;
    Ok(0)
}

/// Says what is missing.
///
/// # Errors
/// Always.
#[cfg(not(feature = "serve"))]
pub(crate) fn run(args: &ServeArgs, _: &mut dyn FnMut(&str) -> Result<(), SimError>) -> Result<u8, SimError> {
    let ServeArgs { socket, network, engine, loss, seed, leave_when: _, reset_when: _, hang_when: _ } = args;
    Err(SimError::Argument(format!(
        "this optireduce-sim was built without `serve`; build it with: cargo run --release --features serve -- serve \
         --engine {engine} --socket {} --network {network} --loss {loss} --seed {seed}",
        socket.display()
    )))
}
