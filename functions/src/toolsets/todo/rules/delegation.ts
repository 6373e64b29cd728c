/** Delegation of to-dos to the agents of a workspace. Source: docs/semantics.md#one-graph. */
import { permissionError } from '../../../access/rules/permissionCheck.ts';
import { nodeKey, type StoredNode, shownCost } from '../../../graph/rules/graphNode.ts';
import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import type { RecordResponse } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { type PortOf, readFor, Service, skipUnreadable } from '../../../kernel/ports.ts';
import {
  type CoordinationPorts,
  isClosed,
  type Task,
  type TaskCreation,
  type TaskDraft,
} from '../../coordination/index.ts';
import type { TodoChange, TodoPorts } from './ports.ts';
import { alreadyCompleted, notFound, type Todo } from './todo.ts';
import { asReported } from './todoChanges.ts';
import type { TodoService } from './todos.ts';

interface DelegationPorts extends TodoPorts, Pick<CoordinationPorts, 'tasks'> {
  readonly taskCreation: PortOf<TaskCreation<TodoChange>>;
  readonly todoService: PortOf<TodoService>;
}

interface DelegationRequest extends Pick<TaskDraft, 'priority' | 'required_capabilities' | 'hints' | 'acceptance'> {
  readonly todoId: string;
  readonly workspace: string;
}

export interface Delegated {
  readonly todo: Todo;
  readonly task: Task;
}

/** Error reasons that show that the to-do was completed or deleted before its task was completed. */
const ENDED_REASONS = ['ALREADY_COMPLETED', 'TASK_NOT_FOUND'];

/** Default priority of a delegated task: the middle of 1 (first) to 10 (last). */
export const DELEGATED_PRIORITY = 5;

export class Delegation extends Service<DelegationPorts> {
  /**
   * Creates a task for a to-do. A to-do has at most one open task.
   * @throws MusterError NOT_FOUND; FORBIDDEN if the caller cannot work in the workspace; CONFLICT if the to-do is
   *   already delegated or completed
   */
  async delegate(
    principal: Principal,
    request: DelegationRequest,
    recordResponse: RecordResponse<Delegated>,
  ): Promise<Delegated> {
    const { workspace, todoId, priority, required_capabilities, hints, acceptance } = request;
    const refusal = permissionError(principal, workspace, {
      toolset: 'todo',
      what: 'delegate',
      role: 'worker',
      agentRole: undefined,
      scope: 'workspace',
      writes: true,
    });
    if (refusal !== undefined) throw refusal;
    const first = await this.open(principal.owner_uid, todoId);
    let unused: typeof first | undefined = first;
    let todo = first.value;
    const description = todo.description === undefined ? todo.title : `${todo.title}\n\n${todo.description}`;
    const draft = { description, priority, dependencies: [], files: [], hints };
    const creation = {
      workspace,
      createdBy: principal.agent_id ?? principal.uid,
      opener: principal,
      viewer: principal,
      drafts: [{ ...draft, required_capabilities, acceptance }],
      link: async ([taskId = '']: readonly string[]) => {
        // If the commit failed because the to-do had changed, the to-do is read again.
        const found = unused ?? (await this.open(principal.owner_uid, todoId));
        unused = undefined;
        const { value: before, version } = found;
        const { delegated_result: _, ...open } = before;
        todo = { ...open, delegated_task_id: taskId, ancestors: before.ancestors ?? [] };
        const partOf = { kind: 'todo' as const, id: todoId };
        const parents = { part_of: partOf, ancestors: [nodeKey(partOf), ...(before.ancestors ?? [])] };
        const counted = asReported(found);
        return { parents, changes: [{ kind: 'delegateTodo' as const, before: counted, todo, version }] };
      },
    };
    const outcomeOf = (task: Task | undefined): Delegated => {
      if (task === undefined) throw new Error('The created task is missing.');
      return { todo, task };
    };
    const tasks = await this.ports.taskCreation.create(creation, ([task]) => recordResponse(outcomeOf(task)));
    return outcomeOf(tasks[0]);
  }

  /** Completes the to-do if its task was completed; otherwise the to-do stays open. Repeating the call is safe. */
  async taskClosed(taskId: string): Promise<void> {
    const { tasks, todos, todoService } = this.ports;
    const task = (await skipUnreadable(tasks.find(taskId)))?.value;
    if (task?.status !== 'done' || task.part_of?.kind !== 'todo') return;
    const todo = (await skipUnreadable(todos.find(task.part_of.id)))?.value;
    if (todo === undefined || todo.completed || todo.delegated_task_id !== taskId) return;
    try {
      const result = task.result?.output.slice(0, MAX_RESULT_LENGTH);
      await todoService.complete(todo.owner_uid, todo.id, () => undefined, result);
    } catch (error) {
      if (!(error instanceof MusterError && ENDED_REASONS.includes(error.details.reason ?? ''))) throw error;
    }
  }

  /** Returns the progress of delegated to-dos in workspaces where the caller has a role. Costs one read per to-do. */
  async progress(principal: Principal, todos: readonly Todo[]) {
    const delegated = todos.flatMap(({ id, delegated_task_id: taskId, delegated_result: result }) =>
      taskId ? [{ id, taskId, result }] : [],
    );
    const keys = delegated.map(({ taskId }) => nodeKey({ kind: 'task', id: taskId }));
    const nodes = await this.ports.graph.findAll(keys);
    return new Map(
      delegated.flatMap(({ id, taskId, result }, index) => {
        const node = nodes[index];
        if (node?.workspace === undefined || roleIn(principal, node.workspace) === undefined) return [];
        return [[id, progressResponse(taskId, node, result)] as const];
      }),
    );
  }

  /** @throws MusterError NOT_FOUND; CONFLICT if the to-do is completed or already delegated */
  private async open(ownerUid: string, id: string) {
    const { todos, tasks } = this.ports;
    const found = await readFor(ownerUid, todos.findReminded(id));
    if (found?.value.owner_uid !== ownerUid) throw notFound('Task', id, ownerUid);
    if (found.value.completed) throw alreadyCompleted(found.value);
    const { delegated_task_id: taskId } = found.value;
    const before = taskId === undefined ? undefined : (await tasks.find(taskId))?.value;
    if (before !== undefined && !isClosed(before.status))
      throw new MusterError('CONFLICT', `This to-do is already delegated, as task "${before.id}".`, {
        field: 'task_id',
        value: id,
        reason: 'ALREADY_DELEGATED',
        suggestion:
          'system.getTree shows the progress of the task. If it ends without success, you can delegate again.',
        about: { task_id: id, delegated_task_id: before.id },
      });
    return found;
  }
}

/** Maximum characters of a task's result that the to-do stores. The task has the whole result. */
const MAX_RESULT_LENGTH = 5000;

function progressResponse(task_id: string, { status, workspace, totals }: StoredNode, result: string | undefined) {
  const { done = 0, ...others } = totals.counts;
  const things = Object.values(others).reduce((sum, count) => sum + count, done);
  const cost = { attempts: totals.attempts, cost_usd: shownCost(totals) };
  return { task_id, workspace, status, done, things, ...cost, ...(result !== undefined && { result }) };
}
