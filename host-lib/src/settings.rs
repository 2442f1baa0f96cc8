//! Settings of a communicator: one table, from which everything derives that names a setting.
//!
//! A row of [`SETTINGS`] is a setter, a name for [`set`](Settings::set) and [`get`](Settings::get),
//! a range with its error text, an environment variable and a flag of the command. It is also a
//! term that ranks compare when they connect, and a line of the documentation. Values are kept as
//! text, so that all ways to give a value share one parser and one check.

mod groups;
#[cfg(test)]
mod tests;
pub(crate) mod tuned;

use std::collections::BTreeMap;
use std::fmt;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

pub use optireduce_core::Repair;
use optireduce_core::protocol::{HadamardMode, RANKS_MAX};
use thiserror::Error;

pub use self::groups::Groups;
use self::tuned::Tuned;
use crate::card::card_form;
use crate::control::{Launch, LaunchError, OwnPlace, RANKS_MAX_LEVELS, Terms, root_form};
use crate::secret::{Secret, SecretError};

/// A setting is invalid.
#[derive(Debug, Error)]
pub(crate) enum SettingError {
    /// The value or the name of a setting is invalid.
    #[error("{setting} is {found}, expected {expected}")]
    Value { setting: &'static str, found: String, expected: String },
    /// The place of this process in the job is incomplete or invalid.
    #[error(transparent)]
    Place(#[from] LaunchError),
    /// The secret cannot be used.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

/// Ranks that need the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// All ranks. A difference is the same error on every rank when they connect.
    Job,
    /// None: ranks may differ.
    Rank,
}

/// Source of a value. An earlier one overrides later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// A call of this library.
    Code,
    /// A flag of the command `optireduce`.
    Flag,
    /// The environment variable of the setting.
    Variable,
    /// The environment of torchrun, Open MPI, MPICH or Slurm.
    Launcher,
    /// No source.
    Default,
}

/// When a stage may close before its bound, after the marks of all peers. A peer's mark begins its
/// last packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Early {
    /// Never.
    Off,
    /// After a fraction x of t_C, both adapted to the loss and stage times of all ranks
    /// (OptiReduce 3.2.1).
    Adaptive,
}

/// Use of shared memory between ranks of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedMemory {
    /// Between at most 64 ranks of the same user and network namespace. Other pairs use UDP.
    Auto,
    /// Never.
    Off,
}

/// Reaction of a job to the failure of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CardFallback {
    /// Its rank's calls fail, and the others drop that rank.
    Off,
    /// All ranks continue over the kernel's UDP.
    Udp,
}

macro_rules! names {
    ($($Type:ident { $($Value:ident = $name:literal),+ })*) => {$(
        impl fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$Value => $name),+ })
            }
        }

        impl $Type {
            pub(crate) const ALL: &[Self] = &[$(Self::$Value),+];
        }
    )*};
}

names! {
    Early { Off = "off", Adaptive = "adaptive" }
    SharedMemory { Auto = "auto", Off = "off" }
    CardFallback { Off = "off", Udp = "udp" }
}

/// Values that a setting may have.
#[derive(Clone, Copy, Debug)]
struct Values {
    kind: Kind,
    /// Word beside the range, such as auto or never. May be empty.
    word: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Whole {
        min: u64,
        max: u64,
        unit: &'static str,
    },
    /// A duration, as a number of `unit`.
    Time {
        min: f64,
        max: f64,
        unit: &'static str,
    },
    Words(&'static [&'static str]),
    /// `wrong`: the expected form, if a text does not have it.
    Text {
        form: &'static str,
        wrong: fn(&str) -> Option<String>,
    },
}

/// Form of the values of a setting, for bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Whole number.
    Whole,
    /// Decimal number in this unit.
    Decimal(&'static str),
    /// One of these words.
    Words(&'static [&'static str]),
    /// Text.
    Text,
}

const SWITCH: Values = words(&["on", "off"]);

const fn whole(min: u64, max: u64, unit: &'static str) -> Values {
    Values { kind: Kind::Whole { min, max, unit }, word: "" }
}

const fn time(min: f64, max: f64, unit: &'static str) -> Values {
    Values { kind: Kind::Time { min, max, unit }, word: "" }
}

const fn words(words: &'static [&'static str]) -> Values {
    Values { kind: Kind::Words(words), word: "" }
}

const fn text(form: &'static str, wrong: fn(&str) -> Option<String>) -> Values {
    Values { kind: Kind::Text { form, wrong }, word: "" }
}

fn any(_: &str) -> Option<String> {
    None
}

/// IP packet with one beat of payload.
pub(crate) const MTU_MIN: usize = 114;
const JOB_ID_BYTES_MAX: usize = 256;

fn job_id_form(text: &str) -> Option<String> {
    (text.len() > JOB_ID_BYTES_MAX).then(|| format!("at most {JOB_ID_BYTES_MAX} bytes, found {}", text.len()))
}

fn groups_form(text: &str) -> Option<String> {
    text.parse::<Groups>().err().map(|expected| expected + ", or none")
}

fn unit_ns(unit: &str) -> f64 {
    if unit == "ms" { 1e6 } else { 1e9 }
}

impl Values {
    const fn or(self, word: &'static str) -> Self {
        Self { word, ..self }
    }

    /// Returns a value in its canonical spelling.
    ///
    /// # Errors
    /// The expected values.
    fn read(&self, text: &str) -> Result<String, String> {
        if !self.word.is_empty() && (text.is_empty() || text.eq_ignore_ascii_case(self.word)) {
            return Ok(self.word.into());
        }
        let read = match self.kind {
            Kind::Whole { min, max, .. } => {
                text.parse::<u64>().ok().filter(|number| (min..=max).contains(number)).map(|number| number.to_string())
            }
            Kind::Time { min, max, unit } => {
                let number = text.parse::<f64>().ok().filter(|number| (min..=max).contains(number));
                number.map(|number| time_text((number * unit_ns(unit)).round() as u128, unit))
            }
            Kind::Words(words) => {
                let text = text.to_ascii_lowercase().replace('-', "_");
                let text = match (text.as_str(), words) {
                    ("1" | "true", ["on", "off"]) => "on",
                    ("0" | "false", ["on", "off"]) => "off",
                    (text, _) => text,
                };
                words.contains(&text).then(|| text.to_owned())
            }
            Kind::Text { form, .. } if text.contains(char::is_control) => {
                return Err(format!("{form}, without control characters"));
            }
            Kind::Text { wrong, .. } => return wrong(text).map_or(Ok(text.into()), Err),
        };
        read.ok_or_else(|| self.to_string())
    }
}

fn time_text(nanos: u128, unit: &str) -> String {
    (nanos as f64 / unit_ns(unit)).to_string()
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |words: &[&str]| match words {
            [most @ .., last] => [most.join(", ").as_str(), " or ", last].concat(),
            [] => String::new(),
        };
        match self.kind {
            Kind::Whole { min, max, unit } => write!(f, "{min} to {max} {unit}")?,
            Kind::Time { min, max, unit } => write!(f, "{min} to {max} {unit}")?,
            Kind::Words(all) => f.write_str(&words(all))?,
            Kind::Text { form, .. } => f.write_str(form)?,
        }
        if self.word.is_empty() { Ok(()) } else { write!(f, ", or {}", self.word) }
    }
}

/// Row of [`SETTINGS`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// Name, with its unit.
    pub name: &'static str,
    /// Documentation. Its first paragraph is a summary.
    pub doc: &'static str,
    /// Default, as text. "launcher's" stands for the launcher's environment.
    pub default: &'static str,
    /// Ranks that need the same value.
    pub scope: Scope,
    /// A value that is not the default.
    pub sample: &'static str,
    /// Whether few jobs need it, so that `-h` of the command leaves it out.
    pub is_rare: bool,
    values: Values,
}

impl Setting {
    /// Returns the row of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// Returns the first paragraph of the documentation, in one line.
    pub fn summary(&self) -> String {
        let lines = self.doc.lines().map(str::trim).take_while(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    }

    /// Returns the rest of the documentation.
    pub fn details(&self) -> String {
        let lines = self.doc.lines().map(str::trim).skip_while(|line| !line.is_empty()).skip(1);
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the values that it may have: "0.001 to 4290 ms, or measured".
    pub fn values(&self) -> String {
        self.values.to_string()
    }

    /// Returns whether its values are `on` and `off`.
    pub fn is_switch(&self) -> bool {
        matches!(self.values.kind, Kind::Words(["on", "off"]))
    }

    /// Returns the value that means "none" or "found automatically", if there is one.
    pub fn word(&self) -> Option<&'static str> {
        Some(self.values.word).filter(|word| !word.is_empty())
    }

    /// Returns the name of its environment variable. An empty variable counts as not set.
    pub fn variable(&self) -> String {
        PREFIX.to_owned() + &self.name.to_uppercase()
    }

    /// Returns its flag of the command `optireduce`.
    pub fn flag(&self) -> String {
        format!("--{}", self.name.replace('_', "-"))
    }

    /// Text of `origin` in errors and logs.
    pub fn origin(&self, origin: Origin) -> String {
        match origin {
            Origin::Code => "code".into(),
            Origin::Flag => self.flag(),
            Origin::Variable => self.variable(),
            Origin::Launcher => "launcher".into(),
            Origin::Default => "default".into(),
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        match self.values.kind {
            Kind::Whole { .. } => Shape::Whole,
            Kind::Time { unit, .. } => Shape::Decimal(unit),
            Kind::Words(words) => Shape::Words(words),
            Kind::Text { .. } => Shape::Text,
        }
    }

    fn read(&self, text: &str, origin: Origin) -> Result<String, SettingError> {
        self.values.read(text).map_err(|expected| self.wrong(text, origin, expected))
    }

    fn wrong(&self, text: &str, origin: Origin, expected: String) -> SettingError {
        let plain = !text.is_empty() && !text.contains(|c: char| c.is_control() || c.is_whitespace());
        let found = if plain { text.into() } else { format!("{text:?}") };
        let found = match origin {
            Origin::Code => found,
            _ => format!("{found} ({})", self.origin(origin)),
        };
        SettingError::Value { setting: self.name, found, expected }
    }

    fn is_place(&self) -> bool {
        PLACE.contains(&self.name)
    }
}

/// Rows whose default is the launcher's.
const PLACE: [&str; 5] = ["rank", "world_size", "root", "job_id", "rejoin"];

/// Value of a setter as text.
trait Text {
    fn text(&self, values: &Values) -> String;
}

macro_rules! by_display {
    ($($Type:ty),*) => {$(
        impl Text for $Type {
            fn text(&self, _: &Values) -> String {
                self.to_string()
            }
        }
    )*};
}

by_display!(usize, u32, String, Early, SharedMemory, CardFallback, Groups, Repair, HadamardMode);

impl Text for bool {
    fn text(&self, _: &Values) -> String {
        if *self { "on" } else { "off" }.into()
    }
}

impl Text for Duration {
    fn text(&self, values: &Values) -> String {
        match values.kind {
            Kind::Time { unit, .. } => time_text(self.as_nanos(), unit),
            _ => unreachable!("only rows of times have setters of durations"),
        }
    }
}

impl<T: Text> Text for Option<T> {
    fn text(&self, values: &Values) -> String {
        self.as_ref().map_or(values.word.into(), |value| value.text(values))
    }
}

macro_rules! settings {
    ($(
        $(#[doc = $doc:literal])+
        $setter:ident($argument:ty as $Type:ty), $name:literal, $values:expr, default $default:literal, scope $Scope:ident,
            sample $sample:literal $(, $rare:ident)?;
    )*) => {
        /// All settings.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: $name,
            doc: concat!($($doc, "\n"),+),
            default: $default,
            scope: Scope::$Scope,
            sample: $sample,
            is_rare: !stringify!($($rare)?).is_empty(),
            values: $values,
        }),*];

        impl Settings {$(
            $(#[doc = $doc])+
            #[doc = ""]
            #[doc = concat!("Name: `", $name, "`. Default: ", $default, ".")]
            pub fn $setter(self, $setter: $argument) -> Self {
                let value: $Type = $setter.into();
                self.with($name, value)
            }
        )*}
    };
}

settings! {
    /// Rank of this process, from 0.
    rank(usize as usize), "rank", whole(0, RANKS_MAX_LEVELS as u64 - 1, "and below world_size"), default "launcher's",
        scope Rank, sample "1";
    /// Number of ranks of the job.
    ///
    /// At most 1024 on one level. One rank needs neither rank nor root.
    world_size(usize as usize), "world_size", whole(1, RANKS_MAX_LEVELS as u64, "ranks"), default "launcher's",
        scope Job, sample "2";
    /// Address where rank 0 listens, as host:port.
    ///
    /// MPICH, and Open MPI on several hosts, do not provide it.
    root(impl Into<String> as String), "root", text("host:port", root_form), default "launcher's", scope Rank,
        sample "127.0.0.1:29517";
    /// Text that tells jobs with the same root apart.
    ///
    /// Equal on all ranks. Not secret.
    job_id(impl Into<String> as String), "job_id", text("at most 256 bytes", job_id_form), default "launcher's", scope Job,
        sample "j7";
    /// Permission to replace an ended process of this rank in a running job.
    ///
    /// The default is on if the restart counter of torchrun or Slurm is above 0. Rank 0 cannot be
    /// replaced. The caller must restore the model, see
    /// [`Report::joined_rank`](crate::Report::joined_rank).
    rejoin(bool as bool), "rejoin", SWITCH, default "launcher's", scope Rank, sample "on";
    /// Network interface, by name or address. auto: the one on the route to the root.
    interface(impl Into<String> as String), "interface", text("a name or address", any).or("auto"), default "auto",
        scope Rank, sample "lo";
    /// Largest IP packet in bytes, with a secret at least 138. auto: the path's.
    mtu(impl Into<Option<usize>> as Option<usize>), "mtu", whole(MTU_MIN as u64, 65_535, "bytes").or("auto"), default "auto",
        scope Rank, sample "9000", rare;
    /// Shared memory between ranks of one host. off: UDP.
    shared_memory(SharedMemory as SharedMemory), "shared_memory", words(&["auto", "off"]), default "auto", scope Job,
        sample "off";
    /// File with the job's secret, which encrypts and authenticates all traffic.
    ///
    /// The secret has 16 to 4096 random bytes and is equal on all ranks. `OPTIREDUCE_SECRET` can
    /// have the secret itself.
    secret_file(impl Into<String> as String), "secret_file", text("a path", any).or("none"), default "none", scope Rank,
        sample "/dev/null";
    /// SmartNIC of this rank, as `WHERE[,address=IP[/PREFIX][:PORT]][,gateway=MAC]`.
    ///
    /// WHERE is a PCI address such as 0000:5e:00.0, or the path of the vfio-user socket of a
    /// simulated card (`optireduce-sim serve --socket PATH`). `{rank}` is replaced by this rank.
    /// Needs the feature `smartnic`.
    ///
    /// A board needs a network address, which must be unused in its network; the default port is
    /// 5791. A simulated card has one. A card sends no ARP requests: peers on other networks need
    /// the prefix length and the gateway's MAC address.
    ///
    /// In a job with cards, every rank needs a separate IPv4 address and receives on the cards' UDP
    /// port. Collectives run one after the other. Each starts once all cards have armed its
    /// windows, or after t_B. The smallest card limits the windows, and half its slots the windows
    /// in flight. Reduce-scatters, all-gathers, groups and Partial Reduce use the kernel's UDP,
    /// with separate numbers, membership and measured bound. A secret and `rejoin` are errors.
    card(impl Into<String> as String), "card", text("WHERE[,address=IP[/PREFIX][:PORT]][,gateway=MAC]", card_form).or("none"),
        default "none", scope Rank, sample "/nowhere/card.sock";
    /// Reaction to a failed card: its rank fails (off), or all ranks continue over UDP (udp).
    ///
    /// With `udp`, collectives in progress end without the other ranks' values on the failed rank,
    /// and without its values on the others. From a common collective on, all ranks use the
    /// kernel's UDP, with separate numbers, membership and measured bound.
    card_fallback(CardFallback as CardFallback), "card_fallback", words(&["off", "udp"]), default "off", scope Job,
        sample "udp", rare;
    /// Groups of ranks for all-reduces on two levels; by default auto above 1024 ranks.
    ///
    /// Each rank connects only to its group and to its equals, the ranks with the same place in the
    /// other groups, over the kernel's UDP. `auto` makes groups of at most 64 ranks, and `hosts`
    /// one for each host. All groups have the same number of ranks, at least two. A job on two
    /// levels may have 65 536 ranks, and ends when one of them does: no process can join later. One
    /// rank has one level. A card is an error. See [`Groups`](crate::Groups).
    ///
    /// Waits for the ranks to connect may take the timeout up to four times.
    groups(impl Into<Option<Groups>> as Option<Groups>), "groups", text("2 to 1024 groups, auto or hosts", groups_form).or("none"),
        default "none", scope Job, sample "2";
    /// Limit of every wait that no bound ends, such as connecting.
    ///
    /// While data moves over TCP, it is the longest time without progress.
    timeout(Duration as Duration), "timeout_s", time(0.001, 86_400.0, "s"), default "60", scope Rank, sample "30";
    /// Deadline t_B of each stage of each window. measured: from stage times.
    ///
    /// A window is a part of a bucket of at most 1 MiB. It closes within 2 t_B of this rank's first
    /// packet in an all-reduce, and within t_B in a reduce-scatter or all-gather. Over UDP the
    /// broadcast stage inherits unused time from the contribute stage.
    ///
    /// A call may also wait for:
    ///
    /// * earlier windows: at most 16 are in flight over UDP, or half the slots of a card;
    /// * earlier collectives, since results are returned in order;
    /// * cards that are not ready, at most t_B;
    /// * repairs, at most 4 t_B, see [`Repair`];
    /// * the votes of other ranks, with `agree`;
    /// * an agreement on the ranks that take part, at most the timeout;
    /// * a rank that is alive but makes no call, at most the timeout: see `drop_silent_after`;
    /// * in a one-off collective, the comparison of the call and repairs, at most the timeout each.
    ///
    /// A measured bound is twice the 95th percentile of at least 20 stage times, and at least 5 ms
    /// times the ranks per core of a host, rounded up. It adapts later.
    bound(impl Into<Option<Duration>> as Option<Duration>), "bound_ms", time(0.001, 4290.0, "ms").or("measured"),
        default "measured", scope Job, sample "20";
    /// Longest measured bound, and the bound until the first measurement.
    bound_max(Duration as Duration), "bound_max_ms", time(5.0, 4290.0, "ms"), default "1000", scope Job, sample "400", rare;
    /// Close of a stage before its bound, once all peers have begun their last packets.
    early(Early as Early), "early", words(&["off", "adaptive"]), default "adaptive", scope Job, sample "off", rare;
    /// Encoding of all-reduces that spreads each loss over a block.
    ///
    /// `auto` starts once the loss exceeds 2 % by 16 packets. It stops after 100 collectives in a
    /// row with at most 0.5 % loss on every rank; each restart doubles that number, up to 6400.
    hadamard(HadamardMode as HadamardMode), "hadamard", words(&["auto", "on", "off"]), default "auto", scope Job,
        sample "on";
    /// bf16 on the wire, fp32 sums: half the bytes, errors up to 2^-8.
    bf16(bool as bool), "bf16", SWITCH, default "off", scope Job, sample "on";
    /// Repair of lost means: never, in the next result, or before the call returns.
    ///
    /// See [`Repair`]. A collective that lost something ends within 6 bounds with `this_update`,
    /// and within 2 otherwise.
    repair(Repair as Repair), "repair", words(&["off", "next_update", "this_update"]), default "this_update", scope Job,
        sample "next_update";
    /// Number of collectives in a row without a packet of a rank after which it is dropped.
    ///
    /// A rank with open connections must also be silent for 0.5 s. If its process is alive, because
    /// its trainer saves a checkpoint, for example, the others wait for it instead, at most
    /// `timeout_s`.
    drop_silent_after(impl Into<Option<u32>> as Option<u32>), "drop_silent_after",
        whole(1, u32::MAX as u64, "collectives").or("never"), default "3", scope Job, sample "5", rare;
    /// Common decision: if one rank would skip an update, all skip it.
    ///
    /// Costs two messages over TCP after each collective. The leader waits 2 t_B for votes, the
    /// others 3 t_B and 250 ms for its decision.
    agree(bool as bool), "agree", SWITCH, default "off", scope Job, sample "on";
    /// Exact calls leave out ranks that are gone, instead of failing.
    skip_gone(bool as bool), "skip_gone", SWITCH, default "off", scope Job, sample "on", rare;
}

/// Variables for diagnostics, secrets, and this project's own tests.
const OTHER_VARIABLES: [&str; 17] = [
    "LOG",
    "CARD_STATS",
    "SECRET",
    "ALLOW_READABLE_SECRET",
    "SEED",
    "TEST_SEED",
    "BUILT",
    "RTL",
    "NIGHTLY",
    "CHAOS",
    "NO_VM",
    "VM_INSIDE",
    "TEST_INSIDE",
    "TEST_OF_THE_LOG",
    "FAULTS_DRIVER",
    "WRITE_HEADER",
    "WRITE_TABLE",
];

const PREFIX: &str = "OPTIREDUCE_";

/// Returns the variables of `names` that nothing reads, each with the nearest that something does.
pub(crate) fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let unknown = names.filter_map(|name| {
        let own = name.strip_prefix(PREFIX)?;
        let is_known = OTHER_VARIABLES.contains(&own) || SETTINGS.iter().any(|setting| setting.variable() == name);
        let nearest = nearest(&own.to_lowercase()).variable();
        (!is_known).then_some((name, nearest))
    });
    unknown.collect()
}

/// Returns the setting whose name is most like `name`.
fn nearest(name: &str) -> &'static Setting {
    SETTINGS.iter().min_by_key(|setting| distance(setting.name, name)).expect("the table has rows")
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, of_a) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, of_b) in b.bytes().enumerate() {
            let best = (diagonal + usize::from(of_a != of_b)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Settings of a [`Communicator`](crate::Communicator), passed to
/// [`connect`](crate::Communicator::connect).
///
/// The table [`SETTINGS`] lists them. A value set here overrides its environment variable,
/// `OPTIREDUCE_` and the name in capitals. The variable overrides the launcher, and that the
/// default. Values are checked when the ranks connect.
///
/// ```
/// use std::time::Duration;
///
/// use optireduce::{Repair, Settings};
///
/// let mut settings = Settings::new().bound(Duration::from_millis(20)).repair(Repair::NextUpdate);
/// settings.set("timeout_s", "30")?;
/// assert_eq!(settings.get("bound_ms")?, "20");
/// # Ok::<(), optireduce::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Settings {
    given: BTreeMap<&'static str, (String, Origin)>,
    /// In place of the environment.
    variables: Option<Variables>,
    secret: Option<Secret>,
    compared: Vec<(String, String)>,
    pub(crate) tuned: Tuned,
    pub(crate) inherited: Inherited,
}

/// Values that derived communicators inherit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inherited {
    /// All values are given, and the caller was told of them.
    pub is_settled: bool,
    /// Listener of rank 0, if it exists already.
    pub listener: Option<Arc<TcpListener>>,
    /// Ranks of the whole job on this host, if this communicator has only some.
    pub ranks_here: Option<usize>,
    /// Silence after which a rank with open connections may be dropped. `None`: the default.
    pub silent: Option<Duration>,
    /// Grace time of stages instead of an adaptive one.
    pub grace: Option<Duration>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = self.given.iter().map(|(name, (text, _))| (name, text));
        f.debug_map().entries(given).finish()
    }
}

impl Settings {
    /// Returns settings that are as the environment says.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn try_set_by(&mut self, name: &str, value: &str, origin: Origin) -> Result<(), SettingError> {
        let row = row(name)?;
        self.given.insert(row.name, (row.read(value.trim(), origin)?, origin));
        Ok(())
    }

    pub(crate) fn try_find(&self, name: &str) -> Result<(String, Origin), SettingError> {
        let row = row(name)?;
        if let Some(own) = self.own(row)? {
            return Ok(own);
        }
        let launch = if row.is_place() { self.try_launch().ok() } else { None };
        Ok(match launch {
            Some(launch) => (of_place(row.name, &launch), Origin::Launcher),
            None => (row.default.into(), Origin::Default),
        })
    }

    pub(crate) fn try_launch(&self) -> Result<Launch, SettingError> {
        let own = |name| Ok::<_, SettingError>(self.own(row(name)?)?.map(|(value, _)| value));
        let number = |name| Ok::<_, SettingError>(own(name)?.and_then(|value| value.parse().ok()));
        let place = OwnPlace {
            rank: number("rank")?,
            world_size: number("world_size")?,
            root: own("root")?,
            job_id: own("job_id")?,
            rejoin: own("rejoin")?.map(|value| value == "on"),
        };
        let launch = Launch::find(place, |name| self.variable(name))?;
        row("job_id")?.read(&launch.job_id, Origin::Launcher)?;
        Ok(launch)
    }

    /// Reads these instead of the environment's variables, the launcher's included.
    pub fn variables(self, variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { variables: Some(Arc::new(variables)), ..self }
    }

    /// Sets the secret of the job, which encrypts and authenticates connections and packets.
    pub fn secret(self, secret: Secret) -> Self {
        Self { secret: Some(secret), ..self }
    }

    /// Adds a term of the caller that must be the same on all ranks. It is compared before the
    /// settings.
    pub fn compare(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.compared.push((name.into(), value.to_string()));
        self
    }

    fn with(mut self, name: &'static str, value: impl Text) -> Self {
        let values = Setting::named(name).map(|setting| setting.values);
        let text = values.map(|values| value.text(&values)).unwrap_or_default();
        self.given.insert(name, (text, Origin::Code));
        self
    }

    /// A value that the caller or the variable has.
    fn own(&self, row: &'static Setting) -> Result<Option<(String, Origin)>, SettingError> {
        let given = self.given.get(row.name).cloned();
        let found = given.or_else(|| self.variable(&row.variable()).map(|text| (text.trim().into(), Origin::Variable)));
        let found = found.filter(|(text, _)| !text.is_empty() || !row.values.word.is_empty());
        found.map(|(text, origin)| Ok((row.read(&text, origin)?, origin))).transpose()
    }

    fn variable(&self, name: &str) -> Option<String> {
        let found = match &self.variables {
            Some(variables) => variables(name),
            None => std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
        };
        found.filter(|value| !value.is_empty())
    }

    /// Returns the same settings, with a value for each, and the place of this process.
    pub(crate) fn settle(&self) -> Result<(Self, Launch), SettingError> {
        let mut settled = self.clone();
        for row in SETTINGS.iter().filter(|row| !row.is_place()) {
            settled.given.insert(row.name, self.try_find(row.name)?);
        }
        let launch = self.try_launch()?;
        for name in PLACE {
            let origin = self.own(row(name)?)?.map_or(Origin::Launcher, |(_, origin)| origin);
            settled.given.insert(name, (of_place(name, &launch), origin));
        }
        let is_crowd =
            launch.world_size > RANKS_MAX && settled.given.get("groups").is_some_and(|(_, of)| *of == Origin::Default);
        if is_crowd {
            settled.given.insert("groups", ("auto".into(), Origin::Default));
        }
        settled.secret = self.find_secret(&settled)?;
        if !self.inherited.is_settled {
            settled.tell(launch.rank);
            settled.inherited.is_settled = true;
        }
        Ok((settled, launch))
    }

    /// The secret itself, or else of the file, or else of the environment.
    fn find_secret(&self, settled: &Self) -> Result<Option<Secret>, SettingError> {
        if self.secret.is_some() || self.inherited.is_settled {
            return Ok(self.secret.clone());
        }
        match settled.word_or_text("secret_file") {
            Some(path) => {
                let secret = Secret::of_file(path.as_ref(), settled.time("timeout_s"), false);
                let (row, (_, origin)) = (row("secret_file")?, self.try_find("secret_file")?);
                secret.map(Some).map_err(|error| row.wrong(path, origin, format!("a file with a secret: {error}")))
            }
            None if self.variables.is_some() => {
                Ok(self.variable("OPTIREDUCE_SECRET").map(|secret| Secret::of(secret.as_bytes())).transpose()?)
            }
            None => Ok(Secret::of_env()?),
        }
    }

    /// Logs what is not the default, and variables that nothing reads.
    fn tell(&self, rank: usize) {
        let changed = SETTINGS.iter().filter_map(|row| {
            let (value, origin) = self.given.get(row.name)?;
            let differs = *value != row.default && *origin != Origin::Default;
            differs.then(|| format!("{}={value} ({})", row.name, row.origin(*origin)))
        });
        let changed: Vec<String> = changed.collect();
        if !changed.is_empty() {
            tracing::info!(rank, settings = changed.join(", "), "settings that are not the default");
        }
        if self.variables.is_none() {
            let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            for (variable, nearest) in unknown_variables(names) {
                tracing::warn!(
                    variable,
                    nearest,
                    "this variable is unknown and has no effect; `nearest` is the setting most like it"
                );
            }
        }
    }

    /// Terms that must be the same on all ranks, of settled settings.
    pub(crate) fn terms(&self) -> Terms {
        // First, since settings may follow from them.
        let own = self.compared.iter().fold(Terms::default(), |terms, (name, value)| terms.with(name, value));
        // These two are compared when the ranks meet.
        let compared = |row: &&Setting| row.scope == Scope::Job && !row.is_place();
        let rows = SETTINGS.iter().filter(compared);
        let terms = rows.fold(own, |terms, row| terms.with(row.name, self.text(row.name)));
        self.tuned.terms().fold(terms, |terms, (name, value)| terms.with(name, value))
    }

    pub(crate) fn secret_in_force(&self) -> Option<&Secret> {
        self.secret.as_ref()
    }

    // Values of settled settings.

    fn text(&self, name: &str) -> &str {
        self.given.get(name).map_or("", |(text, _)| text)
    }

    pub(crate) fn word_or_text(&self, name: &str) -> Option<&str> {
        let word = Setting::named(name).map_or("", |row| row.values.word);
        Some(self.text(name)).filter(|text| *text != word)
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.text(name) == "on"
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.text(name).parse().ok()
    }

    pub(crate) fn time_or_word(&self, name: &str) -> Option<Duration> {
        let unit = match Setting::named(name)?.values.kind {
            Kind::Time { unit, .. } => unit,
            _ => return None,
        };
        let number: f64 = self.number(name)?;
        Some(Duration::from_nanos((number * unit_ns(unit)).round() as u64))
    }

    pub(crate) fn time(&self, name: &str) -> Duration {
        self.time_or_word(name).unwrap_or_default()
    }

    /// `all` has each word of the row.
    pub(crate) fn one_of<T: Copy + fmt::Display>(&self, name: &str, all: &[T]) -> T {
        let text = self.text(name);
        let found = all.iter().find(|value| value.to_string() == text);
        *found.unwrap_or_else(|| panic!("{name} is {text:?}, which its row allows and its type lacks"))
    }
}

fn row(name: &str) -> Result<&'static Setting, SettingError> {
    Setting::named(name).ok_or_else(|| SettingError::Value {
        setting: "the name of a setting",
        found: name.escape_debug().to_string(),
        expected: format!("one of optireduce::SETTINGS, of which {} is the nearest", nearest(name).name),
    })
}

fn of_place(name: &str, launch: &Launch) -> String {
    match name {
        "rank" => launch.rank.to_string(),
        "world_size" => launch.world_size.to_string(),
        "root" if launch.world_size == 1 => String::new(),
        "root" => launch.root.clone(),
        "job_id" => launch.job_id.clone(),
        _ => launch.rejoin.text(&SWITCH),
    }
}
