use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::{inside, is_metadata};
use super::{AllowList, Blocked};

/// Where the addresses of a name come from.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The machine's own resolver.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// Stands between the HTTP client and a [`Resolver`], at the one place where an address becomes a connection: what
/// has been checked is what is connected to, and nothing is looked up a second time.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) allow: Arc<AllowList>,
    /// The port of its client's connections, where the list makes a difference between ports.
    pub(super) port: Option<u16>,
    /// For names that the operator trusts; all that is refused then is a metadata service.
    pub(super) trusted: bool,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, allow) = (self.resolver.clone(), self.allow.clone());
        let (port, trusted) = (self.port, self.trusted);
        Box::pin(async move {
            let host = name.as_str();
            let found = resolver.resolve(host).await?;
            if found.is_empty() {
                return Err(
                    io::Error::new(io::ErrorKind::NotFound, "the name has no address").into(),
                );
            }
            // One forbidden answer refuses the name: a server that mixes them is not to be trusted with the order.
            for ip in &found {
                let refused = match trusted {
                    true => (is_metadata(*ip) && !allow.has_address(*ip, port))
                        .then_some("metadata service"),
                    false => inside(*ip).filter(|_| !allow.has_address(*ip, port)),
                };
                if let Some(kind) = refused {
                    return Err(Blocked::address(host, *ip, kind).into());
                }
            }
            // Port 0: the client puts in the port of the URL.
            let addresses: Vec<SocketAddr> =
                found.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
