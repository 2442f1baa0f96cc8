//! Flags of the library's settings, one for each row of its table, and `optireduce settings`.

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use optireduce::{Origin, SETTINGS, Scope, Setting, Settings};

use crate::outcome::{Failure, print};

// Headings of `--help`, shared with flags that are no settings.
pub const PLACE: &str = "This rank's place in the job";
pub const TRANSPORT: &str = "Transport";
pub const OUTPUT: &str = "Output";
const LOSS: &str = "Bounds, loss and repair";

/// Flags of `run` only: `bench allreduce` places its ranks itself, and they cannot share a card.
const OF_RUN: [&str; 9] =
    ["rank", "world_size", "root", "job_id", "rejoin", "interface", "secret_file", "card", "card_fallback"];
const OF_TRANSPORT: [&str; 5] = ["mtu", "shared_memory", "groups", "timeout_s", "bf16"];

/// Width of the lists, in columns.
const WIDTH: usize = 80;

/// Values of flags, by the names of their settings: the flags of `run` only (`IS_OF_RUN`), or the
/// others.
#[derive(Clone, Debug, Default)]
pub struct Flags<const IS_OF_RUN: bool>(Vec<(&'static str, String)>);

impl<const IS_OF_RUN: bool> Flags<IS_OF_RUN> {
    fn rows() -> impl Iterator<Item = &'static Setting> {
        SETTINGS.iter().filter(|row| OF_RUN.contains(&row.name) == IS_OF_RUN)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(of, _)| *of == name).map(|(_, value)| value.as_str())
    }

    /// Whether a flag is given, and not as "none".
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value != "none")
    }

    pub fn apply(&self, settings: &mut Settings) -> Result<(), String> {
        let mut given = self.0.iter();
        let set = given.try_for_each(|(name, value)| settings.set_by(name, value, Origin::Flag));
        set.map_err(|error| error.to_string())
    }
}

impl<const IS_OF_RUN: bool> clap::Args for Flags<IS_OF_RUN> {
    fn augment_args(command: Command) -> Command {
        Self::rows().fold(command, |command, row| command.arg(flag(row)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const IS_OF_RUN: bool> FromArgMatches for Flags<IS_OF_RUN> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = Self::rows().filter_map(|row| Some((row.name, matches.get_one::<String>(row.name)?.clone())));
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn flag(row: &'static Setting) -> Arg {
    let read = |text: &str| {
        let mut settings = Settings::new();
        settings.set_by(row.name, text, Origin::Flag)?;
        settings.get(row.name)
    };
    let heading = match row.name {
        name if OF_RUN.contains(&name) => PLACE,
        name if OF_TRANSPORT.contains(&name) => TRANSPORT,
        _ => LOSS,
    };
    let summary = plain(&row.summary());
    let summary = summary.trim_end_matches('.');
    // These defaults need no column in short help.
    let is_plain = ["launcher's", "none", "off", "auto"].contains(&row.default);
    let default = if is_plain { String::new() } else { format!(" [default: {}]", row.default) };
    let short = format!("{summary}{default}");
    let details = Some(plain(&row.details())).filter(|details| !details.is_empty());
    let values = format!("Values: {}. Default: {}. Variable: {}.", row.values(), row.default, row.variable());
    let long = [Some(summary.to_owned()), details, Some(values)];
    let long = long.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    let argument = Arg::new(row.name)
        .long(row.flag().trim_start_matches("--").to_owned())
        .value_name(value_name(row))
        .value_parser(read)
        .help(short)
        .long_help(long)
        .help_heading(heading)
        .hide_short_help(row.is_rare)
        .action(ArgAction::Set);
    let argument = if row.name == "card" { argument.conflicts_with("secret_file") } else { argument };
    if row.is_switch() { argument.num_args(0..=1).default_missing_value("on") } else { argument }
}

fn value_name(row: &Setting) -> String {
    match row.name {
        _ if row.is_switch() => "on|off".into(),
        // Long help has the words. All of them would widen the column of the flags.
        "early" | "hadamard" | "repair" | "shared_memory" | "card_fallback" => "MODE".into(),
        "groups" => "GROUPS".into(),
        name => name.rsplit('_').next().unwrap_or(name).to_uppercase(),
    }
}

/// Removes the marks of Markdown.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("](") {
        plain.push_str(before);
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain
        .replace("[`", "")
        .replace("`]", "")
        .replace('`', "")
        .replace("\n\n", "\0")
        .replace("\n* ", "\0* ")
        .replace('\n', " ")
        .replace('\0', "\n\n")
}

#[derive(Debug, clap::Args)]
pub struct SettingsArgs {
    #[command(flatten)]
    place: Flags<true>,
    #[command(flatten)]
    flags: Flags<false>,
    /// Print one line of JSON per setting
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

pub fn list(args: &SettingsArgs) -> Result<(), Failure> {
    let mut settings = Settings::new();
    args.place.apply(&mut settings)?;
    args.flags.apply(&mut settings)?;
    if !args.json {
        print(&format!("{:18} {:30} from", "setting", "value"))?;
    }
    for row in SETTINGS {
        let (value, origin) = settings.find(row.name).map_err(|error| error.to_string())?;
        let origin = row.origin(origin);
        let may_differ = row.scope == Scope::Rank;
        if args.json {
            let json = serde_json::json!({
                "name": row.name, "value": value, "origin": origin, "values": row.values(), "default": row.default,
                "may_differ": may_differ, "variable": row.variable(), "flag": row.flag(), "doc": row.summary(),
            });
            print(&json.to_string())?;
            continue;
        }
        print(&format!("{:18} {value:30} {origin}", row.name))?;
        let differ = if may_differ { "; ranks may differ" } else { "" };
        let text = format!("{} ({}{differ})", plain(&row.summary()), row.values());
        for line in wrapped(&text, WIDTH - 4) {
            print(&format!("    {line}"))?;
        }
    }
    Ok(())
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("never empty");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.into());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Args, Command as Ours};

    fn settings(arguments: &[&str]) -> Settings {
        let command = Args::parse_from([&["optireduce", "settings"], arguments].concat()).command;
        let Ours::Settings(args) = command else { unreachable!("parsed above") };
        let mut settings = Settings::new().variables(|_| None);
        args.place.apply(&mut settings).unwrap();
        args.flags.apply(&mut settings).unwrap();
        settings
    }

    #[test]
    fn each_setting_has_a_flag_that_gives_the_value_of_its_sample() {
        for row in SETTINGS {
            let flag = row.flag();
            let given = settings(&[&flag, row.sample]);
            assert_eq!(given.find(row.name).unwrap(), (row.sample.to_owned(), Origin::Flag), "{flag}");
            let error = Args::try_parse_from(["optireduce", "settings", &format!("{flag}=\u{1}")]);
            assert!(error.is_err(), "{flag}");
        }
        assert_eq!(settings(&["--bf16", "--json"]).get("bf16").unwrap(), "on");
    }

    #[test]
    fn help_is_free_of_marks_and_the_list_fits_80_columns() {
        for row in SETTINGS {
            let text = plain(row.doc);
            assert!(!text.contains(['`', '[']) || row.name == "card", "{text}");
            let line = format!("{:18} {:30} {}", row.name, row.sample, row.variable());
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        let text = "a few words that are longer than the lines are wide, so that they need several";
        assert!(wrapped(text, 20).iter().all(|line| line.len() <= 20));
        assert_eq!(wrapped(text, 20).join(" "), text);
    }
}
