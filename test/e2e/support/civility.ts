/** Assertions that every response must satisfy. */
import assert from 'node:assert/strict';
import { isRecord } from './clients.ts';
import type { HttpResponse } from './http.ts';

/** Patterns of text that reveals Muster's code, its machine or its vendors. Hostile inputs of tests never match. */
const LEAKS: readonly RegExp[] = [
  /\n\s+at .+:\d+/,
  /node_modules|file:\/\/\/(?!etc)|\/functions\/(src|lib)|\.[tj]s:\d+/,
  /firebase-admin|@google-cloud|ZodError|FirebaseError|\d+ [A-Z]+_[A-Z_]+: /,
];

const PAGE = /<html|<!doctype|<pre>/i;

/** Asserts that the response has no 5xx status and reveals no internals. */
export function assertNoLeak({ status, text }: HttpResponse, about: string): void {
  assert.ok(status < 500, about);
  for (const leak of LEAKS) assert.doesNotMatch(text.slice(0, 5000), leak, about);
}

/** Asserts that the response is a result or an understandable error, without 5xx status, HTML or internals. */
export function assertCivil(answer: HttpResponse, sent: string): void {
  const { status, headers, text, json } = answer;
  const about = `${sent.slice(0, 500)} → ${status} ${text.slice(0, 1000)}`;
  assertNoLeak(answer, about);
  assert.doesNotMatch(text.slice(0, 5000), PAGE, about);
  if (status === 202) return;
  assert.match(headers.get('content-type') ?? '', /application\/json/, about);
  const messages = Array.isArray(json) ? json : [json];
  for (const message of messages) assertMessage(message, about);
}

function assertMessage(message: unknown, about: string): void {
  assert.ok(isRecord(message), about);
  const { result, error } = message;
  if (isRecord(result)) {
    if (result['isError'] === true) assertEnvelope(result, about);
    return;
  }
  assert.ok(isRecord(error) || typeof error === 'string', about);
  const output = isRecord(error) ? error['message'] : error;
  assert.ok(typeof output === 'string' && output.length > 5 && !output.includes('Internal error'), about);
  if (isRecord(error)) assert.ok(Number.isInteger(error['code']), about);
}

function assertEnvelope({ structuredContent, content }: Readonly<Record<string, unknown>>, about: string): void {
  assert.ok(Array.isArray(content), about);
  const envelope: unknown = JSON.parse(content[0].text);
  assert.ok(isRecord(envelope), about);
  // Clients of the 2025 revisions get some errors only as text. See docs/decisions/0007-serving-mcp.md.
  if (structuredContent !== undefined) assert.deepEqual(structuredContent, envelope, about);
  const { error, message } = envelope;
  // Errors of the toolset coding have the message in a field next to `error`, other errors inside `error`.
  const output = typeof message === 'string' ? message : isRecord(error) ? error['message'] : error;
  assert.ok(typeof output === 'string' && output.length > 5 && output.length < 5000, about);
  assert.doesNotMatch(output, /Internal error/, about);
}
