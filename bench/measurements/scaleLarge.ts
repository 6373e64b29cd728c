/** The measurements `scale` and `todoScale` with 100,000 tasks and agents, and with 1,000,000 to-dos. */
import { z } from 'zod';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import type { McpCaller } from '../load/client.ts';
import type { Measurement } from '../measurement.ts';
import { createTasks, openQueue } from '../queue.ts';
import type { Schedule } from '../rounds.ts';
import { addAgents, type Project, writeAll } from '../seed.ts';
import { shortTodo } from '../todoSeed.ts';
import { compareQueues } from './scale.ts';
import { compareTodos, openOwners } from './todoScale.ts';

/** Few calls, because the emulator scans for up to a minute per call. */
const SCHEDULE: Schedule = { warmUps: 1, rounds: 2 };
const CALLS = 5;
const FEW = 100;
const MANY = 100_000;
const TODOS = 1_000_000;

/** Number of tasks that the tools create, and that are then copied. */
const ORIGINALS = 500;

export async function measureScaleLarge(): Promise<Measurement[]> {
  const short = await openQueue('scale-few', FEW, { calls: CALLS });
  const long = await openQueue('scale-many', MANY, { fill: fillByCopies, calls: CALLS });
  const measurements = await compareQueues('scaleLarge', short, long, SCHEDULE);
  await Promise.all([short.end(), long.end()]);
  return measurements;
}

/** The second of two runs uses the data of the first run, because the emulator never frees the memory of documents. */
let owners: ReturnType<typeof openOwners> | undefined;

export async function measureTodoScaleLarge(): Promise<Measurement[]> {
  owners ??= openOwners({ few: FEW, many: TODOS, looks: 1, todoOf: shortTodo });
  return compareTodos('todoScaleLarge', await owners, SCHEDULE);
}

const counter = z.looseObject({ counts: z.record(z.string(), z.int()) });

/** Creates tasks with the tools, copies their documents, and multiplies the counters. */
async function fillByCopies(project: Project, boss: McpCaller, size: number): Promise<void> {
  const { firestore } = project;
  await createTasks(boss, ORIGINALS);
  const tasks = (await firestore.collection(COLLECTIONS.tasks).get()).docs.map((task) => task.data());
  await writeAll(firestore, size - tasks.length, (number) => {
    const task = tasks[number % tasks.length] ?? {};
    const id = `${String(task['id'])}-${number}`;
    return [`${COLLECTIONS.tasks}/${id}`, { ...task, id }];
  });
  const counters = (await firestore.collectionGroup('counters').get()).docs;
  for (const shard of counters) {
    const { counts } = counter.parse(shard.data());
    const grown = Object.entries(counts).map(([status, count]) => [status, (count * size) / tasks.length]);
    await shard.ref.update({ counts: Object.fromEntries(grown) });
  }
  await addAgents(project, size);
}
