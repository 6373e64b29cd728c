/** Changed files that runners report while a task is in progress. Source: docs/semantics.md#files. */
import type { Versioned } from '../../../../kernel/commit.ts';
import { Service } from '../../../../kernel/ports.ts';
import { type Notice, noticeChanges } from '../messages.ts';
import type { CoordinationPorts } from '../ports.ts';
import { isHeld, type Task } from '../task.ts';
import { readGlobs } from './globs.ts';
import { type FileEntry, hasRoom, type SharedFile, sharedFiles } from './heldFiles.ts';
import { entryOf, holding } from './reserving.ts';

const MAX_TOUCHED = 200;

/** Maximum number of other tasks about which one report sends messages. The next report sends the others. */
const MAX_TOLD = 10;

export class FileTouches extends Service<CoordinationPorts> {
  /**
   * Stores the files that the branch of a held task has changed. If another task has one of these files, both holders
   * get a message, once for each pair of tasks.
   * @throws StaleWriteError if another call has changed the task or the reservations
   */
  async touch({ value: task, version }: Versioned<Task>, files: readonly string[]): Promise<void> {
    const { heldFiles, store } = this.ports;
    if (task.file_wait === undefined || !isHeld(task.status) || task.claim === undefined) return;
    const held = await heldFiles.find(task.session);
    const known = held?.value.tasks[task.id];
    const own = known?.claim_epoch === task.claim_epoch ? known : entryOf(task, []);
    const { globs: touched } = readGlobs(files, MAX_TOUCHED);
    const met = untold(own, sharedFiles(held?.value, task.id, { ...own, files: touched }));
    if (met.length === 0 && touched.join('\n') === own.touched.join('\n')) return;
    const told = [...own.told, ...met.map(({ task_id }) => task_id)];
    const entries: Record<string, FileEntry> = { [task.id]: { ...own, touched, told } };
    for (const { task_id: id } of met) {
      const other = held?.value.tasks[id];
      if (other !== undefined) entries[id] = { ...other, told: [...other.told, task.id] };
    }
    if (!hasRoom(held?.value, entries)) return;
    const notices = met.flatMap((one) => noticesOf(task.id, own.agent_id, one));
    const holds = { kind: 'replaceTask', task: { ...task, files_held: true }, before: task, version } as const;
    const sent = await noticeChanges(this.ports, task.workspace, notices);
    await store.commit([...(task.files_held ? [] : [holds]), holding(task, held, entries), ...sent]);
  }
}

/** Returns the first shared file of each task whose holder does not know it yet. */
function untold({ told }: FileEntry, shared: readonly SharedFile[]): readonly SharedFile[] {
  const first = new Map(shared.toReversed().map((one) => [one.task_id, one]));
  return [...first.values()].filter(({ task_id }) => !told.includes(task_id)).slice(0, MAX_TOLD);
}

function noticesOf(taskId: string, agentId: string, { file, task_id, agent_id }: SharedFile): readonly Notice[] {
  const text = (name: string, id: string) => `You and "${name}" (${id}) both change ${file}.`;
  return [
    { agentId, taskId, text: text(agent_id, task_id) },
    { agentId: agent_id, taskId: task_id, text: text(agentId, taskId) },
  ];
}
