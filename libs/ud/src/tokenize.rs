use std::ops::Range;
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub form: &'a str,
    pub span: Range<usize>,
    pub markup: bool,
    pub part_of: Option<Surface<'a>>,
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Surface<'a> {
    pub form: &'a str,
    pub span: Range<usize>,
}
impl<'a> Piece<'a> {
    pub(crate) fn word(form: &'a str, span: Range<usize>) -> Self {
        Piece { form, span, markup: false, part_of: None }
    }
}
pub(crate) fn tokenize(text: &str) -> Vec<Piece<'_>> {
    let _ = text; vec![]
}
