/**
 * Reactions to changed documents of budgets, graph nodes and people. Triggers deliver each change at least once. All
 * reactions use the current state. If a person loses a role in a workspace, the person's open work there ends: coding
 * tasks, runs and questions. A change only causes a check, in which the current roles decide. Source:
 * docs/semantics.md#leaving-a-workspace.
 */
import {
  closedSince,
  hasLostAccess,
  type LostAccessHandler,
  lostAccessOf,
  type OpenWorkCounts,
} from '../access/rules/leaving.ts';
import { budgetFromDocument, budgetKey } from '../graph/rules/budget.ts';
import { nodeFromDocument } from '../graph/rules/graphNode.ts';
import { accessFromDocument, personFromDocument } from '../identity/rules/people.ts';
import type { RolesOfPeople } from '../identity/rules/ports.ts';
import type { PersonRoles } from '../identity/rules/principal.ts';
import { type Log, Service, skipUnreadable } from '../kernel/ports.ts';
import type { BudgetWaits } from '../toolsets/coordination/rules/budgetWait.ts';
import type { TaskQueries } from '../toolsets/coordination/rules/ports.ts';
import type { TaskQueue } from '../toolsets/coordination/rules/taskProgress.ts';
import type { BudgetQuestions } from '../toolsets/inbox/rules/budgetQuestions.ts';
import type { RunQueries } from '../toolsets/orchestration/rules/ports.ts';
import type { RunService } from '../toolsets/orchestration/rules/runs/runService.ts';
import type { Delegation } from '../toolsets/todo/rules/delegation.ts';

/** Maximum number of a person's tasks, and of the person's runs, that are read to count those in one workspace. */
const MAX_COUNTED_WORK = 100;
const BATCH = 100;

export interface EndedWork {
  readonly codingTasks: number;
  readonly runs: number;
  readonly questions: number;
}

interface LostAccessPorts {
  readonly roles: RolesOfPeople;
  readonly tasks: Pick<TaskQueries, 'openCodingOf' | 'openCodingIn'>;
  readonly runs: Pick<RunQueries, 'openOf' | 'openIn'>;
  readonly ends: Readonly<Record<keyof EndedWork, LostAccessHandler>>;
  readonly log: Pick<Log, 'info'>;
}

export class LostAccessTriggers extends Service<LostAccessPorts> {
  /** Ends the work for which a person no longer has the role. Safe to call repeatedly, late, or concurrently. */
  async end(uid: string): Promise<EndedWork> {
    const { roles, ends, log } = this.ports;
    const known: PersonRoles | undefined = await skipUnreadable(roles.of(uid));
    if (known === undefined) return { codingTasks: 0, runs: 0, questions: 0 };
    const left = lostAccessOf(known);
    // The runs end first, because their tasks end with them.
    const runs = await ends.runs.end(uid, left);
    const [codingTasks, questions] = await Promise.all([
      ends.codingTasks.end(uid, left),
      ends.questions.end(uid, left),
    ]);
    const ended = { codingTasks, runs, questions };
    if (codingTasks + runs + questions > 0) log.info('work_of_leaver_ended', { uid, ...ended });
    return ended;
  }

  async personWritten(uid: string, before: unknown, after: unknown): Promise<void> {
    if (hasLostAccess(readable(personFromDocument, before), readable(personFromDocument, after))) await this.end(uid);
  }

  /** Called after the list of workspaces has changed. If one became private, people without a role lose access. */
  async workspacesWritten(before: unknown, after: unknown): Promise<void> {
    const accessOf = (written: unknown) => readable(accessFromDocument, written)?.access ?? {};
    for (const workspace of closedSince(accessOf(before), accessOf(after)))
      for (const uid of await this.ownersIn(workspace)) await this.end(uid);
  }

  async openIn(uid: string, workspace: string): Promise<OpenWorkCounts> {
    const { tasks, runs } = this.ports;
    const [ownTasks, ownRuns] = await Promise.all([
      tasks.openCodingOf(uid, MAX_COUNTED_WORK),
      runs.openOf(uid, MAX_COUNTED_WORK),
    ]);
    const here = (thing: { readonly workspace: string }) => thing.workspace === workspace;
    return {
      codingTasks: ownTasks.filter(here).length,
      runs: ownRuns.filter(here).length,
      more: Math.max(ownTasks.length, ownRuns.length) === MAX_COUNTED_WORK,
    };
  }

  private async ownersIn(workspace: string): Promise<ReadonlySet<string>> {
    const { tasks, runs } = this.ports;
    const owners = new Set<string>();
    await forEachVersion(
      (after) => tasks.openCodingIn(workspace, BATCH, after),
      ({ coding }) => coding && owners.add(coding.owner_uid),
    );
    await forEachVersion(
      (after) => runs.openIn(workspace, BATCH, after),
      ({ owner_uid }) => owners.add(owner_uid),
    );
    return owners;
  }
}

/** Services with work that waits for budgets, or for other items of the graph. */
interface WaitingWork {
  readonly budgetQuestions: BudgetQuestions;
  readonly budgetWaits: BudgetWaits;
  readonly delegation: Delegation;
  readonly runs: RunService;
  readonly taskQueue: TaskQueue;
}

/** Withdraws outdated budget questions, and continues work that waits for the budget. May be called repeatedly. */
export async function onBudgetWritten(
  { budgetQuestions, runs, budgetWaits }: WaitingWork,
  written: unknown,
): Promise<void> {
  const budget = readable(budgetFromDocument, written);
  if (budget === undefined) return;
  await budgetQuestions.withdrawBefore(budget);
  const key = budgetKey(budget);
  await Promise.all([runs.budgetChanged(key), budgetWaits.budgetChanged(key)]);
}

/** Continues work that depends on a changed graph node. Called at least once per change; uses the current state. */
export async function onGraphWritten({ taskQueue, delegation, runs }: WaitingWork, written: unknown): Promise<void> {
  const node = readable(nodeFromDocument, written);
  if (node?.kind !== 'task') return;
  if (node.status === 'waiting') await taskQueue.partsChanged(node.thing_id);
  if (node.status === 'cancelled') await runs.cancelTree(node.thing_id);
  if (node.status === 'done' && node.part_of?.kind === 'todo') await delegation.taskClosed(node.thing_id);
}

/** Calls `show` for each item of a query. The query is read page by page. */
async function forEachVersion<Item extends { readonly id: string }>(
  read: (after?: string) => Promise<readonly Item[]>,
  show: (item: Item) => void,
): Promise<void> {
  for (let page = await read(); page.length > 0; page = await read(page.at(-1)?.id)) page.forEach(show);
}

function readable<Value>(fromDocument: (data: unknown) => Value, written: unknown): Value | undefined {
  if (written === undefined) return undefined;
  try {
    return fromDocument(written);
  } catch {
    return undefined;
  }
}
