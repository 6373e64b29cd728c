/** The lines of a log, as its chunks hold them. */
import { z } from 'zod/mini';
import type { LogChunk } from '../../live/documents.ts';

export interface Line {
  /** From 0, over all attempts. */
  readonly number: number;
  readonly at: Date;
  readonly level: string;
  readonly text: string;
}

const entry = z.object({
  at: z.string(),
  level: z.string(),
  prefix: z._default(z.string(), ''),
  message: z.string(),
});

/** Terminals' colours and cursor movements, which are nothing in a page. Source: ECMA-48, section 5.4. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought.
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** The lines of each chunk that was read, which does not change once it is full: reading 50,000 again takes time. */
const readChunks = new WeakMap<LogChunk, readonly Line[]>();

/** @param chunks in whatever order */
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

/** A line that cannot be read is shown as it is stored. */
function lineOf(json: string, number: number): Line {
  const read = entry.safeParse(parsed(json));
  if (!read.success) return { number, at: new Date(0), level: 'info', text: json };
  const { at, level, prefix, message } = read.data;
  const text = `${prefix === '' ? '' : `${prefix}: `}${message.replaceAll('\n', ' ⏎ ')}`.replace(ESCAPES, '');
  return { number, at: new Date(at), level, text };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
