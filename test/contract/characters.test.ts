/** Length limits of text arguments count characters in the same way as `maxLength` of JSON Schema. */
import assert from 'node:assert/strict';
import { entries } from './catalog.ts';
import { outcomeOf, placesIn, recordOf, sampleOf, withAt } from './places.ts';

/** Length in characters that exceeds every limit, including the byte limits that are checked after the others. */
const LONG = 3_000_000;
const WIDE = '\u{1f600}';

const limits = entries.flatMap(({ name, tool, input }) => {
  const full = { ...recordOf(sampleOf(input)), ...tool.example };
  return placesIn(input, full).flatMap(({ path, schema }) => {
    if (schema['type'] !== 'string' || schema['enum'] !== undefined) return [];
    const messageOf = (text: string) => String(recordOf(outcomeOf(tool, withAt(full, path, text)))['message'] ?? '');
    // Another part of a sample may be invalid, so the tests consider only errors about the tested argument.
    const saidOf = (text: string) =>
      messageOf(text)
        .split('Argument "')
        .find((one) => one.startsWith(`${path.join('.')}"`)) ?? '';
    const max = Number(/(\d+) characters/.exec(saidOf('a'.repeat(LONG)))?.[1]);
    return Number.isNaN(max) || saidOf(WIDE) !== '' ? [] : [{ label: `${name} ${path.join('.')}`, max, saidOf }];
  });
});

describe('limits in characters', () => {
  it('exist for each argument of the expected list', () => {
    const labels = limits.map(({ label }) => label);
    assert.ok(limits.length > 40, `only ${limits.length}`);
    for (const wanted of [
      'todo.add_task title',
      'inbox.ask options.0',
      'github.createIssue title',
      'coding.append_logs entries.0.message',
    ])
      assert.ok(labels.includes(wanted), `${wanted} is not in ${labels.join(', ')}`);
  });

  for (const { label, max, saidOf } of limits)
    it(`count characters, not UTF-16 units or bytes: ${label}`, () => {
      assert.equal(saidOf(WIDE.repeat(max)), '');
      assert.match(saidOf(WIDE.repeat(max + 1)), /characters/);
    });
});
