//! Documents of all forms, for properties.

use proptest::prelude::*;

/// White space and comments, as they may stand between any two tokens of JSON.
fn json_gap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => Just(String::new()),
        4 => Just(" ".to_owned()),
        3 => Just("\n".to_owned()),
        3 => Just("\n  ".to_owned()),
        2 => Just("\r\n\t".to_owned()),
        1 => "/\\*[ ,a-z}{\"/]{0,6}\\*/",
        1 => "//[ ,a-z}{\"*]{0,6}\n",
        1 => "//[ ,a-z}{\"*]{0,6}\r\n",
    ];
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn json_key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,4}".prop_map(|name| format!("\"x{name}\"")),
        1 => Just("\"servers \\\" // , }\"".to_owned()),
    ]
}

fn json_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1.50e3".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("\"//\"".to_owned()),
        Just("\"\\u0041\\\\\"".to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec((json_gap(), inner.clone(), json_gap()), 1..4).prop_map(|all| {
                let all: Vec<String> = all
                    .into_iter()
                    .map(|(before, value, after)| before + &value + &after)
                    .collect();
                format!("[{}]", all.join(","))
            }),
            prop::collection::vec((json_key(), inner), 0..4).prop_flat_map(json_object),
        ]
    })
}

/// An object of these members with anything between them, and perhaps a trailing comma. Of members with the same name
/// the first stays.
fn json_object(members: Vec<(String, String)>) -> impl Strategy<Value = String> {
    let mut names = std::collections::HashSet::new();
    let members: Vec<_> =
        members.into_iter().filter(|(name, _)| names.insert(name.clone())).collect();
    let gaps = prop::collection::vec(json_gap(), members.len() * 4 + 2);
    (gaps, any::<bool>()).prop_map(move |(gaps, trailing)| {
        let mut gaps = gaps.into_iter();
        let mut gap = || gaps.next().unwrap_or_default();
        let mut text = "{".to_owned();
        for (index, (name, value)) in members.iter().enumerate() {
            let comma = if index + 1 < members.len() || trailing { "," } else { "" };
            text += &format!("{}{name}{}:{}{value}{}{comma}", gap(), gap(), gap(), gap());
        }
        text + &gap() + "}"
    })
}

/// A configuration with or without servers, in the form of most clients.
pub(crate) fn json_document() -> impl Strategy<Value = String> {
    let members = || prop::collection::vec((json_key(), json_value()), 0..4);
    let servers = prop_oneof![
        2 => Just(None),
        1 => Just(Some("null".to_owned())),
        1 => Just(Some("{}".to_owned())),
        4 => members().prop_flat_map(json_object).prop_map(Some),
    ];
    let root = (members(), servers, any::<prop::sample::Index>()).prop_flat_map(
        |(mut members, servers, index)| {
            if let Some(servers) = servers {
                let at = index.index(members.len() + 1);
                members.insert(at, ("\"mcpServers\"".to_owned(), servers));
            }
            json_object(members)
        },
    );
    let root = prop_oneof![8 => root, 1 => Just(String::new())];
    (any::<bool>(), json_gap(), root, json_gap()).prop_map(|(mark, before, root, after)| {
        format!("{}{before}{root}{after}", byte_order_mark(mark))
    })
}

fn byte_order_mark(is_there: bool) -> &'static str {
    if is_there { "\u{feff}" } else { "" }
}

/// A file of Codex.
pub(crate) fn toml_document() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("a = 1".to_owned()),
        Just("  b.c = [1, # x\n 2]  # note".to_owned()),
        Just("d = { e = 1, f = [] }".to_owned()),
        Just("g = '''\n[mcp_servers.termbridge]\n'''".to_owned()),
        Just("# [mcp_servers]".to_owned()),
        Just(String::new()),
        Just("   ".to_owned()),
        Just("\"mcp_servers \" = nan".to_owned()),
    ];
    let servers = prop_oneof![
        Just(String::new()),
        Just("mcp_servers = {}".to_owned()),
        Just("mcp_servers = { a = { command = \"x\" } , b.c = 1 }".to_owned()),
        Just("mcp_servers.a.command = 'x'".to_owned()),
    ];
    let tables = prop_oneof![
        Just(String::new()),
        Just("[x]\ny = 1".to_owned()),
        Just(" [ x.\"y\" ] # z\n\n[[z]]\n[[z]]".to_owned()),
    ];
    let headed = prop_oneof![
        Just(String::new()),
        Just("[mcp_servers]\na = {}".to_owned()),
        Just("[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]".to_owned()),
    ];
    let lines = prop::collection::vec(line, 0..5).prop_map(|mut lines| {
        let mut seen = std::collections::HashSet::new();
        lines.retain(|line| line.trim().is_empty() || seen.insert(line.clone()));
        lines.join("\n")
    });
    let choice = (servers, headed, any::<bool>()).prop_map(|(inline, headed, is_inline)| {
        if is_inline { (inline, String::new()) } else { (String::new(), headed) }
    });
    let ends = prop_oneof![Just(""), Just("\n"), Just("\n\n\n"), Just("\n# end"), Just("\n  ")];
    (lines, choice, tables, ends, any::<bool>(), any::<bool>()).prop_map(
        |(lines, (inline, headed), tables, end, windows, mark)| {
            let parts: Vec<String> = [lines, inline, tables, headed]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect();
            let text = parts.join("\n") + end;
            let text = if windows { text.replace('\n', "\r\n") } else { text };
            byte_order_mark(mark).to_owned() + &text
        },
    )
}
