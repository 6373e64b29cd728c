/**
 * How the domain writes. A service reads documents with their versions, decides purely, and commits a list
 * of changes: all or none. A change that names a version is refused as stale where the document has changed
 * since it was read, and the service then reads and decides again. No locks are held in between. A commit that met
 * only its own writes, because its answer was lost and it was sent again, has succeeded.
 */
import type { Agent } from './agents/agent.ts';
import type { Credential } from './agents/credential.ts';
import type { ChunkWrite } from './coding/logBook.ts';
import type { Discovery } from './coordination/discovery.ts';
import type { Session } from './coordination/session.ts';
import type { TaskEvent } from './events/event.ts';
import type { PullRequestLink } from './github/link.ts';
import type { SettledOperation } from './idempotency/operation.ts';
import type { AgentMeasure } from './orchestration/agents/measure.ts';
import type { JournalEntry } from './orchestration/runs/journalEntry.ts';
import type { Run, RunOrder, StepRecord } from './orchestration/runs/run.ts';
import type { SavedWorkflow } from './orchestration/workflows/saved.ts';
import type { Reminder } from './reminders/reminder.ts';
import type { Subscription } from './subscriptions/subscription.ts';
import type { CapabilitySkill } from './system/skill.ts';
import type { TaskLogEntry } from './tasks/log.ts';
import type { Task, TaskStatus } from './tasks/task.ts';
import type { RecurringTask } from './todos/recurringTask.ts';
import type { Todo } from './todos/todo.ts';

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

/** How many agents there are, and how many of them are active. */
export interface RegistryCount {
  readonly total: number;
  readonly active: number;
}

/** What an agent did on a task that it closed. */
export interface ClosedWork {
  readonly status: 'done' | 'failed';
  readonly at: Date;
  /** From claim to report. */
  readonly milliseconds: number;
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
  /** The agent as the claim leaves it, the task among those that it holds. */
  | { readonly kind: 'holdTask'; readonly agent: Agent; readonly taskId: string; readonly version: string }
  | {
      readonly kind: 'dropTask';
      readonly agentId: string;
      readonly taskId: string;
      /** Whether it still held the task: a lease that lapsed had taken it away. */
      readonly wasHeld: boolean;
      readonly closed?: ClosedWork;
    }
  | { readonly kind: 'countMembers'; readonly workspace: string; readonly by: MemberCount }
  | { readonly kind: 'countAgents'; readonly by: RegistryCount }
  /** An agent declares a capability and describes it; `agents` more have it than before. */
  | { readonly kind: 'offerSkill'; readonly skill: CapabilitySkill; readonly agents: 0 | 1 }
  /** One agent fewer has it. */
  | { readonly kind: 'withdrawSkill'; readonly id: string }
  | { readonly kind: 'issueCredential'; readonly credential: Credential }
  | { readonly kind: 'withdrawCredential'; readonly apiKey: string }
  /** Makes a session its workspace's own; `replaces` is the workspace's version, where it has one. */
  | { readonly kind: 'openSession'; readonly session: Session; readonly replaces?: string }
  | { readonly kind: 'describeSession'; readonly session: Session; readonly version: string }
  /** Takes a session out of service; commits that expect it to be open fail from then on. */
  | { readonly kind: 'archiveSession'; readonly session: Session; readonly at: Date }
  /** No run waits any more for a task of an archived session. */
  | { readonly kind: 'sessionCleared'; readonly session: Pick<Session, 'workspace' | 'id'> }
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
      /** Milliseconds that a task waited until its first claim, where this counts one. */
      readonly waited?: number;
    }
  | { readonly kind: 'createDiscovery'; readonly discovery: Discovery }
  /** Written again where it is there already: its id says what it is about. */
  | { readonly kind: 'logTask'; readonly taskId: string; readonly entry: TaskLogEntry }
  /** Puts lines at the end of a task's log. Stale where somebody else has in between. */
  | {
      readonly kind: 'appendLog';
      readonly task: { readonly id: string; readonly workspace: string };
      readonly write: ChunkWrite;
      /** Of the chunk, where it is there already. */
      readonly version?: string;
    }
  /** The JSON of what an attempt at a coding task brought, in parts that fit into documents. */
  | {
      readonly kind: 'storeResult';
      readonly taskId: string;
      readonly epoch: number;
      readonly parts: readonly string[];
    }
  | { readonly kind: 'linkPullRequest'; readonly link: PullRequestLink }
  /** `replaces` is the version of one that has expired and not been swept yet. */
  | { readonly kind: 'openSubscription'; readonly subscription: Subscription; readonly replaces?: string }
  | {
      readonly kind: 'keepSubscription';
      readonly id: string;
      readonly until: Date;
      readonly version: string;
    }
  | { readonly kind: 'closeSubscription'; readonly id: string; readonly version: string }
  /** Stale where there is an event of this id: what it says has happened already. */
  | { readonly kind: 'recordEvent'; readonly event: TaskEvent }
  /** In place of the one that the to-do may have. */
  | { readonly kind: 'createReminder'; readonly reminder: Reminder }
  | { readonly kind: 'moveReminder'; readonly reminder: Reminder; readonly version: string }
  /** Whether there is one or not; with a version only that one. */
  | { readonly kind: 'deleteReminder'; readonly id: string; readonly version?: string }
  | { readonly kind: 'createTodo'; readonly todo: Todo }
  | { readonly kind: 'replaceTodo'; readonly todo: Todo; readonly version: string }
  | { readonly kind: 'deleteTodo'; readonly id: string; readonly version: string }
  /** Keeps a title and due date for one open to-do; `replaces` is the version of one that is no longer open. */
  | {
      readonly kind: 'reserveTitle';
      readonly id: string;
      readonly taskId: string;
      readonly replaces?: string;
    }
  | { readonly kind: 'releaseTitle'; readonly id: string }
  | { readonly kind: 'createRecurringTask'; readonly recurringTask: RecurringTask }
  | {
      readonly kind: 'replaceRecurringTask';
      readonly recurringTask: RecurringTask;
      readonly version: string;
    }
  | { readonly kind: 'createWorkflow'; readonly saved: SavedWorkflow }
  | { readonly kind: 'replaceWorkflow'; readonly saved: SavedWorkflow; readonly version: string }
  | { readonly kind: 'deleteWorkflow'; readonly id: string; readonly version: string }
  /** Adds to what has been measured of the agent. */
  | { readonly kind: 'measureAgent'; readonly measure: AgentMeasure }
  | { readonly kind: 'createRun'; readonly run: Run; readonly order: RunOrder }
  | { readonly kind: 'replaceRun'; readonly run: Run; readonly version: string }
  /** In place of what was recorded while it waited. */
  | { readonly kind: 'recordStep'; readonly runId: string; readonly step: StepRecord }
  /** Stale where the call has been started before. */
  | { readonly kind: 'startCall'; readonly runId: string; readonly entry: JournalEntry }
  | { readonly kind: 'settleCall'; readonly runId: string; readonly entry: JournalEntry }
  /** Says which run answers a question; `replaces` is the version of an answer that is no longer good. */
  | {
      readonly kind: 'keepAnswer';
      readonly key: string;
      readonly runId: string;
      readonly expiresAt: Date;
      readonly replaces?: string;
    };

export type CounterChange = Partial<Readonly<Record<Counter, number>>>;

export interface Store {
  /**
   * @throws StaleWriteError when a document has changed since it was read
   * @throws MusterError CONFLICT with reason ALREADY_SETTLED when `settled` is stored already
   * @throws UnansweredCommitError when nobody knows whether it was carried out
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

/** The database has not answered: the commit may have been carried out, or be carried out yet. */
export class UnansweredCommitError extends Error {
  constructor(options?: ErrorOptions) {
    super('The database has not answered whether the commit was carried out.', options);
    this.name = 'UnansweredCommitError';
  }
}
