//! What the kernel offers. Most of it is told and not judged: termbridge works without.

#[cfg(target_os = "linux")]
pub(super) use linux::check;

#[cfg(not(target_os = "linux"))]
pub(super) fn check() -> Vec<super::check::Check> {
    use super::check::{Check, Group};
    if cfg!(windows) {
        return Vec::new();
    }
    let system = std::env::consts::OS;
    let detail = "no subreaper, Landlock, seccomp, pidfd or cgroups here: processes that detach are found by their \
                  session and by a mark in their environment";
    vec![Check::info(Group::System, format!("kernel ({system})"), detail)]
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use serde_json::json;
    use termbridge_session::machine::{has_pidfd, landlock_abi};

    use crate::commands::doctor::check::{Check, Group};

    pub(crate) fn check() -> Vec<Check> {
        vec![kernel(), ptrace(), namespaces(), cgroup()]
    }

    fn read(path: &str) -> Option<String> {
        fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
    }

    fn kernel() -> Check {
        let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
        let landlock = landlock_abi();
        let actions = read("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
        let (seccomp, pidfd) = (!actions.is_empty(), has_pidfd());
        let said = |name: &str, has: bool| format!("{name} {}", if has { "yes" } else { "no" });
        let landlock_text = landlock.map_or("no".to_owned(), |abi| format!("ABI {abi}"));
        let detail = format!(
            "Linux {release}: Landlock {landlock_text}, {}, {}",
            said("seccomp", seccomp),
            said("pidfd", pidfd)
        );
        let data = json!({"release": release, "landlock_abi": landlock, "seccomp": seccomp, "pidfd": pidfd});
        Check::info(Group::System, "kernel", detail).data(data)
    }

    /// Attaching a debugger to a program that runs needs it.
    fn ptrace() -> Check {
        const NAME: &str = "ptrace";
        let scope =
            read("/proc/sys/kernel/yama/ptrace_scope").and_then(|text| text.parse::<u8>().ok());
        let allow = "sudo sysctl kernel.yama.ptrace_scope=0";
        let check = match scope {
            None | Some(0) => {
                Check::ok(Group::System, NAME, "debuggers can attach to your programs")
            }
            Some(1) => Check::warning(
                Group::System,
                NAME,
                "debuggers can only debug what they start: attaching to a program that runs is refused (scope 1)",
                allow,
            ),
            Some(scope) => Check::warning(
                Group::System,
                NAME,
                format!("only root may attach to programs, and at 3 nobody (scope {scope})"),
                if scope >= 3 {
                    "restart the machine with kernel.yama.ptrace_scope=0"
                } else {
                    allow
                },
            ),
        };
        check.data(json!({"scope": scope}))
    }

    fn namespaces() -> Check {
        let most =
            read("/proc/sys/user/max_user_namespaces").and_then(|text| text.parse::<u64>().ok());
        let is_off = |path: &str, off: &str| read(path).is_some_and(|text| text == off);
        let is_restricted = is_off("/proc/sys/kernel/unprivileged_userns_clone", "0")
            || is_off("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1");
        let detail = match (most, is_restricted) {
            (None | Some(0), _) => "none",
            (_, true) => "only for root",
            _ => "for every user",
        };
        let data = json!({"most": most, "restricted": is_restricted});
        Check::info(Group::System, "user namespaces", detail).data(data)
    }

    fn cgroup() -> Check {
        let controllers = read("/sys/fs/cgroup/cgroup.controllers");
        let own = read("/proc/self/cgroup").unwrap_or_default();
        let own =
            own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default().to_owned();
        let limit =
            |file: &str| read(&format!("/sys/fs/cgroup{own}/{file}")).filter(|text| text != "max");
        let (memory, processes) = (limit("memory.max"), limit("pids.max"));
        let mut detail = match &controllers {
            Some(names) if !names.is_empty() => format!("version 2 ({names})"),
            Some(_) => "version 2 without controllers".to_owned(),
            None => "version 1, or none".to_owned(),
        };
        if let Some(bytes) = memory.as_ref().and_then(|text| text.parse::<u64>().ok()) {
            detail.push_str(&format!(", memory limited to {} MB", bytes >> 20));
        }
        if let Some(processes) = &processes {
            detail.push_str(&format!(", {processes} processes at most"));
        }
        let data = json!({"controllers": controllers, "memory_max": memory, "pids_max": processes});
        Check::info(Group::System, "cgroup", detail).data(data)
    }
}
