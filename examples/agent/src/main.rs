//! One turn of an agent: question, tool call, result, budget, request. Run it again, and the next turn follows.

use contextree::budget::{Budget, Keeper};
use contextree::provider::{Provider, RenderOptions, render};
use contextree::{ContextSettings, Error, Place, SnapshotAddress};
use contextree::{system, tool_call, tool_result, user};

fn main() -> Result<(), Error> {
    let budget = Keeper::new(Budget::from_toml("tokenizer = 'gpt-5'\nmax_tokens = 8000")?);
    let store = contextree::open("agent.db")?;
    let mut session = store.session_or_new("weather", &ContextSettings::default())?;
    session.update(|context| {
        if context.head().is_none() {
            context.add(Place::system(), system("You are a weather bot."))?;
        }
        context.add(Place::head(), user("Will it rain in Oslo?"))?;
        context.add(Place::head(), tool_call("call-1", "forecast", r#"{"city":"Oslo"}"#))?;
        context.add(Place::head(), tool_result("call-1", "rain from 14:00"))?;
        Ok::<_, Error>(budget.commit(context)?)
    })?;
    let snapshot = session.snapshot(SnapshotAddress::Back(0))?;
    let options = RenderOptions::for_model("gpt-5");
    let request = render(snapshot.view(), Provider::OpenAiChat, &options)?;
    println!("{}", String::from_utf8_lossy(&request.bytes));
    Ok(())
}
