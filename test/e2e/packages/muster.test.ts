/** The package `muster-hub`, packed as for npm and installed from its tarball into an empty folder. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { z } from 'zod';
import { git, newFolder, newRepository, removeFolder } from '../../../runner/test/support/folders.ts';
import { installStandIn } from '../../../runner/test/support/standIn.ts';
import { RunnerFixture } from '../runner/fixture.ts';
import { registerAgent, type TestAgent } from '../support/agents.ts';
import { succeed } from '../support/calls.ts';
import { connect, isRecord } from '../support/clients.ts';
import { endpointUrl, MCP_URL, newWorkspace } from '../support/endpoint.ts';
import { startTerminal } from '../support/terminal.ts';

const PACKAGE = new URL('../../../packages/muster', import.meta.url).pathname;
const MAX_BYTES = 5 * 1024 * 1024;
const ESCAPE = '\u001b';
const CTRL_C = '\u0003';
/** Escape sequences of xterm: the first shows the alternate screen and hides the cursor, the second reverts this. */
const OTHER_SCREEN = `${ESCAPE}[?1049h${ESCAPE}[?25l`;
const OWN_SCREEN = `${ESCAPE}[?25h${ESCAPE}[?1049l`;
const HOME_AND_CLEAR = `${ESCAPE}[H${ESCAPE}[J`;
const run = promisify(execFile);

const snapshot = z.object({
  goal: z.string(),
  progress: z.record(z.string(), z.number()),
  doing: z.array(z.object({ agent: z.string(), description: z.string() })),
  waiting: z.array(z.object({ description: z.string(), blocked: z.boolean() })),
  questions: z.array(z.unknown()),
});

describe('the package muster-hub', () => {
  const workspace = newWorkspace('package');
  let folder: string;
  let leader: TestAgent;
  let worker: TestAgent;

  before(async () => {
    folder = newFolder();
    mkdirSync(`${folder}/empty`);
    await run(process.execPath, ['build.mjs'], { cwd: PACKAGE });
    await run('npm', ['pack', '--pack-destination', folder], { cwd: PACKAGE });
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
    assert.ok(tarball !== undefined);
    assert.ok(statSync(`${folder}/${tarball}`).size < MAX_BYTES);
    const quiet = ['--offline', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...quiet, `${folder}/${tarball}`], { cwd: `${folder}/empty` });
    [leader, worker] = await Promise.all([registerAgent('lead', { role: 'leader' }), registerAgent('worker')]);
    const lead = await connect('client 2026-07-28', endpointUrl('/coordination', { workspace }), leader.token);
    await succeed(lead, 'init_coordination', { goal: 'Ship it', master_plan: 'Step by step' });
    const { task } = await succeed(lead, 'create_task', { description: 'Write it' });
    assert.ok(isRecord(task));
    await succeed(lead, 'create_task', { description: 'Test it', dependencies: [task['id']] });
    await lead.close();
    const work = await connect('client 2026-07-28', endpointUrl('/coordination', { workspace }), worker.token);
    await succeed(work, 'register_agent', { agent_id: worker.id, role: 'worker' });
    await succeed(work, 'claim_task', { agent_id: worker.id });
    await work.close();
  });
  after(() => removeFolder(folder));

  const program = () => `${folder}/empty/node_modules/.bin/muster`;

  const environment = (token: string | undefined): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: folder,
    ...(token !== undefined && { MUSTER_TOKEN: token }),
  });

  /** Runs `muster` and returns its output. Rejects if its exit code is not 0. */
  function muster(args: readonly string[], token: string | undefined) {
    return run(process.execPath, [program(), ...args], { cwd: `${folder}/empty`, env: environment(token) });
  }

  const here = ['--url', MCP_URL, '--workspace', workspace];

  it('is installed from its tarball without any other package', () => {
    const installed = readdirSync(`${folder}/empty/node_modules`).filter((name) => !name.startsWith('.'));
    assert.deepEqual(installed, ['muster-hub']);
  });

  it('configures a client without storing its credential, and prints the text for AGENTS.md', async () => {
    const { stdout, stderr } = await muster(['connect', 'claude', ...here], worker.token);
    const config = readFileSync(`${folder}/empty/.mcp.json`, 'utf8');
    assert.match(stdout, /^## Working through Muster\n/);
    assert.ok(config.includes(`"url": "${endpointUrl('', { workspace })}"`), config);
    assert.ok(!`${stdout}${stderr}${config}`.includes(worker.token));
    const { stderr: next } = await muster(['connect', 'claude', ...here], undefined);
    assert.match(next, /Authenticate/);
    assert.ok(!readFileSync(`${folder}/empty/.mcp.json`, 'utf8').includes('headers'));
  });

  it('shows the goal, the held tasks and the waiting tasks with "muster status"', async () => {
    const { stdout } = await muster(['status', '--json', ...here], worker.token);
    const { goal, progress, doing, waiting } = snapshot.parse(JSON.parse(stdout));
    assert.deepEqual([goal, progress['percent'], progress['total']], ['Ship it', 0, 2]);
    const rows = doing.map(({ agent, description }) => [agent, description]);
    assert.deepEqual(rows, [[worker.id, 'Write it']]);
    const found = waiting.map(({ description, blocked }) => [description, blocked]);
    assert.deepEqual(found, [['Test it', true]]);
    const { stdout: text } = await muster(['status', '--once', ...here], worker.token);
    assert.match(text, /^Goal: Ship it\nTasks: 0 of 2 done \(0 %\)\n/);
    assert.match(text, /claimed +\S+ +Write it\n/);
    assert.match(text, /blocked +\S+ +Test it\n/);
  });

  it('prints the status only once, without escape sequences, if the output is not a terminal', async () => {
    const { stdout } = await muster(['status', ...here], worker.token);
    assert.match(stdout, /^Goal: Ship it\n/);
    assert.ok(!stdout.includes(ESCAPE), stdout);
  });

  it('refreshes the status in a terminal until Ctrl+C, and then restores the screen', async () => {
    const terminal = await startTerminal(process.execPath, [program(), 'status', '--every', '1', ...here], {
      cwd: folder,
      env: environment(worker.token),
    });
    try {
      await terminal.shows(/Test it/);
      const lead = await connect('client 2026-07-28', endpointUrl('/coordination', { workspace }), leader.token);
      await succeed(lead, 'create_task', { description: 'Document it' });
      await lead.close();
      await terminal.shows(/Document it/);
      terminal.type(CTRL_C);
      const shown = await terminal.ended();
      assert.ok(shown.startsWith(OTHER_SCREEN), JSON.stringify(shown.slice(0, 100)));
      assert.ok(shown.endsWith(OWN_SCREEN), JSON.stringify(shown.slice(-100)));
      // Each refresh writes the whole screen again, starting at the top.
      assert.ok(shown.split(HOME_AND_CLEAR).length > 2, 'the status was drawn only once');
    } finally {
      terminal.kill();
    }
  });

  it('reports wrong commands, addresses and credentials without a stack trace', async () => {
    const reported = async (args: readonly string[], token: string | undefined): Promise<string> => {
      const { code, stderr } = await muster(args, token).catch((error) => error);
      assert.equal(code, 1);
      assert.doesNotMatch(stderr, /\n\s+at /);
      return stderr;
    };
    assert.match(await reported(['status', ...here], undefined), /MUSTER_TOKEN/);
    assert.match(await reported(['status', ...here], `${worker.token}x`), /HTTP 401.*MUSTER_TOKEN/);
    assert.match(await reported(['status', '--url', 'http://127.0.0.1:9/mcp'], worker.token), /Cannot reach/);
    assert.match(await reported(['dance'], worker.token), /Unknown command "dance"/);
    assert.match(await reported(['listen', 'codex', ...here], worker.token), /No session of Codex found/);
    const listen = ['listen', 'codex', '--thread', 'one', ...here];
    assert.match(await reported(listen, `${worker.token}x`), /Cannot listen to .* HTTP 401.*MUSTER_TOKEN/);
  });

  it('contains the program of the runner and of its watchdog process', async () => {
    const { stdout } = await muster(['runner', '--help'], worker.token);
    assert.match(stdout, /--repo <path>/);
    const repo = newRepository(`${folder}/repo`);
    const bare = await muster(['runner', '--repo', repo, '--url', 'http://127.0.0.1:9/mcp', '--once'], 'a.b').catch(
      (error) => error,
    );
    assert.match(bare.stderr, /No coding agent found|hub does not respond/);
    assert.ok(statSync(`${folder}/empty/node_modules/muster-hub/dist/process/watchdog.js`).isFile());
  });

  it('contains a runner that completes a coding task', async () => {
    const fixture = await RunnerFixture.open('packed');
    try {
      installStandIn(fixture.bin, "fs.writeFileSync('work.txt', 'x'); result('It is done.');");
      const { taskId, branch } = await fixture.createTask();
      const runner = fixture.startRunner(['--once'], { program: [program(), 'runner'] });
      assert.equal(await runner.ended, 0, runner.output());
      assert.equal(git(fixture.repo, 'show', `${branch}:work.txt`), 'x');
      const { task, result = {} } = await fixture.report(taskId);
      assert.deepEqual([task.status, result['summary']], ['completed', 'It is done.']);
    } finally {
      await fixture.close();
    }
  });
});
