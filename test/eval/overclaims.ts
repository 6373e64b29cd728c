/** Scripted agents that hand in wrong work as done, and what the acceptance of their tasks makes of it. */
import assert from 'node:assert/strict';
import type { Acceptance } from '../../functions/src/access/rules/proofSettings.ts';
import type { Task } from '../../functions/src/toolsets/coordination/rules/task.ts';
import { Board } from './board.ts';
import { type Chance, seeded } from './random.ts';

/** Share of first results, and of reworked wrong results, that are handed in as done but are wrong. */
const OVERCLAIMED = 0.3;

/** Share of the wrong results that a reviewer rejects, and share of the right results that it rejects. */
const NOTICED = 0.9;
const WRONGLY_REJECTED = 0.05;

const AUTHOR = 'author';
const CHECKER = 'checker';

export interface Overclaims {
  readonly tasks: number;
  /** Tasks that are done although their result is wrong. */
  readonly falseDone: number;
  /** Tasks about which a person was asked. */
  readonly asked: number;
  /** Tasks that ended without being done although their result was right. */
  readonly goodLost: number;
  readonly rounds: number;
}

/** Verdict of a check on a right or wrong result. The comments of a correction name its round. */
type Checker = (isWrong: boolean, round: number) => { readonly approves: boolean; readonly comments: string };

/** Hands in the results of `count` tasks, checks each until its task is closed, and counts how they end. */
export async function countOverclaims(
  acceptance: Partial<Acceptance> | undefined,
  { count, seed, check }: { readonly count: number; readonly seed: number; readonly check?: Checker },
): Promise<Overclaims> {
  const chance = seeded(seed);
  const checker = check ?? checkerOf(acceptance, chance);
  const sums = { tasks: count, falseDone: 0, asked: 0, goodLost: 0, rounds: 0 };
  for (let number = 0; number < count; number++) {
    const { task, isWrong, isAsked } = await oneTask(acceptance, checker, chance);
    if (task.status === 'done' && isWrong) sums.falseDone++;
    if (task.status !== 'done' && !isWrong) sums.goodLost++;
    if (isAsked) sums.asked++;
    sums.rounds += task.rounds;
  }
  return sums;
}

/** A command that tests the work finds every fault. A reviewer overlooks some, and rejects some right results. */
function checkerOf(acceptance: Partial<Acceptance> | undefined, chance: Chance): Checker {
  return (isWrong, round) => {
    if (acceptance?.command !== undefined) return { approves: !isWrong, comments: `The test ${letters(round)} fails.` };
    const rejects = chance() < (isWrong ? NOTICED : WRONGLY_REJECTED);
    return { approves: !rejects, comments: `The case ${letters(round)} is wrong.` };
  };
}

/** A word without digits, because corrections that differ only in digits count as the same. */
function letters(round: number): string {
  return 'abcdefghijklmnopqrstuvwxyz'[round] ?? 'z';
}

async function oneTask(acceptance: Partial<Acceptance> | undefined, check: Checker, chance: Chance) {
  const board = new Board([AUTHOR, CHECKER]);
  const id = 'task';
  board.create(id, acceptance);
  let isWrong = true;
  let isAsked = false;
  for (let turn = 0; turn < 100 && !isOver(board.task(id)); turn++) {
    board.seconds += 10;
    const task = board.task(id);
    const question = board.questionOf(id);
    if (question !== undefined) {
      isAsked = true;
      // The person decides rightly.
      const answer = isWrong
        ? { answer: 'request changes', comment: `Repair ${letters(turn)}.` }
        : { answer: 'approve' };
      await board.settles(question.id, answer);
    } else if (task.proof?.check !== undefined) {
      await judge(board, task.proof.check, check(isWrong, task.rounds));
    } else {
      assert.ok(board.claim(AUTHOR, id), `${id} cannot be claimed`);
      // A right result that was rejected stays right.
      isWrong = isWrong && chance() < OVERCLAIMED;
      await board.completes(AUTHOR, id, `Result ${turn}`, { branch: 'feature/x' });
    }
  }
  assert.ok(isOver(board.task(id)), `${id} does not end`);
  return { task: board.task(id), isWrong, isAsked };
}

function isOver({ status }: Task): boolean {
  return ['done', 'failed', 'cancelled'].includes(status);
}

async function judge(board: Board, checkId: string, { approves, comments }: ReturnType<Checker>): Promise<void> {
  if (board.task(checkId).coding !== undefined) return board.runs(checkId, approves ? undefined : comments);
  assert.ok(board.claim(CHECKER, checkId), `${checkId} cannot be claimed`);
  const output = approves ? 'It is right.' : comments;
  await board.completes(CHECKER, checkId, output, { verdict: approves ? 'approve' : 'request_changes' });
}

/** Counts the rounds until a person is asked, if a reviewer requests the same correction each time. */
export async function unbrokenLoop(): Promise<{ readonly rounds: number; readonly questions: number }> {
  const board = new Board([AUTHOR, CHECKER]);
  board.create('task', { review: 'any', rounds: 10 });
  let turn = 0;
  while (board.questions.size === 0 && turn++ < 20) {
    assert.ok(board.claim(AUTHOR, 'task'));
    await board.completes(AUTHOR, 'task', `Result ${turn}`);
    const { check = assert.fail() } = board.task('task').proof ?? {};
    await judge(board, check, { approves: false, comments: `Line ${turn}: handle empty input!` });
  }
  return { rounds: board.task('task').rounds, questions: board.questions.size };
}
