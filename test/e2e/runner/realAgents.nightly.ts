/** The real coding agents, with scripted models, do the task of the create_task example in the specification. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { git, newRepository } from '../../../runner/test/support/folders.ts';
import { succeed } from '../support/calls.ts';
import { type Connection, connect, isRecord } from '../support/clients.ts';
import { startScriptedGemini } from '../support/scriptedGemini.ts';
import { startScriptedModel } from '../support/scriptedModel.ts';
import { contentOf } from './contents.ts';
import { RunnerFixture } from './fixture.ts';
import {
  AUTH_SOURCE,
  claudeEnvironment,
  claudeSteps,
  geminiEnvironment,
  installClaude,
  installGemini,
} from './programs.ts';

describe('a runner with real coding agents', () => {
  let fixture: RunnerFixture;
  let worktrees: string;

  beforeEach(async () => {
    fixture = await RunnerFixture.open('agents');
    worktrees = `${fixture.folder}/worktrees`;
  });
  afterEach(() => fixture?.close());

  /** Returns the folder of the task's worktree, which exists only while the task runs. */
  function worktree(): string {
    return `${worktrees}/${readdirSync(worktrees)[0]}`;
  }

  it("does a task with Claude Code on the task's branch, and viewers can read log and result", async () => {
    const model = await startScriptedModel(claudeSteps(worktree));
    try {
      installClaude(fixture.bin);
      const { taskId, branch } = await fixture.createTask({ config: { acceptance: 'test -f src/auth.js' } });
      const runner = fixture.startRunner(['--once', '--worktrees', worktrees], {
        env: claudeEnvironment(fixture.folder, model.url),
      });
      assert.equal(await runner.ended, 0, runner.output());
      assert.equal(git(fixture.repo, 'show', `${branch}:src/auth.js`), AUTH_SOURCE.trim());
      assert.equal(git(fixture.repo, 'show', `${branch}:README.md`), '# Example with login');
      assert.equal(git(fixture.repo, 'rev-parse', '--abbrev-ref', 'HEAD'), 'main');
      assert.equal(git(fixture.repo, 'status', '--porcelain'), '?? notes.txt');
      assert.deepEqual(readdirSync(worktrees), []);

      const { task, result = {} } = await fixture.report(taskId);
      assert.equal(task.status, 'completed');
      const { commits, files, commands, tools, turns, tokens, exit, summary, diffstat, acceptance, head } = result;
      assert.equal(head, git(fixture.repo, 'rev-parse', branch));
      assert.deepEqual(commits, [{ sha: head, subject: 'Add authentication to the app' }]);
      assert.deepEqual(files, [
        { path: 'README.md', insertions: 1, deletions: 1 },
        { path: 'src/auth.js', insertions: 1, deletions: 0 },
      ]);
      assert.deepEqual(diffstat, { files: 2, insertions: 2, deletions: 1 });
      assert.deepEqual(commands, ['git status --short']);
      assert.deepEqual(tools, { Write: 1, Read: 1, Edit: 1, Bash: 1 });
      assert.deepEqual(
        { turns, tokens, exit, summary },
        {
          turns: 5,
          tokens: { input: 50, output: 50, cacheRead: 10, cacheWrite: 15 },
          exit: { code: 0, signal: null },
          summary: 'Done.',
        },
      );
      assert.ok(typeof result['costUsd'] === 'number' && result['costUsd'] > 0);
      assert.ok(isRecord(acceptance) && acceptance['exitCode'] === 0);
      await assertShown(taskId, String(head));
    } finally {
      await model.close();
    }
  });

  async function assertShown(taskId: string, head: string): Promise<void> {
    const viewer = await connect('client 2026-07-28', fixture.url, fixture.agent.token);
    try {
      const logs = await viewer.read(`task://${taskId}/logs`);
      for (const line of ['Write src/auth.js', 'git status --short', 'Done.']) assert.ok(logs.includes(line), logs);
      assert.ok(!logs.includes('sk-ant-'));
      const whole: unknown = JSON.parse(await viewer.read(`task://${taskId}`));
      assert.ok(JSON.stringify(whole).includes('"completed"'));
      const result: unknown = JSON.parse(await viewer.read(`task://${taskId}/result`));
      assert.ok(JSON.stringify(result).includes(head));
    } finally {
      await viewer.close();
    }
  }

  it("does a task with Gemini CLI on the task's branch", async () => {
    const model = await startScriptedGemini([
      () => ({ tool: 'write_file', input: { file_path: `${worktree()}/src/auth.js`, content: AUTH_SOURCE } }),
    ]);
    try {
      installGemini(fixture.bin);
      const { taskId, branch } = await fixture.createTask({ tool: 'GEMINI' });
      const runner = fixture.startRunner(['--task', taskId, '--worktrees', worktrees], {
        env: geminiEnvironment(fixture.folder, model.url),
      });
      assert.equal(await runner.ended, 0, runner.output());
      assert.equal(git(fixture.repo, 'show', `${branch}:src/auth.js`), AUTH_SOURCE.trim());
      const { task, result = {} } = await fixture.report(taskId);
      assert.equal(task.status, 'completed');
      assert.deepEqual(result['tools'], { edit: 1 });
      assert.equal(result['summary'], 'Done.');
      assert.ok(isRecord(result['tokens']) && Number(result['tokens']['input']) > 0);
    } finally {
      await model.close();
    }
  });

  /** Parts of the .git folder that a task in a worktree may change: objects, refs, and files of runners. */
  const SHARED = ['objects', 'refs', 'logs', 'worktrees', 'muster'].map((name) => `.git/${name}`);

  for (const tool of ['CLAUDECODE', 'GEMINI'] as const)
    it(`changes only the branch of the task if ${tool} does it in a nested repository`, async () => {
      const home = newRepository(fixture.folder);
      const outer = newRepository(`${home}/outer`);
      const repo = newRepository(`${outer}/repo`);
      git(repo, 'config', 'user.name', 'Ada');
      const nested = `${home}/.local/state/muster/worktrees`;
      const place = (): string => {
        const [name = ''] = readdirSync(nested);
        return `${nested}/${name}/${readdirSync(`${nested}/${name}`)[0]}`;
      };
      const refsBut = (branch: string): readonly string[] =>
        git(repo, 'for-each-ref')
          .split('\n')
          .filter((line) => !line.endsWith(`refs/heads/${branch}`));
      const isClaude = tool === 'CLAUDECODE';
      const gemini = await startScriptedGemini([
        () => ({ tool: 'write_file', input: { file_path: `${place()}/src/auth.js`, content: AUTH_SOURCE } }),
        () => ({ tool: 'run_shell_command', input: { command: 'git add src' } }),
      ]);
      const claude = await startScriptedModel([
        () => ({ tool: 'Write', input: { file_path: `${place()}/src/auth.js`, content: AUTH_SOURCE } }),
        () => ({ tool: 'Bash', input: { command: 'git add src', description: 'Stage' } }),
      ]);
      try {
        if (isClaude) installClaude(fixture.bin);
        else installGemini(fixture.bin);
        const env = isClaude ? claudeEnvironment(home, claude.url) : geminiEnvironment(home, gemini.url);
        const rule = isClaude ? 'Bash(git add src)' : 'run_shell_command(git add src)';
        const { taskId, branch } = await fixture.createTask({ tool, config: { allowedTools: [rule] } });
        const before = {
          home: contentOf(home, [...AGENT_STATE, '.local', 'outer']),
          outer: contentOf(outer, ['repo']),
          repo: contentOf(repo, SHARED),
          refs: refsBut(branch),
        };
        // Git sets these variables in hooks of the outer repository. With them, git commands use that repository.
        const selecting = { GIT_DIR: `${outer}/.git`, GIT_WORK_TREE: outer, GIT_INDEX_FILE: `${outer}/.git/index` };
        const runner = fixture.startRunner(['--task', taskId], { repo, env: { ...env, ...selecting } });
        assert.equal(await runner.ended, 0, runner.output());
        assert.equal(git(repo, 'show', `${branch}:src/auth.js`), AUTH_SOURCE.trim());
        assert.deepEqual((await fixture.report(taskId)).result?.['commands'], ['git add src']);
        const results = isClaude ? claude.turns.at(-1)?.results.map(({ text }) => text) : gemini.turns.at(-1)?.results;
        assert.equal(results?.length, 2);
        assert.doesNotMatch(results.join('\n'), /fatal/, "the agent's git command failed in the worktree");
        assert.deepEqual(
          {
            home: contentOf(home, [...AGENT_STATE, '.local', 'outer']),
            outer: contentOf(outer, ['repo']),
            repo: contentOf(repo, SHARED),
            refs: refsBut(branch),
          },
          before,
        );
        const left = readdirSync(nested).flatMap((name) => readdirSync(`${nested}/${name}`));
        assert.deepEqual(left, [], 'no worktree is left');
      } finally {
        await Promise.all([claude.close(), gemini.close()]);
      }
    });

  it('is listed as an agent whose capabilities name its coding agents', async () => {
    installClaude(fixture.bin);
    const runner = fixture.startRunner(['--worktrees', worktrees], {
      env: claudeEnvironment(fixture.folder, 'http://127.0.0.1:9'),
    });
    await fixture.untilSaid(runner, /Waiting for tasks/);
    const client = await connect('client 2026-07-28', fixture.url, fixture.agent.token);
    try {
      const own = await agentOf(client, fixture.agent.id);
      assert.match(JSON.stringify(own), /"claude"/);
    } finally {
      await client.close();
    }
    runner.signal('SIGTERM');
    assert.equal(await runner.ended, 0, runner.output());
  });
});

/** Files below the home folder in which coding agents store their own state. */
const AGENT_STATE = ['.claude', '.claude.json', '.gemini', '.cache', '.npm'];

/** Searches all pages of system_getAgents for the agent, and returns it. */
async function agentOf(client: Connection, id: string, cursor?: unknown): Promise<unknown> {
  const { agents, nextCursor } = await succeed(client, 'system_getAgents', cursor ? { cursor } : {});
  assert.ok(Array.isArray(agents));
  const found: unknown = agents.find((agent) => isRecord(agent) && agent['id'] === id);
  return found ?? (nextCursor === undefined ? undefined : agentOf(client, id, nextCursor));
}
