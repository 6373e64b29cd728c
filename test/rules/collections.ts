/**
 * Every collection of both databases: what it holds, who may read and write it directly. The rules tests are
 * generated from this table, and docs/data-model.md is printed from it.
 */
import { presencePath, queuedTaskPath } from '../../functions/src/adapters/database/paths.ts';
import {
  agentPath,
  archivedSessionPath,
  countersPath,
  credentialPath,
  discoveryPath,
  idempotencyPath,
  membersPath,
  sessionPath,
  taskPath,
  workspacePath,
} from '../../functions/src/adapters/firestore/paths.ts';
import type { Role } from '../../functions/src/domain/principal.ts';

/** The weakest role that may do something directly, under the rules; `nobody` leaves the server. */
export type Least = Role | 'nobody';

/** Stands for every path that is not listed. */
export const ELSEWHERE = 'elsewhere/{id}';

export interface Collection {
  readonly database: 'firestore' | 'realtime';
  /** The path of a document or child, with its variables in braces. */
  readonly path: string;
  readonly holds: string;
  readonly reads: Least;
  readonly writes: Least;
  /** What of the server writes it. */
  readonly keeper?: string;
  /** The children by which the Realtime Database's queries order. */
  readonly indexOn?: readonly string[];
  /** Paths that must be treated likewise, where one does not show it all. */
  readonly also?: readonly string[];
}

const firestoreCollections: readonly Omit<Collection, 'database'>[] = [
  {
    path: agentPath('{agentId}'),
    holds:
      'an agent: its profile, capabilities, role, workspace, the tasks it holds and how many it has closed',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'registration, claiming and closing of tasks, the sweep',
  },
  {
    path: credentialPath('{apiKey}'),
    holds: "an agent's credential: the SHA-256 of its secret, its expiry, its toolsets",
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'registration, `npm run agents`',
  },
  {
    path: workspacePath('{workspace}'),
    holds: 'the id of the open session of a workspace',
    reads: 'viewer',
    writes: 'nobody',
    keeper: '`init_coordination`',
  },
  {
    path: sessionPath('{workspace}', '{session}'),
    holds: 'the open session: goal, master plan, and the sets of capabilities that its tasks require',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'coordination',
  },
  {
    path: `${membersPath('{workspace}')}/{shard}`,
    holds:
      'how many agents have a part in a workspace, lead it and are active; the sum over all shards counts',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'registration, `claim_task`, the sweep',
  },
  {
    path: `${countersPath('{workspace}', '{session}')}/{shard}`,
    holds:
      'how many tasks of a session are in each state, and its discoveries; the sum over all shards counts',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'coordination, in the commit that changes what is counted',
  },
  {
    path: archivedSessionPath('{workspace}', '{session}'),
    holds: 'a session that another goal replaced',
    reads: 'viewer',
    writes: 'nobody',
    keeper: '`init_coordination`',
  },
  {
    path: taskPath('{taskId}'),
    holds: 'a task of the one work queue: its dependencies, claim, lease, epoch and result',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'coordination, the sweep',
  },
  {
    path: `${taskPath('{taskId}')}/logs/{n}`,
    holds: 'what a task reported while it ran',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'no tool yet',
  },
  {
    path: discoveryPath('{discoveryId}'),
    holds: 'something that an agent found out and shares with its session',
    reads: 'viewer',
    writes: 'nobody',
    keeper: '`add_discovery`',
  },
  {
    path: idempotencyPath('{key}'),
    holds: 'the answer to a call with an `idempotency_key`, for 24 hours',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'the commit of every writing tool',
  },
  {
    path: 'messages/{id}',
    also: ['messages/conversations/conv-123/{id}'],
    holds: 'messages between agents and people, free-form, at any depth',
    reads: 'viewer',
    writes: 'worker',
  },
  {
    path: 'shared/{id}',
    also: ['shared/team/notes/{id}'],
    holds: 'whatever agents and people share, free-form, at any depth',
    reads: 'viewer',
    writes: 'worker',
  },
  {
    path: ELSEWHERE,
    also: ['elsewhere/team/messages/{id}', 'agents/agent-1/shared/{id}', 'workspaces/alpha/credentials/{id}'],
    holds: 'nothing',
    reads: 'nobody',
    writes: 'nobody',
  },
];

const realtimeCollections: readonly Omit<Collection, 'database'>[] = [
  {
    path: presencePath('{agentId}'),
    holds: 'when an agent was last seen, in milliseconds of the epoch',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'every call of the agent, the sweep',
    indexOn: ['last_seen'],
  },
  {
    path: queuedTaskPath('{taskId}'),
    holds: 'a mirror of each task that can be claimed now',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'the trigger on tasks',
  },
  {
    path: 'messages/{id}',
    also: ['messages/conversations/conv-123/{id}'],
    holds: 'messages between agents and people, free-form, at any depth',
    reads: 'viewer',
    writes: 'worker',
  },
  {
    path: 'shared/{id}',
    also: ['shared/team/notes/{id}'],
    holds: 'whatever agents and people share, free-form, at any depth',
    reads: 'viewer',
    writes: 'worker',
  },
  {
    path: ELSEWHERE,
    also: ['tasks/{id}', 'elsewhere/messages/{id}', 'limits/{id}'],
    holds: 'nothing',
    reads: 'nobody',
    writes: 'nobody',
  },
];

export const collections: readonly Collection[] = [
  ...firestoreCollections.map((row) => ({ ...row, database: 'firestore' as const })),
  ...realtimeCollections.map((row) => ({ ...row, database: 'realtime' as const })),
];
