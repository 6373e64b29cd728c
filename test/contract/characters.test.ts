/** Limits in characters count like `maxLength` of JSON Schema. */
import assert from 'node:assert/strict';
import { entries } from './catalog.ts';
import { outcomeOf, placesIn, recordOf, sampleOf, withAt } from './places.ts';

/** Longer than every limit, including the byte limits that follow. */
const LONG = 3_000_000;

const WIDE = '\u{1f600}';

const limits = entries.flatMap(({ name, tool, input }) => {
  const full = { ...recordOf(sampleOf(input)), ...tool.example };
  return placesIn(input, full).flatMap(({ path, schema }) => {
    if (schema['type'] !== 'string' || schema['enum'] !== undefined) return [];
    const messageOf = (text: string) => String(recordOf(outcomeOf(tool, withAt(full, path, text)))['message'] ?? '');
    // A sample may be invalid elsewhere: only errors of this argument count.
    const saidOf = (text: string) =>
      messageOf(text)
        .split('Argument "')
        .find((one) => one.startsWith(`${path.join('.')}"`)) ?? '';
    const most = Number(/(\d+) characters/.exec(saidOf('a'.repeat(LONG)))?.[1]);
    return Number.isNaN(most) || saidOf(WIDE) !== '' ? [] : [{ label: `${name} ${path.join('.')}`, most, saidOf }];
  });
});

describe('limits in characters', () => {
  it('exist for the expected arguments', () => {
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

  for (const { label, most, saidOf } of limits)
    it(`count characters: ${label}`, () => {
      assert.equal(saidOf(WIDE.repeat(most)), '');
      assert.match(saidOf(WIDE.repeat(most + 1)), /characters/);
    });
});
