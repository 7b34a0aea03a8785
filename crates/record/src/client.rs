//! The client of the upstreams.

use std::sync::Arc;
use std::time::Duration;

use contextree_app::Error;
use http_body_util::combinators::BoxBody;
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The body of a request that is passed on.
pub(crate) type OutBody = BoxBody<Bytes, hyper::Error>;

/// The client of the upstreams.
pub(crate) type Outgoing = Client<HttpsConnector<HttpConnector>, OutBody>;

/// Returns the client: HTTP/1.1, over TLS with the certificates of the system.
pub(crate) fn client() -> Result<Outgoing, Error> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        // Local upstreams work without; others will fail, and say why.
        tracing::warn!(errors = ?found.errors, "the system has no certificates");
    }
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::usage(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    // Otherwise small requests wait for the acknowledgement of earlier packets.
    http.set_nodelay(true);
    http.set_connect_timeout(Some(Duration::from_secs(30)));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(http);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(60))
        .http1_preserve_header_case(true)
        .build(connector))
}
