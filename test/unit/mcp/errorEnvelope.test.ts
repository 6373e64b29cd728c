import assert from 'node:assert/strict';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { presentableError } from '../../../functions/src/mcp/callContext.ts';
import { legacyResult, toolResult } from '../../../functions/src/mcp/toolResponse.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { notFound, TODO_CODES } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { memoryPorts } from '../../support/mcp-endpoint.ts';

const envelopeOf = (toolset: string) => toolsets.find(({ name }) => name === toolset)?.errors;
const refused = (toolset: string, refusal: MusterError) => toolResult(envelopeOf(toolset), { error: refusal });
const answered = (answer: JsonObject) => toolResult(undefined, { answer });

const error = new MusterError('NOT_FOUND', 'Task task-1 not found.', {
  field: 'task_id',
  value: 'task-1',
  reason: 'NO_SUCH_TASK',
  suggestion: 'List the tasks.',
  cause: new Error('vendor text'),
});

describe('error response of a tool', () => {
  it('is a single text in the toolset coordination', () =>
    assert.deepEqual(refused('coordination', error), {
      content: [{ type: 'text', text: '{"error":"Task task-1 not found. List the tasks."}' }],
      structuredContent: { error: 'Task task-1 not found. List the tasks.' },
      isError: true,
    }));

  it('contains code, message and data in the toolsets of the network specification', () => {
    const { structuredContent } = refused('onboarding', error);
    assert.deepEqual(structuredContent, {
      success: false,
      error: {
        code: -32200,
        message: 'Task task-1 not found.',
        data: { field: 'task_id', value: 'task-1', reason: 'NO_SUCH_TASK', suggestion: 'List the tasks.' },
      },
    });
  });

  it('has one of the error codes of the specification in the toolset todo', () => {
    const details = { task_id: '123', user_id: 'abc-123' };
    const { structuredContent, content, isError } = refused('todo', notFound('Task', '123', 'abc-123'));
    assert.deepEqual(structuredContent, {
      success: false,
      error: {
        code: 'TASK_NOT_FOUND',
        message: "Task with ID '123' not found",
        details: {
          ...details,
          field: 'task_id',
          suggestion: 'todo.list_tasks and todo.search_tasks return the ids of your to-dos.',
        },
      },
    });
    assert.equal(isError, true);
    assert.deepEqual(JSON.parse(content[0].text), structuredContent);
    const codeOf = (refusal: MusterError) => {
      const { error: shown } = refused('todo', refusal).structuredContent;
      return typeof shown === 'object' && shown !== null && 'code' in shown ? shown['code'] : undefined;
    };
    for (const reason of TODO_CODES)
      assert.equal(codeOf(new MusterError('VALIDATION_ERROR', 'No.', { reason })), reason);
    for (const code of ['VALIDATION_ERROR', 'REQUIRED_FIELD', 'INVALID_FORMAT'] as const)
      assert.equal(codeOf(new MusterError(code, 'No.', { field: 'title' })), 'VALIDATION_ERROR');
    for (const code of ['RATE_LIMITED', 'CONFLICT', 'INTERNAL'] as const)
      assert.equal(codeOf(new MusterError(code, 'No.')), code);
  });

  it('keeps the reason and the retry delay in the toolset todo, but no rejected value', () => {
    const limited = new MusterError('RATE_LIMITED', 'No.', { retryAfter: 2, reason: 'TOO_FAST', value: 'secret' });
    assert.deepEqual(refused('todo', limited).structuredContent['error'], {
      code: 'RATE_LIMITED',
      message: 'No.',
      details: { reason: 'TOO_FAST', retryAfter: 2 },
    });
  });

  it('has no structured content for 2025 clients if that content would violate the listed schema', () => {
    const network = refused('onboarding', error);
    assert.deepEqual(legacyResult(envelopeOf('onboarding'), network), { content: network.content, isError: true });
    assert.deepEqual(
      legacyResult(envelopeOf('coordination'), refused('coordination', error)),
      refused('coordination', error),
    );
    const todo = refused('todo', error);
    assert.deepEqual(legacyResult(envelopeOf('todo'), todo), todo);
    assert.deepEqual(legacyResult(envelopeOf('onboarding'), answered({ a: 1 })), answered({ a: 1 }));
  });

  it('omits values that are long, nested or unprintable', () => {
    for (const value of ['x'.repeat(101), { a: 1 }, ['a'], 'a\u0007', '\ud800', undefined]) {
      const shown = JSON.stringify(refused('system', new MusterError('CONFLICT', 'No.', { value })));
      assert.ok(!shown.includes('"value"') && !shown.includes('value\\"'), shown);
    }
  });

  it('also contains the whole response as text', () => {
    const { content, structuredContent } = answered({ a: 1, b: [{ c: null }] });
    assert.deepEqual(JSON.parse(content[0].text), structuredContent);
  });

  it('contains only a request id for an unexpected error, whose cause is logged', () => {
    const { log, entries } = memoryPorts();
    const shown = presentableError(new Error('at /srv/app/secret.ts'), 'request-1', 'tool', log);
    assert.equal(shown.code, 'INTERNAL');
    assert.equal(shown.message, 'Internal error. Report request id request-1 to the operator.');
    assert.equal(entries.length, 1);
    assert.equal(entries[0]?.level, 'error');
    assert.equal(entries[0]?.fields['requestId'], 'request-1');
    for (const thrown of ['text', undefined, null, { code: 5 }])
      assert.equal(presentableError(thrown, 'request-2', 'tool', log).code, 'INTERNAL');
  });

  it('contains a known error unchanged, and its cause is logged', () => {
    const { log, entries } = memoryPorts();
    assert.equal(presentableError(error, 'request-1', 'tool', log), error);
    assert.equal(entries[0]?.event, 'call_refused_with_cause');
    assert.ok(!JSON.stringify(refused('system', error)).includes('vendor'));
  });
});
