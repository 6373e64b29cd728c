/**
 * What GitHub's refusals mean. GitHub's own words are looked at, and go to the log; the caller gets ours.
 * Source: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api;
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */

import { z } from 'zod';
import { MusterError } from '../../kernel/errors.ts';
import { isUnsent } from '../../kernel/platform.ts';
import {
  accessDenied,
  archived,
  blocked,
  gitHubNotSetUp,
  gitHubUnavailable,
  plainLine,
  rateLimited,
  tooLargeForGitHub,
  tooSlow,
  unexpectedAnswer,
} from '../../toolsets/github/index.ts';

/** What a secondary rate limit asks to wait where it does not say, in seconds. */
const SECONDARY_WAIT_SECONDS = 60;

const LOGGED_LENGTH = 300;

const failed = z.object({
  status: z.number(),
  message: z.string(),
  response: z
    .object({
      headers: z.record(z.string(), z.union([z.string(), z.number()]).optional()).default({}),
      data: z.unknown(),
    })
    .optional(),
});

interface Refusal {
  readonly status: number;
  /** GitHub's own words, for recognising what it means. Never for the caller. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** What of the request it refuses, where it says so. */
  readonly fields: readonly RefusedField[];
  /** Whether GitHub answered at all. */
  readonly answered: boolean;
}

/** What octokit threw, or undefined where it is something else. */
export function refusalOf(error: unknown): Refusal | undefined {
  const parsed = failed.safeParse(error);
  if (!parsed.success) return undefined;
  const { status, message, response } = parsed.data;
  const fields = refusedFieldsOf(response?.data);
  return {
    status,
    text: message,
    headers: response?.headers ?? {},
    fields,
    answered: response !== undefined,
  };
}

/** Whether GitHub may have carried the request out, though nobody knows. */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof Error && error.name === 'AbortError') return true;
  const refusal = refusalOf(error);
  if (refusal === undefined) return false;
  return refusal.answered ? refusal.status >= 500 : !isUnsent(error);
}

/** @param route the template, which has nothing of the caller's in it: `GET /repos/{owner}/{repo}` */
export function failureOf(error: unknown, route: string): unknown {
  if (error instanceof MusterError) return error;
  if (error instanceof Error && error.name === 'AbortError') return tooSlow(route);
  const refusal = refusalOf(error);
  if (refusal === undefined) return broken(error, route);
  const cause = causeOf(refusal, route);
  if (!refusal.answered) return gitHubUnavailable('CONNECTION_ERROR', cause);
  return rateLimit(refusal, cause) ?? recognised(refusal, cause) ?? byStatus(refusal, cause);
}

/** For the log: GitHub's words, cut. Requests, headers and addresses stay out, since they may hold secrets. */
function causeOf({ status, text }: Refusal, route: string): string {
  return `${route}: ${status} ${plainLine(text, LOGGED_LENGTH)}`;
}

/** Most likely a private key that cannot be read; its text must not get into the log. */
function broken(error: unknown, route: string): MusterError {
  const name = error instanceof Error ? error.name : typeof error;
  return gitHubNotSetUp("This deployment's GitHub credentials cannot be used.", `${route}: ${name}`);
}

function rateLimit({ status, text, headers }: Refusal, cause: string): MusterError | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const wait = Number(headers['retry-after']);
  if (wait > 0) return rateLimited(Math.ceil(wait), new Date(Date.now() + wait * 1000), cause);
  if (Number(headers['x-ratelimit-remaining'] ?? 1) === 0) {
    const reset = new Date(Number(headers['x-ratelimit-reset'] ?? 0) * 1000);
    return rateLimited(Math.max(1, Math.ceil((reset.getTime() - Date.now()) / 1000)), reset, cause);
  }
  if (status !== 429 && !/\bsecondary rate\b/i.test(text)) return undefined;
  const until = new Date(Date.now() + SECONDARY_WAIT_SECONDS * 1000);
  return rateLimited(SECONDARY_WAIT_SECONDS, until, cause);
}

/** What looks like a lack of permission and is none. */
function recognised({ status, text, fields }: Refusal, cause: string): MusterError | undefined {
  if (status === 451) return blocked(cause);
  if (status !== 403 && status !== 413 && status !== 422) return undefined;
  if (status === 413 || fields.some(({ code }) => code === 'too_large')) return tooLargeForGitHub(cause);
  return status === 403 && /\barchived\b/i.test(text) ? archived(cause) : undefined;
}

function byStatus({ status, fields }: Refusal, cause: string): MusterError {
  if (status === 401) return gitHubNotSetUp("GitHub refuses this deployment's credentials.", cause);
  if (status === 403) {
    return accessDenied(
      'GitHub does not let this deployment do that.',
      "Whoever runs it: check the repository's and the App's or the token's permissions; docs/guides/github.md lists them.",
      cause,
    );
  }
  if (status >= 500) return gitHubUnavailable('UNAVAILABLE', cause);
  if (status === 410) return new MusterError('GONE', 'GitHub has this no more.', { reason: 'GONE', cause });
  if (status === 409) {
    return new MusterError('CONFLICT', 'This conflicts with what is on GitHub now.', {
      reason: 'CONFLICT',
      suggestion: 'Look at the repository, and decide again. An empty repository needs a first commit.',
      cause,
    });
  }
  if (status === 400 || status === 422) return invalidArguments(fields, cause);
  return unexpectedAnswer(cause);
}

// What GitHub says of a request that it refuses: which field of it, and why. Only what is in these tables
// becomes part of a sentence; the rest is GitHub's, and goes to the caller as data if it is a name at all.
// Source: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api

/** GitHub's names, and those of the tools' arguments. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ...['title', 'body', 'labels', 'assignees', 'milestone', 'head', 'base', 'draft', 'message', 'branch']
    .concat('maintainer_can_modify', 'status', 'workflow_id')
    .map((name): [string, string] => [name, name]),
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

const NAME = /^[A-Za-z][\w.]{0,59}$/;

const MOST_SHOWN = 5;

const name = z.string().regex(NAME).optional().catch(undefined);

const refusedField = z.object({ resource: name, field: name, code: name });

type RefusedField = z.output<typeof refusedField>;

const answer = z.object({ errors: z.array(z.unknown()) });

/** @param data the body of GitHub's answer */
function refusedFieldsOf(data: unknown): readonly RefusedField[] {
  const { errors } = answer.safeParse(data).data ?? { errors: [] };
  return errors.slice(0, MOST_SHOWN).flatMap((error) => refusedField.safeParse(error).data ?? []);
}

function invalidArguments(fields: readonly RefusedField[], cause: string): MusterError {
  const named = fields.flatMap((one) => {
    const argument = argumentOf(one);
    return argument === undefined ? [] : [{ argument, why: WORDS[one.code ?? ''] ?? 'it is not valid' }];
  });
  const [first] = named;
  const unknown = fields
    .filter((one) => argumentOf(one) === undefined)
    .map(nameOf)
    .filter(Boolean);
  const message =
    first === undefined
      ? 'GitHub does not accept these arguments.'
      : `GitHub does not accept "${first.argument}": ${first.why}.`;
  return new MusterError('VALIDATION_ERROR', message, {
    ...(first !== undefined && { field: first.argument }),
    reason: 'VALIDATION_ERROR',
    suggestion:
      unknown.length === 0
        ? 'Check that the branches, labels, people and milestones that you name exist.'
        : 'Check that the branches, labels, people and milestones that you name exist. data.entries has what GitHub calls the fields.',
    ...(unknown.length > 0 && { entries: unknown }),
    cause,
  });
}

function argumentOf({ resource, field }: RefusedField): string | undefined {
  return ARGUMENTS.get(`${resource}.${field}`) ?? ARGUMENTS.get(field ?? '');
}

function nameOf({ resource, field, code }: RefusedField): string {
  return field === undefined ? '' : [resource, field].filter(Boolean).join('.') + (code ? `: ${code}` : '');
}
