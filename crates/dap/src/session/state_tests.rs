use serde_json::json;

use super::*;
use crate::reference::{Numbers, Reference, Target};

fn state() -> (State, u32) {
    let references = References::new(Numbers::default());
    let mut state = State::new("program".to_owned(), AdapterKind::Debugpy, references);
    let root = link(&mut state, None);
    (state, root)
}

fn link(state: &mut State, parent: Option<u32>) -> u32 {
    let (client, _) = Client::start(tokio::io::empty(), tokio::io::sink());
    state.add_link(client, "link".to_owned(), parent)
}

fn stopped(thread: i64, all: bool) -> Value {
    json!({"reason": "breakpoint", "threadId": thread, "allThreadsStopped": all})
}

#[tokio::test]
async fn one_thread_of_many_goes_on_alone() {
    let (mut state, root) = state();
    state.apply(root, "stopped", &stopped(1, false));
    state.apply(root, "stopped", &stopped(2, false));
    assert!(state.is_thread_stopped(root, 1) && state.is_thread_stopped(root, 2));
    assert!(!state.is_thread_stopped(root, 3));
    let one = json!({"threadId": 2, "allThreadsContinued": false});
    state.apply(root, "continued", &one);
    assert!(state.is_thread_stopped(root, 1) && !state.is_thread_stopped(root, 2));
    state.apply(root, "thread", &json!({"reason": "exited", "threadId": 1}));
    assert!(state.latest_stop(None).is_none());
}

/// A stop of thread 1 and events of the threads 2 and 3 that came with it.
fn stopped_together(reason: &str) -> (State, u32) {
    let (mut state, root) = state();
    state.adapter = AdapterKind::Lldb;
    for thread in [2, 3] {
        let mut other = stopped(thread, true);
        other["preserveFocusHint"] = json!(true);
        // The breakpoint of the last one is not there any more.
        other["hitBreakpointIds"] = if thread == 3 { json!([7]) } else { json!([]) };
        state.apply(root, "stopped", &other);
    }
    assert!(state.latest_stop(None).is_none());
    let first = json!({"reason": reason, "threadId": 1, "description": "signal SIGSEGV"});
    state.apply(root, "stopped", &first);
    (state, root)
}

fn sort_out(state: &mut State, root: u32, new: Option<&[i64]>) -> Option<i64> {
    let number = state.latest_stop(None).expect("a stop").1.number;
    let link = state.links.get_mut(&root).expect("a link");
    link.sort_out(number + 1, Some(&[]));
    assert_eq!(link.others.unsorted.len(), 2, "the answer is of another stop");
    link.sort_out(number, new);
    state.latest_stop(None).expect("a stop").1.event.thread_id
}

#[tokio::test]
async fn stops_at_the_same_moment_wait_for_their_turn() {
    let (mut state, root) = stopped_together("exception");
    // All are kept where nothing is known.
    assert_eq!(sort_out(&mut state, root, None), Some(1));
    assert_eq!(state.stop_reason(root, 2).as_deref(), Some("breakpoint"));
    assert_eq!(state.stop_reason(root, 4), None);
    assert!(state.next_waiting(root));
    assert_eq!(state.latest_stop(None).expect("a stop").1.event.thread_id, Some(2));
    assert_eq!(state.last_signal.as_deref(), Some("SIGSEGV"));
    assert!(!state.next_waiting(root));
    let (before, others) = state.resume(root, 2);
    assert!(before.is_some() && others.waiting.is_empty());
}

#[tokio::test]
async fn a_thread_without_a_stop_of_its_own_is_not_reported() {
    let (mut state, root) = stopped_together("breakpoint");
    assert_eq!(sort_out(&mut state, root, Some(&[2])), Some(2));
    assert!(!state.next_waiting(root));
    // A step that ended is reported in any case.
    let (mut state, root) = stopped_together("step");
    assert_eq!(sort_out(&mut state, root, Some(&[2])), Some(1));
    assert!(state.next_waiting(root));
}

#[tokio::test]
async fn a_step_stays_open_while_another_thread_is_at_a_breakpoint() {
    let (mut state, root) = state();
    for (thread, left) in [(2, Some(1)), (1, None)] {
        state.links.get_mut(&root).expect("a link").open_step = Some(1);
        state.apply(root, "stopped", &stopped(thread, true));
        assert_eq!(state.links[&root].open_step, left);
    }
}

#[tokio::test]
async fn all_threads_go_on_together() {
    let (mut state, root) = state();
    state.apply(root, "stopped", &stopped(1, true));
    assert!(state.is_thread_stopped(root, 7));
    // A thread that ends does not let the others go.
    state.apply(root, "thread", &json!({"reason": "exited", "threadId": 7}));
    assert!(state.is_thread_stopped(root, 1));
    state.apply(root, "continued", &json!({"threadId": 1}));
    assert!(!state.is_thread_stopped(root, 1));
}

#[tokio::test]
async fn references_of_one_link_outlive_the_others_resume() {
    let (mut state, root) = state();
    let child = link(&mut state, Some(root));
    let in_root = state.references.add(Reference { link: root, target: Target::Frame(1) });
    let in_child = state.references.add(Reference { link: child, target: Target::Frame(1) });
    state.apply(child, "stopped", &stopped(1, true));
    assert_eq!(state.references.get(in_child), Err(DebugError::StaleReference(in_child)));
    assert!(state.references.get(in_root).is_ok());
}

#[tokio::test]
async fn threads_of_links_do_not_share_numbers() {
    let (mut state, root) = state();
    let (a, b) = (link(&mut state, Some(root)), link(&mut state, Some(root)));
    assert_eq!((state.thread_number(a, 0), state.thread_number(b, 0)), (0, 1));
    assert_eq!((state.thread_number(a, 0), state.thread_number(b, 0)), (0, 1), "they stay");
    assert_eq!((state.thread(0), state.thread(1)), (Ok((a, 0)), Ok((b, 0))));
    state.apply(a, "terminated", &Value::Null);
    assert!(state.thread(0).is_err() && !state.links.contains_key(&a));
}

#[tokio::test]
async fn only_the_end_of_the_root_is_the_end() {
    let (mut state, root) = state();
    let child = link(&mut state, Some(root));
    assert_eq!(state.apply(child, "terminated", &Value::Null), Effect::None);
    assert_eq!(state.apply(root, "terminated", &Value::Null), Effect::Terminated);
}

#[tokio::test]
async fn events_of_an_earlier_run_change_nothing() {
    let (mut state, root) = state();
    drop(state.end_run());
    state.begin_run();
    let next = link(&mut state, None);
    assert_ne!(next, root);
    assert_eq!(state.apply(root, "terminated", &Value::Null), Effect::None);
    state.apply(root, "stopped", &stopped(1, true));
    assert!(state.latest_stop(None).is_none());
}

#[tokio::test]
async fn bodies_that_do_not_fit_are_read_as_empty() {
    let (mut state, root) = state();
    state.apply(root, "stopped", &json!({"reason": [5], "threadId": "x"}));
    let (_, stop) = state.latest_stop(None).expect("a stop all the same");
    assert_eq!((stop.event.reason.as_str(), stop.event.thread_id), ("", None));
    for event in ["continued", "thread", "process", "exited", "output", "breakpoint", "x"] {
        assert_eq!(state.apply(root, event, &json!([1, "two"])), Effect::None);
    }
}

#[tokio::test]
async fn a_refusal_in_the_output_is_a_refusal() {
    let (mut state, root) = state();
    state.apply(root, "output", &json!({"output": "Attach to PID failed.\n"}));
    assert!(!state.refused, "why is in the output that follows");
    state.apply(root, "output", &json!({"output": "--- Starting attach to pid: 7 ---\n"}));
    assert!(state.refused);
}

#[tokio::test]
async fn the_signal_that_stopped_it_is_the_one_that_ended_it() {
    let (mut state, root) = state();
    state.adapter = AdapterKind::Lldb;
    let stop = json!({"reason": "exception", "description": "signal SIGSEGV: address not mapped"});
    state.apply(root, "stopped", &stop);
    state.apply(root, "exited", &json!({"exitCode": 11}));
    assert_eq!(state.signal.as_deref(), Some("SIGSEGV"));
    // A program may also exit with that number.
    let (mut state, root) = self::state();
    state.adapter = AdapterKind::Lldb;
    state.apply(root, "stopped", &stop);
    state.apply(root, "stopped", &json!({"reason": "step"}));
    state.apply(root, "exited", &json!({"exitCode": 11}));
    assert_eq!((state.signal, state.exit_code), (None, Some(11)));
}
