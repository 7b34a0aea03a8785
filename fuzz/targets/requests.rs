//! Arbitrary bytes as a log of any format: never a panic; what is imported can be rendered for every provider, on and anew alike; and
//! what was not a provider's own request to begin with is one that the provider accepts.
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
                let anew = render(snapshot.view(), provider, &RenderOptions::default());
                let on = renderer.render(snapshot.tree()).cloned();
                assert_eq!(on, anew, "rendered on and anew");
                let Ok(rendered) = anew else { continue };
                let value = rendered.value();
                assert!(value.as_object().is_some());
                // Tools and settings say what they say; what becomes of the conversation is ours.
                let mut findings = lint(&rendered);
                findings.retain(|finding| {
                    let slot = finding.slot.is_some_and(|slot| slot.list == List::Messages);
                    // Where results may stand anywhere, an id that was used twice can mean either call.
                    let ambiguous = ["duplicate_call_id", "output_type"].contains(&finding.code)
                        && provider == Provider::OpenAiResponses;
                    // A snapshot ends with what the model said, as it said it.
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
