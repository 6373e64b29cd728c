import assert from 'node:assert/strict';
import { UsageError } from '../../../scripts/operator/deployment.ts';
import { parseCommand, USAGE } from '../../../scripts/rebuild/arguments.ts';

describe('a command line of npm run rebuild', () => {
  it('names what is made again, which is done in the order in which it is needed', () => {
    const { kinds, options } = parseCommand(['queue', 'presence', '--dry-run', '--project', 'demo']);
    assert.deepEqual(kinds, ['presence', 'queue']);
    assert.equal(options['dry-run'], true);
  });

  it('is followed no further where something is wrong with it', () => {
    const cases: [string[], RegExp][] = [
      [[], /^What is to be made again: queue, counters, presence or access\?$/],
      [['queues'], /^What is "queues"\?$/],
      [['queue', '--database-url', 'here'], /^--database-url: a URL$/],
      [['queue', '--dry'], /--dry/],
    ];
    for (const [args, message] of cases)
      assert.throws(
        () => parseCommand(args),
        (error) => error instanceof UsageError && message.test(error.message),
        args.join(' '),
      );
    assert.ok(!USAGE.includes('\n'));
  });
});
