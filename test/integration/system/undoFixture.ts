/** For tests of undo: a workspace in which an agent makes random calls. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer, call } from '../coordination/calls.ts';

/** A random call: the tool, the position of the item to change, and a number that determines the arguments. */
export interface Move {
  readonly tool: string;
  readonly at: number;
  readonly number: number;
}

const TOOLS = [
  ...['coordination_create_task', 'coordination_update_task', 'coordination_cancel_task'],
  ...['coordination_retry_task', 'coordination_release_task', 'coordination_claim_task'],
  ...['coordination_start_task', 'coordination_complete_task', 'coordination_fail_task'],
  ...['coordination_create_tasks_batch', 'todo_delegate', 'todo_reopen_task'],
  ...['todo_add_task', 'todo_update_task', 'todo_complete_task', 'todo_delete_task', 'firebase_write'],
];

export const moves = fc.array(
  fc.record({ tool: fc.constantFrom(...TOOLS), at: fc.nat({ max: 9 }), number: fc.integer({ min: 1, max: 9 }) }),
  { minLength: 4, maxLength: 14 },
);

export type State = ReadonlyMap<string, unknown>;

/** @param stays ids of items whose changes were not undone */
export function requireAsBefore(before: State, after: State, stays: ReadonlySet<string>): void {
  for (const [id, was] of before) {
    if (!stays.has(id)) assert.deepEqual(after.get(id), was, `${id} was not restored`);
  }
  for (const [id, is] of after) {
    const isNew = !before.has(id) && !stays.has(id);
    // The specification has no state `cancelled`, so responses contain `failed` instead.
    assert.ok(!isNew || Object(is).status === 'failed', `${id} did not exist: ${JSON.stringify(is)}`);
  }
}

/** A workspace with some tasks, a to-do and a document. */
export class UndoFixture {
  readonly accessFixture: AccessFixture;
  readonly agentId: string;
  private readonly principal: Principal;

  private constructor(accessFixture: AccessFixture, principal: Principal, agentId: string) {
    this.accessFixture = accessFixture;
    this.principal = principal;
    this.agentId = agentId;
  }

  static async open(): Promise<UndoFixture> {
    const accessFixture = new AccessFixture();
    accessFixture.now = new Date();
    await accessFixture.closeTo({ ada: 'leader' });
    const principal = await accessFixture.agentOf('ada', 'leader');
    const undoFixture = new UndoFixture(accessFixture, principal, String(principal.agent_id));
    await undoFixture.ask('coordination_register_agent', { agent_id: undoFixture.agentId, role: 'worker' });
    const first = Object(await undoFixture.ask('coordination_create_task', { description: 'The first' }));
    await undoFixture.ask('coordination_create_task', { description: 'The second', dependencies: [first.task.id] });
    await undoFixture.ask('coordination_create_task', { description: 'The third', priority: 3 });
    await undoFixture.ask('todo_add_task', { title: 'Milk' });
    await undoFixture.ask('firebase_write', {
      database: 'firestore',
      path: undoFixture.path(0),
      data: { n: 1, m: [1] },
    });
    return undoFixture;
  }

  ask(tool: string, args: JsonObject): Promise<JsonObject> {
    this.accessFixture.pass(1);
    return answer(this.accessFixture, tool, args, this.principal);
  }

  /** Makes a call. If it fails, it changes nothing. */
  async perform(move: Move): Promise<void> {
    this.accessFixture.pass(1);
    await call(this.accessFixture, move.tool, await this.argumentsOf(move), this.principal);
  }

  /** Makes a call. Undoes it if its number modulo 3 is 1 or 2. Then redoes it if its number modulo 3 is 2. */
  async performAndUndo(
    move: Move,
    seen: { undone: number; redone: number; readonly refused: string[] },
  ): Promise<'redone' | undefined> {
    const [before, last] = [await this.state(), await this.latestEvent()];
    await this.perform(move);
    const [after, event] = [await this.state(), await this.latestEvent()];
    if (event === last || move.number % 3 === 0) return undefined;
    const refused = await this.undo(event);
    const reported = `${JSON.stringify(move)}: ${refused.join()}`;
    seen.refused.push(...refused);
    if (refused.length > 0) return undefined;
    requireAsBefore(before, await this.state(), new Set());
    seen.undone++;
    if (move.number % 3 === 1) return undefined;
    const [undone, undo] = [await this.state(), await this.latestEvent()];
    const again = await this.undo(undo);
    seen.refused.push(...again);
    assert.deepEqual(await this.state(), again.length > 0 ? undone : after, `redone ${reported}`);
    if (again.length > 0) return undefined;
    seen.redone++;
    return 'redone';
  }

  /** Undoes an event. Returns, for each part that could not be undone, the reason. */
  private async undo(event_id: string): Promise<readonly string[]> {
    this.accessFixture.pass(1);
    const { structuredContent, isError } = await call(this.accessFixture, 'system_undo', { event_id }, this.principal);
    if (isError) return [JSON.stringify(structuredContent['error'])];
    return Object(structuredContent['refused']).map(({ why }: JsonObject) => String(why));
  }

  private async latestEvent(): Promise<string> {
    return Object(await this.ask('system_getAudit', { limit: 1 })).events[0].event_id;
  }

  /** Creates tasks that depend on each other, as a run of the agent does. Returns the ids of the tasks. */
  async createAsRun(runId: string): Promise<readonly string[]> {
    const { owner_uid: ownerUid, uid } = this.principal;
    const { workspace } = this.accessFixture;
    const by = {
      uid,
      owner_uid: ownerUid,
      tool: 'orchestration.orchestrate',
      workspace,
      request_id: runId,
      run_id: runId,
    };
    const { drafts } = this.accessFixture.request([{}, { dependencies: ['task-1'] }, { dependencies: ['task-2'] }]);
    const request = { workspace, createdBy: this.agentId, drafts, isBatch: true };
    const tasks = await this.accessFixture.app.services.taskCreation.create(request, () => ({ by }));
    return tasks.map(({ id }) => id);
  }

  private async argumentsOf({ tool, at, number }: Move): Promise<JsonObject> {
    if (tool === 'firebase_write') return this.writeOf(at, number);
    const [toolset] = tool.split('_');
    const things = toolset === 'todo' ? await this.todos() : await this.tasks();
    const task_id = String(things[at % things.length]?.['id'] ?? 'none');
    const agent_id = this.agentId;
    const priority = number;
    const [description, title] = [`Number ${number}`, `Title ${number}`];
    const ofTool: Record<string, JsonObject> = {
      coordination_create_task: { description, priority, ...(number > 5 && { dependencies: [task_id] }) },
      coordination_create_tasks_batch: {
        tasks: [
          { description, priority },
          { description: title, dependencies: ['task-1', ...(number > 5 ? [task_id] : [])] },
        ],
      },
      coordination_update_task: { task_id, priority },
      coordination_cancel_task: { task_id },
      coordination_retry_task: { task_id },
      coordination_release_task: { task_id },
      coordination_claim_task: { agent_id },
      coordination_start_task: { agent_id, task_id },
      coordination_complete_task: { agent_id, task_id, output: description },
      coordination_fail_task: { agent_id, task_id, error: description, retryable: false },
      todo_add_task: { title },
      todo_update_task: { task_id, title },
      todo_complete_task: { task_id },
      todo_reopen_task: { task_id },
      todo_delegate: { task_id, priority },
      todo_delete_task: { task_id },
    };
    return ofTool[tool] ?? {};
  }

  private writeOf(at: number, number: number): JsonObject {
    const written = { database: 'firestore', path: this.path(at) };
    if (number < 3) return { ...written, data: null, operation: 'delete' };
    if (number < 6) return { ...written, data: { n: number, rows: [{ number }] } };
    return { ...written, data: { [`field${number}`]: number }, operation: 'update' };
  }

  private path(at: number): string {
    return `shared/${this.accessFixture.workspace}/notes/${at % 2}`;
  }

  private async tasks(): Promise<readonly JsonObject[]> {
    return Object(await this.ask('coordination_get_all_tasks', {})).tasks;
  }

  private async todos(): Promise<readonly JsonObject[]> {
    return Object(await this.ask('todo_list_tasks', { limit: 50 })).tasks;
  }

  /** Returns everything that the agent can change, by id, without fields that an undo does not restore. */
  async state(): Promise<State> {
    const state = new Map<string, unknown>();
    for (const { id, status, priority, description, dependencies, blocked_by } of await this.tasks())
      state.set(String(id), { status, priority, description, dependencies, blocked_by });
    for (const { id, title, completed, completed_at, delegated } of await this.todos())
      state.set(String(id), { title, completed, completed_at, delegated: Object(delegated).task_id });
    for (const at of [0, 1]) {
      const args = { database: 'firestore', path: this.path(at) };
      const { structuredContent, isError } = await call(this.accessFixture, 'firebase_read', args, this.principal);
      if (!isError) state.set(`firestore:${this.path(at)}`, structuredContent['data']);
    }
    return state;
  }
}
