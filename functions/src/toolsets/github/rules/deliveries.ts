/**
 * Processes GitHub's webhook deliveries about merged pull requests and check results. A pull request belongs to a
 * task only if Muster has stored this link. Deliveries may arrive repeatedly and in any order, so processing one
 * again changes nothing. Source: https://docs.github.com/webhooks/webhook-events-and-payloads
 */
import { z } from 'zod';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { type JsonObject, parsedJson } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import { TaskQueue } from '../../coordination/index.ts';
import type { PullRequestLink, PullRequestState } from './link.ts';
import type { GitHubChange, GitHubPorts } from './ports.ts';
import { address, FAILED_CONCLUSIONS, line, number, sha } from './responses.ts';

const MAX_PULL_REQUESTS = 20;
const repository = z.object({ id: number });
const pullRequest = z.object({ number, head: z.object({ sha }).optional() });

/** A time, which GitHub omits while a check is running. A time that cannot be parsed is treated as omitted. */
const time = z.iso
  .datetime({ offset: true })
  .nullish()
  .catch(undefined)
  .transform((text) => (text == null ? undefined : new Date(text)));

/** State of the pull request after a webhook action. Deliveries with other actions are ignored. */
const STATES: Readonly<Record<string, PullRequestState | 'ended' | undefined>> = {
  opened: 'open',
  reopened: 'open',
  synchronize: 'open',
  closed: 'ended',
};

const pullRequestFields = z
  .object({
    action: z.string(),
    repository,
    pull_request: pullRequest.extend({
      merged: z.boolean().default(false),
      merge_commit_sha: sha.nullish(),
      updated_at: time,
    }),
  })
  .transform(({ action, repository: { id: repositoryId }, pull_request: one }): Delivery | undefined => {
    const details = STATES[action];
    if (details === undefined) return undefined;
    const state = details === 'ended' ? (one.merged ? 'merged' : 'closed') : details;
    const pullRequests = [{ number: one.number, head: one.head?.sha }];
    return { repositoryId, pullRequests, state, at: one.updated_at, mergedAs: one.merge_commit_sha };
  });

const check = z.object({
  id: number,
  conclusion: z.string().nullish(),
  head_sha: sha,
  pull_requests: z.array(pullRequest).default([]),
});

interface CheckDetails {
  readonly source: 'check_run' | 'check_suite' | 'workflow_run';
  readonly name: string;
  readonly url?: string | undefined;
  readonly run_id?: number;
}

/**
 * Converts a check that has ended. The id and the source together identify the entry in the task's log.
 * @param apart distinguishes checks with the same source and name
 */
function endedCheck(
  { id: repositoryId }: z.output<typeof repository>,
  { id: number, conclusion, head_sha: commit, pull_requests }: z.output<typeof check>,
  { id = number, apart, at }: { id?: string | number; apart: unknown; at: Date | undefined },
  { name, url, ...fields }: CheckDetails,
): Delivery | undefined {
  const passed = conclusion === 'success';
  if (typeof conclusion !== 'string' || !(passed || FAILED_CONCLUSIONS.includes(conclusion))) return undefined;
  // If GitHub omits the head of a pull request, the head is the commit that was checked.
  const pullRequests = pull_requests
    .slice(0, MAX_PULL_REQUESTS)
    .map((one) => ({ number: one.number, head: one.head?.sha ?? commit }));
  const key = JSON.stringify([fields.source, name, apart ?? null]);
  const result = { key, name, commit, id: number, passed, ...(url !== undefined && { url }) };
  const details = { ...fields, name, conclusion, commit, ...(url !== undefined && { url }) };
  const entry = passed ? undefined : { id: `${fields.source}-${id}`, details };
  return { repositoryId, pullRequests, at, check: result, entry };
}

interface Delivery {
  readonly repositoryId: number;
  readonly pullRequests: readonly { readonly number: number; readonly head: string | undefined }[];
  readonly at: Date | undefined;
  readonly state?: PullRequestState;
  readonly mergedAs?: string | null | undefined;
  readonly check?: DeliveredState['check'];
  readonly entry?: { readonly id: string; readonly details: JsonObject } | undefined;
}

/** Schemas of payloads, by the value of the header `X-GitHub-Event`. Irrelevant payloads are parsed to undefined. */
const EVENTS = new Map<string, z.ZodType<Delivery | undefined>>([
  ['pull_request', pullRequestFields],
  [
    'check_run',
    z
      .object({
        repository,
        check_run: check.extend({
          name: line,
          html_url: address,
          check_suite: z.object({ id: number.nullish() }).nullish(),
          completed_at: time,
        }),
      })
      .transform(({ repository: of, check_run: { check_suite: suite, completed_at: at, ...run } }) => {
        const details = { source: 'check_run', name: run.name, url: run.html_url } as const;
        return endedCheck(of, run, { apart: suite?.id, at }, details);
      }),
  ],
  [
    'check_suite',
    z
      .object({ repository, check_suite: check.extend({ app: z.object({ name: line }).nullish(), updated_at: time }) })
      .transform(({ repository: of, check_suite: { updated_at: at, ...suite } }) => {
        const details = { source: 'check_suite', name: suite.app?.name ?? 'checks' } as const;
        return endedCheck(of, suite, { apart: suite.id, at }, details);
      }),
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
          workflow_id: number.nullish(),
          event: z.string().nullish(),
          updated_at: time,
        }),
      })
      .transform(({ repository: of, workflow_run: { workflow_id: workflow, event, ...run } }) => {
        const id = `${run.id}-${run.run_attempt}`;
        const details = { name: run.name ?? 'workflow', url: run.html_url, run_id: run.id };
        const about = { id, apart: [workflow, event], at: run.updated_at };
        return endedCheck(of, run, about, { source: 'workflow_run', ...details });
      }),
  ],
]);

export class Deliveries extends Service<GitHubPorts> {
  /** Processes a webhook delivery. @param event value of the header `X-GitHub-Event` */
  async receive(event: string, body: string): Promise<'noted' | 'ignored' | 'malformed'> {
    const schema = EVENTS.get(event);
    if (schema === undefined) return 'ignored';
    const { success, data: delivery } = schema.safeParse(parsedJson(body));
    if (!success) return 'malformed';
    if (delivery === undefined) return 'ignored';
    for (const { number, head } of delivery.pullRequests) {
      const link = (await this.ports.pullRequestLinks.find(delivery.repositoryId, number))?.value;
      if (link === undefined) continue;
      await this.note(link, delivery, head);
      if (delivery.state === 'merged' && link.task_id !== '') await this.finish(link, delivery);
    }
    return 'noted';
  }

  /** Stores what a delivery changes on a pull request, and sets or clears the failed-check mark of its task. */
  private note({ repository_id, number }: PullRequestLink, delivery: Delivery, head: string | undefined) {
    const { pullRequestLinks, store, randomness, clock } = this.ports;
    const { state, check, at = clock.now() } = delivery;
    return retryOnConflict(randomness, async () => {
      const found = await pullRequestLinks.find(repository_id, number);
      if (found === undefined) return;
      const { value: before, version } = found;
      const link = withDelivery(before, { at, head, state, check });
      const ofTask = await this.taskChanges(link, delivery, at);
      // The failed-check mark depends on the link, so it is changed only if the link still has the version read.
      const needsLink = link !== before || ofTask.some(({ kind }) => kind !== 'logFailedCheck');
      const ofLink: GitHubChange[] = needsLink ? [{ kind: 'replaceLink', before, link, version }] : [];
      if (ofLink.length + ofTask.length > 0) await store.commit([...ofLink, ...ofTask]);
    });
  }

  /** Returns the changes to the task: the log entry of a failed check, and the new or cleared failed-check mark. */
  private async taskChanges(link: PullRequestLink, { entry }: Delivery, at: Date): Promise<readonly GitHubChange[]> {
    const { task_id, owner, repo, number: pullRequest } = link;
    if (task_id === '') return [];
    const found = await this.ports.tasks.find(task_id);
    if (found === undefined) {
      this.ports.log.warn('pull_request_without_task', { taskId: task_id });
      return [];
    }
    const { failed_check: marked, workspace } = found.value;
    const task = { id: task_id, workspace };
    const where = { repository: `${owner}/${repo}`, pull_request: pullRequest };
    const logged: GitHubChange[] =
      entry === undefined ? [] : [{ kind: 'logFailedCheck', task, entry: { ...entry, ...where, at } }];
    const isOwn = marked?.pull_request === pullRequest && marked.repository === where.repository;
    const failed = failureOf(link);
    if (failed === undefined) {
      const { version } = found;
      return isOwn ? [...logged, { kind: 'checkPassed', taskId: task_id, version }] : logged;
    }
    const { name, at: failedAt, url } = failed;
    const check = { name, at: failedAt, ...where, ...(url !== undefined && { url }) };
    const isNewer = marked === undefined || isOwn || marked.at < failedAt;
    const isSame = marked?.name === name && marked.url === url && marked.at.getTime() === failedAt.getTime();
    const isMarked = isOwn && isSame;
    return isNewer && !isMarked ? [...logged, { kind: 'checkFailed', taskId: task_id, check }] : logged;
  }

  private async finish(link: PullRequestLink, { mergedAs: commit }: Delivery): Promise<void> {
    const { log } = this.ports;
    const at = commit == null ? '' : ` as ${commit}`;
    const output = `Pull request ${link.owner}/${link.repo}#${link.number} was merged${at}.`;
    try {
      const { kind } = await new TaskQueue(this.ports).finish(link.task_id, { output }, commit ?? undefined);
      log.info('pull_request_merged', { taskId: link.task_id, kind });
    } catch (error) {
      // If the task was deleted, repeating the delivery would not help.
      if (!(error instanceof MusterError && error.code === 'NOT_FOUND')) throw error;
      log.warn('pull_request_without_task', { taskId: link.task_id });
    }
  }
}

// Merges a delivery into the stored state, head commit and check results of a pull request. GitHub's times decide
// which information is newer, so the order of the deliveries does not matter.

export type CheckResult = PullRequestLink['checks'][number];

export interface DeliveredState {
  /** Time of the state, by GitHub's clock. */
  readonly at: Date;
  /** Head commit of the pull request at the time `at`. */
  readonly head?: string | undefined;
  readonly state?: PullRequestState | undefined;
  readonly check?: Omit<CheckResult, 'at'> | undefined;
}

const MAX_CHECKS = 200;

/** Returns the link with the information of a delivery, or the same object if nothing changes. */
export function withDelivery(link: PullRequestLink, seen: DeliveredState): PullRequestLink {
  const known = withCheck(withHead(withState(link, seen), seen), seen);
  return known.checks.length > MAX_CHECKS ? { ...known, checks: mostRelevant(known) } : known;
}

/** If two states have the same time, the one with the higher number here counts. */
const STATE_ORDER = { open: 0, closed: 1, merged: 2 } as const satisfies Record<PullRequestState, number>;

/** Returns the link with the newer of both states. A merged pull request stays merged. */
function withState(link: PullRequestLink, { state, at }: DeliveredState): PullRequestLink {
  if (state === undefined || link.state === 'merged') return link;
  const past = link.state_at?.getTime() ?? Number.NEGATIVE_INFINITY;
  const [now, before] = [STATE_ORDER[state], STATE_ORDER[link.state]];
  if (state !== 'merged' && compared([at.getTime(), now], [past, before]) <= 0) return link;
  return { ...link, state, state_at: at };
}

function withHead(link: PullRequestLink, { head, at }: DeliveredState): PullRequestLink {
  if (head === undefined) return link;
  const past = link.head_at?.getTime() ?? Number.NEGATIVE_INFINITY;
  return compared([at.getTime(), head], [past, link.head ?? '']) <= 0 ? link : { ...link, head, head_at: at };
}

/** Keeps one result per check and commit: the latest one or, if their times are equal, the one with the higher id. */
function withCheck(link: PullRequestLink, { check, at }: DeliveredState): PullRequestLink {
  if (check === undefined) return link;
  const result = { ...check, at };
  const isSame = ({ key, commit }: CheckResult) => key === result.key && commit === result.commit;
  const before = link.checks.find(isSame);
  if (before !== undefined && compared(rankOf(result), rankOf(before)) <= 0) return link;
  return { ...link, checks: [...link.checks.filter((one) => !isSame(one)), result] };
}

function rankOf({ at, id, passed }: CheckResult): readonly number[] {
  return [at.getTime(), id, passed ? 0 : 1];
}

/** Sorts the results (head commit first, then failures, then the latest ones), and keeps only the first ones. */
function mostRelevant({ checks, head }: PullRequestLink): PullRequestLink['checks'] {
  const worth = (one: CheckResult) => [one.commit === head ? 1 : 0, one.passed ? 0 : 1, ...rankOf(one)];
  return checks.toSorted((left, right) => compared(worth(right), worth(left))).slice(0, MAX_CHECKS);
}

/** Returns the latest failed check of the head commit. */
export function failureOf({ head, checks }: PullRequestLink): CheckResult | undefined {
  const failed = checks.filter(({ commit, passed }) => !passed && commit === head);
  return failed.toSorted((left, right) => compared(rankOf(right), rankOf(left)))[0];
}

function compared<Part extends number | string>(left: readonly Part[], right: readonly Part[]): number {
  const index = left.findIndex((part, at) => part !== right[at]);
  const [one, other] = [left[index], right[index]];
  return one === undefined || other === undefined ? 0 : one < other ? -1 : 1;
}
