use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

use super::address::is_metadata;

/// Internal hosts and networks that flows may reach all the same, as the operator lists them in `QADRA_HTTP_ALLOW`:
/// `host`, `host:port`, an address with or without port, or a network such as `10.2.0.0/16`, separated by commas
/// or spaces.
#[derive(Debug, Clone, Default)]
pub struct AllowList {
    hosts: Vec<(String, Option<u16>)>,
    networks: Vec<(Network, Option<u16>)>,
}

/// An entry of the list that says nothing we understand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is neither a host, a host with a port, an address nor a network")]
pub struct AllowError(String);

impl AllowList {
    pub fn parse(text: &str) -> Result<Self, AllowError> {
        let mut list = Self::default();
        for entry in text.split([',', ' ', '\t', '\n']).filter(|e| !e.is_empty()) {
            list.add(entry)?;
        }
        Ok(list)
    }

    fn add(&mut self, entry: &str) -> Result<(), AllowError> {
        let wrong = || AllowError(entry.to_owned());
        if let Some((address, prefix)) = entry.split_once('/') {
            let prefix = prefix.parse().map_err(|_| wrong())?;
            let network = Network::new(bare(address).parse().map_err(|_| wrong())?, prefix);
            self.networks.push((network.ok_or_else(wrong)?, None));
            return Ok(());
        }
        if let Ok(ip) = bare(entry).parse::<IpAddr>() {
            self.networks.push((Network::single(ip), None));
            return Ok(());
        }
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| wrong())?)),
            None => (entry, None),
        };
        if let Ok(ip) = bare(host).parse::<IpAddr>() {
            self.networks.push((Network::single(ip), port));
            return Ok(());
        }
        // The URL parser's own reading of names, so that both sides spell them alike.
        let url = reqwest::Url::parse(&format!("http://{host}/")).map_err(|_| wrong())?;
        match url.domain() {
            // Nothing of the entry may have become something else than the host.
            Some(name) if url.as_str() == format!("http://{name}/") => {
                self.hosts.push((plain(name).to_owned(), port));
                Ok(())
            }
            _ => Err(wrong()),
        }
    }

    /// Whether a name is trusted, whatever it resolves to.
    pub(super) fn has_host(&self, host: &str, port: u16) -> bool {
        self.hosts
            .iter()
            .any(|(known, at)| known == plain(host) && at.is_none_or(|at| at == port))
    }

    /// The ports on which some addresses are trusted and on others not.
    pub(super) fn ports(&self) -> BTreeSet<u16> {
        self.networks.iter().filter_map(|(_, port)| *port).collect()
    }

    /// Whether an address is trusted; without a port, whether it is on every one. A metadata service has to be listed
    /// itself, not with its network.
    pub(super) fn has_address(&self, ip: IpAddr, port: Option<u16>) -> bool {
        let ip = ip.to_canonical();
        self.networks.iter().any(|(network, at)| {
            (at.is_none() || *at == port)
                && network.contains(ip)
                && (network.is_single() || !is_metadata(ip))
        })
    }
}

fn plain(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

fn bare(address: &str) -> &str {
    address
        .strip_prefix('[')
        .and_then(|a| a.strip_suffix(']'))
        .unwrap_or(address)
}

#[derive(Clone, Copy)]
struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    fn new(address: IpAddr, prefix: u32) -> Option<Self> {
        let widest = if address.is_ipv4() { 32 } else { 128 };
        (prefix <= widest).then_some(Self { address, prefix })
    }

    fn single(address: IpAddr) -> Self {
        let address = address.to_canonical();
        let prefix = if address.is_ipv4() { 32 } else { 128 };
        Self { address, prefix }
    }

    fn is_single(self) -> bool {
        self.prefix == if self.address.is_ipv4() { 32 } else { 128 }
    }

    fn contains(self, ip: IpAddr) -> bool {
        match (self.address, ip) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                (a.to_bits() ^ b.to_bits()).leading_zeros() >= self.prefix
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                (a.to_bits() ^ b.to_bits()).leading_zeros() >= self.prefix
            }
            _ => false,
        }
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(list: &str, ip: &str, port: u16) -> bool {
        AllowList::parse(list)
            .unwrap()
            .has_address(ip.parse().unwrap(), Some(port))
    }

    #[test]
    fn hosts_and_ports_match_as_written() {
        let list = AllowList::parse("Intranet.example, wiki:8080\nbücher.example.").unwrap();
        assert!(list.has_host("intranet.example", 1) && list.has_host("intranet.example.", 443));
        assert!(list.has_host("wiki", 8080) && !list.has_host("wiki", 80));
        assert!(list.has_host("xn--bcher-kva.example", 80));
        assert!(!list.has_host("sub.intranet.example", 80) && !list.has_host("example", 80));
    }

    #[test]
    fn networks_match_to_their_border() {
        assert!(
            address("10.2.0.0/16", "10.2.255.255", 1) && !address("10.2.0.0/16", "10.3.0.0", 1)
        );
        assert!(
            address("127.0.0.1:9000", "127.0.0.1", 9000)
                && !address("127.0.0.1:9000", "127.0.0.1", 80)
        );
        assert!(address("[::1]:81 fd00::/8", "::1", 81) && !address("[::1]:81", "::1", 80));
        assert!(address("fd00::/8", "fd12::1", 80) && !address("fd00::/8", "fe00::1", 80));
        assert!(address("0.0.0.0/0", "10.0.0.1", 1) && !address("0.0.0.0/0", "::1", 1));
        // The same address in another spelling.
        assert!(address("127.0.0.1", "::ffff:127.0.0.1", 1));
    }

    #[test]
    fn a_metadata_service_is_opened_by_its_own_address_only() {
        assert!(!address("0.0.0.0/0", "169.254.169.254", 80));
        assert!(address("169.254.169.254", "169.254.169.254", 80));
        assert!(address("64:ff9b::/96", "64:ff9b::8.8.8.8", 80));
        assert!(!address("64:ff9b::/96", "64:ff9b::169.254.169.254", 80));
    }

    #[test]
    fn other_entries_are_refused() {
        for entry in [
            "10.0.0.0/33",
            "10.0.0.0/x",
            "a/8",
            "host:port",
            "host:99999",
            "http://x",
            "u@h",
            "[::1",
            "a?b",
        ] {
            assert!(AllowList::parse(entry).is_err(), "{entry}");
        }
        assert!(AllowList::parse(" , ").unwrap().hosts.is_empty());
    }
}
