//! What the extension recorded of runs.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{how_ended, list, number, path, path_of, size, text, words};
use crate::debug::answer::{
    Comparison, Difference, Entries, EntryRecord, ExceptionEntry, Exceptions, Group, HowEnded,
    LogEntry, Logs, Match, Matches, Moment, Output, Place, Repeated, RunSummary, Stats, Timeline,
};

/// Where something was printed.
fn source(data: &Value) -> Option<String> {
    let file = words(&data["file"]).or_else(|| words(&data["path"]))?;
    Some(format!("{}:{}", path_of(&file), number(&data["line"]).unwrap_or(0)))
}

/// The extension's own telemetry and farewells are no output of the program.
fn is_output(data: &Value) -> bool {
    data["category"] != "telemetry" && data["text"] != "[Adapter Error] connection closed"
}

/// Output in the order that was asked for: it gives the latest first unless it is asked for that.
pub(in crate::debug::editor) fn logs(asked: &Map<String, Value>, data: &Value) -> Logs {
    let is_asked = asked.get("category").is_some_and(|category| category == "telemetry");
    let entries = list(&data["logs"]).iter().filter(|entry| is_asked || is_output(entry));
    let mut entries: Vec<LogEntry> = entries
        .map(|entry| LogEntry {
            seq: None,
            time: number(&entry["ts"]).unwrap_or(0),
            category: text(&entry["category"]),
            text: text(&entry["text"]).trim_end_matches(['\r', '\n']).to_owned(),
            source: source(&entry["source"]),
        })
        .collect();
    let latest_first = asked.get("reverse").is_some_and(|reverse| reverse == true);
    let descends = entries.first().map(|entry| entry.time) > entries.last().map(|entry| entry.time);
    if descends != latest_first {
        entries.reverse();
    }
    Logs { entries, total: size(&data["matched"]), dropped: None }
}

fn texts(data: &Value) -> Vec<String> {
    let lines = list(data).iter().filter(|line| is_output(line));
    lines.map(|line| text(&line["text"]).trim_end().to_owned()).collect()
}

pub(super) fn matches(data: &Value) -> Matches {
    let found = list(&data["matches"]).iter().map(|found| Match {
        seq: None,
        category: text(&found["output"]["category"]),
        text: text(&found["output"]["text"]).trim_end().to_owned(),
        before: texts(&found["context"]["before"]),
        after: texts(&found["context"]["after"]),
    });
    Matches { matches: found.collect(), total: size(&data["totalMatches"]) }
}

pub(super) fn exceptions(data: &Value) -> Exceptions {
    let entry = |entry: &Value| {
        let (exception, place) = (&entry["exception"], &entry["location"]);
        let file = words(&place["file"]);
        let location =
            file.map(|file| Place::line(path_of(&file), number(&place["line"]).unwrap_or(0)));
        let frames = list(&entry["stackTrace"]).iter().map(|frame| {
            let file = path(&frame["source"]);
            format!("{} {file}:{}", text(&frame["name"]), number(&frame["line"]).unwrap_or(0))
        });
        let stack = frames.collect::<Vec<_>>().join("\n");
        ExceptionEntry {
            seq: None,
            time: None,
            kind: words(&exception["typeName"]),
            message: words(&exception["message"]).or_else(|| words(&exception["description"])),
            location,
            stack: (!stack.is_empty()).then_some(stack),
            context: texts(&entry["context"]["before"]),
        }
    };
    Exceptions {
        exceptions: list(&data["exceptions"]).iter().map(entry).collect(),
        total: size(&data["totalExceptions"]),
    }
}

pub(super) fn entries(data: &Value) -> Entries {
    let entry = |event: &Value| {
        let mut body = json!({"category": event["category"], "output": event["text"]});
        if let Some(source) = source(&event["source"]) {
            body["source"] = json!(source);
        }
        EntryRecord {
            seq: None,
            time: number(&event["ts"]).unwrap_or(0),
            event: "output".to_owned(),
            body,
        }
    };
    Entries {
        entries: list(&data["events"]).iter().map(entry).collect(),
        total: size(&data["totalFiltered"]),
    }
}

fn counts(data: &Value) -> impl Iterator<Item = (String, usize)> + '_ {
    data.as_object().into_iter().flatten().map(|(key, count)| (key.clone(), size(count)))
}

pub(super) fn stats(asked: &Map<String, Value>, data: &Value) -> Stats {
    let by = asked.get("groupBy").and_then(Value::as_str).unwrap_or_default();
    let distribution = &data["distribution"];
    let grouped = match by {
        "source" => &distribution["bySource"],
        "hour" => &distribution["overTime"],
        _ => &distribution["byCategory"],
    };
    let total = number(&data["summary"]["totalOutputs"]).unwrap_or(0);
    let group = |(key, count): (String, usize)| {
        let count = count as u64;
        let share = (count as f64 / total.max(1) as f64 * 1000.0).round() / 1000.0;
        Group { key, name: None, count, bytes: None, share: Some(share) }
    };
    let groups = counts(grouped).filter(|(_, count)| *count > 0).map(group);
    Stats { groups: groups.collect(), total, dropped: None, chart: None }
}

pub(super) fn summary(data: &Value) -> RunSummary {
    let (session, counted, samples) = (&data["session"], &data["counts"], &data["samples"]);
    let ended = session["status"] == "terminated";
    let exceptions = size(&counted["exceptions"]);
    let last = &samples["lastException"];
    let what = words(&last["message"]).unwrap_or_else(|| "exception".to_owned());
    let raised = (exceptions > 0).then_some(Repeated { what, count: exceptions });
    let lines = counts(&counted["byCategory"])
        .filter(|(category, count)| category != "telemetry" && *count > 0)
        .collect::<BTreeMap<_, _>>();
    let next = match (ended, exceptions > 0) {
        (_, true) => vec!["dap_exceptions"],
        (true, false) => vec!["dap_logs", "debug_restart"],
        (false, false) => vec!["debug_status", "debug_wait_for_hit"],
    };
    RunSummary {
        session_id: text(&session["id"]),
        status: if ended { "ended" } else { "active" },
        exit: ended.then(|| HowEnded { how: how_ended(data["exitCode"].as_i64()) }),
        exceptions: raised.into_iter().collect(),
        output: Output { lines, last: texts(&samples["last"]) },
        next,
        name: words(&session["name"]),
        adapter: words(&session["type"]),
        duration_ms: None,
        events: None,
        stops: None,
        places: None,
    }
}

pub(super) fn timeline(data: &Value) -> Timeline {
    // Some events have only the time of day.
    let whole = |value: &Value| value.as_f64().map(|number| number as i64);
    let all = list(&data["timeline"]);
    let began = all
        .iter()
        .find_map(|event| Some(whole(&event["timestamp"])? - whole(&event["relativeTime"])?));
    let began = began.or_else(|| all.iter().filter_map(|event| whole(&event["timestamp"])).min());
    let since_start = |event: &Value| {
        let relative = whole(&event["relativeTime"]);
        let time = relative.or_else(|| Some(whole(&event["timestamp"])? - began?));
        time.map_or(0, |time| time.max(0) as u64)
    };
    let moment = |event: &Value| Moment {
        time: since_start(event),
        seq: None,
        kind: text(&event["eventType"]),
        text: text(&event["summary"]).trim_end().to_owned(),
        count: None,
    };
    let shown = all.iter().filter(|event| is_output(&event["data"]));
    let mut events: Vec<Moment> = shown.map(moment).collect();
    events.sort_by_key(|event| event.time);
    let left_out = all.len() - events.len();
    Timeline { total: size(&data["eventCount"]).saturating_sub(left_out).max(events.len()), events }
}

pub(super) fn comparison(data: &Value) -> Comparison {
    let (a, b) = (&data["sessionA"], &data["sessionB"]);
    let compared = &data["comparison"];
    let (mut different, mut same) = (Vec::new(), 0);
    let mut compare = |key: &str, a: &Value, b: &Value| {
        let shown = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        match a == b {
            true => same += usize::from(!a.is_null()),
            false => different.push(Difference { key: key.to_owned(), a: shown(a), b: shown(b) }),
        }
    };
    for key in ["outputs", "exceptions", "exitCode"] {
        compare(key, &a[key], &b[key]);
    }
    let breakdown = &compared["outputBreakdown"];
    let (of_a, of_b) = (&breakdown["categoriesA"], &breakdown["categoriesB"]);
    let mut categories: Vec<String> =
        counts(of_a).chain(counts(of_b)).map(|(key, _)| key).collect();
    categories.sort();
    categories.dedup();
    for category in categories {
        compare(&category, &of_a[&category], &of_b[&category]);
    }
    let point = &compared["divergencePoint"];
    if point["outputIndex"].is_number() {
        compare("first different output", &point["textA"], &point["textB"]);
    }
    let only = |side: &str| list(&compared["exceptions"][side]).to_vec();
    let (only_a, only_b) = (only("onlyInA"), only("onlyInB"));
    let differences = different.len() + only_a.len() + only_b.len();
    Comparison { only_a, only_b, different, same, differences, left_out: None }
}
