//! Which addresses are somebody's inside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of inside an address is; `None` for an ordinary address of the public internet.
///
/// Of IPv6 only global unicast (2000::/3) can be public at all, so every form that carries an IPv4 address outside
/// of it (mapped, compatible, translated, both NAT64 prefixes) is refused by not being in it, whatever it carries.
pub fn inside(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => inside_v4(ip),
        IpAddr::V6(ip) => inside_v6(ip),
    }
}

/// Addresses under which clouds tell a machine its own credentials. An allowed name or network does not open them.
pub(super) fn is_metadata(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => METADATA_V4.contains(&ip.octets()),
        // An operator in an IPv6-only network has to allow NAT64, and does not mean these by it.
        IpAddr::V6(ip) if ip.to_bits() >> 32 == NAT64 => {
            let [.., a, b, c, d] = ip.octets();
            METADATA_V4.contains(&[a, b, c, d])
        }
        IpAddr::V6(ip) => METADATA_V6.contains(&ip.segments()),
    }
}

/// Names of the same services. They are refused whatever they resolve to.
pub(super) fn is_metadata_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    METADATA_NAMES.contains(&host)
}

/// 64:ff9b::/96
const NAT64: u128 = 0x0064_ff9b << 64;

const METADATA_V4: [[u8; 4]; 6] = [
    // Most clouds; containers on AWS; AWS time and DNS.
    [169, 254, 169, 254],
    [169, 254, 170, 2],
    [169, 254, 170, 23],
    // Alibaba, Oracle (classic), Azure. The last is a public address that is special inside of Azure only.
    [100, 100, 100, 200],
    [192, 0, 0, 192],
    [168, 63, 129, 16],
];

const METADATA_V6: [[u16; 8]; 3] = [
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254],
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23],
    [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254],
];

const METADATA_NAMES: [&str; 8] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "instance-data",
    "instance-data.ec2.internal",
    "rancher-metadata",
];

/// From the registry of special-purpose addresses (RFC 6890 and its successors), with what is multicast or reserved.
const NETWORKS_V4: [(u32, u32, &str); 16] = [
    (0x0000_0000, 8, "unspecified"),
    (0x0a00_0000, 8, "private"),
    (0x6440_0000, 10, "carrier-grade NAT"),
    (0x7f00_0000, 8, "loopback"),
    (0xa9fe_0000, 16, "link-local"),
    (0xac10_0000, 12, "private"),
    (0xc000_0000, 24, "reserved for protocols"),
    (0xc000_0200, 24, "documentation"),
    (0xc058_6300, 24, "6to4 relay"),
    (0xc0a8_0000, 16, "private"),
    (0xc612_0000, 15, "benchmarking"),
    (0xc633_6400, 24, "documentation"),
    (0xcb00_7100, 24, "documentation"),
    (0xe000_0000, 4, "multicast"),
    (0xffff_ffff, 32, "broadcast"),
    (0xf000_0000, 4, "reserved"),
];

/// Parts of 2000::/3 that are not what they seem.
const NETWORKS_V6: [(u128, u32, &str); 5] = [
    (0x2001_0000 << 96, 32, "Teredo"),
    // Benchmarking (2001:2::/48), ORCHID and whatever else protocols are given.
    (0x2001_0000 << 96, 23, "reserved for protocols"),
    (0x2001_0db8 << 96, 32, "documentation"),
    (0x2002_0000 << 96, 16, "6to4"),
    (0x3fff_0000 << 96, 20, "documentation"),
];

fn inside_v4(ip: Ipv4Addr) -> Option<&'static str> {
    if is_metadata(ip.into()) {
        return Some("metadata service");
    }
    let bits = ip.to_bits();
    NETWORKS_V4
        .iter()
        .find(|(network, prefix, _)| (bits ^ network) >> (32 - prefix) == 0)
        .map(|(.., kind)| *kind)
}

fn inside_v6(ip: Ipv6Addr) -> Option<&'static str> {
    if is_metadata(ip.into()) {
        return Some("metadata service");
    }
    let bits = ip.to_bits();
    if bits >> 125 != 0b001 {
        return Some(outside_global_unicast(ip));
    }
    if let Some((.., kind)) = NETWORKS_V6
        .iter()
        .find(|(network, prefix, _)| (bits ^ network) >> (128 - prefix) == 0)
    {
        return Some(kind);
    }
    // An ISATAP interface (RFC 5214) hands the packet on to the IPv4 address in its last half.
    let [_, _, _, _, a, b, _, _] = ip.segments();
    (a & 0xfdff == 0 && b == 0x5efe).then_some("ISATAP")
}

/// Only for the message; every such address is refused.
fn outside_global_unicast(ip: Ipv6Addr) -> &'static str {
    let [first, second, third, ..] = ip.segments();
    match () {
        () if ip.is_unspecified() => "unspecified",
        () if ip.is_loopback() => "loopback",
        () if ip.is_multicast() => "multicast",
        () if first & 0xfe00 == 0xfc00 => "unique local",
        () if first & 0xffc0 == 0xfe80 => "link-local",
        () if first & 0xffc0 == 0xfec0 => "site-local",
        () if ip.to_ipv4_mapped().is_some() => "IPv4 mapped into IPv6",
        () if ip.to_bits() >> 32 == 0 => "IPv4 in IPv6",
        () if ip.to_bits() >> 32 == 0xffff_0000 => "IPv4 translated to IPv6",
        () if (first, second) == (0x64, 0xff9b) && third <= 1 => "NAT64",
        () => "reserved",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(ip: &str) -> Option<&'static str> {
        inside(ip.parse().unwrap())
    }

    #[test]
    fn every_kind_of_inside_is_known_by_name() {
        for (ip, expected) in [
            ("0.0.0.0", "unspecified"),
            ("0.1.2.3", "unspecified"),
            ("10.255.255.255", "private"),
            ("100.64.0.0", "carrier-grade NAT"),
            ("100.127.255.255", "carrier-grade NAT"),
            ("100.100.100.200", "metadata service"),
            ("127.255.255.254", "loopback"),
            ("168.63.129.16", "metadata service"),
            ("169.254.0.1", "link-local"),
            ("169.254.169.254", "metadata service"),
            ("172.16.0.0", "private"),
            ("172.31.255.255", "private"),
            ("192.0.0.8", "reserved for protocols"),
            ("192.0.2.1", "documentation"),
            ("192.88.99.1", "6to4 relay"),
            ("192.168.255.255", "private"),
            ("198.18.0.1", "benchmarking"),
            ("198.19.255.255", "benchmarking"),
            ("198.51.100.7", "documentation"),
            ("203.0.113.7", "documentation"),
            ("224.0.0.1", "multicast"),
            ("239.255.255.250", "multicast"),
            ("240.0.0.1", "reserved"),
            ("255.255.255.255", "broadcast"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::ffff:127.0.0.1", "IPv4 mapped into IPv6"),
            ("::ffff:8.8.8.8", "IPv4 mapped into IPv6"),
            ("::127.0.0.1", "IPv4 in IPv6"),
            ("::ffff:0:127.0.0.1", "IPv4 translated to IPv6"),
            ("64:ff9b::8.8.8.8", "NAT64"),
            ("64:ff9b:1::a00:1", "NAT64"),
            ("100::1", "reserved"),
            ("2001::1", "Teredo"),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"),
            ("2001:2::1", "reserved for protocols"),
            ("2001:10::1", "reserved for protocols"),
            ("2001:db8::1", "documentation"),
            ("2002:7f00:1::", "6to4"),
            ("2002:808:808::1", "6to4"),
            ("3fff:fff::1", "documentation"),
            ("2606:4700::5efe:7f00:1", "ISATAP"),
            ("2606:4700::200:5efe:10.0.0.1", "ISATAP"),
            ("5f00::1", "reserved"),
            ("fc00::1", "unique local"),
            ("fdff::1", "unique local"),
            ("fd00:ec2::254", "metadata service"),
            ("fe80::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
        ] {
            assert_eq!(kind(ip), Some(expected), "{ip}");
        }
    }

    #[test]
    fn the_public_internet_is_outside_up_to_each_border() {
        for ip in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2003::1",
            "2606:4700:4700::1111",
            "3ffe::1",
            "3fff:1000::1",
        ] {
            assert_eq!(kind(ip), None, "{ip}");
        }
    }
}
