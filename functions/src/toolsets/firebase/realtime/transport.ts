/** Sends one HTTP request with a timeout and a size limit. Its errors never contain the URL. */
import { z } from 'zod';
import { isDecidedByContent, permissionFor } from '../../../access/rules/permissions.ts';
import { expiredCredential } from '../../../identity/rules/credential.ts';
import { connectionError, type MusterError, quotaExceeded } from '../../../kernel/errors.ts';
import { type JsonValue, parsedJson } from '../../../kernel/json.ts';
import { connectionCodes, isUnsent } from '../../../kernel/platform.ts';
import * as errors from '../rules/dataErrors.ts';

interface HttpLimits {
  /** For the whole exchange, including the body of the response. */
  readonly timeoutMilliseconds: number;
  /** Maximum size of the response body in bytes. The download stops soon after this size. */
  readonly maxBytes: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly etag?: string | undefined;
  /** Body of the response; undefined if it exceeds the maximum size. */
  readonly text: string | undefined;
}

/** Thrown if no response arrived. */
export class NoResponseError extends Error {
  /** Error code without the URL, such as `ECONNRESET`, `TimeoutError` or `HTTP 503`. */
  readonly reason: string;
  /** Whether the server may have received the request and carried it out. */
  readonly isSent: boolean;

  constructor(reason: string, isSent: boolean) {
    super(`No response: ${reason}.`);
    this.name = 'UnansweredError';
    this.reason = reason;
    this.isSent = isSent;
  }
}

/** @param url may contain a credential, so errors must not contain the URL @throws NoResponseError */
export async function exchange(
  url: string,
  request: RequestInit,
  { timeoutMilliseconds, maxBytes }: HttpLimits,
): Promise<HttpResponse> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMilliseconds) });
    const etag = response.headers.get('etag') ?? undefined;
    return { status: response.status, etag, text: await textOf(response, maxBytes) };
  } catch (error) {
    // Use only the error's code or name, such as `ECONNREFUSED`: the error's message could contain the URL.
    const name = error instanceof Error ? error.name : 'unknown';
    throw new NoResponseError(connectionCodes(error)[0] ?? name, !isUnsent(error));
  }
}

async function textOf(response: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early also stops the download.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const MAX_CAUSE_LENGTH = 300;
const refusal = z.object({ error: z.string() });

/**
 * Converts an error response of the Realtime Database to an error for the caller.
 * Source: https://firebase.google.com/docs/reference/rest/database, "Firebase Database Error Conditions".
 */
export function restErrorOf({ status, text }: HttpResponse, request: RestRequest): MusterError {
  const { path, named = path } = request;
  // The response of a proxy has no error text of the database; then only the HTTP status counts.
  const reason = refusal.safeParse(parsedJson(text ?? '')).data?.error ?? 'no reason';
  const cause = `HTTP ${status}: ${reason.slice(0, MAX_CAUSE_LENGTH)}`;
  switch (status) {
    case 400:
      return invalidDataError(reason, request, cause);
    case 401:
    case 403:
      if (/expired/i.test(reason)) return expiredCredential(cause);
      return isDecidedByContentAt(request)
        ? errors.nothingReadable(named, cause)
        : errors.permissionDenied(named, cause);
    case 402:
    case 429:
      return quotaExceeded(cause);
    case 412:
      return notAtVersion(named, cause);
    case 413:
      return tooLarge(request);
    default:
      return connectionError(cause);
  }
}

/** Returns whether rules that depend on the stored data denied a read. In this case, the data may be missing. */
function isDecidedByContentAt({ method, path }: RestRequest): boolean {
  const { permission, isList } = permissionFor({ database: 'realtime', path });
  return method === 'GET' && !isList && isDecidedByContent(permission);
}

export function notAtVersion(path: string, cause?: unknown): MusterError {
  return errors.writeConflict(`"${path}" has changed since the version on which this write is based.`, cause);
}

function invalidDataError(reason: string, request: RestRequest, cause: string): MusterError {
  if (/^index not defined/i.test(reason)) return errors.missingIndex(indexFor(request), cause);
  if (/maximum size|too (big|large)/i.test(reason)) return tooLarge(request);
  if (/quota/i.test(reason)) return quotaExceeded(cause);
  return request.data === undefined
    ? errors.invalidRequest('query', 'The database rejected this query.', 'Check orderBy and its bounds.')
    : errors.invalidDataType('data', 'The database rejected this data.', 'See docs/guides/data.md, "Writing".');
}

function tooLarge({ data }: RestRequest): MusterError {
  return data === undefined
    ? tooLargeToRead('The data at this path is too large for one read.')
    : errors.sizeLimitExceeded('data', 'The data is too large for one write.', 'Split it across several paths.');
}

export function tooLargeToRead(what: string): MusterError {
  const suggestion = 'Use shallow to read only the keys, a smaller limit, or a deeper path.';
  return errors.sizeLimitExceeded('path', what, suggestion);
}

/** Describes the index to add. If rules for a `$variable` apply to the path, those rules must contain the index. */
function indexFor({ path, parameters }: RestRequest): string {
  const index = (parameters?.['orderBy'] ?? '').replace(/^"\$value"$/, '".value"');
  return `Add to database.rules.json, in the rules of "/${path}" or of the $variable that matches it: ".indexOn": [${index}]`;
}

/** Source: https://firebase.google.com/docs/reference/rest/database */
export interface RestRequest {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Path in the caller's arguments, for error messages, if it differs from `path`. */
  readonly named?: string;
  /** Parameters of the REST API, such as `orderBy`, `limitToFirst` or `shallow`. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly data?: JsonValue;
  /** Only for PUT and DELETE. */
  readonly ifMatch?: string | undefined;
  /** Only for PUT, and for GET without parameters. */
  readonly wantsEtag?: boolean;
}
