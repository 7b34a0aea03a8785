//! A scripted model in place of your HTTP client: it asks for the forecast, then answers.

/// Returns the response to a request, as a provider returns it.
pub fn send(request: &[u8]) -> Vec<u8> {
    let request = String::from_utf8_lossy(request);
    let number = request.matches(r#""role":"assistant""#).count();
    let message = if request.ends_with(r#""content":"rain from 14:00"}]}"#) {
        r#"{"role":"assistant","content":"Yes, from two o'clock on."}"#.to_owned()
    } else {
        let function = r#"{"name":"forecast","arguments":"{\"city\":\"Oslo\"}"}"#;
        let call = format!(r#"{{"id":"call-{number}","type":"function","function":{function}}}"#);
        format!(r#"{{"role":"assistant","tool_calls":[{call}]}}"#)
    };
    format!(r#"{{"id":"response-{number}","choices":[{{"message":{message}}}]}}"#).into_bytes()
}
