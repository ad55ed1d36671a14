/// One setting: an environment variable, or the same name without `QADRA_` in lower case in `qadra.toml`.
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    /// What holds when it is not set; empty for none.
    pub(crate) default: &'static str,
    pub(crate) secret: bool,
    pub(crate) about: &'static str,
}

const fn plain(key: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting {
        key,
        default,
        secret: false,
        about,
    }
}

const fn secret(key: &'static str, about: &'static str) -> Setting {
    Setting {
        key,
        default: "",
        secret: true,
        about,
    }
}

/// Every setting, in the order in which `--print-config` shows them.
pub(crate) const SETTINGS: &[Setting] = &[
    plain(
        "QADRA_DATA_DIR",
        "",
        "where everything is kept; /var/lib/qadra as root, ~/.local/share/qadra otherwise",
    ),
    plain(
        "QADRA_LISTEN",
        "127.0.0.1:8520",
        "address and port of the HTTP side",
    ),
    plain(
        "QADRA_BEHIND_PROXY",
        "false",
        "true when a reverse proxy of yours is the only client: sign-in limits then go by X-Forwarded-For",
    ),
    plain(
        "QADRA_PUBLIC_URL",
        "",
        "address under which people reach it, for links in mails",
    ),
    secret(
        "QADRA_DATABASE_URL",
        "PostgreSQL to use instead of the private one",
    ),
    plain(
        "QADRA_DATABASE_CONNECTIONS",
        "32",
        "most connections of one process to PostgreSQL",
    ),
    secret(
        "QADRA_NATS_URL",
        "NATS to use instead of the in-process bus",
    ),
    plain(
        "QADRA_OBJECT_STORE",
        "",
        "file:///DIR for files and large messages; objects/ in the data directory if empty",
    ),
    secret(
        "QADRA_JWT_SECRET",
        "signs access tokens, 32 bytes or more; made and kept in the data directory by `up`",
    ),
    plain(
        "QADRA_ACCESS_TOKEN_SECONDS",
        "900",
        "life of an access token",
    ),
    plain(
        "QADRA_REFRESH_TOKEN_DAYS",
        "30",
        "life of a session that is not used",
    ),
    plain(
        "QADRA_LLM_PROVIDER",
        "",
        "builtin, openai, anthropic or ollama; guessed from the key or address if empty",
    ),
    plain(
        "QADRA_LLM_BASE_URL",
        "",
        "address of the model provider, such as http://localhost:8000/v1",
    ),
    secret("QADRA_LLM_API_KEY", "key of the model provider"),
    plain("QADRA_LLM_MODEL", "", "model when an agent names none"),
    plain(
        "QADRA_LLM_ATTEMPTS",
        "3",
        "tries of a model call before its first token",
    ),
    plain(
        "QADRA_LLM_FIRST_BYTE_SECONDS",
        "120",
        "longest wait for the start of an answer",
    ),
    plain(
        "QADRA_LLM_IDLE_SECONDS",
        "60",
        "longest pause inside an answer",
    ),
    plain(
        "QADRA_EMBEDDING_MODEL",
        "",
        "model that embeds passages and questions; passages are found by words alone if empty",
    ),
    plain(
        "QADRA_EMBEDDING_BASE_URL",
        "",
        "OpenAI-compatible address for embeddings; that of the model provider if empty",
    ),
    plain(
        "QADRA_DOCUMENT_WORKERS",
        "2",
        "documents that one process works on at once",
    ),
    plain(
        "QADRA_DOCUMENT_MODEL_PASSAGES",
        "200",
        "passages of one document that a model is asked to read for statements; 0 for none",
    ),
    plain(
        "QADRA_HISTORY_MESSAGES",
        "50",
        "messages of a thread that a model is given",
    ),
    plain(
        "QADRA_CONTEXT_TOKENS",
        "32000",
        "estimated tokens of a prompt; the oldest messages are left out first",
    ),
    plain("QADRA_TOOL_CALLS", "8", "most tool calls in one turn"),
    plain("QADRA_TURN_SECONDS", "240", "longest turn"),
    secret("QADRA_SMTP_URL", "mail server, used once mails are sent"),
    plain(
        "QADRA_HTTP_ALLOW",
        "",
        "internal hosts and networks that flows may reach",
    ),
    plain(
        "QADRA_FLOW_LEASE_SECONDS",
        "10",
        "how long a worker may be silent before others take over its flow executions",
    ),
    plain(
        "QADRA_FLOW_PARALLEL",
        "256",
        "most flow nodes of one worker that act at the same time",
    ),
    plain(
        "QADRA_FLOW_TENANT_PARALLEL",
        "64",
        "the same for one tenant",
    ),
    plain(
        "QADRA_FLOW_TENANT_RUNS",
        "100",
        "most flow executions of one tenant at work, over all workers",
    ),
    plain(
        "QADRA_FLOW_STEPS",
        "10000",
        "most nodes that one flow execution may start",
    ),
    plain(
        "QADRA_SEARCH_PROVIDER",
        "",
        "searxng or exa: the service that Research nodes ask",
    ),
    plain("QADRA_SEARCH_URL", "", "address of the search service"),
    secret("QADRA_SEARCH_API_KEY", "key of the search service"),
    plain(
        "QADRA_LOG",
        "info",
        "what is logged, such as info or qadra_app=debug,info",
    ),
    plain("QADRA_LOG_FORMAT", "text", "text or json"),
];
