/**
 * Log of a coding task, compared with a log of one document per line. Measures the rate at which lines are appended
 * and become readable in the task's resource, and the number of written documents.
 */
import { z } from 'zod';
import { bareLog } from '../baselines/bareLog.ts';
import { McpCaller } from '../load/client.ts';
import { type Measurement, spread } from '../measurement.ts';
import { alternate, ratioOf, type Schedule } from '../rounds.ts';
import { addCaller, addCallers, newProject } from '../seed.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';
import { serveMetered } from '../servers/meteredServer.ts';
import { NOTHING, plus } from '../wire/bill.ts';

const RUNNERS = 8;
/** Lines that one runner logs per round. */
const LINES = 1000;
const BATCH = 100;
const SCHEDULE: Schedule = { warmUps: 2, rounds: 7 };

/** Number of log lines that a task's resource contains. */
const SHOWN = 50;

interface Writer {
  append(messages: readonly string[]): Promise<unknown>;
  latest(): Promise<readonly string[]>;
}

export async function measureCoding(): Promise<Measurement[]> {
  return [await measureLines(), await measureWrites()];
}

async function measureLines(): Promise<Measurement> {
  const project = newProject('coding');
  const callers = await addCallers(project, 'worker', RUNNERS);
  const muster = await serveFunction({ ...musterFunction, env: project.env });
  const runners = callers.map(({ credential }) => new McpCaller(muster.url, credential));
  await Promise.all(runners.map(register));
  const { firestore } = newProject('bare-coding');
  const rates = await alternate(
    SCHEDULE,
    async () => linesPerSecond(await Promise.all(runners.map(logOfNewTask))),
    () => linesPerSecond(runners.map(() => logOfLines(firestore))),
  );
  await muster.end();
  return {
    name: 'coding.lines',
    title: `${RUNNERS} runners log ${LINES} lines each, ${BATCH} at a time, and wait after each batch until the batch can be read`,
    ratio: ratioOf(rates),
    target: { kind: 'at least', value: 2 },
    figures: { 'lines/s': spread(rates.ours), 'lines/s of the baseline': spread(rates.baseline) },
  };
}

async function measureWrites(): Promise<Measurement> {
  const project = newProject('coding-writes');
  const caller = await addCaller(project, 'worker');
  const { url, meter, end } = await serveMetered(project);
  const runner = new McpCaller(url, caller.credential);
  await register(runner);
  const log = await logOfNewTask(runner);
  meter.take();
  for (const messages of batches()) await log.append(messages);
  const bill = meter.take().reduce((sum, call) => plus(sum, call.bill), NOTHING);
  await end();
  const bare = bareLog(newProject('bare-coding-writes').firestore);
  let documents = 0;
  for (const messages of batches()) documents += await bare.append(linesOf(messages));
  return {
    name: 'coding.writes',
    title: `Firestore writes for ${LINES} log lines, ${BATCH} at a time`,
    ratio: spread([bill.writes / documents]),
    target: { kind: 'at most', value: 0.02 },
    figures: { writes: bill.writes, reads: bill.reads, deletes: bill.deletes, 'writes of the baseline': documents },
  };
}

export async function register(runner: McpCaller): Promise<void> {
  await runner.call('coding.register_runner', { programs: [{ name: 'claude', version: '2.1.197' }] });
}

const created = z.object({ result: z.object({ taskId: z.string() }) });
const claimed = z.object({ result: z.object({ task: z.object({ epoch: z.number() }) }) });
const contents = z.object({ result: z.object({ contents: z.tuple([z.object({ text: z.string() })]) }) });
const shown = z.object({ logs: z.object({ latest: z.array(z.object({ message: z.string() })) }) });

/** Creates a task and claims it. */
export async function newTask(runner: McpCaller): Promise<{ readonly taskId: string; readonly epoch: number }> {
  const draft = { tool: 'CLAUDECODE', description: 'Log much', instructions: 'Log as much as you can' };
  const { taskId } = created.parse(await runner.call('coding.create_task', draft)).result;
  const { task } = claimed.parse(await runner.call('coding.claim_task', { taskId })).result;
  return { taskId, epoch: task.epoch };
}

async function logOfNewTask(runner: McpCaller): Promise<Writer> {
  const { taskId, epoch } = await newTask(runner);
  let sequence = 0;
  return {
    append(messages) {
      const entries = linesOf(messages).map(({ at, message }) => ({
        sequence: sequence++,
        at: at.toISOString(),
        level: 'info',
        type: 'agent',
        message,
      }));
      return runner.call('coding.append_logs', { taskId, epoch, entries });
    },
    async latest() {
      const { text } = await runner.send('resources/read', { uri: `task://${taskId}` });
      const [content] = contents.parse(JSON.parse(text)).result.contents;
      return shown.parse(JSON.parse(content.text)).logs.latest.map(({ message }) => message);
    },
  };
}

function logOfLines(firestore: Parameters<typeof bareLog>[0]): Writer {
  const log = bareLog(firestore);
  return { append: (messages) => log.append(linesOf(messages)), latest: () => log.latest(SHOWN) };
}

/** Appends batches to all logs concurrently, reads each log after each batch, and returns the total rate. */
async function linesPerSecond(logs: readonly Writer[]): Promise<number> {
  const started = performance.now();
  await Promise.all(
    logs.map(async (log) => {
      for (const messages of batches()) {
        await log.append(messages);
        const latest = await log.latest();
        if (latest.length !== SHOWN || latest.at(-1) !== messages.at(-1))
          throw new Error('The log does not end with the appended lines.');
      }
    }),
  );
  return (logs.length * LINES * 1000) / (performance.now() - started);
}

/** Returns the log lines that a runner sends in one call. */
function batches(): string[][] {
  return Array.from({ length: LINES / BATCH }, (_, batch) =>
    Array.from({ length: BATCH }, (_, line) => `Line ${batch * BATCH + line}: reading src/app.ts for its routes`),
  );
}

function linesOf(messages: readonly string[]) {
  const at = new Date();
  return messages.map((message) => ({ at, message }));
}
