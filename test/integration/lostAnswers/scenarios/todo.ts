import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { unkeyed } from '../../coordination/team.ts';
import { type Prepared, type Scene, scenariosOf } from '../scene.ts';

const DAY = 86_400_000;

const inDays = (scene: Scene, days: number) => new Date(scene.now.getTime() + days * DAY);

/** Creates a to-do with a due date, a tag and a reminder. */
async function one(scene: Scene, more: JsonObject = {}): Promise<Prepared> {
  const draft = { title: 'Water the plants', due_date: inDays(scene, 1), tags: ['home'] };
  const { id } = await scene.app.services.todos.add(scene.leader.owner_uid, draft, unkeyed);
  return { args: { task_id: id, ...more } };
}

/** Creates the first occurrence of a recurring to-do. */
async function occurrence(scene: Scene): Promise<Prepared> {
  return { args: { task_id: (await begun(scene)).first.id } };
}

function begun(scene: Scene) {
  const draft = { title: 'Standup', frequency: 'DAILY', start_date: inDays(scene, 1) } as const;
  return scene.app.services.recurringTasks.create(scene.leader.owner_uid, draft, unkeyed);
}

async function recurring(scene: Scene, more: JsonObject = {}): Promise<Prepared> {
  return { args: { recurring_task_id: (await begun(scene)).recurringTask.id, ...more } };
}

/** Creates a to-do and completes it. */
async function completed(scene: Scene, made: (scene: Scene) => Promise<Prepared>): Promise<Prepared> {
  const { args } = await made(scene);
  await scene.app.services.todos.complete(scene.leader.owner_uid, String(args['task_id']), unkeyed);
  return { args };
}

const DUE = '2041-02-11T17:00:00Z';

export const todo = scenariosOf('todo', {
  add_task: {
    'with a due date': async () => ({ args: { title: 'A', due_date: DUE, tags: ['work'] } }),
    'without a due date': async () => ({ args: { title: 'A' } }),
    'as part of a to-do': async (scene) => {
      const { args } = await one(scene);
      return { args: { title: 'A', part_of: { kind: 'todo', id: String(args['task_id']) } } };
    },
  },
  update_task: (scene) => one(scene, { title: 'Another title', priority: 'HIGH', due_date: DUE }),
  complete_task: { 'that does not recur': (scene) => one(scene), 'that recurs': occurrence },
  reopen_task: {
    'that does not recur': (scene) => completed(scene, one),
    'that recurs': (scene) => completed(scene, occurrence),
  },
  delete_task: { 'that does not recur': (scene) => one(scene), 'that recurs': occurrence },
  set_task_priority: (scene) => one(scene, { priority: 'HIGH' }),
  set_task_due_date: (scene) => one(scene, { due_date: DUE }),
  add_task_tags: (scene) => one(scene, { tags: ['urgent'] }),
  create_recurring_task: async () => ({ args: { title: 'Mails', frequency: 'DAILY', start_date: DUE } }),
  update_recurring_task: (scene) => recurring(scene, { title: 'Another title', frequency: 'WEEKLY' }),
  delete_recurring_task: (scene) => recurring(scene),
  set_reminder: (scene) => one(scene, { remind_at: '2040-01-01T06:00:00Z' }),
  snooze_reminder: async (scene) => {
    const { args } = await one(scene);
    return { args: { reminder_id: String(args['task_id']), minutes: 30 } };
  },
  delegate: (scene) => one(scene),
  delete_reminder: async (scene) => {
    const { args } = await one(scene);
    return { args: { reminder_id: String(args['task_id']) } };
  },
});
