// The server's requests about terminals of the editor (docs/editor-protocol.md).

import type * as vscode from 'vscode';
import { type Answer, RequestError } from '../connection/channel.js';
import { plainText } from '../plainText.js';
import { type Fields, isFields, textOf } from '../protocol/message.js';
import type { EditorTerminals } from './editorTerminals.js';
import type { PanelFront } from './panelFront.js';
import { pidOf } from './processOf.js';

export interface TerminalRequestOptions {
  isTrusted(): boolean;
  /** A terminal that is created for an agent is shown. */
  showsTerminals(): boolean;
  readonly front: Pick<PanelFront, 'bring'>;
  /** Whether the window answers now. */
  answers(): Promise<boolean>;
}

/** Answers a request; `undefined` for a type that is none of these. */
export function answerTerminalRequest(
  terminals: EditorTerminals,
  options: TerminalRequestOptions,
  request: { readonly type: string; readonly id: string; readonly data: Fields },
): Promise<Answer> | undefined {
  const answer = ANSWERS[request.type];
  if (answer === undefined) {
    return undefined;
  }
  if (!options.isTrusted()) {
    const refusal = new RequestError('The workspace of this window is not trusted: no terminal is used', 'untrusted');
    return Promise.reject(refusal);
  }
  return options.answers().then((isThere) => {
    if (!isThere) {
      // It would be done later, when nobody expects it any more.
      throw new RequestError('The window does not answer: nothing was done', 'away');
    }
    return answer(terminals, options, request.id, request.data);
  });
}

type AnswerRequest = (
  terminals: EditorTerminals,
  options: TerminalRequestOptions,
  id: string,
  data: Fields,
) => Promise<Answer>;

const ANSWERS: Readonly<Record<string, AnswerRequest | undefined>> = {
  create_terminal: async (terminals, options, id, data) => {
    const { terminalName, terminal } = createTerminal(terminals, options, id, data);
    const pid = await pidOf(terminal);
    return { type: 'terminal_created', data: { terminalId: id, terminalName, pid } };
  },

  execute: async (terminals, options, id, data) => {
    const command = required(data, 'command');
    // Without a terminal a new one is meant, which gets the request's id as any that is created does.
    const terminalId = textOf(data, 'terminalId') ?? id;
    if (terminalId === id) {
      createTerminal(terminals, options, id, data);
    }
    if (data['capture'] === true) {
      await terminals.execute(terminalId, id, command, textOf(data, 'shown'));
      return success({ executionId: id });
    }
    terminals.get(terminalId).terminal.sendText(command);
    return success({ output: `Command executed: ${command}` });
  },

  end_execution: async (terminals, _options, _id, data) => {
    await terminals.endExecution(required(data, 'terminalId'), required(data, 'executionId'));
    return success({});
  },

  send_text: async (terminals, _options, _id, data) => {
    terminals.get(required(data, 'terminalId')).terminal.sendText(required(data, 'text'), false);
    return success({});
  },

  show_terminal: async (terminals, { front }, _id, data) => {
    front.bring(terminals.get(required(data, 'terminalId')).terminal);
    return success({});
  },

  close_terminal: async (terminals, _options, _id, data) => {
    const terminalId = required(data, 'terminalId');
    terminals.close(terminalId);
    return success({ output: `Terminal ${terminalId} closed` });
  },
};

function createTerminal(
  terminals: EditorTerminals,
  options: TerminalRequestOptions,
  id: string,
  data: Fields,
): { terminalName: string; terminal: vscode.Terminal } {
  const terminalName = plainText(textOf(data, 'terminalName') ?? '', 80) || terminals.nextName(textOf(data, 'shell'));
  const terminal = terminals.create(id, {
    name: terminalName,
    agent: plainText(textOf(data, 'agent') ?? '', 80),
    cwd: textOf(data, 'cwd'),
    env: environmentOf(data['env']),
    shell: textOf(data, 'shell'),
  });
  if (options.showsTerminals()) {
    options.front.bring(terminal);
  }
  return { terminalName, terminal };
}

function environmentOf(value: unknown): Record<string, string> | undefined {
  if (!isFields(value)) {
    return undefined;
  }
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function required(data: Fields, name: string): string {
  const value = textOf(data, name);
  if (value === undefined) {
    throw new RequestError(`${name} is missing`, 'invalid');
  }
  return value;
}

function success(data: object): Answer {
  return { type: 'success', data };
}
