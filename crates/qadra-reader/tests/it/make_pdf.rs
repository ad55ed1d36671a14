//! PDF files with given text at given places.

use std::fmt::Write as _;

/// A page of A4 size that is being drawn, in points from its lower left corner.
#[derive(Default)]
pub(crate) struct Page {
    content: String,
}

impl Page {
    /// `text` in Helvetica; characters of Latin-1.
    pub(crate) fn text(mut self, x: f32, y: f32, size: f32, text: &str) -> Self {
        let mut escaped = String::new();
        for c in text.chars() {
            match c {
                '(' | ')' | '\\' => escaped.extend(['\\', c]),
                ' '..='~' => escaped.push(c),
                c => {
                    let _ = write!(escaped, "\\{:03o}", u32::from(c) & 0xff);
                }
            }
        }
        let _ = writeln!(
            self.content,
            "BT /F1 {size} Tf {x} {y} Td ({escaped}) Tj ET"
        );
        self
    }

    /// Lines of a column from its top, 12 points apart.
    pub(crate) fn lines(mut self, x: f32, y: f32, lines: &[&str]) -> Self {
        for (i, line) in lines.iter().enumerate() {
            self = self.text(x, y - 12.0 * i as f32, 10.0, line);
        }
        self
    }

    /// Text in a Japanese font that is not in the file, in UTF-16.
    pub(crate) fn japanese(mut self, x: f32, y: f32, text: &str) -> Self {
        let hex: String = text.encode_utf16().map(|u| format!("{u:04X}")).collect();
        let _ = writeln!(self.content, "BT /F2 12 Tf {x} {y} Td <{hex}> Tj ET");
        self
    }

    /// A picture that fills the page.
    pub(crate) fn picture(mut self) -> Self {
        self.content.push_str("q 595 0 0 842 0 0 cm /Im1 Do Q\n");
        self
    }
}

pub(crate) fn pdf(pages: Vec<Page>) -> Vec<u8> {
    pdf_titled(pages, "()")
}

/// `title` as it stands in the file, with its brackets.
pub(crate) fn pdf_titled(pages: Vec<Page>, title: &str) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len())
        .map(|i| format!("{} 0 R", 8 + 2 * i))
        .collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Count {}/Kids[{}]>>", pages.len(), kids.join(" ")),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
        "<</Type/Font/Subtype/Type0/BaseFont/HeiseiMin-W3/Encoding/UniJIS-UTF16-H/DescendantFonts[5 0 R]>>".to_owned(),
        "<</Type/Font/Subtype/CIDFontType0/BaseFont/HeiseiMin-W3/DW 1000/CIDSystemInfo\
         <</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>>>".to_owned(),
        "<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>\nstream\n7\nendstream".to_owned(),
        format!("<</Title {title}>>"),
    ];
    for (i, page) in pages.into_iter().enumerate() {
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {} 0 R/Resources\
             <</Font<</F1 3 0 R/F2 4 0 R>>/XObject<</Im1 6 0 R>>>>>>",
            9 + 2 * i
        ));
        let content = page.content;
        objects.push(format!(
            "<</Length {}>>\nstream\n{content}endstream",
            content.len()
        ));
    }
    let mut out = String::from("%PDF-1.7\n");
    let mut places = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        places.push(out.len());
        let _ = write!(out, "{} 0 obj\n{object}\nendobj\n", i + 1);
    }
    let table = out.len();
    let _ = write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _ = writeln!(out, "{place:010} 00000 n ");
    }
    let _ = write!(
        out,
        "trailer\n<</Size {}/Root 1 0 R/Info 7 0 R>>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    );
    out.into_bytes()
}
