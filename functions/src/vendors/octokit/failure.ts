/**
 * What GitHub's refusals mean. GitHub's own words are looked at, and go to the log; the caller gets ours.
 * Source: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api;
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */

import { z } from 'zod';
import { MusterError } from '../../kernel/errors.ts';
import { isUnsent } from '../../kernel/platform.ts';
import { plainLine, refusal } from '../../toolsets/github/index.ts';

/** What a secondary rate limit asks to wait where it does not say, in seconds. */
const SECONDARY_WAIT_SECONDS = 60;

const LOGGED_LENGTH = 300;

/** Of GitHub's words only names are shown, and never a sentence. */
const name = z
  .string()
  .regex(/^[A-Za-z][\w.]{0,59}$/)
  .optional()
  .catch(undefined);

const refusedField = z.object({ resource: name, field: name, code: name });

type RefusedField = z.output<typeof refusedField>;

const MAX_FIELDS = 5;

/** What of the request GitHub refuses, where it says so. */
const refusedFields = z
  .object({ errors: z.array(z.unknown()) })
  .transform(({ errors }) =>
    errors.slice(0, MAX_FIELDS).flatMap((error) => refusedField.safeParse(error).data ?? []),
  )
  .catch([]);

const thrown = z
  .object({
    status: z.number(),
    message: z.string(),
    response: z
      .object({
        headers: z.record(z.string(), z.union([z.string(), z.number()]).optional()).default({}),
        data: refusedFields,
      })
      .optional(),
  })
  .transform(({ status, message, response }) => ({
    status,
    /** GitHub's own words, for recognising what it means. Never for the caller. */
    text: message,
    headers: response?.headers ?? {},
    fields: response?.data ?? [],
    /** Whether GitHub answered at all. */
    answered: response !== undefined,
  }));

type Refusal = z.output<typeof thrown>;

/** What octokit threw, or undefined where it is something else. */
export function refusalOf(error: unknown): Refusal | undefined {
  return thrown.safeParse(error).data;
}

/** Whether GitHub may have carried the request out, though nobody knows. */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof Error && error.name === 'AbortError') return true;
  const refused = refusalOf(error);
  if (refused === undefined) return false;
  return refused.answered ? refused.status >= 500 : !isUnsent(error);
}

/** @param route the template, which has nothing of the caller's in it: `GET /repos/{owner}/{repo}` */
export function failureOf(error: unknown, route: string): unknown {
  if (error instanceof MusterError) return error;
  if (error instanceof Error && error.name === 'AbortError') {
    return refusal('TIMEOUT', 'timeout', { cause: route });
  }
  const refused = refusalOf(error);
  if (refused === undefined) {
    // Most likely a private key that cannot be read; its text must not get into the log.
    const cause = `${route}: ${error instanceof Error ? error.name : typeof error}`;
    const wrong = "This deployment's GitHub credentials cannot be used.";
    return refusal('GITHUB_ERROR', 'notSetUp', { wrong, cause });
  }
  // For the log. Requests, headers and addresses stay out, since they may hold secrets.
  const cause = `${route}: ${refused.status} ${plainLine(refused.text, LOGGED_LENGTH)}`;
  if (!refused.answered) return refusal('GITHUB_ERROR', 'noConnection', { cause });
  return rateLimit(refused, cause) ?? unavailable(refused, cause) ?? byStatus(refused, cause);
}

function rateLimit({ status, text, headers }: Refusal, cause: string): MusterError | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const wait = Number(headers['retry-after']);
  if (wait > 0) return rateLimited(wait, cause);
  if (Number(headers['x-ratelimit-remaining'] ?? 1) === 0) {
    const reset = Number(headers['x-ratelimit-reset'] ?? 0) * 1000;
    return rateLimited((reset - Date.now()) / 1000, cause, new Date(reset));
  }
  if (status !== 429 && !/\bsecondary rate\b/i.test(text)) return undefined;
  return rateLimited(SECONDARY_WAIT_SECONDS, cause);
}

/** Primary or secondary. */
function rateLimited(wait: number, cause: string, reset = new Date(Date.now() + wait * 1000)): MusterError {
  const seconds = Math.max(1, Math.ceil(wait));
  const until = reset.toISOString();
  return refusal('RATE_LIMITED', 'rateLimit', { until, seconds, retryAfter: seconds, cause });
}

/** What looks like a lack of permission and is none. */
function unavailable({ status, text, fields }: Refusal, cause: string): MusterError | undefined {
  if (status === 451) return refusal('FORBIDDEN', 'blocked', { cause });
  if (status !== 403 && status !== 413 && status !== 422) return undefined;
  // GitHub gives blobs up to 100 MB, and takes less.
  if (status === 413 || fields.some(({ code }) => code === 'too_large')) {
    return refusal('VALIDATION_ERROR', 'tooLarge', { cause });
  }
  const isArchived = status === 403 && /\barchived\b/i.test(text);
  return isArchived ? refusal('FORBIDDEN', 'archived', { cause }) : undefined;
}

function byStatus({ status, fields }: Refusal, cause: string): MusterError {
  if (status >= 500) return refusal('GITHUB_ERROR', 'unavailable', { cause });
  switch (status) {
    case 400:
    case 422:
      return invalidArguments(fields, cause);
    case 401: {
      const wrong = "GitHub refuses this deployment's credentials.";
      return refusal('GITHUB_ERROR', 'notSetUp', { wrong, cause });
    }
    case 403:
      return refusal('FORBIDDEN', 'notAllowed', { cause });
    case 409:
      return refusal('CONFLICT', 'conflict', { cause });
    case 410:
      return refusal('GONE', 'gone', { cause });
    default:
      return refusal('GITHUB_ERROR', 'unexpectedAnswer', { cause });
  }
}

/** The tools' arguments, by GitHub's names for them where these are others. Only what is here gets into a sentence. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ...['title', 'body', 'labels', 'assignees', 'milestone', 'head', 'base', 'draft', 'message', 'branch']
    .concat('maintainer_can_modify', 'status', 'workflow_id')
    .map((argument): [string, string] => [argument, argument]),
  ['Label.name', 'labels'],
  ['assignee', 'assignees'],
  ['q', 'query'],
  ['ref', 'branch'],
  ['content', 'files'],
  ['tree', 'files'],
  ['tree.path', 'files'],
]);

/** GitHub's codes in words. */
const WORDS: Readonly<Record<string, string>> = {
  missing: 'what it names does not exist',
  missing_field: 'it is required',
  invalid: 'it is not valid',
  already_exists: 'there is one like it already',
  unprocessable: 'it cannot be used',
  too_large: 'it is too large',
  custom: 'GitHub has reasons of its own',
};

function invalidArguments(fields: readonly RefusedField[], cause: string): MusterError {
  const first = fields.find((one) => argumentOf(one) !== undefined);
  const field = first && argumentOf(first);
  const why = WORDS[first?.code ?? ''] ?? 'it is not valid';
  const entries = fields
    .filter((one) => one.field !== undefined && argumentOf(one) === undefined)
    .map((one) => [one.resource, one.field].filter(Boolean).join('.') + (one.code ? `: ${one.code}` : ''));
  const what = field === undefined ? 'these arguments' : `"${field}": ${why}`;
  const name = entries.length === 0 ? 'argument' : 'argumentByFields';
  return refusal('VALIDATION_ERROR', name, {
    what,
    ...(field !== undefined && { field }),
    ...(entries.length > 0 && { entries }),
    cause,
  });
}

function argumentOf({ resource, field }: RefusedField): string | undefined {
  return ARGUMENTS.get(`${resource}.${field}`) ?? ARGUMENTS.get(field ?? '');
}
