//! What to do next, in the words of this door: which route helps.

use contextree_app::{Advice, Hint};

/// Returns a hint as text; `None` for advice that makes no sense over HTTP.
pub(super) fn words(hint: &Hint) -> Option<String> {
    let advice = match hint {
        Hint::Text(text) => return Some(text.clone()),
        Hint::Advice(advice) => advice,
    };
    let text = match advice {
        Advice::ListSnapshots => "`GET log` lists the snapshots".to_owned(),
        Advice::FirstCommit => "`POST commit` makes the first snapshot".to_owned(),
        Advice::ExportWorking => "`GET export?at=@` returns the working state".to_owned(),
        Advice::ShowTree => "`GET show` returns the tree with all ids".to_owned(),
        Advice::ListContexts => "`GET contexts` lists the contexts".to_owned(),
        Advice::ListAttempts => "`GET attempts` lists the attempts".to_owned(),
        Advice::StartAttempt => "`POST attempt-start` starts one".to_owned(),
        Advice::Salvage => {
            "`POST verify` finds all damage; `GET export?what=salvage` returns the intact snapshots"
                .to_owned()
        }
        Advice::Explain(_) => "`GET explain` shows what each step matches".to_owned(),
        Advice::FindEverywhere(id) => {
            format!("select `@* {{ id='{id}' }}` to look for it in every snapshot")
        }
        Advice::DiffSince(cycle) => format!("`GET diff?from=@c{cycle}` returns what changed since"),
        Advice::DiffStates(range) => format!("`GET diff?from={range}` returns what changed"),
        Advice::SelectRange(_) => "`GET select` returns what changed in it".to_owned(),
        Advice::TwoStates(_) => "pass `from=A..B`, or `from=A` and `to=B`".to_owned(),
        Advice::SimilarContext(name) => format!("did you mean `{name}`?"),
        Advice::OnlyContext(name) => format!("there is one context: `{name}`"),
        Advice::NewContext(_) => "`POST new` creates it".to_owned(),
        Advice::NameMessages => "name the provider in `from`".to_owned(),
        Advice::ImportElsewhere(_) => {
            "import into a context of another name, or append messages to this one".to_owned()
        }
        Advice::NameProvider => "name the provider in `format`".to_owned(),
        Advice::KeepGoing => "`keep_going=true` skips bad lines, and lists them".to_owned(),
        Advice::NameAttempt(id) => format!("name one: `{id}`"),
        _ => return None,
    };
    Some(text)
}
