/** Errors of Google's APIs, which have the form of google.rpc.Status. Source: https://google.aip.dev/193 */
import { z } from 'zod';

export interface Failure {
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly message: string;
  /** `SERVICE_DISABLED` if the project has not enabled the API. */
  readonly reason?: string;
  /** The API that is not enabled. */
  readonly service?: string;
}

export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

const status = z.object({
  error: z.object({
    message: z.string().default(''),
    status: z.string().optional(),
    details: z
      .array(z.looseObject({ reason: z.string().optional(), metadata: z.record(z.string(), z.string()).optional() }))
      .default([]),
  }),
});

/** @param text the body of an unsuccessful response */
export function failureOf(code: number, text: string): Failure {
  const { data } = status.safeParse(parsed(text));
  if (data === undefined) return { status: code, message: text.trim().slice(0, 300) || `HTTP ${code}` };
  const { message, details } = data.error;
  const info = details.find(({ reason }) => reason !== undefined);
  const reason = info?.reason ?? data.error.status;
  const service = info?.metadata?.['service'];
  return {
    status: code,
    message: firstSentences(message),
    ...(reason !== undefined && { reason }),
    ...(service !== undefined && { service }),
  };
}

/** Replaces the failure "not found" by a success without a value. */
export function optional<Value>(result: Result<Value>): Result<Value | undefined> {
  return !result.ok && result.failure.status === 404 ? { ok: true, value: undefined } : result;
}

/** Returns the first sentences of a message. Omits links for developers and advice to wait. */
function firstSentences(message: string): string {
  return message.replace(/\s+/g, ' ').trim().slice(0, 300);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
