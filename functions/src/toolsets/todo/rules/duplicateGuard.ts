/**
 * No two open to-dos of one owner have the same title and due date. A small document under an id made of the
 * three keeps them for one to-do, so that of two commits at once one fails. Source: spec/todo.md,
 * DUPLICATE_TASK; docs/semantics.md#to-dos.
 */
import type { Change } from '../../../kernel/commit.ts';
import type { TodoPorts } from './ports.ts';
import { caseFolded, duplicateTask, type Todo } from './todo.ts';

/** What a to-do changes to have a title for itself, and who has it already. */
interface Reservation {
  readonly changes: Change[];
  readonly taken?: Todo;
}

type Titled = Pick<Todo, 'ownerUid' | 'title' | 'dueDate' | 'completed'>;

export class Titles {
  private readonly ports: TodoPorts;

  constructor(ports: TodoPorts) {
    this.ports = ports;
  }

  /**
   * Lets go of what a to-do no longer is, and reserves what it becomes.
   * @throws MusterError CONFLICT, with the reason DUPLICATE_TASK
   */
  async changes(before: Todo | undefined, after: Todo | undefined): Promise<Change[]> {
    const { changes, taken } = await this.exchange(before, after, before?.id ?? after?.id);
    if (taken !== undefined) throw duplicateTask(taken);
    return changes;
  }

  /** The same where a to-do is as it is: one that doubles another goes without. */
  async tolerantChanges(before: Titled | undefined, after: Todo): Promise<Change[]> {
    return (await this.exchange(before, after, after.id)).changes;
  }

  /** Somebody may have given it another's title past the tools: then the guard is the other's, and stays. */
  private async exchange(
    before: Titled | undefined,
    after: Titled | undefined,
    id: string | undefined,
  ): Promise<Reservation> {
    const [old, next] = [this.guardOf(before), this.guardOf(after)];
    if (old === next || id === undefined) return { changes: [] };
    const isOurs = old !== undefined && (await this.ports.todos.findGuard(old))?.value === id;
    const released: Change[] = isOurs ? [{ kind: 'releaseTitle', id: old }] : [];
    if (next === undefined) return { changes: released };
    const { changes, taken } = await this.reserve(next, id);
    return { changes: [...released, ...changes], ...(taken && { taken }) };
  }

  private async reserve(guard: string, taskId: string): Promise<Reservation> {
    const { todos } = this.ports;
    const held = await todos.findGuard(guard);
    if (held === undefined) return { changes: [{ kind: 'reserveTitle', id: guard, taskId }] };
    if (held.value === taskId) return { changes: [] };
    const holder = await todos.find(held.value);
    if (holder !== undefined && this.guardOf(holder.value) === guard)
      return { changes: [], taken: holder.value };
    return { changes: [{ kind: 'reserveTitle', id: guard, taskId, replaces: held.version }] };
  }

  /** Undefined where nothing has to be kept. */
  private guardOf(todo: Titled | undefined): string | undefined {
    if (todo === undefined || todo.completed) return undefined;
    const { ownerUid, title, dueDate } = todo;
    const key = JSON.stringify([ownerUid, caseFolded(title), dueDate?.getTime() ?? null]);
    return this.ports.hashing.sha256(key);
  }
}
