/** Reservations of files by the tasks of a session, `heldFiles/{session}`. Source: docs/decisions/0062-reserved-files.md. */
import { z } from 'zod/mini';
import type { Versioned } from '../../../../kernel/commit.ts';
import { documentCodec } from '../../../../kernel/documentCodec.ts';
import { utf8Length } from '../../../../kernel/json.ts';
import { isPath, overlap } from './globs.ts';

/** Maximum size of the document in bytes of JSON. Firestore allows 1 MiB. */
const MAX_BYTES = 500_000;
const MAX_SHARED_PER_TASK = 5;

const entry = z.object({
  agent_id: z.string(),
  claim_epoch: z.int(),
  /** Repository of a coding task. Files of different known projects never overlap. */
  project: z.exactOptional(z.string()),
  globs: z.array(z.string()),
  /** Files that the task's branch has changed, as its runner reports. */
  touched: z.array(z.string()),
  /** Tasks about which both holders got a message, because both tasks change a file. */
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
  readonly holdFiles: {
    readonly session: string;
    readonly workspace: string;
    readonly entries: Readonly<Record<string, FileEntry>>;
    readonly version?: string;
  };
  readonly freeFiles: { readonly session: string; readonly taskId: string };
}

/** A file or glob that another task has reserved or changed. */
export interface SharedFile {
  readonly file: string;
  readonly task_id: string;
  readonly agent_id: string;
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

export function hasRoom(held: HeldFiles | undefined, entries: Readonly<Record<string, FileEntry>>): boolean {
  return utf8Length(JSON.stringify({ ...held?.tasks, ...entries })) <= MAX_BYTES;
}
