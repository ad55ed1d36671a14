-- Documents: proposed by anybody, let in by a person, and then a source of statements and passages. A tenant has
-- thousands of them, with some hundred chunks and statements each; deleting one takes all of it with it.
CREATE TABLE documents (
    tenant_id          uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id                 uuid NOT NULL,
    title              text NOT NULL,
    content_type       text NOT NULL,
    source_url         text,
    source_type        text NOT NULL CHECK (source_type IN ('upload', 'web', 'api', 'research', 'agent')),
    filename           text,
    size_bytes         bigint NOT NULL CHECK (size_bytes >= 0),
    char_count         bigint,
    -- Which transition leads where is in qadra-app (documents/lifecycle.rs); each is a compare-and-set on this column.
    status             text NOT NULL DEFAULT 'pending_approval' CHECK (status IN
        ('pending_approval', 'approved', 'processing', 'completed', 'failed', 'rejected', 'withdrawn')),
    result             jsonb,
    progress           jsonb,
    -- What approval would add, found out when it is proposed.
    analysis_status    text NOT NULL DEFAULT 'pending' CHECK (analysis_status IN ('pending', 'running', 'done', 'failed')),
    analysis_error     jsonb,
    analysis           jsonb NOT NULL DEFAULT '{}',
    proposed_by        uuid NOT NULL,
    proposed_by_agent  uuid,
    approved_by        uuid,
    approved_at        timestamptz,
    approval_note      text,
    rejected_by        uuid,
    rejected_at        timestamptz,
    rejection_reason   text,
    withdrawn_by       uuid,
    withdrawn_at       timestamptz,
    withdrawal_reason  text,
    attempts           integer NOT NULL DEFAULT 0,
    -- Grows with every change that readers of the event stream are told of.
    seq                integer NOT NULL DEFAULT 0,
    created_at         timestamptz NOT NULL DEFAULT now(),
    processed_at       timestamptz,
    deleted_at         timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX documents_newest ON documents (tenant_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX documents_status ON documents (tenant_id, status, created_at DESC) WHERE deleted_at IS NULL;

-- The text in parts of 100,000 characters (code points), so that a page of a long one reads a page and not the whole.
CREATE TABLE document_texts (
    tenant_id    uuid NOT NULL,
    document_id  uuid NOT NULL,
    part         integer NOT NULL CHECK (part >= 0),
    content      text NOT NULL,
    PRIMARY KEY (tenant_id, document_id, part),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);

-- Passages. Spans are code points of the document's text. The embedding has length 1, so that the inner product of
-- two of them is their cosine; real[] rather than a type of an extension that the server may not have.
CREATE TABLE document_chunks (
    tenant_id        uuid NOT NULL,
    id               uuid NOT NULL,
    document_id      uuid NOT NULL,
    position         integer NOT NULL,
    span_start       integer NOT NULL,
    span_end         integer NOT NULL,
    heading          text,
    content          text NOT NULL,
    words            tsvector NOT NULL GENERATED ALWAYS AS
                         (to_tsvector('english', coalesce(heading, '') || ' ' || left(content, 50000))) STORED,
    embedding        real[],
    embedding_model  text,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, document_id, position),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX document_chunks_words ON document_chunks USING gin (tenant_id, words);
CREATE INDEX document_chunks_embedded ON document_chunks (tenant_id, embedding_model) WHERE embedding IS NOT NULL;

-- What the document states, as extraction read it and as it compared with the graph when it was proposed. Processing
-- reads these again instead of extracting twice: what was approved is what is added.
CREATE TABLE document_findings (
    tenant_id    uuid NOT NULL,
    document_id  uuid NOT NULL,
    position     integer NOT NULL,
    subject      text NOT NULL,
    predicate    text NOT NULL,
    object       jsonb NOT NULL,
    polarity     boolean NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('fact', 'claim')),
    confidence   real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    valid_from   date,
    valid_to     date,
    span_start   integer NOT NULL,
    span_end     integer NOT NULL,
    sentence     text NOT NULL,
    chunk_position integer,
    found_by     text NOT NULL CHECK (found_by IN ('rules', 'model')),
    status       text NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'known', 'conflict')),
    conflicts    jsonb NOT NULL DEFAULT '[]',
    PRIMARY KEY (tenant_id, document_id, position),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);

-- Which statement stands on which sentence. Several sentences, of several documents, may carry one statement.
CREATE TABLE document_triples (
    tenant_id    uuid NOT NULL,
    document_id  uuid NOT NULL,
    position     integer NOT NULL,     -- of the finding
    triple_id    uuid NOT NULL,
    chunk_id     uuid,
    span_start   integer NOT NULL,
    span_end     integer NOT NULL,
    sentence     text NOT NULL,
    -- The statement was not there before this document said it.
    added        boolean NOT NULL,
    -- False once the document is withdrawn: the row stays as history and carries nothing any more.
    active       boolean NOT NULL DEFAULT true,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, document_id, position),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, triple_id) REFERENCES kg_triples (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, chunk_id) REFERENCES document_chunks (tenant_id, id) ON DELETE SET NULL (chunk_id)
);
CREATE INDEX document_triples_triple ON document_triples (tenant_id, triple_id);
CREATE INDEX document_triples_chunk ON document_triples (tenant_id, chunk_id) WHERE chunk_id IS NOT NULL;

-- True when somebody said so directly, whatever documents say. A statement that is not stated lives as long as a
-- document carries it.
ALTER TABLE kg_triples ADD COLUMN stated boolean NOT NULL DEFAULT true;

-- Work that is to be done, at most one piece for a document. Its owner is the process that does it, by the advisory
-- lock that the process holds while it lives; `claim` is new with each taking, so that a process that was thought
-- dead writes nothing. Gone when done.
CREATE TABLE document_jobs (
    tenant_id    uuid NOT NULL,
    document_id  uuid NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('analyze', 'process')),
    attempts     integer NOT NULL DEFAULT 0,
    owner_lock   bigint,
    claim        uuid,
    claimed_at   timestamptz,
    not_before   timestamptz NOT NULL DEFAULT now(),
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, document_id),
    CHECK ((owner_lock IS NULL) = (claim IS NULL)),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX document_jobs_waiting ON document_jobs (not_before) WHERE owner_lock IS NULL;
CREATE INDEX document_jobs_owned ON document_jobs (owner_lock) WHERE owner_lock IS NOT NULL;

-- When a tenant's work was last taken up, so that tenants take turns however much one of them has waiting.
CREATE TABLE document_turns (
    tenant_id  uuid PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
    served_at  timestamptz NOT NULL
);

ALTER TABLE documents         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE document_texts    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE document_chunks   ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE document_findings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE document_triples  ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE document_jobs     ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE document_turns    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON documents         TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON document_texts    TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON document_chunks   TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON document_findings TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON document_triples  TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON document_jobs     TO qadra_app USING (tenant_id = (SELECT current_tenant()));

GRANT SELECT, INSERT, UPDATE ON documents, document_triples TO qadra_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON document_chunks, document_findings, document_jobs TO qadra_app;
GRANT SELECT, INSERT, DELETE ON document_texts TO qadra_app;

-- Housekeeping hands the work of all tenants out in fair turns; it sees that there is work, and no document.
CREATE POLICY work ON document_jobs  TO qadra_system USING (acting_as('qadra_system'));
CREATE POLICY work ON document_turns TO qadra_system USING (acting_as('qadra_system'));
GRANT SELECT, UPDATE (attempts, owner_lock, claim, claimed_at, not_before) ON document_jobs TO qadra_system;
GRANT SELECT, INSERT, UPDATE ON document_turns TO qadra_system;

-- Full-text search: see 0003 for why it is a function with its owner's rights. Only passages of documents that a
-- person has let in are found.
CREATE POLICY search ON document_chunks TO qadra_search USING (acting_as('qadra_search'));
CREATE POLICY search ON documents       TO qadra_search USING (acting_as('qadra_search'));
GRANT SELECT (tenant_id, id, document_id, heading, content, words) ON document_chunks TO qadra_search;
GRANT SELECT (tenant_id, id, status, deleted_at) ON documents TO qadra_search;

-- With `every_word` the words mean what they mean to a web search engine; otherwise any of them will do, and the rank
-- tells how well.
CREATE FUNCTION search_chunks(words text, every_word boolean, most integer)
    RETURNS TABLE (chunk_id uuid, score real, snippet text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
    WITH q AS (
        SELECT CASE WHEN every_word THEN websearch_to_tsquery('english', $1)
                    ELSE replace(plainto_tsquery('english', $1)::text, ' & ', ' | ')::tsquery END AS query
    ),
    hits AS (
        SELECT c.id, c.content, ts_rank_cd(c.words, q.query, 1) AS rank
        FROM q, document_chunks c
        JOIN documents d ON d.tenant_id = c.tenant_id AND d.id = c.document_id
        WHERE c.tenant_id = current_tenant() AND d.status = 'completed' AND d.deleted_at IS NULL
          AND c.words @@ q.query
        LIMIT 20000
    ),
    best AS (SELECT * FROM hits ORDER BY rank DESC, id LIMIT least(greatest(most, 0), 200))
    SELECT b.id, b.rank::real,
           ts_headline('english', left(b.content, 50000), q.query,
                       'MaxFragments=1, MaxWords=40, MinWords=15, StartSel="", StopSel=""')
    FROM best b, q ORDER BY b.rank DESC, b.id
$$;
GRANT CREATE ON SCHEMA public TO qadra_search;
ALTER FUNCTION search_chunks(text, boolean, integer) OWNER TO qadra_search;
REVOKE CREATE ON SCHEMA public FROM qadra_search;
REVOKE ALL ON FUNCTION search_chunks(text, boolean, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_chunks(text, boolean, integer) TO qadra_app;
