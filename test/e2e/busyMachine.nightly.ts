/** A burst of events on a busy machine starts only a few instances of functions. No event is lost. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Person } from '../integration/spine/person.ts';
import { sampleTodo } from '../support/builders.ts';
import { instances } from './support/instances.ts';
import { eventually } from './support/waiting.ts';

/** Number of to-dos to add. Each to-do causes one event, which several functions process. */
const TODOS = 120;

/** Number of function instances that even a machine with little memory can run. */
const MAX_INSTANCES = 25;

describe('a burst of to-do events on a busy machine', () => {
  const busy: ChildProcess[] = [];

  before(() => {
    for (let core = 0; core < availableParallelism(); core++)
      busy.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  });
  after(() => {
    for (const loop of busy) loop.kill('SIGKILL');
  });

  it(`is processed completely, by at most ${MAX_INSTANCES} instances`, async () => {
    // Instances that other tests started may still be running, so they do not count.
    const idle = new Set(instances());
    const person = new Person();
    person.now = new Date();
    const ids = await Promise.all(Array.from({ length: TODOS }, (_, number) => addTodo(person, number)));
    let limit = 0;
    await eventually('every event is audited', async () => {
      limit = Math.max(limit, instances().filter((one) => !idle.has(one)).length);
      const audits = await Promise.all(ids.map((id) => person.audit(id)));
      return audits.every((audit) => audit !== undefined) || undefined;
    });
    assert.ok(limit <= MAX_INSTANCES, `${limit} instances were started`);
  });
});

/** Stores a to-do with its event, and returns the event's id. */
async function addTodo(person: Person, number: number): Promise<string> {
  const id = `${person.uid}-${number}`;
  const todo = sampleTodo({ id, owner_uid: person.uid, title: `To-do ${number}` });
  const event = person.event('created', { taskId: id });
  await person.app.kernel.store.commit([
    { kind: 'createTodo', todo },
    { kind: 'recordEvent', event },
  ]);
  return event.id;
}
