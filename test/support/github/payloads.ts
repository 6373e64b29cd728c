/**
 * Webhook payloads: examples from `@octokit/webhooks-examples` with some changed values. Each payload is validated
 * against `@octokit/webhooks-schemas`, so that tests use only payloads that GitHub can send.
 */
import { createRequire } from 'node:module';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';

type Json = Readonly<Record<string, unknown>>;

const require = createRequire(new URL('../../schemas/package.json', import.meta.url));

const examples: readonly {
  readonly name: string;
  readonly examples: readonly Json[];
}[] = require('@octokit/webhooks-examples');

// The schemas are large. Sharing their compiled parts takes a third of the time of inlining the parts.
const ajv = new Ajv({ strict: false, logger: false, inlineRefs: false, code: { optimize: false } });
formats.default(ajv);
ajv.addSchema(require('@octokit/webhooks-schemas'), 'webhooks');

const compiled = new Map<string, ValidateFunction>();

export interface Payload {
  /** Value of the header `X-GitHub-Event`. */
  readonly event: string;
  readonly payload: Json;
}

/** Returns the last example that, with these changes, matches its schema. Objects are merged, lists replaced. */
function payloadOf(event: string, action: string, changes: Json): Payload {
  const named = examples.find(({ name }) => name === event)?.examples ?? [];
  const payloads = named.filter((one) => one['action'] === action).map((one) => merged(one, changes));
  const schema = `webhooks#/definitions/${event}$${action}`;
  const isDescribed = compiled.get(schema) ?? ajv.compile({ $ref: schema });
  compiled.set(schema, isDescribed);
  const payload = payloads.findLast((one) => isDescribed(one));
  if (payload !== undefined) return { event, payload };
  throw new Error(`No changed example of ${event} matches its schema: ${ajv.errorsText(isDescribed.errors)}`);
}

function merged(example: unknown, changes: Json): Json {
  const entries = Object.entries(changes).map(([name, value]) => {
    const before = Object(example)[name];
    return [name, isObject(value) ? merged(before, value) : value];
  });
  return { ...Object(example), ...Object.fromEntries(entries) };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The pull request to which a payload refers. */
export interface About {
  readonly repository: number;
  readonly pull: number;
  /** SHA of the pull request's head commit. */
  readonly head: string;
}

export interface CheckOptions {
  readonly name?: string;
  readonly conclusion?: string;
  /** SHA of the checked commit. Default: the head commit. */
  readonly commit?: string;
  readonly at?: Date;
  readonly id?: number;
  /** Id of the check suite (for a check run) or of the workflow (for a workflow run). */
  readonly of?: number;
  readonly url?: string;
  /** Attempt number of a workflow run. */
  readonly attempt?: number;
}

const START = new Date('2026-11-27T12:00:00Z');

/** Returns a time in GitHub's format, which has no milliseconds. */
const timeOf = (at = START): string => at.toISOString().replace('.000Z', 'Z');

function pullRequestsOf({ pull, head }: About, repository: number): readonly unknown[] {
  const suites = examples.find(({ name }) => name === 'check_suite')?.examples ?? [];
  const [example] = Object(suites[0]).check_suite.pull_requests;
  return [merged(example, { number: pull, head: { sha: head }, base: { repo: { id: repository } } })];
}

export function checkRun(about: About, options: CheckOptions = {}): Payload {
  const { repository, head } = about;
  const { name = 'lint', conclusion = 'failure', commit = head, at, id = 1, of = 1, url } = options;
  return payloadOf('check_run', 'completed', {
    repository: { id: repository },
    check_run: {
      id,
      name,
      conclusion,
      head_sha: commit,
      completed_at: timeOf(at),
      ...(url !== undefined && { html_url: url }),
      check_suite: { id: of, head_sha: commit },
      pull_requests: pullRequestsOf(about, repository),
    },
  });
}

/** Returns the payload of a check run in progress. */
export function startedCheckRun(about: About): Payload {
  const { repository, head } = about;
  const pull_requests = pullRequestsOf(about, repository);
  const check_run = { head_sha: head, conclusion: null, completed_at: null, status: 'in_progress', pull_requests };
  return payloadOf('check_run', 'created', { repository: { id: repository }, check_run });
}

export function checkSuite(about: About, options: CheckOptions = {}): Payload {
  const { repository, head } = about;
  const { name = 'checks', conclusion = 'failure', commit = head, at, id = 1 } = options;
  return payloadOf('check_suite', 'completed', {
    repository: { id: repository },
    check_suite: {
      id,
      conclusion,
      head_sha: commit,
      updated_at: timeOf(at),
      app: { name },
      pull_requests: pullRequestsOf(about, repository),
    },
  });
}

export function workflowRun(about: About, options: CheckOptions = {}): Payload {
  const { repository, head } = about;
  const { name = 'ci', conclusion = 'failure', commit = head, at, id = 1, of = 1, url, attempt = 1 } = options;
  return payloadOf('workflow_run', 'completed', {
    repository: { id: repository },
    workflow_run: {
      id,
      name,
      conclusion,
      head_sha: commit,
      workflow_id: of,
      run_attempt: attempt,
      updated_at: timeOf(at),
      ...(url !== undefined && { html_url: url }),
      pull_requests: pullRequestsOf(about, repository),
    },
  });
}

export function pullRequest(
  { repository, pull, head }: About,
  action: 'opened' | 'synchronize' | 'closed' | 'reopened',
  {
    at,
    merged: isMerged = false,
    commit = null,
    body,
  }: { at?: Date; merged?: boolean; commit?: string | null; body?: string } = {},
): Payload {
  return payloadOf('pull_request', action, {
    number: pull,
    repository: { id: repository },
    pull_request: {
      number: pull,
      head: { sha: head },
      updated_at: timeOf(at),
      merge_commit_sha: commit,
      ...(body !== undefined && { body }),
      ...(action === 'closed' && { merged: isMerged, merged_at: isMerged ? timeOf(at) : null }),
    },
  });
}
