/** What changes when a coding task ends or says something, in the one commit that changes it. */
import type { SessionReader } from '../readers.ts';
import type { Change, Versioned } from '../store.ts';
import { settlementChanges } from '../tasks/changes.ts';
import type { Ending } from './ending.ts';
import type { Appending, LogHead } from './logBook.ts';
import type { CodingTask } from './task.ts';

export function appendChanges(
  { id, workspace }: CodingTask,
  head: Versioned<LogHead> | undefined,
  { writes }: Appending,
): Change[] {
  return writes.map((write) => ({
    kind: 'appendLog',
    task: { id, workspace },
    write,
    ...(!write.isNew && head !== undefined && { version: head.version }),
  }));
}

/** Everything that an end brings about: the task, its holder, its dependents, the queue. */
export async function endingChanges(
  sessions: SessionReader,
  before: CodingTask,
  { task, now, outcome, settlement }: Ending,
  version: string,
): Promise<Change[]> {
  if (outcome === 'repeated') return [];
  if (settlement === undefined) return [{ kind: 'replaceTask', task, version }];
  const changes = settlementChanges(before, { ...settlement, task }, version, now);
  const frees =
    task.status === 'available' ? task.blockers === 0 : task.status === 'done' && task.dependents.length > 0;
  const { workspace, session } = task;
  const open = frees ? await sessions.current(workspace) : undefined;
  if (open?.session.id === session) {
    changes.push({ kind: 'queueGrew', workspace, session, capabilityKeys: [] });
  }
  return changes;
}
