/** A file in parts, each of which one answer has room for. */
import { fitsAnswer } from '../size.ts';

export interface FilePart {
  readonly content: string;
  /** Where the next part begins, in bytes of the file; absent where this is the last. */
  readonly nextOffset?: number;
}

/** No answer has room for more of a text. */
const MOST_CHARACTERS = 500_000;

/** Of so many bytes the base64 surely has room, and does not end within a group of its letters. */
const BASE64_BYTES = 360_000;

/** @param offset in bytes; within a letter, what is left of it comes as U+FFFD */
export function textPart(text: string, offset: number): FilePart {
  const bytes = new TextEncoder().encode(text);
  const rest = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(offset));
  let length = Math.min(rest.length, MOST_CHARACTERS);
  let content = beginning(rest, length);
  while (!fitsAnswer(content)) {
    length = Math.floor(length * 0.8);
    content = beginning(rest, length);
  }
  if (content.length === rest.length) return { content };
  return { content, nextOffset: offset + new TextEncoder().encode(content).length };
}

function beginning(text: string, length: number): string {
  return length === text.length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

export function base64Part(base64: string, offset: number): FilePart {
  const binary = atob(base64);
  const end = offset + BASE64_BYTES;
  return {
    content: btoa(binary.slice(offset, end)),
    ...(end < binary.length && { nextOffset: end }),
  };
}
