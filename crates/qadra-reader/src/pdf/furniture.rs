use std::collections::HashMap;

use super::Sheet;
use super::flow::LARGER;
use super::glyphs::Way;
use super::segment::Segment;

/// Pages from which on repetition means something.
const ENOUGH: usize = 3;
/// Margins, as a share of the page's height.
const MARGIN: f32 = 0.1;

/// Drops what stands in the margins of most pages: running titles and page numbers. Left and right pages may differ,
/// so a third of the pages is most of them. What is larger than the text is a heading, however often it comes.
pub(super) fn remove(sheets: &mut [Sheet], body: f32) {
    if sheets.len() < ENOUGH {
        return;
    }
    let mut seen: HashMap<(String, bool), usize> = HashMap::new();
    for sheet in sheets.iter() {
        let mut keys: Vec<_> = sheet
            .segments
            .iter()
            .filter_map(|s| key(s, sheet.height, body))
            .collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            *seen.entry(key).or_default() += 1;
        }
    }
    let needed = ENOUGH.max(sheets.len().div_ceil(3));
    for sheet in sheets.iter_mut() {
        let height = sheet.height;
        let repeats = |s: &Segment| {
            let times = key(s, height, body).and_then(|key| seen.get(&key).copied());
            times.is_some_and(|times| times >= needed)
        };
        // A document that is nothing but the same short page is not furniture.
        if sheet.segments.iter().any(|s| !repeats(s)) {
            sheet.segments.retain(|s| !repeats(s));
        }
    }
}

/// What two pages' furniture has in common: its words without numbers, and the margin it is in.
fn key(segment: &Segment, height: f32, body: f32) -> Option<(String, bool)> {
    let top = segment.v < MARGIN * height;
    let in_margin = top || segment.v > (1.0 - MARGIN) * height;
    if segment.way != Way::Right || !in_margin || segment.size > LARGER * body {
        return None;
    }
    let mut words = String::new();
    for c in segment.text.chars().filter(|c| !c.is_whitespace()) {
        let c = if c.is_numeric() { '#' } else { c };
        if c != '#' || !words.ends_with('#') {
            words.extend(c.to_lowercase());
        }
    }
    Some((words, top))
}
