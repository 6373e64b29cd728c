/** The listener that wakes idle sessions of Claude Code, as a process, with the real hub. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { newFolder, removeFolder } from '../../../runner/test/support/folders.ts';
import { close, listen, originOf } from '../../support/listening.ts';
import { registerAgent, type TestAgent } from '../support/agents.ts';
import { succeed } from '../support/calls.ts';
import { type Connection, connect } from '../support/clients.ts';
import { endpointUrl, MCP_URL, newWorkspace, tokenOf } from '../support/endpoint.ts';
import { eventually } from '../support/waiting.ts';

const SCRIPT = new URL('../../../plugins/muster/scripts/listen.mjs', import.meta.url).pathname;

describe('the listener of the plugin for Claude Code', () => {
  const workspace = newWorkspace('listening');
  let home: string;
  let leader: TestAgent;
  let lead: Connection;
  let hub: Server;
  let isAway: boolean;
  const running: ChildProcess[] = [];

  before(async () => {
    leader = await registerAgent('lead', { role: 'leader' });
    lead = await connect('client 2026-07-28', endpointUrl('', { workspace }), leader.token);
    await succeed(lead, 'coordination_init_coordination', { goal: 'Ship it', master_plan: 'Step by step' });
  });
  after(() => lead.close());

  beforeEach(async () => {
    home = newFolder();
    isAway = false;
    hub = createServer((incoming, response) => {
      if (isAway) return void response.writeHead(503).end();
      const { method, headers } = incoming;
      const onward = request(`${new URL(MCP_URL).origin}${incoming.url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      incoming.pipe(onward);
    });
    await listen(hub);
  });
  afterEach(async () => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
    await close(hub);
    removeFolder(home);
  });

  /** Starts a listener, and returns the process and the lines that it has printed. */
  function listening(token: string, more: NodeJS.ProcessEnv = {}) {
    const { pathname } = new URL(MCP_URL);
    const env = {
      PATH: process.env['PATH'],
      TMPDIR: home,
      MUSTER_URL: `${originOf(hub)}${pathname}?workspace=${workspace}`,
      MUSTER_TOKEN: token,
      ...more,
    };
    const child = spawn(process.execPath, [SCRIPT], { env });
    running.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    const lines = () => output.split('\n').slice(0, -1);
    return {
      child,
      lines,
      shows: (what: string) => eventually(what, async () => lines().find((one) => one.includes(what))),
    };
  }

  const send = (agent: TestAgent, message: string, by = lead) =>
    succeed(by, 'coordination_message_agent', { agent_id: agent.id, message });

  /** Registers an agent as a worker of the workspace. */
  async function worker(capability: string): Promise<{ agent: TestAgent; tools: Connection }> {
    const agent = await registerAgent('idle', { capabilities: [capability] });
    const tools = await connect('client 2026-07-28', endpointUrl('', { workspace }), agent.token);
    await succeed(tools, 'coordination_register_agent', {
      agent_id: agent.id,
      role: 'worker',
      capabilities: [capability],
    });
    return { agent, tools };
  }

  it('prints one line for a message, which stays unread until the agent confirms it', async () => {
    const { agent, tools } = await worker('none');
    const listener = listening(agent.token);
    await send(agent, 'Stop\n"now"');
    const line = await listener.shows('Message from');
    assert.ok(line.includes(`Message from "${leader.id}": "Stop \\"now\\""`), line);
    const { messages } = await succeed(tools, 'coordination_heartbeat', { agent_id: agent.id });
    assert.ok(line.includes(JSON.stringify(Object(messages)[0].id)), line);
    await tools.close();
    assert.equal(listener.lines().length, 1);
  });

  it('prints a line for the answer to a question, without the answer', async () => {
    const { agent, tools } = await worker('none');
    const listener = listening(agent.token);
    const { request_id } = await succeed(tools, 'inbox_ask', { kind: 'text', question: 'Which?' });
    const inbox = await connect('client 2026-07-28', endpointUrl('', { workspace }), await tokenOf('person'));
    await succeed(inbox, 'inbox_answer', { request_id, answer: 'The secret one' });
    const line = await listener.shows(`inbox_wait {"request_id":"${request_id}"}`);
    assert.doesNotMatch(line, /secret/);
    await Promise.all([inbox.close(), tools.close()]);
    assert.equal(listener.lines().length, 1);
  });

  it('prints a line for a task that the agent can claim, and none for other tasks', async () => {
    const { agent, tools } = await worker('rust');
    const listener = listening(agent.token);
    await succeed(lead, 'coordination_create_task', { description: 'For others', required_capabilities: ['cobol'] });
    await succeed(lead, 'coordination_create_task', { description: 'Port it', required_capabilities: ['rust'] });
    const line = await listener.shows('can be claimed');
    assert.match(line, /"Port it".*coordination_claim_task \{"agent_id":"[^"]+","start":true\}/);
    assert.doesNotMatch(line, /For others/);
    await tools.close();
    assert.equal(listener.lines().length, 1);
  });

  it('prints all messages that arrived during an outage of the hub in one line', async () => {
    const { agent, tools } = await worker('none');
    isAway = true;
    const listener = listening(agent.token);
    for (let sent = 0; sent < 20; sent++) await send(agent, `Number ${sent}.`);
    isAway = false;
    const line = await listener.shows('Message from');
    for (let sent = 0; sent < 20; sent++) assert.ok(line.includes(`"Number ${sent}."`) || line.includes('more.'), line);
    await tools.close();
    assert.equal(listener.lines().length, 1);
  });

  it('wakes one of two sessions, and the other one after the first has ended', async () => {
    const { agent, tools } = await worker('none');
    const [one, other] = [listening(agent.token), listening(agent.token)];
    await send(agent, 'First');
    const first = await eventually('a line', async () => [one, other].find(({ lines }) => lines().length > 0));
    const second = first === one ? other : one;
    // A session that is killed before it has noted the line leaves it to the next one.
    await eventually('the line is noted', async () => isNoted(home) || undefined);
    first.child.kill('SIGKILL');
    await once(first.child, 'close');
    const seeded = await connect('client 2026-07-28', endpointUrl('', { workspace }), await tokenOf('leader'));
    await send(agent, 'Second', seeded);
    assert.doesNotMatch(await second.shows('Second'), /First/);
    await Promise.all([seeded.close(), tools.close()]);
    assert.deepEqual([first.lines().length, second.lines().length], [1, 1]);
  });

  it('stays silent while it is switched off, and ends only when Claude Code has ended', async () => {
    const { agent, tools } = await worker('none');
    const claude = spawn('sleep', ['600']);
    running.push(claude);
    const off = [{ MUSTER_WAKE: '0' }, { MUSTER_TOKEN: '' }, { MUSTER_TOKEN: 'not.one' }, { MUSTER_URL: 'x' }];
    const silent = off.map((more) => listening(agent.token, { ...more, CLAUDE_PID: String(claude.pid) }));
    const awake = listening(agent.token, { CLAUDE_PID: String(claude.pid) });
    await send(agent, 'Hello');
    await awake.shows('Hello');
    await tools.close();
    assert.deepEqual(
      silent.map(({ child, lines }) => [child.exitCode, lines()]),
      off.map(() => [null, []]),
    );
    const ended = [...silent, awake].map(({ child }) => once(child, 'close'));
    claude.kill('SIGKILL');
    await Promise.all(ended);
    assert.deepEqual(
      silent.map(({ lines }) => lines()),
      off.map(() => []),
    );
  });
});

/** Returns whether a listener has noted on disk that it printed a line. */
function isNoted(folder: string): boolean {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.some((file) => /wake-[^.]*$/.test(file) && readFileSync(`${folder}/${file}`, 'utf8').length > 2);
}
