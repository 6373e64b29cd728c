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

describe('parseTaskConfig', () => {
  it('sets defaults for missing keys, and keeps unknown keys', () =>
    assert.deepEqual(parseTaskConfig({ queueSeconds: 60 }, { unsafe: false }), { allowedTools: [], queueSeconds: 60 }));

  it('accepts the key pullRequest as a boolean or as an object', () => {
    assert.deepEqual(parseTaskConfig({ pullRequest: true }, { unsafe: false }).pullRequest, { draft: false });
    assert.equal(parseTaskConfig({ pullRequest: false }, { unsafe: false }).pullRequest, undefined);
    const wish = { title: 'T', base: 'main', draft: true };
    assert.deepEqual(parseTaskConfig({ pullRequest: wish }, { unsafe: false }).pullRequest, wish);
  });

  it('rejects values that a command line would read as options', () => {
    for (const config of [
      { base: '--upload-pack=x' },
      { model: '-x' },
      { allowedTools: ['--dangerously-skip-permissions'] },
    ])
      assert.match(refusal(config)?.message ?? '', /^config\.\w+.*must not begin with/, JSON.stringify(config));
    assert.equal(refusal({ model: '-x' })?.retryable, false);
  });

  it('rejects a rule that allows every shell command, unless --unsafe is set', () => {
    const config = { allowedTools: ['Bash'] };
    assert.match(refusal(config)?.message ?? '', /only a runner started with --unsafe allows Bash\./);
    assert.deepEqual(parseTaskConfig(config, { unsafe: true }).allowedTools, ['Bash']);
  });

  it('distinguishes rules that allow every shell command from rules for one command', () => {
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
