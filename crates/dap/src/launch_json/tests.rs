use serde_json::json;

use super::*;
use crate::environment::Environment;

struct Project {
    folder: tempfile::TempDir,
    environment: Environment,
    inputs: Map<String, Value>,
}

impl Project {
    fn new(launch: &str, tasks: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let vscode = folder.path().join(".vscode");
        std::fs::create_dir(&vscode).unwrap();
        std::fs::write(vscode.join("launch.json"), launch).unwrap();
        if let Some(tasks) = tasks {
            std::fs::write(vscode.join("tasks.json"), tasks).unwrap();
        }
        let environment = Environment::default().with("HOME", "/home/ada").with("MODE", "fast");
        Self { folder, environment, inputs: Map::new() }
    }

    fn path(&self) -> String {
        self.folder.path().display().to_string()
    }

    fn plan(&self, name: &str) -> Result<LaunchPlan, DebugError> {
        let file = self.folder.path().join("src/app.test.py");
        let workspace = Workspace {
            folder: self.folder.path(),
            file: Some(&file),
            line: Some(7),
            environment: &self.environment,
            inputs: &self.inputs,
        };
        LaunchFile::read(self.folder.path())?.plan(name, &workspace)
    }

    fn one(&self, name: &str) -> Configuration {
        self.plan(name).unwrap().parts.remove(0).1
    }

    fn refusal(&self, name: &str) -> String {
        let error = self.plan(name).unwrap_err();
        assert_eq!(error.code(), "E_INVALID_PARAMS");
        error.to_string()
    }
}

#[test]
fn comments_trailing_commas_and_variables() {
    let project = Project::new(
        r#"{
            // Use IntelliSense.
            "version": "0.2.0",
            "configurations": [
                {
                    "name": "app", /* here */ "type": "debugpy", "request": "launch",
                    "program": "${workspaceFolder}/app.py",
                    "args": ["--url", "http://x//y", "${env:MODE}${env:NOT_SET}", "${unknown}", "$5 {x}"],
                    "env": {"NAME": "${workspaceFolderBasename}"},
                    "linux": {"cwd": "${userHome}"}, "windows": {"cwd": "C:\\"},
                    "justMyCode": false,
                },
            ],
        }"#,
        None,
    );
    let app = project.one("app");
    let base = project.folder.path().file_name().unwrap().to_str().unwrap();
    assert_eq!((app.name.as_str(), app.kind.as_str()), ("app", "debugpy"));
    assert_eq!(app.request, Request::Launch);
    let expected = json!({
        "program": format!("{}/app.py", project.path()),
        "args": ["--url", "http://x//y", "fast", "${unknown}", "$5 {x}"],
        "env": {"NAME": base},
        "cwd": "/home/ada",
        "justMyCode": false,
    });
    assert_eq!(Value::Object(app.fields), expected);
}

#[test]
fn every_variable_of_the_file() {
    let names = [
        ("file", "FOLDER/src/app.test.py"),
        ("relativeFile", "src/app.test.py"),
        ("relativeFileDirname", "src"),
        ("fileBasename", "app.test.py"),
        ("fileBasenameNoExtension", "app.test"),
        ("fileExtname", ".py"),
        ("fileDirname", "FOLDER/src"),
        ("fileDirnameBasename", "src"),
        ("fileWorkspaceFolder", "FOLDER"),
        ("lineNumber", "7"),
        ("pathSeparator", "/"),
        ("/", "/"),
        ("userHome", "/home/ada"),
        ("cwd", "FOLDER"),
    ];
    let args: Vec<_> = names.iter().map(|(name, _)| format!("${{{name}}}")).collect();
    let entry = json!({"name": "a", "type": "node", "request": "launch", "args": args});
    let project = Project::new(&json!({"configurations": [entry]}).to_string(), None);
    let values: Vec<_> =
        names.iter().map(|(_, value)| value.replace("FOLDER", &project.path())).collect();
    assert_eq!(project.one("a").fields["args"], json!(values));
}

#[test]
fn inputs_are_given_or_have_defaults() {
    let launch = json!({
        "configurations": [{"name": "a", "type": "node", "request": "launch",
            "args": ["${input:port}", "${input:mode}"]}],
        "inputs": [{"id": "port", "type": "promptString", "default": "8000"},
            {"id": "mode", "type": "pickString", "options": ["fast", {"label": "Slow", "value": "slow"}]}],
    });
    let mut project = Project::new(&launch.to_string(), None);
    assert!(project.refusal("a").contains("give `inputs` {\"mode\": …} (fast, slow)"));
    project.inputs.insert("mode".to_owned(), json!("slow"));
    assert_eq!(project.one("a").fields["args"], json!(["8000", "slow"]));
    project.inputs.insert("port".to_owned(), json!(9000));
    assert_eq!(project.one("a").fields["args"], json!(["9000", "slow"]));
}

#[test]
fn what_needs_a_person_or_the_editor_is_refused_with_the_reason() {
    for (variable, reason) in [
        ("${input:port}", "give `inputs` {\"port\": …}"),
        ("${command:pickProcess}", "it runs a command of the editor"),
        ("${selectedText}", "only an editor knows it"),
        ("${config:not.there}", "settings.json does not have it"),
        ("${workspaceFolder:other}", "another name"),
        ("${defaultBuildTask}", "no default build task"),
    ] {
        let entry = json!({"name": "a", "type": "node", "request": "launch", "args": [variable]});
        let project = Project::new(&json!({"configurations": [entry]}).to_string(), None);
        let refusal = project.refusal("a");
        assert!(refusal.contains(reason) && refusal.contains(variable), "{refusal}");
    }
}

#[test]
fn settings_and_env_files_are_read() {
    let entry = json!({"name": "a", "type": "node", "request": "launch", "envFile": ".env",
        "env": {"B": "own"}, "port": "${config:app.port}"});
    let project = Project::new(&json!({"configurations": [entry]}).to_string(), None);
    let settings = "{ // mine\n \"app.port\": 8080, }";
    std::fs::write(project.folder.path().join(".vscode/settings.json"), settings).unwrap();
    assert_eq!(project.plan("a").unwrap_err().code(), "E_FILE_NOT_FOUND");
    let variables = "# a comment\nexport A=\"one\\ntwo\"\nB=theirs\n\nC='$x # y'\nnonsense\n";
    std::fs::write(project.folder.path().join(".env"), variables).unwrap();
    let fields = project.one("a").fields;
    assert_eq!(fields["env"], json!({"A": "one\ntwo", "B": "own", "C": "$x # y"}));
    assert_eq!(fields["port"], "8080");
    assert!(!fields.contains_key("envFile"));
}

#[test]
fn compounds_bring_their_parts_in_order() {
    let part = |name: &str| json!({"name": name, "type": "node", "request": "launch"});
    let launch = json!({
        "configurations": [part("server"), part("client")],
        "compounds": [
            {"name": "both", "configurations": ["client", {"name": "server"}], "stopAll": true,
             "preLaunchTask": "build"},
            {"name": "broken", "configurations": ["nobody"]},
        ],
    });
    let tasks = json!({"tasks": [{"label": "build", "command": "make", "args": ["all"]}]});
    let project = Project::new(&launch.to_string(), Some(&tasks.to_string()));
    let plan = project.plan("both").unwrap();
    let names: Vec<_> = plan.parts.iter().map(|(_, part)| part.name.as_str()).collect();
    assert_eq!((names, plan.stop_all), (vec!["client", "server"], true));
    assert_eq!(plan.before[0].command.shown(), "make all");
    assert!(project.refusal("broken").contains("\"nobody\"; there are: server, client, both"));
    let names = LaunchFile::read(project.folder.path()).unwrap().names();
    assert_eq!(names[2].parts, ["client", "server"]);
}

#[test]
fn tasks_come_in_the_order_of_their_needs() {
    let launch = json!({"configurations": [
        {"name": "a", "type": "node", "request": "launch", "preLaunchTask": "${defaultBuildTask}"},
        {"name": "loop", "type": "node", "request": "launch", "preLaunchTask": "x"},
        {"name": "missing", "type": "node", "request": "launch", "preLaunchTask": "gone"},
        {"name": "odd", "type": "node", "request": "launch", "preLaunchTask": "gulp"},
    ]});
    let tasks = r#"{
        "version": "2.0.0",
        "options": {"env": {"LEVEL": 2}},
        "tasks": [
            {"label": "all", "dependsOn": ["compile", "npm: gen"], "group": {"kind": "build", "isDefault": true}},
            {"label": "compile", "type": "shell", "command": "cc",
             "args": ["-o", "a b", {"value": "it's", "quoting": "strong"}, "${env:MODE}"],
             "options": {"cwd": "native", "shell": {"executable": "/bin/sh"}}, "dependsOn": "npm: gen"},
            {"type": "npm", "script": "gen", "isBackground": true, "linux": {"path": "web"}},
            {"label": "x", "command": "true", "dependsOn": "y"},
            {"label": "y", "command": "true", "dependsOn": "x"},
            {"label": "gulp", "type": "gulp", "command": "x"}, // only an extension can
        ]
    }"#;
    let project = Project::new(&launch.to_string(), Some(tasks));
    let plan = project.plan("a").unwrap();
    let before = &plan.parts[0].0;
    let shown: Vec<_> = before.iter().map(|task| task.command.shown()).collect();
    assert_eq!(shown, ["npm run gen", "/bin/sh -c cc -o 'a b' 'it'\\''s' fast"]);
    assert!(before[0].background && !before[1].background);
    assert_eq!(before[0].command.cwd, Some(project.folder.path().join("web")));
    assert_eq!(before[1].command.cwd, Some(project.folder.path().join("native")));
    assert_eq!(before[0].command.env, [("LEVEL".into(), Some("2".into()))]);
    assert!(!plan.parts[0].1.fields.contains_key("preLaunchTask"));
    assert!(project.refusal("loop").contains("depends on itself"));
    assert!(project.refusal("missing").contains("no task \"gone\"; there are: all, compile"));
    assert!(project.refusal("odd").contains("only an extension can run"));
}

#[test]
fn files_that_are_wrong_say_where() {
    let project = Project::new("{\n  \"configurations\": [\n    {\"name\" \"x\"}\n  ]\n}", None);
    let refusal = project.refusal("x");
    assert!(refusal.contains("launch.json") && refusal.contains("line 3"), "{refusal}");
    let project = Project::new("{'configurations': []}", None);
    assert!(project.refusal("x").contains("launch.json"), "single quotes are no JSON");
    let project =
        Project::new("{\"configurations\": [{\"name\": \"x\", \"type\": \"node\"}]}", None);
    assert!(project.refusal("x").contains("has no \"request\""));
    let none = tempfile::tempdir().unwrap();
    assert_eq!(LaunchFile::read(none.path()).unwrap_err().code(), "E_FILE_NOT_FOUND");
}
