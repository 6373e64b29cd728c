import assert from 'node:assert/strict';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { Delegation } from '../../../functions/src/toolsets/todo/rules/delegation.ts';
import { alreadyCompleted, notFound } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { sampleTask, sampleTodo, versionOf } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';

type DelegationPorts = ConstructorParameters<typeof Delegation>[0];
const todo = sampleTodo({ delegated_task_id: 'task-1' });

function delegationWhose(complete: () => Promise<never>): Delegation {
  const task = sampleTask({ status: 'done', part_of: { kind: 'todo', id: todo.id } });
  return new Delegation(
    portsOf<DelegationPorts>({
      tasks: { find: async () => versionOf(task) },
      todos: { find: async () => versionOf(todo) },
      todoService: { complete },
    }),
  );
}

const contention = new MusterError('CONFLICT', 'Too many changes at once.', { reason: 'CONTENTION' });

describe('delegated to-do whose task is completed', () => {
  for (const error of [alreadyCompleted(todo), notFound('Task', todo.id, todo.owner_uid)])
    it(`remains unchanged if completing the to-do fails with ${error.details.reason}`, () =>
      delegationWhose(() => Promise.reject(error)).taskClosed('task-1'));

  for (const error of [
    contention,
    new MusterError('CONFLICT', 'Another conflict.', {}),
    new MusterError('NOT_FOUND', 'Another thing is not there.', { reason: 'RECURRING_TASK_NOT_FOUND' }),
    new MusterError('FIREBASE_ERROR', 'The document cannot be read.', { reason: 'UNREADABLE_DOCUMENT' }),
    new Error('The database is away.'),
  ])
    it(`is completed by a later retry if completing the to-do fails with: ${error.message}`, async () => {
      const closing = delegationWhose(() => Promise.reject(error)).taskClosed('task-1');
      await assert.rejects(closing, (thrown) => thrown === error);
    });
});
