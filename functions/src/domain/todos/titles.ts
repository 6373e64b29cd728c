/**
 * No two open to-dos of one owner have the same title and due date. A small document under an id made of the
 * three keeps them for one to-do, so that of two commits at once one fails. Source: spec/todo.md,
 * DUPLICATE_TASK; design, section 6, "To-dos".
 */
import type { Hashing } from '../ports.ts';
import type { Change } from '../store.ts';
import { duplicateTask } from './errors.ts';
import type { TodoReader } from './readers.ts';
import { caseFolded, type Todo } from './todo.ts';

interface TitleDependencies {
  readonly todos: Pick<TodoReader, 'find' | 'findGuard'>;
  readonly hashing: Hashing;
}

type Titled = Pick<Todo, 'ownerUid' | 'title' | 'dueDate' | 'completed'>;

export class Titles {
  private readonly dependencies: TitleDependencies;

  constructor(dependencies: TitleDependencies) {
    this.dependencies = dependencies;
  }

  /**
   * Lets go of what a to-do no longer is, and reserves what it becomes.
   * @throws MusterError CONFLICT, with the reason DUPLICATE_TASK
   */
  async changes(before: Todo | undefined, after: Todo | undefined): Promise<Change[]> {
    const [old, next] = [this.guardOf(before), this.guardOf(after)];
    if (old === next) return [];
    const released: Change[] = old === undefined ? [] : [{ kind: 'releaseTitle', id: old }];
    if (next === undefined || after === undefined) return released;
    const holder = await this.reserve(next, after.id);
    if ('taken' in holder) throw duplicateTask(holder.taken);
    return [...released, ...holder.changes];
  }

  /** The same where a to-do is as it is: one that doubles another goes without. */
  async tolerantChanges(before: Titled | undefined, after: Todo | undefined): Promise<Change[]> {
    const id = after?.id;
    const [old, next] = [this.guardOf(before), this.guardOf(after)];
    if (old === next) return [];
    const isOurs = old !== undefined && (await this.dependencies.todos.findGuard(old))?.value === id;
    const released: Change[] = isOurs ? [{ kind: 'releaseTitle', id: old }] : [];
    if (next === undefined || id === undefined) return released;
    const holder = await this.reserve(next, id);
    return 'taken' in holder ? released : [...released, ...holder.changes];
  }

  private async reserve(
    guard: string,
    taskId: string,
  ): Promise<{ readonly changes: Change[] } | { readonly taken: Todo }> {
    const { todos } = this.dependencies;
    const held = await todos.findGuard(guard);
    if (held === undefined) return { changes: [{ kind: 'reserveTitle', id: guard, taskId }] };
    if (held.value === taskId) return { changes: [] };
    const holder = await todos.find(held.value);
    if (holder !== undefined && this.guardOf(holder.value) === guard) return { taken: holder.value };
    return { changes: [{ kind: 'reserveTitle', id: guard, taskId, replaces: held.version }] };
  }

  /** Undefined where nothing has to be kept. */
  private guardOf(todo: Titled | undefined): string | undefined {
    if (todo === undefined || todo.completed) return undefined;
    const { ownerUid, title, dueDate } = todo;
    const key = JSON.stringify([ownerUid, caseFolded(title), dueDate?.getTime() ?? null]);
    return this.dependencies.hashing.sha256(key);
  }
}
