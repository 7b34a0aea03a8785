//! The table of checks by kind.

use std::collections::BTreeMap;

use super::case::{Case, Edition};
use super::kinds::{self, Check, DiffSelector, Got};
use super::verdict::Verdict;

/// Runs a case with all checks.
#[must_use]
pub fn run(case: &Case, edition: Edition) -> Verdict {
    Runner::all().run(case, edition)
}

/// Checks by kind.
pub struct Runner {
    checks: BTreeMap<String, Box<dyn Check>>,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.checks.keys()).finish()
    }
}

impl Runner {
    /// Creates a runner with every check that does not need selectors.
    #[must_use]
    pub fn engine() -> Runner {
        Runner { checks: kinds::engine() }
    }

    /// Creates a runner with all checks.
    #[must_use]
    pub fn all() -> Runner {
        let mut checks = kinds::engine();
        checks.extend(kinds::selectors());
        Runner { checks }
    }

    /// Adds or replaces the check of a kind.
    #[must_use]
    pub fn with(mut self, kind: &str, check: impl Check + 'static) -> Runner {
        self.checks.insert(kind.to_owned(), Box::new(check));
        self
    }

    /// Enables cases of the kind `diff` that restrict the comparison by a selector.
    #[must_use]
    pub fn with_diff_selector(self, selector: impl DiffSelector + 'static) -> Runner {
        self.with("diff", kinds::diff(Some(Box::new(selector))))
    }

    /// Returns what the program returns for a case: for a check that answers some cases in another way.
    ///
    /// # Errors
    ///
    /// If there is no check for the kind, or the case cannot be run.
    pub fn answer(&self, case: &Case, edition: Edition) -> Result<Got, String> {
        let check = self.checks.get(&case.kind);
        check.ok_or_else(|| format!("no check for `{}`", case.kind))?.check(case, edition)
    }

    /// Runs a case, and the case that it must agree with, if there is one.
    #[must_use]
    pub fn run(&self, case: &Case, edition: Edition) -> Verdict {
        let verdict = self.run_alone(case, edition);
        match &case.same_as {
            Some(twin) if verdict.is_pass() => self.compare_twins(case, twin, edition),
            _ => verdict,
        }
    }

    fn run_alone(&self, case: &Case, edition: Edition) -> Verdict {
        let Some(check) = self.checks.get(&case.kind) else {
            return Verdict::Unsupported(case.kind.clone());
        };
        if let Some(missing) = check.misses(case) {
            return Verdict::Unsupported(missing);
        }
        match check.check(case, edition) {
            Ok(got) => Verdict::of(case, got),
            Err(why) => Verdict::Broken(why),
        }
    }

    /// Compares the results of both cases, for the keys that the case expects.
    fn compare_twins(&self, case: &Case, twin: &Case, edition: Edition) -> Verdict {
        let Some(check) = self.checks.get(&twin.kind) else {
            return Verdict::Unsupported(twin.kind.clone());
        };
        match check.check(twin, edition) {
            Ok(got) => Verdict::of(case, got),
            Err(why) => Verdict::Broken(format!("{}: {why}", twin.id)),
        }
    }
}
