/** Reads everything that is stored about the tasks of a workspace. */
import { agentFromDocument } from '../../functions/src/agents/rules/agent.ts';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { agentPath, COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { taskFromDocument } from '../../functions/src/toolsets/coordination/rules/task.ts';
import { requestFromDocument } from '../../functions/src/toolsets/inbox/rules/request.ts';
import type { Stored } from './invariants.ts';

/** Returns the tasks and questions of a workspace, and the agents that hold or have closed a task. */
export async function storedIn(workspace: string): Promise<Stored> {
  const database = firestore();
  const read = async (collection: string) =>
    (await database.collection(collection).where('workspace', '==', workspace).get()).docs.map((found) => found.data());
  const tasks = (await read(COLLECTIONS.tasks)).map(taskFromDocument);
  const questions = (await read(COLLECTIONS.requests)).map(requestFromDocument);
  const holders = [...new Set(tasks.flatMap(({ claim }) => (claim ? [claim.claimed_by] : [])))];
  const found = holders.length === 0 ? [] : await database.getAll(...holders.map((id) => database.doc(agentPath(id))));
  const agents = found.flatMap((one) => (one.exists ? [agentFromDocument(one.data())] : []));
  return { tasks, questions, agents };
}
