/** The real programs install the plugin for Claude Code and the extension for Gemini CLI from this clone. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { VERSION } from '../../../functions/src/config.ts';
import { newFolder, removeFolder } from '../../../runner/test/support/folders.ts';
import { close, listen, originOf } from '../../support/listening.ts';
import { registerAgent, type TestAgent } from '../support/agents.ts';
import { succeed } from '../support/calls.ts';
import { connect } from '../support/clients.ts';
import { endpointUrl, newWorkspace } from '../support/endpoint.ts';
import { eventually } from '../support/waiting.ts';

const ROOT = new URL('../../..', import.meta.url).pathname.replace(/\/$/, '');
const PROGRAMS = `${ROOT}/test/clients/node_modules/.bin`;
const execute = promisify(execFile);

describe('the plugin for coding agents', () => {
  const workspace = newWorkspace('plugin');
  const url = endpointUrl('', { workspace });
  let home: string;
  let worker: TestAgent;

  before(async () => {
    home = newFolder();
    worker = await registerAgent('plugged');
    mkdirSync(`${home}/.gemini`);
    const trusting = { security: { folderTrust: { enabled: false } } };
    writeFileSync(`${home}/.gemini/settings.json`, JSON.stringify(trusting));
  });
  after(() => removeFolder(home));

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: home,
    TMPDIR: home,
    CLAUDE_CONFIG_DIR: `${home}/.claude`,
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    MCP_TIMEOUT: '60000',
    HTTP_PROXY: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    MUSTER_URL: url,
    MUSTER_TOKEN: worker.token,
  });

  const claude = async (...args: readonly string[]): Promise<string> =>
    (await execute(`${PROGRAMS}/claude`, [...args], { cwd: home, env: environment() })).stdout;

  it("passes Claude Code's strict validation, as a plugin and as a marketplace", async () => {
    for (const path of [ROOT, `${ROOT}/plugins/muster`])
      assert.match(await claude('plugin', 'validate', '--strict', path), /Validation passed/);
  });

  it('can be installed by Claude Code from a clone, and then connects Claude Code to the hub', async () => {
    await claude('plugin', 'marketplace', 'add', ROOT);
    await claude('plugin', 'install', 'muster@muster');
    const details = await claude('plugin', 'details', 'muster');
    for (const name of ['lead', 'work', 'delegate', 'review', 'inbox', 'next', 'SessionStart', 'MCP servers (1)'])
      assert.ok(details.includes(name), details);
    const listed = await claude('mcp', 'list');
    assert.match(listed, /plugin:muster:muster: .* Connected/);
    assert.ok(!listed.includes(worker.token));
  });

  it('can be installed by Gemini CLI from a clone, as an extension', async () => {
    const gemini = async (...args: readonly string[]) => {
      const { stdout, stderr } = await execute(`${PROGRAMS}/gemini`, ['extensions', ...args], {
        cwd: home,
        env: environment(),
      });
      return stdout + stderr;
    };
    await gemini('validate', `${ROOT}/plugins/muster`);
    await gemini('install', '--consent', '--skip-settings', `${ROOT}/plugins/muster`);
    const listed = await gemini('list');
    for (const wanted of [`muster (${VERSION})`, 'GEMINI.md', 'lead:', 'work:', 'delegate:', 'review:'])
      assert.ok(listed.includes(wanted), listed);
  });

  describe('the hook of the plugin for Claude Code', () => {
    const session = randomUUID();
    let received: Server;
    /** Successful calls that the hook made, each as method and agent id. */
    const done: string[] = [];

    before(async () => {
      const client = await connect('client 2026-07-28', url, worker.token);
      await succeed(client, 'coordination_register_agent', { agent_id: worker.id, role: 'worker' });
      await succeed(client, 'inbox_ask', { kind: 'text', question: `Ship\u001b[2J ${session}?` });
      await succeed(client, 'inbox_ask', { kind: 'text', question: `${'a'.repeat(199)}\u{1f680} and more` });
      await client.close();
      received = createServer(async (request, response) => {
        const body = await text(request);
        const { authorization = '' } = request.headers;
        const headers = { authorization, 'Content-Type': 'application/json' };
        const answer: unknown = await (
          await fetch(endpointUrl('/rpc', { workspace }), { method: 'POST', headers, body })
        ).json();
        const { method, params } = JSON.parse(body);
        if (JSON.stringify(answer).includes('"result"')) done.push(`${method} ${params.agent_id ?? ''}`);
        response.end(JSON.stringify(answer));
      });
      await listen(received);
    });
    after(() => close(received));

    /** Runs the hook with an event of Claude Code, and returns the hook's output. */
    async function hear(event: Readonly<Record<string, unknown>>, token = worker.token): Promise<string> {
      const env = {
        ...environment(),
        MUSTER_URL: `${originOf(received)}/mcp`,
        MUSTER_TOKEN: token,
        MUSTER_BEAT_SECONDS: '0.1',
      };
      const running = execute(process.execPath, [`${ROOT}/plugins/muster/scripts/pulse.mjs`], { env });
      running.child.stdin?.end(JSON.stringify({ session_id: session, ...event }));
      return (await running).stdout;
    }

    it("sends heartbeats for the session's agents from each prompt until the model stops", async () => {
      await hear({ hook_event_name: 'UserPromptSubmit' });
      assert.deepEqual(done, []);
      await hear({
        hook_event_name: 'PreToolUse',
        tool_name: 'mcp__plugin_muster_muster__coordination_claim_task',
        tool_input: { agent_id: worker.id },
      });
      const beats = () => done.filter((call) => call === `coordination.heartbeat ${worker.id}`).length;
      await eventually('the hook sends two heartbeats', async () => beats() >= 2 || undefined);
      await hear({ hook_event_name: 'Stop' });
      await hear({ hook_event_name: 'SessionEnd' });
    });

    it('shows open questions at the start of a session, without their control characters', async () => {
      const { systemMessage } = JSON.parse(await hear({ hook_event_name: 'SessionStart' }));
      assert.ok(systemMessage.includes(`- Ship [2J ${session}?`), systemMessage);
    });

    it('truncates a long question without splitting a character', async () => {
      const { systemMessage } = JSON.parse(await hear({ hook_event_name: 'SessionStart' }));
      assert.ok(systemMessage.split('\n').includes(`- ${'a'.repeat(199)}`), systemMessage);
    });

    it('prints nothing if the credential is missing or invalid', async () => {
      assert.equal(await hear({ hook_event_name: 'SessionStart' }, ''), '');
      assert.equal(await hear({ hook_event_name: 'SessionStart' }, 'not.one'), '');
    });
  });
});
