/**
 * Transitions of a result that must be proven: handed in, approved, sent back. Each function is pure. Source:
 * docs/decisions/0061-done-means-proven.md.
 */
import type { Acceptance } from '../../../../access/rules/proofSettings.ts';
import type { Hashing } from '../../../../kernel/ports.ts';
import type { Claim, Task, TaskResult } from '../task.ts';
import { type HandedInWork, STEPS, type Step } from './proofFields.ts';

export type Proof = NonNullable<Task['proof']>;
export type Correction = Task['sent_back'][number];
export type PassedStep = Task['proven'][number];

const MAX_CORRECTIONS = 10;
const MAX_AUTHORS = 20;
const MAX_COMMENTS = 5000;
const DIGEST_DIGITS = 16;

/** Fields of a task of which nothing is proven yet, and that holds no files. */
export const NOTHING_PROVEN = { rounds: 0, sent_back: [], proven: [], authors: [], files_held: false } as const;

const NEVER_CLAIMED = { claim_epoch: 0, lapsed_claims: [], retries: 0, former_ends: [], stuck: false } as const;

/** Fields that every new task has: it was never claimed, and nothing is proven. */
export const NEW_TASK = { ...NOTHING_PROVEN, ...NEVER_CLAIMED };

/** A task whose result must be proven. */
export type Demanding = Task & { readonly acceptance: Acceptance };

/** A task whose result is handed in and not yet proven. */
export type Verifying = Demanding & { readonly proof: Proof };

export function isVerifying(task: Task): task is Verifying {
  return task.status === 'waiting' && task.proof !== undefined && task.acceptance !== undefined;
}

/** Returns the next step of an acceptance. @param passed the last step that passed; undefined before the first */
export function stepAfter(acceptance: Acceptance, passed?: Step): Step | undefined {
  const left = STEPS.slice(passed === undefined ? 0 : STEPS.indexOf(passed) + 1);
  return left.find((step) => acceptance[step === 'person' ? 'confirm' : step] !== undefined);
}

/** Returns what a task that is being verified waits for, as a sentence. */
export function verifyingText(task: Task): string | undefined {
  if (!isVerifying(task)) return undefined;
  const { proof, acceptance, proof_until: until, waiting_for } = task;
  const end = until === undefined ? '' : `, at most until ${until.toISOString()}`;
  const branch = proof.branch === undefined ? '' : ` on ${proof.branch}`;
  if (proof.step === 'person') return `Waits for ${waiting_for?.who ?? 'a person'} to confirm it${end}.`;
  if (proof.step === 'command') return `Waits for a runner to run ${acceptance.command}${branch}${end}.`;
  return `Waits for another agent to review it (${acceptance.review})${end}.`;
}

/** Returns the task with another author: an agent that worked on it, and the uid of the credential that it used. */
export function withAuthor<Worked extends Task>(task: Worked, agent_id: string, uid: string): Worked {
  const known = task.authors.some((one) => one.agent_id === agent_id && one.uid === uid);
  return known ? task : { ...task, authors: [...task.authors, { agent_id, uid }].slice(-MAX_AUTHORS) };
}

type Author = Pick<Claim, 'claimed_by' | 'claim_epoch' | 'claimed_at' | 'lease_seconds'>;
type HandedIn = HandedInWork & { readonly by: Author; readonly result: TaskResult };

/**
 * Hands in a result: the task waits for the first step that has not passed, and has no holder. Its check is begun
 * afterwards. If all steps have passed, the task is done.
 */
export function handIn(task: Task, acceptance: Acceptance, given: HandedIn, now: Date): Task {
  const { claim: _released, error: _overcome, parts_awaited: _parts, waiting_for: _answered, ...rest } = task;
  const { result, by, branch, commit, commits, passed = [] } = given;
  const proof: Proof = {
    step: '',
    round: task.rounds + 1,
    agent_id: by.claimed_by,
    claim_epoch: by.claim_epoch,
    claimed_at: by.claimed_at,
    lease_seconds: by.lease_seconds,
    since: now,
    ...(branch !== undefined && { branch }),
    ...(commit !== undefined && { commit }),
    ...(commits !== undefined && { commits: [...commits] }),
    passed: passed.map((one) => ({ ...one, ...(commit !== undefined && { commit }) })),
  };
  return atStep({ ...rest, status: 'waiting', result, acceptance, proof }, proof, passed.at(-1)?.step, now);
}

/** Marks the current step as passed. The next step begins, or the task is done. */
export function approve(task: Verifying, by: string, commit: string | undefined, now: Date): Task {
  const { proof } = task;
  const passed: PassedStep = { step: proof.step, by, at: now, ...(commit !== undefined && { commit }) };
  const proofNow = { ...proof, passed: [...proof.passed, passed] };
  // A person's word counts for the steps that brought no verdict.
  if (proof.step === 'person') return proven(task, proofNow.passed, now);
  return atStep(task, proofNow, proof.step, now);
}

function atStep(task: Demanding, proof: Proof, passed: string | undefined, now: Date): Task {
  const last = STEPS.find((step) => step === passed);
  const step = stepAfter(task.acceptance, last);
  if (step === undefined) return proven({ ...task, proof }, proof.passed, now);
  const { check: _ended, ...rest } = proof;
  return { ...withoutCheck(task), proof: { ...rest, step } };
}

/** Completes a task. The claim that handed in the result is stored as the claim that closed the task. */
export function proven(task: Task, steps: readonly PassedStep[], now: Date): Task {
  const { proof, ...rest } = withoutCheck(task);
  const claim = proof && claimOf(proof);
  const stuck_unsettled = task.stuck_unsettled || task.stuck;
  return { ...rest, ...(claim && { claim }), status: 'done', proven: [...steps], completed_at: now, stuck_unsettled };
}

/** Returns the task as done by the word of a caller who may decide. */
export function decided(task: Task, step: PassedStep, now: Date): Task {
  return proven(task, [...(task.proof?.passed ?? []), step], now);
}

/** Returns the ended claim of the author. */
export function claimOf({ agent_id: claimed_by, claim_epoch, claimed_at, lease_seconds, since }: Proof): Claim {
  return { claimed_by, claim_epoch, claimed_at, lease_seconds, lease_expires_at: since };
}

/** Returns the task without its current check. */
function withoutCheck<Checked extends Task>(task: Checked): Omit<Checked, 'proof_until' | 'waiting_for'> {
  const { proof_until: _until, waiting_for: _person, ...rest } = task;
  return rest;
}

/** Returns a closed task without its proof. */
export function withoutProof(task: Task): Task {
  if (task.proof === undefined) return task;
  const { proof: _proof, ...rest } = withoutCheck(task);
  return rest;
}

/** Returns the digest by which the same correction is recognized: of its words, without digits and punctuation. */
export function correctionDigest({ sha256 }: Hashing, comments: string): string {
  const words = comments.toLowerCase().replace(/[\p{N}\p{P}\p{S}\s]+/gu, ' ');
  return sha256(words.trim()).slice(0, DIGEST_DIGITS);
}

export interface Requested {
  readonly by: string;
  readonly comments: string;
  /** See `correctionDigest`. */
  readonly digest: string;
  /** Step that requested the changes. */
  readonly step: string;
}

/** Returns the task with a requested correction, and how often the same correction was requested. */
export function withCorrection(
  task: Task,
  { agent_id, claim_epoch, round }: Pick<Proof, 'agent_id' | 'claim_epoch' | 'round'>,
  { by, comments, step, digest }: Requested,
  now: Date,
): { readonly task: Task; readonly times: number } {
  const same = task.sent_back.find((one) => one.digest === digest);
  const times = (same?.times ?? 0) + 1;
  const shown = cut(comments);
  const correction: Correction = { round, at: now, by, step, comments: shown, digest, times, agent_id, claim_epoch };
  const sent_back = [...task.sent_back.filter((one) => one !== same), correction].slice(-MAX_CORRECTIONS);
  return { task: { ...task, rounds: task.rounds + 1, sent_back }, times };
}

/** Returns the end of a long text, because the end of a command's output names its failure. */
function cut(text: string): string {
  return text.length <= MAX_COMMENTS ? text : `…${text.slice(1 - MAX_COMMENTS).replace(/^\p{Surrogate}/u, '')}`;
}
