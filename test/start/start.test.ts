/** Runs `npm start` in a separate clone: the README's first example works, and Ctrl-C leaves no process or file. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { processesOf } from '../../scripts/processes/run.mjs';
import { projectId } from '../../scripts/project.mjs';
import { succeed } from '../e2e/support/calls.ts';
import { connect } from '../e2e/support/clients.ts';
import { eventually } from '../e2e/support/waiting.ts';
import { cloneInto } from '../support/clone.ts';

const LAST_LINE = 'Ctrl-C stops everything';

/** A start takes half a minute, and longer if other tests use the machine at the same time. */
const PATIENCE_MS = 240_000;

const configuration = z.object({
  mcpServers: z.object({
    muster: z.object({
      type: z.literal('http'),
      url: z.url(),
      headers: z.object({ Authorization: z.string().startsWith('Bearer ') }),
    }),
  }),
});

const served = z.object({ consoleUrl: z.url(), emulators: z.record(z.string(), z.string()) });

describe('npm start', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'start-'));
  const clone = join(temporary, 'clone');
  const locator = join(temporary, `hub-${projectId}.json`);
  let running: ChildProcess;
  let printed = '';

  const inClone = (path: string) => join(clone, path);
  const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

  before(() => {
    cloneInto(clone);
    running = spawn('npm', ['start'], {
      cwd: clone,
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [running.stdout, running.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  });

  after(async () => {
    if (running.exitCode === null && running.signalCode === null) {
      running.kill('SIGTERM');
      await once(running, 'exit');
    }
    rmSync(temporary, { recursive: true, force: true });
  });

  it('prints its progress with the elapsed time, and serves the console', async () => {
    await eventually(
      'npm start prints its last line',
      async () => {
        assert.equal(running.exitCode, null, printed);
        return printed.includes(LAST_LINE) || undefined;
      },
      PATIENCE_MS,
    );
    for (const doing of ['building the functions and the console', 'starting the Firebase emulators', 'ready'])
      assert.match(printed, new RegExp(`\\d:\\d\\d  ${doing}$`, 'm'));
    const { consoleUrl } = served.parse(read(inClone('.dev/endpoint.json')));
    assert.ok(printed.includes(consoleUrl), printed);
    assert.match(await (await fetch(consoleUrl)).text(), /<title>Muster<\/title>/);
  });

  it('writes an .mcp.json with which a client can claim and complete a task', async () => {
    const { url, headers } = configuration.parse(read(inClone('.mcp.json'))).mcpServers.muster;
    const leader = await connect('client 2025-11-25', url, headers.Authorization.slice('Bearer '.length));
    const agent = { agent_id: 'newcomer' };
    await succeed(leader, 'coordination_register_agent', { ...agent, role: 'worker' });
    const claimed = await succeed(leader, 'coordination_claim_task', agent);
    const { id: task_id } = z.object({ id: z.string() }).parse(claimed['task']);
    await succeed(leader, 'coordination_start_task', { ...agent, task_id });
    await succeed(leader, 'coordination_complete_task', { ...agent, task_id, output: 'It is done.' });
    await leader.close();
  });

  it('shows the sign-in page for Claude Code without access to the internet', async () => {
    const { origin } = z.object({ origin: z.url() }).parse(read(inClone('.dev/endpoint.json')));
    const url = new URL(`${origin}/authorize`);
    url.search = new URLSearchParams({
      client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
      redirect_uri: 'http://localhost:54213/callback',
      response_type: 'code',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      resource: `${origin}/mcp`,
    }).toString();
    const page = await fetch(url);
    const text = await page.text();
    assert.equal(page.status, 200, text);
    assert.match(text, /<h1><bdi>Claude Code<\/bdi> wants to act for you</);
    assert.match(text, /Verified by <bdi>claude\.ai</);
  });

  it('writes the file through which the Firebase CLI finds the emulators', () => {
    const { origins } = z.object({ origins: z.array(z.url()) }).parse(read(locator));
    assert.ok(origins.length > 0);
  });

  it('stops on Ctrl-C, and leaves no process, open port or file of this run', async () => {
    const { emulators } = served.parse(read(inClone('.dev/endpoint.json')));
    const runs = readdirSync(inClone('.dev/runs'));
    assert.ok(runs.some((run) => processesOf(run).length > 0));
    process.kill(-Number(running.pid), 'SIGINT'); // Signals the whole process group, as Ctrl-C does.
    const [code] = await once(running, 'exit');
    assert.equal(code, 0, printed);
    const left = runs.flatMap((run) => processesOf(run));
    assert.deepEqual(left, []);
    for (const [name, address] of Object.entries(emulators)) await assert.rejects(fetch(`http://${address}`), name);
    for (const path of [inClone('.mcp.json'), inClone('.dev/endpoint.json'), locator])
      assert.equal(existsSync(path), false, path);
    assert.deepEqual(readdirSync(inClone('.dev/runs')), []);
  });
});
