//! Imports arbitrary bytes as a log of any format: it never panics; what is imported renders for
//! every provider, with the same bytes and findings incrementally and in full; and unless it was the provider's
//! own request, the provider accepts it.
#![no_main]

use contextree_import::{Format, ImportOptions, import};
use contextree_provider::{List, Provider, RenderOptions, RequestRenderer, Severity, lint, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let chosen = Format::ALL[data.len() % Format::ALL.len()];
    for format in [Format::Auto, chosen] {
        let options = ImportOptions { keep_going: data.len() % 2 == 0, ..ImportOptions::default() };
        let Ok(imported) = import(data, format, options) else { continue };
        let own = imported.report.format.map(Format::provider);
        for provider in Provider::ALL {
            let mut renderer = RequestRenderer::new(provider, RenderOptions::default());
            for snapshot in imported.context.history().iter().take(8) {
                let full = render(snapshot.view(), provider, &RenderOptions::default());
                let on = renderer.render(snapshot.tree()).cloned();
                assert_eq!(on, full, "incremental and full rendering agree");
                let Ok(rendered) = full else { continue };
                let value = rendered.value();
                assert!(value.as_object().is_some());
                // Imported tools and settings may be invalid; only the conversation is ours.
                let mut findings = lint(&rendered);
                assert_eq!(renderer.lint(), findings, "incremental and full linting agree");
                findings.retain(|finding| {
                    let slot = finding.slot.is_some_and(|slot| slot.list == List::Messages);
                    // If results may follow at any distance, an id that is used twice can refer to
                    // either call.
                    let ambiguous = ["duplicate_call_id", "output_type"].contains(&finding.code)
                        && provider == Provider::OpenAiResponses;
                    // A snapshot ends with the model's text, unchanged.
                    let said = finding.code == "trailing_whitespace";
                    finding.severity == Severity::Error && slot && !ambiguous && !said
                });
                assert!(
                    findings.is_empty() || own == Some(provider),
                    "{findings:?}\n{}",
                    rendered.text()
                );
            }
        }
    }
});
