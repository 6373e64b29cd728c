/** Policy files that the runner writes for Gemini CLI. The nightly run passes such files to the real program. */
import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gemini } from '../src/clis/gemini.ts';
import { policyOf, writePolicies } from '../src/clis/geminiPolicy.ts';
import { AttemptFailure } from '../src/task/failure.ts';
import { newFolder, removeFolder } from './support/folders.ts';

describe('the policy file for Gemini CLI', () => {
  let folder: string;
  let place: { folder: string; env: NodeJS.ProcessEnv };

  beforeEach(() => {
    folder = newFolder();
    mkdirSync(`${folder}/home/.gemini`, { recursive: true });
    mkdirSync(`${folder}/work/.gemini`, { recursive: true });
    const env = { HOME: `${folder}/home`, GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${folder}/system/settings.json` };
    place = { folder: `${folder}/work`, env };
  });
  afterEach(() => removeFolder(folder));

  it('contains a rule for each allowed tool, even if its command has special characters', () => {
    const rule = (...lines: readonly string[]) =>
      `${['[[rule]]', ...lines, 'decision = "allow"', 'priority = 0'].join('\n')}\n`;
    const shell = 'toolName = "run_shell_command"';
    assert.equal(
      policyOf([
        'run_shell_command(npm test)',
        'run_shell_command(git log --format=%h,%s)',
        String.raw`ShellTool( grep -E "a\.b (c)" )`,
        'run_shell_command(-x \x7f)',
        'web_fetch',
        'run_shell_command',
      ]),
      [
        rule(shell, 'commandPrefix = "npm test"'),
        rule(shell, 'commandPrefix = "git log --format=%h,%s"'),
        rule(shell, String.raw`commandPrefix = "grep -E \"a\\.b (c)\""`),
        rule(shell, String.raw`commandPrefix = "-x \u007f"`),
        rule('toolName = "web_fetch"'),
        rule(shell),
      ].join('\n'),
    );
  });

  it('cannot be written for a tool with an argument that Gemini CLI would ignore', () =>
    assert.throws(
      () => policyOf(['write_file(src/a.ts)']),
      (error) => error instanceof AttemptFailure && !error.retryable && /write_file\(src/.test(error.message),
    ));

  it('is private, is in a temporary folder, and is deleted after the run', () => {
    const { args, dispose } = gemini.prepare({ model: undefined, allowedTools: ['web_fetch'], unsafe: false }, place);
    const [own = ''] = args.filter((arg) => arg.startsWith('--policy=')).map((arg) => arg.slice(9));
    assert.equal(statSync(own).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(own)).mode & 0o777, 0o700);
    assert.ok(!own.startsWith(folder));
    assert.ok(!args.includes('--allowed-tools'));
    dispose();
    assert.ok(!existsSync(dirname(own)));
  });

  it('is not written if no tool is allowed', () => assert.deepEqual(writePolicies([], place).paths, []));

  /** Returns the real paths of the user's policies, which Gemini CLI loads in addition to the runner's policies. */
  function usersPolicies(): readonly string[] {
    const { paths, remove } = writePolicies(['web_fetch'], place);
    try {
      return paths.slice(1).map((path) => {
        assert.ok(lstatSync(path).isSymbolicLink());
        assert.ok(!path.includes(','));
        return realpathSync(path);
      });
    } finally {
      remove();
    }
  }

  it("is loaded together with the policies in the user's folder", () => {
    const policies = `${folder}/home/.gemini/policies`;
    mkdirSync(policies);
    writeFileSync(`${policies}/mine.toml`, '');
    assert.deepEqual(usersPolicies(), [policies]);
    assert.ok(existsSync(`${policies}/mine.toml`));
  });

  it('is loaded together with the policies that settings files name', () => {
    const policies = ['home/a,b.toml', 'home/more', 'work/own.toml', 'system.toml'].map((name) => `${folder}/${name}`);
    const [user, more, work, system] = policies;
    for (const file of [user, work, system]) writeFileSync(String(file), '');
    mkdirSync(String(more));
    const text = `{ // mine: "x"\n "policyPaths": ["~/a,b.toml", "\${MORE}/more"] /* end */ }`;
    writeFileSync(`${folder}/home/.gemini/settings.json`, text);
    writeFileSync(`${folder}/work/.gemini/settings.json`, '{"policyPaths": ["own.toml", "~/a,b.toml"]}');
    mkdirSync(`${folder}/system`);
    writeFileSync(`${folder}/system/settings.json`, JSON.stringify({ policyPaths: [system] }));
    writeFileSync(`${folder}/system/system-defaults.json`, 'not JSON');
    place.env['MORE'] = `${folder}/home`;
    assert.deepEqual(usersPolicies(), policies);
    assert.equal(readFileSync(`${folder}/home/.gemini/settings.json`, 'utf8'), text);
  });
});
