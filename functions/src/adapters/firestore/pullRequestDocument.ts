import { z } from 'zod';
import type { PullRequestLink } from '../../domain/github/link.ts';
import { timestamp } from './timestamp.ts';

const document = z.object({
  repository_id: z.number(),
  number: z.number(),
  owner: z.string(),
  repo: z.string(),
  task_id: z.string(),
  linked_by: z.string(),
  linked_at: timestamp,
});

type StoredLink = z.output<typeof document>;

export function linkToDocument(link: PullRequestLink): StoredLink {
  return {
    repository_id: link.repositoryId,
    number: link.number,
    owner: link.owner,
    repo: link.repo,
    task_id: link.taskId,
    linked_by: link.linkedBy,
    linked_at: link.linkedAt,
  };
}

export function linkFromDocument(data: unknown): PullRequestLink {
  const stored = document.parse(data);
  return {
    repositoryId: stored.repository_id,
    number: stored.number,
    owner: stored.owner,
    repo: stored.repo,
    taskId: stored.task_id,
    linkedBy: stored.linked_by,
    linkedAt: stored.linked_at,
  };
}
