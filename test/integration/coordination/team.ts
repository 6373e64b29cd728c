/** A team in its own workspace, with the real services, the emulators and a simulated clock. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { AgentLiveness } from '../../../functions/src/agents/rules/liveness.ts';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import { retryOnConflict } from '../../../functions/src/kernel/concurrency.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { codingExpiry } from '../../../functions/src/toolsets/coding/rules/ending.ts';
import type { ClaimOutcome } from '../../../functions/src/toolsets/coordination/rules/claims.ts';
import type { CreationRequest, TaskDraft } from '../../../functions/src/toolsets/coordination/rules/creation.ts';
import { TaskSweep } from '../../../functions/src/toolsets/coordination/rules/leases.ts';
import { Proofs } from '../../../functions/src/toolsets/coordination/rules/proof/proofs.ts';
import type { Counter } from '../../../functions/src/toolsets/coordination/rules/session.ts';
import { StuckTasks } from '../../../functions/src/toolsets/coordination/rules/stuck.ts';
import type { ReportedOutcome, Task, TaskOutcome } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { sweep } from '../../../functions/src/toolsets/system/rules/sweeper.ts';
import { FirestoreSweepRecord } from '../../../functions/src/toolsets/system/store/metrics.ts';
import { externalServicesOf, type Replaced } from '../../support/externalServices.ts';
import { agentOf } from '../../support/principals.ts';

/** Start time, far in the future, so that sweeps of these tests do not affect other tests. */
const START = new Date('2040-01-01T00:00:00.000Z');

/** Argument for services in place of an idempotency key, for calls without a key. */
export const unkeyed = (): undefined => undefined;

export const silent = { info() {}, warn() {}, error() {} };

const DRAFT: TaskDraft = {
  description: 'Some work',
  priority: 5,
  dependencies: [],
  files: [],
  required_capabilities: [],
};

export type TeamBindings = Pick<
  Replaced,
  'database' | 'gitHub' | 'hosted' | 'dispatch' | 'budget' | 'push' | 'retention'
>;

/** The part of an instance that a sweep uses. Tests can replace the presence in it. */
interface SweptInstance {
  readonly system: Pick<Composition['system'], 'ports'>;
}

/** Instance and workspace of a call, and its default caller. */
export type Place = Pick<Team, 'app' | 'workspace' | 'leader'>;

export class Team {
  readonly workspace = `ws-${randomUUID().slice(0, 13)}`;
  readonly app: Composition;
  now = START;

  private readonly bindings: TeamBindings;

  /** @param bindings replacements of external services, such as GitHub or models */
  constructor(bindings: TeamBindings = {}) {
    this.bindings = bindings;
    this.app = this.anotherInstance();
  }

  /** Returns another instance of the same deployment, with its own memory and the same clock. */
  anotherInstance(): Composition {
    return compose(externalServicesOf({ clock: { now: () => this.now }, ...this.bindings }));
  }

  /** Returns the place for calls of this team at another instance or in another workspace. */
  at(other: Partial<Place>): Place {
    return { app: this.app, workspace: this.workspace, leader: this.leader, ...other };
  }

  pass(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1000);
  }

  /** Returns an id that no other test uses. */
  agentId(name: string): string {
    return `${name}-${this.workspace}`;
  }

  principal(name: string, role: Role = 'worker'): Principal {
    const agentId = this.agentId(name);
    return agentOf(agentId, `owner-${this.workspace}`, role);
  }

  get leader(): Principal {
    return this.principal('lead', 'leader');
  }

  /** Registers a worker and returns its id. */
  async join(name: string, capabilities?: readonly string[], serves?: 'owner' | 'workspace'): Promise<string> {
    const agentId = this.agentId(name);
    const request = { agentId, role: 'worker' as const, workspace: this.workspace, capabilities, serves };
    await this.app.services.membership.join(this.principal(name), request, unkeyed);
    return agentId;
  }

  /** Sets how many tasks an agent may hold. */
  async allow(agentId: string, maxConcurrentTasks: number): Promise<void> {
    const { agents } = this.app.access.ports;
    const { store, randomness } = this.app.kernel;
    await retryOnConflict(randomness, async () => {
      const known = await agents.find(agentId);
      assert.ok(known);
      const configuration = { ...known.value.configuration, max_concurrent_tasks: maxConcurrentTasks };
      const agent = { ...known.value, configuration };
      await store.commit([{ kind: 'replaceAgent', agent, version: known.version }]);
    });
  }

  request(drafts: readonly Partial<TaskDraft>[]): CreationRequest {
    return {
      workspace: this.workspace,
      createdBy: 'lead',
      drafts: drafts.map((draft) => ({ ...DRAFT, ...draft })),
      isBatch: true,
    };
  }

  create(...drafts: Partial<TaskDraft>[]): Promise<readonly Task[]> {
    return this.app.services.taskCreation.create(this.request(drafts), unkeyed);
  }

  async createOne(draft: Partial<TaskDraft> = {}): Promise<Task> {
    const [task] = await this.create(draft);
    assert.ok(task);
    return task;
  }

  claimOutcome(agentId: string, leaseSeconds = 1800, app = this.app): Promise<ClaimOutcome> {
    return app.services.taskClaims.claim(
      { workspace: this.workspace, agentId, leaseSeconds, by: { uid: `agent:${agentId}` } },
      unkeyed,
    );
  }

  /** Claims a task for the agent, and returns the id of the claimed task, if any. */
  async claim(agentId: string, leaseSeconds = 1800): Promise<string | undefined> {
    const outcome = await this.claimOutcome(agentId, leaseSeconds);
    return outcome.kind === 'none' ? undefined : outcome.task.id;
  }

  /** Claims another task for an agent. The call lists the tasks that the agent already holds (`heldTaskIds`). */
  async claimBeside(agentId: string, heldTaskIds: readonly string[]): Promise<string | undefined> {
    const by = { uid: `agent:${agentId}` };
    const request = { workspace: this.workspace, agentId, leaseSeconds: 1800, heldTaskIds, by };
    const outcome = await this.app.services.taskClaims.claim(request, unkeyed);
    return outcome.kind === 'none' ? undefined : outcome.task.id;
  }

  start(agentId: string, taskId: string): Promise<Task> {
    return this.app.services.taskQueue.start(this.leader, taskId, { agent_id: agentId }, unkeyed);
  }

  settle(agentId: string, taskId: string, outcome: ReportedOutcome, epoch?: number): Promise<TaskOutcome> {
    const claimant = { agent_id: agentId, ...(epoch !== undefined && { claim_epoch: epoch }) };
    return this.app.services.taskQueue.reportOutcome(this.leader, taskId, { claimant, outcome }, unkeyed);
  }

  complete(agentId: string, taskId: string, output = 'Made it'): Promise<TaskOutcome> {
    return this.settle(agentId, taskId, { kind: 'done', result: { output } });
  }

  fail(agentId: string, taskId: string, retryable = false): Promise<TaskOutcome> {
    return this.settle(agentId, taskId, { kind: 'failed', error: 'It broke', retryable });
  }

  async task(taskId: string): Promise<Task> {
    const found = await this.app.coordination.ports.tasks.find(taskId);
    assert.ok(found, `task ${taskId} not found`);
    return found.value;
  }

  /** Returns all tasks of the open session. */
  async tasks(): Promise<readonly Task[]> {
    return (await this.app.services.coordination.listTasks(this.workspace, undefined, { limit: 1000 })).items;
  }

  async counts(): Promise<Partial<Record<Counter, number>>> {
    const { counters } = await this.app.services.coordination.status(this.workspace);
    return Object.fromEntries(Object.entries(counters.counts).filter(([, count]) => count !== 0));
  }

  /**
   * Runs the scheduled sweep of agents and tasks, with a sweep record of this workspace only.
   * @param timeoutMilliseconds maximum wait for presence
   */
  sweep({ system: { ports } }: SweptInstance = this.app, timeoutMilliseconds = 10_000) {
    const quiet = { ...ports, log: silent };
    const parts = [
      ...new TaskSweep({ ...quiet, coding: codingExpiry(quiet.sessions) }).sweepJobs,
      new AgentLiveness(quiet).sweepJob,
    ];
    const limits = { turnMilliseconds: 60_000, timeoutMilliseconds };
    return sweep(parts, { ...quiet, sweepRecord: this.sweepRecord }, limits);
  }

  /** Runs the sweep that settles stuck tasks, in all workspaces. */
  sweepStuck() {
    const { sweepJob } = new StuckTasks({ ...this.app.coordination.ports, log: silent });
    const presence = Promise.resolve('trusted' as const);
    return sweepJob.run({ now: this.now, from: undefined, presence, isOver: () => false });
  }

  /** Runs the sweep of results whose check brought no verdict, in all workspaces. */
  sweepProofs() {
    const { sweepJob } = new Proofs({ ...this.app.coordination.ports, log: silent });
    const presence = Promise.resolve('trusted' as const);
    return sweepJob.run({ now: this.now, from: undefined, presence, isOver: () => false });
  }

  get sweepRecord(): FirestoreSweepRecord {
    return new FirestoreSweepRecord({ database: firestore(), sweep: this.workspace, log: silent });
  }
}
