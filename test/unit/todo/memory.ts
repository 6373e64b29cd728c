/** To-dos of one person in memory, for tests. They use the real services and an audit log. */
import assert from 'node:assert/strict';
import type { Change } from '../../../functions/src/composition/changes.ts';
import type { AuditEntry } from '../../../functions/src/kernel/auditLog.ts';
import { type CallRecord, StaleWriteError, type Versioned } from '../../../functions/src/kernel/commit.ts';
import { auditEffects } from '../../../functions/src/kernel/firestore/store.ts';
import { canonicalJson } from '../../../functions/src/kernel/json.ts';
import { systemHashing, systemRandomness } from '../../../functions/src/kernel/platform.ts';
import { UndoService } from '../../../functions/src/toolsets/system/rules/undo.ts';
import type { TodoPorts } from '../../../functions/src/toolsets/todo/rules/ports.ts';
import type { RecurringTask } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { RecurringTasks } from '../../../functions/src/toolsets/todo/rules/recurring/recurringTasks.ts';
import type { Reminder } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { ReminderService } from '../../../functions/src/toolsets/todo/rules/reminders/reminders.ts';
import { repairTodo } from '../../../functions/src/toolsets/todo/rules/repair.ts';
import type { TaskEvent } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { type RemindedTodo, type Todo, todoResponse } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { TodoService } from '../../../functions/src/toolsets/todo/rules/todos.ts';
import { TodoUndo } from '../../../functions/src/toolsets/todo/rules/undoTodos.ts';
import { fieldsOfTodos, todoEffects } from '../../../functions/src/toolsets/todo/store/todos.ts';
import { START } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { agentOf } from '../../support/principals.ts';

let versions = 0;

/** Documents of one collection. Each write gives a document a new version, as in Firestore. */
class Documents<Value> {
  private readonly all: Map<string, Versioned<Value>>;

  constructor(before?: Documents<Value>) {
    this.all = new Map(before?.all);
  }

  get values(): readonly Value[] {
    return [...this.all.values()].map(({ value }) => value);
  }

  find(id: string): Versioned<Value> | undefined {
    return this.all.get(id);
  }

  set(id: string, value: Value): void {
    this.all.set(id, { value, version: String(++versions) });
  }

  /** @param version version of the document that is replaced; undefined if the document is new */
  write(id: string, value: Value, version: string | undefined): void {
    if (this.all.get(id)?.version !== version) throw new StaleWriteError();
    this.set(id, value);
  }

  delete(id: string, version?: string): void {
    if (version !== undefined && this.all.get(id)?.version !== version) throw new StaleWriteError();
    this.all.delete(id);
  }
}

interface StoredTodo {
  readonly todo: Todo;
  /** State that the to-do's last event reported. */
  readonly recorded: ReturnType<typeof todoResponse>;
}

const stored = (todo: Todo): StoredTodo => ({ todo, recorded: todoResponse(todo) });

/** All collections. A commit changes a copy of the state, which becomes the new state if the commit succeeds. */
class State {
  readonly todos: Documents<StoredTodo>;
  readonly recurring: Documents<RecurringTask>;
  readonly reminders: Documents<Reminder>;
  readonly guards: Documents<string>;
  readonly events: Documents<TaskEvent>;
  readonly trail: Documents<AuditEntry>;

  constructor(before?: State) {
    this.todos = new Documents(before?.todos);
    this.recurring = new Documents(before?.recurring);
    this.reminders = new Documents(before?.reminders);
    this.guards = new Documents(before?.guards);
    this.events = new Documents(before?.events);
    this.trail = new Documents(before?.trail);
  }

  write(change: Change): void {
    switch (change.kind) {
      case 'createTodo':
        this.todos.write(change.todo.id, stored(change.todo), undefined);
        break;
      case 'replaceTodo':
        this.todos.write(change.todo.id, stored(change.todo), change.version);
        break;
      case 'deleteTodo':
        this.todos.delete(change.todo.id, change.version);
        break;
      case 'reserveTitle':
        this.guards.write(change.id, change.taskId, change.replaces);
        break;
      case 'releaseTitle':
        this.guards.delete(change.id, change.version);
        break;
      case 'createRecurringTask':
        this.recurring.write(change.recurringTask.id, change.recurringTask, undefined);
        break;
      case 'replaceRecurringTask':
        this.recurring.write(change.recurringTask.id, change.recurringTask, change.version);
        break;
      case 'createReminder':
        this.reminders.set(change.reminder.id, change.reminder);
        break;
      case 'moveReminder':
        this.reminders.write(change.reminder.id, change.reminder, change.version);
        break;
      case 'setReminder':
        this.reminders.write(change.reminder.id, change.reminder, change.before?.version);
        break;
      case 'cancelReminder':
        this.reminders.delete(change.before.value.id, change.before.version);
        break;
      case 'deleteReminder':
        this.reminders.delete(change.id, change.version);
        break;
      case 'recordEvent':
        this.events.write(change.event.id, change.event, undefined);
        break;
      case 'updateNode':
        break;
      default:
        throw new Error(`The test knows no ${change.kind}.`);
    }
  }
}

function isAudited(change: Change): change is Extract<Change, { readonly kind: keyof typeof todoEffects }> {
  return change.kind in todoEffects;
}

export class MemoryTodos {
  now = START;
  state = new State();
  readonly principal = agentOf('agent-1', 'owner-1', 'leader');
  readonly owner = this.principal.owner_uid;
  private readonly ports = this.makePorts();
  readonly todos = new TodoService(this.ports);
  readonly recurring = new RecurringTasks(this.ports);
  readonly reminders = new ReminderService(this.ports);
  private readonly undoing = this.makeUndoing();

  /** Audit record of a call of the agent agent-1. */
  readonly record = (): CallRecord => ({
    by: {
      uid: this.principal.uid,
      agent_id: 'agent-1',
      owner_uid: this.owner,
      tool: 'todo.any',
      workspace: 'default',
      request_id: 'request-1',
    },
  });

  /** Audit entries in the order of time, newest first. */
  get entries(): readonly AuditEntry[] {
    return this.state.trail.values.toReversed();
  }

  get all(): readonly Todo[] {
    return this.state.todos.values.map(({ todo }) => todo);
  }

  undo(id: string) {
    return this.undoing.undoEvent({ principal: this.principal, credential: 'none' }, id, this.record);
  }

  undoSince(since: Date) {
    const filter = { whose: { ownerUid: this.owner }, since };
    return this.undoing.undoSeveral({ principal: this.principal, credential: 'none' }, filter, undefined, this.record);
  }

  /** Changes a to-do as a Firebase client would, and then runs the trigger. */
  async write(id: string, fields: Partial<Todo>): Promise<void> {
    const found = this.state.todos.find(id)?.value;
    if (found === undefined) return;
    this.state.todos.set(id, { ...found, todo: { ...found.todo, ...fields } });
    await repairTodo(this.ports, id, found.todo);
  }

  private async commit(changes: readonly Change[], record?: CallRecord): Promise<void> {
    const next = new State(this.state);
    for (const change of changes) next.write(change);
    const effects = auditEffects(todoEffects, changes.filter(isAudited));
    if (record?.by && effects.length > 0) {
      const id = `entry-${String(next.trail.values.length).padStart(4, '0')}`;
      const { by, undoes } = record;
      const entry = { id, at: this.now, by, effects, ...(undoes && { undoes: undoes.id }) };
      next.trail.write(id, entry, undefined);
      const undone = undoes && next.trail.find(undoes.id)?.value;
      if (undone) next.trail.write(undone.id, { ...undone, undone_by: id }, undoes.version);
    }
    const before = this.state;
    this.state = next;
    await this.trigger(before);
  }

  /** Runs the trigger for each to-do whose document the last commit has changed. */
  private async trigger(before: State): Promise<void> {
    for (const { todo } of before.todos.values)
      if (this.state.todos.find(todo.id) === undefined) await repairTodo(this.ports, todo.id, todo);
    for (const { todo } of this.state.todos.values)
      if (before.todos.find(todo.id)?.version !== this.state.todos.find(todo.id)?.version)
        await repairTodo(this.ports, todo.id, before.todos.find(todo.id)?.value.todo);
  }

  private found(id: string): RemindedTodo | undefined {
    const found = this.state.todos.find(id);
    if (found === undefined) return undefined;
    const { value, version } = found;
    const reminder = this.state.reminders.find(id);
    return {
      value: value.todo,
      version,
      lastReported: value.recorded,
      isIndexCurrent: () => true,
      ...(reminder && { reminder }),
    };
  }

  private makePorts(): TodoPorts {
    return portsOf<TodoPorts>({
      ...fieldsOfTodos,
      clock: { now: () => this.now },
      randomness: systemRandomness,
      hashing: systemHashing,
      log: { warn: () => undefined },
      store: { commit: (changes, record) => this.commit(changes, record) },
      todos: {
        find: async (id) => this.found(id),
        findReminded: async (id) => this.found(id),
        findGuard: async (id) => this.state.guards.find(id),
      },
      recurringTasks: { find: async (id) => this.state.recurring.find(id) },
      reminders: { find: async (id) => this.state.reminders.find(id) },
      taskHistory: { find: async (id) => this.state.events.find(id)?.value },
      notifications: {
        preferences: async () => ({ reminder_lead_minutes: 60, push: true, email: false, agents_may_answer: [] }),
      },
    });
  }

  private makeUndoing(): UndoService<Change> {
    const { recurrence, reminder } = new TodoUndo({ ...this.ports, tasks: { find: async () => undefined } });
    return new UndoService(
      portsOf<ConstructorParameters<typeof UndoService<Change>>[0]>({
        inverses: { todo: recurrence, recurring_task: recurrence, reminder },
        irrevocable: {},
        randomness: systemRandomness,
        store: { commit: (changes, record) => this.commit(changes, record) },
        trail: {
          find: async (id) => this.state.trail.find(id),
          list: async ({ since = new Date(0), notUndone = false }, { limit, after }) => {
            const start = this.entries.findIndex(({ id }) => id === after?.id) + 1;
            const items = this.entries
              .slice(start)
              .filter(({ at, undone_by: undoneBy }) => at >= since && (!notUndone || undoneBy === undefined));
            return { items: items.slice(0, limit), more: items.length > limit };
          },
        },
      }),
    );
  }

  /** Asserts that each active recurring task has an open occurrence, and that only open to-dos have reminders. */
  requireSound(after: string): void {
    const open = new Set(this.all.filter(({ completed }) => !completed).map(({ id }) => id));
    for (const { id, latest_on: latestOn, ended_at: endedAt } of this.state.recurring.values)
      assert.ok(endedAt || open.has(`${id}_${latestOn}`), `${after}: ${id} has no open occurrence`);
    for (const { id } of this.state.reminders.values) assert.ok(open.has(id), `${after}: a reminder of ${id} is left`);
    for (const { todo, recorded } of this.state.todos.values)
      assert.equal(canonicalJson(recorded), canonicalJson(todoResponse(todo)), `${after}: ${todo.id} has no event`);
  }
}
