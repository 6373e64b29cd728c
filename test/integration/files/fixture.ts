/** A team whose tasks reserve files, with the document of its reservations and the trigger that follows them. */
import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { heldFilesPath, taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import {
  type HeldFiles,
  heldFilesFromDocument,
} from '../../../functions/src/toolsets/coordination/rules/files/heldFiles.ts';
import { isHeld, type Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { CodingTeam } from '../coding/calls.ts';
import { answer } from '../coordination/calls.ts';

export class FileTeam extends CodingTeam {
  /** Creates a task for each list of files. Earlier tasks are claimed first. */
  async naming(...files: readonly (readonly string[])[]): Promise<readonly string[]> {
    return (await this.create(...files.map((names) => ({ files: names })))).map(({ id }) => id);
  }

  /** Claims a task with the tool of the specification. */
  async asksFor(agentId: string, changes: Record<string, boolean> = {}) {
    const principal = this.principal(agentId.slice(0, agentId.indexOf('-')));
    return answer(this, 'coordination_claim_task', { agent_id: agentId, ...changes }, principal);
  }

  async entries(taskId: string): Promise<HeldFiles['tasks']> {
    const { session } = await this.task(taskId);
    const snapshot = await firestore().doc(heldFilesPath(session)).get();
    return snapshot.exists ? heldFilesFromDocument(snapshot.data()).tasks : {};
  }

  /** Changes how long a task waits for files, as its workspace would have set it; null as in an earlier release. */
  async setFileWait(taskId: string, minutes: number | null): Promise<void> {
    await firestore().doc(taskPath(taskId)).update({ file_wait: minutes });
  }

  /** Completes a task as an instance does that knows of no files. */
  async completeAsBefore(taskId: string): Promise<void> {
    await firestore().doc(taskPath(taskId)).update({ status: 'done', completed_at: this.now });
  }

  async document(taskId: string): Promise<unknown> {
    return (await firestore().doc(taskPath(taskId)).get()).data();
  }

  /** Performs a change of the task, and calls the trigger with the documents before and after the change. */
  async followed(taskId: string, change: () => Promise<unknown>): Promise<void> {
    const before = await this.document(taskId);
    await change();
    await this.app.services.fileWaits.taskWritten(taskId, before, await this.document(taskId));
  }

  /** Asserts that the reservations are exactly those of the tasks that are held. */
  async assertBooks(): Promise<void> {
    const tasks = await this.tasks();
    const [first] = tasks;
    if (first === undefined) return;
    const held = Object.fromEntries(
      tasks.filter(({ files_held }) => files_held).map((task) => [task.id, claimOf(task)]),
    );
    const booked = Object.entries(await this.entries(first.id)).map(([id, one]) => [
      id,
      { agent_id: one.agent_id, claim_epoch: one.claim_epoch },
    ]);
    assert.deepEqual(Object.fromEntries(booked), held);
  }
}

/** Returns the claim of a task that has reserved files. */
function claimOf({ id, status, claim, claim_epoch }: Task) {
  assert.ok(isHeld(status) && claim, `${id} is ${status} and still has files`);
  return { agent_id: claim.claimed_by, claim_epoch };
}
