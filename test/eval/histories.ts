/** Random histories of ten tasks that depend on each other, each with a random acceptance. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Acceptance } from '../../functions/src/access/rules/proofSettings.ts';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import { HOUR_MS, SECOND_MS } from '../../functions/src/kernel/ports.ts';
import { isVerifying, type Verifying } from '../../functions/src/toolsets/coordination/rules/proof/proving.ts';
import { isHeld, type Task } from '../../functions/src/toolsets/coordination/rules/task.ts';
import { Board } from './board.ts';
import { requireProofInvariants, type Stored } from './invariants.ts';

export const TASKS = 10;
const AGENTS = ['ann', 'bob', 'cleo', 'dan'];
const MAX_ACTIONS = 80;

/** An action of an agent, a person, a runner, or the hub. The numbers select the agent, the task and the variant. */
const KINDS = [
  ...['claim', 'claim', 'claim', 'claim', 'complete', 'complete', 'complete', 'complete', 'repeat'],
  ...[
    'verdict',
    'verdict',
    'verdict',
    'verdict',
    'command',
    'command',
    'command',
    'answer',
    'answer',
    'fail',
    'release',
    'cancel',
    'retry',
    'sendBack',
    'waive',
  ],
  ...['merge', 'look', 'wait', 'expire', 'cancelCheck'],
] as const;
type Kind = (typeof KINDS)[number];

export interface Action {
  readonly kind: Kind;
  readonly agent: number;
  readonly task: number;
  readonly variant: number;
}

const plan = fc.record({
  acceptance: fc.option(
    fc.record(
      {
        command: fc.constant('npm test'),
        review: fc.constant('any'),
        confirm: fc.constant('owner'),
        otherwise: fc.constantFrom('ask' as const, 'fail' as const),
        rounds: fc.integer({ min: 1, max: 3 }),
      },
      { requiredKeys: [] },
    ),
    { nil: undefined },
  ),
  dependencies: fc.array(fc.nat(TASKS - 1), { maxLength: 2 }),
});

export type Plan = readonly {
  readonly acceptance: Partial<Acceptance> | undefined;
  readonly dependencies: readonly number[];
}[];

export const plans: fc.Arbitrary<Plan> = fc.array(plan, { minLength: TASKS, maxLength: TASKS });
export const actions: fc.Arbitrary<readonly Action[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    agent: fc.nat(AGENTS.length - 1),
    task: fc.nat(30),
    variant: fc.nat(5),
  }),
  { minLength: MAX_ACTIONS, maxLength: MAX_ACTIONS },
);

/** Returns a board with the tasks of a plan. A task depends only on tasks before it. */
export function boardOf(wanted: Plan): Board {
  const board = new Board(AGENTS);
  for (const [place, { acceptance, dependencies }] of wanted.entries()) {
    const before = [...new Set(dependencies)].filter((one) => one < place);
    board.create(
      `task-${place}`,
      acceptance && hasStep(acceptance) ? acceptance : undefined,
      before.map((one) => `task-${one}`),
    );
  }
  return board;
}

function hasStep({ command, review, confirm }: Partial<Acceptance>): boolean {
  return command !== undefined || review !== undefined || confirm !== undefined;
}

export function storedOn(board: Board): Stored {
  return {
    tasks: board.allTasks(),
    questions: [...board.questions.values()].map(({ value }) => value),
    agents: [...board.agents.values()].map(({ value }) => value),
  };
}

/** Performs an action. An action that the rules refuse changes nothing. Returns whether it was not refused. */
export async function perform(board: Board, action: Action): Promise<boolean> {
  board.seconds += 1;
  try {
    await attempt(board, action);
    return true;
  } catch (error) {
    assert.ok(error instanceof MusterError && error.code !== 'INTERNAL', String(error));
    return false;
  }
}

interface Aim {
  readonly agent: string;
  readonly variant: number;
  /** A held task with its holder, a verifying task, and any task but checks, if there are such tasks. */
  readonly held: { readonly task: Task; readonly holder: string } | undefined;
  readonly verifying: Verifying | undefined;
  readonly any: Task | undefined;
  readonly at: <Item>(items: readonly Item[]) => Item | undefined;
}

function attempt(board: Board, { kind, agent, task: place, variant }: Action): Promise<unknown> | unknown {
  const at = <Item>(items: readonly Item[]): Item | undefined => items[place % Math.max(1, items.length)];
  const tasks = board.allTasks();
  const task = at(tasks.filter(({ status, claim }) => isHeld(status) && claim !== undefined));
  return DEEDS[kind](board, {
    agent: AGENTS[agent] ?? '',
    variant,
    held: task?.claim && { task, holder: task.claim.claimed_by },
    verifying: at(tasks.filter(isVerifying)),
    any: at(tasks.filter(({ reviews }) => reviews === undefined)),
    at,
  });
}

const unrecorded = () => undefined;

const DEEDS: Readonly<Record<Kind, (board: Board, aim: Aim) => Promise<unknown> | unknown>> = {
  claim(board, { agent, at }) {
    const task = at(board.claimable(agent).filter(({ coding }) => coding === undefined));
    return task && board.claim(agent, task.id);
  },
  complete: (board, { held, variant }) =>
    held && board.completes(held.holder, held.task.id, `Result ${board.seconds}`, finishing(held.task, variant)),
  repeat: (board, { agent, any, variant }) =>
    any && board.completes(agent, any.id, any.result?.output ?? '', { branch: 'x', epoch: variant }),
  verdict: (board, { agent, verifying, variant }) => verifying && judge(board, verifying, agent, variant),
  command(board, { verifying, variant }) {
    const { step, check } = verifying?.proof ?? {};
    return step === 'command' && check !== undefined && board.runs(check, variant < 4 ? undefined : wordOf(variant));
  },
  answer(board, { verifying, variant }) {
    const question = verifying && board.questionOf(verifying.id);
    return question && board.settles(question.id, answerOf(variant));
  },
  expire(board, { verifying }) {
    const question = verifying && board.questionOf(verifying.id);
    return question && board.settles(question.id, 'expired');
  },
  fail: (board, { held }) => held && board.fails(held.holder, held.task.id),
  release: (board, { held }) => held && board.actions.release(board.person, { taskId: held.task.id }, unrecorded),
  cancel: (board, { any, variant }) =>
    variant === 0 && any && board.actions.cancel(board.person, { taskId: any.id }, unrecorded),
  retry: (board, { any }) =>
    any && board.actions.retry(board.person, { taskId: any.id, withDependents: false }, unrecorded),
  sendBack(board, { any, variant }) {
    const retry = { taskId: any?.id ?? '', withDependents: false, comments: wordOf(variant) };
    return board.actions.retry(board.person, retry, unrecorded);
  },
  waive: (board, { any, variant }) =>
    variant < 2 && any && board.updates.update(board.person, { taskId: any.id, acceptance: null }, unrecorded),
  merge: (board, { any, variant }) => variant === 0 && any && board.queue.finish(any.id, { output: 'merged' }),
  look: (board, { any }) => any && board.proofs.look(any.id),
  async wait(board, { variant }) {
    board.seconds += (variant * 10 * HOUR_MS) / SECOND_MS;
    for (const { id } of board.allTasks()) await board.proofs.look(id);
  },
  cancelCheck(board, { verifying, variant }) {
    const { step, check } = verifying?.proof ?? {};
    const isTask = variant < 2 && step !== 'person' && check !== undefined;
    return isTask && board.actions.cancel(board.person, { taskId: check }, unrecorded);
  },
};

function finishing({ reviews }: Task, variant: number) {
  if (reviews === undefined) return { branch: 'feature/x' };
  return { verdict: variant % 2 === 0 ? ('approve' as const) : ('request_changes' as const) };
}

async function judge(board: Board, { proof }: Verifying, agent: string, variant: number): Promise<void> {
  const { step, check = '' } = proof;
  if (step !== 'review' || board.claim(agent, check) === undefined) return;
  await board.completes(agent, check, wordOf(variant), { verdict: variant < 3 ? 'approve' : 'request_changes' });
}

function wordOf(variant: number): string {
  return `Correct the ${['title', 'body', 'end', 'style', 'tests', 'names'][variant]}.`;
}

function answerOf(variant: number) {
  if (variant < 3) return { answer: 'approve' };
  return variant === 3 ? { answer: 'give up' } : { answer: 'request changes', comment: wordOf(variant) };
}

/** Returns the open tasks that were begun although a dependency is not done, or is done without the required proof. */
export function unprovenStarts(tasks: readonly Task[]): readonly string[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const isReady = (id: string) => {
    const { status, acceptance, proven = [] } = byId.get(id) ?? {};
    return status === 'done' && (acceptance === undefined || proven.length > 0);
  };
  return tasks.filter(({ status, dependencies }) => isHeld(status) && !dependencies.every(isReady)).map(({ id }) => id);
}

/** Performs random histories. Returns how many there were, and how often a task began on an unproven result. */
export async function countUnprovenStarts(histories: number) {
  const sums = { histories: 0, done: 0, starts: 0, unproven: 0 };
  const property = fc.asyncProperty(plans, actions, async (wanted, history) => {
    const board = boardOf(wanted);
    sums.histories++;
    for (const action of history) {
      if (!(await perform(board, action))) continue;
      const begun = unprovenStarts(board.allTasks());
      sums.unproven += begun.length;
    }
    requireProofInvariants(storedOn(board));
    sums.done += board.allTasks().filter(({ status, reviews }) => status === 'done' && reviews === undefined).length;
    sums.starts += board
      .allTasks()
      .filter(({ claim_epoch, dependencies }) => claim_epoch > 0 && dependencies.length > 0).length;
  });
  await fc.assert(property, { numRuns: histories });
  return sums;
}
