/**
 * Classifies errors of GitHub. GitHub's messages are inspected and logged, but callers receive Muster's messages.
 * Source: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api;
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
import { z } from 'zod';
import { MusterError } from '../../kernel/errors.ts';
import { isUnsent } from '../../kernel/platform.ts';
import { plainLine, refusal } from '../../toolsets/github/index.ts';

/** Time to wait after a secondary rate limit if GitHub states none, in seconds. */
const SECONDARY_WAIT_SECONDS = 60;
const LOGGED_LENGTH = 300;

/** Only names of fields and codes of GitHub's errors are shown, never sentences. */
const name = z
  .string()
  .regex(/^[A-Za-z][\w.]{0,59}$/)
  .optional()
  .catch(undefined);

const refusedField = z.object({ resource: name, field: name, code: name });
type RefusedField = z.output<typeof refusedField>;
const MAX_FIELDS = 5;

const refusedFields = z
  .object({ errors: z.array(z.unknown()) })
  .transform(({ errors }) => errors.slice(0, MAX_FIELDS).flatMap((error) => refusedField.safeParse(error).data ?? []))
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
    /** GitHub's message. It is used for classification, and is never shown to the caller. */
    text: message,
    headers: response?.headers ?? {},
    fields: response?.data ?? [],
    answered: response !== undefined,
  }));

type Refusal = z.output<typeof thrown>;

/** Returns the parsed error of octokit; undefined for other errors. */
export function refusalOf(error: unknown): Refusal | undefined {
  return thrown.safeParse(error).data;
}

/** Returns whether GitHub may have executed the request, although the request failed. */
export function hasNoResponse(error: unknown): boolean {
  if (error instanceof Error && error.name === 'AbortError') return true;
  const refused = refusalOf(error);
  if (refused === undefined) return false;
  return refused.answered ? refused.status >= 500 : !isUnsent(error);
}

/** Converts an error of octokit. @param route template without data of the caller: `GET /repos/{owner}/{repo}` */
export function failureOf(error: unknown, route: string): unknown {
  if (error instanceof MusterError) return error;
  if (error instanceof Error && error.name === 'AbortError') return refusal('TIMEOUT', 'timeout', { cause: route });
  const refused = refusalOf(error);
  if (refused === undefined) {
    // The private key is probably invalid. The message of the error may quote the key, so it must not be logged.
    const cause = `${route}: ${error instanceof Error ? error.name : typeof error}`;
    const wrong = "This deployment's GitHub credentials are invalid.";
    return refusal('GITHUB_ERROR', 'notSetUp', { wrong, cause });
  }
  // Text for the log. Requests, headers and URLs are omitted, because they may contain secrets.
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

function rateLimited(wait: number, cause: string, reset = new Date(Date.now() + wait * 1000)): MusterError {
  const seconds = Math.max(1, Math.ceil(wait));
  const until = reset.toISOString();
  return refusal('RATE_LIMITED', 'rateLimit', { until, seconds, retryAfter: seconds, cause });
}

/** Returns the error for responses that look like missing permissions but have other causes. */
function unavailable({ status, text, fields }: Refusal, cause: string): MusterError | undefined {
  if (status === 451) return refusal('FORBIDDEN', 'blocked', { cause });
  if (status !== 403 && status !== 413 && status !== 422) return undefined;
  // GitHub returns files of up to 100 MB but accepts only smaller files.
  if (status === 413 || fields.some(({ code }) => code === 'too_large'))
    return refusal('VALIDATION_ERROR', 'tooLarge', { cause });
  const isArchived = status === 403 && /\barchived\b/i.test(text);
  return isArchived ? refusal('FORBIDDEN', 'archived', { cause }) : undefined;
}

function byStatus({ status, fields }: Refusal, cause: string): MusterError {
  if (status >= 500) return refusal('GITHUB_ERROR', 'unavailable', { cause });
  if (status === 400 || status === 422) return invalidArguments(fields, cause);
  const wrong = "GitHub rejected this deployment's credentials.";
  if (status === 401) return refusal('GITHUB_ERROR', 'notSetUp', { wrong, cause });
  if (status === 403) return refusal('FORBIDDEN', 'notAllowed', { cause });
  if (status === 409) return refusal('CONFLICT', 'conflict', { cause });
  if (status === 410) return refusal('GONE', 'gone', { cause });
  return refusal('GITHUB_ERROR', 'unexpectedAnswer', { cause });
}

/** Arguments of tools, by name of the field at GitHub. Messages contain only the names of arguments. */
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

const WORDS: Readonly<Record<string, string>> = {
  missing: 'it refers to something that does not exist',
  missing_field: 'it is required',
  invalid: 'it is not valid',
  already_exists: 'it already exists',
  unprocessable: 'it cannot be used',
  too_large: 'it is too large',
  custom: 'GitHub rejected it for another reason',
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
