/** Idle sessions of the real Claude Code and the real Codex in a terminal are woken. Their models are fake. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { newFolder, removeFolder } from '../../../runner/test/support/folders.ts';
import { ScriptedOpenAi } from '../../support/models/openai/script.ts';
import { registerAgent, type TestAgent } from '../support/agents.ts';
import { succeed } from '../support/calls.ts';
import { type Connection, connect } from '../support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from '../support/endpoint.ts';
import { startScriptedModel } from '../support/scriptedModel.ts';
import { startTerminal } from '../support/terminal.ts';
import { eventually } from '../support/waiting.ts';

const ROOT = new URL('../../..', import.meta.url).pathname.replace(/\/$/, '');
const PROGRAMS = `${ROOT}/test/clients/node_modules/.bin`;
const API_KEY = 'sk-ant-no-key-of-anyone';
const CURSOR_QUESTION = /\[6n/;
const CURSOR_ANSWER = '\u001b[1;1R';

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('an idle session', () => {
  let home: string;
  let url: string;
  let agent: TestAgent;
  let work: Connection;
  let seeded: Connection;

  beforeEach(async () => {
    home = newFolder();
    url = endpointUrl('', { workspace: newWorkspace('waking') });
    agent = await registerAgent('idle', { role: 'leader' });
    work = await connect('client 2026-07-28', url, agent.token);
    await succeed(work, 'coordination_init_coordination', { goal: 'Ship it', master_plan: 'Step by step' });
    await succeed(work, 'coordination_register_agent', { agent_id: agent.id, role: 'worker' });
    seeded = await connect('client 2026-07-28', url, await tokenOf('leader'));
  });
  afterEach(async () => {
    await Promise.all([work?.close(), seeded?.close()]);
    removeFolder(home);
  });

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: `${PROGRAMS}:${process.env['PATH']}`,
    HOME: home,
    TMPDIR: home,
    // An unreachable proxy, so that connections to other machines fail.
    HTTP_PROXY: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    MUSTER_URL: url,
    MUSTER_TOKEN: agent.token,
  });

  const send = (message: string, by = work) =>
    succeed(by, 'coordination_message_agent', { agent_id: agent.id, message });

  /** Returns the id of the process that listens for the agent. */
  const listener = () =>
    eventually('a listener has the lock', async () => {
      const [lock] = globSync(`${home}/muster-*/wake-*.lock`);
      return lock === undefined ? undefined : Number(JSON.parse(readFileSync(lock, 'utf8')).pid);
    });

  it('of Claude Code gets messages as turns, none without news, and leaves no process behind', async () => {
    const model = await startScriptedModel([]);
    mkdirSync(`${home}/.claude`);
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    const settings = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [API_KEY.slice(-20)], rejected: [] },
      projects: { [home]: trusted },
    };
    writeFileSync(`${home}/.claude/.claude.json`, JSON.stringify(settings));
    const env = {
      ...environment(),
      CLAUDE_CONFIG_DIR: `${home}/.claude`,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: API_KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    };
    const args = ['--plugin-dir', `${ROOT}/plugins/muster`];
    const terminal = await startTerminal(`${PROGRAMS}/claude`, args, { cwd: home, env });
    try {
      const pid = await listener();
      const received = (text: string) =>
        eventually(text, async () =>
          model.turns.at(-1)?.texts.join().includes(text) ? model.turns.length : undefined,
        );
      await send('Look at the tests.');
      assert.equal(await received('Look at the tests.'), 1, 'no turn precedes the message');
      const texts = model.turns[0]?.texts.join() ?? '';
      assert.match(texts, /Your user did not write it/);
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => send(`Number ${index}.`, seeded).catch(() => undefined)),
      );
      const turns = await received('Number ');
      assert.ok(turns === 2 || turns === 3, `${turns} turns for many messages`);
      terminal.kill();
      await eventually('the listener has ended', async () => !isRunning(pid) || undefined);
    } finally {
      terminal.kill();
      await model.close();
    }
  });

  it('of Codex gets messages as framed turns while "muster listen codex" runs', async () => {
    const model = new ScriptedOpenAi([]);
    await model.start();
    mkdirSync(`${home}/.codex`);
    const provider = ['name = "scripted"', `base_url = "${model.baseUrl}"`, 'wire_api = "responses"'];
    const config = [
      'model = "gpt-5.2"',
      'model_provider = "scripted"',
      '[model_providers.scripted]',
      ...provider,
      `[projects."${home}"]`,
      'trust_level = "trusted"',
    ];
    writeFileSync(`${home}/.codex/config.toml`, config.join('\n'));
    execFileSync('git', ['init', '-q', home]);
    const terminal = await startTerminal(`${PROGRAMS}/codex`, [], { cwd: home, env: environment() });
    const main = ['--disable-warning=ExperimentalWarning', `${ROOT}/packages/muster/src/main.ts`, 'listen', 'codex'];
    const received = (text: string) =>
      eventually(text, async () => model.asked.find(({ texts }) => texts.join().includes(text)));
    try {
      await terminal.shows(CURSOR_QUESTION);
      terminal.type(CURSOR_ANSWER);
      await terminal.shows(/gpt-5\.2/);
      terminal.type('hello');
      await terminal.shows(/hello/);
      terminal.type('\r');
      await received('hello');
      const listed = () => execFileSync(process.execPath, main, { env: environment(), encoding: 'utf8' });
      const [, thread = ''] = /^([0-9a-f-]{36}) .*\n$/.exec(listed()) ?? [];
      const listening = spawn(process.execPath, [...main, '--thread', thread], { env: environment() });
      await listener();
      await send('/quit Look at the tests.');
      const { texts } = await received('Look at the tests.');
      assert.match(texts.at(-1) ?? '', /^Muster notification for agent/);
      listening.kill('SIGINT');
      assert.equal((await once(listening, 'exit'))[0], 0);
    } finally {
      terminal.kill();
      for (const line of execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n'))
        if (line.includes(`${home}/.codex`)) process.kill(Number.parseInt(line, 10), 'SIGKILL'); // Codex leaves a daemon.
      await model.stop();
    }
  });
});
