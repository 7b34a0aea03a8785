//! The configurations in `docs/mcp.md` are what clients read, and the program accepts the commands in them.

use std::collections::BTreeMap;
use std::fs;

use contextree::json::{Value, parse};
use toml::de::{DeTable, DeValue};

use crate::pages::root;

const URL: &str = "http://127.0.0.1:8377/mcp";

/// A block of code below the bold name of a client.
struct Block {
    client: String,
    language: String,
    text: String,
}

/// Returns the blocks of a section that belong to a client.
fn blocks(page: &str, from: &str, to: &str) -> Vec<Block> {
    let section = page.split_once(from).expect("the section begins").1;
    let section = section.split_once(to).expect("the section ends").0;
    let (mut found, mut client) = (Vec::new(), String::new());
    let mut lines = section.lines();
    while let Some(line) = lines.next() {
        if let Some((name, _)) = line.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
            client = name.to_owned();
        }
        let Some(language) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if !client.is_empty() {
            let (client, language) = (std::mem::take(&mut client), language.to_owned());
            found.push(Block { client, language, text: text.join("\n") });
        }
    }
    found
}

/// Returns the only server of a configuration, as JSON.
fn server(block: &Block) -> Value {
    let (document, key) = match &*block.language {
        "toml" => {
            let table = DeTable::parse(&block.text).expect("it is TOML").into_inner();
            (to_json(&DeValue::Table(table)), "mcp_servers")
        }
        "json" => {
            let key = if block.client == "VS Code" { "servers" } else { "mcpServers" };
            (parse(block.text.as_bytes()).expect("it is JSON"), key)
        }
        other => panic!("{}: {other} is not a configuration", block.client),
    };
    let servers = document.get(key).unwrap_or_else(|| panic!("{}: no {key}", block.client));
    assert_eq!(servers.as_object().map(|all| all.keys().collect()), Some(vec!["contextree"]));
    servers.get("contextree").expect("it was just found").clone()
}

/// Returns a value of TOML as JSON.
fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::Table(table) => {
            let entry = |(name, value): (&_, &toml::Spanned<DeValue<'_>>)| {
                let name: &toml::Spanned<std::borrow::Cow<'_, str>> = name;
                (name.get_ref().to_string(), to_json(value.get_ref()))
            };
            Value::Object(table.iter().map(entry).collect())
        }
        DeValue::Array(list) => {
            Value::Array(list.iter().map(|item| to_json(item.get_ref())).collect())
        }
        DeValue::String(text) => Value::from(&**text),
        other => panic!("{other:?} is in no configuration"),
    }
}

/// Checks that the program accepts a command line, and that it is `mcp` on a store.
fn assert_accepted(client: &str, words: &[&str]) {
    let matches = contextree_cli::command().try_get_matches_from(words);
    let matches = matches.unwrap_or_else(|error| panic!("{client}: {words:?}: {error}"));
    assert_eq!(matches.subcommand_name(), Some("mcp"), "{client}");
    assert!(words.contains(&"sqlite:/path/agent.db"), "{client}: {words:?}");
}

#[test]
fn every_client_has_a_configuration_whose_command_is_accepted() {
    let page = fs::read_to_string(root().join("docs/mcp.md")).expect("the page exists");
    let blocks = blocks(&page, "# The context as tools", "## Over HTTP");
    let clients: Vec<&str> = blocks.iter().map(|block| &*block.client).collect();
    let wanted = ["Claude Code", "Claude Desktop", "Codex", "Cursor", "VS Code", "Gemini CLI"];
    assert_eq!(clients, wanted);
    for block in &blocks {
        if block.language == "sh" {
            let (add, command) = block.text.split_once(" -- ").expect("a command follows");
            assert_eq!(add, "claude mcp add contextree");
            assert_accepted(&block.client, &command.split(' ').collect::<Vec<_>>());
            continue;
        }
        let server = server(block);
        let text = |name: &str| server.get(name).and_then(Value::as_str);
        let arguments = server.get("args").and_then(Value::as_array).expect("a list");
        let arguments = arguments.iter().map(|word| word.as_str().expect("a text"));
        let words: Vec<&str> = text("command").into_iter().chain(arguments).collect();
        assert_accepted(&block.client, &words);
        assert_eq!(text("type"), (block.client == "VS Code").then_some("stdio"));
    }
}

#[test]
fn every_client_of_http_has_the_address_and_the_token() {
    let page = fs::read_to_string(root().join("docs/mcp.md")).expect("the page exists");
    let blocks = blocks(&page, "## Over HTTP", "## The tools");
    let keys = BTreeMap::from([
        ("Codex", ("url", "CONTEXTREE_TOKEN")),
        ("Cursor", ("url", "Bearer ${env:CONTEXTREE_TOKEN}")),
        ("VS Code", ("url", "Bearer ${input:contextree-token}")),
        ("Gemini CLI", ("httpUrl", "Bearer $CONTEXTREE_TOKEN")),
    ]);
    assert_eq!(blocks.len(), keys.len() + 1);
    for block in &blocks {
        if block.language == "sh" {
            assert!(block.text.starts_with("claude mcp add --transport http contextree "));
            assert!(block.text.contains(URL) && block.text.contains("Bearer $CONTEXTREE_TOKEN"));
            continue;
        }
        let server = server(block);
        let (url, token) = keys[&*block.client];
        assert_eq!(server.get(url).and_then(Value::as_str), Some(URL), "{}", block.client);
        let header = server.get("headers").and_then(|headers| headers.get("Authorization"));
        let found = server.get("bearer_token_env_var").or(header).and_then(Value::as_str);
        assert_eq!(found, Some(token), "{}", block.client);
    }
    let serve = ["ctx", "--store", "sqlite:/path/agent.db", "serve"];
    assert!(page.contains(&serve.join(" ")));
    let accepted = contextree_cli::command().try_get_matches_from(serve);
    assert!(accepted.is_ok(), "{accepted:?}");
}
