/** Putting tasks into the queue. Source: spec/coordination.md, create_task and create_tasks_batch. */
import type { Change, RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { MAX_TASK_BYTES, requireSize } from '../../../kernel/json.ts';
import { retryStale } from '../../../kernel/retry.ts';
import type { CodingWork } from './codingWork.ts';
import { type Dependency, resolveBatch } from './dependencies.ts';
import type { CoordinationPorts } from './ports.ts';
import { capabilityKey, MAX_CAPABILITY_KEYS } from './queueQuery.ts';
import type { Session } from './session.ts';
import { openSession, type SessionOpening } from './sessions.ts';
import { isClosed, requireAhead, type Task, USUAL_TYPE } from './task.ts';

/** The most tasks that one call creates. */
export const MAX_BATCH = 500;

/** The most tasks that may depend on one task: closing it touches each. */
const MAX_DEPENDENTS = 1000;

/** What the caller says of a task. */
export interface TaskDraft {
  /** Where it is to have an id that its creator derives; otherwise it gets one. */
  readonly id?: string;
  readonly type?: string | undefined;
  readonly description: string;
  readonly priority: number;
  readonly dependencies: readonly string[];
  readonly files: readonly string[];
  readonly hints?: string | undefined;
  readonly requiredCapabilities: readonly string[];
  readonly deadline?: Date | undefined;
  /** Makes it a coding task, once its id is known. */
  readonly coding?: (taskId: string, now: Date) => CodingWork;
}

export interface CreationRequest {
  readonly workspace: string;
  readonly createdBy: string;
  readonly drafts: readonly TaskDraft[];
  /** Whether "task-N" means the N-th draft. */
  readonly isBatch: boolean;
  /** The goal of the session where none is open yet. */
  readonly goal?: string;
  /** How errors name the place of a draft's argument. */
  readonly field: (index: number, argument: string) => string;
}

/** A draft with the id that it will have and the ids that it depends on. */
interface NumberedDraft {
  readonly id: string;
  readonly draft: TaskDraft;
  /** All that it depends on, in the caller's order. */
  readonly dependencies: readonly string[];
  /** Those among them that exist already. */
  readonly existing: readonly string[];
}

export class TaskCreation {
  private readonly ports: CoordinationPorts;

  constructor(ports: CoordinationPorts) {
    this.ports = ports;
  }

  /**
   * Creates all the tasks or none, in the workspace's open session.
   * @throws MusterError VALIDATION_ERROR for an unknown dependency or a cycle
   */
  create(request: CreationRequest, recordAnswer: RecordAnswer<readonly Task[]>): Promise<readonly Task[]> {
    const numbered = this.number(request);
    return retryStale(this.ports.randomness, async () => {
      const now = this.ports.clock.now();
      const opening = await openSession(this.ports, request.workspace, now, request.goal);
      const existing = await this.existing(numbered, opening.session, request);
      const tasks = buildTasks(numbered, existing, opening.session, request.createdBy, now);
      await this.ports.store.commit(creationChanges(tasks, existing, opening, now), recordAnswer(tasks));
      return tasks;
    });
  }

  /** Gives the drafts ids that sort in their order. */
  private number(request: CreationRequest): NumberedDraft[] {
    const { drafts } = request;
    const now = this.ports.clock.now();
    for (const [index, draft] of drafts.entries()) {
      requireSize('A task', request.field(index, 'description'), draft, MAX_TASK_BYTES);
      requireAhead(draft.deadline, request.field(index, 'deadline'), now);
    }
    const time = now.getTime().toString(36).padStart(9, '0');
    const prefix = `task-${time}${this.ports.randomness.letters(6)}`;
    const ids = drafts.map((_, index) => `${prefix}-${String(index + 1).padStart(3, '0')}`);
    const written = drafts.map((draft) => draft.dependencies);
    const resolved = request.isBatch
      ? resolveBatch(written)
      : written.map((names) => [...new Set(names)].map((existing): Dependency => ({ existing })));
    return drafts.map((draft, index) => {
      const dependencies = resolved[index] ?? [];
      return {
        id: draft.id ?? ids[index] ?? prefix,
        draft,
        dependencies: dependencies.flatMap((one) =>
          'existing' in one ? one.existing : (ids[one.sibling] ?? []),
        ),
        existing: dependencies.flatMap((one) => ('existing' in one ? one.existing : [])),
      };
    });
  }

  /** Reads the tasks of this session that the drafts depend on. */
  private async existing(
    numbered: readonly NumberedDraft[],
    session: Session,
    request: CreationRequest,
  ): Promise<ReadonlyMap<string, Versioned<Task>>> {
    const ids = [...new Set(numbered.flatMap((draft) => draft.existing))];
    const { tasks } = this.ports;
    const found = await tasks.findAll(ids);
    const existing = new Map<string, Versioned<Task>>();
    for (const [place, id] of ids.entries()) {
      const task = found[place] ?? (await tasks.find(id)); // which says so where it cannot be read
      const index = numbered.findIndex((draft) => draft.existing.includes(id));
      if (task?.value.session !== session.id)
        throw unknownDependency(id, request.field(index, 'dependencies'));
      const dependents = numbered.filter((draft) => draft.existing.includes(id)).length;
      if (task.value.dependents.length + dependents > MAX_DEPENDENTS)
        throw tooManyDependents(id, request.field(index, 'dependencies'));
      existing.set(id, task);
    }
    return existing;
  }
}

function buildTasks(
  numbered: readonly NumberedDraft[],
  existing: ReadonlyMap<string, Versioned<Task>>,
  session: Session,
  createdBy: string,
  now: Date,
): Task[] {
  const dependents = new Map<string, string[]>();
  for (const { id, dependencies } of numbered) {
    for (const dependency of dependencies)
      dependents.set(dependency, [...(dependents.get(dependency) ?? []), id]);
  }
  return numbered.map(({ id, draft, dependencies, existing: ids }) => {
    const before = ids.flatMap((dependency) => existing.get(dependency)?.value ?? []);
    const failed = before.filter((task) => task.status === 'failed' || task.status === 'cancelled');
    const open = before.filter((task) => task.status !== 'done');
    return {
      id,
      workspace: session.workspace,
      session: session.id,
      ...(draft.type !== undefined && draft.type !== USUAL_TYPE && { type: draft.type }),
      description: draft.description,
      priority: draft.priority,
      status: 'available' as const,
      dependencies,
      dependents: dependents.get(id) ?? [],
      blockers: dependencies.length - ids.length + open.length,
      failedDependencies: failed.map((task) => task.id),
      requiredCapabilities: draft.requiredCapabilities,
      context: { files: draft.files, ...(draft.hints !== undefined && { hints: draft.hints }) },
      createdAt: now,
      createdBy,
      ...(draft.deadline && { deadline: draft.deadline }),
      epoch: 0,
      lapsedClaims: [],
      retries: 0,
      ...(draft.coding && { coding: draft.coding(id, now) }),
    };
  });
}

function creationChanges(
  tasks: readonly Task[],
  existing: ReadonlyMap<string, Versioned<Task>>,
  { session, isNew }: SessionOpening,
  now: Date,
): Change[] {
  const keys = [...new Set(tasks.map((task) => capabilityKey(task.requiredCapabilities)))];
  const fresh = keys.filter((key) => key !== '' && !session.capabilityKeys.includes(key));
  if (session.capabilityKeys.length + fresh.length > MAX_CAPABILITY_KEYS) throw tooManyCapabilityKeys();
  const { workspace, id } = session;
  const opened: Change = isNew
    ? { kind: 'openSession', session: { ...session, capabilityKeys: fresh } }
    : { kind: 'queueGrew', workspace, session: id, capabilityKeys: fresh };
  return [
    opened,
    ...tasks.map((task): Change => ({ kind: 'createTask', task })),
    ...[...existing.values()].flatMap(({ value, version }): Change[] => {
      if (isClosed(value.status)) return [];
      const dependents = tasks.filter((task) => task.dependencies.includes(value.id)).map((task) => task.id);
      return [{ kind: 'addDependents', taskId: value.id, dependents, version }];
    }),
    { kind: 'count', workspace, session: id, by: { available: tasks.length }, at: now },
  ];
}

function unknownDependency(id: string, field: string): MusterError {
  return new MusterError('VALIDATION_ERROR', `Unknown dependency "${id}".`, {
    field,
    value: id,
    reason: 'UNKNOWN_DEPENDENCY',
    suggestion: 'Name tasks of this workspace by their ids, as get_all_tasks lists them.',
  });
}

function tooManyDependents(id: string, field: string): MusterError {
  return new MusterError('VALIDATION_ERROR', `More than ${MAX_DEPENDENTS} tasks would depend on "${id}".`, {
    field,
    value: id,
    reason: 'TOO_MANY_DEPENDENTS',
    suggestion: 'Put a task in between that collects them.',
  });
}

function tooManyCapabilityKeys(): MusterError {
  return new MusterError(
    'VALIDATION_ERROR',
    `More than ${MAX_CAPABILITY_KEYS} different sets of required capabilities in one coordination.`,
    {
      field: 'required_capabilities',
      reason: 'TOO_MANY_CAPABILITY_SETS',
      suggestion: 'Use fewer, broader capabilities.',
    },
  );
}
