use hayro_interpret::font::{Glyph as Shape, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::kurbo::{Affine, BezPath, Point};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
};

const EM: f64 = 1000.0;

/// How text runs on the page. Each way of running is laid out by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Right,
    /// In upright glyphs from top to bottom, lines from right to left.
    Columns,
    Down,
    Left,
    Up,
}

/// A character or a ligature of them. `u` grows along the line, `v` from line to line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    /// Bytes of the page's text.
    pub(super) text: (u32, u32),
    pub(super) way: Way,
    pub(super) u0: f32,
    pub(super) u1: f32,
    pub(super) v: f32,
    pub(super) size: f32,
}

/// Receives the drawing of a page and keeps the text of it.
pub(super) struct Glyphs {
    pub(super) text: String,
    pub(super) glyphs: Vec<Glyph>,
    pub(super) unknown: usize,
    width: f64,
    height: f64,
}

impl Glyphs {
    pub(super) fn new(width: f32, height: f32) -> Self {
        Glyphs {
            text: String::new(),
            glyphs: Vec::new(),
            unknown: 0,
            width: f64::from(width),
            height: f64::from(height),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.glyphs.len() + self.unknown
    }

    fn add(&mut self, shape: &Shape<'_>, place: Affine, vertical: bool) {
        let from = self.text.len();
        match shape.as_unicode() {
            Some(BfString::Char(c)) if is_readable(c) => self.text.push(c),
            Some(BfString::String(s)) => self.text.extend(s.chars().filter(|&c| is_readable(c))),
            _ => {}
        }
        if self.text.len() == from {
            self.unknown += 1;
            return;
        }
        let advance = match shape {
            Shape::Outline(glyph) => glyph.advance_width(),
            Shape::Type3(glyph) => glyph.advance_width(),
        };
        let advance = f64::from(advance.unwrap_or(500.0));
        let origin = place * Point::ZERO;
        let along = place * Point::new(EM, 0.0) - origin;
        let up = place * Point::new(0.0, EM) - origin;
        let size = up.hypot();
        let on_page =
            (0.0..=self.width).contains(&origin.x) && (0.0..=self.height).contains(&origin.y);
        if !on_page || !size.is_finite() || size < 0.1 || !along.hypot().is_finite() {
            self.text.truncate(from);
            return;
        }
        let length = along.hypot() * advance / EM;
        let (way, u, v, length) = if vertical {
            (Way::Columns, origin.y, -origin.x, size)
        } else if along.x.abs() >= along.y.abs() {
            match along.x >= 0.0 {
                true => (Way::Right, origin.x, origin.y, length),
                false => (Way::Left, -origin.x, -origin.y, length),
            }
        } else {
            match along.y >= 0.0 {
                true => (Way::Down, origin.y, -origin.x, length),
                false => (Way::Up, -origin.y, origin.x, length),
            }
        };
        self.glyphs.push(Glyph {
            text: (from as u32, self.text.len() as u32),
            way,
            u0: u as f32,
            u1: (u + length) as f32,
            v: v as f32,
            size: size as f32,
        });
    }
}

/// Fonts without a map give numbers of their own as characters.
fn is_readable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fffd}')
}

impl Device<'_> for Glyphs {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, mode: &DrawMode) {
        // Filled and stroked text arrives twice, the strokes second.
        if let (DrawMode::Stroke(_), Some(last), Some(first)) =
            (mode, self.glyphs.last(), run.glyphs().last())
        {
            let at = props.transform * first.transform() * Point::ZERO;
            let same = |a: f32, b: f64| (f64::from(a).abs() - b.abs()).abs() < 0.01;
            if same(last.u0, at.x) && same(last.v, at.y)
                || same(last.u0, at.y) && same(last.v, at.x)
            {
                return;
            }
        }
        let vertical = run.writing_mode() == WritingMode::Vertical;
        for glyph in run.glyphs() {
            self.add(glyph, props.transform * glyph.transform(), vertical);
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}

    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}
