//! Picture of a job: calls, stage closes, faults and views of every rank over time.
//!
//! SVG 1.1 without scripts or embedded fonts. Events have titles. Output is deterministic.

use std::fmt::Write as _;

use optireduce_core::protocol::UpdateAction;

use super::judge::Violation;
use super::plan::JobPlan;
use super::timeline::{Entry, What};

const WIDTH: f64 = 1400.0;
/// Start and end of the time axis, in pixels.
const AXIS: [f64; 2] = [80.0, 1380.0];
const TOP: f64 = 84.0;
/// Height of a call; concurrent calls are stacked.
const BAR: f64 = 13.0;
const MARGIN: f64 = 12.0;

const WHOLE: &str = "#3f9a57";
const LOSSY: &str = "#d9a441";
const SKIPPED: &str = "#b5533c";
const RUNNING: &str = "#9a9a9a";
const FAULT: &str = "#a3195b";
const VIEW: &str = "#3b76c4";

struct Picture {
    svg: String,
    end_us: f64,
    lanes: usize,
}

pub(super) fn svg(plan: &JobPlan, entries: &[Entry], violation: Option<&Violation>) -> String {
    let end_ns = entries.last().map_or(1, |entry| entry.at_ns).max(violation.map_or(0, |found| found.at_ns));
    let mut picture =
        Picture { svg: String::new(), end_us: (end_ns as f64 / 1000.0).max(1.0), lanes: plan.depth.max(1) };
    let bottom = picture.top(plan.ranks);
    let height = bottom + 40.0;
    let _ = writeln!(
        picture.svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0}" height="{height:.0}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#ffffff"/>"##
    );
    picture.head(plan, violation);
    picture.axis(bottom);
    for rank in 0..plan.ranks {
        picture.row(plan, rank, entries.iter().filter(|entry| entry.rank == Some(rank)));
    }
    if let Some(found) = violation {
        let x = picture.x(found.at_ns);
        let _ = writeln!(
            picture.svg,
            r##"<line x1="{x:.1}" y1="{:.0}" x2="{x:.1}" y2="{bottom:.0}" stroke="#ff0000" stroke-width="2"/>"##,
            TOP - 6.0
        );
    }
    picture.svg += "</svg>\n";
    picture.svg
}

impl Picture {
    fn x(&self, at_ns: u64) -> f64 {
        AXIS[0] + (AXIS[1] - AXIS[0]) * (at_ns as f64 / 1000.0 / self.end_us).min(1.0)
    }

    fn top(&self, rank: usize) -> f64 {
        TOP + rank as f64 * (self.lanes as f64 * BAR + 2.0 * MARGIN)
    }

    fn text(&mut self, x: f64, y: f64, attributes: &str, text: &str) {
        let _ = writeln!(self.svg, r#"<text x="{x:.1}" y="{y:.1}" {attributes}>{}</text>"#, escaped(text));
    }

    fn rect(&mut self, [x, end]: [f64; 2], y: f64, height: f64, attributes: &str, title: &str) {
        let (width, title) = ((end - x).max(1.0), escaped(title));
        let _ = writeln!(
            self.svg,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.0}" {attributes}><title>{title}</title></rect>"#
        );
    }

    fn head(&mut self, plan: &JobPlan, violation: Option<&Violation>) {
        let of = format!("seed {}: {} ranks, {} calls, virtual time in us", plan.seed, plan.ranks, plan.calls.len());
        self.text(12.0, 20.0, r#"font-size="14" font-weight="bold""#, &of);
        let mut x = 12.0;
        let keys = [
            (WHOLE, "whole"),
            (LOSSY, "something lost"),
            (SKIPPED, "skipped"),
            (RUNNING, "not returned"),
            (FAULT, "fault"),
            (VIEW, "view, by number"),
            ("#222222", "first mean sent"),
        ];
        for (colour, name) in keys {
            self.rect([x, x + 12.0], 30.0, 10.0, &format!(r#"fill="{colour}""#), name);
            self.text(x + 16.0, 39.0, "", name);
            x += 34.0 + 6.5 * name.len() as f64;
        }
        let found = violation.map_or("no judge objects".to_owned(), ToString::to_string);
        let colour = if violation.is_some() { r##"fill="#ff0000""## } else { "" };
        let shown: String = found.chars().take(210).collect();
        self.text(12.0, 58.0, colour, &shown);
    }

    fn axis(&mut self, bottom: f64) {
        let steps = (0..9).flat_map(|power| [1.0, 2.0, 5.0].map(|first| first * 10f64.powi(power)));
        let step = steps.into_iter().find(|step| self.end_us / step <= 15.0).unwrap_or(1e9);
        for tick in 0..=(self.end_us / step) as u64 {
            let us = tick as f64 * step;
            let x = self.x((us * 1000.0) as u64);
            let y = TOP - 6.0;
            let _ = writeln!(
                self.svg,
                r##"<line x1="{x:.1}" y1="{y:.0}" x2="{x:.1}" y2="{bottom:.0}" stroke="#e4e4e4"/>"##
            );
            self.text(x, bottom + 16.0, r#"text-anchor="middle""#, &format!("{us:.0}"));
        }
    }

    fn row<'a>(&mut self, plan: &JobPlan, rank: usize, entries: impl Iterator<Item = &'a Entry>) {
        let (top, height) = (self.top(rank), self.lanes as f64 * BAR);
        let y = top + MARGIN;
        let kind = if plan.has_card(rank) { "card" } else { "" };
        self.text(12.0, y + 10.0, r#"font-weight="bold""#, &format!("rank {rank}"));
        self.text(12.0, y + 22.0, r##"fill="#666666""##, kind);
        let (mut running, mut down): (Vec<(u32, u64)>, Option<u64>) = (Vec::new(), None);
        for entry in entries {
            let (at_ns, x, title) = (entry.at_ns, self.x(entry.at_ns), entry.what.to_string());
            match &entry.what {
                What::Calls(op) => running.push((*op, at_ns)),
                What::Finished { op, action, is_lossy, .. } => {
                    let Some(place) = running.iter().position(|(of, _)| of == op) else { continue };
                    let colour = match (*action, *is_lossy) {
                        (UpdateAction::Apply, false) => WHOLE,
                        (UpdateAction::Apply, true) => LOSSY,
                        _ => SKIPPED,
                    };
                    let (_, since_ns) = running.remove(place);
                    self.call(*op, [since_ns, at_ns], y, colour, &title);
                }
                What::SendsMean(step) => {
                    let y = y + BAR * (usize::from(*step) % self.lanes) as f64;
                    self.rect([x, x + 1.5], y, BAR - 1.0, r##"fill="#222222""##, &title);
                }
                What::Fault { number, lasts_ns, .. } => {
                    let end = self.x(at_ns + lasts_ns);
                    self.rect([x, end], top + 1.0, 6.0, &format!(r#"fill="{FAULT}" opacity="0.5""#), &title);
                    self.text(
                        x,
                        top + 9.0,
                        &format!(r#"fill="{FAULT}" font-weight="bold""#),
                        &format!("\u{25bc}{number}"),
                    );
                }
                What::Knows { view, .. } => {
                    self.rect([x, x + 2.0], y - 2.0, height + 4.0, &format!(r#"fill="{VIEW}""#), &title);
                    self.text(x + 3.0, y + height + 10.0, &format!(r#"fill="{VIEW}""#), &view.to_string());
                }
                What::Ends | What::IsDropped | What::Fails(_) => down = down.or(Some(at_ns)),
                What::Joined => self.absent(down.take(), at_ns, y, height),
                _ => {}
            }
            if matches!(entry.what, What::Ends) {
                running
                    .drain(..)
                    .for_each(|(op, since_ns)| self.call(op, [since_ns, at_ns], y, RUNNING, "did not return"));
            }
        }
        let end_ns = (self.end_us * 1000.0) as u64;
        self.absent(down, end_ns, y, height);
        running.drain(..).for_each(|(op, since_ns)| self.call(op, [since_ns, end_ns], y, RUNNING, "has not returned"));
    }

    fn call(&mut self, op: u32, [since_ns, until_ns]: [u64; 2], y: f64, colour: &str, title: &str) {
        let (x, end) = (self.x(since_ns), self.x(until_ns));
        let y = y + BAR * (op as usize % self.lanes) as f64;
        self.rect([x, end], y, BAR - 1.0, &format!(r#"fill="{colour}" opacity="0.85""#), title);
        let name = op.to_string();
        if end - x > 7.0 * name.len() as f64 + 4.0 {
            self.text(x + 2.0, y + 10.0, r##"fill="#ffffff""##, &name);
        }
    }

    fn absent(&mut self, since_ns: Option<u64>, until_ns: u64, y: f64, height: f64) {
        let Some(since_ns) = since_ns else { return };
        let [x, end] = [self.x(since_ns), self.x(until_ns)];
        self.rect([x, end], y + height - 3.0, 4.0, r##"fill="#222222" opacity="0.35""##, "takes no part");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
