import assert from 'node:assert/strict';
import { z } from 'zod';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { withToolArgumentName } from '../../../functions/src/mcp/call.ts';

describe('withToolArgumentName', () => {
  const tool = {
    input: z.object({ taskId: z.string(), agent_id: z.string(), run: z.string(), tasks: z.array(z.string()) }),
  };

  const named = (field?: string): string | undefined => {
    const error = withToolArgumentName(
      new MusterError('CONFLICT', 'It is done.', {
        ...(field !== undefined && { field }),
        reason: 'WRONG_STATE',
        cause: 7,
      }),
      tool,
    );
    assert.ok(error instanceof MusterError);
    assert.deepEqual(
      [error.code, error.message, error.details.reason, error.cause],
      ['CONFLICT', 'It is done.', 'WRONG_STATE', 7],
    );
    return error.details.field;
  };

  it("replaces the field name in an error by the name of the tool's argument", () =>
    assert.deepEqual(
      ['task_id', 'taskId', 'agentId', 'agent_id', 'runId', 'tasks.3.priority', 'task_id.0'].map(named),
      ['taskId', 'taskId', 'agent_id', 'agent_id', 'run', 'tasks.3.priority', 'taskId.0'],
    ));

  it('keeps an unknown field name, a missing field name and other errors unchanged', () => {
    assert.deepEqual([named('claim_epoch'), named('')], ['claim_epoch', '']);
    assert.equal(named(), undefined);
    const other = new Error('another');
    assert.equal(withToolArgumentName(other, tool), other);
  });
});
