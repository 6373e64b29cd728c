/**
 * What GitHub answers, checked and bounded before the domain sees it. What others wrote loses what cannot be
 * seen; the content of files is left as it is.
 */

import { z } from 'zod';
import {
  type Commit,
  type Issue,
  type Job,
  type PullRequest,
  plainLine,
  plainText,
  type Repository,
  unexpectedAnswer,
  type WorkflowRun,
  webAddress,
} from '../../toolsets/github/index.ts';
import type { Answer } from './asking.ts';

/** @throws MusterError GITHUB_ERROR where GitHub did not answer as its description says */
export function checked<Schema extends z.ZodType>(schema: Schema, { data, route, status }: Answer) {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues.slice(0, 3).map(({ path, code }) => `${path.join('.')} ${code}`);
  throw unexpectedAnswer(`${route}: ${status} ${where.join(', ')}`);
}

/** A line of somebody's: a title, a name. */
export const line = z.string().transform((text) => plainLine(text, 300));

export const text = z.string().transform((value) => plainText(value, 1000));

export const sha = z.string().regex(/^[0-9a-f]{40,64}$/);

const time = z.iso.datetime({ offset: true }).transform((value) => new Date(value));

export const address = z
  .string()
  .nullish()
  .transform((value) => webAddress(value ?? ''));

export const number = z.int().positive();

/** Leaves out what is not there, as the domain has it. */
export function present<Fields extends Record<string, unknown>>(fields: Fields): Present<Fields> {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(there) as Present<Fields>;
}

type Present<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name]
    ? Name
    : null extends Fields[Name]
      ? Name
      : never]?: NonNullable<Fields[Name]>;
} & {
  [Name in keyof Fields as undefined extends Fields[Name]
    ? never
    : null extends Fields[Name]
      ? never
      : Name]: Fields[Name];
};

export const repository = z
  .object({
    id: number,
    name: line,
    owner: z.object({ login: line }),
    default_branch: line,
    stargazers_count: z.int().min(0).default(0),
  })
  .transform(
    ({ id, name, owner, default_branch, stargazers_count }): Repository => ({
      id,
      owner: owner.login,
      name,
      defaultBranch: default_branch,
      stars: stargazers_count,
    }),
  );

export const commit = z
  .object({
    sha,
    commit: z.object({ message: z.string(), tree: z.object({ sha }) }),
    parents: z.array(z.object({ sha })),
  })
  .transform(
    (one): Commit => ({
      sha: one.sha,
      tree: one.commit.tree.sha,
      parents: one.parents.map((parent) => parent.sha),
      message: one.commit.message,
    }),
  );

export const issue = z
  .object({
    number,
    title: line,
    state: line,
    html_url: address,
    labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])),
    assignees: z.array(z.object({ login: line })).nullish(),
    created_at: time,
  })
  .transform((one): Issue => {
    const labels = one.labels.map((label) => (typeof label === 'string' ? label : (label.name ?? '')));
    return {
      ...present({ url: one.html_url }),
      number: one.number,
      title: one.title,
      state: one.state,
      labels: labels.map((label) => plainLine(label, 100)),
      assignees: (one.assignees ?? []).map(({ login }) => login),
      createdAt: one.created_at,
    };
  });

export const pullRequest = z
  .object({
    number,
    title: line,
    state: line,
    draft: z.boolean().default(false),
    html_url: address,
    head: z.object({ ref: line, sha }),
    base: z.object({ ref: line, repo: z.object({ id: number }) }),
    created_at: time,
  })
  .transform(
    ({ html_url, head, base, created_at, ...same }): PullRequest => ({
      ...same,
      ...present({ url: html_url }),
      repositoryId: base.repo.id,
      head: head.ref,
      headSha: head.sha,
      base: base.ref,
      createdAt: created_at,
    }),
  );

export const workflowRun = z
  .object({
    id: number,
    name: line.nullish(),
    display_title: line.default(''),
    run_number: number,
    run_attempt: number.default(1),
    event: line,
    status: line.nullish(),
    conclusion: line.nullish(),
    head_branch: line.nullish(),
    head_sha: sha,
    workflow_id: number,
    actor: z.object({ login: line }).nullish(),
    html_url: address,
    created_at: time,
    updated_at: time,
  })
  .transform(
    (run): WorkflowRun => ({
      ...present({
        conclusion: run.conclusion,
        branch: run.head_branch,
        actor: run.actor?.login,
        url: run.html_url,
      }),
      id: run.id,
      name: run.name ?? '',
      title: run.display_title,
      number: run.run_number,
      attempt: run.run_attempt,
      event: run.event,
      status: run.status ?? '',
      sha: run.head_sha,
      workflowId: run.workflow_id,
      createdAt: run.created_at,
      updatedAt: run.updated_at,
    }),
  );

const step = z.object({ name: line, conclusion: z.string().nullish() });

export const job = z
  .object({
    id: number,
    name: line,
    conclusion: line.nullish(),
    html_url: address,
    started_at: time.nullish(),
    completed_at: time.nullish(),
    steps: z.array(step).nullish(),
  })
  .transform(
    (one): Job => ({
      ...present({
        conclusion: one.conclusion,
        url: one.html_url,
        startedAt: one.started_at,
        completedAt: one.completed_at,
      }),
      id: one.id,
      name: one.name,
      failedSteps: (one.steps ?? [])
        .filter(({ conclusion }) => conclusion === 'failure')
        .slice(0, 20)
        .map(({ name }) => name),
    }),
  );
