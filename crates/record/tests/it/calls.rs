//! What passes, and what is recorded of it.

use contextree::AttemptStatus;
use contextree::json::{Value, parse};
use contextree::provider::Provider;
use contextree_app::record::Relation;
use contextree_record::Outcome;

use crate::fixture::{Fixture, json, open, post, request};

const KEY: (&str, &str) = ("x-api-key", "sk-secret");

/// A conversation of one format: path, first request, and what the next one adds after the answer.
struct Format {
    provider: Provider,
    path: &'static str,
    upstream: &'static str,
    first: &'static str,
}

const FORMATS: [Format; 4] = [
    Format {
        provider: Provider::Anthropic,
        path: "/anthropic/v1/messages",
        upstream: "/v1/messages",
        first: r#"{"model":"m","max_tokens":9,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"get_weather","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Will it rain?"}]}"#,
    },
    Format {
        provider: Provider::OpenAiChat,
        path: "/openai/chat/completions",
        upstream: "/v1/chat/completions",
        first: r#"{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Will it rain?"}],"temperature":0.5}"#,
    },
    Format {
        provider: Provider::OpenAiResponses,
        path: "/openai/responses",
        upstream: "/v1/responses",
        first: r#"{"model":"m","instructions":"Be brief.","input":[{"role":"user","content":"Will it rain?"}],"store":false}"#,
    },
    Format {
        provider: Provider::Gemini,
        path: "/google/v1beta/models/gemini-1:generateContent",
        upstream: "/v1beta/models/gemini-1:generateContent",
        first: r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Will it rain?"}]}],"generationConfig":{"temperature":0.5}}"#,
    },
];

impl Format {
    /// Returns the second request: the first with its answer and another question.
    fn second(&self, answer: &Value) -> String {
        let Value::Object(mut object) = json(self.first) else { panic!("it is an object") };
        let field = self.provider.messages_field();
        let mut list = object.get(field).and_then(Value::as_array).expect("a list").to_vec();
        let at = |name: &str| answer.get(name).expect("it is there").clone();
        let first = |list: &Value| list.as_array().expect("a list")[0].clone();
        match self.provider {
            Provider::Anthropic => {
                list.push(
                    parse(
                        &[
                            br#"{"role":"assistant","content":"#,
                            &at("content").to_canonical()[..],
                            b"}",
                        ]
                        .concat(),
                    )
                    .expect("it is JSON"),
                );
                list.push(json(r#"{"role":"user","content":"And tomorrow?"}"#));
            }
            Provider::OpenAiChat => {
                let message = first(&at("choices")).get("message").expect("it is there").clone();
                let text = message.get("content").expect("it is there").clone();
                list.push(
                    parse(
                        &[br#"{"role":"assistant","content":"#, &text.to_canonical()[..], b"}"]
                            .concat(),
                    )
                    .expect("it is JSON"),
                );
                list.push(json(r#"{"role":"user","content":"And tomorrow?"}"#));
            }
            Provider::OpenAiResponses => {
                list.extend(at("output").as_array().expect("a list").to_vec());
                list.push(json(r#"{"role":"user","content":"And tomorrow?"}"#));
            }
            _ => {
                list.push(first(&at("candidates")).get("content").expect("it is there").clone());
                list.push(json(r#"{"role":"user","parts":[{"text":"And tomorrow?"}]}"#));
            }
        }
        object.insert(field, Value::Array(list));
        String::from_utf8(Value::Object(object).to_canonical()).expect("it is ASCII")
    }
}

#[test]
fn requests_and_responses_pass_unchanged_and_every_call_is_a_snapshot() {
    for format in FORMATS {
        let mut fixture = Fixture::new();
        let direct =
            post(fixture.upstream.address(), format.upstream, &[KEY], format.first.as_bytes());
        let first = fixture.post(format.path, &[KEY], format.first);
        assert_eq!((first.status, &first.body), (200, &direct.body), "{}", format.provider);
        let second = format.second(&parse(&first.body).expect("it is JSON"));
        assert_eq!(fixture.post(format.path, &[KEY], &second).status, 200);

        let received = fixture.upstream.received();
        assert_eq!(received[1].path, format.upstream);
        assert_eq!(received[1].body, format.first.as_bytes());
        assert_eq!(received[1].header("x-api-key"), Some("sk-secret"), "credentials pass");

        let lines = fixture.stop();
        let relations: Vec<_> = lines.iter().map(|line| line.relation.clone()).collect();
        assert_eq!(relations, [Relation::New, Relation::Continued], "{}", format.provider);
        assert_eq!(fixture.contexts(), ["agent-1"]);
        assert_eq!(fixture.sent("agent-1", 1, format.provider), json(format.first));
        assert_eq!(fixture.sent("agent-1", 2, format.provider), json(&second));
        let attempts = fixture.attempts("agent-1");
        assert_eq!(attempts.len(), 2);
        assert!(attempts.iter().all(|it| it.status == AttemptStatus::Completed));
        assert!(attempts.iter().all(|it| it.token_out == Some(12) && it.input.is_some()));
        assert!(attempts[0].ended_at > Some(attempts[0].started_at - 1));
    }
}

#[test]
fn streams_pass_unchanged_and_are_recorded_as_the_whole_answer() {
    for format in FORMATS {
        let mut fixture = Fixture::new();
        let (path, upstream, body) = match format.provider {
            Provider::Gemini => (
                format.path.replace(":generate", ":streamGenerate") + "?alt=sse",
                format.upstream.replace(":generate", ":streamGenerate") + "?alt=sse",
                format.first.to_owned(),
            ),
            _ => {
                let body = format.first.replacen("{", r#"{"stream":true,"#, 1);
                (format.path.to_owned(), format.upstream.to_owned(), body)
            }
        };
        let direct = post(fixture.upstream.address(), &upstream, &[], body.as_bytes());
        let through = fixture.post(&path, &[], &body);
        assert_eq!((through.status, &through.body), (200, &direct.body), "{}", format.provider);
        let lines = fixture.stop();
        assert!(matches!(lines[0].outcome, Outcome::Completed(_)), "{:?}", lines[0]);
        assert_eq!(fixture.sent("agent-1", 1, format.provider), json(&body));
        let reader = fixture.store.reader("agent-1").expect("it was recorded");
        let working = reader.working().expect("it can be read");
        let mut nodes = working.view().region(contextree::Region::Head).subtree();
        let said = nodes.find_map(|(_, node)| node.content().as_text().map(str::to_owned));
        assert_eq!(said.as_deref(), Some("You said: Will it rain?"), "{}", format.provider);
    }
}

#[test]
fn tool_calls_continue_their_context() {
    let mut fixture = Fixture::new();
    let tools = ("tools", json(r#"[{"name":"get_weather","input_schema":{"type":"object"}}]"#));
    let first = request("s", &["use the tool"], std::slice::from_ref(&tools));
    let answer = fixture.post("/v1/messages", &[], &first);
    let content =
        parse(&answer.body).expect("it is JSON").get("content").expect("it is there").clone();
    let id = content.as_array().expect("a list")[1]
        .get("id")
        .and_then(Value::as_str)
        .expect("an id")
        .to_owned();
    let mut second = json(&first);
    let Value::Object(object) = &mut second else { panic!("it is an object") };
    let Some(Value::Array(list)) = object.get_mut("messages") else { panic!("a list") };
    list.push(
        parse(&[br#"{"role":"assistant","content":"#, &content.to_canonical()[..], b"}"].concat())
            .expect("it is JSON"),
    );
    list.push(json(&format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"Rain."}}]}}"#)));
    let second = String::from_utf8(second.to_canonical()).expect("it is ASCII");
    assert_eq!(fixture.post("/v1/messages", &[], &second).status, 200);
    let lines = fixture.stop();
    assert_eq!(lines[1].relation, Relation::Continued);
    assert_eq!(fixture.sent("agent-1", 2, Provider::Anthropic), json(&second));
}

#[test]
fn failed_calls_and_retries_are_attempts_of_one_cycle() {
    let mut fixture = Fixture::new();
    let body = request("s", &["fail once"], &[]);
    assert_eq!(fixture.post("/v1/messages", &[], &body).status, 500);
    assert_eq!(fixture.post("/v1/messages", &[], &body).status, 200);
    let lines = fixture.stop();
    assert_eq!(lines[1].relation, Relation::Retried);
    let attempts = fixture.attempts("agent-1");
    let error = AttemptStatus::Error("500 api_error: try again".to_owned());
    assert_eq!((&attempts[0].status, attempts[0].cycle_id.get()), (&error, 1));
    assert_eq!((&attempts[1].status, attempts[1].cycle_id.get()), (&AttemptStatus::Completed, 1));
    assert_eq!(fixture.snapshots("agent-1"), 1);
}

#[test]
fn stream_that_breaks_off_keeps_what_arrived() {
    let mut fixture = Fixture::new();
    let body = request("s", &["please break off in the middle of it"], &[("stream", true.into())]);
    let answer = fixture.post("/v1/messages", &[], &body);
    assert_eq!(answer.status, 200);
    let lines = fixture.stop();
    assert!(
        matches!(&lines[0].outcome, Outcome::Failed(why) if why.contains("broke off")),
        "{:?}",
        lines[0]
    );
    let attempts = fixture.attempts("agent-1");
    assert_eq!(attempts[0].partial.as_deref(), Some("You said: please break off "));
    assert_eq!(fixture.snapshots("agent-1"), 0);
}

#[test]
fn client_that_goes_away_cancels_its_call() {
    let mut fixture = Fixture::new();
    let body = request(
        "s",
        &["answer slowly, word by word, so that I can leave"],
        &[("stream", true.into())],
    );
    let mut stream = open(fixture.address(), "/v1/messages", &[], body.as_bytes());
    let mut seen = Vec::new();
    while !seen.windows(7).any(|it| it == b"slowly,") {
        let mut piece = [0; 512];
        let length = std::io::Read::read(&mut stream, &mut piece).expect("it streams");
        seen.extend_from_slice(&piece[..length]);
    }
    drop(stream);
    let lines = fixture.stop();
    assert_eq!(lines[0].outcome, Outcome::Canceled);
    let attempts = fixture.attempts("agent-1");
    assert_eq!(attempts[0].status, AttemptStatus::Canceled);
    assert!(
        attempts[0].partial.as_deref().is_some_and(|it| it.starts_with("You said: answer slowly,"))
    );
}

#[test]
fn what_is_not_a_model_call_passes_and_is_not_recorded() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.post("/v1/messages/count_tokens", &[], "{}").status, 200);
    assert_eq!(fixture.post("/openai/embeddings", &[], "not JSON").status, 200);
    assert!(fixture.stop().is_empty());
    assert!(fixture.contexts().is_empty());
}
