use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use qadra_llm::{Options, ProviderConfig, ProviderKind, Secret};
use qadra_reader::worker::{Reader, WorkerCommand};

use crate::settings::{SETTINGS, Setting};

/// All settings with where each comes from: command line over environment over `qadra.toml` over default.
pub(crate) struct Config {
    values: BTreeMap<&'static str, (String, String)>,
}

/// Variables of our tests and scripts, which a started server ignores.
const NOT_SETTINGS: [&str; 4] = [
    "QADRA_TEST_",
    "QADRA_BIN",
    "QADRA_DEV_SERVER",
    "QADRA_NODE_CACHE",
];

impl Config {
    /// Reads `qadra.toml` (in the working directory, or the file named by QADRA_CONFIG) and the environment.
    pub(crate) fn load(overrides: &[(&'static str, Option<String>)]) -> Result<Self> {
        let file = std::env::var_os("QADRA_CONFIG").map(PathBuf::from);
        let path = file.clone().unwrap_or_else(|| PathBuf::from("qadra.toml"));
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(e) if file.is_none() && e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => {
                return Err(e).with_context(|| format!("read settings from {}", path.display()));
            }
        };
        let env = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
        Self::from_parts(env, text.as_deref().map(|t| (path.as_path(), t)), overrides)
    }

    fn from_parts(
        env: impl Iterator<Item = (String, String)>,
        file: Option<(&Path, &str)>,
        overrides: &[(&'static str, Option<String>)],
    ) -> Result<Self> {
        let mut values = BTreeMap::new();
        for s in SETTINGS {
            values.insert(s.key, (s.default.to_owned(), "default".to_owned()));
        }
        if let Some((path, text)) = file {
            let table: toml::Table = text
                .parse()
                .with_context(|| format!("read settings from {}", path.display()))?;
            for (name, value) in table {
                let key = format!("QADRA_{}", name.to_uppercase());
                let setting = known(&key).map_err(|e| anyhow!("{}: {e}", path.display()))?;
                let value = match value {
                    toml::Value::String(s) => s,
                    toml::Value::Integer(n) => n.to_string(),
                    toml::Value::Boolean(b) => b.to_string(),
                    _ => bail!("{}: {name} is neither text nor number", path.display()),
                };
                values.insert(setting.key, (value, path.display().to_string()));
            }
        }
        for (key, value) in env {
            if !key.starts_with("QADRA_")
                || NOT_SETTINGS.iter().any(|p| key.starts_with(p))
                || key == "QADRA_CONFIG"
            {
                continue;
            }
            values.insert(known(&key)?.key, (value, "environment".to_owned()));
        }
        for (key, value) in overrides {
            if let Some(value) = value {
                values.insert(key, (value.clone(), "command line".to_owned()));
            }
        }
        Ok(Self { values })
    }

    /// `None` when it is not set and has no default.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.values
            .get(key)
            .map(|(v, _)| v.as_str())
            .filter(|v| !v.is_empty())
    }

    pub(crate) fn need(&self, key: &str) -> Result<&str> {
        self.get(key)
            .ok_or_else(|| anyhow!("{key} is not set, and this command cannot do without it"))
    }

    fn number<T: FromStr>(&self, key: &str) -> Result<T> {
        let text = self.need(key)?;
        text.parse()
            .map_err(|_| anyhow!("{key} is {text:?}, which is not a number it can take"))
    }

    fn seconds(&self, key: &str) -> Result<Duration> {
        Ok(Duration::from_secs(self.number(key)?))
    }

    /// Every setting with its value, source and meaning; secrets are only told to be set.
    pub(crate) fn print(&self) -> String {
        let mut out = String::new();
        for s in SETTINGS {
            let Some((value, source)) = self.values.get(s.key) else {
                continue;
            };
            let shown = match (value.as_str(), s.secret) {
                ("", _) => "(not set)",
                (_, true) => "****",
                (v, false) => v,
            };
            let _ = writeln!(out, "{:<30} {shown:<28} # {source}; {}", s.key, s.about);
        }
        out
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        match self.get("QADRA_DATA_DIR") {
            Some(dir) => PathBuf::from(dir),
            // PostgreSQL's own user must be able to enter it, which rules out root's home.
            None if is_root() => PathBuf::from("/var/lib/qadra"),
            None => std::env::var_os("XDG_DATA_HOME")
                .map(PathBuf::from)
                .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")))
                .unwrap_or_else(|| PathBuf::from("."))
                .join("qadra"),
        }
    }

    pub(crate) fn gateway(&self) -> Result<qadra_gateway::Options> {
        let behind_proxy = match self.need("QADRA_BEHIND_PROXY")? {
            "true" => true,
            "false" => false,
            other => bail!("QADRA_BEHIND_PROXY is {other:?}, not true or false"),
        };
        Ok(qadra_gateway::Options {
            behind_proxy,
            ..Default::default()
        })
    }

    pub(crate) fn connections(&self) -> Result<u32> {
        self.number("QADRA_DATABASE_CONNECTIONS")
    }

    /// The gateway waits a little longer than the longest turn, and streams end at 250 seconds.
    fn turn_timeout(&self) -> Result<Duration> {
        match self.number("QADRA_TURN_SECONDS")? {
            seconds @ 1..=240 => Ok(Duration::from_secs(seconds)),
            other => bail!("QADRA_TURN_SECONDS is {other}, not between 1 and 240"),
        }
    }

    pub(crate) fn app(&self) -> Result<qadra_app::Settings> {
        Ok(qadra_app::Settings {
            access_ttl: self.seconds("QADRA_ACCESS_TOKEN_SECONDS")?,
            refresh_ttl: Duration::from_secs(
                self.number::<u64>("QADRA_REFRESH_TOKEN_DAYS")?
                    .saturating_mul(86_400),
            ),
            history_messages: self.number("QADRA_HISTORY_MESSAGES")?,
            context_tokens: self.number("QADRA_CONTEXT_TOKENS")?,
            tool_calls: self.number("QADRA_TOOL_CALLS")?,
            turn_timeout: self.turn_timeout()?,
            reader: Reader::Worker(
                WorkerCommand::of_this_program(&["read-document"])
                    .context("find this program, to start it as the reader of documents")?,
            ),
            document_workers: match self.number("QADRA_DOCUMENT_WORKERS")? {
                n @ 1..=64 => n,
                other => bail!("QADRA_DOCUMENT_WORKERS is {other}, not between 1 and 64"),
            },
            document_model_chunks: self.number("QADRA_DOCUMENT_MODEL_PASSAGES")?,
            // Who reads an execution must fold it as the worker does that runs it.
            flow_limits: self.flows()?.limits,
            ..qadra_app::Settings::default()
        })
    }

    /// How flows are run.
    pub(crate) fn flows(&self) -> Result<qadra_runner::Settings> {
        let at_least_one = |key: &str| match self.number(key)? {
            0 => bail!("{key} is 0; nothing would ever run"),
            n => Ok(n),
        };
        let lease: f64 = self.number("QADRA_FLOW_LEASE_SECONDS")?;
        if !(0.5..=3_600.0).contains(&lease) {
            bail!("QADRA_FLOW_LEASE_SECONDS is {lease}, not between 0.5 and 3600");
        }
        let steps = at_least_one("QADRA_FLOW_STEPS")?;
        Ok(qadra_runner::Settings {
            lease: Duration::from_secs_f64(lease),
            parallel: at_least_one("QADRA_FLOW_PARALLEL")?,
            parallel_per_tenant: at_least_one("QADRA_FLOW_TENANT_PARALLEL")?,
            runs_per_tenant: at_least_one("QADRA_FLOW_TENANT_RUNS")?,
            limits: qadra_runner::Limits {
                steps: u32::try_from(steps).unwrap_or(u32::MAX),
                ..qadra_runner::Limits::default()
            },
            ..qadra_runner::Settings::default()
        })
    }

    /// The search service of Research nodes, if one is set.
    pub(crate) fn search(&self) -> Option<qadra_runner::nodes::SearchSettings> {
        Some(qadra_runner::nodes::SearchSettings {
            provider: self.get("QADRA_SEARCH_PROVIDER")?.to_owned(),
            base_url: self.get("QADRA_SEARCH_URL").map(str::to_owned),
            api_key: self.get("QADRA_SEARCH_API_KEY").map(Secret::new),
        })
    }

    /// What embeds, and by which model; `None` when no model is set.
    pub(crate) fn embedding(&self) -> Result<Option<(ProviderConfig, String)>> {
        let Some(model) = self.get("QADRA_EMBEDDING_MODEL") else {
            return Ok(None);
        };
        let own = self.get("QADRA_EMBEDDING_BASE_URL");
        let chat = self.llm()?;
        let config = match (own, chat) {
            (Some(url), chat) => ProviderConfig {
                base_url: Some(url.to_owned()),
                // Only a key for a server of the same kind: Anthropic's is for nobody else.
                api_key: chat
                    .filter(|c| c.kind == ProviderKind::OpenAi)
                    .and_then(|c| c.api_key),
                ..ProviderConfig::new(ProviderKind::OpenAi)
            },
            (None, Some(chat)) if chat.kind != ProviderKind::Anthropic => chat,
            _ => bail!(
                "QADRA_EMBEDDING_MODEL is set, but no provider that embeds; set QADRA_EMBEDDING_BASE_URL"
            ),
        };
        Ok(Some((config, model.to_owned())))
    }

    /// The network provider to use; `None` for the built-in one.
    pub(crate) fn llm(&self) -> Result<Option<ProviderConfig>> {
        let key = self.get("QADRA_LLM_API_KEY");
        let base_url = self.get("QADRA_LLM_BASE_URL");
        let kind = match self.get("QADRA_LLM_PROVIDER") {
            Some("builtin") => return Ok(None),
            Some(name) => name.parse::<ProviderKind>().map_err(|_| {
                anyhow!(
                    "QADRA_LLM_PROVIDER is {name:?}, not one of builtin, openai, anthropic, ollama"
                )
            })?,
            // One variable is enough: a key or an address says which provider is meant.
            None => match (key, base_url) {
                (None, None) => return Ok(None),
                (Some(k), _) if k.starts_with("sk-ant-") => ProviderKind::Anthropic,
                (None, Some(url)) if url.contains(":11434") => ProviderKind::Ollama,
                _ => ProviderKind::OpenAi,
            },
        };
        let default_model = match kind {
            ProviderKind::OpenAi => "gpt-5-mini",
            ProviderKind::Anthropic => "claude-sonnet-4-5",
            ProviderKind::Ollama => "llama3.2",
        };
        Ok(Some(ProviderConfig {
            base_url: base_url.map(str::to_owned),
            api_key: key.map(Secret::new),
            model: Some(
                self.get("QADRA_LLM_MODEL")
                    .unwrap_or(default_model)
                    .to_owned(),
            ),
            options: Options {
                max_attempts: self.number("QADRA_LLM_ATTEMPTS")?,
                first_byte_timeout: self.seconds("QADRA_LLM_FIRST_BYTE_SECONDS")?,
                idle_timeout: self.seconds("QADRA_LLM_IDLE_SECONDS")?,
                ..Options::default()
            },
            ..ProviderConfig::new(kind)
        }))
    }
}

fn known(key: &str) -> Result<&'static Setting> {
    if let Some(s) = SETTINGS.iter().find(|s| s.key == key) {
        return Ok(s);
    }
    let nearest = SETTINGS.iter().max_by(|a, b| {
        strsim::jaro_winkler(a.key, key).total_cmp(&strsim::jaro_winkler(b.key, key))
    });
    bail!(
        "there is no setting {key}; the nearest is {}",
        nearest.map_or("", |s| s.key)
    )
}

fn is_root() -> bool {
    // The owner of our own process entry: no unsafe call and no crate for one number.
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(env: &[(&str, &str)], file: Option<&str>) -> Result<Config> {
        let env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        Config::from_parts(env, file.map(|t| (Path::new("qadra.toml"), t)), &[])
    }

    #[test]
    fn environment_wins_over_the_file_and_the_source_is_told() {
        let c = config(
            &[("QADRA_LISTEN", "0.0.0.0:1")],
            Some("listen = \"x\"\ntool_calls = 3"),
        )
        .unwrap();
        assert_eq!(c.get("QADRA_LISTEN"), Some("0.0.0.0:1"));
        assert_eq!(c.app().unwrap().tool_calls, 3);
        let shown = c.print();
        assert!(
            shown
                .lines()
                .any(|l| l.starts_with("QADRA_LISTEN ") && l.contains("# environment;")),
            "{shown}"
        );
        assert!(
            shown
                .lines()
                .any(|l| l.starts_with("QADRA_TOOL_CALLS ") && l.contains("# qadra.toml;")),
            "{shown}"
        );
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        let e = config(&[("QADRA_LLM_APIKEY", "x")], None)
            .err()
            .unwrap()
            .to_string();
        assert_eq!(
            e,
            "there is no setting QADRA_LLM_APIKEY; the nearest is QADRA_LLM_API_KEY"
        );
        let e = config(&[], Some("lisen = \"x\""))
            .err()
            .unwrap()
            .to_string();
        assert_eq!(
            e,
            "qadra.toml: there is no setting QADRA_LISEN; the nearest is QADRA_LISTEN"
        );
        assert!(config(&[("QADRA_TEST_DATABASE_URL", "x")], None).is_ok());
    }

    #[test]
    fn secrets_are_masked() {
        let shown = config(
            &[
                ("QADRA_LLM_API_KEY", "sk-very-secret"),
                ("QADRA_DATABASE_URL", "postgres://u:pw@h/d"),
            ],
            None,
        )
        .unwrap()
        .print();
        assert!(
            !shown.contains("very-secret") && !shown.contains("pw@"),
            "{shown}"
        );
    }

    #[test]
    fn one_variable_chooses_the_provider() {
        let kind = |env: &[(&str, &str)]| config(env, None).unwrap().llm().unwrap().map(|p| p.kind);
        assert_eq!(kind(&[]), None);
        assert_eq!(
            kind(&[("QADRA_LLM_API_KEY", "sk-ant-x")]),
            Some(ProviderKind::Anthropic)
        );
        assert_eq!(
            kind(&[("QADRA_LLM_API_KEY", "sk-x")]),
            Some(ProviderKind::OpenAi)
        );
        assert_eq!(
            kind(&[("QADRA_LLM_BASE_URL", "http://h/v1")]),
            Some(ProviderKind::OpenAi)
        );
        assert_eq!(
            kind(&[("QADRA_LLM_PROVIDER", "ollama")]),
            Some(ProviderKind::Ollama)
        );
        assert_eq!(
            kind(&[
                ("QADRA_LLM_PROVIDER", "builtin"),
                ("QADRA_LLM_API_KEY", "x")
            ]),
            None
        );
        assert!(
            config(&[("QADRA_LLM_PROVIDER", "gpt")], None)
                .unwrap()
                .llm()
                .is_err()
        );
    }
}
