/**
 * Receives GitHub's deliveries. Only what GitHub signed is read.
 * Source: https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries;
 * https://docs.github.com/webhooks/webhook-events-and-payloads
 */

import { z } from 'zod';
import type { Delivery } from '../../toolsets/github/index.ts';
import { address, line, number, present, sha } from './answers.ts';

interface Received {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Reads the bytes as they came: the signature is over them. */
  readonly body: () => Promise<Uint8Array>;
}

export interface Reply {
  readonly status: 202 | 204 | 400 | 401 | 405 | 503;
  /** For whoever looks at the delivery in GitHub. */
  readonly text: string;
}

/** What has another shape is none, and its body need not be read. */
const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

const NOT_SIGNED: Reply = {
  status: 401,
  text: 'The signature is not right. The webhook needs the secret that GITHUB_WEBHOOK_SECRET holds.',
};

/** The most pull requests of one check that are looked up. */
const MAX_PULL_REQUESTS = 20;

const FAILURES = ['failure', 'timed_out', 'startup_failure'];

const repository = z.object({ id: number });

const pullRequests = z
  .array(z.object({ number }))
  .default([])
  .transform((all) => all.slice(0, MAX_PULL_REQUESTS).map((one) => one.number));

const conclusion = z.string().nullish();

const merged = z.object({
  action: z.string(),
  repository,
  pull_request: z.object({ number, merged: z.boolean().default(false), merge_commit_sha: sha.nullish() }),
});

const checkRun = z.object({
  repository,
  check_run: z.object({
    id: number,
    name: line,
    conclusion,
    head_sha: sha,
    html_url: address,
    pull_requests: pullRequests,
  }),
});

const checkSuite = z.object({
  repository,
  check_suite: z.object({
    id: number,
    conclusion,
    head_sha: sha,
    app: z.object({ name: line }).nullish(),
    pull_requests: pullRequests,
  }),
});

const workflowRun = z.object({
  repository,
  workflow_run: z.object({
    id: number,
    name: line.nullish(),
    run_attempt: number.default(1),
    conclusion,
    head_sha: sha,
    html_url: address,
    pull_requests: pullRequests,
  }),
});

/** By the header `X-GitHub-Event`: what a payload tells, or undefined where it is none of our business. */
const READERS: ReadonlyMap<string, (payload: unknown) => Delivery | undefined> = new Map([
  ['pull_request', readMerge],
  ['check_run', readCheckRun],
  ['check_suite', readCheckSuite],
  ['workflow_run', readWorkflowRun],
]);

export class GitHubWebhook {
  private readonly secret: () => string | undefined;
  private readonly deliveries: { receive(delivery: Delivery): Promise<void> };

  constructor(secret: () => string | undefined, deliveries: GitHubWebhook['deliveries']) {
    this.secret = secret;
    this.deliveries = deliveries;
  }

  /** Answers 2xx only once all is stored, so that GitHub shows a delivery that failed as such. */
  async receive({ method, headers, body }: Received): Promise<Reply> {
    if (method !== 'POST') return { status: 405, text: 'POST only.' };
    const secret = this.secret();
    if (secret === undefined) return { status: 503, text: 'GITHUB_WEBHOOK_SECRET is not set.' };
    const signature = headers['x-hub-signature-256'];
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return NOT_SIGNED;
    const text = new TextDecoder().decode(await body());
    if (!(await isSigned(secret, text, signature))) return NOT_SIGNED;
    const read = READERS.get(String(headers['x-github-event']));
    if (read === undefined) return { status: 204, text: '' };
    const delivery = understood(read, text);
    if (delivery === 'malformed')
      return { status: 400, text: 'This is not as GitHub describes it. Choose application/json.' };
    if (delivery === undefined) return { status: 204, text: '' };
    await this.deliveries.receive(delivery);
    return { status: 202, text: 'Noted.' };
  }
}

async function isSigned(secret: string, text: string, signature: string): Promise<boolean> {
  const { Webhooks } = await import('@octokit/webhooks');
  return text !== '' && new Webhooks({ secret }).verify(text, signature);
}

function understood(
  read: (payload: unknown) => Delivery | undefined,
  text: string,
): Delivery | 'malformed' | undefined {
  try {
    return read(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return 'malformed';
    throw error;
  }
}

function readMerge(payload: unknown): Delivery | undefined {
  const { action, repository: at, pull_request: one } = merged.parse(payload);
  if (action !== 'closed' || !one.merged) return undefined;
  const commit = { commit: one.merge_commit_sha };
  return { kind: 'merged', repositoryId: at.id, number: one.number, ...present(commit) };
}

function readCheckRun(payload: unknown): Delivery | undefined {
  const { repository: at, check_run: run } = checkRun.parse(payload);
  return failed(at.id, run, { source: 'check_run', id: String(run.id), name: run.name, url: run.html_url });
}

function readCheckSuite(payload: unknown): Delivery | undefined {
  const { repository: at, check_suite: suite } = checkSuite.parse(payload);
  const name = suite.app?.name ?? 'checks';
  return failed(at.id, suite, { source: 'check_suite', id: String(suite.id), name });
}

function readWorkflowRun(payload: unknown): Delivery | undefined {
  const { repository: at, workflow_run: run } = workflowRun.parse(payload);
  return failed(at.id, run, {
    source: 'workflow_run',
    id: `${run.id}-${run.run_attempt}`,
    name: run.name ?? 'workflow',
    url: run.html_url,
    runId: run.id,
  });
}

interface Check {
  readonly conclusion?: string | null | undefined;
  readonly head_sha: string;
  readonly pull_requests: readonly number[];
}

interface What {
  readonly source: 'check_run' | 'check_suite' | 'workflow_run';
  readonly id: string;
  readonly name: string;
  readonly url?: string | undefined;
  readonly runId?: number;
}

function failed(repositoryId: number, check: Check, { url, ...what }: What): Delivery | undefined {
  const { conclusion: outcome, head_sha: commit, pull_requests } = check;
  if (typeof outcome !== 'string' || !FAILURES.includes(outcome)) return undefined;
  const about = { ...what, ...present({ url }), conclusion: outcome, commit, pullRequests: pull_requests };
  return { kind: 'checkFailed', repositoryId, ...about };
}
