/** A hub in the process of the test, and a runner that uses this hub, so that tests need no network. */
import assert from 'node:assert/strict';
import { delimiter } from 'node:path';
import { findInstalled } from '../../src/agents/index.ts';
import { parseSettings } from '../../src/arguments.ts';
import { openRepository } from '../../src/git/repository.ts';
import { CredentialRefused, HubConnection } from '../../src/hub/connection.ts';
import { type Beat, type ClaimedTask, type Ending, Hub, type LogEntry, type Standing } from '../../src/hub/hub.ts';
import type { Clock } from '../../src/outage/schedule.ts';
import { createRedactor } from '../../src/redaction.ts';
import { Runner } from '../../src/runner.ts';
import { agentEnvironment } from '../../src/task/agentEnvironment.ts';
import { until } from './waiting.ts';

const URL = 'http://127.0.0.1:9/mcp';
const CREDENTIAL = 'mk_a.b';

/** Hub with a list of tasks. It refuses the runner's credential after `revoked` is set. */
export class LocalHub extends Hub {
  revoked = false;
  readonly lines: string[] = [];
  readonly endings: Ending[] = [];
  /** Ids of messages that the runner has reported as heard. */
  readonly heard: string[] = [];
  private readonly tasks: ClaimedTask[];

  constructor(...tasks: ClaimedTask[]) {
    super(new HubConnection(URL, CREDENTIAL));
    this.tasks = tasks;
  }

  override async claim(_wishes: unknown, _key: string, signal: AbortSignal): Promise<ClaimedTask | undefined> {
    this.check();
    const task = this.tasks.shift();
    if (task === undefined) await until(() => this.revoked || signal.aborted);
    this.check();
    return task;
  }

  override async append(_task: string, _epoch: number, entries: readonly LogEntry[], heard: readonly string[]) {
    this.check();
    this.heard.push(...heard);
    this.lines.push(...entries.map(({ message }) => message));
    return undefined;
  }

  override async heartbeat(_task: string, _epoch: number, _beat: Beat, _signal?: AbortSignal): Promise<Standing> {
    this.check();
    return { messages: [] };
  }

  override async end(_task: string, _epoch: number, ending: Ending): Promise<string> {
    this.check();
    this.endings.push(ending);
    return 'ended';
  }

  private check(): void {
    if (this.revoked) throw new CredentialRefused('coding_append_logs', 'It was withdrawn.');
  }
}

export function taskOf(id: string): ClaimedTask {
  const texts = { description: 'A task', instructions: 'Do it', branch: `work/${id}` };
  return { id, epoch: 1, tool: 'CLAUDECODE', ...texts, config: {}, attempt: 1, messages: [] };
}

interface RunnerWishes {
  /** Folder of the test, which contains coding agents in `bin`. */
  readonly folder: string;
  readonly repo: string;
  readonly hub: Hub;
  readonly args?: readonly string[];
  readonly shutdown: AbortSignal;
  /** The runner's clock. By default, a clock on which every sleep ends immediately. */
  readonly clock?: Clock;
  readonly output: string[];
}

/** Returns a clock on which every sleep ends immediately and advances the time by its duration. */
export function quickClock(start = Date.parse('2026-11-26T12:00:00Z')): Clock & { slept: number } {
  return {
    slept: 0,
    now() {
      return { wall: start + this.slept, steady: this.slept };
    },
    async sleep(milliseconds) {
      this.slept += milliseconds;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

export async function startRunner(wishes: RunnerWishes): Promise<boolean> {
  const { folder, repo, hub, args = [], shutdown, output, clock = quickClock() } = wishes;
  const env = { ...agentEnvironment(process.env), PATH: `${folder}/bin${delimiter}${process.env['PATH']}` };
  const worktrees = `${folder}/worktrees`;
  const settings = parseSettings(['--repo', repo, '--url', URL, ...args], { MUSTER_TOKEN: CREDENTIAL });
  assert.ok(settings);
  return new Runner({
    settings,
    repository: await openRepository(repo),
    hub,
    agentId: 'agent-1',
    installed: await findInstalled(env, settings.agent, (message) => void output.push(message)),
    worktrees,
    redactor: createRedactor([], {}),
    env,
    shutdown,
    clock,
    say: (message) => void output.push(message),
  }).run();
}
