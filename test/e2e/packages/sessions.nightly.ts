/** Sessions of the real Claude Code with the plugin and the real Gemini CLI with the extension. Models are fake. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { z } from 'zod';
import { newFolder, removeFolder } from '../../../runner/test/support/folders.ts';
import { registerAgent, type TestAgent } from '../support/agents.ts';
import { everyItem, succeed } from '../support/calls.ts';
import { type Connection, connect } from '../support/clients.ts';
import { sweepUntil } from '../support/emulator.ts';
import { endpointUrl, newWorkspace } from '../support/endpoint.ts';
import { startScriptedGemini } from '../support/scriptedGemini.ts';
import { startScriptedModel } from '../support/scriptedModel.ts';
import { eventually } from '../support/waiting.ts';

const ROOT = new URL('../../..', import.meta.url).pathname.replace(/\/$/, '');
const PROGRAMS = `${ROOT}/test/clients/node_modules/.bin`;

/** Longer than 30 seconds, because the hub stores an agent's presence at most every 30 seconds. */
const LEASE_SECONDS = 45;

const claimed = z.object({
  task: z.object({ id: z.string(), claim_epoch: z.number(), lease_expires_at: z.iso.datetime() }),
});

const listed = z.array(z.looseObject({ id: z.string(), status: z.string() }));
const execute = promisify(execFile);

describe('the plugin for coding agents', () => {
  let home: string;
  let url: string;
  let lead: Connection;
  let worker: TestAgent;

  beforeEach(async () => {
    home = newFolder();
    const workspace = newWorkspace('session');
    url = endpointUrl('', { workspace });
    const [leader, other] = await Promise.all([registerAgent('lead', { role: 'leader' }), registerAgent('plugged')]);
    worker = other;
    lead = await connect('client 2026-07-28', endpointUrl('/coordination', { workspace }), leader.token);
    await succeed(lead, 'init_coordination', { goal: 'Ship it', master_plan: 'Step by step' });
    await succeed(lead, 'create_task', { description: 'Write the parser', priority: 1 });
  });
  afterEach(async () => {
    await lead?.close();
    removeFolder(home);
  });

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: home,
    TMPDIR: home,
    // An unreachable proxy, so that connections to other machines fail.
    HTTP_PROXY: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    MUSTER_URL: url,
    MUSTER_TOKEN: worker.token,
  });

  const run = async (program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> => {
    const running = execute(`${PROGRAMS}/${program}`, [...args], { cwd: home, env });
    running.child.stdin?.end();
    const { stdout, stderr } = await running;
    return stdout + stderr;
  };

  const statusOf = async (id: string): Promise<string | undefined> =>
    listed.parse(await everyItem(lead, 'get_all_tasks', 'tasks')).find((task) => task.id === id)?.status;

  it("renews the lease of Claude Code's task by heartbeats of its hook while the model thinks", async () => {
    // Another agent claims a task, but has no hook that renews the lease. The task is released when it expires.
    const bystander = await registerAgent('bystander');
    const claim = async (agent: TestAgent) => {
      const client = await connect('client 2026-07-28', url, agent.token);
      await succeed(client, 'coordination_register_agent', { agent_id: agent.id, role: 'worker' });
      const wish = { agent_id: agent.id, lease_seconds: LEASE_SECONDS };
      const { task } = claimed.parse(await succeed(client, 'coordination_claim_task', wish));
      await client.close();
      return task;
    };
    let seen: string | undefined;
    const tool = (name: string) => `mcp__plugin_muster_muster__coordination_${name}`;
    const model = await startScriptedModel([
      () => ({ tool: tool('register_agent'), input: { agent_id: worker.id, role: 'worker' } }),
      () => ({ tool: tool('claim_task'), input: { agent_id: worker.id, lease_seconds: LEASE_SECONDS } }),
      async (results) => {
        const { task } = claimed.parse(JSON.parse(results[1]?.text ?? '{}'));
        await succeed(lead, 'create_task', { description: 'Test the parser', priority: 2 });
        const other = await claim(bystander);
        await eventually('both leases are over', async () =>
          Date.now() > Date.parse(other.lease_expires_at) ? true : undefined,
        );
        await sweepUntil("the bystander's task is available again", async () =>
          (await statusOf(other.id)) === 'available' ? true : undefined,
        );
        seen = await statusOf(task.id);
        const mine = { agent_id: worker.id, task_id: task.id, claim_epoch: task.claim_epoch };
        return { tool: tool('complete_task'), input: { ...mine, output: 'Written' } };
      },
    ]);
    const env = {
      ...environment(),
      CLAUDE_CONFIG_DIR: `${home}/.claude`,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'sk-ant-no-key-of-anyone',
      MCP_CONNECTION_NONBLOCKING: '0',
      MCP_CONNECT_TIMEOUT_MS: '60000',
      MCP_TIMEOUT: '60000',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      MUSTER_BEAT_SECONDS: '5',
      ENABLE_TOOL_SEARCH: 'false', // Otherwise, requests to the model omit the tools of MCP servers.
    };
    try {
      await run('claude', ['plugin', 'marketplace', 'add', ROOT], env);
      await run('claude', ['plugin', 'install', 'muster@muster'], env);
      const message = await run(
        'claude',
        ['-p', 'Do the next task.', '--allowedTools', 'mcp__plugin_muster_muster'],
        env,
      );
      assert.match(message, /Done\./);
      const results = model.turns.at(-1)?.results ?? [];
      const failed = results.map(({ isError }) => isError);
      assert.deepEqual(failed, [false, false, false], JSON.stringify(results));
      assert.equal(seen, 'claimed', 'the task is still claimed after its first lease');
    } finally {
      await model.close();
    }
  });

  it('lets Gemini CLI register an agent and claim a task through the extension', async () => {
    const model = await startScriptedGemini([
      () => ({ tool: 'mcp_muster_coordination_register_agent', input: { agent_id: worker.id, role: 'worker' } }),
      () => ({ tool: 'mcp_muster_coordination_claim_task', input: { agent_id: worker.id } }),
    ]);
    mkdirSync(`${home}/.gemini`);
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    };
    writeFileSync(`${home}/.gemini/settings.json`, JSON.stringify(settings));
    const env = { ...environment(), GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_API_KEY: 'AIza-no-key-of-anyone' };
    try {
      await run('gemini', ['extensions', 'install', '--consent', '--skip-settings', `${ROOT}/plugins/muster`], env);
      const message = await run('gemini', ['--approval-mode', 'yolo', '-p', 'Claim the next task.'], env);
      assert.match(message, /Done\./);
      const [task] = listed.parse(await everyItem(lead, 'get_all_tasks', 'tasks'));
      assert.deepEqual([task?.status, task?.['claimed_by']], ['claimed', worker.id]);
    } finally {
      await model.close();
    }
  });
});
