import assert from 'node:assert/strict';
import { UsageError } from '../../../scripts/operator/deployment.ts';
import { rebuildUsage } from '../../../scripts/operator/usages.mjs';
import { parseCommand } from '../../../scripts/rebuild/arguments.ts';

describe('command line of npm run rebuild', () => {
  it("names the data to rebuild, and that data's dependencies are rebuilt first", () => {
    const { kinds, options } = parseCommand(['queue', 'presence', '--dry-run', '--project', 'demo']);
    assert.deepEqual(kinds, ['presence', 'queue']);
    assert.equal(options['dry-run'], true);
  });

  it('is rejected with an error if an argument is invalid', () => {
    const cases: [string[], RegExp][] = [
      [[], /^Specify what to rebuild: queue, files, counters, presence or access\.$/],
      [['queues'], /^Unknown kind "queues"/],
      [['queue', '--database-url', 'here'], /^--database-url: a URL$/],
      [['queue', '--dry'], /--dry/],
    ];
    for (const [args, message] of cases)
      assert.throws(
        () => parseCommand(args),
        (error) => error instanceof UsageError && message.test(error.message),
        args.join(' '),
      );
    assert.ok(!rebuildUsage.includes('\n'));
  });
});
