use super::segment::Segment;

/// Columns within columns.
const DEPTH: usize = 4;
/// Lines that a column has at least.
const LINES: usize = 4;
/// Distance of two lines, in heights of the font, from which on they may not belong together.
const BAND: f32 = 3.5;

/// Lines of a region in reading order; each line is its segments from left to right, more than one in a table.
pub(super) struct Column {
    pub(super) lines: Vec<Vec<Segment>>,
}

/// Cuts a page into columns of lines, in reading order. Where text runs in columns, each is read to its end; what goes
/// across them (a title, a wide figure's caption) ends the columns above it and starts them anew below.
pub(super) fn columns(segments: Vec<Segment>) -> Vec<Column> {
    let mut out = Vec::new();
    let mut rest = segments;
    // Ways of running are sorted, so those of one way are together.
    while let Some(way) = rest.first().map(|s| s.way) {
        let (these, others) = rest.into_iter().partition(|s| s.way == way);
        split(these, DEPTH, &mut out);
        rest = others;
    }
    out
}

fn split(segments: Vec<Segment>, depth: usize, out: &mut Vec<Column>) {
    for band in bands(segments) {
        match gutter(&band) {
            Some(gutter) if depth > 0 => part(band, gutter.at, depth, out),
            _ => out.push(Column { lines: lines(band) }),
        }
    }
}

/// Parts a region at a gutter. What goes across is read where it stands.
fn part(band: Vec<Segment>, gutter: f32, depth: usize, out: &mut Vec<Column>) {
    let (mut left, mut right, mut across) = (Vec::new(), Vec::new(), Vec::new());
    for segment in band {
        if crosses(&segment, gutter) {
            split(std::mem::take(&mut left), depth - 1, out);
            split(std::mem::take(&mut right), depth - 1, out);
            across.push(segment);
            continue;
        }
        if !across.is_empty() {
            out.push(Column {
                lines: lines(std::mem::take(&mut across)),
            });
        }
        if segment.u1 <= gutter {
            left.push(segment);
        } else {
            right.push(segment);
        }
    }
    if !across.is_empty() {
        out.push(Column {
            lines: lines(across),
        });
    }
    split(left, depth - 1, out);
    split(right, depth - 1, out);
}

/// Cuts a region where nothing stands across its whole width, but not where the same columns go on below.
fn bands(segments: Vec<Segment>) -> Vec<Vec<Segment>> {
    let mut bands: Vec<Vec<Segment>> = Vec::new();
    for segment in segments {
        match bands.last_mut() {
            Some(band) if band.last().is_some_and(|s| segment.v - s.v < BAND * s.size) => {
                band.push(segment);
            }
            _ => bands.push(vec![segment]),
        }
    }
    let mut merged: Vec<(Vec<Segment>, Option<Gutter>)> = Vec::new();
    for band in bands {
        let own = gutter(&band);
        match merged.last_mut() {
            Some((above, Some(gutter))) if gutter.holds(&band, own.as_ref()) => above.extend(band),
            _ => merged.push((band, own)),
        }
    }
    merged.into_iter().map(|(band, _)| band).collect()
}

struct Gutter {
    at: f32,
    /// Of the narrower column.
    width: f32,
}

impl Gutter {
    fn holds(&self, band: &[Segment], own: Option<&Gutter>) -> bool {
        let near = |own: &Gutter| (own.at - self.at).abs() < 0.2 * self.width;
        let across = band.iter().any(|s| crosses(s, self.at));
        own.is_some_and(near) || !across && band.iter().any(|s| s.width() > 0.6 * self.width)
    }
}

fn crosses(segment: &Segment, gutter: f32) -> bool {
    segment.u0 < gutter && segment.u1 > gutter
}

/// Where the white strip between two columns of running text is, if there is one.
fn gutter(segments: &[Segment]) -> Option<Gutter> {
    if segments.len() < 2 * LINES {
        return None;
    }
    // A strip can only begin where a segment ends.
    let mut ends: Vec<f32> = segments.iter().map(|s| s.u1).collect();
    ends.sort_by(f32::total_cmp);
    ends.dedup_by(|a, b| (*a - *b).abs() < 2.0);
    if ends.len() > 200 {
        let step = ends.len() / 200 + 1;
        ends = ends.into_iter().step_by(step).collect();
    }
    let best =
        ends.into_iter().map(|end| end + 2.0).filter_map(|at| {
            let (mut left, mut right, mut across) = (Vec::new(), Vec::new(), 0);
            for segment in segments {
                if crosses(segment, at) {
                    across += 1;
                } else if segment.u1 <= at {
                    left.push(segment);
                } else {
                    right.push(segment);
                }
            }
            let few = left.len().min(right.len());
            let apart = few >= LINES && across * 4 <= segments.len();
            let widest = |side: &[&Segment]| side.iter().map(|s| s.width()).fold(0.0, f32::max);
            let width = widest(&left).min(widest(&right));
            (apart && is_prose(&left) && is_prose(&right) && side_by_side(&left, &right))
                .then_some((few, across, Gutter { at, width }))
        });
    let best = best.max_by_key(|&(few, across, _)| (few as isize) - 2 * (across as isize));
    best.map(|(_, _, gutter)| gutter)
}

/// Whether most of the text is in lines that fill their column, as running text does and the cells of a table do not.
fn is_prose(segments: &[&Segment]) -> bool {
    let widest = segments.iter().map(|s| s.width()).fold(0.0, f32::max);
    let full = segments.iter().filter(|s| s.width() > 0.6 * widest);
    let (mut lines, mut width, mut height) = (0, 0.0, 0.0);
    for segment in full {
        lines += 1;
        width += segment.width();
        height += segment.size;
    }
    let all: f32 = segments.iter().map(|s| s.width()).sum();
    lines >= LINES && width > 0.6 * all && width > 8.0 * height
}

/// Whether most lines of the shorter side have lines of the other next to them.
fn side_by_side(left: &[&Segment], right: &[&Segment]) -> bool {
    let span = |side: &[&Segment]| {
        let low = side.iter().map(|s| s.v).fold(f32::INFINITY, f32::min);
        let high = side.iter().map(|s| s.v).fold(f32::NEG_INFINITY, f32::max);
        (low, high)
    };
    let ((a, b), (c, d)) = (span(left), span(right));
    b.min(d) - a.max(c) > 0.5 * (b - a).min(d - c)
}

fn lines(segments: Vec<Segment>) -> Vec<Vec<Segment>> {
    let mut lines: Vec<Vec<Segment>> = Vec::new();
    for segment in segments {
        match lines.last_mut() {
            Some(line) if line.first().is_some_and(|first| first.beside(&segment)) => {
                line.push(segment);
            }
            _ => lines.push(vec![segment]),
        }
    }
    for line in &mut lines {
        line.sort_by(|a, b| a.u0.total_cmp(&b.u0));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::glyphs::Way;
    use super::*;

    fn segment(text: &str, u0: f32, u1: f32, v: f32) -> Segment {
        Segment {
            text: text.to_owned(),
            way: Way::Right,
            u0,
            u1,
            v,
            size: 10.0,
        }
    }

    fn check(segments: Vec<Segment>) -> Vec<String> {
        let columns = columns(segments);
        let words = |line: &Vec<Segment>| {
            let words: Vec<&str> = line.iter().map(|s| s.text.as_str()).collect();
            words.join("|")
        };
        columns
            .iter()
            .map(|c| c.lines.iter().map(words).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn columns_are_read_one_after_the_other_under_their_title() {
        let mut page = vec![segment("T", 50.0, 550.0, 50.0)];
        for i in 0..5 {
            let v = 100.0 + 12.0 * i as f32;
            page.push(segment(&format!("l{i}"), 50.0, 280.0, v));
            page.push(segment(&format!("r{i}"), 320.0, 550.0, v));
        }
        assert_eq!(check(page), ["T", "l0 l1 l2 l3 l4", "r0 r1 r2 r3 r4"]);
    }

    #[test]
    fn a_table_under_columns_does_not_hide_them() {
        let mut page = Vec::new();
        for i in 0..6 {
            let v = 100.0 + 12.0 * i as f32;
            page.push(segment(&format!("l{i}"), 50.0, 280.0, v));
            page.push(segment(&format!("r{i}"), 320.0, 550.0, v));
        }
        for i in 0..6 {
            let v = 184.0 + 12.0 * i as f32;
            page.push(segment(&format!("a{i}"), 50.0, 70.0, v));
            page.push(segment(&format!("b{i}"), 200.0, 230.0, v));
        }
        let found = check(page);
        assert!(found[0].starts_with("l0 l1 l2 l3 l4 l5 a0|b0"), "{found:?}");
        assert_eq!(found[1], "r0 r1 r2 r3 r4 r5");
    }

    #[test]
    fn a_table_is_read_row_by_row() {
        let mut page = Vec::new();
        for i in 0..5 {
            let v = 100.0 + 12.0 * i as f32;
            page.push(segment(
                &format!("n{i}"),
                50.0,
                90.0 + 30.0 * (i % 2) as f32,
                v,
            ));
            page.push(segment(&format!("v{i}"), 320.0, 350.0, v));
        }
        assert_eq!(check(page), ["n0|v0 n1|v1 n2|v2 n3|v3 n4|v4"]);
    }
}
