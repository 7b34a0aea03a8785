//! The loop of an agent: question, model call, tool call, result, next call. Run it again, and the conversation continues.

mod model;

use contextree::budget::Budget;
use contextree::calls::{Call, Request};
use contextree::provider::Provider;
use contextree::{ContextSettings, Error, Place, system, user};

fn main() -> Result<(), Error> {
    let budget = Budget::from_toml("max_tokens = 8000")?;
    let request = Request::new(Provider::OpenAiChat, "gpt-5");
    let store = contextree::open("agent.db")?;
    let mut session = store.session_or_new("weather", &ContextSettings::default())?;
    Call::running(&session)?.map(|call| call.cancel(&mut session)).transpose()?;
    session.update(|context| {
        if context.newest().is_none() {
            context.add(Place::system(), system("You are a weather bot."))?;
        }
        Ok::<_, Error>(context.add(Place::head(), user("Will it rain in Oslo?"))?)
    })?;
    loop {
        let call = request.begin_under(&mut session, &budget)?;
        let answer = call.complete(&mut session, &model::send(&call.bytes))?;
        let Some(_) = answer.tool_calls.first() else { break };
        answer.add_results(&mut session, |_tool| "rain from 14:00")?;
    }
    Ok(println!("{}", String::from_utf8_lossy(&session.working()?.thread())))
}
