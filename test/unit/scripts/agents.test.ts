import assert from 'node:assert/strict';
import { limitsIn, parseCommand } from '../../../scripts/agents/arguments.ts';
import { UsageError } from '../../../scripts/operator/deployment.ts';

describe('command line of npm run agents', () => {
  it('is rejected with an error if an argument is invalid', () => {
    const cases: [string[], RegExp][] = [
      [['create', '--project', 'demo'], /requires --name/],
      [['create', '--name', 'boss', '--project', 'demo'], /requires --owner: the email address or uid/],
      [['create', '--name', 'x y', '--project', 'demo'], /--name must be 3 to 50/],
      [['create', '--name', 'boss', '--role', 'king', '--project', 'demo'], /--role must be one of viewer/],
      [['revoke', '--project', 'demo'], /requires an agent id/],
      [['revoke', '../agents', '--project', 'demo'], /requires an agent id/],
      [['dance'], /set-role or revoke/],
      [['renew', '--project', 'demo'], /requires an agent id/],
      [['set-role', 'boss', '--project', 'demo'], /set-role requires a role/],
      [['set-role', 'boss', 'king', '--project', 'demo'], /set-role requires a role: viewer/],
      [['renew', 'boss', 'again'], /Unexpected argument "again"/],
      [['create', '--name', 'boss', '--toolsets', 'todo,todos'], /--toolsets must be one or more of onboarding/],
      [['create', '--name', 'boss', '--held-to', 'a b'], /--held-to must be 1 to 64/],
      [['create', '--name', 'boss', '--color', 'red'], /--color/],
    ];
    for (const [args, message] of cases)
      assert.throws(
        () => parseCommand(args),
        (error) => error instanceof UsageError && message.test(error.message),
        args.join(' '),
      );
  });

  it('keeps the limits that it does not mention, and removes those that it sets to none', () => {
    const limits = (...args: string[]) => limitsIn(parseCommand(['renew', 'boss', ...args]).options);
    assert.deepEqual(limits(), { toolsets: undefined, held_to: undefined });
    assert.deepEqual(limits('--toolsets', 'todo, system', '--held-to', 'alpha', '--read-only'), {
      toolsets: ['todo', 'system'],
      held_to: 'alpha',
      readonly: true,
    });
    assert.deepEqual(limits('--without-limits'), { toolsets: null, held_to: null, readonly: false });
    assert.deepEqual(limits('--without-limits', '--toolsets', 'todo'), {
      toolsets: ['todo'],
      held_to: null,
      readonly: false,
    });
  });
});
