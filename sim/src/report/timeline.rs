//! Picture of one step: the durations of every rank's stages, and of a reliable all-reduce.
//!
//! SVG 1.1 without scripts or embedded fonts. Output is deterministic. A straggler that makes the
//! step much longer breaks the axis.

use std::fmt::Write as _;

use optireduce_core::protocol::{ClosedBy, Report};

use crate::cluster::{ClusterConfig, StepRecord};
use crate::network::reliable::ReliableRun;

const WIDTH: f64 = 960.0;
/// Start and end of the time axis, in pixels.
const AXIS: [f64; 2] = [150.0, 930.0];
/// Cut of a broken axis, in pixels.
const CUT: [f64; 2] = [690.0, 720.0];
const ROW: f64 = 34.0;
const TOP: f64 = 78.0;
/// Height of a bar, and its offset from the top of its row.
const BAR: [f64; 2] = [20.0, 7.0];

const CONTRIBUTE: &str = "#3b76c4";
const BROADCAST: &str = "#3f9a57";
const WAITING: &str = "url(#waiting)";
const RELIABLE: &str = "#b5533c";

/// Linear map from time to pixels, in two parts if the axis is cut.
struct Scale {
    near_us: f64,
    far_us: Option<[f64; 2]>,
}

impl Scale {
    /// `on_time_us`: end of the punctual ranks. `end_us`: end of all ranks.
    fn new(on_time_us: f64, end_us: f64) -> Self {
        let near_us = on_time_us * 1.12;
        if end_us < 2.0 * near_us {
            return Self { near_us: end_us.max(near_us), far_us: None };
        }
        // Only the end of the wait is of interest.
        let span = near_us * (AXIS[1] - CUT[1]) / (CUT[0] - AXIS[0]);
        Self { near_us, far_us: Some([end_us - 0.85 * span, end_us + 0.15 * span]) }
    }

    fn x(&self, us: f64) -> f64 {
        let part = |us: f64, [from, to]: [f64; 2], [left, right]: [f64; 2]| {
            left + (right - left) * ((us - from) / (to - from)).clamp(0.0, 1.0)
        };
        match self.far_us {
            None => part(us, [0.0, self.near_us], AXIS),
            Some(_) if us <= self.near_us => part(us, [0.0, self.near_us], [AXIS[0], CUT[0]]),
            Some(far) => part(us, far, [CUT[1], AXIS[1]]),
        }
    }

    /// Labelled times of the first part, four to nine.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let steps = (0..7).flat_map(|power| [1.0, 2.0, 5.0].map(|first| first * 10f64.powi(power)));
        let step = steps.into_iter().find(|step| self.near_us / step <= 8.0).unwrap_or(1e7);
        (0..=(self.near_us / step) as u32).map(move |tick| f64::from(tick) * step)
    }
}

struct Picture {
    svg: String,
    scale: Scale,
}

impl Picture {
    fn text(&mut self, x: f64, y: f64, attributes: &str, text: &str) {
        let _ = writeln!(self.svg, r#"<text x="{x:.0}" y="{y:.0}" {attributes}>{}</text>"#, escaped(text));
    }

    fn bar(&mut self, row: usize, [begin_us, end_us]: [f64; 2], fill: &str, title: &str) {
        let (x, end, y) = (self.scale.x(begin_us), self.scale.x(end_us), top(row) + BAR[1]);
        let _ = writeln!(
            self.svg,
            r#"<rect x="{x:.1}" y="{y:.0}" width="{:.1}" height="{:.0}" fill="{fill}"><title>{}</title></rect>"#,
            (end - x).max(1.0),
            BAR[0],
            escaped(title)
        );
    }

    /// Notes near the right edge are placed to the left of their time.
    fn note(&mut self, row: usize, us: f64, note: &str) {
        let (x, y) = (self.scale.x(us), top(row) + 21.0);
        let room = if self.scale.far_us.is_some() && x < CUT[0] { CUT[0] } else { WIDTH };
        if x + 8.0 + 6.2 * note.len() as f64 <= room {
            self.text(x + 8.0, y, "", note);
        } else {
            self.text(x - 8.0, y, r##"text-anchor="end" fill="#ffffff""##, note);
        }
    }
}

fn top(row: usize) -> f64 {
    TOP + row as f64 * ROW
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn us(ns: u64) -> f64 {
    (ns as f64 / 1000.0).round()
}

fn closed(by: ClosedBy) -> &'static str {
    match by {
        ClosedBy::Complete => "complete",
        ClosedBy::Early => "early",
        ClosedBy::Deadline => "at the deadline",
    }
}

/// Draws a step.
pub fn svg(config: &ClusterConfig, record: &StepRecord, reliable: &ReliableRun) -> String {
    let late = |rank: usize| config.delay_ns(rank) > config.bound_ns;
    let done = |of_late: bool| {
        let ranks = record.ranks.iter().enumerate().filter(move |(rank, _)| late(*rank) == of_late);
        ranks.map(|(_, rank)| us(rank.done_ns)).fold(0.0, f64::max)
    };
    let (bound_us, reliable_us) = (us(config.bound_ns), us(reliable.total_ns));
    let scale = Scale::new(done(false).max(bound_us), done(false).max(done(true)).max(reliable_us));
    let rows = config.ranks + (0..config.ranks).filter(|rank| late(*rank)).count() + 1;
    let height = top(rows) + 46.0;
    let mut picture = Picture { svg: String::new(), scale };
    let _ = write!(
        picture.svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0} {height:.0}" font-family="system-ui, sans-serif" font-size="12" fill="#24292f" role="img">
<title>An all-reduce of {} ranks, from the simulator</title>
<defs><pattern id="waiting" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#eceff2"/><rect width="2" height="6" fill="#c3cad1"/></pattern></defs>
<rect width="{WIDTH:.0}" height="{height:.0}" rx="6" fill="#ffffff"/>
"##,
        config.ranks
    );
    head(&mut picture, config);
    axis(&mut picture, rows, bound_us);
    let mut row = 0;
    for (rank, one) in record.ranks.iter().enumerate() {
        stages(&mut picture, row, rank, &one.report, us(one.done_ns), late(rank));
        row += 1;
        if late(rank) {
            let woken_us = us(config.delay_ns(rank));
            picture.text(16.0, top(row) + 21.0, "", &format!("rank {rank}, its host"));
            picture.bar(row, [0.0, woken_us], WAITING, &format!("late by {woken_us} us"));
            let halo = r##"stroke="#ffffff" stroke-width="4" paint-order="stroke""##;
            picture.text(AXIS[0] + 8.0, top(row) + 21.0, halo, &format!("{woken_us} us late"));
            row += 1;
        }
    }
    picture.text(16.0, top(row) + 21.0, "", "reliable all-reduce");
    picture.bar(row, [0.0, reliable_us], RELIABLE, &format!("done after {reliable_us} us"));
    picture.text(
        AXIS[0] + 8.0,
        top(row) + 21.0,
        r##"fill="#ffffff""##,
        &format!("all ranks wait for the last: {reliable_us} us"),
    );
    cut(&mut picture, rows);
    picture.svg + "</svg>\n"
}

fn head(picture: &mut Picture, config: &ClusterConfig) {
    let mut title = format!("{} ranks, {} % packet loss", config.ranks, config.impairments.loss * 100.0);
    for straggler in &config.stragglers {
        let _ = write!(title, ", rank {} is {} us late", straggler.rank, us(straggler.delay_ns));
    }
    let _ = write!(title, ", every stage bounded by t_B = {} us", us(config.bound_ns));
    picture.text(16.0, 26.0, r#"font-size="15" font-weight="600""#, &title);
    for (at, (fill, name)) in
        [(CONTRIBUTE, "contribute: sum what peers send"), (BROADCAST, "broadcast: send and collect the means")]
            .into_iter()
            .enumerate()
    {
        let x = AXIS[0] + 250.0 * at as f64;
        let _ = writeln!(picture.svg, r#"<rect x="{x:.0}" y="39" width="12" height="12" fill="{fill}"/>"#);
        picture.text(x + 18.0, 49.0, "", name);
    }
}

/// `is_late`: only the card acts, without its host.
fn stages(picture: &mut Picture, row: usize, rank: usize, report: &Report, done_us: f64, is_late: bool) {
    let ends_us = {
        let [contribute, broadcast] = [0, 1].map(|stage| us(report.stages[stage].elapsed_ns_max));
        if is_late { [contribute, contribute + broadcast] } else { [contribute.min(done_us), done_us] }
    };
    let name = if is_late { format!("rank {rank}, its card") } else { format!("rank {rank}") };
    picture.text(16.0, top(row) + 21.0, "", &name);
    let [contributed, received] = report.received_fraction.map(|fraction| fraction * 100.0);
    let title = |stage: &str, percent: f64, by| format!("{stage}: {percent:.1} % received, closed {}", closed(by));
    let [by_contribute, by_broadcast] = report.closed_by;
    picture.bar(row, [0.0, ends_us[0]], CONTRIBUTE, &title("contribute", contributed, by_contribute));
    picture.bar(row, ends_us, BROADCAST, &title("broadcast", received, by_broadcast));
    let y = top(row) + 21.0;
    let inside = format!("{contributed:.0} % received, closed {}", closed(by_contribute));
    picture.text(AXIS[0] + 8.0, y, r##"fill="#ffffff""##, &inside);
    if !is_late {
        picture.note(row, done_us, &format!("{done_us} us"));
    }
}

fn axis(picture: &mut Picture, rows: usize, bound_us: f64) {
    let (bottom, bound_x) = (top(rows) + 4.0, picture.scale.x(bound_us));
    for tick in picture.scale.ticks().collect::<Vec<_>>() {
        let x = picture.scale.x(tick);
        let _ = writeln!(
            picture.svg,
            r##"<path d="M{x:.1} {:.0}V{bottom:.0}" stroke="#d8dee4" stroke-width="1"/>"##,
            TOP - 4.0
        );
        picture.text(x, bottom + 16.0, r##"text-anchor="middle" fill="#57606a""##, &format!("{tick}"));
    }
    if let Some([begin, end]) = picture.scale.far_us {
        let middle = ((begin + end) / 2.0 / 10.0).round() * 10.0;
        let x = picture.scale.x(middle);
        picture.text(x, bottom + 16.0, r##"text-anchor="middle" fill="#57606a""##, &format!("{middle}"));
    }
    picture.text(AXIS[1], bottom + 32.0, r##"text-anchor="end" fill="#57606a""##, "us since the step began");
    let _ = writeln!(
        picture.svg,
        r##"<path d="M{bound_x:.1} {:.0}V{bottom:.0}" stroke="#24292f" stroke-width="1.5" stroke-dasharray="4 3"/>"##,
        TOP - 8.0
    );
    picture.text(bound_x, TOP - 12.0, r#"text-anchor="middle" font-weight="600""#, "t_B");
}

fn cut(picture: &mut Picture, rows: usize) {
    if picture.scale.far_us.is_none() {
        return;
    }
    let (top, bottom) = (TOP - 4.0, top(rows) + 4.0);
    let [left, right] = [CUT[0] + 8.0, CUT[1] - 8.0];
    let _ = writeln!(
        picture.svg,
        r##"<path d="M{left:.0} {bottom:.0}L{:.0} {top:.0}H{:.0}L{right:.0} {bottom:.0}Z" fill="#ffffff"/>"##,
        left + 6.0,
        right + 6.0
    );
    for x in [left, right] {
        let _ = writeln!(
            picture.svg,
            r##"<path d="M{x:.0} {bottom:.0}L{:.0} {top:.0}" stroke="#8c959f" stroke-width="1"/>"##,
            x + 6.0
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_step_has_a_whole_axis_and_a_long_one_is_cut() {
        let whole = Scale::new(200.0, 250.0);
        assert!(whole.far_us.is_none());
        assert_eq!([0.0, 250.0].map(|us| whole.x(us)), AXIS);
        let broken = Scale::new(236.0, 2072.0);
        assert!(broken.x(236.0) < CUT[0] && broken.x(2000.0) > CUT[1] && broken.x(2072.0) < AXIS[1]);
        // Equal scale on both sides of the cut.
        let slope = |us: f64| broken.x(us + 1.0) - broken.x(us);
        assert!((slope(100.0) - slope(2050.0)).abs() < 1e-9);
        assert!((4..=9).contains(&broken.ticks().count()));
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("a<b & c>d"), "a&lt;b &amp; c&gt;d");
    }
}
