/** Data for the examples of the to-do tools: todo-xxx-001, todo-xxx-002 and recurring-xxx-001. */
import { nodeKey } from '../../../functions/src/graph/rules/graphNode.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import {
  COLLECTIONS,
  eventPath,
  graphPath,
  recurringTaskPath,
  reminderPath,
  todoPath,
} from '../../../functions/src/kernel/firestore/paths.ts';
import { reminderAt } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { creationChanges } from '../../../functions/src/toolsets/todo/rules/todoChanges.ts';
import { sampleRecurringTask, sampleTodo } from '../../support/builders.ts';
import type { Team } from '../coordination/team.ts';

const [TODO, COMPLETED, RECURRING] = ['todo-xxx-001', 'todo-xxx-002', 'recurring-xxx-001'];

export async function setTodos(team: Team): Promise<void> {
  const { owner_uid: ownerUid } = team.leader;
  const todo = sampleTodo({ id: TODO, owner_uid: ownerUid, title: 'Prepare the meeting', created_at: team.now });
  await team.app.kernel.store.commit([
    { kind: 'createReminder', reminder: reminderAt(todo, new Date(team.now.getTime() + 3_600_000)) },
    ...creationChanges(todo, { eventId: `${TODO}-created`, now: team.now }),
    ...creationChanges(
      sampleTodo({
        id: COMPLETED,
        owner_uid: ownerUid,
        title: 'Prepare the call',
        created_at: team.now,
        completed: true,
        completed_at: team.now,
      }),
      { eventId: `${COMPLETED}-created`, now: team.now },
    ),
    { kind: 'createRecurringTask', recurringTask: sampleRecurringTask({ id: RECURRING, owner_uid: ownerUid }) },
  ]);
}

/** Deletes the example data, because every test uses its ids. */
export async function clearTodos(): Promise<void> {
  const { docs } = await firestore().collection(COLLECTIONS.events).where('task_id', 'in', [TODO, COMPLETED]).get();
  const batch = firestore().batch();
  for (const path of [
    todoPath(TODO),
    todoPath(COMPLETED),
    reminderPath(COMPLETED),
    recurringTaskPath(RECURRING),
    eventPath(`${TODO}-created`),
    reminderPath(TODO),
    graphPath(nodeKey({ kind: 'todo', id: TODO })),
  ])
    batch.delete(firestore().doc(path));
  for (const { ref } of docs) batch.delete(ref);
  await batch.commit();
}
