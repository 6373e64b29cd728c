import assert from 'node:assert/strict';
import { type RestRequest, restErrorOf } from '../../../../functions/src/toolsets/firebase/realtime/transport.ts';

const READ: RestRequest = {
  method: 'GET',
  path: 'shared/scores',
  parameters: { orderBy: '"score"', limitToFirst: '101' },
};
const WRITE: RestRequest = { method: 'PUT', path: 'shared/scores', data: { a: 1 } };
const output = (error: string) => JSON.stringify({ error });

describe('error of the Realtime Database', () => {
  for (const [status, text, request, code, reason] of [
    [401, output('Permission denied'), READ, 'FORBIDDEN', 'PERMISSION_DENIED'],
    [403, '<html>', READ, 'FORBIDDEN', 'PERMISSION_DENIED'],
    [401, output('Permission denied'), { ...READ, path: 'presence/none' }, 'NOT_FOUND', 'NOT_FOUND'],
    [401, output('Permission denied'), { ...READ, path: 'presence' }, 'FORBIDDEN', 'PERMISSION_DENIED'],
    [401, output('Permission denied'), { ...WRITE, path: 'presence/none' }, 'FORBIDDEN', 'PERMISSION_DENIED'],
    [401, output('Auth token is expired'), READ, 'TOKEN_EXPIRED', undefined],
    [400, output('Index not defined, add ".indexOn": "score"'), READ, 'FIREBASE_ERROR', 'MISSING_INDEX'],
    [400, output('Constraint index field must be a JSON primitive'), READ, 'VALIDATION_ERROR', 'VALIDATION_ERROR'],
    [400, output("Invalid data; couldn't parse JSON object"), WRITE, 'INVALID_FORMAT', 'INVALID_DATA_TYPE'],
    [
      400,
      output('Data to write exceeds the maximum size that can be modified with a single request.'),
      WRITE,
      'VALIDATION_ERROR',
      'SIZE_LIMIT_EXCEEDED',
    ],
    [
      400,
      output('The data requested exceeds the maximum size that can be accessed with a single request.'),
      READ,
      'VALIDATION_ERROR',
      'SIZE_LIMIT_EXCEEDED',
    ],
    [413, undefined, READ, 'VALIDATION_ERROR', 'SIZE_LIMIT_EXCEEDED'],
    [412, 'null', WRITE, 'CONFLICT', 'CONFLICT'],
    [402, '', READ, 'QUOTA_EXCEEDED', 'QUOTA_EXCEEDED'],
    [429, '', READ, 'QUOTA_EXCEEDED', 'QUOTA_EXCEEDED'],
    [404, output('404 Not Found'), READ, 'FIREBASE_ERROR', 'CONNECTION_ERROR'],
    [423, output('The Firebase database has been disabled.'), READ, 'FIREBASE_ERROR', 'CONNECTION_ERROR'],
    [500, output('internal'), READ, 'FIREBASE_ERROR', 'CONNECTION_ERROR'],
    [503, '<html>Service Unavailable', WRITE, 'FIREBASE_ERROR', 'CONNECTION_ERROR'],
  ] as const)
    it(`with status ${status} and text ${text?.slice(0, 40)} is reported as ${reason ?? code}`, () => {
      const error = restErrorOf({ status, text }, request);
      assert.deepEqual([error.code, error.details.reason], [code, reason]);
      const shown = [error.message, error.details.suggestion].join();
      assert.ok(text === undefined || text === '' || !shown.includes(text), 'the error quotes the vendor');
    });

  it('contains the missing index, which is derived from the query', () => {
    const missing = { status: 400, text: output('Index not defined') };
    const definition = (orderBy: string) =>
      restErrorOf(missing, { ...READ, parameters: { orderBy } }).details.suggestion ?? '';
    assert.match(definition('"a/b"'), /"\/shared\/scores".*"\.indexOn": \["a\/b"\]$/);
    assert.match(definition('"$value"'), /"\.indexOn": \["\.value"\]$/);
  });
});
