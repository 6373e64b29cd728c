import assert from 'node:assert/strict';
import type { Json } from '../src/redaction.ts';
import { parseTaskConfig } from '../src/task/config.ts';
import { AttemptFailure } from '../src/task/failure.ts';
import { unsafeRules } from '../src/task/permissions.ts';

const refusal = (config: Json): AttemptFailure | undefined => {
  try {
    parseTaskConfig(config, { unsafe: false });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof AttemptFailure);
    return error;
  }
};

describe("parsing a task's config", () => {
  it('sets defaults, and ignores unknown keys', () => {
    assert.deepEqual(parseTaskConfig({ queueSeconds: 60 }, { unsafe: false }), { allowedTools: [], queueSeconds: 60 });
  });

  it('accepts a pull request as true or as an object', () => {
    assert.deepEqual(parseTaskConfig({ pullRequest: true }, { unsafe: false }).pullRequest, { draft: false });
    assert.equal(parseTaskConfig({ pullRequest: false }, { unsafe: false }).pullRequest, undefined);
    const wish = { title: 'T', base: 'main', draft: true };
    assert.deepEqual(parseTaskConfig({ pullRequest: wish }, { unsafe: false }).pullRequest, wish);
  });

  it('rejects values that would become options of a command line', () => {
    for (const config of [
      { base: '--upload-pack=x' },
      { model: '-x' },
      { allowedTools: ['--dangerously-skip-permissions'] },
    ])
      assert.match(refusal(config)?.message ?? '', /^config\.\w+.*must not begin with/, JSON.stringify(config));
    assert.equal(refusal({ model: '-x' })?.retryable, false);
  });

  it('allows a whole shell only if the runner was started with --unsafe', () => {
    const config = { allowedTools: ['Bash'] };
    assert.match(refusal(config)?.message ?? '', /Bash: allowed only by a runner started with --unsafe/);
    assert.deepEqual(parseTaskConfig(config, { unsafe: true }).allowedTools, ['Bash']);
  });

  it('distinguishes rules for a whole shell from rules for one command', () => {
    const harmless = [
      'Bash(npm test)',
      'Bash(git log:*)',
      'Read',
      'run_shell_command(npm test)',
      'mcp__x__y',
      'Bash(bash scripts/test.sh)',
      'Bash(env CI=1 npm test)',
      'Bash(shellcheck *)',
      'run_shell_command(sh -n build.sh)',
    ];
    const whole = [
      'Bash',
      'bash',
      'Bash()',
      'Bash(*)',
      'Bash(:*)',
      'Bash( * )',
      '*',
      'mcp__*',
      'run_shell_command',
      'ShellTool',
      'Bash(bash:*)',
      'Bash(sh -c *)',
      'Bash(/bin/bash *)',
      'Bash(sudo -n env A=1 zsh -c:*)',
      'run_shell_command(bash)',
      'run_shell_command(eval)',
      'Bash(ls) Bash',
      'Bash(ls), Bash',
    ];
    assert.deepEqual(unsafeRules([...harmless, ...whole]), whole);
  });
});
