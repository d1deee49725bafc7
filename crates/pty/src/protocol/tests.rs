//! Round trips, and what malformed bytes do.

use super::*;
use crate::{
    Claim, ExitStatus, HeldProgram, JournalSize, ProcessInfo, PtySize, SignalScope, StopReport,
    Survey, Waiting,
};

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
                journal: Some(JournalSize { ring: 1, big: 2, small: u64::MAX }),
                command_pipe: b"/tmp/x/pipe".to_vec(),
            },
        },
        Request::Signal { request, program, signal: 15, scope: SignalScope::Leader },
        Request::Signal { request, program, signal: 2, scope: SignalScope::Foreground },
        Request::Signal { request, program, signal: 64, scope: SignalScope::Session },
        Request::Stop { request, program, signal: 15, grace_ms: 2000 },
        Request::Survey { request, program },
        Request::Release { program },
        Request::Shutdown { request, grace_ms: 0 },
        Request::Attach { request, version: 9, claim: Claim::IfFree, linger_ms: 10_000 },
        Request::Attach { request, version: 9, claim: Claim::TakeOver, linger_ms: 0 },
        Request::List { request },
        Request::Adopt { request, program },
        Request::Return { program },
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
    let parcels = Parcels { journal: true, command_pipe: false };
    let held = HeldProgram {
        id: program,
        pid: 12,
        tty: "/dev/pts/7".to_owned(),
        label: "s7".to_owned(),
        status: Some(ExitStatus::Code(3)),
        private_folder: Some("/tmp/x".into()),
        has_journal: true,
        has_command_pipe: false,
    };
    let bare = HeldProgram { status: None, private_folder: None, ..held.clone() };
    vec![
        Event::Hello { version: VERSION, pid: 77 },
        Event::Spawned { request, program, pid: 5, tty: "/dev/pts/5".to_owned(), parcels },
        Event::Busy { request, holder: 4711 },
        Event::TakenOver { by: 4712 },
        Event::Listed { request, programs: Vec::new() },
        Event::Listed { request, programs: vec![held.clone(), bare] },
        Event::Adopted { request, program: held, parcels },
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

/// A frame that may end here: it is that of an earlier version.
const EARLIER: &[(u8, &[usize])] = &[
    // A spawn without a journal, and without a command pipe: 24 bytes, then 4 and the path.
    (1, &[24 + 4 + 11, 4 + 11]),
    // A greeting without a pid.
    (128, &[4]),
    // A program that was spawned without parcels.
    (129, &[1]),
];

fn is_earlier(frame: &[u8], end: usize) -> bool {
    let earlier = EARLIER.iter().find(|(tag, _)| *tag == frame[4]);
    earlier.is_some_and(|(_, missing)| missing.contains(&(frame.len() - end)))
}

#[test]
fn every_cut_is_malformed_or_of_an_earlier_version() {
    for request in requests() {
        let frame = request.encode().unwrap();
        for end in 4..frame.len() {
            let decoded = Request::decode(&frame[4..end]);
            match is_earlier(&frame, end) {
                true => assert!(decoded.is_ok(), "{request:?} {end} {decoded:?}"),
                false => assert_eq!(decoded, Err(Malformed::Short), "{request:?} {end}"),
            }
        }
    }
    for event in events() {
        let frame = event.encode().unwrap();
        for end in 4..frame.len() {
            let decoded = Event::decode(&frame[4..end]);
            match is_earlier(&frame, end) {
                true => assert!(decoded.is_ok(), "{event:?} {end} {decoded:?}"),
                false => assert_eq!(decoded, Err(Malformed::Short), "{event:?} {end}"),
            }
        }
    }
}

#[test]
fn what_a_later_version_adds_is_ignored() {
    for request in requests() {
        let mut frame = request.encode().unwrap();
        frame.extend(*b"added");
        assert_eq!(Request::decode(&frame[4..]), Ok(request));
    }
    for event in events() {
        let mut frame = event.encode().unwrap();
        frame.extend(*b"added");
        assert_eq!(Event::decode(&frame[4..]), Ok(event));
    }
}

#[test]
fn what_a_later_version_adds_to_the_items_of_a_list_is_ignored() {
    let events = events();
    let Some(listed) = events
        .iter()
        .find(|event| matches!(event, Event::Listed { programs, .. } if !programs.is_empty()))
    else {
        panic!("a list");
    };
    let frame = listed.encode().unwrap();
    // Tag, request, count; then each item with its length.
    let mut later = frame[4..17].to_vec();
    let mut rest = &frame[17..];
    while let Some((length, body)) = rest.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        later.extend((length as u32 + 5).to_le_bytes());
        later.extend(&body[..length]);
        later.extend(*b"added");
        rest = &body[length..];
    }
    assert_eq!(Event::decode(&later).as_ref(), Ok(listed));
}

#[test]
fn a_request_of_a_later_version_has_a_number_to_be_refused_by() {
    let mut body = vec![99];
    body.extend(4711u64.to_le_bytes());
    body.extend(*b"fields that nobody knows");
    assert_eq!(Request::decode(&body), Err(Malformed::Tag(99)));
    assert_eq!(Request::number_of(&body), Some(RequestId(4711)));
    assert_eq!(Request::number_of(&body[..5]), None);
    for request in requests() {
        if let Some(number) = request.number() {
            assert_eq!(Request::number_of(&request.encode().unwrap()[4..]), Some(number));
        }
    }
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
