/** Client and classes of errors for both dialects of OpenAI's interface. */
import type { OpenAI } from 'openai';
import { z } from 'zod';
import type { FailureClass, ModelFailure } from '../../toolsets/orchestration/index.ts';
import { classOfStatus, connectionFailure, failure, type Progress, statusDetail } from '../modelFailure.ts';
import { type ModelSettings, retryAfterMs, SDK_OPTIONS, VendorModel } from '../vendorModel.ts';

export abstract class OpenAiModel<Settings extends ModelSettings> extends VendorModel<OpenAI, Settings> {
  protected async connect(): Promise<OpenAI> {
    const { OpenAI: Client } = await import('openai');
    const { apiKey, baseUrl } = this.settings;
    return new Client({
      apiKey: apiKey ?? 'none',
      // If omitted, the SDK reads these values from the environment.
      organization: null,
      project: null,
      webhookSecret: null,
      adminAPIKey: null,
      baseURL: baseUrl,
      ...SDK_OPTIONS,
      ...(apiKey === undefined && { defaultHeaders: { authorization: null } }),
    });
  }

  protected failureOf(error: unknown, progress: Progress): ModelFailure {
    const found = refusal.safeParse(error).data;
    // The SDK's error for a lost connection has neither a status nor a code.
    if (found === undefined || (found.status === undefined && found.code === null && found.type === null))
      return connectionFailure(error, progress);
    const { status, headers } = found;
    return failure(classOf(found), progress, { detail: statusDetail(status), retry_after_ms: retryAfterMs(headers) });
  }
}

/** Code of an error. Servers other than OpenAI's also send HTTP statuses as codes. */
const word = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((code) => code ?? null);

const refusal = z.object({
  status: z.int().optional(),
  headers: z.custom<Headers>((value) => value instanceof Headers).optional(),
  code: word,
  type: word,
});

/** Errors by code or type. Source: https://platform.openai.com/docs/guides/error-codes; the SDK's `ResponseError` */
const CODES: Readonly<Record<string, FailureClass>> = {
  insufficient_quota: 'quota',
  billing_hard_limit_reached: 'quota',
  billing_not_active: 'quota',
  context_length_exceeded: 'context_too_long',
  string_above_max_length: 'context_too_long',
  model_not_found: 'invalid_request',
  invalid_prompt: 'refused',
  content_filter: 'refused',
  content_policy_violation: 'refused',
  bio_policy: 'refused',
  misalignment_policy_violation: 'refused',
  invalid_api_key: 'authentication',
  rate_limit_exceeded: 'rate_limited',
  server_is_overloaded: 'overloaded',
  slow_down: 'overloaded',
  server_error: 'server_error',
};

function classOf({ status, code, type }: z.output<typeof refusal>): FailureClass {
  const byCode = CODES[String(code)];
  // A gateway in front of the vendor may fail with another code.
  if (status !== undefined) return (status < 500 ? byCode : undefined) ?? classOfStatus(status);
  const numeric = Number(code);
  return byCode ?? (numeric >= 400 ? classOfStatus(numeric) : (CODES[String(type)] ?? 'server_error'));
}
