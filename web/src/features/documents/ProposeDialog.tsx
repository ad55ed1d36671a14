import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check, CircleAlert, RotateCw, Upload as UploadIcon, X } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useNavigate } from "react-router";
import { documents } from "../../api/documents";
import { ApiError, asApiError } from "../../api/error";
import type { NewDocument } from "../../api/knowledge-types";
import { uploadDocument } from "../../api/upload";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button, IconButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field, Input, Textarea } from "../../ui/Field";
import { Progress } from "../../ui/Progress";
import { Segments } from "../../ui/Segments";
import { Select } from "../../ui/Select";
import { RequestId, sentence } from "../../ui/states";
import { toast } from "../../ui/Toast";
import { MAX_BYTES, type Upload, UploadQueue } from "./model/uploads";
import { sizeText } from "./status";

const ACCEPT = ".txt,.md,.markdown,.html,.htm,.pdf,.docx,text/plain,text/markdown,text/html,application/pdf";

export function ProposeDialog({
  open,
  files,
  onClose,
}: {
  open: boolean;
  files: File[];
  onClose: () => void;
}) {
  return (
    <Dialog open={open} onClose={onClose} title={t.documents.propose} size="l">
      <Body files={files} onClose={onClose} />
    </Dialog>
  );
}

function Body({ files, onClose }: { files: File[]; onClose: () => void }) {
  const [how, setHow] = useState<"files" | "paste">("files");
  return (
    <>
      <Segments
        label={t.documents.how}
        value={how}
        options={(["files", "paste"] as const).map((value) => ({ value, label: t.documents[value] }))}
        onChange={setHow}
      />
      {how === "files" ? <Files files={files} onClose={onClose} /> : <Paste onClose={onClose} />}
    </>
  );
}

function refuse(file: File): ApiError | null {
  const detail = file.size > MAX_BYTES ? t.documents.tooBig : file.size === 0 ? t.documents.emptyFile : null;
  return detail === null ? null : new ApiError({ status: 413, code: "DOCUMENT_TOO_LARGE", detail });
}

function Files({ files, onClose }: { files: File[]; onClose: () => void }) {
  const client = useQueryClient();
  const field = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [queue] = useState(
    () =>
      new UploadQueue(
        uploadDocument,
        refuse,
        () => void client.invalidateQueries({ queryKey: keys.documents }),
      ),
  );
  const uploads = useSyncExternalStore(queue.subscribe, queue.list);
  const given = useRef(false);
  useEffect(() => {
    // Files that were dropped on the page behind; once, also when effects run twice.
    if (given.current) return;
    given.current = true;
    if (files.length > 0) queue.add(files);
  }, [files, queue]);
  useEffect(() => () => queue.cancelAll(), [queue]);
  const done = uploads.filter((one) => one.state === "done").length;
  const going = uploads.some((one) => ["waiting", "sending", "reading"].includes(one.state));
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is the mouse's way; the button inside does the same */}
      <div
        className="drop-zone"
        data-over={over}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          queue.add(event.dataTransfer.files);
        }}
      >
        <UploadIcon size={20} aria-hidden />
        <strong>{t.documents.dropHere}</strong>
        <span className="muted small">{t.documents.dropHint}</span>
        <Button onClick={() => field.current?.click()}>{t.documents.choose}</Button>
        <input
          ref={field}
          type="file"
          multiple
          hidden
          accept={ACCEPT}
          onChange={(event) => {
            queue.add(event.target.files ?? []);
            event.target.value = "";
          }}
        />
      </div>
      {uploads.length > 0 ? (
        <ul className="uploads" aria-label={t.documents.files}>
          {uploads.map((one) => (
            <UploadRow
              key={one.id}
              upload={one}
              onCancel={() => queue.cancel(one.id)}
              onRetry={() => queue.retry(one.id)}
              onOpened={onClose}
            />
          ))}
        </ul>
      ) : null}
      <p className="sr-only" role="status">
        {done > 0 ? t.documents.added(done) : ""}
      </p>
      <div className="dialog-foot">
        <Button kind={done > 0 && !going ? "primary" : "default"} onClick={onClose}>
          {done > 0 && !going ? t.documents.done : t.common.cancel}
        </Button>
      </div>
    </>
  );
}

function UploadRow({
  upload,
  onCancel,
  onRetry,
  onOpened,
}: {
  upload: Upload;
  onCancel: () => void;
  onRetry: () => void;
  onOpened: () => void;
}) {
  const navigate = useNavigate();
  const { state, file, doc } = upload;
  const going = state === "waiting" || state === "sending" || state === "reading";
  const error = state === "failed" ? asApiError(upload.error) : null;
  return (
    <li className="upload">
      <div className="grow">
        <div className="row">
          <span className="truncate grow" title={file.name}>
            {file.name}
          </span>
          <span className="muted small no-wrap">{sizeText(file.size)}</span>
          <span className="small no-wrap upload-state" data-state={state}>
            {state === "done" ? <Check size={14} aria-hidden /> : null}
            {state === "failed" ? <CircleAlert size={14} aria-hidden /> : null}
            {state === "sending" ? `${Math.round(upload.sent * 100)}%` : t.documents.uploadState[state]}
          </span>
        </div>
        {going ? (
          <Progress
            label={t.documents.progressOf(file.name)}
            value={state === "reading" ? null : upload.sent}
          />
        ) : null}
        {error ? (
          <div className="field-error" role="alert">
            {sentence(error.detail)} {error.hint ? sentence(error.hint) : null}
            {error.requestId ? <RequestId id={error.requestId} /> : null}
          </div>
        ) : null}
      </div>
      {going ? (
        <IconButton size="s" label={t.documents.cancelUpload} icon={<X size={14} />} onClick={onCancel} />
      ) : null}
      {state === "failed" || state === "cancelled" ? (
        <IconButton
          size="s"
          label={t.documents.retryUpload}
          icon={<RotateCw size={14} />}
          onClick={onRetry}
        />
      ) : null}
      {doc ? (
        <Button
          size="s"
          kind="ghost"
          onClick={() => {
            onOpened();
            navigate(`/documents/${doc.id}`);
          }}
        >
          {t.documents.open}
        </Button>
      ) : null}
    </li>
  );
}

type Format = keyof typeof t.documents.formats;

function Paste({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const [content, setContent] = useState("");
  const [url, setUrl] = useState("");
  const [format, setFormat] = useState<Format>("text/plain");
  const [missing, setMissing] = useState(false);
  const add = useMutation({
    mutationFn: (body: NewDocument) => documents.create(body),
    onSuccess: (doc) => {
      void client.invalidateQueries({ queryKey: keys.documents });
      toast({ text: t.documents.added(1) });
      navigate(`/documents/${doc.id}`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (content.trim() === "") {
      setMissing(true);
      return;
    }
    add.mutate({
      content,
      content_type: format,
      ...(title.trim() === "" ? {} : { title: title.trim() }),
      ...(url.trim() === "" ? {} : { source_url: url.trim() }),
    });
  };
  const error = add.isError ? asApiError(add.error) : null;
  return (
    <form className="stack" onSubmit={submit}>
      <Field label={t.documents.name} optional>
        <Input
          value={title}
          maxLength={300}
          placeholder={t.documents.nameEx}
          onChange={(event) => setTitle(event.target.value)}
        />
      </Field>
      <Field label={t.documents.text} error={missing ? t.documents.textMissing : null}>
        <Textarea
          rows={8}
          value={content}
          placeholder={t.documents.textEx}
          onChange={(event) => {
            setContent(event.target.value);
            setMissing(false);
          }}
        />
      </Field>
      <div className="two-columns">
        <Field label={t.documents.format}>
          <Select<Format>
            value={format}
            options={(Object.keys(t.documents.formats) as Format[]).map((value) => ({
              value,
              label: t.documents.formats[value],
            }))}
            onChange={setFormat}
          />
        </Field>
        <Field label={t.documents.url} optional>
          <Input
            type="url"
            value={url}
            placeholder={t.documents.urlEx}
            onChange={(event) => setUrl(event.target.value)}
          />
        </Field>
      </div>
      {error ? (
        <div className="notice" data-tone="danger" role="alert">
          <div className="grow">
            {sentence(error.detail)} {error.hint ? sentence(error.hint) : null}
            {error.requestId ? <RequestId id={error.requestId} /> : null}
          </div>
        </div>
      ) : null}
      <div className="dialog-foot">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button kind="primary" type="submit" disabled={add.isPending}>
          {t.documents.add}
        </Button>
      </div>
    </form>
  );
}
