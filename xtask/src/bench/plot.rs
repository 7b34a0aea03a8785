//! Draws curves on logarithmic axes, as SVG.

use std::fmt::Write as _;

/// A picture.
#[derive(Debug)]
pub(crate) struct Chart {
    /// What it shows.
    pub(crate) title: String,
    /// Formats the values of the vertical axis.
    pub(crate) unit: fn(f64) -> String,
    /// What is drawn.
    pub(crate) curves: Vec<Curve>,
}

/// One line of a picture.
#[derive(Debug)]
pub(crate) struct Curve {
    /// What it is.
    pub(crate) name: String,
    /// Whether it is highlighted.
    pub(crate) is_ours: bool,
    /// Whether it is a reference line, not a measurement.
    pub(crate) is_dashed: bool,
    /// Numbers of turns, each with its value.
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 350.0;

/// Distinguishable with colour vision deficiency.
const COLOURS: [&str; 8] =
    ["#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f5539", "#666666", "#9467bd"];

/// Draws a picture.
pub(crate) fn svg(chart: &Chart) -> String {
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let (first, last) = decades(points().map(|(turns, _)| *turns));
    let (low, high) = decades(points().map(|(_, value)| *value));
    let x = |turns: f64| LEFT + (turns.log10() - first) / (last - first) * (RIGHT - LEFT);
    let y = |value: f64| BOTTOM - (value.log10() - low) / (high - low) * (BOTTOM - TOP);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{}</text>\n",
        escape(&chart.title)
    );
    for decade in steps(low, high) {
        let at = y(10_f64.powf(decade));
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            escape(&(chart.unit)(10_f64.powf(decade)))
        );
    }
    for decade in steps(first, last) {
        let at = x(10_f64.powf(decade));
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\" stroke=\"#eee\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 18.0,
            count(10_f64.powf(decade))
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">turns</text>",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 38.0
    );
    // Names are in the order of the last values, like the lines.
    let mut order: Vec<usize> = (0..chart.curves.len()).collect();
    let last_of = |index: &usize| chart.curves[*index].points.last().map_or(0.0, |point| point.1);
    order.sort_by(|left, right| last_of(right).total_cmp(&last_of(left)).then(left.cmp(right)));
    let mut colours = COLOURS.iter().cycle();
    for (place, index) in order.into_iter().enumerate() {
        let curve = &chart.curves[index];
        let (colour, width) = match (curve.is_ours, curve.is_dashed) {
            (true, _) => ("#0969da", 3.5),
            (false, true) => ("#999", 1.5),
            (false, false) => (*colours.next().unwrap_or(&"#000"), 1.8),
        };
        let dash = if curve.is_dashed { " stroke-dasharray=\"4 4\"" } else { "" };
        let stroke = format!("stroke=\"{colour}\" stroke-width=\"{width}\"{dash}");
        let path: Vec<String> = curve
            .points
            .iter()
            .map(|(turns, value)| format!("{:.1},{:.1}", x(*turns), y(*value)))
            .collect();
        let legend = TOP + 10.0 + 22.0 * place as f64;
        let weight = if curve.is_ours { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" {stroke}/>\n\
             <line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" {stroke}/>\
             <text x=\"{:.1}\" y=\"{legend:.1}\"{weight}>{}</text>",
            path.join(" "),
            RIGHT + 14.0,
            RIGHT + 38.0,
            legend - 4.0,
            legend - 4.0,
            RIGHT + 44.0,
            escape(&curve.name)
        );
        for point in path.iter().filter(|_| !curve.is_dashed) {
            let (left, top) = point.split_once(',').unwrap_or(("0", "0"));
            let _ = writeln!(out, "<circle cx=\"{left}\" cy=\"{top}\" r=\"3\" fill=\"{colour}\"/>");
        }
    }
    out.push_str("</svg>\n");
    out
}

/// Formats nanoseconds.
pub(crate) fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        size if size < 1e3 => format!("{} ns", brief(size)),
        size if size < 1e6 => format!("{} µs", brief(size / 1e3)),
        size if size < 1e9 => format!("{} ms", brief(size / 1e6)),
        size => format!("{} s", brief(size / 1e9)),
    }
}

/// Formats a number of bytes.
pub(crate) fn bytes(count: f64) -> String {
    match count {
        size if size < 1e3 => format!("{} B", brief(size)),
        size if size < 1e6 => format!("{} KB", brief(size / 1e3)),
        size if size < 1e9 => format!("{} MB", brief(size / 1e6)),
        size => format!("{} GB", brief(size / 1e9)),
    }
}

/// Formats a ratio.
pub(crate) fn times(ratio: f64) -> String {
    format!("{}×", super::bars::brief(ratio))
}

/// Formats a number with three digits.
fn brief(number: f64) -> String {
    match number {
        size if size >= 99.5 => format!("{size:.0}"),
        size if size >= 9.95 => format!("{}", (size * 10.0).round() / 10.0),
        size => format!("{}", (size * 100.0).round() / 100.0),
    }
}

fn count(turns: f64) -> String {
    match turns {
        size if size >= 1e6 => format!("{:.0}M", size / 1e6),
        size if size >= 1e3 => format!("{:.0},000", size / 1e3),
        size => format!("{size:.0}"),
    }
}

/// Returns the powers of ten around some values.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite() && *value > 0.0)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value.log10().floor()), high.max(value.log10().ceil()))
        });
    if low.is_finite() { (low, high.max(low + 1.0)) } else { (0.0, 1.0) }
}

fn steps(low: f64, high: f64) -> impl Iterator<Item = f64> {
    (0..=(high - low) as u32).map(move |step| low + f64::from(step))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
