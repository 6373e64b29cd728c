/** Each tool's validation either accepts hostile arguments or rejects them with a short message. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import { inRuns } from '../support/properties.ts';
import { entries } from './catalog.ts';

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.constantFrom<unknown>(
    '../../etc/passwd',
    '__proto__',
    'constructor',
    '\0',
    '\ud800',
    '\u202e\u0007',
    'x'.repeat(1_000_000),
    1e308,
    -1,
    0.1,
    Number.MAX_SAFE_INTEGER + 1,
    Array.from({ length: 10_000 }, () => 'a'),
    JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`),
    JSON.parse('{"__proto__":{"role":"admin"}}'),
  ),
);

/** Limit of processor time, which other processes do not affect, unlike elapsed time. */
const MAX_CPU_MS = 2000;

for (const { name, tool } of entries)
  describe(`${name} given hostile arguments`, () => {
    const known = Object.keys(tool.input.shape);

    it(`${name} quickly accepts hostile arguments, or rejects them with a short message`, () => {
      const names = fc.oneof(fc.constantFrom(...known, '__proto__', 'toString'), fc.string());
      inRuns(100).forAll(fc.array(fc.tuple(names, value), { maxLength: 4 }), fc.boolean(), (members, complete) => {
        const raw = Object.fromEntries([...(complete ? Object.entries(tool.example) : []), ...members]);
        const began = process.cpuUsage();
        try {
          tool.prepare(raw);
        } catch (error) {
          assert.ok(error instanceof MusterError, String(error));
          assert.ok(['VALIDATION_ERROR', 'REQUIRED_FIELD', 'INVALID_FORMAT'].includes(error.code), error.code);
          assert.ok(error.message.length < 4000 && error.message.length > 5);
        }
        const { user, system } = process.cpuUsage(began);
        assert.ok((user + system) / 1000 < MAX_CPU_MS);
      });
    });
  });
