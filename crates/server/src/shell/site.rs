//! What the server is called: hosts, origins, and the path below which it is mounted.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use axum::http::{HeaderMap, Uri, header};
use contextree::Code;
use contextree_app::Error;

use super::problem::Problem;

/// What the server is called, by those who may call it.
///
/// A page of another site can make a browser send requests to any address, and a name of an attacker can resolve to this machine. So
/// the `Host` of every request must be one of a fixed set, and so must its `Origin`, if it has one.
#[derive(Clone, Debug)]
pub struct Site {
    hosts: BTreeSet<String>,
    /// The origins of the server's own pages.
    origins: BTreeSet<String>,
    /// Those of other sites whose pages may call, too.
    others: BTreeSet<String>,
    prefix: String,
    is_secure: bool,
}

impl Site {
    /// Returns the site of a server that listens on an address: the names of this machine if it is a loopback address, otherwise none.
    #[must_use]
    pub fn at(address: SocketAddr) -> Site {
        let mut site = Site {
            hosts: BTreeSet::new(),
            origins: BTreeSet::new(),
            others: BTreeSet::new(),
            prefix: String::new(),
            is_secure: false,
        };
        if address.ip().is_loopback() {
            for name in ["127.0.0.1", "localhost", "[::1]"] {
                let port = address.port();
                site.add_host(&format!("{name}:{port}"));
                if port == 80 {
                    site.add_host(name);
                }
            }
        }
        site
    }

    /// Adds a host, with its port unless that is the usual one: `ctx.example.org`, `10.0.0.7:8377`.
    pub fn add_host(&mut self, host: &str) {
        let host = host.to_ascii_lowercase();
        self.origins.insert(format!("http://{host}"));
        self.origins.insert(format!("https://{host}"));
        self.hosts.insert(host);
    }

    /// Adds an origin of another site whose pages may call the server with a token, but not with a cookie.
    pub fn add_origin(&mut self, origin: &str) {
        self.others.insert(origin.trim_end_matches('/').to_ascii_lowercase());
    }

    /// Sets the URL that callers use, if a reverse proxy is in between: its host, its path, and whether cookies are sent only over TLS.
    ///
    /// # Errors
    ///
    /// If it is not an absolute URL with `http` or `https`.
    pub fn set_public_url(&mut self, url: &str) -> Result<(), Error> {
        let invalid =
            || Error::usage(format!("`{url}` is not a URL like `https://example.org/ctx`"));
        let parsed: Uri = url.parse().map_err(|_| invalid())?;
        let (Some(scheme), Some(authority)) = (parsed.scheme_str(), parsed.authority()) else {
            return Err(invalid());
        };
        if !matches!(scheme, "http" | "https") || parsed.query().is_some() {
            return Err(invalid());
        }
        self.is_secure = scheme == "https";
        self.add_host(authority.as_str());
        self.prefix = parsed.path().trim_end_matches('/').to_owned();
        Ok(())
    }

    /// Returns whether anyone can call the server.
    #[must_use]
    pub fn has_hosts(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// Returns the path below which the server is mounted: empty, or `/ctx`.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns whether cookies are sent only over TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Returns the path without the prefix. A proxy may have removed it already.
    #[must_use]
    pub fn path_below<'p>(&self, path: &'p str) -> &'p str {
        match path.strip_prefix(self.prefix.as_str()) {
            Some("") => "/",
            Some(below) if below.starts_with('/') => below,
            _ => path,
        }
    }

    /// Refuses a request for another host, or from a page of another origin.
    ///
    /// # Errors
    ///
    /// `E_HOST` or `E_ORIGIN`.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().unwrap_or_default(),
            _ => return Err(Problem::new(Code::Host, "a request names one host")),
        };
        // A request to a proxy has the host in its first line as well.
        let is_same = uri.authority().is_none_or(|named| named.as_str().eq_ignore_ascii_case(host));
        if !is_same || !self.hosts.contains(&host.to_ascii_lowercase()) {
            let error =
                Error::new(Code::Host.as_str(), "this server does not answer for that host");
            return Err(error.with_hint("`ctx serve --host NAME` adds one").into());
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        if !origins.all(|origin| self.is_origin(origin.to_str().unwrap_or_default())) {
            return Err(Problem::new(
                Code::Origin,
                "pages of that origin may not call this server",
            ));
        }
        Ok(())
    }

    /// Refuses a request of a page of another site, although such pages may call: for what a browser does on its own, as with cookies.
    ///
    /// # Errors
    ///
    /// `E_ORIGIN`.
    pub fn check_own(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match origins.all(|origin| self.is_own(origin.to_str().unwrap_or_default())) {
            true => Ok(()),
            false => Err(Problem::new(
                Code::Origin,
                "pages of that origin may call with a token, not with a cookie",
            )),
        }
    }

    fn is_own(&self, origin: &str) -> bool {
        self.origins.contains(&origin.to_ascii_lowercase())
    }

    fn is_origin(&self, origin: &str) -> bool {
        self.is_own(origin) || self.others.contains(&origin.to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, Uri, header};

    use super::Site;

    fn check(site: &Site, host: &str, origin: Option<&str>) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).expect("a header"));
        }
        let checked = site.check(&Uri::from_static("/"), &headers);
        checked.err().map(|problem| problem.code().to_string())
    }

    #[test]
    fn only_exact_names_of_this_machine_are_answered() {
        let site = Site::at("127.0.0.1:8377".parse().expect("an address"));
        for host in ["127.0.0.1:8377", "localhost:8377", "[::1]:8377", "LOCALHOST:8377"] {
            assert_eq!(check(&site, host, None), None, "{host}");
        }
        for host in [
            "127.0.0.1.evil.com:8377",
            "localhost",
            "localhost:8378",
            "evil.com",
            "127.0.0.1:8377@evil.com",
            "",
        ] {
            assert_eq!(check(&site, host, None).as_deref(), Some("E_HOST"), "{host}");
        }
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let site = Site::at("127.0.0.1:8377".parse().expect("an address"));
        let host = "localhost:8377";
        assert_eq!(check(&site, host, Some("http://localhost:8377")), None);
        for origin in ["null", "http://localhost:8378", "http://evil.com", ""] {
            let code = check(&site, host, Some(origin));
            assert_eq!(code.as_deref(), Some("E_ORIGIN"), "{origin}");
        }
    }

    #[test]
    fn pages_of_an_allowed_origin_may_call_but_are_not_the_servers_own() {
        let mut site = Site::at("127.0.0.1:8377".parse().expect("an address"));
        site.add_origin("https://Example.org/");
        let own = |origin: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            site.check_own(&headers).is_ok()
        };
        assert_eq!(check(&site, "localhost:8377", Some("https://example.org")), None);
        assert!(!own("https://example.org") && own("http://localhost:8377"));
        // Allowing the server's own origin takes nothing from it.
        site.add_origin("http://localhost:8377");
        assert!(site.check_own(&HeaderMap::new()).is_ok());
    }

    #[test]
    fn a_public_url_names_host_origin_and_prefix() {
        let mut site = Site::at("0.0.0.0:80".parse().expect("an address"));
        assert!(!site.has_hosts());
        site.set_public_url("https://example.org/ctx/").expect("a URL");
        assert_eq!(check(&site, "example.org", Some("https://example.org")), None);
        assert_eq!((site.prefix(), site.is_secure()), ("/ctx", true));
        for (path, below) in
            [("/ctx/v1/x", "/v1/x"), ("/ctx", "/"), ("/ctxx", "/ctxx"), ("/v1/x", "/v1/x")]
        {
            assert_eq!(site.path_below(path), below);
        }
        for wrong in ["example.org", "ftp://example.org/", "/ctx", "https://a/?b"] {
            assert!(site.set_public_url(wrong).is_err(), "{wrong}");
        }
    }
}
