// Generated from crates/catalog by `cargo xtask generate`; do not edit.

/** The arguments of each script, by alias. */
export interface ScriptParams {
  /** Removes all breakpoints of a file. */
  'breakpoint.clear.file': {
    /** Source file */
    path: string;
  };
  /** Removes all breakpoints of the workspace, those that a person has set included. */
  'breakpoint.clear.project': Record<string, never>;
  /** Lists all breakpoints with their state. */
  'breakpoint.list': Record<string, never>;
  /** Removes the breakpoint at a line, on a function or on a variable. */
  'breakpoint.remove': {
    /** Instead: the function's name */
    function?: string;
    /** Line, from 1 */
    line?: number;
    /** Source file */
    path?: string;
    /** Instead: the variable that is watched */
    variable?: string;
  };
  /** Sets a breakpoint, conditional breakpoint or logpoint, and waits for what the debugger says of it. */
  'breakpoint.set': {
    access?: 'write' | 'read' | 'readWrite';
    /** Stop only if true, in the language of the program */
    condition?: string;
    /** Instead of path: a function's name */
    function?: string;
    /** Stop on these hits: 5, >5, %2 (C, C++, Rust: 5 and all after it, >5) */
    hitCondition?: string;
    /** Line, from 1 */
    line?: number;
    /** Log this and do not stop; {expression} is filled in */
    logMessage?: string;
    /** Source file */
    path?: string;
    sessionId?: string;
    /** Instead: text of that line */
    text?: string;
    /** Instead, while stopped: stop when it changes */
    variable?: string;
  };
  /** Tells which backend serves, and which debug adapters were found. */
  'bridge.status': Record<string, never>;
  /** Replaces a function or method as a whole, signature and body. */
  'code.replace-method': {
    /** Instead of both: kind:path:name */
    nodeId?: string;
    /** Source file, with symbol */
    path?: string;
    /** The whole new text, signature included; empty deletes it */
    replacement: string;
    /** Name, such as Class.method */
    symbol?: string;
  };
  /** Shows two sessions side by side. */
  'dap.compare': {
    compareBy: 'counts' | 'exceptions' | 'timeline' | 'outputs';
    /** A session, or its run before a restart: previousRun */
    sessionA: string;
    sessionB: string;
  };
  /** Lists the exceptions of a session with what was printed around them. */
  'dap.exceptions': {
    contextLines: number;
    count: number;
    /** Default: the latest */
    sessionId?: string;
    withContext: boolean;
  };
  /** Filters the events of a session by several criteria at once. */
  'dap.filter': {
    /** categories[], include[], exclude[], sources[], timeRange{start,end}, minLength, maxLength */
    filters: Record<string, unknown>;
    /** Default: the latest */
    sessionId?: string;
  };
  /** Shows what the program and the debug console printed. */
  'dap.logs': {
    category: 'all' | 'stdout' | 'stderr' | 'console' | 'telemetry';
    count: number;
    /** Latest first */
    reverse: boolean;
    /** Only lines with this text */
    search?: string;
    /** Default: the latest */
    sessionId?: string;
    showSource: boolean;
    /** Milliseconds since 1970, or before now if negative */
    since?: number;
  };
  /** Searches the output of a session by a regular expression. */
  'dap.search': {
    caseSensitive: boolean;
    category?: 'all' | 'stdout' | 'stderr' | 'console' | 'telemetry';
    contextLines: number;
    limit: number;
    pattern: string;
    /** Default: the latest */
    sessionId?: string;
  };
  /** Counts the events of a session, or of all with sessionId all, by a property. */
  'dap.stats': {
    groupBy: 'category' | 'source' | 'hour' | 'session' | 'event' | 'thread' | 'reason' | 'second';
    includeCharts: boolean;
    /** Default: the latest */
    sessionId?: string;
  };
  /** Summarises a session: how it ended, its exceptions, its last output. */
  'dap.summary': {
    compact: boolean;
    /** Default: the latest */
    sessionId?: string;
  };
  /** Lists the events of a session in order of time. */
  'dap.timeline': {
    /** output, exception, stopped, exit */
    eventTypes?: string[];
    /** The window ends at the end */
    fromEnd: boolean;
    /** summary groups by second */
    granularity: 'all' | 'summary' | 'milestones';
    /** Default: the latest */
    sessionId?: string;
    /** Milliseconds */
    window?: number;
  };
  /** Attaches the debugger to a process that runs, by its id or by the port its debugger listens on. */
  'debug.attach': {
    /** As of debug_start */
    exceptions?: string[];
    host: string;
    pid?: number;
    port?: number;
    /** Its debugger */
    type?: 'python' | 'rust' | 'c' | 'cpp' | 'go' | 'node';
  };
  /** Lets the program run on until the next stop. */
  'debug.continue': {
    /** Default: the latest stopped */
    sessionId?: string;
    timeoutMs: number;
    /** Wait for the stop */
    wait: boolean;
  };
  /** Evaluates an expression in a frame of the stopped program. */
  'debug.evaluate': {
    /** repl may have side effects */
    context: 'repl' | 'watch' | 'hover';
    expression: string;
    /** Default the top frame */
    frameId?: number;
    /** Default: the latest stopped */
    sessionId?: string;
  };
  /** Fetches the parts of a variable, a page at a time. */
  'debug.get-variable': {
    count: number;
    filter: 'all' | 'indexed' | 'named';
    start: number;
    variablesReference: number;
  };
  /** Lists the variables of the top frame as a tree within a budget. */
  'debug.list-variables': {
    /** A frame of Stack, such as 7 of #7; default the top */
    frameId?: number;
    maxDepth: number;
    scope: 'all' | 'local' | 'closure' | 'global';
    /** Default: the latest stopped */
    sessionId?: string;
  };
  /** Stops a running program where it is. */
  'debug.pause': {
    /** Default: the latest */
    sessionId?: string;
  };
  /** Ends the program and starts it again with the same configuration and breakpoints. */
  'debug.restart': {
    /** Default: the latest */
    sessionId?: string;
    timeoutMs: number;
    /** Wait for the first stop */
    wait: boolean;
  };
  /** Writes a large value to a file, an item per line. */
  'debug.save-variable': {
    context: 'watch' | 'repl' | 'hover';
    expression: string;
    maxItems?: number;
    outputPath: string;
    pageSize: number;
    /** Default: the latest stopped */
    sessionId?: string;
  };
  /** Lists the scopes of a frame. */
  'debug.scopes': {
    /** From debug_stack */
    frameId: number;
    /** Default: the latest stopped */
    sessionId?: string;
  };
  /** Moves the stopped frame to another line of its function, without running the lines between. */
  'debug.set-next-line': {
    /** Line to run next, in the same function */
    line: number;
    /** Default: the stop's file */
    path?: string;
    /** Default: the latest stopped */
    sessionId?: string;
    timeoutMs: number;
  };
  /** Changes a variable of the stopped program. */
  'debug.set-variable': {
    name: string;
    /** Default: the latest stopped */
    sessionId?: string;
    /** An expression in the language of the program */
    value: string;
    /** The scope or object it is part of; default the locals */
    variablesReference?: number;
  };
  /** Lists the frames of a thread, paged. */
  'debug.stack': {
    count: number;
    /** Default: the latest stopped */
    sessionId?: string;
    start: number;
    /** Default the one that stopped */
    threadId?: number;
  };
  /** Starts a program under the debugger, by a configuration of launch.json or by program and type. */
  'debug.start': {
    args?: string[];
    /** integratedTerminal: a session that view_screen and send_keys take */
    console?: 'internalConsole' | 'integratedTerminal';
    /** Instead: a core file (C, C++, Rust, Go) */
    core?: string;
    cwd?: string;
    env?: Record<string, unknown>;
    /** What stops it: raised, uncaught, or types (ValueError); [] for none */
    exceptions?: string[];
    /** Workspace folder, if several */
    folder?: string;
    /** Values for ${input:…} of launch.json */
    inputs?: Record<string, unknown>;
    /** false: steps also go into libraries */
    justMyCode?: boolean;
    /** Name of a configuration or compound in launch.json */
    launch?: string;
    /** Instead: a Python module, such as uvicorn */
    module?: string;
    /** Instead: the program or script */
    program?: string;
    /** Interpreter */
    runtime?: string;
    runtimeArgs?: string[];
    stopOnEntry: boolean;
    timeoutMs: number;
    /** Its debugger; default by the file */
    type?: 'python' | 'rust' | 'c' | 'cpp' | 'go' | 'node';
    /** Wait for the first stop */
    wait: boolean;
  };
  /** Tells whether a session is active and paused, and where. */
  'debug.status': Record<string, never>;
  /** Steps into the function that the current line calls. */
  'debug.step-into': {
    /** Default: the latest stopped */
    sessionId?: string;
    timeoutMs: number;
  };
  /** Runs to the end of the current function and stops in its caller. */
  'debug.step-out': {
    /** Default: the latest stopped */
    sessionId?: string;
    timeoutMs: number;
  };
  /** Runs the current line and stops at the next one. */
  'debug.step-over': {
    /** Default: the latest stopped */
    sessionId?: string;
    timeoutMs: number;
  };
  /** Ends a session; a launched program is ended with it, an attached one is left running. */
  'debug.stop': {
    /** Default: the latest */
    sessionId?: string;
  };
  /** Lists the threads of a session, paged. */
  'debug.threads': {
    count: number;
    /** Default: the latest stopped */
    sessionId?: string;
    start: number;
    /** Only this one */
    threadId?: number;
  };
  /** Tells what the event store holds. */
  'debug.tracker': Record<string, never>;
  /** Waits until the program stops, a stop that already happened included. */
  'debug.wait-for-hit': {
    /** Default: the latest */
    sessionId?: string;
    timeoutMs: number;
  };
  /** Collects what compilers and linters say of a file or the workspace. */
  'diagnostic.collect': {
    /** Default all */
    path?: string;
  };
  /** Reads a guide or a tool page. */
  'docs.get': {
    id: string;
  };
  /** Lists the guides and tool pages. */
  'docs.list': {
    category?: string;
    tags?: string[];
  };
  /** Tells what the person sees: file, line, selection. */
  'editor.get-context': Record<string, never>;
  /** Shows a line in the editor. */
  'editor.goto-line': {
    /** Column, from 1 */
    column: number;
    /** Line, from 1 */
    line: number;
    /** Source file */
    path: string;
  };
  /** Opens the test view of the editor, which makes it discover tests. */
  'editor.show-testing-ui': Record<string, never>;
  /** Searches symbols by name, in the workspace or a file. */
  'search.symbol-search': {
    /** Such as Class,Function */
    kinds?: string;
    limit: number;
    /** document lists one file */
    mode: 'workspace' | 'document';
    /** For document */
    path?: string;
    /** Part of the name; empty for all */
    query: string;
  };
  /** Finds the callers or callees of a function. */
  'symbol.calls': {
    direction: 'incoming' | 'outgoing';
    /** Instead of both: kind:path:name */
    nodeId?: string;
    /** Source file, with symbol */
    path?: string;
    /** Name, such as Class.method */
    symbol?: string;
  };
  /** Finds the references or implementations of a symbol. */
  'symbol.navigate': {
    action: 'references' | 'implementations';
    /** Instead of both: kind:path:name */
    nodeId?: string;
    /** Source file, with symbol */
    path?: string;
    /** Name, such as Class.method */
    symbol?: string;
  };
  /** Renames a symbol everywhere in the workspace. */
  'symbol.rename': {
    newName: string;
    /** Instead of both: kind:path:name */
    nodeId?: string;
    /** Source file, with symbol */
    path?: string;
    /** Name, such as Class.method */
    symbol?: string;
  };
  /** Finds the test at a line and runs it alone under the debugger. */
  'test.debug-single': {
    /** Column, from 1 */
    column: number;
    /** As of debug_start */
    exceptions?: string[];
    /** Line in the test, from 1 */
    line?: number;
    /** Instead: the test's name */
    name?: string;
    /** Test file */
    path: string;
    timeoutMs: number;
  };
  /** Reloads the window of the editor. */
  'util.restart-vscode': Record<string, never>;
}

export type ScriptAlias = keyof ScriptParams;

/** The script of each tool. */
export const toolScripts = {
  breakpoint_clear_file: 'breakpoint.clear.file',
  breakpoint_clear_project: 'breakpoint.clear.project',
  breakpoint_list: 'breakpoint.list',
  breakpoint_remove: 'breakpoint.remove',
  breakpoint_set: 'breakpoint.set',
  breakpoint_add: 'breakpoint.set',
  bridge_status: 'bridge.status',
  code_replace_method: 'code.replace-method',
  dap_compare: 'dap.compare',
  dap_exceptions: 'dap.exceptions',
  dap_filter: 'dap.filter',
  dap_logs: 'dap.logs',
  dap_search: 'dap.search',
  dap_stats: 'dap.stats',
  dap_summary: 'dap.summary',
  dap_timeline: 'dap.timeline',
  debug_attach: 'debug.attach',
  debug_continue: 'debug.continue',
  debug_evaluate: 'debug.evaluate',
  debug_get_variable: 'debug.get-variable',
  debug_list_variables: 'debug.list-variables',
  variable_list: 'debug.list-variables',
  debug_pause: 'debug.pause',
  debug_restart: 'debug.restart',
  debug_save_variable: 'debug.save-variable',
  debug_scopes: 'debug.scopes',
  debug_set_next_line: 'debug.set-next-line',
  debug_set_variable: 'debug.set-variable',
  variable_set: 'debug.set-variable',
  debug_stack: 'debug.stack',
  debug_start: 'debug.start',
  debug_status: 'debug.status',
  debug_step_into: 'debug.step-into',
  debug_step_out: 'debug.step-out',
  debug_step_over: 'debug.step-over',
  debug_stop: 'debug.stop',
  debug_threads: 'debug.threads',
  debug_tracker: 'debug.tracker',
  debug_wait_for_hit: 'debug.wait-for-hit',
  diagnostic_collect: 'diagnostic.collect',
  docs_get: 'docs.get',
  docs_list: 'docs.list',
  editor_get_context: 'editor.get-context',
  editor_goto_line: 'editor.goto-line',
  editor_show_testing_ui: 'editor.show-testing-ui',
  search_symbol_search: 'search.symbol-search',
  symbol_calls: 'symbol.calls',
  symbol_navigate: 'symbol.navigate',
  symbol_rename: 'symbol.rename',
  test_debug_single: 'test.debug-single',
  util_restart_vscode: 'util.restart-vscode',
} as const satisfies Record<string, ScriptAlias>;

export type ToolName = keyof typeof toolScripts;

export type ErrorCode =
  | 'E_NO_SESSION'
  | 'E_NOT_PAUSED'
  | 'E_NOT_STOPPED'
  | 'E_TIMEOUT'
  | 'E_CANCELLED'
  | 'E_ABORTED'
  | 'E_INVALID_PARAMS'
  | 'E_FILE_NOT_FOUND'
  | 'E_INVALID_PATH'
  | 'E_INVALID_LINE'
  | 'E_LAUNCH_FAILED'
  | 'E_PROGRAM_EXITED'
  | 'E_STALE_REFERENCE'
  | 'E_INVALID_REFERENCE'
  | 'E_NOT_EXPANDABLE'
  | 'E_EVALUATE_FAILED'
  | 'E_READ_ONLY'
  | 'E_UNSUPPORTED_CAPABILITY'
  | 'E_LARGE_DATA'
  | 'E_BUSY'
  | 'E_NO_LANGUAGE_SERVER'
  | 'E_AMBIGUOUS_SYMBOL'
  | 'E_SYMBOL_NOT_FOUND'
  | 'E_NO_TEST_AT_CURSOR'
  | 'E_DISCOVERY_FAILED'
  | 'E_SCRIPT_NOT_FOUND'
  | 'E_BRIDGE_NOT_FOUND'
  | 'E_BRIDGE_UNAVAILABLE'
  | 'E_PICKUP_TIMEOUT'
  | 'E_NO_RESPONSE'
  | 'E_CAPACITY'
  | 'E_CIRCUIT_OPEN'
  | 'E_ADAPTER_NOT_FOUND'
  | 'E_INTERNAL';
