//! The one error type: a stable code, a kind, a place and a hint.

mod code;
mod convert;
mod location;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

pub use code::{Code, Kind};
pub use location::Location;

/// The result of the functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type BoxedError = Box<dyn StdError + Send + Sync>;

/// Why something failed.
///
/// Every error type of Contextree converts into it with `?`, also inside [`Session::update`](crate::Session::update). The typed error
/// that caused it stays available through [`Error::downcast_ref`].
///
/// ```
/// use contextree::{Code, Context, Kind, OpError};
///
/// fn forget(context: &mut Context, id: &str) -> contextree::Result<()> {
///     context.remove(id)?;
///     Ok(())
/// }
/// let error = forget(&mut Context::new(), "block:1.1").unwrap_err();
/// assert_eq!(error.code(), Code::NodeNotFound);
/// assert_eq!(error.code().as_str(), "E_NODE_NOT_FOUND");
/// assert_eq!(error.kind(), Kind::NotFound);
/// assert!(error.hint().is_some());
/// assert!(matches!(error.downcast_ref(), Some(OpError::NodeNotFound { .. })));
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    code: Code,
    location: Option<Location>,
    hint: Option<Cow<'static, str>>,
    cause: Cause,
}

enum Cause {
    /// An error of one of the crates below, whose message is the message.
    Typed(BoxedError),
    /// A message, and what it is about.
    Message { text: String, source: Option<BoxedError> },
}

impl Error {
    /// Returns an error with a code and a message, for programs that report their own failures like those of Contextree.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error::of(code, Cause::Message { text: message.into(), source: None })
    }

    fn typed(code: &str, error: impl StdError + Send + Sync + 'static) -> Self {
        // A test compares the list of codes with the workspace, so the second case is a bug.
        let code = Code::from_text(code).unwrap_or(Code::Internal);
        Error::of(code, Cause::Typed(Box::new(error)))
    }

    fn of(code: Code, cause: Cause) -> Self {
        Error(Box::new(Inner { code, location: None, hint: None, cause }))
    }

    /// Sets where the error is.
    #[must_use]
    pub fn with_location(mut self, location: Location) -> Self {
        self.0.location = Some(location);
        self
    }

    /// Sets what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Sets the error that caused this one, and keeps code, message, location and hint.
    #[must_use]
    pub fn with_source(mut self, error: impl StdError + Send + Sync + 'static) -> Self {
        let text = self.to_string();
        self.0.cause = Cause::Message { text, source: Some(Box::new(error)) };
        self
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns what sort of failure it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.code.kind()
    }

    /// Returns where the error is, if it is in something that the caller passed.
    #[must_use]
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns the typed error that this one was made from, if it is a `T`: [`StoreError`](crate::StoreError),
    /// [`OpError`](crate::OpError), …
    #[must_use]
    pub fn downcast_ref<T: StdError + 'static>(&self) -> Option<&T> {
        match &self.0.cause {
            Cause::Typed(error) => error.downcast_ref(),
            Cause::Message { source, .. } => source.as_ref()?.downcast_ref(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.cause {
            Cause::Typed(error) => error.fmt(formatter),
            Cause::Message { text, .. } => formatter.write_str(text),
        }
    }
}

impl fmt::Debug for Error {
    /// Writes what a person needs, because this is what a `main` that returns the error prints.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{}] {self}", self.code())?;
        match self.hint() {
            Some(hint) => write!(formatter, "; hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    /// Returns the cause below the message. The typed error that the message comes from is not its own cause: reports that print
    /// the whole chain would print it twice.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.cause {
            Cause::Typed(error) => error.source(),
            Cause::Message { source, .. } => source.as_deref().map(|source| source as _),
        }
    }
}
