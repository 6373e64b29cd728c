/**
 * Tasks, agents and questions of a session in memory. Every decision is that of the services; only the storage is
 * replaced, because an evaluation makes more calls than an emulator serves in a reasonable time.
 */
import assert from 'node:assert/strict';
import type { Acceptance } from '../../functions/src/access/rules/proofSettings.ts';
import type { Agent } from '../../functions/src/agents/rules/agent.ts';
import type { Principal } from '../../functions/src/identity/rules/principal.ts';
import type { Versioned } from '../../functions/src/kernel/commit.ts';
import { systemHashing } from '../../functions/src/kernel/platform.ts';
import { endByRunner } from '../../functions/src/toolsets/coding/rules/ending.ts';
import { claimChanges, claimedBy } from '../../functions/src/toolsets/coordination/rules/claims.ts';
import { asCodingTask } from '../../functions/src/toolsets/coordination/rules/codingTask.ts';
import type { CoordinationChange, CoordinationPorts } from '../../functions/src/toolsets/coordination/rules/ports.ts';
import { mayReview } from '../../functions/src/toolsets/coordination/rules/proof/checks.ts';
import type { Verdict } from '../../functions/src/toolsets/coordination/rules/proof/proofFields.ts';
import { closedRuling, Proofs } from '../../functions/src/toolsets/coordination/rules/proof/proofs.ts';
import { claimTask, startTask } from '../../functions/src/toolsets/coordination/rules/stateMachine.ts';
import type { Task, TaskOutcome } from '../../functions/src/toolsets/coordination/rules/task.ts';
import { TaskActions } from '../../functions/src/toolsets/coordination/rules/taskActions.ts';
import { taskChanges } from '../../functions/src/toolsets/coordination/rules/taskChanges.ts';
import { TaskQueue } from '../../functions/src/toolsets/coordination/rules/taskProgress.ts';
import { TaskUpdates } from '../../functions/src/toolsets/coordination/rules/taskUpdates.ts';
import { settlement } from '../../functions/src/toolsets/inbox/rules/answering.ts';
import type { InboxChange, InboxPorts } from '../../functions/src/toolsets/inbox/rules/ports.ts';
import { answeredRequest, type Request } from '../../functions/src/toolsets/inbox/rules/request.ts';
import { START, sampleAgent, sampleRequest, sampleSession, sampleTask, versionOf } from '../support/builders.ts';
import { portsOf } from '../support/ports.ts';
import { agentOf, personOf, rolesOf } from '../support/principals.ts';

const LEASE_SECONDS = 1800;
const WORKSPACE = 'alpha';

/** The person who is asked. */
export const PERSON = 'ada';

/** The runner that runs commands. It has no agent on the board, because it holds a task for no longer than a call. */
const RUNNER = 'runner';
const unrecorded = () => undefined;

export class Board {
  /** Seconds since the start. */
  seconds = 0;
  readonly tasks = new Map<string, Versioned<Task>>();
  readonly agents = new Map<string, Versioned<Agent>>();
  readonly questions = new Map<string, Versioned<Request>>();
  /** Called before each commit, with the changes. */
  onCommit: (changes: readonly InboxChange[]) => void = () => undefined;
  readonly person: Principal = personOf(PERSON, 'leader', WORKSPACE);
  private readonly ports = this.portsOfBoard();
  readonly proofs = new Proofs(this.ports);
  readonly queue = new TaskQueue(this.ports);
  readonly actions = new TaskActions(this.ports);
  readonly updates = new TaskUpdates(this.ports);
  private count = 0;

  constructor(agents: readonly string[], limit = 3) {
    const configuration = { ...sampleAgent().configuration, max_concurrent_tasks: limit };
    for (const id of agents)
      this.agents.set(id, versionOf(sampleAgent({ id, name: id, workspace: WORKSPACE, configuration })));
  }

  get now(): Date {
    return new Date(START.getTime() + this.seconds * 1000);
  }

  /** Returns the caller that has an agent's own credential. */
  caller(agent: string): Principal {
    return { ...agentOf(agent, PERSON, 'worker'), workspace: WORKSPACE };
  }

  task(id: string): Task {
    return this.tasks.get(id)?.value ?? assert.fail(id);
  }

  allTasks(): readonly Task[] {
    return [...this.tasks.values()].map(({ value }) => value);
  }

  create(id: string, acceptance: Partial<Acceptance> | undefined, dependencies: readonly string[] = []): void {
    const manner = { rounds: 3, hours: 24, otherwise: 'ask', terminals: false } as const;
    const blockers = dependencies.filter((one) => this.task(one).status !== 'done').length;
    this.write({
      ...sampleTask({ id, workspace: WORKSPACE, owner_uid: PERSON, created_at: this.now, dependencies, blockers }),
      ...(acceptance && { acceptance: { ...manner, ...acceptance } }),
    });
    for (const one of dependencies) this.write({ ...this.task(one), dependents: [...this.task(one).dependents, id] });
  }

  /** Claims a task and starts it, as coordination.claim_task does for this task. Returns undefined if it is refused. */
  claim(agentId: string, taskId: string): Task | undefined {
    const agent = this.agents.get(agentId) ?? assert.fail(agentId);
    const before = this.tasks.get(taskId) ?? assert.fail(taskId);
    const { value } = before;
    if (value.status === 'claimed' && value.claim?.claimed_by === agentId) return this.start(before, agentId);
    if (value.status !== 'available' || value.blockers > 0) return undefined;
    if (Object.keys(agent.value.held).length >= agent.value.configuration.max_concurrent_tasks) return undefined;
    const { uid } = this.caller(agentId);
    if (value.reviews !== undefined && !mayReview(value, agent.value, { uid }, this.now)) return undefined;
    const claimed = claimedBy(claimTask(value, agentId, LEASE_SECONDS, this.now), agent.value, { uid });
    const task = startTask(claimed, { agent_id: agentId }, this.now);
    this.commit(claimChanges(before, task, agent, this.now));
    return this.task(taskId);
  }

  private start(before: Versioned<Task>, agentId: string): Task {
    const task = startTask(before.value, { agent_id: agentId }, this.now);
    this.commit(taskChanges(before.value, task, before.version, this.now));
    return task;
  }

  /** Completes a task. For a review, `verdict` is set and the output has the comments. */
  completes(
    agentId: string,
    taskId: string,
    output: string,
    { verdict, branch, epoch }: { readonly verdict?: Verdict; readonly branch?: string; readonly epoch?: number } = {},
  ): Promise<TaskOutcome> {
    const claimant = { agent_id: agentId, ...(epoch !== undefined && { claim_epoch: epoch }) };
    const work = branch === undefined ? {} : { work: { branch } };
    const outcome = { kind: 'done' as const, result: { output }, ...work, ...(verdict && { verdict }) };
    return this.queue.reportOutcome(this.caller(agentId), taskId, { claimant, outcome }, unrecorded);
  }

  fails(agentId: string, taskId: string): Promise<TaskOutcome> {
    const outcome = { kind: 'failed' as const, error: 'It does not work.', retryable: false };
    return this.queue.reportOutcome(
      this.caller(agentId),
      taskId,
      { claimant: { agent_id: agentId }, outcome },
      unrecorded,
    );
  }

  /** Runs the command of a check as a runner does. @param failure output of the failed command; undefined if it passed */
  async runs(checkId: string, failure: string | undefined): Promise<void> {
    const before = this.tasks.get(checkId) ?? assert.fail(checkId);
    const { now } = this;
    const held = startTask(claimTask(before.value, RUNNER, LEASE_SECONDS, now), { agent_id: RUNNER }, now);
    const report =
      failure === undefined
        ? { status: 'completed' as const }
        : { status: 'failed' as const, failure: { class: 'acceptance_failed' as const, message: failure } };
    const claimant = { agent_id: RUNNER, claim_epoch: held.claim_epoch };
    const { task } = endByRunner(asCodingTask(held), claimant, report, now);
    const { task_id } = task.reviews ?? assert.fail(checkId);
    const { changes } = await this.proofs.judged({ id: checkId, task_id }, closedRuling(task), now);
    this.commit([...taskChanges(before.value, task, before.version, now), ...changes]);
  }

  /** Returns the open question about a task's result. */
  questionOf(taskId: string): Request | undefined {
    const { proof } = this.task(taskId);
    return proof?.step === 'person' ? this.questions.get(proof.check ?? '')?.value : undefined;
  }

  /** Answers a question, or changes its state, as the inbox does. */
  async settles(id: string, ending: { readonly answer: string; readonly comment?: string } | 'expired'): Promise<void> {
    const found = this.questions.get(id) ?? assert.fail(id);
    const { now } = this;
    const request: Request =
      ending === 'expired'
        ? { ...found.value, state: 'expired', settled_at: now }
        : answeredRequest(found.value, ending, { uid: PERSON }, now);
    if (request === found.value) return;
    const ports = { ...this.inboxPorts(), proofs: this.proofs };
    this.commit(await settlement(ports, found, request, now));
  }

  private inboxPorts(): Pick<InboxPorts, 'tasks' | 'roles'> {
    return this.ports;
  }

  /** Returns all tasks that an agent could claim now. */
  claimable(agentId: string): readonly Task[] {
    return this.allTasks().filter(
      ({ status, blockers, claim }) =>
        (status === 'available' && blockers === 0) || (status === 'claimed' && claim?.claimed_by === agentId),
    );
  }

  private write(task: Task): void {
    this.tasks.set(task.id, versionOf(task, `${++this.count}`));
  }

  private commit(changes: readonly InboxChange[]): void {
    this.onCommit(changes);
    // Commits are atomic, so all versions are checked first.
    for (const change of changes) this.requireVersions(change);
    for (const change of changes) this.apply(change);
  }

  private requireVersions(change: InboxChange): void {
    if (change.kind === 'replaceTask') assert.equal(change.version, this.tasks.get(change.task.id)?.version);
    if (change.kind === 'createTask') assert.ok(!this.tasks.has(change.task.id));
    if (change.kind === 'dependencyReopened') assert.equal(change.version, this.tasks.get(change.taskId)?.version);
  }

  private apply(change: InboxChange): void {
    switch (change.kind) {
      case 'createTask':
      case 'replaceTask':
        this.write(change.task);
        break;
      case 'dependencyDone':
        this.block(change.taskId, -1);
        break;
      case 'dependencyReopened':
        this.block(change.taskId, 1);
        break;
      case 'holdTask':
        this.hold(change.agent.id, change.agent.held);
        break;
      case 'releaseTask': {
        const { [change.taskId]: _released, ...held } = this.agents.get(change.agentId)?.value.held ?? {};
        this.hold(change.agentId, held);
        break;
      }
      case 'askAboutResult': {
        const asked = { ...change.question, kind: 'choice', asked_by: PERSON, owner_uid: PERSON } as const;
        this.ask(sampleRequest(asked));
        break;
      }
      case 'withdrawQuestion':
        this.settled(change.id, 'withdrawn');
        break;
      case 'replaceRequest':
        this.ask(change.request);
        break;
      default: // Counters, messages and other effects that no decision reads.
    }
  }

  private ask(request: Request): void {
    this.questions.set(request.id, versionOf(request, `${++this.count}`));
  }

  private block(taskId: string, by: number): void {
    const task = this.task(taskId);
    this.write({ ...task, blockers: task.blockers + by });
  }

  private hold(agentId: string, held: Agent['held']): void {
    const agent = this.agents.get(agentId) ?? assert.fail(agentId);
    this.agents.set(agentId, versionOf({ ...agent.value, held }, `${++this.count}`));
  }

  private settled(id: string, state: Request['state']): void {
    const found = this.questions.get(id);
    if (found?.value.state === 'open') this.ask({ ...found.value, state });
  }

  private portsOfBoard(): CoordinationPorts {
    const session = sampleSession({ workspace: WORKSPACE, capability_keys: [] });
    const open = { session, readAt: '1', sessionVersion: '1', workspaceVersion: '1' };
    let ids = 0;
    return portsOf<CoordinationPorts>({
      clock: { now: () => this.now },
      hashing: systemHashing,
      randomness: { letters: () => `${++ids}`, integer: () => 0, uuid: () => `${++ids}` },
      tasks: { find: async (id) => this.tasks.get(id), findAll: async (all) => all.map((id) => this.tasks.get(id)) },
      agents: { find: async (id) => this.agents.get(id) },
      sessions: { current: async () => open, opening: async () => ({ open }) },
      directory: { counts: async () => ({ registered: this.agents.size, total: 0, leaders: 0, active: 0, online: 0 }) },
      mailboxes: { find: async () => undefined },
      heldFiles: { find: async () => undefined },
      idTokens: { profiles: async () => new Map([[PERSON, { name: 'Ada' }]]) },
      roles: { of: async () => rolesOf('leader', WORKSPACE) },
      people: { leaders: async () => [] },
      store: { commit: async (changes: readonly CoordinationChange[]) => this.commit(changes) },
      writtenTasks: new Map(),
    });
  }
}
