//! Several agents on one server: nobody gets another's session or output.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;

const AGENTS: usize = 10;
const ROUNDS: usize = 5;

#[test]
fn ten_agents_at_once_keep_apart() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let call = |agent: usize, command: String| {
        let arguments = json!({"command": command, "agent_id": format!("agent-{agent}"),
            "timeout_ms": 40_000});
        json!({"name": "execute_command", "arguments": arguments})
    };
    // All at once, and each agent several commands at once.
    let mut sent = Vec::new();
    for round in 0..ROUNDS {
        for agent in 0..AGENTS {
            let command = format!("SECRET=of-{agent}; echo {agent}/{round}; sleep 0.05");
            sent.push((
                agent,
                round,
                server.begin("tools/call", call(agent, command)).expect("sent"),
            ));
        }
    }
    let mut sessions: HashMap<usize, HashSet<String>> = HashMap::new();
    for (agent, round, id) in sent {
        let result = server.finish(id).expect("answers");
        let answer = &result["structuredContent"];
        assert_eq!(answer["output"], format!("{agent}/{round}\n"), "{result}");
        let session = answer["session_id"].as_str().expect("a session").to_owned();
        sessions.entry(agent).or_default().insert(session);
    }
    let all: HashSet<&String> = sessions.values().flatten().collect();
    let sum: usize = sessions.values().map(HashSet::len).sum();
    assert_eq!(all.len(), sum, "no session served two agents: {sessions:?}");
    for agent in 0..AGENTS {
        let name = format!("agent-{agent}");
        let mine = &sessions[&agent];
        // The list shows its own alone.
        let listed = server.ok("list_sessions", json!({"agent_id": name})).structured;
        let rows = listed["sessions"].as_array().cloned().unwrap_or_default();
        let ids: HashSet<String> =
            rows.iter().filter_map(|row| row["session_id"].as_str().map(str::to_owned)).collect();
        assert_eq!(&ids, mine);
        // So does what is read without naming a session, and what a command sees.
        let read = server.ok("get_terminal_output", json!({"agent_id": name})).structured;
        let output = read["output"].as_str().expect("output");
        for other in (0..AGENTS).filter(|other| *other != agent) {
            assert!(!output.contains(&format!("of-{other};")), "{output}");
        }
        let seen =
            server.ok("execute_command", json!({"command": "echo $SECRET", "agent_id": name}));
        assert_eq!(seen.structured["output"], format!("of-{agent}\n"));
        // Another's session is refused, even by its name.
        let other = sessions[&((agent + 1) % AGENTS)].iter().next().expect("has one");
        for (tool, arguments) in [
            ("execute_command", json!({"command": "echo x"})),
            ("switch_session", json!({})),
            ("get_terminal_output", json!({})),
        ] {
            let mut arguments: Value = arguments;
            arguments["session_id"] = other.as_str().into();
            arguments["agent_id"] = name.as_str().into();
            let (code, text) = server.error(tool, arguments);
            assert_eq!(code, "FORBIDDEN", "{tool}: {text}");
        }
    }
}

#[test]
fn the_current_session_is_the_agents_choice() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let (code, _) = server.error("get_terminal_output", json!({}));
    assert_eq!(code, "SESSION_NOT_FOUND");
    let first = server.ok("create_session", json!({"name": "first", "cwd": "/usr"})).structured;
    let second = server.ok("create_session", json!({"cwd": "/etc", "project_id": "p"})).structured;
    assert_eq!(second["project"], "p");
    let here = |server: &mut termbridge_testkit::Server, arguments: Value| {
        server.ok("execute_command", arguments).structured["output"].clone()
    };
    assert_eq!(here(&mut server, json!({"command": "pwd"})), "/etc\n", "a new one is current");
    let switch = json!({"session_id": first["session_id"]});
    assert_eq!(server.ok("switch_session", switch).structured["name"], "first");
    assert_eq!(here(&mut server, json!({"command": "pwd"})), "/usr\n");
    let named = json!({"command": "cd /; pwd", "name": "side"});
    assert_eq!(here(&mut server, named), "/\n", "a name picks or makes one");
    assert_eq!(here(&mut server, json!({"command": "pwd"})), "/usr\n", "the current one stays");
    server.ok("stop_app", json!({"session_id": first["session_id"]}));
    let next = server.ok("execute_command", json!({"command": "pwd"})).structured;
    assert_ne!(next["session_id"], first["session_id"], "an ended session is not current");
    assert_eq!(next["output"], "/usr\n", "what replaces it starts where it was");
    let (code, _) = server.error("switch_session", json!({"session_id": "nosuchsession"}));
    assert_eq!(code, "SESSION_NOT_FOUND");
}
