//! The model file: a magic number, then sections of little-endian numbers and length-prefixed strings.

use crate::sentence::Upos;

pub(crate) const MAGIC: &[u8; 8] = b"QADRAUD1";

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("reading the parser model: not a model of this version")]
    Magic,
    #[error("reading the parser model: it ends too early")]
    Truncated,
    #[error("reading the parser model: {0} out of range")]
    Malformed(&'static str),
}

/// Reads from a slice; never past its end.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], ModelError> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(ModelError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        self.take(N)?.try_into().map_err(|_| ModelError::Truncated)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ModelError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ModelError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn f32s(&mut self, n: usize) -> Result<Vec<f32>, ModelError> {
        let bytes = self.take(n.checked_mul(4).ok_or(ModelError::Truncated)?)?;
        let chunks = bytes.as_chunks::<4>().0.iter();
        let values: Vec<f32> = chunks.map(|b| f32::from_le_bytes(*b)).collect();
        match values.iter().all(|v| v.is_finite()) {
            true => Ok(values),
            false => Err(ModelError::Malformed("a number")),
        }
    }

    pub(crate) fn i16s(&mut self, n: usize) -> Result<Vec<i16>, ModelError> {
        let bytes = self.take(n.checked_mul(2).ok_or(ModelError::Truncated)?)?;
        let values = bytes.as_chunks::<2>().0.iter();
        Ok(values.map(|b| i16::from_le_bytes(*b)).collect())
    }

    pub(crate) fn i8s(&mut self, n: usize) -> Result<Vec<i8>, ModelError> {
        Ok(self.take(n)?.iter().map(|b| *b as i8).collect())
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, ModelError> {
        let n = usize::from(u16::from_le_bytes(self.array()?));
        std::str::from_utf8(self.take(n)?).map_err(|_| ModelError::Malformed("a string"))
    }

    pub(crate) fn upos(&mut self) -> Result<Upos, ModelError> {
        let at = usize::from(self.u8()?);
        Upos::ALL
            .get(at)
            .copied()
            .ok_or(ModelError::Malformed("a part of speech"))
    }
}

#[derive(Default)]
pub(crate) struct Output(pub(crate) Vec<u8>);

impl Output {
    pub(crate) fn u8(&mut self, v: u8) {
        self.0.push(v);
    }

    pub(crate) fn u32(&mut self, v: usize) {
        self.0.extend((v as u32).to_le_bytes());
    }

    pub(crate) fn f32(&mut self, v: f32) {
        self.0.extend(v.to_le_bytes());
    }

    pub(crate) fn i16(&mut self, v: i16) {
        self.0.extend(v.to_le_bytes());
    }

    pub(crate) fn i8(&mut self, v: i8) {
        self.0.push(v as u8);
    }

    /// Strings longer than a u16 can count are cut; none that training writes is.
    pub(crate) fn text(&mut self, v: &str) {
        let n = v.len().min(usize::from(u16::MAX));
        self.0.extend((n as u16).to_le_bytes());
        self.0.extend(&v.as_bytes()[..n]);
    }
}
