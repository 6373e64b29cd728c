/** Starts runner processes in a new repository, and reads data about their tasks from the hub. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { newFolder, newRepository, removeFolder } from '../../../runner/test/support/folders.ts';
import { root } from '../../../scripts/project.mjs';
import { bundlePrograms } from '../../../scripts/setup/bundle.mjs';
import { registerAgent, type TestAgent } from '../support/agents.ts';
import { succeed } from '../support/calls.ts';
import { type Connection, connect } from '../support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from '../support/endpoint.ts';
import { eventually } from '../support/waiting.ts';

/** Path of the runner as it is published. This build starts twice as fast as the sources. */
const PROGRAM = await buildRunner();

/** Timeout for one run of a coding agent that makes several calls on a busy machine. */
export const TIMEOUT_MS = 240_000;
const created = z.object({ result: z.object({ taskId: z.string(), branch: z.string() }) });

const reported = z.object({
  result: z.object({
    task: z.object({
      status: z.string(),
      state: z.string(),
      attempt: z.number(),
      failure: z.object({ class: z.string(), message: z.string() }).optional(),
    }),
    attempts: z.array(z.object({ failure: z.object({ class: z.string() }) })),
    result: z.looseObject({}).optional(),
  }),
});
export type TaskReport = z.output<typeof reported>['result'];

const logged = z.object({
  result: z.object({
    entries: z.array(z.object({ type: z.string(), message: z.string(), prefix: z.string().optional() })),
    cursor: z.string(),
    more: z.boolean(),
  }),
});
export type LogEntries = z.output<typeof logged>['result']['entries'];

export interface RunnerProcess {
  /** Returns all output until now. */
  output(): string;
  signal(signal: NodeJS.Signals): void;
  readonly pid: number;
  /** Resolves with the exit code, or with the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

export interface RunnerWishes {
  readonly url?: string;
  readonly agent?: TestAgent;
  readonly repo?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The command and its first arguments. By default, the runner of this clone. */
  readonly program?: readonly string[];
}

interface Players {
  readonly url: string;
  readonly agent: TestAgent;
  readonly leader: TestAgent;
  readonly client: Connection;
}

export class RunnerFixture {
  readonly folder: string;
  readonly repo: string;
  /** Folder for coding agents, which is first in the PATH of the runners. */
  readonly bin: string;
  readonly url: string;
  readonly agent: TestAgent;
  readonly client: Connection;
  readonly leader: TestAgent;
  private readonly runners: ChildProcess[] = [];

  private constructor({ url, agent, leader, client }: Players) {
    const folder = newFolder();
    this.folder = folder;
    this.repo = newRepository(`${folder}/repo`);
    this.bin = `${folder}/bin`;
    this.url = url;
    this.agent = agent;
    this.leader = leader;
    this.client = client;
  }

  static async open(label: string): Promise<RunnerFixture> {
    const workspace = newWorkspace(label);
    const [agent, leader] = await Promise.all([registerAgent('runner'), registerAgent('lead', { role: 'leader' })]);
    const client = await connect('client 2026-07-28', endpointUrl('/coding', { workspace }), leader.token);
    // Only people may give a workspace access to repositories.
    const access = await connect('client 2026-07-28', endpointUrl('/access'), await tokenOf('person'));
    await succeed(access, 'create_workspace', { name: workspace, repositories: ['sartor-ai/*'] });
    await access.close();
    return new RunnerFixture({ url: endpointUrl('', { workspace }), agent, leader, client });
  }

  /** Creates a fixture that uses the given hub, and an existing workspace of the given agents. */
  static async at(hubUrl: string, agent: TestAgent, leader: TestAgent): Promise<RunnerFixture> {
    const coding = new URL(hubUrl);
    coding.pathname = `${coding.pathname.replace(/\/$/, '')}/coding`;
    const client = await connect('client 2026-07-28', String(coding), leader.token);
    return new RunnerFixture({ url: hubUrl, agent, leader, client });
  }

  async close(): Promise<void> {
    for (const runner of this.runners) if (runner.exitCode === null) runner.kill('SIGKILL');
    await this.client.close();
    removeFolder(this.folder);
  }

  /** Creates a task with the arguments of the coding specification's create_task example, changed by `wishes`. */
  async createTask(wishes: Readonly<Record<string, unknown>> = {}): Promise<{ taskId: string; branch: string }> {
    const example = {
      tool: 'CLAUDECODE',
      description: 'Add authentication to the app',
      instructions: 'Implement JWT authentication with login/logout endpoints',
      branch: 'feature/auth',
    };
    return created.parse(await succeed(this.client, 'create_task', { ...example, ...wishes })).result;
  }

  /** Calls a tool of the toolset coordination with the leader's credential, and returns its response. */
  async lead(tool: string, args: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    const client = await connect('client 2026-07-28', this.url, this.leader.token);
    try {
      return await succeed(client, `coordination_${tool}`, args);
    } finally {
      await client.close();
    }
  }

  startRunner(
    args: readonly string[],
    { url, agent, repo, env, program = [PROGRAM] }: RunnerWishes = {},
  ): RunnerProcess {
    const where = ['--repo', repo ?? this.repo, '--url', url ?? this.url];
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...program, ...where, ...args], {
      env: {
        PATH: `${this.bin}:${process.env['PATH']}`,
        HOME: this.folder,
        MUSTER_TOKEN: (agent ?? this.agent).token,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.runners.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    assert.ok(child.pid);
    return {
      output: () => output,
      signal: (signal) => void child.kill(signal),
      pid: child.pid,
      ended: new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code ?? -1))),
    };
  }

  /** Waits until the runner's output matches the pattern. */
  untilSaid(runner: RunnerProcess, pattern: RegExp): Promise<true> {
    return eventually(`output with ${pattern}`, async () => pattern.test(runner.output()) || undefined, TIMEOUT_MS);
  }

  async report(taskId: string): Promise<TaskReport> {
    return reported.parse(await succeed(this.client, 'report_task', { taskId })).result;
  }

  async logs(taskId: string): Promise<LogEntries> {
    const all: LogEntries = [];
    for (let cursor = '0'; ; ) {
      const page = logged.parse(await succeed(this.client, 'get_task_logs', { taskId, cursor, limit: 1000 }));
      all.push(...page.result.entries);
      cursor = page.result.cursor;
      if (!page.result.more) return all;
    }
  }

  /** Waits until the task's log contains the message. */
  untilLogged(taskId: string, message: string): Promise<true> {
    return eventually(
      `the log contains "${message}"`,
      async () => ((await this.logs(taskId)).some((entry) => entry.message === message) ? true : undefined),
      TIMEOUT_MS,
    );
  }

  /** Waits until the stored task has the state, and returns the report of the task. */
  untilState(taskId: string, state: string): Promise<TaskReport> {
    return eventually(
      `the task has the state ${state}`,
      async () => {
        const report = await this.report(taskId);
        return report.task.state === state ? report : undefined;
      },
      TIMEOUT_MS,
    );
  }
}

/** Returns a test function that runs the test with a new fixture and closes the fixture afterwards. */
export function withRunnerFixture(label: string, test: (fixture: RunnerFixture) => Promise<void>): () => Promise<void> {
  return async () => closing(await RunnerFixture.open(label), test);
}

export async function closing(fixture: RunnerFixture, test: (fixture: RunnerFixture) => Promise<void>): Promise<void> {
  try {
    await test(fixture);
  } finally {
    await fixture.close();
  }
}

async function buildRunner(): Promise<string> {
  const folder = mkdtempSync(`${tmpdir()}/muster-runner-`);
  writeFileSync(`${folder}/package.json`, JSON.stringify({ type: 'module' }));
  const programs = [
    { in: `${root}/runner/src/main.ts`, out: 'runner' },
    { in: `${root}/runner/src/process/watchdog.js`, out: 'process/watchdog' },
  ];
  await bundlePrograms(programs, folder);
  return `${folder}/runner.js`;
}

/** A zombie counts as ended, because only its exit code remains. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
