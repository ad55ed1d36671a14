//! Documents on their way in and out: bytes go to and from the object store as they arrive, and the core is told where.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures::TryStreamExt;
use multer::{Field, Multipart};
use qadra_api::{FileRef, MAX_DOCUMENT_BYTES};
use qadra_nats::{BusError, Files, Upload};
use qadra_types::{Code, Fault};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Gateway;
use crate::problem::bus_fault;
use crate::routes::read_json;

/// JSON around the text, and escapes in it.
const AROUND: usize = 4 * 1024 * 1024;
/// A text over this size goes through the object store and not over the bus.
const INLINE: usize = 256 * 1024;
/// Bytes of a form's plain field.
const FIELD: usize = 16 * 1024;
/// Bytes over the limit that are read and thrown away, so that the client reads the answer that says so.
const DISCARDED: usize = 64 * 1024 * 1024;

/// The body of a proposal, with the bytes in the object store if they are many or came as a file.
pub(crate) async fn proposal(
    gw: &Gateway,
    tenant_id: Uuid,
    request: Request,
) -> Result<Value, Fault> {
    let kind = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    if kind
        .trim_start()
        .to_ascii_lowercase()
        .starts_with("multipart/form-data")
    {
        let boundary = multer::parse_boundary(&kind).map_err(|_| {
            Fault::new(
                Code::MalformedRequest,
                "the content type names no boundary between the form's fields",
            )
        })?;
        let form = Multipart::new(request.into_body().into_data_stream(), boundary);
        return read_form(&files(gw)?, tenant_id, form).await;
    }
    let mut body = read_json(request, MAX_DOCUMENT_BYTES + AROUND, Code::DocumentTooLarge).await?;
    if let Value::Object(o) = &mut body {
        // Where bytes are is never a client's to say.
        o.remove("upload");
        o.remove("filename");
        if let Some(Value::String(text)) = o.get("content")
            && text.len() > INLINE
        {
            if text.len() > MAX_DOCUMENT_BYTES {
                return Err(too_large());
            }
            let mut upload = begin(&files(gw)?, tenant_id).await?;
            upload
                .write(text.as_bytes())
                .await
                .map_err(|e| bus_fault(&e))?;
            let id = upload.finish().await.map_err(|e| bus_fault(&e))?;
            o.remove("content");
            o.insert("upload".into(), json!(id));
        }
    }
    Ok(body)
}

/// The upload that a proposal's body refers to.
pub(crate) fn referred(body: &Value) -> Option<Uuid> {
    body.get("upload")?.as_str()?.parse().ok()
}

/// Forgets what a refused proposal brought.
pub(crate) async fn forget(gw: &Gateway, tenant_id: Uuid, upload: Option<Uuid>) {
    if let (Some(upload), Some(files)) = (upload, gw.bus.files()) {
        files.discard(tenant_id, upload).await;
    }
}

async fn read_form(
    files: &Files,
    tenant_id: Uuid,
    mut form: Multipart<'static>,
) -> Result<Value, Fault> {
    let mut body = json!({});
    let mut stored: Option<Uuid> = None;
    let read = async {
        while let Some(mut field) = form.next_field().await.map_err(|e| broken(&e))? {
            match field.name() {
                Some("file") if stored.is_none() => {
                    body["filename"] = json!(field.file_name().unwrap_or("document"));
                    body["content_type"] = json!(field.content_type().map(ToString::to_string));
                    let upload = begin(files, tenant_id).await?;
                    stored = Some(receive(upload, &mut field).await?);
                }
                Some("file") => {
                    return Err(Fault::invalid("the form has more than one file")
                        .hint("propose one document at a time"));
                }
                Some(name @ ("title" | "source_url" | "source_type")) => {
                    let name = name.to_owned();
                    body[name.as_str()] = json!(plain(&name, &mut field).await?);
                }
                _ => {}
            }
        }
        Ok(())
    };
    let read: Result<(), Fault> = read.await;
    let fault = match (read, stored) {
        (Ok(()), Some(id)) => {
            body["upload"] = json!(id);
            return Ok(body);
        }
        (Ok(()), None) => Fault::invalid("the form has no field \"file\""),
        (Err(fault), _) => fault,
    };
    if let Some(id) = stored {
        files.discard(tenant_id, id).await;
    }
    Err(fault)
}

async fn receive(mut upload: Upload, field: &mut Field<'_>) -> Result<Uuid, Fault> {
    loop {
        let chunk = match field.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return upload.finish().await.map_err(|e| bus_fault(&e)),
            Err(e) => {
                upload.abort().await;
                return Err(broken(&e));
            }
        };
        if upload.size() + chunk.len() as u64 > MAX_DOCUMENT_BYTES as u64 {
            upload.abort().await;
            let mut discarded = 0;
            while let Ok(Some(more)) = field.chunk().await {
                discarded += more.len();
                if discarded > DISCARDED {
                    break;
                }
            }
            return Err(too_large());
        }
        if let Err(e) = upload.write(&chunk).await {
            upload.abort().await;
            return Err(bus_fault(&e));
        }
    }
}

async fn plain(name: &str, field: &mut Field<'_>) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(|e| broken(&e))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > FIELD {
            return Err(Fault::invalid(format!(
                "{name} has more than {FIELD} bytes"
            )));
        }
    }
    String::from_utf8(bytes).map_err(|_| Fault::invalid(format!("{name} is not UTF-8")))
}

/// A file of the object store as the answer to a download.
pub(crate) async fn download(
    gw: &Gateway,
    tenant_id: Uuid,
    file: FileRef,
) -> Result<Response, Fault> {
    let (size, bytes) = files(gw)?
        .stream(tenant_id, file.id)
        .await
        .map_err(|e| bus_fault(&e))?;
    let mut response = Response::new(Body::from_stream(
        bytes.map_err(|e: BusError| std::io::Error::other(e.to_string())),
    ));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    let kind = HeaderValue::from_str(&file.content_type);
    headers.insert(
        header::CONTENT_TYPE,
        kind.unwrap_or(HeaderValue::from_static("application/octet-stream")),
    );
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(size));
    if let Ok(value) = HeaderValue::from_str(&disposition(&file.filename)) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// The name twice: in ASCII for everybody, and as it is for those who read RFC 6266.
fn disposition(filename: &str) -> String {
    let ascii: String = filename
        .chars()
        .map(|c| match c {
            ' ' => ' ',
            c if c.is_ascii_graphic() && c != '"' && c != '\\' => c,
            _ => '-',
        })
        .collect();
    let mut encoded = String::new();
    for byte in filename.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{encoded}")
}

async fn begin(files: &Files, tenant_id: Uuid) -> Result<Upload, Fault> {
    files.upload(tenant_id).await.map_err(|e| bus_fault(&e))
}

fn files(gw: &Gateway) -> Result<Files, Fault> {
    gw.bus.files().ok_or_else(|| {
        Fault::new(
            Code::Unavailable,
            "there is no object store to keep documents in",
        )
        .hint("set QADRA_OBJECT_STORE")
    })
}

fn too_large() -> Fault {
    Fault::new(Code::DocumentTooLarge, "the document has more than 64 MiB")
}

fn broken(e: &multer::Error) -> Fault {
    tracing::debug!(error = %e, "a form did not arrive whole");
    Fault::new(
        Code::MalformedRequest,
        "the form did not arrive whole, or is not one",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        let odd = disposition("a\"b\r\nX: y/ü.pdf");
        assert_eq!(
            odd,
            "attachment; filename=\"a-b--X: y/-.pdf\"; filename*=UTF-8''a%22b%0D%0AX%3A%20y%2F%C3%BC.pdf"
        );
        assert!(HeaderValue::from_str(&odd).is_ok());
    }
}
