/** The console can read every stored version of the documents that it shows. */
import assert from 'node:assert/strict';
import type { z } from 'zod/mini';
import * as schemas from '../../console/src/live/documents.ts';
import { runDocument } from '../../console/src/live/runDocument.ts';
import { asRead, storedVersions } from './documents.ts';

const READ: Readonly<Record<string, z.ZodMiniType>> = {
  workspaces: schemas.workspaceDocument,
  'workspaces.sessions': schemas.sessionDocument,
  'workspaces.sessions.counters': schemas.counterDocument,
  tasks: schemas.taskDocument,
  agents: schemas.agentDocument,
  requests: schemas.requestDocument,
  runs: runDocument,
  'workspaces.archive': schemas.archivedSessionDocument,
  todos: schemas.todoDocument,
  recurringTasks: schemas.recurringDocument,
  people: schemas.personDocument,
  discoveries: schemas.discoveryDocument,
  'tasks.messages': schemas.taskMessageDocument,
};

describe('document schemas of the console', () => {
  for (const [collection, schema] of Object.entries(READ))
    it(`parse every stored version of ${collection}`, () => {
      for (const { version, documents } of storedVersions('firestore', collection))
        for (const [id, data] of Object.entries(documents)) {
          const { error } = schema.safeParse({ id, ...Object(asRead(data)) });
          assert.equal(error, undefined, `${collection}, version ${version}, ${id}: ${error?.message}`);
        }
    });

  it('accept an unknown task status, but reject an unknown to-do priority', () => {
    const latestOf = (collection: string) => {
      const [[id, data] = ['', undefined]] = Object.entries(
        storedVersions('firestore', collection).at(-1)?.documents ?? {},
      );
      return { id, ...Object(asRead(data)) };
    };
    const task = schemas.taskDocument.parse({ ...latestOf('tasks'), status: 'dreaming' });
    assert.equal(task.status, 'dreaming');
    assert.ok(!schemas.todoDocument.safeParse({ ...latestOf('todos'), priority: 'DREAMY' }).success);
  });

  it('parse every stored version of the Realtime Database values', () => {
    const nodes = {
      presence: schemas.presenceNode,
      'metrics.minutes': schemas.timeNode,
      'metrics.days': schemas.timeNode,
    };
    for (const [name, schema] of Object.entries(nodes))
      for (const { version, documents } of storedVersions('realtime', name))
        for (const [id, data] of Object.entries(documents))
          assert.equal(schema.safeParse(data).error, undefined, `${name}, version ${version}, ${id}`);
  });
});
