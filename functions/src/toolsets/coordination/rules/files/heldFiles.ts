/** Reservations of files by the tasks of a session, `heldFiles/{session}`. Source: docs/decisions/0062-reserved-files.md. */
import { z } from 'zod/mini';
import type { Versioned } from '../../../../kernel/commit.ts';
import { documentCodec } from '../../../../kernel/documentCodec.ts';
import { utf8Length } from '../../../../kernel/json.ts';
import { MINUTE_MS } from '../../../../kernel/ports.ts';
import type { CoordinationChange, CoordinationPorts } from '../ports.ts';
import { endBackoff } from '../stateMachine.ts';
import { isHeld, type Task, type TaskResult } from '../task.ts';
import { isPath, overlap, readGlobs } from './globs.ts';

/** Maximum size of the document in bytes of JSON. Firestore allows 1 MiB. */
const MAX_BYTES = 500_000;
const MAX_SHARED_PER_TASK = 5;
const MAX_REPORTED = 200;
const MAX_IGNORED_SHOWN = 3;

const entry = z.object({
  agent_id: z.string(),
  claim_epoch: z.int(),
  /** Repository of a coding task. Files of different known projects never overlap. */
  project: z.exactOptional(z.string()),
  globs: z.array(z.string()),
  /** Files that the task's branch has changed, as its runner reports. */
  touched: z.array(z.string()),
  /** Tasks whose holders were told that both tasks change a file. */
  told: z.array(z.string()),
});

export const { toDocument: heldFilesToDocument, fromDocument: heldFilesFromDocument } = documentCodec(
  z.object({ workspace: z.string(), tasks: z.record(z.string(), entry) }),
);

export type HeldFiles = ReturnType<typeof heldFilesFromDocument>;
export type FileEntry = HeldFiles['tasks'][string];

export interface HeldFilesQueries {
  find(session: string): Promise<Versioned<HeldFiles> | undefined>;
}

export interface FileChanges {
  /** Sets entries of tasks. Without a version, the session has no document yet. */
  readonly holdFiles: Pick<Task, 'session' | 'workspace'> & {
    readonly entries: Readonly<Record<string, FileEntry>>;
    readonly version?: string;
  };
  readonly freeFiles: Pick<Task, 'session'> & { readonly taskId: string };
}

/** A file or glob that another task has reserved or changed. */
export interface SharedFile {
  readonly file: string;
  readonly task_id: string;
  readonly agent_id: string;
}

/** The reservations that decide on a claim, and the files of the claimed task. */
interface ReadFiles {
  readonly held: Versioned<HeldFiles> | undefined;
  readonly entry: FileEntry;
  readonly ignored: readonly string[];
  readonly shared: readonly SharedFile[];
}

/** Result of reserving the files of a task. */
export interface TakenFiles {
  readonly task: Task;
  readonly changes: readonly CoordinationChange[];
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

/** Returns the files that other tasks have too, at most a few of each task. @param files of the task, normalized */
export function sharedFiles(
  held: HeldFiles | undefined,
  taskId: string,
  { project, files }: { readonly project?: string | undefined; readonly files: readonly string[] },
): readonly SharedFile[] {
  return Object.entries(held?.tasks ?? {}).flatMap(([id, other]): SharedFile[] => {
    if (id === taskId || !isSameProject(project, other.project)) return [];
    const theirs = [...other.globs, ...other.touched];
    const shared: SharedFile[] = [];
    for (const file of files) {
      const met = theirs.find((one) => overlap(file, one));
      if (met !== undefined) shared.push({ file: isPath(file) ? file : met, task_id: id, agent_id: other.agent_id });
      if (shared.length === MAX_SHARED_PER_TASK) break;
    }
    return shared;
  });
}

function isSameProject(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
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
  const { files_since: since = now, coding } = task;
  const retryAt = new Date(since.getTime() + (task.file_wait ?? 0) * MINUTE_MS);
  if (first === undefined || retryAt <= now) return undefined;
  const queueEndsAt = coding && new Date(retryAt.getTime() + coding.queue_seconds * 1000);
  return {
    ...task,
    files_wait: first.task_id,
    files_since: since,
    retry_at: retryAt,
    blockers: task.blockers + 1,
    ...(coding && queueEndsAt && { coding: { ...coding, queue_ends_at: queueEndsAt } }),
  };
}

/** Reserves the files of a held task, whoever else has them. */
export function takeFiles(task: Task, files: ReadFiles | undefined): TakenFiles {
  const { files_wait: _wait, files_since: _since, ...rest } = task;
  if (files === undefined) return { task: rest, changes: [], shared: [] };
  const { held, entry, ignored, shared } = files;
  const unread = ignored.slice(0, MAX_IGNORED_SHOWN).join(', ');
  const more = ignored.length > MAX_IGNORED_SHOWN ? ` and ${ignored.length - MAX_IGNORED_SHOWN} more` : '';
  const notice = ignored.length > 0 && `Not reserved, because these are no files of the repository: ${unread}${more}.`;
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

export function hasRoom(held: HeldFiles | undefined, entries: Readonly<Record<string, FileEntry>>): boolean {
  return utf8Length(JSON.stringify({ ...held?.tasks, ...entries })) <= MAX_BYTES;
}

export function holding(
  { session, workspace }: Task,
  held: Versioned<HeldFiles> | undefined,
  entries: Readonly<Record<string, FileEntry>>,
): CoordinationChange {
  return { kind: 'holdFiles', session, workspace, entries, ...(held && { version: held.version }) };
}

/** Returns a task as it is stored after a change, and the change that removes its reservation with its claim. */
export function freedFiles(before: Task, after: Task): { task: Task; changes: readonly CoordinationChange[] } {
  const { files_wait: _wait, files_since: _since, ...rest } = after;
  const task = after.status === 'available' ? after : rest;
  const isHolding = isHeld(after.status) && after.claim !== undefined;
  const isSameClaim = isHolding && after.claim?.claim_epoch === before.claim?.claim_epoch;
  if (!before.files_held || isSameClaim)
    return { task: isHolding ? task : { ...task, files_held: false }, changes: [] };
  const { id: taskId, session } = before;
  return { task: { ...task, files_held: false }, changes: [{ kind: 'freeFiles', taskId, session }] };
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
