//! The debugger with a scripted adapter, where it is about races and broken protocol, and with the
//! real ones on small programs.

#![cfg(unix)]

mod attach;
mod c;
mod c_bit_fields;
mod core_files;
mod cpp;
mod cpp_initialisers;
mod cpp_unset;
mod fake;
mod fake_adapter;
mod flows;
mod go;
mod go_declarations;
mod javascript;
mod javascript_shown;
mod launch_json;
mod lldb_expressions;
mod lldb_places;
mod lldb_removed;
mod lldb_threads;
mod lldb_values;
mod orphans;
mod python;
mod python_names;
mod python_resuming;
mod python_threads;
mod rust;
mod rust_crates;
mod rust_futures;
mod slow;
mod subject;
mod support;
mod terminal;
mod values;
