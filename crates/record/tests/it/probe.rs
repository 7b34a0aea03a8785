//! Temporary.
use contextree::budget::Budget;
use crate::agent::{ALL, Agent, words};
use crate::fixture::Fixture;
use crate::fixture::json;

fn show(fixture: &mut Fixture, name: &str) {
            for line in fixture.finish() {
                match line {
                    contextree_record::Report::Call(line) => {
                        let r = line.receipt.clone().unwrap_or_default();
                        eprintln!("{name} {} {:?} b{} a{} out{} {:?} {:?}", line.cycle, line.relation, r.tokens_before, r.tokens_after, r.left_out, r.summary, r.missed);
                    }
                    other => eprintln!("{other:?}"),
                }
            }
}

#[test]
fn probe() {
    for provider in ALL {
            let budget = Budget::new().max_tokens(1200).keep_results(1);
            let mut fixture = Fixture::with(|config| config.budget = Some(budget));
            let mut agent = Agent::new(provider, Some("main"));
            for number in 0..12 {
                agent.say(&words(&format!("question {number}"), 20));
                agent.ask(&fixture);
                agent.call(number, &words(&format!("result {number}"), 150));
                agent.ask(&fixture);
            }
            show(&mut fixture, provider.name());
            let mut next = Fixture::over(fixture.store.clone(), fixture.upstream.clone(), |_| {});
            agent.say("whole");
            agent.ask(&next);
            show(&mut next, provider.name());
            let cycle = u32::try_from(next.snapshots("main")).expect("it is small");
            let sent = next.sent("main", cycle, provider);
            if sent != json(&agent.body()) {
                eprintln!("SENT {}\nOWN  {}", String::from_utf8_lossy(&sent.to_canonical()).replace(" rain", ""), agent.body().replace(" rain", ""));
            }
    }
}
#[test]
fn qrobe() {
    for provider in ALL {
            let budget = Budget::new().max_tokens(1200);
            let mut fixture = Fixture::with(|config| config.budget = Some(budget.clone()));
            let mut agent = Agent::new(provider, Some("main")).streaming();
            for number in 0..6 {
                agent.say(&words(&format!("question {number}"), 20));
                agent.ask(&fixture);
                agent.call(number, &words(&format!("result {number}"), 150));
                agent.ask(&fixture);
            }
            agent.say(&words("answer slowly", 300));
        let mut running = crate::fixture::open(fixture.address(), agent.path(), &[], agent.body().as_bytes());
        std::io::Read::read_exact(&mut running, &mut [0; 64]).expect("it streams");
        let before = fixture.upstream.received().last().unwrap().body.clone();
            let mut next = Fixture::over(fixture.store.clone(), fixture.upstream.clone(), |config| config.budget = Some(budget.clone()));
            agent.ask(&next);
            show(&mut next, provider.name());
            drop(running);
            show(&mut fixture, provider.name());
        let after = fixture.upstream.received().last().unwrap().body.clone();
            if before != after {
                eprintln!("BEFORE {}\nAFTER  {}", String::from_utf8_lossy(&before).replace(" rain", ""), String::from_utf8_lossy(&after).replace(" rain", ""));
            }
    }
}
