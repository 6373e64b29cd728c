import type { CodingChanges } from '../../domain/coding/logBook.ts';
import type { ChangeWriters } from './commitWrites.ts';
import { taskLogChunkPath, taskResultPath } from './paths.ts';
import { chunkToDocument, linesToFields } from './taskLogDocument.ts';

export const codingWriters: ChangeWriters<CodingChanges> = {
  appendLog({ task, write, version }, writes) {
    const path = taskLogChunkPath(task.id, write.head.chunk);
    if (version === undefined) writes.createLasting(path, chunkToDocument(task, write));
    else writes.replaceLatest(path, linesToFields(task, write), version);
    if (write.drops !== undefined) writes.delete(taskLogChunkPath(task.id, write.drops));
  },
  storeResult({ taskId, epoch, parts }, writes) {
    for (const [part, json] of parts.entries()) writes.set(taskResultPath(taskId, epoch, part), { json });
  },
};
