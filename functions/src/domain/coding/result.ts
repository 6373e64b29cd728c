import { requireSize } from '../size.ts';
import type { Change } from '../store.ts';
import type { StoredResult } from './work.ts';

/** The largest result, in bytes of JSON. Source: spec/coding.md is silent; docs/semantics.md#coding. */
const MAX_RESULT_BYTES = 1024 * 1024;

/** So many characters fit into a document, whatever they are. */
const PART_LENGTH = 300_000;

/** A result on its way into documents of its own. */
export interface PackedResult {
  readonly stored: StoredResult;
  readonly change: Change;
}

/** @throws MusterError VALIDATION_ERROR where it is too large */
export function packResult(taskId: string, epoch: number, result: unknown): PackedResult {
  requireSize('A result', 'result', result, MAX_RESULT_BYTES);
  const json = JSON.stringify(result);
  const parts: string[] = [];
  for (let start = 0; start < json.length; ) {
    // Half of a surrogate pair is not Unicode.
    const end = start + PART_LENGTH - Number(/[\ud800-\udbff]/.test(json.charAt(start + PART_LENGTH - 1)));
    parts.push(json.slice(start, end));
    start = end;
  }
  return {
    stored: { epoch, bytes: new TextEncoder().encode(json).length, parts: parts.length },
    change: { kind: 'storeResult', taskId, epoch, parts },
  };
}
