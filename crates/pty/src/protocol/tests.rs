//! Round trips, and what malformed bytes do.

use super::*;
use crate::{ExitStatus, ProcessInfo, PtySize, SignalScope, StopReport, Survey, Waiting};

fn requests() -> Vec<Request> {
    let request = RequestId(7);
    let program = ProgramId(u64::MAX);
    vec![
        Request::Spawn {
            request,
            spawn: Spawn {
                program: b"ls".to_vec(),
                args: vec![b"-l".to_vec(), Vec::new(), vec![0xff, 0x80]],
                env: vec![b"PATH=/bin".to_vec()],
                cwd: b"/tmp".to_vec(),
                label: b"s1".to_vec(),
                size: PtySize { cols: 120, rows: 40 },
                private_folder: b"/tmp/x".to_vec(),
            },
        },
        Request::Signal { request, program, signal: 15, scope: SignalScope::Leader },
        Request::Signal { request, program, signal: 2, scope: SignalScope::Foreground },
        Request::Signal { request, program, signal: 64, scope: SignalScope::Session },
        Request::Stop { request, program, signal: 15, grace_ms: 2000 },
        Request::Survey { request, program },
        Request::Release { program },
        Request::Shutdown { request, grace_ms: 0 },
    ]
}

fn events() -> Vec<Event> {
    let request = RequestId(1);
    let program = ProgramId(2);
    let process = ProcessInfo {
        pid: 10,
        parent: 1,
        group: 10,
        session: 10,
        state: 'S',
        name: "naïve".to_owned(),
        ticks: 99,
    };
    let report = |status| StopReport {
        status,
        killed: 3,
        remaining: 1,
        detached: vec![process.clone()],
        unlisted: 4,
    };
    vec![
        Event::Hello { version: VERSION },
        Event::Spawned { request, program, pid: 5, tty: "/dev/pts/5".to_owned() },
        Event::SpawnFailed { request, failure: Failure::Denied, errno: 13, path: b"/x".to_vec() },
        Event::Done { request, errno: 3 },
        Event::Stopped { request, report: report(None) },
        Event::Stopped { request, report: report(Some(ExitStatus::Lost)) },
        Event::Surveyed {
            request,
            survey: Survey {
                foreground: Some(12),
                processes: vec![process.clone(), process.clone()],
                detached: vec![],
                unlisted: 0,
                waiting: Waiting::Reading,
                beyond: None,
            },
        },
        Event::Surveyed {
            request,
            survey: Survey {
                foreground: None,
                processes: vec![],
                detached: vec![process.clone()],
                unlisted: 1,
                waiting: Waiting::Polling,
                beyond: Some(Waiting::No),
            },
        },
        Event::Exited { program, status: ExitStatus::Code(255) },
        Event::Exited { program, status: ExitStatus::Signal { number: 9, core_dumped: false } },
        Event::Exited { program, status: ExitStatus::Signal { number: 6, core_dumped: true } },
    ]
}

fn body(frame: &[u8]) -> &[u8] {
    let length = frame_length(frame).unwrap().unwrap();
    assert_eq!(length + 4, frame.len());
    &frame[4..]
}

#[test]
fn every_frame_survives_the_way() {
    for request in requests() {
        assert_eq!(Request::decode(body(&request.encode().unwrap())), Ok(request));
    }
    for event in events() {
        assert_eq!(Event::decode(body(&event.encode().unwrap())), Ok(event));
    }
}

#[test]
fn every_cut_is_malformed() {
    for request in requests() {
        let frame = request.encode().unwrap();
        for end in 4..frame.len() {
            assert_eq!(Request::decode(&frame[4..end]), Err(Malformed::Short), "{request:?} {end}");
        }
    }
    for event in events() {
        let frame = event.encode().unwrap();
        for end in 4..frame.len() {
            assert_eq!(Event::decode(&frame[4..end]), Err(Malformed::Short), "{event:?} {end}");
        }
    }
}

#[test]
fn what_follows_the_last_field_is_malformed() {
    let mut frame = Request::Release { program: ProgramId(1) }.encode().unwrap();
    frame.extend([0, 0]);
    assert_eq!(Request::decode(&frame[4..]), Err(Malformed::Trailing(2)));
}

#[test]
fn unknown_tags_and_values_are_malformed() {
    assert_eq!(Request::decode(&[77]), Err(Malformed::Tag(77)));
    assert_eq!(Event::decode(&[1]), Err(Malformed::Tag(1)));
    assert_eq!(Event::decode(&[]), Err(Malformed::Short));
    let signal = Request::Signal {
        request: RequestId(1),
        program: ProgramId(1),
        signal: 1,
        scope: SignalScope::Leader,
    };
    let mut frame = signal.encode().unwrap();
    *frame.last_mut().unwrap() = 9;
    assert_eq!(Request::decode(&frame[4..]), Err(Malformed::Value));
}

#[test]
fn every_changed_byte_decodes_or_is_malformed() {
    for frame in requests().iter().map(|request| request.encode().unwrap()) {
        for index in 4..frame.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = frame.clone();
                changed[index] = value;
                let _ = Request::decode(&changed[4..]);
            }
        }
    }
    for frame in events().iter().map(|event| event.encode().unwrap()) {
        for index in 4..frame.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = frame.clone();
                changed[index] = value;
                let _ = Event::decode(&changed[4..]);
            }
        }
    }
}

#[test]
fn a_count_cannot_ask_for_more_than_the_frame_has() {
    let mut body = vec![1];
    body.extend(1u64.to_le_bytes());
    body.extend(0u32.to_le_bytes());
    body.extend(u32::MAX.to_le_bytes());
    assert_eq!(Request::decode(&body), Err(Malformed::Short));
}

#[test]
fn lengths_are_bounded() {
    assert_eq!(frame_length(&[1, 2, 3]), Ok(None));
    assert_eq!(frame_length(&[5, 0, 0, 0]), Ok(Some(5)));
    assert_eq!(frame_length(&[0xff; 8]), Err(Malformed::TooLong(u32::MAX as usize)));
    let mut long = requests().remove(0);
    if let Request::Spawn { spawn, .. } = &mut long {
        spawn.args = vec![vec![b'x'; MAX_FRAME]];
    }
    assert!(matches!(long.encode(), Err(Malformed::TooLong(_))));
}
