/** What Google's APIs answer where they refuse, as google.rpc.Status has it. Source: https://google.aip.dev/193 */
import { z } from 'zod';

export interface Failure {
  /** The HTTP status, 0 where nothing answered at all. */
  readonly status: number;
  /** Google's own sentence. */
  readonly message: string;
  /** `SERVICE_DISABLED` where the project has not enabled the API. */
  readonly reason?: string;
  /** Which API, where one is not enabled. */
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
      .array(
        z.looseObject({
          reason: z.string().optional(),
          metadata: z.record(z.string(), z.string()).optional(),
        }),
      )
      .default([]),
  }),
});

/** @param text the body of an answer that is no success */
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

/** The same of a value that is there; what is not there is undefined. */
export function optional<Value>(result: Result<Value>): Result<Value | undefined> {
  return !result.ok && result.failure.status === 404 ? { ok: true, value: undefined } : result;
}

/** Links for developers and advice to wait follow, which a line has no room for. */
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
