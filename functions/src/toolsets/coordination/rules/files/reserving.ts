/** Reserves the files of tasks with their claims, and frees them. Source: docs/semantics.md#files. */
import type { Agent } from '../../../../agents/rules/agent.ts';
import type { Versioned } from '../../../../kernel/commit.ts';
import { shownName } from '../../../../kernel/errors.ts';
import { MINUTE_MS } from '../../../../kernel/ports.ts';
import { budgetReason } from '../budgetWait.ts';
import type { CoordinationChange, CoordinationPorts, TaskWithChanges } from '../ports.ts';
import { endBackoff, putOff } from '../stateMachine.ts';
import { isHeld, type Task, type TaskResult } from '../task.ts';
import { overlap, readGlobs } from './globs.ts';
import { type FileEntry, type HeldFiles, hasRoom, type SharedFile, sharedFiles } from './heldFiles.ts';

const MAX_REPORTED = 200;
const MAX_IGNORED_SHOWN = 3;

/** The reservations that decide on a claim, and the files of the claimed task. */
interface ReadFiles {
  readonly held: Versioned<HeldFiles> | undefined;
  readonly entry: FileEntry;
  readonly ignored: readonly string[];
  readonly shared: readonly SharedFile[];
}

/** Result of reserving the files of a task. */
export interface TakenFiles extends TaskWithChanges {
  /** Files that other tasks have too. */
  readonly shared: readonly SharedFile[];
  /** Sentence about files that are not reserved. */
  readonly notice?: string;
}

/** Returns the reservation of a task that is held. @throws Error if it is not held, which is a defect */
export function entryOf({ id, claim, claim_epoch, coding }: Task, globs: readonly string[]): FileEntry {
  if (claim === undefined) throw new Error(`Task ${id} has no holder.`);
  const project = coding?.project;
  const files = { globs, touched: [], told: [] };
  return { agent_id: claim.claimed_by, claim_epoch, ...(project !== undefined && { project }), ...files };
}

/** Reads what other tasks have of the files of a task that is about to be held. A task without files reads nothing. */
export async function readFiles(
  { heldFiles }: Pick<CoordinationPorts, 'heldFiles'>,
  task: Task,
): Promise<ReadFiles | undefined> {
  if (task.file_wait === undefined || task.context.files.length === 0) return undefined;
  const { globs, ignored } = readGlobs(task.context.files);
  const entry = entryOf(task, globs);
  const held = globs.length === 0 ? undefined : await heldFiles.find(task.session);
  return { held, entry, ignored, shared: sharedFiles(held?.value, task.id, { ...entry, files: globs }) };
}

/** Returns the reported files outside the globs of a task that other tasks have. Reads nothing for most reports. */
export async function unreservedFiles(
  { heldFiles }: Pick<CoordinationPorts, 'heldFiles'>,
  { id, session, files_held, context, coding }: Task,
  { files_modified: modified = [], files_created: created = [] }: TaskResult,
): Promise<readonly SharedFile[]> {
  if (!files_held) return [];
  const { globs } = readGlobs(context.files);
  const { globs: reported } = readGlobs([...modified, ...created], MAX_REPORTED);
  const files = reported.filter((file) => !globs.some((glob) => overlap(file, glob)));
  if (files.length === 0) return [];
  return sharedFiles((await heldFiles.find(session))?.value, id, { project: coding?.project, files });
}

/** Returns the task with its wait for files that another task has; undefined if it has waited for long enough. */
export function pausedForFiles(task: Task, files: ReadFiles | undefined, now: Date): Task | undefined {
  const [first] = files?.shared ?? [];
  const { files_since = now, file_wait = 0 } = task;
  const retryAt = new Date(files_since.getTime() + file_wait * MINUTE_MS);
  if (first === undefined || retryAt <= now) return undefined;
  return { ...putOff(task, retryAt), files_wait: first.task_id, files_since };
}

/** Reserves the files of a held task, even if other tasks have them. */
export function takeFiles(task: Task, files: ReadFiles | undefined): TakenFiles {
  const { files_wait: _wait, files_since: _since, ...others } = task;
  const rest = { ...others, files_held: false };
  if (files === undefined) return { task: rest, changes: [], shared: [] };
  const { held, entry, ignored, shared } = files;
  const unread = ignored.slice(0, MAX_IGNORED_SHOWN).map(shownName).join(', ');
  const more = ignored.length > MAX_IGNORED_SHOWN ? ` and ${ignored.length - MAX_IGNORED_SHOWN} more` : '';
  const notice =
    ignored.length > 0 && `Not reserved, because these names are outside the repository or too many: ${unread}${more}.`;
  const answer = { shared, ...(notice && { notice }) };
  if (entry.globs.length === 0) return { task: rest, changes: [], ...answer };
  if (!hasRoom(held?.value, { [task.id]: entry }))
    return { task: rest, changes: [], shared, notice: 'Its files are not reserved: the session has too many.' };
  return { task: { ...rest, files_held: true }, changes: [holding(task, held, { [task.id]: entry })], ...answer };
}

/** Reserves the files of a task that its former holder holds again, without waiting. */
export async function filesFor(ports: Pick<CoordinationPorts, 'heldFiles'>, task: Task): Promise<TakenFiles> {
  return takeFiles(task, await readFiles(ports, task));
}

/** Returns a task with its files, and the changes with which its former holder holds it again, without being seen. */
export async function heldAgain(
  ports: Pick<CoordinationPorts, 'heldFiles'>,
  { value, version }: Versioned<Agent>,
  again: Task,
): Promise<TaskWithChanges> {
  const { id: taskId, session, claim_epoch } = again;
  const { task, changes } = await filesFor(ports, again);
  const agent = { ...value, held: { ...value.held, [taskId]: { session, claim_epoch } } };
  return { task, changes: [{ kind: 'holdTask', agent, taskId, version }, ...changes] };
}

export function holding(
  { session, workspace }: Task,
  held: Versioned<HeldFiles> | undefined,
  entries: Readonly<Record<string, FileEntry>>,
): CoordinationChange {
  return { kind: 'holdFiles', session, workspace, entries, ...(held && { version: held.version }) };
}

/** Returns a task as it is stored after a change, and the change that removes its reservation with its claim. */
export function freedFiles(before: Task, after: Task): TaskWithChanges {
  const { files_wait: _wait, files_since: _since, ...rest } = after;
  const task = after.status === 'available' ? after : rest;
  if (after.files_held && isHeld(after.status) && after.claim !== undefined) return { task, changes: [] };
  const { id: taskId, session, files_held } = before;
  const changes = files_held ? [{ kind: 'freeFiles', taskId, session } as const] : [];
  return { task: { ...task, files_held: false }, changes };
}

/** Returns the task without its wait for files, for a claim that shares them. */
export function withoutFileWait(task: Task): Task {
  return filesReason(task) === undefined ? task : endBackoff(task);
}

/** Returns a sentence that names the task whose files a task waits for; undefined if it waits for none. */
export function filesReason({ status, retry_at, files_wait }: Task): string | undefined {
  if (status !== 'available' || retry_at === undefined || files_wait === undefined) return undefined;
  return `Waits for files of the task "${files_wait}", at most until ${retry_at.toISOString()}.`;
}

/** Returns a sentence that names the budget or the task whose files a task waits for. */
export function waitText(task: Task): string | undefined {
  return budgetReason(task) ?? filesReason(task);
}
