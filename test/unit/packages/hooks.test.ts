/** Hooks of the Claude Code plugin, run as processes. A local hub records the calls of the hooks. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { z } from 'zod';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { agentIn } from '../../../plugins/muster/scripts/agent.mjs';
import { Session } from '../../../plugins/muster/scripts/session.mjs';
import { close, listen, originOf } from '../../support/listening.ts';
import { inRuns } from '../../support/properties.ts';

const SCRIPTS = new URL('../../../plugins/muster/scripts', import.meta.url).pathname;
const TOOL = 'mcp__muster__coordination_claim_task';
const request = z.object({ method: z.string(), params: z.looseObject({ agent_id: z.string().optional() }) });

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !holds(); await delay(20))
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
}

describe('hooks of the Claude Code plugin', () => {
  let temporary: string;
  let hub: Server;
  /** Agent in each heartbeat that the hub has received, oldest first. */
  let beats: (string | undefined)[];

  beforeEach(async () => {
    temporary = mkdtempSync(`${tmpdir()}/muster-hooks-`);
    beats = [];
    hub = createServer(async (asked, response) => {
      const { method, params } = request.parse(JSON.parse(await text(asked)));
      if (method === 'coordination.heartbeat') beats.push(params.agent_id);
      response.end('{"jsonrpc":"2.0","id":1,"result":{}}');
    });
    await listen(hub);
  });
  afterEach(async () => {
    for (const pid of beaters()) process.kill(pid, 'SIGKILL');
    await close(hub);
    rmSync(temporary, { recursive: true, force: true });
  });

  const folder = () => `${temporary}/muster-${process.getuid?.()}`;

  /** Returns the ids of the processes that send heartbeats for the sessions of this test. */
  function beaters(): number[] {
    const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
    return lines.filter((line) => line.includes(`beat.mjs ${folder()}`)).map((line) => Number.parseInt(line, 10));
  }

  function hook(event: Readonly<Record<string, unknown>> | string): Promise<Ended> {
    const env = {
      PATH: process.env['PATH'],
      TMPDIR: temporary,
      MUSTER_TOKEN: 'mk_a.b',
      MUSTER_BEAT_SECONDS: '0.1',
      MUSTER_URL: `${originOf(hub)}/mcp`,
    };
    const child = spawn(process.execPath, [`${SCRIPTS}/pulse.mjs`], { env });
    child.stdin.end(typeof event === 'string' ? event : JSON.stringify({ session_id: 's', ...event }));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
  }

  async function succeeds(event: Readonly<Record<string, unknown>>): Promise<void> {
    assert.deepEqual(await hook(event), { code: 0, output: '' });
  }

  const claim = (agent: string, more = {}) => ({
    hook_event_name: 'PreToolUse',
    tool_name: TOOL,
    tool_input: { agent_id: agent },
    ...more,
  });
  const prompt = { hook_event_name: 'UserPromptSubmit' };

  it('record every agent and start one heartbeat process, even if they run concurrently', async () => {
    const agents = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'];
    await Promise.all(agents.map((agent) => succeeds(claim(agent))));
    await until('heartbeats for all', () => agents.every((agent) => beats.includes(agent)));
    await until('one process', () => beaters().length === 1);
    const before = beats.length;
    await until('another round of heartbeats', () => beats.length >= before + 2 * agents.length);
    assert.equal(beaters().length, 1);
  });

  it('start a separate heartbeat process for each session', async () => {
    await Promise.all(['one', 'two'].map((session_id) => succeeds(claim(`of-${session_id}`, { session_id }))));
    await until('heartbeats for both', () => beats.includes('of-one') && beats.includes('of-two'));
    assert.equal(beaters().length, 2);
    await succeeds({ session_id: 'one', hook_event_name: 'Stop' });
    await until('the other only', () => beaters().length === 1);
    const before = beats.length;
    await until('heartbeats of the other', () => beats.length > before + 2);
    assert.deepEqual([...new Set(beats.slice(before + 1))], ['of-two']);
  });

  for (const event of [prompt, claim('a'), { hook_event_name: 'PostToolUse', tool_name: 'Bash' }])
    it(`start the heartbeats again on ${event.hook_event_name} if none was sent for a long time`, async () => {
      await succeeds(claim('a'));
      await until('a heartbeat', () => beats.includes('a'));
      for (const pid of beaters()) process.kill(pid, 'SIGKILL');
      await until('no process', () => beaters().length === 0);
      const [file = ''] = globSync(`${folder()}/*/beat`);
      // Another process, which sends no heartbeats, now has the recorded process id.
      writeFileSync(file, JSON.stringify({ token: 'old', pid: process.pid }));
      execFileSync('touch', ['-d', '@1000000000', file]);
      beats = [];
      await succeeds(event);
      await until('a heartbeat again', () => beats.includes('a'));
      assert.equal(beaters().length, 1);
    });

  it('start the heartbeats again if no process has the recorded process id', async () => {
    await succeeds(claim('a'));
    await until('a heartbeat', () => beats.includes('a'));
    for (const pid of beaters()) process.kill(pid, 'SIGKILL');
    const [file = ''] = globSync(`${folder()}/*/beat`);
    writeFileSync(file, JSON.stringify({ token: 'old', pid: 2 ** 22 + 1 }));
    beats = [];
    await succeeds({ hook_event_name: 'PreToolUse', tool_name: 'Read' });
    await until('a heartbeat again', () => beats.includes('a'));
  });

  it('replace the heartbeat process on each prompt', async () => {
    await succeeds(claim('a'));
    await until('a heartbeat', () => beats.includes('a'));
    const [first] = beaters();
    await succeeds(prompt);
    await until('another process only', () => beaters().length === 1 && beaters()[0] !== first);
  });

  it('keep the record of the new process if the old process writes at the same time', () => {
    const session = new Session(`${temporary}/session`);
    session.begin();
    const old = session.reserveHeartbeat({ always: true }) ?? '';
    let next = '';
    const { stringify } = JSON;
    const between = mock.method(JSON, 'stringify', (value: unknown) => {
      between.mock.restore();
      next = session.reserveHeartbeat({ always: true }) ?? '';
      return stringify(value);
    });
    session.keepHeartbeat(old);
    assert.notEqual(next, '');
    assert.equal(session.keepHeartbeat(old), false);
    assert.equal(session.keepHeartbeat(next), true);
  });

  it('continue to work if a state file is damaged', async () => {
    await succeeds(claim('a'));
    await until('a heartbeat', () => beats.includes('a'));
    for (const pid of beaters()) process.kill(pid, 'SIGKILL');
    for (const damage of ['', '{"token":', 'null', '{"token":"x","pid":"y"}']) {
      for (const file of globSync(`${folder()}/*/*`)) writeFileSync(file, damage);
      beats = [];
      await succeeds(claim('b'));
      await until(`a heartbeat after ${damage}`, () => beats.includes('b'));
      for (const pid of beaters()) process.kill(pid, 'SIGKILL');
    }
  });

  it('leave no state file if the session ends while they run', async () => {
    const claims = ['a1', 'a2', 'a3', 'a4'].map((agent) => succeeds(claim(agent)));
    const end = Promise.any(claims).then(() => succeeds({ hook_event_name: 'SessionEnd' }));
    await Promise.all([...claims, end]);
    await until('no process', () => beaters().length === 0);
    assert.deepEqual(globSync(`${folder()}/*/*`), []);
    await succeeds(prompt);
    await succeeds(claim('resumed'));
    await until('heartbeats after it was resumed', () => beats.includes('resumed'));
  });

  it('store their state in files that only the current user can read', async () => {
    mkdirSync(folder());
    chmodSync(folder(), 0o777);
    await succeeds(claim('a'));
    assert.equal(statSync(folder()).mode & 0o777, 0o700);
    for (const file of globSync(`${folder()}/*/*`)) assert.equal(statSync(file).mode & 0o077, 0, file);
  });

  it('refuse a state folder that another user may have created', async () => {
    mkdirSync(`${temporary}/elsewhere`);
    symlinkSync(`${temporary}/elsewhere`, folder());
    const { code, output } = await hook(claim('a'));
    assert.equal(code, 1);
    assert.match(output, /^Muster: .* belongs to another user.*TMPDIR.*\n$/);
    assert.deepEqual(globSync(`${temporary}/elsewhere/*`), []);
  });

  it('report an unreadable event in one line', async () => {
    const { code, output } = await hook('{"session_id": "s", ');
    assert.equal(code, 1);
    assert.match(output, /^Muster: .*\n$/);
  });
});

describe('stored state of a session', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/muster-session-`);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  type Step = (session: Session) => unknown;

  const steps: fc.Arbitrary<Step> = fc.oneof(
    fc.string({ minLength: 1 }).map((agent) => (session: Session) => session.addAgent(agent)),
    fc.constantFrom<Step[]>(
      (session) => session.work(),
      (session) => session.rest(),
      ({ folder: path }) => existsSync(`${path}/beat`) && writeFileSync(`${path}/beat`, '{'),
      (session) => session.reserveHeartbeat({ always: true }),
      (session) => session.reserveHeartbeat({ always: false }),
    ),
  );

  it('reserves the heartbeats for at most one process after any sequence of hooks', () =>
    inRuns(50).forAll(fc.array(steps), (taken) => {
      const session = new Session(mkdtempSync(`${folder}/`));
      const tokens = taken.map((step) => step(session)).filter((token) => typeof token === 'string');
      assert.ok(tokens.filter((token) => session.keepHeartbeat(token)).length <= 1);
      const last = session.reserveHeartbeat({ always: true });
      const found = [...tokens, last ?? ''].filter((token) => session.keepHeartbeat(token));
      assert.deepEqual(found, [last]);
    }));

  it('contains each agent that was added', () =>
    inRuns(50).forAll(fc.array(fc.string({ minLength: 1 })), (agents) => {
      const path = mkdtempSync(`${folder}/`);
      for (const agent of agents) new Session(path).addAgent(agent);
      assert.deepEqual(new Set(new Session(path).agents()), new Set(agents));
    }));

  it('remains deleted after the session has ended, until the session is resumed', () => {
    const session = new Session(`${folder}/one`);
    session.begin();
    session.work();
    session.addAgent('a');
    session.end();
    assert.ok(session.hasEnded());
    session.work();
    assert.equal(session.lastSign(), undefined);
    session.begin();
    assert.ok(session.lastSign() !== undefined);
  });
});

describe('agentIn', () => {
  const servers = ['muster', 'hub', 'plugin_muster_muster', 'our__team', 'coordination'];
  const all = toolsets.flatMap(({ name: toolset, tools }) => tools.map((tool) => ({ toolset, tool })));

  /** Whether `agent_id` is the caller. In `message_agent`, it is the recipient; in other toolsets, any agent. */
  const acts = (toolset: string, { name, input }: (typeof all)[number]['tool']) =>
    toolset === 'coordination' && name !== 'message_agent' && 'agent_id' in input.shape;

  for (const { toolset, tool } of all) {
    const names = (['own', 'prefixed'] as const).map((dialect) => wireName(toolset, tool.name, dialect));
    if (!acts(toolset, tool) && !('agent_id' in tool.input.shape)) continue;
    it(`finds the agent that makes the call at every address: ${names.join(', ')}`, () => {
      for (const server of servers)
        for (const name of names) {
          const event = { tool_name: `mcp__${server}__${name}`, tool_input: { agent_id: 'ada' } };
          assert.equal(agentIn(event), acts(toolset, tool) ? 'ada' : undefined, event.tool_name);
        }
    });
  }

  it('returns undefined for tools outside MCP servers, and for calls without an agent', () => {
    for (const event of [
      {},
      { tool_name: 'claim_task', tool_input: { agent_id: 'ada' } },
      { tool_name: 'mcp__muster__my_claim_task', tool_input: { agent_id: 'ada' } },
      { tool_name: 'mcp__muster__claim_task', tool_input: {} },
      { tool_name: 'mcp__muster__claim_task', tool_input: { agent_id: 7 } },
      { tool_name: 'mcp__muster__claim_task', tool_input: null },
    ])
      assert.equal(agentIn(event), undefined, JSON.stringify(event));
    const hooks = readFileSync(`${SCRIPTS}/../hooks/claude-code.json`, 'utf8');
    for (const name of ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'SessionEnd'])
      assert.ok(hooks.includes(`"${name}"`), name);
  });
});
