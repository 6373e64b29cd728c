/**
 * Simulation of a class of work that collides: 40 tasks over 10 files, done by 8 agents. It applies the rules that
 * claims, reports and heartbeats apply, to a clock of half minutes. Source: docs/decisions/0062-reserved-files.md.
 */
import fc from 'fast-check';
import { DEFAULT_PROOF } from '../../functions/src/access/rules/proofSettings.ts';
import { FileTouches } from '../../functions/src/toolsets/coordination/rules/files/fileTouches.ts';
import { overlap } from '../../functions/src/toolsets/coordination/rules/files/globs.ts';
import type { HeldFiles } from '../../functions/src/toolsets/coordination/rules/files/heldFiles.ts';
import {
  freedFiles,
  pausedForFiles,
  readFiles,
  takeFiles,
} from '../../functions/src/toolsets/coordination/rules/files/reserving.ts';
import type { CoordinationChange } from '../../functions/src/toolsets/coordination/rules/ports.ts';
import { claimTask, endBackoff } from '../../functions/src/toolsets/coordination/rules/stateMachine.ts';
import type { Task } from '../../functions/src/toolsets/coordination/rules/task.ts';
import { sampleTask, secondsAfterStart, versionOf } from '../support/builders.ts';
import { portsOf } from '../support/ports.ts';

const TASKS = 40;
const FILES = 10;
const AGENTS = 8;
const STEP_SECONDS = 30;
const LEASE_SECONDS = 1800;

interface Plan {
  /** Files that the task names. */
  readonly files: readonly string[];
  readonly steps: number;
  /** File outside the named ones that the work changes halfway, if any. */
  readonly strays: string | undefined;
}

interface Work {
  readonly task: Task;
  readonly agent: string;
  readonly from: number;
  readonly until: number;
  /** Files that are changed, and the step from which on they are. */
  readonly changed: readonly { readonly file: string; readonly from: number; readonly isReserved: boolean }[];
}

export interface Collisions {
  readonly tasks: number;
  /** Work on the same file at the same time, in minutes. */
  readonly overlapping_minutes: number;
  /** The part of it on files that both tasks name, within 10 minutes after an agent could have claimed the later one. */
  readonly overlapping_in_first_10_minutes: number;
  /** Pairs of tasks that changed the same file at the same time. */
  readonly overlaps: number;
  /** Overlaps that neither the response to a claim nor a message named. */
  readonly overlaps_not_told: number;
  /** Time during which agents had no task although some were left, in minutes of all agents. */
  readonly idle_minutes: number;
  readonly minutes: number;
}

/** Simulates the work with the default wait for files, and without a wait. */
export async function collidingClass(
  seed = 1,
): Promise<{ readonly waiting: Collisions; readonly sharing: Collisions }> {
  const plans = fc.sample(plan, { seed, numRuns: TASKS });
  return {
    waiting: await new Simulation(plans, DEFAULT_PROOF.file_wait_minutes).run(),
    sharing: await new Simulation(plans, 0).run(),
  };
}

const file = fc.integer({ min: 0, max: FILES - 1 }).map((number) => `src/part${number}/index.ts`);
const plan: fc.Arbitrary<Plan> = fc.record({
  files: fc.uniqueArray(
    fc.oneof(
      { weight: 4, arbitrary: file },
      file.map((one) => one.replace('index.ts', '')),
    ),
    { minLength: 1, maxLength: 2 },
  ),
  steps: fc.integer({ min: 4, max: 16 }),
  strays: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, file),
});

const NOTHING: Plan = { files: [], steps: 0, strays: undefined };

class Simulation {
  private readonly plans: ReadonlyMap<string, Plan>;
  private tasks: Task[];
  private held: HeldFiles = { workspace: 'alpha', tasks: {} };
  private readonly working = new Map<string, Work>();
  private readonly done: Work[] = [];
  private readonly told = new Set<string>();
  private readonly waitedFrom = new Map<string, number>();
  private step = 0;
  private idleSteps = 0;

  private readonly ports = portsOf<ConstructorParameters<typeof FileTouches>[0]>({
    heldFiles: { find: async () => versionOf(this.held) },
    store: {
      commit: async (changes) => {
        for (const change of changes) this.apply(change);
      },
    },
    mailboxes: { find: async () => undefined },
    clock: { now: () => this.now },
  });

  constructor(plans: readonly Plan[], fileWait: number) {
    const ids = plans.map((_, index) => `task-${index + 1}`);
    this.plans = new Map(ids.map((id, index) => [id, plans[index] ?? NOTHING]));
    this.tasks = ids.map((id, index) =>
      sampleTask({
        id,
        file_wait: fileWait,
        created_at: secondsAfterStart(index - TASKS),
        context: { files: [...(plans[index]?.files ?? [])] },
      }),
    );
  }

  async run(): Promise<Collisions> {
    for (; this.done.length < this.tasks.length; this.step++) {
      for (const work of [...this.working.values()]) this.finish(work);
      this.tasks = this.tasks.map((task) => (task.retry_at && task.retry_at <= this.now ? endBackoff(task) : task));
      for (const work of this.working.values()) await this.stray(work);
      for (let agent = 1; agent <= AGENTS; agent++) await this.claim(`agent-${agent}`);
    }
    return this.collisions();
  }

  private get now(): Date {
    return secondsAfterStart(this.step * STEP_SECONDS);
  }

  private async claim(agent: string): Promise<void> {
    if (this.working.has(agent)) return;
    if (await this.claimOf(agent, this.claimable(), false)) return;
    if (await this.claimOf(agent, this.claimable(), true)) return;
    if (this.tasks.some(({ status }) => status === 'available')) this.idleSteps += 1;
  }

  private claimable(): readonly Task[] {
    return this.tasks.filter(({ status, blockers }) => status === 'available' && blockers === 0);
  }

  /** Claims the first of the tasks. @param mayShare whether tasks that have waited are claimed although others have their files */
  private async claimOf(agent: string, tasks: readonly Task[], mayShare: boolean): Promise<boolean> {
    for (const before of tasks) {
      const claimed = claimTask(before, agent, LEASE_SECONDS, this.now);
      const files = await readFiles(this.ports, claimed);
      const paused = pausedForFiles(before, files, this.now);
      if (paused !== undefined) {
        this.replace(paused);
        if (!this.waitedFrom.has(before.id)) this.waitedFrom.set(before.id, this.step);
        continue;
      }
      if (!mayShare && before.files_since !== undefined && files && files.shared.length > 0) continue;
      const { task, changes, shared } = takeFiles(claimed, files);
      for (const change of changes) this.apply(change);
      for (const { task_id } of shared) this.told.add(pairOf(task.id, task_id));
      this.replace(task);
      this.begin(task, agent);
      return true;
    }
    return false;
  }

  private begin(task: Task, agent: string): void {
    const { files, steps, strays } = this.plans.get(task.id) ?? NOTHING;
    const { step: from } = this;
    const changed = files.map((one) => ({ file: one.replace(/\/$/, '/**'), from, isReserved: true }));
    const stray = strays === undefined ? [] : [{ file: strays, from: from + Math.floor(steps / 2), isReserved: false }];
    this.working.set(agent, { task, agent, from, until: from + steps, changed: [...changed, ...stray] });
  }

  /** Reports the changed files halfway through the work, as a runner does. */
  private async stray({ task, changed, from, until }: Work): Promise<void> {
    if (this.step !== from + Math.floor((until - from) / 2)) return;
    const files = changed.map((one) => one.file.replace('**', 'index.ts'));
    await new FileTouches(this.ports).touch(versionOf(task), files);
  }

  private finish(work: Work): void {
    if (work.until > this.step) return;
    const { claim: _ended, ...rest } = work.task;
    const { task, changes } = freedFiles(work.task, { ...rest, status: 'done', completed_at: this.now });
    for (const change of changes) this.apply(change);
    this.replace(task);
    this.working.delete(work.agent);
    this.done.push(work);
    this.tasks = this.tasks.map((one) => (one.files_wait === task.id ? endBackoff(one) : one));
  }

  private replace(task: Task): void {
    this.tasks = this.tasks.map((one) => (one.id === task.id ? task : one));
  }

  private apply(change: CoordinationChange): void {
    const { tasks, workspace } = this.held;
    if (change.kind === 'holdFiles') this.held = { workspace, tasks: { ...tasks, ...change.entries } };
    if (change.kind === 'freeFiles')
      this.held = {
        workspace,
        tasks: Object.fromEntries(Object.entries(tasks).filter(([id]) => id !== change.taskId)),
      };
    if (change.kind === 'replaceMailbox')
      for (const { text, task_id = '' } of change.noticed ?? [])
        this.told.add(pairOf(task_id, /\((task-\d+)\)/.exec(text)?.[1] ?? ''));
  }

  private collisions(): Collisions {
    const pairs = this.done.flatMap((one, index) => this.done.slice(index + 1).map((other) => [one, other] as const));
    const met = pairs
      .map(([one, other]) => ({ one, other, steps: commonSteps(one, other) }))
      .filter(({ steps }) => steps.length > 0);
    const minutes = (steps: number) => (steps * STEP_SECONDS) / 60;
    const early = pairs.flatMap(([one, other]) => {
      const later = one.from > other.from ? one : other;
      const since = this.waitedFrom.get(later.task.id) ?? later.from;
      const steps = commonSteps(reserved(one), reserved(other));
      return steps.filter((step) => minutes(step - since) < DEFAULT_PROOF.file_wait_minutes);
    });
    return {
      tasks: this.done.length,
      overlapping_minutes: minutes(met.reduce((sum, { steps }) => sum + steps.length, 0)),
      overlapping_in_first_10_minutes: minutes(early.length),
      overlaps: met.length,
      overlaps_not_told: met.filter(({ one, other }) => !this.told.has(pairOf(one.task.id, other.task.id))).length,
      idle_minutes: minutes(this.idleSteps),
      minutes: minutes(this.step),
    };
  }
}

/** Returns the steps in which both work on the same file. */
function commonSteps(one: Work, other: Work): readonly number[] {
  const from = one.changed.flatMap((mine) =>
    other.changed.filter((theirs) => overlap(mine.file, theirs.file)).map((theirs) => Math.max(mine.from, theirs.from)),
  );
  const first = Math.min(...from);
  const until = Math.min(one.until, other.until);
  return from.length === 0 || first >= until ? [] : Array.from({ length: until - first }, (_, step) => first + step);
}

function reserved(work: Work): Work {
  return { ...work, changed: work.changed.filter(({ isReserved }) => isReserved) };
}

function pairOf(one: string, other: string): string {
  return [one, other].sort().join(' ');
}
