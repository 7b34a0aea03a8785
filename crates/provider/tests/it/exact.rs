//! Tests that OpenAI requests round-trip unchanged in every form, without losses.

use contextree_import::{Format, ImportOptions, import};
use contextree_json::Value;
use contextree_provider::{Provider, RenderOptions, render};

use crate::support::{assert_same, parse};

/// Imports and renders a request, with and without a commit.
fn there_and_back(request: &str, format: Format) -> (Value, Vec<&'static str>) {
    let imported = import(request.as_bytes(), format, ImportOptions::default());
    let imported = imported.unwrap_or_else(|error| panic!("{error}: {request}"));
    let rendered = render(imported.context.working(), format.provider(), &RenderOptions::default());
    let rendered = rendered.unwrap_or_else(|error| panic!("{error}: {request}"));
    let codes = rendered.losses.iter().map(|loss| loss.kind.code()).collect();
    (rendered.value(), codes)
}

fn check(request: &str, format: Format) {
    let (value, codes) = there_and_back(request, format);
    assert_same(&value, &parse(request.as_bytes()), request);
    assert!(codes.is_empty(), "{codes:?}: {request}");
}

fn chat(messages: &str) {
    check(&format!(r#"{{"model":"m","messages":[{messages}]}}"#), Format::OpenAiChat);
}

fn responses(items: &str) {
    check(&format!(r#"{{"model":"m","input":[{items}]}}"#), Format::OpenAiResponses);
}

const USER: &str = r#"{"role":"user","content":"hi"}"#;
const CALL: &str = r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}"#;
const CUSTOM: &str = r#"{"id":"a","type":"custom","custom":{"name":"c","input":"x"}}"#;
const RESULT: &str = r#"{"role":"tool","tool_call_id":"a","content":"ok"}"#;
const FUNCTION: &str = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"a","output":"ok"}"#;

#[test]
fn call_round_trips_with_every_form_of_content() {
    let contents = ["", r#""content":null,"#, r#""content":"","#, r#""content":[],"#];
    let contents = contents
        .into_iter()
        .chain([r#""content":"t","#, r#""content":[{"type":"text","text":"t"}],"#]);
    for content in contents {
        for refusal in ["", r#""refusal":"no","#] {
            for call in [CALL, CUSTOM] {
                chat(&format!(
                    r#"{USER},{{"role":"assistant",{content}{refusal}"tool_calls":[{call}]}},{RESULT}"#
                ));
            }
            let said = format!(r#"{{"role":"assistant",{content}{refusal}"name":"n"}}"#);
            chat(&format!("{USER},{said},{USER}"));
        }
    }
}

#[test]
fn empty_lists_round_trip() {
    chat(&format!(r#"{USER},{{"role":"assistant","content":"x","tool_calls":[]}}"#));
    let request = format!(r#"{{"messages":[{USER}],"tools":[]}}"#);
    check(&request, Format::OpenAiChat);
    check(&request.replace("messages", "input"), Format::OpenAiResponses);
    responses(&format!(r#"{USER},{{"role":"assistant","content":[]}}"#));
    let message =
        r#"{"type":"message","id":"m","role":"assistant","status":"completed","content":[]}"#;
    responses(&format!("{USER},{message}"));
}

#[test]
fn fields_keep_their_place() {
    let call =
        r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{}","x":1},"x":2}"#;
    let custom =
        r#"{"id":"b","type":"custom","custom":{"name":"f","input":"","x":1},"x":2,"function":3}"#;
    let answers = format!("{RESULT},{}", RESULT.replace("\"a\"", "\"b\""));
    chat(&format!(
        r#"{USER},{{"role":"assistant","content":null,"tool_calls":[{call},{custom}]}},{answers}"#
    ));
    chat(
        r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"u","detail":"low","x":1},"x":2}]}"#,
    );
    chat(
        r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"},"detail":"low"}]}"#,
    );
    chat(
        r#"{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"A","format":"mpeg"}}]}"#,
    );
}

#[test]
fn missing_fields_are_not_added() {
    let tool = |fields: &str| {
        let own = format!(r#"{{"type":"function","name":"f"{fields}}}"#);
        check(&format!(r#"{{"input":[{USER}],"tools":[{own}]}}"#), Format::OpenAiResponses);
        let own = format!(r#"{{"type":"function","function":{{"name":"f"{fields}}}}}"#);
        check(&format!(r#"{{"messages":[{USER}],"tools":[{own}]}}"#), Format::OpenAiChat);
    };
    tool("");
    tool(r#","description":"d""#);
    tool(r#","description":null,"parameters":null,"strict":null"#);
    tool(r#","parameters":{"type":"object"}"#);
    responses(r#"{"role":"user","content":[{"type":"input_image","image_url":"https://x"}]}"#);
    chat(&format!(
        r#"{USER},{{"role":"assistant","content":null,"tool_calls":[{{"id":"a","type":"function","function":{{"name":"f"}}}}]}},{RESULT}"#
    ));
}

#[test]
fn unknown_words_round_trip_to_their_own_provider() {
    chat(
        r#"{"role":"critic","content":"x"},{"role":"critic","content":[{"type":"text","text":"y"}]}"#,
    );
    responses(r#"{"role":"critic","content":"x"}"#);
    chat(&format!(
        r#"{USER},{{"role":"assistant","content":null,"function_call":{{"name":"f","arguments":"{{}}"}}}},{{"role":"function","name":"f","content":null}}"#
    ));
    chat(
        r#"{"role":"user","content":"x","refusal":"r"},{"role":"user","content":null},{"role":"user","content":5}"#,
    );
    chat(
        r#"{"role":"user","content":[{"type":"thinking","thinking":"x"},{"type":"tool_result","x":1},{"type":"reasoning"},{"type":"tool"}]}"#,
    );
    chat(&format!(
        r#"{USER},{{"role":"assistant","content":[{{"type":"thinking","thinking":[]}},{{"type":"text","text":"x"}}]}}"#
    ));
    responses(&format!(
        r#"{USER},{{"type":"tool_call","x":1}},{{"type":"result"}},{{"type":"image"}},{{"type":"thinking"}},{{"type":"tool"}},{{"type":"call","call_id":"q"}}"#
    ));
}

#[test]
fn results_without_content_round_trip() {
    let call = format!(r#"{USER},{{"role":"assistant","content":null,"tool_calls":[{CALL}]}}"#);
    chat(&format!(r#"{call},{{"role":"tool","tool_call_id":"a","content":null}}"#));
    chat(&format!(r#"{call},{{"role":"tool","tool_call_id":"a"}}"#));
    chat(&format!(r#"{call},{{"role":"tool","tool_call_id":"a","content":[]}}"#));
}

#[test]
fn string_input_stays_a_string_while_it_is_the_only_message() {
    for text in ["hello", ""] {
        let request = format!(r#"{{"model":"m","input":"{text}","temperature":0}}"#);
        check(&request, Format::OpenAiResponses);
    }
    let imported =
        import(br#"{"input":"hello"}"#, Format::OpenAiResponses, ImportOptions::default()).unwrap();
    let mut context = imported.context;
    let answer = contextree_engine::NewNode::text("Yes?").role("assistant").kind("text");
    context.add(contextree_engine::Place::head(), answer).unwrap();
    let rendered =
        render(context.working(), Provider::OpenAiResponses, &RenderOptions::default()).unwrap();
    let expected =
        r#"{"input":[{"role":"user","content":"hello"},{"role":"assistant","content":"Yes?"}]}"#;
    assert_eq!(rendered.text(), expected);
}

#[test]
fn outputs_keep_their_type() {
    let custom = r#"{"type":"custom_tool_call","call_id":"a","name":"c","input":"x"}"#;
    responses(&format!("{USER},{custom},{OUTPUT}"));
    responses(&format!(
        "{USER},{FUNCTION},{}",
        OUTPUT.replace("function_call", "custom_tool_call")
    ));
    for id in ["", r#""call_id":null,"#] {
        let output = format!(r#"{{"type":"function_call_output",{id}"output":"x","name":"f"}}"#);
        responses(&format!("{USER},{output}"));
    }
}

#[test]
fn assistant_content_in_a_list_stays_in_a_list() {
    responses(&format!(
        r#"{USER},{{"role":"assistant","content":[{{"type":"input_text","text":"x"}},{{"type":"input_file","file_data":"AAA","filename":"n"}},{{"type":"input_image","image_url":"u"}}]}},{{"role":"assistant","content":[{{"type":"refusal","refusal":"no"}}]}}"#
    ));
}

#[test]
fn outputs_keep_their_position() {
    let other = r#"{"role":"assistant","content":"yes"}"#;
    responses(&format!("{USER},{FUNCTION},{USER},{OUTPUT}"));
    responses(&format!("{USER},{FUNCTION},{USER},{other},{USER},{other},{USER},{OUTPUT},{other}"));
    let shell = r#"{"type":"shell_call","call_id":"s","action":{"commands":["ls"]}}"#;
    let shown = r#"{"type":"shell_call_output","call_id":"s","output":[]}"#;
    responses(&format!("{USER},{FUNCTION},{shell},{shown},{OUTPUT}"));
    responses(&format!("{USER},{shell},{FUNCTION},{OUTPUT},{shown}"));
    let open = FUNCTION.replace("\"name\"", "\"async\":true,\"name\"");
    responses(&format!("{USER},{open},{USER}"));
    responses(&format!("{USER},{open},{other},{USER},{other},{OUTPUT}"));
}

#[test]
fn results_may_answer_calls_stored_by_the_provider() {
    for (name, id) in [("previous_response_id", "resp_1"), ("conversation", "conv_1")] {
        let request = format!(r#"{{"model":"m","input":[{OUTPUT},{USER}],"{name}":"{id}"}}"#);
        check(&request, Format::OpenAiResponses);
    }
    let thread = r#"{"type":"continue","previous_message_id":"msg_1"}"#;
    let result = r#"{"type":"tool_result","tool_use_id":"a","content":"sun"}"#;
    let message = format!(r#"{{"role":"user","content":[{result}]}}"#);
    let request = format!(r#"{{"model":"m","messages":[{message}],"thread":{thread}}}"#);
    check(&request, Format::Anthropic);
    responses(&format!(r#"{{"type":"item_reference","id":"fc_1"}},{OUTPUT}"#));
    responses(&format!(r#"{{"id":"fc_1"}},{OUTPUT}"#));
    for kind in ["local_shell_call", "apply_patch_call", "computer_call", "tool_search_call"] {
        let call = format!(r#"{{"type":"{kind}","id":"i","call_id":"a","status":"completed"}}"#);
        responses(&format!("{USER},{call},{OUTPUT},{USER}"));
        let reasoning = r#"{"type":"reasoning","id":"rs","summary":[]}"#;
        responses(&format!(
            "{USER},{reasoning},{call},{},{OUTPUT},{}",
            FUNCTION.replace("\"a\"", "\"b\""),
            OUTPUT.replace("\"a\"", "\"b\"")
        ));
    }
}

#[test]
fn configuration_items_are_not_assistant_messages() {
    let tools = r#"{"type":"additional_tools","role":"developer","tools":[]}"#;
    let update = r#"{"type":"configuration_update","reasoning":{"effort":"low"}}"#;
    let compaction = r#"{"type":"compaction","encrypted_content":"x"}"#;
    let said = r#"{"role":"assistant","content":"yes"}"#;
    let reasoning = r#"{"type":"reasoning","id":"rs","summary":[]}"#;
    responses(&format!("{tools},{USER},{said},{update},{USER},{reasoning},{compaction},{said}"));
    for first in [tools, update, compaction] {
        let request = format!(r#"{{"input":[{first},{USER},{said}]}}"#);
        let imported =
            import(request.as_bytes(), Format::OpenAiResponses, ImportOptions::default()).unwrap();
        assert_eq!(imported.report.commits, 1, "it belongs to the turn that it starts: {first}");
    }
}
