use super::glyphs::{Glyph, Glyphs, Way};
use crate::clean;

/// Gaps, in heights of the font: from the first on there is a space, from the second on the words are apart.
const SPACE: f32 = 0.16;
const APART: f32 = 1.3;

/// Words that stand together on one line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    pub(super) text: String,
    pub(super) way: Way,
    pub(super) u0: f32,
    pub(super) u1: f32,
    pub(super) v: f32,
    pub(super) size: f32,
}

impl Segment {
    pub(super) fn width(&self) -> f32 {
        self.u1 - self.u0
    }

    /// Whether both stand on one line.
    pub(super) fn beside(&self, other: &Segment) -> bool {
        self.way == other.way && (self.v - other.v).abs() < 0.35 * self.size.max(other.size)
    }
}

/// Puts glyphs together to segments, first as they were drawn, then as they stand.
pub(super) fn segments(page: Glyphs) -> Vec<Segment> {
    let mut drawn: Vec<Segment> = Vec::new();
    let mut last: Option<Glyph> = None;
    for glyph in page.glyphs {
        let range = glyph.text.0 as usize..glyph.text.1 as usize;
        let text = page.text.get(range).unwrap_or_default();
        match (drawn.last_mut(), last) {
            (Some(segment), Some(before)) if follows(&before, segment, &glyph) => {
                append(segment, text, &glyph, &before);
            }
            _ => drawn.push(Segment {
                text: text.to_owned(),
                way: glyph.way,
                u0: glyph.u0,
                u1: glyph.u1,
                v: glyph.v,
                size: glyph.size,
            }),
        }
        last = Some(glyph);
    }
    drawn.retain(|s| !s.text.trim().is_empty());
    for segment in &mut drawn {
        trim(segment);
    }
    merge(drawn)
}

fn follows(before: &Glyph, segment: &Segment, glyph: &Glyph) -> bool {
    let size = segment.size.max(glyph.size);
    let gap = glyph.u0 - segment.u1;
    // A raised or lowered number belongs to its word.
    let near = (glyph.v - segment.v).abs() < 0.35 * size
        || (glyph.v - before.v).abs() < 0.6 * size && gap < 0.5 * size && glyph.size < 0.85 * size;
    glyph.way == segment.way
        && near
        && gap < APART * size
        && glyph.u0 > segment.u0 - 0.2 * size
        && gap > -size
}

fn append(segment: &mut Segment, text: &str, glyph: &Glyph, before: &Glyph) {
    let gap = glyph.u0 - segment.u1;
    // Bold is sometimes made by drawing twice, a hair apart.
    if gap < -0.5 * (glyph.u1 - glyph.u0)
        && segment.text.ends_with(text)
        && (glyph.u1 - segment.u1).abs() < 0.12 * glyph.size
        && !text.trim().is_empty()
    {
        return;
    }
    let size = segment.size.max(glyph.size);
    if gap > SPACE * size && !segment.text.ends_with(' ') && !text.starts_with(' ') {
        segment.text.push(' ');
    }
    let raised = before.v - glyph.v > 0.15 * size && glyph.size < 0.85 * before.size;
    if raised && clean::is_power(&segment.text, text) {
        segment.text.push('^');
    }
    segment.text.push_str(text);
    segment.u1 = segment.u1.max(glyph.u1);
    if glyph.size > segment.size {
        segment.size = glyph.size;
        segment.v = glyph.v;
    }
}

/// Cuts white space at both ends, with its share of the width.
fn trim(segment: &mut Segment) {
    let all = segment.text.chars().count().max(1) as f32;
    let each = segment.width() / all;
    let front = segment.text.trim_start();
    let cut = segment.text.chars().count() - front.chars().count();
    segment.u0 += each * cut as f32;
    let whole = front.trim_end();
    segment.u1 -= each * (front.chars().count() - whole.chars().count()) as f32;
    segment.text = whole.to_owned();
}

/// Joins what was drawn apart and stands together; the result is sorted by line, then along the line.
fn merge(mut segments: Vec<Segment>) -> Vec<Segment> {
    segments.sort_by(|a, b| {
        (a.way.cmp(&b.way))
            .then(a.v.total_cmp(&b.v))
            .then(a.u0.total_cmp(&b.u0))
    });
    let mut lines: Vec<Vec<Segment>> = Vec::new();
    for segment in segments {
        match lines.last_mut() {
            Some(line) if line.first().is_some_and(|first| first.beside(&segment)) => {
                line.push(segment);
            }
            _ => lines.push(vec![segment]),
        }
    }
    let mut merged: Vec<Segment> = Vec::new();
    for mut line in lines {
        line.sort_by(|a, b| a.u0.total_cmp(&b.u0));
        let mut first = true;
        for segment in line {
            match merged.last_mut() {
                Some(before) if !first && joins(before, &segment) => {
                    if segment.u0 - before.u1 > SPACE * before.size.max(segment.size) {
                        before.text.push(' ');
                    }
                    before.text.push_str(&segment.text);
                    before.u1 = before.u1.max(segment.u1);
                    before.size = before.size.max(segment.size);
                }
                _ => merged.push(segment),
            }
            first = false;
        }
    }
    merged
}

fn joins(before: &Segment, after: &Segment) -> bool {
    let gap = after.u0 - before.u1;
    // Text over text, as a watermark is, stays apart.
    let size = before.size.max(after.size);
    gap < APART * size && gap > -0.5 * size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(glyphs: &[(&str, f32, f32, f32)]) -> Vec<String> {
        let mut page = Glyphs::new(600.0, 800.0);
        for &(text, u0, v, size) in glyphs {
            let from = page.text.len() as u32;
            page.text.push_str(text);
            page.glyphs.push(Glyph {
                text: (from, page.text.len() as u32),
                way: Way::Right,
                u0,
                u1: u0 + 0.5 * size * text.chars().count() as f32,
                v,
                size,
            });
        }
        segments(page).into_iter().map(|s| s.text).collect()
    }

    #[test]
    fn gaps_become_spaces_and_wide_gaps_part() {
        let found = check(&[
            ("ab", 10.0, 100.0, 10.0),
            ("cd", 23.0, 100.0, 10.0),
            ("far", 80.0, 100.0, 10.0),
            ("below", 10.0, 112.0, 10.0),
        ]);
        assert_eq!(found, ["ab cd", "far", "below"]);
    }

    #[test]
    fn raised_digits_and_doubled_glyphs_stay_in_their_word() {
        let found = check(&[("10", 10.0, 100.0, 10.0), ("6", 20.0, 95.5, 6.0)]);
        assert_eq!(found, ["10^6"]);
        let found = check(&[("B", 10.0, 100.0, 10.0), ("B", 10.3, 100.0, 10.0)]);
        assert_eq!(found, ["B"]);
    }

    #[test]
    fn what_is_drawn_out_of_order_is_read_in_order() {
        let found = check(&[("cd", 23.0, 100.0, 10.0), ("ab", 10.0, 100.2, 10.0)]);
        assert_eq!(found, ["ab cd"]);
    }
}
