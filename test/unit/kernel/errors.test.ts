import assert from 'node:assert/strict';
import { MusterError } from '../../../functions/src/kernel/errors.ts';

describe('MusterError', () => {
  it('keeps a short message unchanged', () => {
    const error = new MusterError('NOT_FOUND', 'No task "a".', { field: 'task_id', suggestion: 'List them.' });
    assert.equal(error.message, 'No task "a".');
    assert.deepEqual(error.details, { field: 'task_id', suggestion: 'List them.' });
  });

  it('shortens long values within a message, and keeps the end of the sentence', () => {
    const large = 'é😀'.repeat(1_000_000);
    const error = new MusterError('VALIDATION_ERROR', `No role "${large}".`, {
      field: large,
      suggestion: `Not ${large}!`,
    });
    const { field = '', suggestion = '' } = error.details;
    for (const sentence of [error.message, field, suggestion]) {
      assert.ok(sentence.length <= 2000);
      assert.doesNotMatch(sentence, /\p{Surrogate}/u);
    }
    assert.match(error.message, /^No role "é😀.*😀"\.$/u);
    assert.match(suggestion, /^Not .*!$/u);
  });
});
