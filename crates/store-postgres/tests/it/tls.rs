//! The line is encrypted, and the server is who it says, as far as was asked for.

use std::fs;

use contextree_store_postgres::Postgres;
use contextree_testkit::postgres::{Server, Settings};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::support::schema;

#[test]
fn the_server_is_trusted_as_far_as_was_asked_for() {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let root = authority.self_signed(&authority_key).unwrap().pem();
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::new(authority, authority_key);
    // For `localhost` alone, not for 127.0.0.1.
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    let parameter = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let server = Server::start(&Settings {
        parameters: vec![
            parameter("ssl", "on"),
            parameter("ssl_cert_file", "server.crt"),
            parameter("ssl_key_file", "server.key"),
        ],
        files: vec![
            ("server.crt".to_owned(), certificate.pem().into_bytes()),
            ("server.key".to_owned(), key.serialize_pem().into_bytes()),
        ],
    })
    .unwrap();
    let file = std::env::temp_dir().join(format!("contextree-root-{}.crt", std::process::id()));
    fs::write(&file, root).unwrap();
    let known = format!("sslrootcert={}", file.display());
    let check = |host: &str, parameters: &str, expected: Result<bool, &str>| {
        let parameters = format!("{}&patience_ms=0&{parameters}", schema());
        let url = server.url_with(&parameters).replace("127.0.0.1", host);
        let outcome = Postgres::open(&url).and_then(|store| {
            store.with_connection(async |client| {
                let text = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
                client.query_one(text, &[]).await?.try_get::<_, bool>(0)
            })
        });
        match (outcome, expected) {
            (Ok(encrypted), Ok(expected)) => assert_eq!(encrypted, expected, "{parameters}"),
            (Err(error), Err(expected)) => {
                assert!(error.to_string().contains(expected), "{parameters}: {error}");
            }
            (outcome, _) => panic!("{parameters}: {outcome:?}"),
        }
    };
    check("127.0.0.1", "sslmode=disable", Ok(false));
    check("127.0.0.1", "", Ok(true));
    check("127.0.0.1", "sslmode=require", Ok(true));
    check("localhost", &format!("sslmode=verify-full&{known}"), Ok(true));
    check("127.0.0.1", &format!("sslmode=verify-ca&{known}"), Ok(true));
    check("127.0.0.1", &format!("sslmode=verify-full&{known}"), Err("not valid for name"));
    // The system does not know our authority.
    check("localhost", "sslmode=verify-full", Err("UnknownIssuer"));
    check("localhost", "sslmode=verify-full&sslrootcert=no-such-file", Err("no-such-file"));
    fs::remove_file(file).unwrap();
}
