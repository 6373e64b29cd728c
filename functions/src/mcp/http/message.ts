/** Reads a request's JSON-RPC message out of its bytes and refuses what no part behind it should meet. */

import { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
import { excessOf, isRecord } from '../jsonLimits.ts';

const MAX_DEPTH = 64;

/** Values of any kind in a message, or in a batch in all. */
const MAX_BODY_VALUES = 100_000;

export const MAX_BATCH = 50;
export const MAX_ID_LENGTH = 200;

/** Something wrong with the message as such, with its JSON-RPC code. */
export class BadMessage extends Error {
  readonly code: number;
  /** The message's, where it has one that can be answered to. */
  readonly id: string | number | null;

  constructor(code: number, message: string, id: string | number | null = null) {
    super(message);
    this.name = 'BadMessage';
    this.code = code;
    this.id = id;
  }
}

/**
 * The JSON of a body, of bearable depth and size.
 * @throws BadMessage
 */
export function parseBody(bytes: Buffer): unknown {
  const excess = excessOf(bytes, { depth: MAX_DEPTH, values: MAX_BODY_VALUES });
  if (excess === 'depth') {
    throw new BadMessage(
      INVALID_REQUEST,
      `The message nests too deeply: at most ${MAX_DEPTH} arrays and objects within each other.`,
    );
  }
  if (excess === 'values') {
    const what = `The message holds more than ${MAX_BODY_VALUES} values: split it into several.`;
    throw new BadMessage(INVALID_REQUEST, what);
  }
  return parseJson(textOf(bytes));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function textOf(bytes: Buffer): string {
  if (bytes.length === 0) {
    throw new BadMessage(PARSE_ERROR, 'Parse error: the body is empty. Send a JSON-RPC message.');
  }
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new BadMessage(
      PARSE_ERROR,
      'Parse error: the body is not JSON in UTF-8. Send it encoded in UTF-8.',
    );
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fault = jsonFault(text);
    const where = fault === undefined ? `After its first ${LOOKED_AT} characters` : `At ${fault}`;
    throw new BadMessage(PARSE_ERROR, `Parse error: the body is not JSON. ${where}.`);
  }
}

/**
 * The message of an MCP request, or its batch.
 * @throws BadMessage
 */
export function parseMessage(bytes: Buffer): unknown {
  const message = parseBody(bytes);
  if (Array.isArray(message)) return checkedBatch(message);
  const fault = faultOf(message);
  if (fault === undefined) return message;
  const id = isRecord(message) ? message['id'] : null;
  throw new BadMessage(INVALID_REQUEST, fault, isAnswerable(id) ? id : null);
}

/** Source: MCP 2025-03-26, "Batching"; later revisions have no batches. */
function checkedBatch(batch: readonly unknown[]): readonly unknown[] {
  if (batch.length === 0 || batch.length > MAX_BATCH) {
    throw new BadMessage(
      INVALID_REQUEST,
      `A batch holds 1 to ${MAX_BATCH} messages; this one holds ${batch.length}.`,
    );
  }
  for (const [index, message] of batch.entries()) {
    const fault = faultOf(message);
    if (fault !== undefined) {
      throw new BadMessage(INVALID_REQUEST, `Message ${index + 1} of the batch: ${fault}`);
    }
  }
  const ids = batch.map((message) => isRecord(message) && message['id']).filter(isAnswerable);
  if (new Set(ids).size < ids.length)
    throw new BadMessage(INVALID_REQUEST, 'Two messages of the batch have one id.');
  return batch;
}

/** What is wrong with a message, be it a request, a notification or a reply. */
function faultOf(message: unknown): string | undefined {
  if (!isRecord(message)) return `A message is an object, as in ${EXAMPLE}.`;
  const { jsonrpc, method, params, id } = message;
  if (jsonrpc !== '2.0') return `"jsonrpc" must be "2.0", as in ${EXAMPLE}.`;
  if (Object.hasOwn(message, 'id') && !isAnswerable(id)) {
    return `"id" must be a whole number or a string of at most ${MAX_ID_LENGTH} characters.`;
  }
  // A reply has none; the SDK looks whether it is one.
  if (method === undefined && ('result' in message || 'error' in message)) return undefined;
  if (typeof method !== 'string') return `"method" must be a string, as in ${EXAMPLE}.`;
  if (params !== undefined && !isRecord(params)) return '"params" must be an object, or left out.';
  if (isRecord(params) && params['_meta'] !== undefined && !isRecord(params['_meta'])) {
    return '"params._meta" must be an object, or left out.';
  }
  return undefined;
}

const EXAMPLE = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}';

function isAnswerable(id: unknown): id is string | number {
  return typeof id === 'string' ? id.length <= MAX_ID_LENGTH : Number.isSafeInteger(id);
}

/**
 * Finds where a text stops being JSON and what should stand there: `JSON.parse` often says neither. It is asked
 * only about a text that is none, walks without recursion, so that depth cannot hurt, and gives up in time.
 */

/** Where in the grammar a reader stands. Source: RFC 8259, section 2. */
type Expected = keyof typeof EXPECTED;

const EXPECTED = {
  value: 'a value',
  firstValue: 'a value or "]"',
  name: 'a name in double quotes',
  firstName: 'a name in double quotes or "}"',
  colon: '":"',
  moreNames: '"," or "}"',
  moreValues: '"," or "]"',
  end: 'nothing more',
} as const;

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** What a string cannot hold as it is: quotes, backslashes and what is below the space. */
const SPECIAL = /[^ !#-[\]-\uffff]/g;

/** Nobody looks for a comma further down, and the whole of a long text would take a second. */
const LOOKED_AT = 256 * 1024;

/** As in `line 3, column 7: expected ":", found "}"`; undefined where what is looked at is in order. */
export function jsonFault(text: string): string | undefined {
  try {
    scan(text);
    return undefined;
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    const before = text.slice(0, fault.at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return `line ${before.length}, column ${column}: expected ${fault.expected}, found ${shown(text, fault.at)}`;
  }
}

class Fault extends Error {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    super(expected);
    this.at = at;
    this.expected = expected;
  }
}

function scan(text: string): void {
  const holders: ('{' | '[')[] = [];
  let at = 0;
  let expected: Expected = 'value';
  for (;;) {
    at = matchEnd(SPACE, text, at) ?? at;
    if (at > LOOKED_AT || (at === text.length && expected === 'end')) return;
    const token = tokenAt(text, at);
    const next: Expected | undefined = token === undefined ? undefined : NEXT[expected](token, holders);
    if (token === undefined || next === undefined) throw new Fault(at, EXPECTED[expected]);
    at = token.end;
    expected = next;
  }
}

interface Token {
  readonly kind: 'string' | 'scalar' | '{' | '}' | '[' | ']' | ':' | ',';
  readonly end: number;
}

function tokenAt(text: string, at: number): Token | undefined {
  const character = text[at];
  if (character === '"') return { kind: 'string', end: stringEnd(text, at) };
  switch (character) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
      return { kind: character, end: at + 1 };
    default: {
      const end = matchEnd(SCALAR, text, at);
      return end === undefined ? undefined : { kind: 'scalar', end };
    }
  }
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    if (at > LOOKED_AT) return at;
    SPECIAL.lastIndex = at;
    const found = SPECIAL.exec(text);
    if (found === null) throw new Fault(text.length, `the end of the string that begins at ${start + 1}`);
    if (found[0] === '"') return found.index + 1;
    const end = matchEnd(ESCAPE, text, found.index);
    if (end === undefined) {
      throw new Fault(
        found.index,
        found[0] === '\\' ? 'an escape such as \\n or \\\\' : 'its escape, such as \\n',
      );
    }
    at = end;
  }
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

type Step = (token: Token, holders: ('{' | '[')[]) => Expected | undefined;

const NEXT: Readonly<Record<Expected, Step>> = {
  value: begin,
  firstValue: (token, holders) => (token.kind === ']' ? leave(holders) : begin(token, holders)),
  name: ({ kind }) => (kind === 'string' ? 'colon' : undefined),
  firstName: ({ kind }, holders) => {
    if (kind === '}') return leave(holders);
    return kind === 'string' ? 'colon' : undefined;
  },
  colon: ({ kind }) => (kind === ':' ? 'value' : undefined),
  moreNames: ({ kind }, holders) => {
    if (kind === '}') return leave(holders);
    return kind === ',' ? 'name' : undefined;
  },
  moreValues: ({ kind }, holders) => {
    if (kind === ']') return leave(holders);
    return kind === ',' ? 'value' : undefined;
  },
  end: () => undefined,
};

function begin({ kind }: Token, holders: ('{' | '[')[]): Expected | undefined {
  if (kind === 'string' || kind === 'scalar') return after(holders);
  if (kind !== '{' && kind !== '[') return undefined;
  holders.push(kind);
  return kind === '{' ? 'firstName' : 'firstValue';
}

function leave(holders: ('{' | '[')[]): Expected {
  holders.pop();
  return after(holders);
}

function after(holders: readonly ('{' | '[')[]): Expected {
  const holder = holders.at(-1);
  if (holder === undefined) return 'end';
  return holder === '{' ? 'moreNames' : 'moreValues';
}

function shown(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return 'the end of the body';
  const character = String.fromCodePoint(code);
  return /\p{C}/u.test(character)
    ? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    : JSON.stringify(character);
}
