/** Time from a line of a coding agent until a reader of the task's log gets it, through the runner's outbox. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { LogEntry } from '../../runner/src/hub/hub.ts';
import { Journal } from '../../runner/src/outbox/journal.ts';
import { Outbox } from '../../runner/src/outbox/outbox.ts';
import { McpCaller } from '../load/client.ts';
import { type Measurement, percentile } from '../measurement.ts';
import { addCaller, newProject } from '../seed.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';
import { newTask, register } from './coding.ts';

const LINES = 80;

/** Interval at which the coding agent prints a line, so that a call of the runner contains several lines. */
const LINE_MS = 250;
const POLL_MS = 10;

const logPage = z.object({
  result: z.object({ cursor: z.string(), entries: z.array(z.object({ message: z.string() })) }),
});

export async function measureRunnerLine(): Promise<Measurement> {
  const project = newProject('runner-line');
  const worker = await addCaller(project, 'worker');
  const server = await serveFunction({ ...musterFunction, env: project.env });
  const runner = new McpCaller(server.url, worker.credential);
  await register(runner);
  const milliseconds = await timesOf(runner);
  await server.end();
  const what = 'ms until the line is read, 95th percentile';
  return {
    name: 'runnerLine',
    title: `A coding agent prints a line every ${LINE_MS} ms to a runner, and a reader polls the log`,
    figures: {
      [what]: percentile(milliseconds.printed, 0.95),
      'ms until the line is read, median': percentile(milliseconds.printed, 0.5),
      'ms from the call of append_logs until the line is read, 95th percentile': percentile(milliseconds.sent, 0.95),
      'ms from the call of append_logs until the line is read, median': percentile(milliseconds.sent, 0.5),
    },
    figureTargets: { [what]: { kind: 'at most', value: 1000 } },
  };
}

/** Prints lines while a reader polls, and returns the times from the print, and from the runner's call, to the reader. */
async function timesOf(runner: McpCaller): Promise<Record<'printed' | 'sent', number[]>> {
  const { taskId, epoch } = await newTask(runner);
  const path = `${tmpdir()}/journal-${randomUUID()}`;
  const sent = new Map<string, number>();
  const hub = {
    async append(_taskId: string, _epoch: number, entries: readonly LogEntry[]) {
      for (const { message } of entries) sent.set(message, performance.now());
      await runner.call('coding.append_logs', { taskId, epoch, entries });
      return undefined;
    },
    heartbeat: async () => ({ messages: [] }),
    end: async () => 'completed',
  };
  const options = { hub, taskId, epoch, journal: new Journal(path), heartbeatMs: 60_000, say: console.error };
  const outbox = new Outbox(options);
  const printed = new Map<string, number>();
  const print = async (): Promise<void> => {
    for (let number = 0; number < LINES; number++) {
      const message = `Line ${number}`;
      printed.set(message, performance.now());
      outbox.append({ at: new Date().toISOString(), level: 'info', type: 'agent', message });
      await delay(LINE_MS);
    }
  };
  const read = new Map<string, number>();
  const poll = async (): Promise<void> => {
    for (let cursor = '0'; read.size < LINES; await delay(POLL_MS)) {
      const { result } = logPage.parse(await runner.call('coding.get_task_logs', { taskId, cursor }));
      cursor = result.cursor;
      for (const { message } of result.entries) read.set(message, performance.now());
    }
  };
  await Promise.all([print(), poll()]);
  outbox.abandon();
  rmSync(path);
  const since = (began: ReadonlyMap<string, number>) =>
    [...read].map(([message, ended]) => ended - (began.get(message) ?? Number.NaN));
  return { printed: since(printed), sent: since(sent) };
}
