/**
 * What GitHub tells of by itself: a pull request was merged, a check failed. Only what Muster stored says which task a
 * pull request belongs to. Deliveries come twice and out of order: closing a task twice is closing it once, and a
 * failed check is logged under an id of its own. Source: https://docs.github.com/webhooks/webhook-events-and-payloads
 */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { parsedJson } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { TaskQueue } from '../../coordination/index.ts';
import type { PullRequestLink } from '../store/pullRequests.ts';
import { address, line, number, sha } from './answers.ts';
import type { PullRequestState } from './node.ts';
import type { GitHubPorts } from './ports.ts';

/** The most pull requests of one check that are looked up. */
const MAX_PULL_REQUESTS = 20;

const FAILURES: readonly unknown[] = ['failure', 'timed_out', 'startup_failure'];

const repository = z.object({ id: number });

const pullRequestTold = z
  .object({
    action: z.string(),
    repository,
    pull_request: z.object({
      number,
      merged: z.boolean().default(false),
      merge_commit_sha: sha.nullish(),
      updated_at: z.iso.datetime().optional().catch(undefined),
    }),
  })
  .transform(({ action, repository: { id: repositoryId }, pull_request: one }) => {
    if (action !== 'closed' && action !== 'reopened') return undefined;
    const state: PullRequestState = action === 'reopened' ? 'open' : one.merged ? 'merged' : 'closed';
    const at = one.updated_at === undefined ? undefined : new Date(one.updated_at);
    const pullRequests = [one.number];
    return { kind: 'state' as const, repositoryId, pullRequests, state, at, commit: one.merge_commit_sha };
  });

type ToldState = NonNullable<z.output<typeof pullRequestTold>>;

/** What checks of all kinds tell, as GitHub names it. */
const check = z.object({
  id: number,
  conclusion: z.string().nullish(),
  head_sha: sha,
  pull_requests: z.array(z.object({ number })).default([]),
});

/** What is told of a check that failed beside its outcome, in the words of the task's log. */
interface Told {
  readonly source: 'check_run' | 'check_suite' | 'workflow_run';
  readonly name: string;
  readonly url?: string | undefined;
  readonly run_id?: number;
}

/** @param id with the source, what there is one log entry for */
function endedCheck(
  { id: repositoryId }: z.output<typeof repository>,
  { conclusion, head_sha: commit, pull_requests }: z.output<typeof check>,
  id: string | number,
  { name, url, ...told }: Told,
): CheckFailed | CheckPassed | undefined {
  const pullRequests = pull_requests.slice(0, MAX_PULL_REQUESTS).map((one) => one.number);
  const about = { repositoryId, pullRequests, name };
  if (conclusion === 'success') return { kind: 'checkPassed', ...about };
  if (typeof conclusion !== 'string' || !FAILURES.includes(conclusion)) return undefined;
  const details = { ...told, conclusion, commit, ...(url !== undefined && { url }) };
  return { kind: 'checkFailed', ...about, url, id: `${told.source}-${id}`, details };
}

interface CheckPassed {
  readonly kind: 'checkPassed';
  readonly repositoryId: number;
  readonly pullRequests: readonly number[];
  readonly name: string;
}

interface CheckFailed extends Omit<CheckPassed, 'kind'> {
  readonly kind: 'checkFailed';
  readonly url: string | undefined;
  readonly id: string;
  readonly details: JsonObject;
}

type Delivery = ToldState | CheckFailed | CheckPassed;

/** By the header `X-GitHub-Event`: what a payload tells, or undefined where it is none of our business. */
const EVENTS = new Map<string, z.ZodType<Delivery | undefined>>([
  ['pull_request', pullRequestTold],
  [
    'check_run',
    z
      .object({ repository, check_run: check.extend({ name: line, html_url: address }) })
      .transform(({ repository: at, check_run: run }) =>
        endedCheck(at, run, run.id, { source: 'check_run', name: run.name, url: run.html_url }),
      ),
  ],
  [
    'check_suite',
    z
      .object({ repository, check_suite: check.extend({ app: z.object({ name: line }).nullish() }) })
      .transform(({ repository: at, check_suite: suite }) =>
        endedCheck(at, suite, suite.id, { source: 'check_suite', name: suite.app?.name ?? 'checks' }),
      ),
  ],
  [
    'workflow_run',
    z
      .object({
        repository,
        workflow_run: check.extend({
          name: line.nullish(),
          run_attempt: number.default(1),
          html_url: address,
        }),
      })
      .transform(({ repository: at, workflow_run: run }) =>
        endedCheck(at, run, `${run.id}-${run.run_attempt}`, {
          source: 'workflow_run',
          name: run.name ?? 'workflow',
          url: run.html_url,
          run_id: run.id,
        }),
      ),
  ],
]);

export class Deliveries extends Service<GitHubPorts> {
  /** @param event GitHub's header `X-GitHub-Event` */
  async receive(event: string, body: string): Promise<'noted' | 'ignored' | 'malformed'> {
    const schema = EVENTS.get(event);
    if (schema === undefined) return 'ignored';
    const { success, data: delivery } = schema.safeParse(parsedJson(body));
    if (!success) return 'malformed';
    if (delivery === undefined) return 'ignored';
    for (const number of delivery.pullRequests) {
      const link = (await this.ports.pullRequestLinks.find(delivery.repositoryId, number))?.value;
      if (link === undefined) continue;
      await this.take(link, delivery);
    }
    return 'noted';
  }

  private async take(link: PullRequestLink, delivery: Delivery): Promise<void> {
    if (delivery.kind === 'state') await this.note(link, delivery);
    if (link.taskId === '') return;
    if (delivery.kind === 'checkFailed') await this.record(link, delivery);
    else if (delivery.kind === 'checkPassed') await this.clear(link, delivery);
    else if (delivery.state === 'merged') await this.finish(link, delivery);
  }

  /** Notes the state of the pull request, unless a later one is known. One that is merged stays so. */
  private note({ repositoryId, number }: PullRequestLink, { state, at }: ToldState): Promise<void> {
    const { pullRequestLinks, store, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await pullRequestLinks.find(repositoryId, number);
      if (found === undefined) return;
      const { value: before, version } = found;
      const isPast = at !== undefined && before.stateAt !== undefined && at < before.stateAt;
      if (before.state === state || before.state === 'merged' || (isPast && state !== 'merged')) return;
      const link = { ...before, state, ...(at && { stateAt: at }) };
      await store.commit([{ kind: 'replaceLink', before, link, version }]);
    });
  }

  private async finish(link: PullRequestLink, { commit }: ToldState): Promise<void> {
    const { log } = this.ports;
    const at = commit == null ? '' : ` as ${commit}`;
    const output = `Pull request ${link.owner}/${link.repo}#${link.number} was merged${at}.`;
    try {
      const { kind } = await new TaskQueue(this.ports).finish(link.taskId, { output });
      log.info('pull_request_merged', { taskId: link.taskId, kind });
    } catch (error) {
      // The task is gone: another delivery of the same would not find it either.
      if (!(error instanceof MusterError && error.code === 'NOT_FOUND')) throw error;
      log.warn('pull_request_without_task', { taskId: link.taskId });
    }
  }

  private async record(
    { taskId, number, owner, repo }: PullRequestLink,
    { id, name, url, details }: CheckFailed,
  ): Promise<void> {
    const known = await this.ports.tasks.find(taskId);
    if (known === undefined) return this.ports.log.warn('pull_request_without_task', { taskId });
    const { workspace } = known.value;
    const at = this.ports.clock.now();
    const where = { repository: `${owner}/${repo}`, pullRequest: number };
    const failed = { name, at, ...where, ...(url !== undefined && { url }) };
    const task = { id: taskId, workspace };
    await this.ports.store.commit([{ kind: 'checkFailed', task, check: failed, entry: { id, details } }]);
  }

  /** Takes the mark of a failed check from its task, if it was this one, of this pull request. */
  private clear({ taskId, number, owner, repo }: PullRequestLink, { name }: CheckPassed): Promise<void> {
    const { tasks, store, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await tasks.find(taskId);
      const failed = found?.value.failedCheck;
      if (found === undefined || failed?.name !== name || failed.pullRequest !== number) return;
      if (failed.repository !== `${owner}/${repo}`) return;
      await store.commit([{ kind: 'checkPassed', taskId, version: found.version }]);
    });
  }
}
