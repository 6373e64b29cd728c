/**
 * How the domain writes. A service reads documents with their versions, decides purely, and commits a list
 * of changes: all or none. A change that names a version is refused as stale where the document has changed
 * since it was read, and the service then reads and decides again. No locks are held in between.
 */
import type { Agent } from './agents/agent.ts';
import type { Credential } from './agents/credential.ts';
import type { Discovery } from './coordination/discovery.ts';
import type { Session } from './coordination/session.ts';
import type { SettledOperation } from './idempotency/operation.ts';
import type { Task, TaskStatus } from './tasks/task.ts';

/** A document as it was read. `version` is opaque to the domain. */
export interface Versioned<Value> {
  readonly value: Value;
  readonly version: string;
}

/** What is counted in a session, so that a status never reads the tasks. */
export type Counter = TaskStatus | 'discoveries';

/** How many agents have a part in a workspace's coordination. */
export interface MemberCount {
  readonly total: number;
  readonly leaders: number;
  readonly active: number;
}

export type Change =
  | { readonly kind: 'createTask'; readonly task: Task }
  | { readonly kind: 'replaceTask'; readonly task: Task; readonly version: string }
  /** A dependency of the task was closed: one blocker fewer, or one that will never go. */
  | { readonly kind: 'dependencyDone'; readonly taskId: string }
  | { readonly kind: 'dependencyFailed'; readonly taskId: string; readonly dependencyId: string }
  | {
      readonly kind: 'addDependents';
      readonly taskId: string;
      readonly dependents: readonly string[];
      readonly version: string;
    }
  | { readonly kind: 'createAgent'; readonly agent: Agent }
  | { readonly kind: 'replaceAgent'; readonly agent: Agent; readonly version: string }
  | { readonly kind: 'holdTask'; readonly agentId: string; readonly task: Task; readonly version: string }
  | {
      readonly kind: 'dropTask';
      readonly agentId: string;
      readonly taskId: string;
      readonly closed?: 'done' | 'failed';
    }
  | { readonly kind: 'countMembers'; readonly workspace: string; readonly by: MemberCount }
  | { readonly kind: 'issueCredential'; readonly credential: Credential }
  | { readonly kind: 'withdrawCredential'; readonly apiKey: string }
  /** Makes a session its workspace's own; `replaces` is the workspace's version, where it has one. */
  | { readonly kind: 'openSession'; readonly session: Session; readonly replaces?: string }
  | { readonly kind: 'describeSession'; readonly session: Session; readonly version: string }
  /** Takes a session out of service; commits that expect it to be open fail from then on. */
  | { readonly kind: 'archiveSession'; readonly session: Session; readonly at: Date }
  /** More can be claimed than before. Refused as stale where the session is no longer open. */
  | {
      readonly kind: 'queueGrew';
      readonly workspace: string;
      readonly session: string;
      readonly capabilityKeys: readonly string[];
    }
  | {
      readonly kind: 'count';
      readonly workspace: string;
      readonly session: string;
      readonly by: CounterChange;
      readonly at: Date;
    }
  | { readonly kind: 'createDiscovery'; readonly discovery: Discovery };

export type CounterChange = Partial<Readonly<Record<Counter, number>>>;

export interface Store {
  /**
   * @throws StaleWriteError when a document has changed since it was read
   * @throws MusterError CONFLICT with reason ALREADY_SETTLED when `settled` is stored already
   */
  commit(changes: readonly Change[], settled?: SettledOperation): Promise<void>;
}

/** Makes the record of the settled operation from its outcome, for the commit that brings it about. */
export type Settle<Outcome> = (outcome: Outcome) => SettledOperation | undefined;

/** A document was changed by somebody else between its reading and the commit. */
export class StaleWriteError extends Error {
  constructor(options?: ErrorOptions) {
    super('A document has changed since it was read.', options);
    this.name = 'StaleWriteError';
  }
}
