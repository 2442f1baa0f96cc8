//! The command `optireduce-sim serve`. Its arguments exist in every build.

use std::path::PathBuf;

use clap::Args;

use crate::card::engine::Engine;
use crate::error::SimError;

const EXAMPLES: &str = "Examples:
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2
  optireduce-sim serve --socket /tmp/card.sock --network udp:10.0.0.7:4791
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2 \\
      --loss 0.01 --seed 7
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2 \\
      --engine verilator --vcd card.vcd --pcap card.pcap
  RUST_LOG=debug optireduce-sim serve --socket /tmp/card.sock \\
      --network udp:127.0.0.2

Two cards, /tmp/card.sock.0 and /tmp/card.sock.1, joined by a switch:
  optireduce-sim serve --socket /tmp/card.sock --network hub:/tmp/hub.sock \\
      --cards 2

A job of the first card and a rank without one, each in its own terminal.
--interface gives the second rank a separate address:
  optireduce run --rank 0 --world-size 2 --root 127.0.0.1:29517 --bench 64K \\
      --card /tmp/card.sock
  optireduce run --rank 1 --world-size 2 --root 127.0.0.1:29517 --bench 64K \\
      --interface 127.0.0.3

A card behind a network interface of this host. Needs root, or an interface that
`ip tuntap` has made for this user:
  optireduce-sim serve --socket /tmp/card.sock --network tun:or0,10.80.0.2
  ip address add 10.80.0.1/24 dev or0
  optireduce run --rank 0 --world-size 2 --root 10.80.0.1:29517 --bench 64K \\
      --card /tmp/card.sock
  optireduce run --rank 1 --world-size 2 --root 10.80.0.1:29517 --bench 64K \\
      --interface 10.80.0.1";

/// Poll interval of the files that trigger faults.
#[cfg(feature = "serve")]
const LOOK: std::time::Duration = std::time::Duration::from_millis(5);

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Path of the card's vfio-user socket; with several cards, .0, .1 and so on are appended
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// Network and address of the card, in one of the forms udp, hub, tun or tap (see --help)
    ///
    /// udp:ADDRESS[:PORT]: an unused address of this host, with packets through its network stack.
    ///
    /// hub:PATH[,ADDRESS[:PORT]]: a switch on this Unix socket, for cards of several processes. The
    /// first address is 10.79.0.1 by default.
    ///
    /// tun:NAME,ADDRESS[:PORT]: behind a TUN device, IPv4 only. Only root can create the device.
    ///
    /// tap:NAME[,ADDRESS[:PORT]]: behind a TAP device, with whole Ethernet frames. Without an
    /// address, the job sets one, as on a board.
    ///
    /// Several cards have consecutive addresses. The default port is 5791.
    #[arg(long, value_name = "NETWORK")]
    network: String,
    /// Number of cards, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 1)]
    cards: usize,
    /// Probability that a packet is lost, in each direction: at least 0, less than 1
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.0)]
    loss: f64,
    /// Seed of the losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Remove the cards from the bus, as if pulled from their slots, once this file exists
    ///
    /// Registers then read as ones. The file is deleted afterwards.
    #[arg(long, value_name = "FILE")]
    leave_when: Option<PathBuf>,
    /// Reset the cards, as by a function-level reset, once this file exists
    ///
    /// The file is deleted afterwards.
    #[arg(long, value_name = "FILE")]
    reset_when: Option<PathBuf>,
    /// Hang the cards, until they are reset, once this file exists
    ///
    /// Registers respond, but commands, stages and sending stop. The file is deleted afterwards.
    #[arg(long, value_name = "FILE")]
    hang_when: Option<PathBuf>,
    /// Simulation engine of the cards
    ///
    /// Deadlines hold in wall-clock time. rtl and verilator are slow and need bounds of seconds.
    #[arg(long, value_enum, default_value_t = Engine::Functional)]
    engine: Engine,
    /// Write the waveforms of all cards to this VCD file, one scope per card
    #[arg(long, value_name = "FILE")]
    vcd: Option<PathBuf>,
    /// Write the frames from and to the cards to this pcap file
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write the beats that the cards accept to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// Serves cards until a signal arrives.
///
/// # Errors
/// If the cards cannot be served.
#[cfg(feature = "serve")]
pub(crate) fn run(args: &ServeArgs, print: &mut dyn FnMut(&str) -> Result<(), SimError>) -> Result<u8, SimError> {
    use std::sync::mpsc::{RecvTimeoutError, channel};

    use crate::serve::{CARDS_MAX, Files, Settings};
    type Befall = fn(&crate::serve::Served);

    let network = args.network.parse().map_err(|error| SimError::Argument(format!("--network: {error}")))?;
    let loss = crate::serve::Loss { probability: args.loss, seed: args.seed };
    if !(0.0..1.0).contains(&loss.probability) {
        return Err(SimError::Argument(format!("--loss is {}, expected at least 0 and less than 1", args.loss)));
    }
    if !(1..=CARDS_MAX).contains(&args.cards) {
        return Err(SimError::Argument(format!("--cards is {}, expected 1 to {CARDS_MAX}", args.cards)));
    }
    let (ends, ended) = channel();
    // Fails only if the process is ending.
    ctrlc::set_handler(move || ends.send(()).unwrap_or_default())
        .map_err(|error| SimError::Argument(format!("cannot install a signal handler: {error}")))?;
    let files = Files { vcd: args.vcd.clone(), pcap: args.pcap.clone(), trace: args.trace.clone() };
    let (socket, cards, engine) = (args.socket.clone(), args.cards, args.engine);
    let served = crate::serve::Served::start(&Settings { socket, cards, engine, network, loss, files })?;
    print(&served.describe())?;
    let mut faults: Vec<(&PathBuf, Befall)> = Vec::new();
    faults.extend(args.leave_when.iter().map(|file| (file, crate::serve::Served::leave as _)));
    faults.extend(args.reset_when.iter().map(|file| (file, crate::serve::Served::reset as _)));
    faults.extend(args.hang_when.iter().map(|file| (file, crate::serve::Served::hang as _)));
    // The sender lives as long as the process, so `recv_timeout` only fails by timeout.
    let look = |faults: &[(&PathBuf, Befall)]| if faults.is_empty() { std::time::Duration::MAX } else { LOOK };
    while ended.recv_timeout(look(&faults)) == Err(RecvTimeoutError::Timeout) {
        for (file, befall) in faults.extract_if(.., |(file, _)| file.exists()) {
            befall(&served);
            // Confirms the fault to the process that created the file.
            if let Err(error) = std::fs::remove_file(file) {
                tracing::warn!("{}: cannot be removed: {error}", file.display());
            }
        }
    }
    print(&served.counted())?;
    served.finish()?;
    Ok(0)
}

/// Explains how to build with the feature.
///
/// # Errors
/// Always.
#[cfg(not(feature = "serve"))]
pub(crate) fn run(args: &ServeArgs, _: &mut dyn FnMut(&str) -> Result<(), SimError>) -> Result<u8, SimError> {
    let ServeArgs { socket, network, cards, engine, loss, seed, .. } = args;
    Err(SimError::Argument(format!(
        "this optireduce-sim was built without `serve`; build it with: cargo run --release -p optireduce-sim --features serve -- \
         serve --engine {engine} --socket {} --network {network} --cards {cards} --loss {loss} --seed {seed}",
        socket.display()
    )))
}
