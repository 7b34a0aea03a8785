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
    client_with(roots)
}

/// Returns a client that trusts these authorities.
fn client_with(roots: RootCertStore) -> Result<Outgoing, Error> {
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use http_body_util::{BodyExt as _, Empty};
    use hyper::Request;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::pki_types::pem::PemObject as _;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

    use super::*;

    /// Makes a certificate for this machine.
    fn certificate(folder: &Path) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=upstream"])
            .args(["-addext", "subjectAltName=IP:127.0.0.1"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .current_dir(folder)
            .output()
            .expect("openssl is installed");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let certificate = CertificateDer::from_pem_file(folder.join("cert.pem"));
        let key = PrivateKeyDer::from_pem_file(folder.join("key.pem"));
        (certificate.expect("it was made"), key.expect("it was made"))
    }

    /// Answers every request over TLS. Returns the port.
    async fn serve(certificate: CertificateDer<'static>, key: PrivateKeyDer<'static>) -> u16 {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("they are known")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("they belong together");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that does not trust the certificate ends the handshake.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut seen = [0; 1024];
                let _ = stream.read(&mut seen).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes").await;
            }
        });
        port
    }

    #[test]
    fn upstream_over_tls_is_called_if_its_certificate_is_trusted() {
        let folder = tempfile::tempdir().expect("there is space");
        let (certificate, key) = certificate(folder.path());
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).expect("it is a certificate");
        let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
        runtime.block_on(async {
            let port = serve(certificate, key).await;
            let request = || {
                let empty = Empty::new().map_err(|never: std::convert::Infallible| match never {});
                let request = Request::get(format!("https://127.0.0.1:{port}/"));
                request.body(empty.boxed()).expect("it is a request")
            };
            let trusting = client_with(roots).expect("it can be made");
            let response = trusting.request(request()).await.expect("it is trusted");
            let body = response.into_body().collect().await.expect("it arrives").to_bytes();
            assert_eq!(&body[..], b"yes");
            let other = client_with(RootCertStore::empty()).expect("it can be made");
            assert!(other.request(request()).await.is_err(), "the certificate is unknown");
        });
    }
}
