//! Tests that pruned sessions render to acceptable requests, and that incremental rendering gives
//! the same bytes as full rendering.

use contextree_import::Format;
use contextree_provider::{
    Provider, RenderError, RenderOptions, Rendered, RequestRenderer, Severity, lint, render,
};

use crate::session::Session;
use crate::support::{imported, samples};

const TURNS: usize = 300;

fn assert_sound(rendered: &Rendered, what: &str) {
    let mut findings = lint(rendered);
    findings.retain(|finding| finding.severity == Severity::Error);
    assert!(findings.is_empty(), "{what}: {findings:?}\n{}", rendered.text());
}

/// Renders, unless everything was pruned.
fn try_render(
    tree: contextree_tree::TreeRef<'_>,
    provider: Provider,
    what: &str,
) -> Option<Rendered> {
    match render(tree, provider, &RenderOptions::default()) {
        Ok(rendered) => {
            assert_sound(&rendered, what);
            Some(rendered)
        }
        Err(RenderError::Empty) => None,
        Err(error) => panic!("{what}: {error}"),
    }
}

fn check(seed: u64) {
    let owner = Provider::ALL[seed as usize % 4];
    let mut session = Session::new(seed, owner);
    let mut policy = session.policy();
    let mut renderers = Provider::ALL.map(|it| RequestRenderer::new(it, RenderOptions::default()));
    let mut rendered_once = 0;
    let mut before = Provider::ALL.map(|_| Vec::new());
    for turn in 0..TURNS {
        session.ask();
        if turn % 10 == 0 {
            for provider in Provider::ALL {
                let what = format!("seed {seed}, turn {turn}, {provider}, sent");
                try_render(session.context.working(), provider, &what);
            }
        }
        session.answer();
        if session.random.chance(5) {
            policy = session.policy();
        }
        session.commit(&policy);
        let tree = session.context.newest_tree().unwrap().clone();
        for (renderer, before) in renderers.iter_mut().zip(&mut before) {
            let kept = renderer.render(&tree).cloned().ok();
            let bytes = kept.as_ref().map(|kept| kept.bytes.clone()).unwrap_or_default();
            let same = renderer.kept();
            assert!(bytes.get(..same) == before.get(..same), "what is kept is what it was");
            *before = bytes;
            if turn % 3 == 0 {
                let what = format!("seed {seed}, turn {turn}");
                let provider = kept.as_ref().map_or(owner, |kept| kept.provider);
                if let Some(kept) = kept {
                    let full = try_render(tree.view(), provider, &what).unwrap();
                    assert!(
                        kept == full,
                        "{what}, {provider}: incremental and full rendering differ\n{}\n{}",
                        kept.text(),
                        full.text()
                    );
                    assert_eq!(renderer.lint(), lint(&full), "{what}, {provider}");
                    rendered_once += 1;
                }
            }
        }
    }
    assert!(rendered_once > TURNS / 2, "most turns have something to send");
}

#[test]
fn sessions_under_tight_budgets_render_without_errors() {
    for seed in 0..6 {
        check(seed);
    }
}

#[test]
fn incremental_rendering_of_sessions_equals_full_rendering() {
    for seed in 100..104 {
        let mut session = Session::new(seed, Provider::ALL[seed as usize % 4]);
        let mut renderers =
            Provider::ALL.map(|it| RequestRenderer::new(it, RenderOptions::default()));
        for turn in 0..60 {
            session.ask();
            session.answer();
            session.context.commit().unwrap();
            let tree = session.context.newest_tree().unwrap().clone();
            for renderer in &mut renderers {
                let kept = renderer.render(&tree).unwrap().clone();
                let full = render(tree.view(), kept.provider, &RenderOptions::default()).unwrap();
                assert!(kept == full, "seed {seed}, turn {turn}, {}", kept.provider);
            }
        }
    }
}

#[test]
fn pruned_imported_sessions_render_without_errors() {
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Auto) {
        for (name, text) in samples(format) {
            for seed in 0..40 {
                let mut session = Session::new(seed, format.provider());
                session.context = imported(&text, format).context;
                for _ in 0..4 {
                    session.ask();
                    let policy = session.policy();
                    session.commit(&policy);
                    for provider in Provider::ALL {
                        let what = format!("{format}/{name}, seed {seed}, {provider}");
                        try_render(session.context.newest().unwrap().view(), provider, &what);
                    }
                }
            }
        }
    }
}
