/** What a coding task's document has beside other tasks'. */
import { z } from 'zod';
import { FAILURE_CLASSES } from '../../domain/coding/failure.ts';
import { CODING_TOOLS } from '../../domain/coding/tool.ts';
import type { CodingWork } from '../../domain/coding/work.ts';
import { jsonObject } from '../../domain/json.ts';
import { timestamp } from './timestamp.ts';

const failure = z.object({ class: z.enum(FAILURE_CLASSES), message: z.string() });

export const codingDocument = z.object({
  tool: z.enum(CODING_TOOLS),
  instructions: z.string(),
  branch: z.string(),
  /** JSON: Firestore has no arrays in arrays. */
  config: z.string(),
  project: z.string().nullable(),
  owner_uid: z.string(),
  queue_seconds: z.number(),
  queue_ends_at: timestamp,
  progress: z.string().nullable(),
  failure: failure.nullable(),
  attempts: z.array(
    z.object({
      claim_epoch: z.int(),
      agent_id: z.string(),
      ended_at: timestamp,
      failure,
      commits: z.array(z.object({ sha: z.string(), subject: z.string() })),
    }),
  ),
  result: z.object({ claim_epoch: z.int(), bytes: z.int(), parts: z.int() }).nullable(),
});

type StoredCoding = z.output<typeof codingDocument>;

export function codingToDocument(coding: CodingWork): StoredCoding {
  const { result } = coding;
  return {
    tool: coding.tool,
    instructions: coding.instructions,
    branch: coding.branch,
    config: JSON.stringify(coding.config),
    project: coding.project ?? null,
    owner_uid: coding.ownerUid,
    queue_seconds: coding.queueSeconds,
    queue_ends_at: coding.queueEndsAt,
    progress: coding.progress ?? null,
    failure: coding.failure ?? null,
    attempts: coding.attempts.map(({ epoch, agentId, endedAt, commits, ...attempt }) => ({
      claim_epoch: epoch,
      agent_id: agentId,
      ended_at: endedAt,
      failure: attempt.failure,
      commits: commits.map(({ sha, subject }) => ({ sha, subject })),
    })),
    result: result ? { claim_epoch: result.epoch, bytes: result.bytes, parts: result.parts } : null,
  };
}

export function codingFromDocument(stored: StoredCoding): CodingWork {
  const { result } = stored;
  return {
    tool: stored.tool,
    instructions: stored.instructions,
    branch: stored.branch,
    config: jsonObject.parse(JSON.parse(stored.config)),
    ...(stored.project !== null && { project: stored.project }),
    ownerUid: stored.owner_uid,
    queueSeconds: stored.queue_seconds,
    queueEndsAt: stored.queue_ends_at,
    ...(stored.progress !== null && { progress: stored.progress }),
    ...(stored.failure && { failure: stored.failure }),
    attempts: stored.attempts.map((attempt) => ({
      epoch: attempt.claim_epoch,
      agentId: attempt.agent_id,
      endedAt: attempt.ended_at,
      failure: attempt.failure,
      commits: attempt.commits,
    })),
    ...(result && { result: { epoch: result.claim_epoch, bytes: result.bytes, parts: result.parts } }),
  };
}

const resultPart = z.object({ json: z.string() });

/** A part of the JSON of what an attempt brought. */
export function resultPartFromDocument(data: unknown): string {
  return resultPart.parse(data).json;
}
