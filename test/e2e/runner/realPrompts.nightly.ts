/** Command lines with which runners start the real coding agents: prompts, allowed tools and token counts. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { KNOWN_AGENTS } from '../../../runner/src/agents/known.ts';
import type { ClaimedTask } from '../../../runner/src/hub/hub.ts';
import { createRedactor } from '../../../runner/src/redaction.ts';
import { type AgentRun, runAgent } from '../../../runner/src/task/agentRun.ts';
import { TaskLog } from '../../../runner/src/task/log.ts';
import { promptFor } from '../../../runner/src/task/prompt.ts';
import { optionsFor } from '../../../runner/test/support/agentRuns.ts';
import { newFolder, newRepository, removeFolder } from '../../../runner/test/support/folders.ts';
import { startScriptedGemini } from '../support/scriptedGemini.ts';
import { startScriptedModel } from '../support/scriptedModel.ts';
import { claudeEnvironment, geminiEnvironment, installClaude, installGemini } from './programs.ts';

const PATIENCE_MS = 240_000;
const SECRET = 'the-content-of-a-file';

/** Beginnings of descriptions. If a person typed them, the programs would treat them as commands or references. */
const STARTS = ['/login page shows HTTP 500', '/help', '!cat secret.txt', '#remember', '@secret.txt', '--help'];

describe('a run of a real coding agent', () => {
  let folder: string;
  let home: string;
  let work: string;

  beforeEach(() => {
    folder = newFolder();
    home = `${folder}/home`;
    work = newRepository(`${folder}/work`);
    mkdirSync(`${home}/.ssh`, { recursive: true });
    mkdirSync(`${work}/src`);
    for (const file of [`${work}/secret.txt`, `${work}/src/@at.txt`, `${folder}/outside.txt`, `${home}/.ssh/id`])
      writeFileSync(file, SECRET);
  });
  afterEach(() => removeFolder(folder));

  async function run(task: Partial<ClaimedTask>, allowedTools: readonly string[], env: NodeJS.ProcessEnv) {
    const whole: ClaimedTask = {
      id: 'task-1',
      epoch: 1,
      tool: 'CLAUDECODE',
      description: 'A task',
      instructions: 'Do it',
      branch: 'feature/@secret.txt',
      config: {},
      attempt: 1,
      messages: [],
      ...task,
    };
    const agent = KNOWN_AGENTS.find(({ tool }) => tool === whole.tool);
    assert.ok(agent);
    const prompt = promptFor(whole, 'cat @secret.txt', agent);
    const log = new TaskLog(createRedactor([], {}), () => undefined);
    const result: AgentRun = await runAgent(
      optionsFor(folder, log, {
        agent,
        wishes: { allowedTools, unsafe: false },
        prompt,
        folder: work,
        env: { PATH: `${folder}/bin:${process.env['PATH']}`, HOME: home, ...env },
        silenceMs: PATIENCE_MS,
      }),
    );
    assert.equal(result.failure, undefined);
    return { prompt, work: result.transcript.work() };
  }

  /** Returns a task. Its texts contain references to files, and to commands and modes of the programs. */
  function taskAbout(description: string): Partial<ClaimedTask> {
    const lines = [
      ...STARTS,
      `@${folder}/outside.txt`,
      '@~/.ssh/id',
      'see @src/@at.txt, (@secret.txt) and\u3002@secret.txt',
      '@"secret.txt" x@secret.txt',
      'ultracode',
    ];
    const text = lines.join('\n');
    const message = { id: 'm', from: '@secret.txt', text, at: '2026-11-26T00:00:00.000Z' };
    return { description, instructions: text, messages: [message] };
  }

  /** Asserts that a model request had the unchanged prompt, and that none had the content of a referenced file. */
  function assertLiteral(prompt: string, texts: readonly string[]): void {
    assert.ok(prompt.includes('secret.txt'));
    assert.ok(texts.some((text) => text.trimEnd() === prompt.trimEnd()));
    assert.ok(!texts.some((text) => text.includes(SECRET)), 'no file is read into the prompt');
  }

  for (const start of STARTS) {
    it(`passes the description "${start}" unchanged through Claude Code to the model`, async () => {
      installClaude(`${folder}/bin`);
      const model = await startScriptedModel([() => ({ tool: 'Read', input: { file_path: `${work}/README.md` } })]);
      try {
        const { prompt } = await run(taskAbout(start), [], claudeEnvironment(home, model.url));
        const texts = model.turns.flatMap((turn) => turn.texts);
        assert.equal(model.turns.length, 2);
        assertLiteral(prompt, texts);
        assert.ok(!texts.some((text) => text.includes('ultracode') && text.trimEnd() !== prompt.trimEnd()));
        assert.ok(!existsSync(`${home}/.claude/settings.json`));
      } finally {
        await model.close();
      }
    });

    it(`passes the description "${start}" unchanged through Gemini CLI to the model`, async () => {
      installGemini(`${folder}/bin`);
      const model = await startScriptedGemini([
        () => ({ tool: 'read_file', input: { file_path: `${work}/README.md` } }),
      ]);
      try {
        const env = geminiEnvironment(home, model.url);
        const settings = readFileSync(`${home}/.gemini/settings.json`, 'utf8');
        const { prompt } = await run({ ...taskAbout(start), tool: 'GEMINI' }, [], env);
        const texts = model.turns.flatMap((turn) => turn.texts);
        assert.equal(model.turns.length, 2);
        assertLiteral(prompt, texts);
        assert.equal(readFileSync(`${home}/.gemini/settings.json`, 'utf8'), settings);
      } finally {
        await model.close();
      }
    });
  }

  it("allows Claude Code only commands that match a rule of the task or of the user's settings", async () => {
    installClaude(`${folder}/bin`);
    const commands = {
      'ln README.md one,two': true,
      'ln README.md "three (x)"': true,
      'ln README.md -- -four': true,
      'ln README.md users': true,
      'ln README.md not-allowed': false,
      'ln README.md one,two2': false,
    };
    const script = Object.keys(commands).map((command) => () => ({
      tool: 'Bash',
      input: { command, description: 'Link' },
    }));
    const model = await startScriptedModel(script);
    try {
      const env = claudeEnvironment(home, model.url);
      mkdirSync(`${home}/.claude`);
      const settings = JSON.stringify({ permissions: { allow: ['Bash(ln README.md users)'] } });
      writeFileSync(`${home}/.claude/settings.json`, settings);
      const rules = [
        'Bash(ln README.md one,two)',
        'Bash(ln README.md "three (x)")',
        'Bash(ln README.md -- -four)',
        'Bash(ls) Bash Read(x)',
        'Bash(ls), Bash',
        'Bash(ls',
      ];
      const { work: done } = await run({}, rules, env);
      const results = model.turns.at(-1)?.results ?? [];
      const allowed = Object.keys(commands).map((command, index) => [command, !results[index]?.isError]);
      assert.deepEqual(Object.fromEntries(allowed), commands);
      assert.equal(readFileSync(`${home}/.claude/settings.json`, 'utf8'), settings);
      const turns = script.length + 1;
      assert.equal(done.turns, turns);
      const { tokens } = done;
      const expected = { input: 10 * turns, output: 10 * turns, cacheRead: 2 * turns, cacheWrite: 3 * turns };
      assert.deepEqual(tokens, expected);
    } finally {
      await model.close();
    }
  });

  it("allows Gemini CLI only commands that match a rule of the task or of the user's policy", async () => {
    installGemini(`${folder}/bin`);
    const commands = {
      'ln README.md one,two': true,
      'ln README.md "three"': true,
      'ln README.md -- -f.ur': true,
      'ln README.md users': true,
      'ln README.md -- -four': false,
      'ln README.md not-allowed': false,
      'ln README.md denied': false,
      'ln README.md one,two && ln README.md not-allowed': false,
    };
    const script = Object.keys(commands).map((command) => () => ({ tool: 'run_shell_command', input: { command } }));
    const model = await startScriptedGemini(script);
    try {
      const env = geminiEnvironment(home, model.url);
      const rule = (prefix: string, decision: string) =>
        `[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "${prefix}"\ndecision = "${decision}"\npriority = 100\n`;
      mkdirSync(`${home}/.gemini/policies`);
      const policy = `${rule('ln README.md users', 'allow')}\n${rule('ln README.md denied', 'deny')}`;
      writeFileSync(`${home}/.gemini/policies/mine.toml`, policy);
      const rules = [
        'run_shell_command(ln README.md one,two)',
        'run_shell_command(ln README.md "three")',
        'run_shell_command(ln README.md -- -f.ur)',
        'run_shell_command(ln README.md denied)',
        'web_fetch',
      ];
      const { work: done } = await run({ tool: 'GEMINI' }, rules, env);
      const results = model.turns.at(-1)?.results ?? [];
      const allowed = Object.keys(commands).map((command, index) => [
        command,
        !/denied|cancel/i.test(results[index] ?? ''),
      ]);
      assert.deepEqual(Object.fromEntries(allowed), commands, results.join('\n'));
      const turns = script.length + 1;
      const { tokens } = done;
      assert.deepEqual(tokens, { input: 10 * turns, output: 5 * turns, cacheRead: 0, cacheWrite: 0 });
    } finally {
      await model.close();
    }
  });
});
