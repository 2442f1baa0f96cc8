//! The command `optireduce-sim serve`: its arguments, which are there in every build, and what it does.

use std::path::PathBuf;

use clap::Args;

use crate::card::engine::Engine;
use crate::error::SimError;

const EXAMPLES: &str = "Examples:
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2
  optireduce-sim serve --socket /tmp/card.sock --network udp:10.0.0.7:4791
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2 --loss 0.01 --seed 7
  optireduce-sim serve --socket /tmp/card.sock --network hub:/tmp/hub.sock --cards 2     # /tmp/card.sock.0 and .1
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2 --engine verilator --vcd card.vcd --pcap card.pcap
  RUST_LOG=debug optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2

A job of the first card and a rank without one, in a terminal each (ranks need an address each, hence --interface):
  optireduce run --rank 0 --world-size 2 --root 127.0.0.1:29517 --bench 64K --card /tmp/card.sock
  optireduce run --rank 1 --world-size 2 --root 127.0.0.1:29517 --bench 64K --interface 127.0.0.3

A card behind a network interface of this host (as root; with a device made for a user, see `ip tuntap help`, as that user):
  optireduce-sim serve --socket /tmp/card.sock --network tun:or0,10.80.0.2
  ip address add 10.80.0.1/24 dev or0
  optireduce run --rank 0 --world-size 2 --root 10.80.0.1:29517 --bench 64K --card /tmp/card.sock
  optireduce run --rank 1 --world-size 2 --root 10.80.0.1:29517 --bench 64K --interface 10.80.0.1";

/// How often it is looked whether a fault is to befall the card.
#[cfg(feature = "serve")]
const LOOK: std::time::Duration = std::time::Duration::from_millis(5);

/// Arguments of `serve`.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Where the card is served: a Unix socket that speaks vfio-user. Of several cards, each with a dot and its number after it
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// What the card's network port is connected to; the card has ADDRESS, and of several cards each has the one after the last
    /// [default port: 5791].
    /// udp:ADDRESS[:PORT]: an address of this host that nobody else uses; packets go through the kernel's network stack.
    /// hub:PATH[,ADDRESS[:PORT]]: a switch at this Unix socket for cards of any process; without an address, the first that is free from 10.79.0.1 on.
    /// tun:NAME,ADDRESS[:PORT]: a TUN device, IPv4 only; made if it is not there, which takes root.
    /// tap:NAME[,ADDRESS[:PORT]]: a TAP device, whole Ethernet frames; without an address the card has none until a job gives it one, as a board
    #[arg(long, value_name = "NETWORK")]
    network: String,
    /// How many cards are served
    #[arg(long, value_name = "N", default_value_t = 1)]
    cards: usize,
    /// Probability that a packet is lost, of those that leave the card and of those that come to it, each on its own; at least 0 and less than 1
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.0)]
    loss: f64,
    /// Which packets are lost: the same seed loses the same ones, counted in each direction
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Once this file is there, the card leaves the bus, as one that is pulled out of its slot: it reads as ones, and does nothing more. Then the file
    /// is removed
    #[arg(long, value_name = "FILE")]
    leave_when: Option<PathBuf>,
    /// Once this file is there, the card is reset, as by a function-level reset of somebody else's. Then the file is removed
    #[arg(long, value_name = "FILE")]
    reset_when: Option<PathBuf>,
    /// Once this file is there, the card hangs: its registers answer, but it takes no command, closes no stage and sends nothing, until it is reset.
    /// Then the file is removed
    #[arg(long, value_name = "FILE")]
    hang_when: Option<PathBuf>,
    /// How the card is simulated. Its time is the wall clock's, so deadlines hold; cycles (rtl, verilator) take as long as they take, so use bounds of seconds
    #[arg(long, value_enum, default_value_t = Engine::Functional)]
    engine: Engine,
    /// Write the waveforms of all cards to this VCD file, one scope per card
    #[arg(long, value_name = "FILE")]
    vcd: Option<PathBuf>,
    /// Write the frames that leave the cards and come to them to this pcap file
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write the beats that the cards accept to this file, in order of acceptance: a JSON object a line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// Serves cards until the process is told to end. `print`: for what is to be said.
///
/// # Errors
/// If it cannot be served.
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
    // Whoever waits for it ends with the first.
    ctrlc::set_handler(move || ends.send(()).unwrap_or_default())
        .map_err(|error| SimError::Argument(format!("cannot take note of signals: {error}")))?;
    let files = Files { vcd: args.vcd.clone(), pcap: args.pcap.clone(), trace: args.trace.clone() };
    let (socket, cards, engine) = (args.socket.clone(), args.cards, args.engine);
    let served = crate::serve::Served::start(&Settings { socket, cards, engine, network, loss, files })?;
    print(&served.describe())?;
    let mut faults: Vec<(&PathBuf, Befall)> = Vec::new();
    faults.extend(args.leave_when.iter().map(|file| (file, crate::serve::Served::leave as _)));
    faults.extend(args.reset_when.iter().map(|file| (file, crate::serve::Served::reset as _)));
    faults.extend(args.hang_when.iter().map(|file| (file, crate::serve::Served::hang as _)));
    // The handler lives as long as the process. Without faults to look for nobody wakes up.
    let look = |faults: &[(&PathBuf, Befall)]| if faults.is_empty() { std::time::Duration::MAX } else { LOOK };
    while ended.recv_timeout(look(&faults)) == Err(RecvTimeoutError::Timeout) {
        // Each befalls the card once.
        for (file, befall) in faults.extract_if(.., |(file, _)| file.exists()) {
            befall(&served);
            // Who made it sees that it has happened.
            if let Err(error) = std::fs::remove_file(file) {
                tracing::warn!("{}: cannot be removed: {error}", file.display());
            }
        }
    }
    print(&served.counted())?;
    served.finish()?;
    Ok(0)
}

/// Says what is missing.
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
