/** Every limit that a tool states in characters counts them as the `maxLength` of JSON Schema does. */
import assert from 'node:assert/strict';
import { entries } from './catalogue.ts';
import { outcomeOf, placesIn, recordOf, sampleOf, withAt } from './places.ts';

/** Longer than every limit, and than every bound of bytes behind one. */
const LONG = 3_000_000;

const WIDE = '\u{1f600}';

const limits = entries.flatMap(({ name, tool, input }) => {
  const full = { ...recordOf(sampleOf(input)), ...tool.example };
  return placesIn(input, full).flatMap(({ path, schema }) => {
    if (schema['type'] !== 'string' || schema['enum'] !== undefined) return [];
    const messageOf = (text: string) =>
      String(recordOf(outcomeOf(tool, withAt(full, path, text)))['message'] ?? '');
    // A sample may be wrong elsewhere: only what is said of this place counts.
    const saidOf = (text: string) =>
      messageOf(text)
        .split('Argument "')
        .find((one) => one.startsWith(`${path.join('.')}"`)) ?? '';
    const most = Number(/(\d+) characters/.exec(saidOf('a'.repeat(LONG)))?.[1]);
    return Number.isNaN(most) || saidOf(WIDE) !== ''
      ? []
      : [{ label: `${name} ${path.join('.')}`, most, saidOf }];
  });
});

describe('limits in characters', () => {
  it('are found among the arguments', () => {
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
