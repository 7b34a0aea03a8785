//! The line is encrypted, and the server is who it says, as far as was asked for.

use std::fs;

use contextree_store_postgres::Postgres;
use contextree_testkit::postgres::{Server, Settings};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd,
};

use crate::support::schema;

/// Returns a server with a certificate.
fn serve(certificate: &Certificate, key: &KeyPair) -> Server {
    let parameter = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Server::start(&Settings {
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
    .unwrap()
}

/// Opens a store with a certificate in `sslrootcert`; returns why it could not.
fn open(server: &Server, host: &str, mode: &str, root: &Certificate) -> Result<(), String> {
    let file = std::env::temp_dir().join(format!("contextree-own-{}.crt", std::process::id()));
    fs::write(&file, root.pem()).unwrap();
    let known = format!("sslmode={mode}&sslrootcert={}", file.display());
    let parameters = format!("{}&patience_ms=0&{known}", schema());
    let url = server.url_with(&parameters).replace("127.0.0.1", host);
    let outcome = Postgres::open(&url).map(drop).map_err(|error| error.to_string());
    fs::remove_file(file).unwrap();
    outcome
}

/// What `openssl req -x509` makes: a certificate that signs itself and says that it is an authority's.
#[test]
fn a_trusted_certificate_of_an_authority_may_be_the_servers_own() {
    let own = |not_after: i32| {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.not_after = date_time_ymd(not_after, 1, 1);
        let key = KeyPair::generate().unwrap();
        (parameters.self_signed(&key).unwrap(), key)
    };
    let ((certificate, key), (stranger, _)) = (own(4000), own(4000));
    let server = serve(&certificate, &key);
    assert_eq!(open(&server, "localhost", "verify-full", &certificate), Ok(()));
    assert_eq!(open(&server, "127.0.0.1", "verify-ca", &certificate), Ok(()));
    let refused = |outcome: Result<(), String>, why: &str| {
        let error = outcome.unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    refused(open(&server, "127.0.0.1", "verify-full", &certificate), "not valid for name");
    for mode in ["verify-ca", "verify-full"] {
        refused(open(&server, "localhost", mode, &stranger), "CaUsedAsEndEntity");
    }
    let (expired, key) = own(2000);
    let server = serve(&expired, &key);
    for mode in ["verify-ca", "verify-full"] {
        refused(open(&server, "localhost", mode, &expired), "expired");
    }
}

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
    let server = serve(&certificate, &key);
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
