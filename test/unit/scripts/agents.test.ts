import assert from 'node:assert/strict';
import { parseCommand, UsageError } from '../../../scripts/agents/arguments.ts';

describe('a command line of npm run agents', () => {
  it('is followed no further where something is wrong with it', () => {
    const cases: [string[], RegExp][] = [
      [['create', '--project', 'demo'], /needs --name/],
      [['create', '--name', 'x y', '--project', 'demo'], /--name: 3 to 50/],
      [['create', '--name', 'boss', '--role', 'king', '--project', 'demo'], /--role: one of viewer/],
      [['revoke', '--project', 'demo'], /needs the id of an agent/],
      [['revoke', '../agents', '--project', 'demo'], /needs the id of an agent/],
      [['dance'], /create or revoke/],
      [['create', '--name', 'boss', '--colour', 'red'], /--colour/],
    ];
    for (const [args, message] of cases) {
      assert.throws(
        () => parseCommand(args),
        (error) => error instanceof UsageError && message.test(error.message),
        args.join(' '),
      );
    }
  });
});
