use std::io::{BufReader, Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::Xml;
use crate::{Limits, ReadError};

pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Bytes that may still be unpacked.
    budget: u64,
    max_unpacked: u64,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, ReadError> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
        Ok(Archive {
            zip,
            budget: limits.max_unpacked,
            max_unpacked: limits.max_unpacked,
        })
    }

    /// Name of the part that holds the text; an error that names the type if this is another kind of archive.
    pub(super) fn main_part(&self) -> Result<String, ReadError> {
        let has = |name: &str| self.zip.index_for_name(name).is_some();
        if has("word/document.xml") {
            return Ok("word/document.xml".to_owned());
        }
        // Some writers number the part.
        let numbered = self
            .zip
            .file_names()
            .flatten()
            .find(|name| name.starts_with("word/document") && name.ends_with(".xml"));
        if let Some(name) = numbered {
            return Ok(name.into_owned());
        }
        let office = "application/vnd.openxmlformats-officedocument";
        Err(ReadError::UnsupportedType {
            found: if has("xl/workbook.xml") {
                format!("{office}.spreadsheetml.sheet")
            } else if has("ppt/presentation.xml") {
                format!("{office}.presentationml.presentation")
            } else if has("META-INF/container.xml") {
                "application/epub+zip".to_owned()
            } else if has("content.xml") && has("mimetype") {
                "application/vnd.oasis.opendocument".to_owned()
            } else {
                "application/zip".to_owned()
            },
        })
    }

    /// Reads one part, if it is there; says whether it is.
    pub(super) fn part(
        &mut self,
        name: &str,
        max_depth: u32,
        read: impl FnOnce(&mut Xml<'_>) -> Result<(), ReadError>,
    ) -> Result<bool, ReadError> {
        let too_large =
            |found: u64| ReadError::too_large("bytes after unpacking", found, self.max_unpacked);
        let file = match self.zip.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(false),
            Err(e) => return Err(damaged(e)),
        };
        let size = file.size();
        if size > self.budget {
            return Err(too_large(size));
        }
        // The archive's word for the size may be false: what is really unpacked is bounded too.
        let mut input = BufReader::new(file.take(self.budget.saturating_add(1)));
        let mut xml = Xml::new(&mut input, size, max_depth)?;
        let done = read(&mut xml);
        let read = xml.position();
        drop(xml);
        let left = input.into_inner().limit();
        if left == 0 {
            return Err(too_large(read));
        }
        done?;
        self.budget = left.saturating_sub(1);
        Ok(true)
    }
}

fn damaged(e: ZipError) -> ReadError {
    match e {
        ZipError::UnsupportedArchive(reason) if reason == ZipError::PASSWORD_REQUIRED => {
            ReadError::Encrypted
        }
        _ => ReadError::unreadable("the archive is damaged or was cut short"),
    }
}
