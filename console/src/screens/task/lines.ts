/** Lines of a log, from its chunks. */
import { z } from 'zod/mini';
import { task as words } from '../../../text/task.ts';
import { fill } from '../../../ui/format.ts';
import type { LogChunk } from '../../live/documents.ts';
import { parsed } from '../../parts/json.ts';

export interface Line {
  /** Line number from 0, across all attempts. */
  readonly number: number;
  readonly at: Date;
  readonly level: string;
  readonly text: string;
}

const entry = z.object({
  at: z.string(),
  level: z.string(),
  exact_type: z.optional(z.string()),
  prefix: z._default(z.string(), ''),
  message: z.string(),
});

/** Terminal colors and cursor movements, which have no meaning on a page. Source: ECMA-48, section 5.4. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for them.
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** Cache of each chunk's lines. Full chunks do not change, and parsing 50,000 lines again takes time. */
const readChunks = new WeakMap<LogChunk, readonly Line[]>();

/** @param chunks in any order */
export function linesOf(chunks: readonly LogChunk[]): readonly Line[] {
  return [...new Map(chunks.map((chunk) => [chunk.first_line, chunk])).values()]
    .sort((one, other) => one.first_line - other.first_line)
    .flatMap(linesOfChunk);
}

function linesOfChunk(chunk: LogChunk): readonly Line[] {
  const known = readChunks.get(chunk);
  if (known !== undefined) return known;
  const lines = Object.entries(chunk.parts)
    .map(([name, text]) => ({ from: Number(name.slice(1)), text }))
    .sort((one, other) => one.from - other.from)
    .flatMap(({ from, text }) => text.split('\n').map((json, index) => lineOf(json, from + index)));
  readChunks.set(chunk, lines);
  return lines;
}

/** Unreadable lines are shown as stored. */
function lineOf(json: string, number: number): Line {
  const read = entry.safeParse(parsed(json));
  if (!read.success) return { number, at: new Date(0), level: 'info', text: json };
  const { at, level, exact_type: type, prefix, message } = read.data;
  const source = type === 'message' ? fill(words.messageFrom, { who: prefix }) : prefix;
  const text = `${source === '' ? '' : `${source}: `}${message.replaceAll('\n', ' ⏎ ')}`.replace(ESCAPES, '');
  return { number, at: new Date(at), level, text };
}
