//! The one error type.

use std::error::Error as _;

use contextree::{
    Code, Context, ContextSettings, Error, Kind, Location, NewNode, OpError, Place, Session,
    StoreError, parse,
};

fn session() -> Session {
    let store = contextree::open("memory:").unwrap();
    store.create("main", &ContextSettings::default()).unwrap()
}

#[test]
fn error_has_the_size_of_a_pointer() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
}

#[test]
fn question_mark_converts_errors_inside_update() {
    let error = session()
        .update(|context| {
            let id = context.add(Place::head(), NewNode::text("Hello"))?;
            context.commit()?;
            context.remove(&id)?;
            Ok::<_, Error>(())
        })
        .unwrap_err();
    assert_eq!((error.code(), error.kind()), (Code::Sealed, Kind::Sealed));
    assert_eq!(error.location(), Some(&Location::Node("block:1.1".to_owned())));
    assert!(matches!(error.downcast_ref(), Some(OpError::Sealed { .. })));
}

#[test]
fn question_mark_converts_into_anyhow_without_repeating_the_message() {
    fn read(session: &mut Session) -> anyhow::Result<()> {
        session.select("@t-9 ^seq").map_err(Error::from)?;
        Ok(())
    }
    let report = read(&mut session()).unwrap_err();
    let error = report.downcast_ref::<Error>().unwrap();
    assert_eq!(error.code(), Code::SnapshotNotFound);
    assert_eq!(format!("{report:#}"), error.to_string());
}

#[test]
fn selector_errors_have_a_span_and_a_hint() {
    let error = Error::from(parse("^seq :frist", contextree::Edition::V0_3).unwrap_err());
    assert_eq!(error.code(), Code::SelectorInvalid);
    assert_eq!(error.location(), Some(&Location::Span { start: 5, end: 11 }));
    assert_eq!(error.hint(), Some("did you mean `:first`?"));
}

#[test]
fn json_errors_have_a_line_and_a_column() {
    let error = Error::from(contextree::json::parse(b"{\n  \"a\": [1 2]\n}").unwrap_err());
    assert_eq!(error.location(), Some(&Location::Line { line: 2, column: Some(11) }));
}

#[test]
fn store_errors_keep_their_type() {
    let store = contextree::open("memory:").unwrap();
    let error = Error::from(store.session("main").unwrap_err());
    assert_eq!((error.code(), error.kind()), (Code::ContextNotFound, Kind::NotFound));
    assert!(matches!(error.downcast_ref(), Some(StoreError::NotFound { .. })));
}

#[test]
fn own_errors_have_a_message_a_hint_and_a_source() {
    let cause = std::io::Error::other("no such device");
    let error = Error::new(Code::Io, "cannot read `x`").with_hint("check the path");
    let error = error.with_source(cause);
    assert_eq!(error.to_string(), "cannot read `x`");
    assert_eq!(error.source().unwrap().to_string(), "no such device");
    assert_eq!(format!("{error:?}"), "[E_IO] cannot read `x`; hint: check the path");
}

#[test]
fn only_conflicts_and_what_is_busy_or_unavailable_are_retryable() {
    let retryable: Vec<&str> = Code::ALL
        .iter()
        .filter(|code| code.kind().is_retryable())
        .map(|code| code.as_str())
        .collect();
    assert_eq!(retryable, ["E_CONFLICT", "E_OVERLOADED", "E_STORE_BUSY", "E_STORE_UNAVAILABLE"]);
}

#[test]
fn codes_are_sorted_and_read_back() {
    let texts: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert!(texts.is_sorted(), "{texts:?}");
    for code in Code::ALL {
        assert_eq!(Code::from_text(code.as_str()), Some(*code));
    }
}

#[test]
fn a_context_without_a_store_reports_the_same_error() {
    let refused = Context::new().remove("x").unwrap_err();
    assert_eq!(Error::from(refused).code(), Code::NodeNotFound);
}
