use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::messages::{OBJECT, OBJECT_LENGTH, OBJECT_SHA256};
use crate::{BusError, Files, Headers, Message};

/// The store through which payloads over the transport's limit travel, as `bus/{uuid}`.
///
/// A payload is deleted by the requester once it has its reply; what nobody deletes goes with
/// [`Objects::sweep`].
#[derive(Debug, Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
}

impl Objects {
    /// The largest payload that a reference may announce, in bytes.
    pub const LARGEST: usize = 64 << 20;
    /// The age after which a payload cannot have a reader any more.
    pub const MAX_AGE: Duration = Duration::from_secs(3_600);

    const FOLDER: &str = "bus";

    /// Keeps payloads in any store; gateway and core must be given the same one.
    pub fn new(store: Arc<dyn ObjectStore>) -> Arc<Self> {
        Arc::new(Self { store })
    }

    /// Keeps payloads under `dir`, which is made if need be.
    pub fn local(dir: &Path) -> Result<Arc<Self>, BusError> {
        let doing = || format!("cannot use {} for large payloads", dir.display());
        std::fs::create_dir_all(dir).map_err(|e| BusError::object_store(doing(), e))?;
        let store = LocalFileSystem::new_with_prefix(dir)
            .map_err(|e| BusError::object_store(doing(), e))?;
        Ok(Self::new(Arc::new(store)))
    }

    /// Files of tenants in the same store.
    pub fn files(&self) -> Files {
        Files::new(self.store.clone())
    }

    /// Deletes payloads older than `age` and returns how many; call it now and then with [`Objects::MAX_AGE`].
    pub async fn sweep(&self, age: Duration) -> Result<usize, BusError> {
        let failed = |e| BusError::object_store("cannot sweep large payloads", e);
        let mut listed = self.store.list(Some(&ObjectPath::from(Self::FOLDER)));
        let mut deleted = 0;
        while let Some(object) = listed.try_next().await.map_err(failed)? {
            let written = std::time::SystemTime::from(object.last_modified);
            // A clock that runs behind makes an object look newer than now: not old.
            if written.elapsed().is_ok_and(|elapsed| elapsed >= age) {
                match self.store.delete(&object.location).await {
                    Ok(()) => deleted += 1,
                    // Its reader was faster.
                    Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(failed(error)),
                }
            }
        }
        Ok(deleted)
    }

    pub(crate) fn is_reference(message: &Message) -> bool {
        message.headers.get(OBJECT).is_some()
    }

    /// The path under which a message refers to its payload, if it does so in the one valid form.
    pub(crate) fn path_of(headers: &Headers) -> Option<ObjectPath> {
        headers.get(OBJECT).and_then(valid_path)
    }

    /// Stores the payload and returns the headers that refer to it.
    pub(crate) async fn put(
        &self,
        mut headers: Headers,
        payload: Bytes,
    ) -> Result<(Headers, ObjectPath), BusError> {
        // A random id: whoever sees one reference cannot guess another.
        let name = format!("{}/{}", Self::FOLDER, Uuid::new_v4());
        let path = ObjectPath::from(name.as_str());
        headers.set(OBJECT, &name)?;
        headers.set(OBJECT_LENGTH, &payload.len().to_string())?;
        headers.set(OBJECT_SHA256, &sha256(payload.clone()).await?)?;
        self.store
            .put(&path, payload.into())
            .await
            .map_err(|e| BusError::object_store(format!("cannot store the payload {name}"), e))?;
        Ok((headers, path))
    }

    /// Replaces a reference by the payload it stands for; other messages pass unchanged.
    pub(crate) async fn resolve(
        objects: Option<Arc<Self>>,
        mut message: Message,
    ) -> Result<Message, BusError> {
        if Self::is_reference(&message) {
            let reference = Reference::read(&message)?;
            let objects = objects.ok_or_else(|| {
                BusError::object("a payload came by reference, but no object store is configured to read it from")
            })?;
            message.payload = objects.fetch(&reference).await?;
            message.headers.remove_reserved();
        }
        Ok(message)
    }

    /// Deletes in the background: the caller has its reply and need not wait.
    pub(crate) fn forget(self: &Arc<Self>, path: ObjectPath) {
        let objects = self.clone();
        tokio::spawn(async move {
            match objects.store.delete(&path).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => {
                    tracing::warn!(%error, %path, "large payload not deleted, the sweep will try again")
                }
            }
        });
    }

    async fn fetch(&self, reference: &Reference) -> Result<Bytes, BusError> {
        let Reference {
            path,
            length,
            sha256: announced,
        } = reference;
        let failed = |e| BusError::object_store(format!("cannot read the payload {path}"), e);
        let object = self.store.get(path).await.map_err(failed)?;
        // Asked before reading: a false announcement must not make us hold more than it says.
        if object.meta.size != *length as u64 {
            return Err(BusError::object(format!(
                "the payload {path} has not the announced length"
            )));
        }
        let payload = object.bytes().await.map_err(failed)?;
        match sha256(payload.clone()).await? == *announced {
            true => Ok(payload),
            false => Err(BusError::object(format!(
                "the payload {path} has not the announced hash"
            ))),
        }
    }
}

/// What the headers of a message say about its payload elsewhere. They may come from anybody.
struct Reference {
    path: ObjectPath,
    length: usize,
    sha256: String,
}

impl Reference {
    fn read(message: &Message) -> Result<Self, BusError> {
        let bad = |what: &str| {
            BusError::object(format!("the reference to a payload is not valid: {what}"))
        };
        let get = |name| message.headers.get(name).unwrap_or_default();
        if !message.payload.is_empty() {
            return Err(bad("there is a payload beside it"));
        }
        let path = valid_path(get(OBJECT)).ok_or_else(|| bad("its path"))?;
        let digits = get(OBJECT_LENGTH);
        let length = digits
            .parse()
            .ok()
            .filter(|length| {
                *length <= Objects::LARGEST && digits.bytes().all(|b| b.is_ascii_digit())
            })
            .ok_or_else(|| bad("its length"))?;
        let sha256 = get(OBJECT_SHA256);
        if sha256.len() != 64
            || !sha256
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        {
            return Err(bad("its hash"));
        }
        Ok(Self {
            path,
            length,
            sha256: sha256.to_owned(),
        })
    }
}

fn valid_path(text: &str) -> Option<ObjectPath> {
    let id = text.strip_prefix("bus/")?;
    let uuid = Uuid::try_parse(id).ok()?;
    (uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == id)
        .then(|| ObjectPath::from(text))
}

/// Off the async threads: 64 MiB take a good fraction of a second.
async fn sha256(payload: Bytes) -> Result<String, BusError> {
    tokio::task::spawn_blocking(move || {
        Sha256::digest(&payload)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    })
    .await
    .map_err(|e| BusError::object_store("cannot hash a payload", e))
}

/// What leaves through a transport: the message itself, or a reference to it.
pub(crate) struct Outgoing {
    pub(crate) headers: Headers,
    pub(crate) payload: Bytes,
    /// Where the payload was put, if it was.
    pub(crate) stored: Option<ObjectPath>,
}

impl Outgoing {
    /// Decides by the transport's limit on headers and payload together.
    pub(crate) async fn new(
        objects: Option<&Arc<Objects>>,
        limit: Option<usize>,
        subject: &str,
        headers: Headers,
        payload: Bytes,
    ) -> Result<Self, BusError> {
        let size = headers.wire_len() + payload.len();
        let Some(limit) = limit.filter(|limit| size > *limit) else {
            return Ok(Self {
                headers,
                payload,
                stored: None,
            });
        };
        let too_large = |size, limit| BusError::TooLarge {
            subject: subject.to_owned(),
            size,
            limit,
        };
        let Some(objects) = objects else {
            return Err(too_large(size, limit));
        };
        if payload.len() > Objects::LARGEST {
            return Err(too_large(payload.len(), Objects::LARGEST));
        }
        let (headers, path) = objects.put(headers, payload).await?;
        if headers.wire_len() > limit {
            objects.forget(path);
            return Err(too_large(headers.wire_len(), limit));
        }
        Ok(Self {
            headers,
            payload: Bytes::new(),
            stored: Some(path),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(lines: [&str; 3], payload: &'static [u8]) -> Message {
        let mut headers = Headers::new();
        for (name, value) in [OBJECT, OBJECT_LENGTH, OBJECT_SHA256]
            .into_iter()
            .zip(lines)
        {
            headers.set(name, value).unwrap();
        }
        Message {
            subject: "a".into(),
            headers,
            payload: Bytes::from_static(payload),
            reply: None,
        }
    }

    #[test]
    fn only_the_one_form_of_a_reference_is_read() {
        const PATH: &str = "bus/6f1c2d6e-8a52-4b7e-9a58-2f0a6b9f8b11";
        let hash = "0123456789abcdef".repeat(4);
        assert!(Reference::read(&message([PATH, "5", &hash], b"")).is_ok());
        assert!(Reference::read(&message([PATH, "67108864", &hash], b"")).is_ok());
        for (path, length, sha256, payload) in [
            (PATH, "5", hash.as_str(), &b"x"[..]),
            (PATH, "67108865", &hash, b""),
            (PATH, "-5", &hash, b""),
            (PATH, "+5", &hash, b""),
            (PATH, "", &hash, b""),
            (PATH, "99999999999999999999999", &hash, b""),
            (PATH, "5", "", b""),
            (PATH, "5", &hash.to_uppercase(), b""),
            ("bus/../secrets", "5", &hash, b""),
            ("bus/6F1C2D6E-8A52-4B7E-9A58-2F0A6B9F8B11", "5", &hash, b""),
            ("bus/6f1c2d6e8a524b7e9a582f0a6b9f8b11", "5", &hash, b""),
            (
                "bus/{6f1c2d6e-8a52-4b7e-9a58-2f0a6b9f8b11}",
                "5",
                &hash,
                b"",
            ),
            (
                "files/6f1c2d6e-8a52-4b7e-9a58-2f0a6b9f8b11",
                "5",
                &hash,
                b"",
            ),
            ("/bus/6f1c2d6e-8a52-4b7e-9a58-2f0a6b9f8b11", "5", &hash, b""),
            (
                "bus/6f1c2d6e-8a52-4b7e-9a58-2f0a6b9f8b11/x",
                "5",
                &hash,
                b"",
            ),
        ] {
            assert!(
                Reference::read(&message([path, length, sha256], payload)).is_err(),
                "{path} {length} {sha256}"
            );
        }
    }
}
