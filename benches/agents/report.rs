//! The tables.
#![allow(clippy::print_stdout, reason = "the tables are what a benchmark is for")]

use std::collections::BTreeMap;

use crate::bench::{Outcome, Results};
use crate::model::Tally;

/// For people: a table per task, the totals and what each server costs before the first call.
pub(crate) fn terminal(results: &Results) {
    header("server", ["calls", "written", "structured", "text", "first"]);
    for (name, outcomes) in &results.tasks {
        println!("\n{name}");
        for ((server, _), outcome) in results.servers.iter().zip(outcomes) {
            match outcome {
                Ok(tally) => row(server.name(), numbers(tally), &images(tally)),
                Err(reason) => println!("  {:16} -  {}", server.name(), on_one_line(reason)),
            }
        }
    }
    for (index, (server, _)) in results.servers.iter().enumerate().skip(1) {
        let (count, ours, theirs) = totals(results, index);
        println!("\nwhat termbridge and {} both did (tasks: {count})", server.name());
        row("termbridge", numbers(&ours), "");
        row(server.name(), numbers(&theirs), "");
        let (ours, theirs) = (numbers(&ours), numbers(&theirs));
        let ratios: [String; 5] = std::array::from_fn(|at| ratio(ours[at], theirs[at]));
        columns("ratio", &ratios, "");
    }
    println!("\nbefore the first call         tools      listed  instructions");
    for (server, listing) in &results.servers {
        let (tools, bytes, instructions) = (listing.tools, listing.bytes, listing.instructions);
        println!("  {:16} {tools:>15} {bytes:>11} {instructions:>13}", server.name());
    }
    missing(results);
}

/// For the README.
pub(crate) fn markdown(results: &Results) {
    let names = results.servers.iter().map(|(server, _)| server.name());
    println!("| task | {} |", names.collect::<Vec<_>>().join(" | "));
    println!("| --- |{}", " --- |".repeat(results.servers.len()));
    for (name, outcomes) in &results.tasks {
        let cells = outcomes.iter().map(cell).collect::<Vec<_>>();
        println!("| {name} | {} |", cells.join(" | "));
    }
    let mut sums = vec![String::new()];
    for index in 1..results.servers.len() {
        let (count, ours, theirs) = totals(results, index);
        let (calls, written) =
            (ratio(ours.calls, theirs.calls), ratio(ours.written, theirs.written));
        let read = ratio(most(&ours), most(&theirs));
        sums.push(format!("{calls}; {read}; {written} (tasks: {count})"));
    }
    println!("| ours / theirs: calls; read; written | {} |", sums.join(" | "));
    let listings = results.servers.iter().map(|(_, listing)| {
        format!("{} tools, {} B", listing.tools, listing.bytes + listing.instructions)
    });
    println!("| read before the first call | {} |", listings.collect::<Vec<_>>().join(" | "));
    println!("\nEach cell: calls; bytes read, by the client that shows most; bytes written.\n");
    for (index, (server, _)) in results.servers.iter().enumerate() {
        let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, outcomes) in &results.tasks {
            if let Err(reason) = &outcomes[index] {
                reasons.entry(on_one_line(reason)).or_default().push(name);
            }
        }
        for (reason, tasks) in reasons {
            println!("- {}, {reason} ({})", server.name(), tasks.join(", "));
        }
    }
    missing(results);
}

/// Calls; bytes read; bytes written.
fn cell(outcome: &Outcome) -> String {
    let Ok(tally) = outcome else { return "-".to_owned() };
    format!("{}; {}; {}", tally.calls, most(tally), tally.written)
}

/// Bytes read in the client behaviour that reads most.
fn most(tally: &Tally) -> usize {
    tally.read.into_iter().max().unwrap_or_default()
}

/// Over the tasks that both did: how many, ours, theirs.
fn totals(results: &Results, index: usize) -> (usize, Tally, Tally) {
    let (mut count, mut ours, mut theirs) = (0, Tally::default(), Tally::default());
    for (_, outcomes) in &results.tasks {
        if let (Ok(our), Ok(their)) = (&outcomes[0], &outcomes[index]) {
            count += 1;
            add(&mut ours, our);
            add(&mut theirs, their);
        }
    }
    (count, ours, theirs)
}

fn add(sum: &mut Tally, tally: &Tally) {
    sum.calls += tally.calls;
    sum.written += tally.written;
    sum.images += tally.images;
    for (sum, read) in sum.read.iter_mut().zip(tally.read) {
        *sum += read;
    }
}

fn numbers(tally: &Tally) -> [usize; 5] {
    let [structured, text, first] = tally.read;
    [tally.calls, tally.written, structured, text, first]
}

fn images(tally: &Tally) -> String {
    if tally.images == 0 { String::new() } else { format!("  and {} images", tally.images) }
}

fn ratio(ours: usize, theirs: usize) -> String {
    if theirs == 0 { "-".to_owned() } else { format!("{:.2}", ours as f64 / theirs as f64) }
}

fn header(name: &str, titles: [&str; 5]) {
    println!("{:>72}", "bytes read by a client that shows");
    columns(name, &titles.map(str::to_owned), "");
}

fn row(name: &str, numbers: [usize; 5], note: &str) {
    columns(name, &numbers.map(|number| number.to_string()), note);
}

fn columns(name: &str, [calls, written, structured, text, first]: &[String; 5], note: &str) {
    println!("  {name:14} {calls:>11}{written:>11}{structured:>11}{text:>11}{first:>11}{note}");
}

fn on_one_line(text: &str) -> String {
    const LONGEST: usize = 400;
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect()
}

fn missing(results: &Results) {
    for server in &results.missing {
        println!("\n{} is not installed: benches/agents/setup-peers installs it", server.name());
    }
}
