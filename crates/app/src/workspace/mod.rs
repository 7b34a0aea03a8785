//! What commands work on: a context of a store, or a document.
//!
//! A server opens its store once ([`Workspace::over`]); a program that runs one command names it by URL ([`Workspace::at`]), and the
//! command opens it. Neither reads a clock or the environment: the door passes the time.

mod address;
mod bounded;
mod change;
mod compared;
mod file;
mod memo;
mod names;
mod outline;
mod reader;
mod state;
mod store;
mod stretches;
mod watch;

use std::sync::Arc;

use contextree::store::{Store, Tenant, display_url};
use contextree::{Clock, Edition, LogicalClock};
use tracing::span::EnteredSpan;

pub use address::{Address, InvalidAddress, Range};
pub use bounded::{MOST_OF_A_FILE, MOST_OF_A_STREAM, read_within};
pub use change::Change;
pub(crate) use change::{is_name, place_of, targets};
pub use compared::{CompareError, Compared, StateRef};
pub(crate) use file::{FileSource, Kind, objects};
pub use names::Names;
pub(crate) use outline::{Mark, Outline, Row, Sums};
pub(crate) use reader::Reader;
pub(crate) use state::State;
pub(crate) use store::{Access, OpenStore};
pub use stretches::Source;
pub(crate) use stretches::Stretches;
pub use watch::Watch;

use crate::wire::ContextRow;
use crate::{Document, Error};
use memo::Memo;

/// What commands work on, and how: store or document, context, edition of selectors, clock.
#[derive(Clone)]
pub struct Workspace {
    location: Location,
    context: String,
    names: Names,
    tenant: Option<Tenant>,
    edition: Option<Edition>,
    clock: Arc<dyn Clock>,
    memo: Arc<Memo>,
}

#[derive(Clone)]
enum Location {
    /// A store that each command opens for itself. `shown` is the URL without its password.
    Url { url: String, shown: String },
    /// A store that is open.
    Store { store: Store, shown: String },
    /// A document.
    File(Arc<FileSource>),
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Workspace")
            .field("location", &self.url())
            .field("context", &self.context)
            .field("edition", &self.edition)
            .finish_non_exhaustive()
    }
}

impl Workspace {
    fn new(location: Location) -> Self {
        Workspace {
            location,
            context: "main".to_owned(),
            names: Names::all(),
            tenant: None,
            edition: None,
            clock: Arc::new(LogicalClock),
            memo: Arc::default(),
        }
    }

    /// Returns a workspace on the store at a URL: `sqlite:PATH`, `postgres://…` or `memory:`. Every command opens it for itself and
    /// creates it only if that is the command's purpose.
    pub fn at(url: impl Into<String>) -> Self {
        let url = url.into();
        Workspace::new(Location::Url { shown: display_url(&url), url })
    }

    /// Returns a workspace on an open store. `url` is its name in messages.
    pub fn over(store: Store, url: impl AsRef<str>) -> Self {
        Workspace::new(Location::Store { store, shown: display_url(url.as_ref()) })
    }

    /// Returns a workspace on a document, which can only be read: a snapshot, a history (JSON Lines) or a fixture
    /// `{"snapshots":[…],"working":…}`.
    ///
    /// # Errors
    ///
    /// If the document is of another kind.
    pub fn of_document(document: &Document) -> Result<Self, Error> {
        let file = FileSource::parse(&document.name, &document.text)?;
        Ok(Workspace::new(Location::File(Arc::new(file))))
    }

    /// Returns the same workspace with another context; `main` is the default.
    #[must_use]
    pub fn with_context(mut self, name: impl Into<String>) -> Self {
        self.context = name.into();
        self
    }

    /// Returns the same workspace with fewer contexts: only those of these names exist for its commands.
    #[must_use]
    pub fn with_names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// Returns the same workspace, whose commands open the store for one tenant. A store that is open stays as it is; see
    /// [`Store::for_tenant`].
    #[must_use]
    pub fn with_tenant(mut self, tenant: Option<Tenant>) -> Self {
        self.tenant = tenant;
        self
    }

    /// Returns the same workspace with an edition of selectors; the default is that of the context, and 0.3 for documents.
    #[must_use]
    pub fn with_edition(mut self, edition: Option<Edition>) -> Self {
        self.edition = edition;
        self
    }

    /// Returns the same workspace with a clock. The default is a logical one; a store that is open keeps its own.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the name of the context.
    #[must_use]
    pub fn context(&self) -> &str {
        &self.context
    }

    /// Returns the edition that was asked for.
    #[must_use]
    pub fn edition(&self) -> Option<Edition> {
        self.edition
    }

    /// Returns the URL of the store as it may be shown, without a password, or the name of the document.
    #[must_use]
    pub fn url(&self) -> &str {
        match &self.location {
            Location::Url { shown, .. } | Location::Store { shown, .. } => shown,
            Location::File(file) => &file.place,
        }
    }

    /// Returns the tenant that the commands open the store for.
    pub(crate) fn tenant(&self) -> Option<&Tenant> {
        self.tenant.as_ref()
    }

    /// Returns the path of the SQLite file that the commands open.
    pub(crate) fn sqlite_path(&self) -> Option<&str> {
        match &self.location {
            Location::Url { url, .. } => url.strip_prefix("sqlite:"),
            _ => None,
        }
    }

    /// Returns whether this is a document, which can only be read.
    #[must_use]
    pub fn is_document(&self) -> bool {
        matches!(self.location, Location::File(_))
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns what is kept between commands.
    pub(crate) fn memo(&self) -> &Memo {
        &self.memo
    }

    /// Opens the context or document to be read.
    pub(crate) fn read(&self) -> Result<Reader, Error> {
        Reader::open(self)
    }

    /// Returns the row of the context, and a text that changes exactly when the contents of one of these snapshots do; no text if one of the
    /// states is not a snapshot. The context is read once for both.
    ///
    /// # Errors
    ///
    /// If the context or one of the states does not exist, or cannot be read.
    pub fn stamp_of_snapshots(
        &self,
        addresses: &[Address],
    ) -> Result<(Option<ContextRow>, Option<String>), Error> {
        let mut reader = self.read()?;
        let row = reader.stored().map(|stored| ContextRow::from(stored.row()));
        let mut stamp = reader.edition().to_string();
        for address in addresses {
            if *address == Address::Working {
                return Ok((row, None));
            }
            let state = reader.state(*address)?;
            stamp.push('\n');
            stamp.push_str(&reader.fingerprint(&state)?);
        }
        Ok((row, Some(stamp)))
    }

    /// Enters the span of a command.
    pub(crate) fn span(&self, command: &'static str) -> EnteredSpan {
        let (store, context) = (self.url(), self.context());
        tracing::debug_span!("command", command, store, context).entered()
    }
}
