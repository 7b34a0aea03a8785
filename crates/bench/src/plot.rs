//! A picture of the growth, as SVG.

use std::fmt::Write as _;

use crate::growth::Point;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 60.0;
const BOTTOM: f64 = 270.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 610.0;

/// Draws the curves on logarithmic axes: turns to the right, cost against the first point upwards.
#[must_use]
pub fn svg(points: &[Point]) -> String {
    let last = points.last().map_or(1_000, |point| point.turns);
    #[expect(clippy::cast_precision_loss, reason = "turns are far below 2^53")]
    let x = |turns: usize| {
        let span = (last as f64 / 1_000.0).log10().max(1.0);
        LEFT + (turns as f64 / 1_000.0).log10() / span * (RIGHT - LEFT)
    };
    // From a half to a thousand times.
    let y = |ratio: f64| BOTTOM - (ratio / 0.5).log10() / 2000_f64.log10() * (BOTTOM - TOP);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">Cost of one more turn, against the cost at 1,000 turns</text>\n"
    );
    for ratio in [1.0, 10.0, 100.0, 1000.0] {
        let at = y(ratio);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{ratio}×</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    for point in points {
        let at = x(point.turns);
        let _ = writeln!(
            out,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 18.0,
            short(point.turns)
        );
    }
    let linear: Vec<(f64, f64)> = points
        .iter()
        .map(|point| {
            #[expect(clippy::cast_precision_loss, reason = "turns are far below 2^53")]
            let ratio = point.turns as f64 / 1_000.0;
            (x(point.turns), y(ratio))
        })
        .collect();
    curve(&mut out, &linear, "#999", "4 4", "what growing with the history would look like", 0);
    let series = |value: fn(&Point) -> f64| -> Vec<(f64, f64)> {
        points.iter().map(|point| (x(point.turns), y(value(point)))).collect()
    };
    curve(&mut out, &series(|point| point.append), "#0969da", "", "append and commit a turn", 1);
    curve(&mut out, &series(|point| point.diff), "#1a7f37", "", "diff of adjacent snapshots", 2);
    curve(&mut out, &series(|point| point.find), "#bf8700", "", "find a node by id", 3);
    out.push_str("</svg>\n");
    out
}

fn short(turns: usize) -> String {
    match turns {
        1_000_000.. => format!("{}M", turns / 1_000_000),
        _ => format!("{}k", turns / 1_000),
    }
}

fn curve(out: &mut String, points: &[(f64, f64)], colour: &str, dash: &str, name: &str, line: u32) {
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let legend = TOP + 12.0 + f64::from(line) * 16.0;
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>\n\
         <line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>\
         <text x=\"{:.1}\" y=\"{legend:.1}\">{name}</text>",
        path.join(" "),
        LEFT + 10.0,
        LEFT + 34.0,
        legend - 4.0,
        legend - 4.0,
        LEFT + 42.0
    );
}
