use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt;
use futures::stream::BoxStream;
use object_store::path::Path as ObjectPath;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use uuid::Uuid;

use crate::BusError;

/// Files of tenants in the store that also carries large payloads: as `files/{tenant}/{id}` those that belong to
/// something, as `uploads/{tenant}/{id}` those that arrived and are not claimed yet.
///
/// Every path begins with the tenant that the caller was authenticated for, so an id of another tenant leads nowhere.
#[derive(Debug, Clone)]
pub struct Files {
    store: Arc<dyn ObjectStore>,
}

/// Bytes sent to the store at once; stores of the S3 kind take no smaller part than 5 MiB.
const PART: usize = 8 << 20;
const UPLOADS: &str = "uploads";
const KEPT: &str = "files";

impl Files {
    pub(crate) fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self { store }
    }

    /// Begins a file that arrives in pieces.
    pub async fn upload(&self, tenant_id: Uuid) -> Result<Upload, BusError> {
        let id = Uuid::new_v4();
        let parts = self
            .store
            .put_multipart(&path(UPLOADS, tenant_id, id))
            .await
            .map_err(|e| BusError::object_store("cannot begin a file", e))?;
        Ok(Upload {
            id,
            parts,
            waiting: Vec::new(),
            size: 0,
        })
    }

    /// Makes an upload belong to something: from now on it is the file of that id, and not swept.
    pub async fn claim(&self, tenant_id: Uuid, upload: Uuid, id: Uuid) -> Result<(), BusError> {
        self.store
            .rename(
                &path(UPLOADS, tenant_id, upload),
                &path(KEPT, tenant_id, id),
            )
            .await
            .map_err(|e| BusError::object_store("cannot claim an upload", e))
    }

    /// The first bytes of an upload, and its size; `None` when it is not there.
    pub async fn peek(
        &self,
        tenant_id: Uuid,
        upload: Uuid,
        bytes: u64,
    ) -> Result<Option<(Bytes, u64)>, BusError> {
        let failed = |e| BusError::object_store("cannot look at an upload", e);
        let path = path(UPLOADS, tenant_id, upload);
        let size = match self.store.head(&path).await {
            Ok(meta) => meta.size,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(e) => return Err(failed(e)),
        };
        if size == 0 {
            return Ok(Some((Bytes::new(), 0)));
        }
        let head = self
            .store
            .get_range(&path, 0..size.min(bytes))
            .await
            .map_err(failed)?;
        Ok(Some((head, size)))
    }

    /// Forgets an upload that nobody will claim.
    pub async fn discard(&self, tenant_id: Uuid, upload: Uuid) {
        self.remove_at(&path(UPLOADS, tenant_id, upload)).await;
    }

    pub async fn put(&self, tenant_id: Uuid, id: Uuid, bytes: Bytes) -> Result<(), BusError> {
        self.store
            .put(&path(KEPT, tenant_id, id), bytes.into())
            .await
            .map(|_| ())
            .map_err(|e| BusError::object_store("cannot store a file", e))
    }

    pub async fn get(&self, tenant_id: Uuid, id: Uuid) -> Result<Bytes, BusError> {
        let failed = |e| BusError::object_store("cannot read a file", e);
        let found = self
            .store
            .get(&path(KEPT, tenant_id, id))
            .await
            .map_err(failed)?;
        found.bytes().await.map_err(failed)
    }

    /// The file's size and its bytes as they are read.
    pub async fn stream(
        &self,
        tenant_id: Uuid,
        id: Uuid,
    ) -> Result<(u64, BoxStream<'static, Result<Bytes, BusError>>), BusError> {
        let failed = |e| BusError::object_store("cannot read a file", e);
        let found = self
            .store
            .get(&path(KEPT, tenant_id, id))
            .await
            .map_err(failed)?;
        let size = found.meta.size;
        Ok((size, Box::pin(found.into_stream().map_err(failed))))
    }

    /// A file that is gone already is no error; one that stays is told in the log.
    pub async fn remove(&self, tenant_id: Uuid, id: Uuid) {
        self.remove_at(&path(KEPT, tenant_id, id)).await;
    }

    async fn remove_at(&self, path: &ObjectPath) {
        match self.store.delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => tracing::warn!(%error, %path, "a file was not deleted"),
        }
    }

    /// Deletes uploads older than `age` that nobody claimed, and returns how many.
    pub async fn sweep(&self, age: Duration) -> Result<usize, BusError> {
        let failed = |e| BusError::object_store("cannot sweep uploads", e);
        let mut listed = self.store.list(Some(&ObjectPath::from(UPLOADS)));
        let mut deleted = 0;
        while let Some(object) = listed.try_next().await.map_err(failed)? {
            let written = std::time::SystemTime::from(object.last_modified);
            if written.elapsed().is_ok_and(|elapsed| elapsed >= age) {
                self.remove_at(&object.location).await;
                deleted += 1;
            }
        }
        Ok(deleted)
    }
}

/// A file that is arriving. Dropped unfinished, it leaves nothing that can be read.
pub struct Upload {
    pub id: Uuid,
    parts: Box<dyn MultipartUpload>,
    waiting: Vec<u8>,
    size: u64,
}

impl Upload {
    pub fn size(&self) -> u64 {
        self.size
    }

    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), BusError> {
        self.size += bytes.len() as u64;
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PART {
            self.flush().await?;
        }
        Ok(())
    }

    /// Makes it readable under its id.
    pub async fn finish(mut self) -> Result<Uuid, BusError> {
        if !self.waiting.is_empty() || self.size == 0 {
            self.flush().await?;
        }
        self.parts
            .complete()
            .await
            .map_err(|e| BusError::object_store("cannot finish a file", e))?;
        Ok(self.id)
    }

    pub async fn abort(mut self) {
        if let Err(error) = self.parts.abort().await {
            tracing::debug!(%error, "an upload could not be undone; the sweep will");
        }
    }

    async fn flush(&mut self) -> Result<(), BusError> {
        let part = std::mem::take(&mut self.waiting);
        self.parts
            .put_part(PutPayload::from(part))
            .await
            .map_err(|e| BusError::object_store("cannot store a part of a file", e))
    }
}

fn path(folder: &str, tenant_id: Uuid, id: Uuid) -> ObjectPath {
    ObjectPath::from(format!("{folder}/{tenant_id}/{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Objects;

    #[tokio::test]
    async fn an_upload_becomes_a_file_of_its_tenant_and_of_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let files = Objects::local(dir.path()).unwrap().files();
        let (mine, theirs, id) = (Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4());
        let mut upload = files.upload(mine).await.unwrap();
        upload.write(b"hello ").await.unwrap();
        upload.write(b"there").await.unwrap();
        assert_eq!(upload.size(), 11);
        let upload = upload.finish().await.unwrap();
        let (head, size) = files.peek(mine, upload, 5).await.unwrap().unwrap();
        assert_eq!((&head[..], size), (&b"hello"[..], 11));
        assert!(files.peek(theirs, upload, 5).await.unwrap().is_none());
        assert!(files.claim(theirs, upload, id).await.is_err());
        files.claim(mine, upload, id).await.unwrap();
        assert_eq!(&files.get(mine, id).await.unwrap()[..], b"hello there");
        assert!(files.get(theirs, id).await.is_err());
        assert!(files.peek(mine, upload, 5).await.unwrap().is_none());
        files.remove(mine, id).await;
        files.remove(mine, id).await;
        assert!(files.get(mine, id).await.is_err());
    }

    #[tokio::test]
    async fn an_empty_file_and_one_of_several_parts_arrive_whole() {
        let dir = tempfile::tempdir().unwrap();
        let files = Objects::local(dir.path()).unwrap().files();
        let tenant = Uuid::new_v4();
        let empty = files.upload(tenant).await.unwrap().finish().await.unwrap();
        assert_eq!(files.peek(tenant, empty, 9).await.unwrap().unwrap().1, 0);
        let mut upload = files.upload(tenant).await.unwrap();
        let piece = vec![7_u8; 3 << 20];
        for _ in 0..6 {
            upload.write(&piece).await.unwrap();
        }
        let upload = upload.finish().await.unwrap();
        let id = Uuid::new_v4();
        files.claim(tenant, upload, id).await.unwrap();
        let all = files.get(tenant, id).await.unwrap();
        assert_eq!(all.len(), 18 << 20);
        assert!(all.iter().all(|b| *b == 7));
    }

    #[tokio::test]
    async fn only_what_nobody_claimed_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let files = Objects::local(dir.path()).unwrap().files();
        let (tenant, id) = (Uuid::new_v4(), Uuid::new_v4());
        let left = files.upload(tenant).await.unwrap().finish().await.unwrap();
        files
            .put(tenant, id, Bytes::from_static(b"kept"))
            .await
            .unwrap();
        assert_eq!(files.sweep(Duration::from_secs(3_600)).await.unwrap(), 0);
        assert_eq!(files.sweep(Duration::ZERO).await.unwrap(), 1);
        assert!(files.peek(tenant, left, 1).await.unwrap().is_none());
        assert!(files.get(tenant, id).await.is_ok());
    }
}
