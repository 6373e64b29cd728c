/** Coding agents that are logged out, at a usage limit, or missing must not use up the tasks of the queue. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { HubConnection } from '../src/hub/connection.ts';
import { type ClaimedTask, type ClaimWishes, type Ending, Hub } from '../src/hub/hub.ts';
import { Outages } from '../src/outage/outages.ts';
import { resetIn } from '../src/outage/reset.ts';
import { type Clock, firstWait, nextWait, timeLeft } from '../src/outage/schedule.ts';
import { AttemptFailure, classify } from '../src/task/failure.ts';
import { newFolder, newRepository, removeFolder } from './support/folders.ts';
import { quickClock, startRunner, taskOf } from './support/localHub.ts';
import { acpStandIn } from './support/protocols.ts';
import { installProgram, installStandIn } from './support/standIn.ts';
import { until } from './support/waiting.ts';

/** Hub with a queue, in which a returned task becomes available again with the next claim epoch. */
class Queue extends Hub {
  readonly endings: { task: string; ending: Ending }[] = [];
  readonly claimed: string[] = [];
  waiting = 0;
  private readonly tasks: ClaimedTask[];

  constructor(...tasks: ClaimedTask[]) {
    super(new HubConnection('http://127.0.0.1:9/mcp', 'mk_a.b'));
    this.tasks = tasks;
  }

  add(task: ClaimedTask): void {
    this.tasks.push(task);
  }

  of(status: 'completed' | 'failed' | 'returned'): string[] {
    const is = ({ failure, status: one }: Ending) => (failure?.returnAfterSeconds === undefined ? one : 'returned');
    return this.endings.filter(({ ending }) => is(ending) === status).map(({ task }) => task);
  }

  override async claim({ tools }: ClaimWishes, _key: string, signal: AbortSignal) {
    this.waiting += 1;
    const next = () => this.tasks.findIndex(({ tool }) => tools?.includes(tool) ?? true);
    await until(() => next() >= 0 || signal.aborted);
    this.waiting -= 1;
    const [task] = signal.aborted ? [] : this.tasks.splice(next(), 1);
    if (task !== undefined) this.claimed.push(task.id);
    return task;
  }

  override async append() {
    return undefined;
  }

  override async end(id: string, epoch: number, ending: Ending): Promise<string> {
    this.endings.push({ task: id, ending });
    if (ending.failure?.returnAfterSeconds === undefined) return 'ended';
    this.tasks.push({ ...taskOf(id), epoch: epoch + 1 });
    return 'returned';
  }
}

const NOT_LOGGED_IN = 'Not logged in · Please run /login';
const failing = (text: string, status?: number) =>
  `print(${JSON.stringify({ type: 'result', subtype: 'success', is_error: true, result: text, api_error_status: status })}); process.exit(1);`;

describe('an outage of a coding agent', () => {
  let folder: string;
  let output: string[];
  let shutdown: AbortController;
  let ready: string;

  beforeEach(() => {
    folder = newFolder();
    output = [];
    shutdown = new AbortController();
    ready = `${folder}/ready`;
  });
  afterEach(() => removeFolder(folder));

  /** Installs a coding agent that works while the file `ready` exists, and otherwise runs the code `instead`. */
  const install = (instead: string, program = 'claude'): void =>
    installStandIn(
      `${folder}/bin`,
      `listen(); if (fs.existsSync(${JSON.stringify(ready)})) result(); else { ${instead} }`,
      program,
    );

  const start = (hub: Hub, clock: Clock = quickClock(), ...args: readonly string[]): Promise<boolean> =>
    startRunner({ folder, repo: newRepository(`${folder}/repo`), hub, args, clock, shutdown: shutdown.signal, output });

  async function stop(running: Promise<unknown>): Promise<void> {
    shutdown.abort();
    await running;
  }

  const lines = (part: string): string[] => output.filter((line) => line.includes(part));

  it('makes the runner return one task, and complete all tasks after the login', async () => {
    install(failing(NOT_LOGGED_IN));
    const ids = ['one', 'two', 'three'];
    const hub = new Queue(...ids.map(taskOf));
    const clock = quickClock();
    // The agent is still logged out during the first probes.
    const sleep = clock.sleep.bind(clock);
    clock.sleep = async (milliseconds, signal) => {
      if (clock.slept > 3 * 60_000) writeFileSync(ready, '');
      await sleep(milliseconds, signal);
    };
    const running = start(hub, clock);
    await until(() => hub.of('completed').length === 3);
    await stop(running);
    assert.deepEqual(hub.of('returned'), ['one']);
    assert.deepEqual(hub.of('failed'), []);
    assert.deepEqual(hub.of('completed').toSorted(), ids.toSorted());
    assert.equal(lines('The runner stops claiming tasks for CLAUDECODE until a probe succeeds').length, 1);
    assert.equal(lines('The runner resumes claiming tasks for CLAUDECODE.').length, 1);
    const { failure } = hub.endings[0]?.ending ?? {};
    assert.equal(failure?.class, 'authentication');
    assert.equal(failure?.retryable, undefined);
  });

  it('lets the runner resume claiming when the rate limit of the agent ends', async () => {
    const clock = quickClock();
    const resetsAt = (clock.now().wall + 5 * 3_600_000) / 1000;
    const info = { status: 'rejected', resetsAt, rateLimitType: 'five_hour' };
    install(
      `print({ type: 'rate_limit_event', rate_limit_info: ${JSON.stringify(info)} }); ${failing("You've hit your session limit · resets 5pm")}`,
    );
    const hub = new Queue(taskOf('one'), taskOf('two'));
    const sleep = clock.sleep.bind(clock);
    clock.sleep = async (milliseconds, signal) => {
      await sleep(milliseconds, signal);
      if (clock.now().wall >= resetsAt * 1000) writeFileSync(ready, '');
    };
    const running = start(hub, clock);
    await until(() => hub.of('completed').length === 2);
    await stop(running);
    assert.deepEqual(hub.of('returned'), ['one']);
    assert.deepEqual(hub.of('failed'), []);
    assert.equal(lines(`until ${new Date(resetsAt * 1000).toISOString()}`).length, 1);
  });

  for (const args of [[], ['--commands']])
    it(`does not affect the tasks of other coding agents${args.map((arg) => `, with ${arg}`)}`, async () => {
      install(failing(NOT_LOGGED_IN));
      const working = acpStandIn("say('Done.'); return { usage: { inputTokens: 9, outputTokens: 9 } };");
      installProgram(`${folder}/bin`, working, 'gemini');
      const gemini = (id: string): ClaimedTask => ({ ...taskOf(id), tool: 'GEMINI' });
      const hub = new Queue(taskOf('one'), taskOf('two'), gemini('three'), gemini('four'));
      const never: Clock = { now: () => ({ wall: 0, steady: 0 }), sleep: (_, signal) => aborted(signal) };
      const running = start(hub, never, ...args);
      await until(() => hub.of('completed').length === 2);
      await stop(running);
      assert.deepEqual(hub.of('completed'), ['three', 'four']);
      assert.deepEqual(hub.of('returned'), ['one']);
      assert.ok(!hub.claimed.includes('two'));
    });

  it('makes the runner return all claimed tasks, and is reported once', async () => {
    install(failing(NOT_LOGGED_IN));
    const hub = new Queue();
    const never: Clock = { now: () => ({ wall: 0, steady: 0 }), sleep: (_, signal) => aborted(signal) };
    const running = start(hub, never, '--concurrency', '3');
    await until(() => hub.waiting === 3);
    hub.add(taskOf('one'));
    await until(() => hub.of('returned').length >= 1);
    // The hub still responds with tasks to claims that were waiting when the outage started.
    for (let id = 0; hub.waiting > 0; id++) {
      hub.add(taskOf(`late-${id}`));
      const { length } = hub.endings;
      await until(() => hub.endings.length > length || hub.waiting === 0);
    }
    await stop(running);
    assert.deepEqual(hub.of('failed'), []);
    assert.equal(lines('The runner stops claiming tasks').length, 1);
  });

  it('makes a runner with --once return its task and exit without success', async () => {
    install(failing(NOT_LOGGED_IN));
    const hub = new Queue(taskOf('one'));
    assert.equal(await start(hub, quickClock(), '--once'), false);
    assert.deepEqual(hub.of('returned'), ['one']);
    assert.equal(lines('Not logged in').length, 1);
  });

  it('ends when the missing program of the agent is installed', async () => {
    install('result();');
    const hub = new Queue();
    const running = start(hub);
    await until(() => hub.waiting === 1);
    rmSync(`${folder}/bin/claude`);
    hub.add(taskOf('one'));
    await until(() => hub.endings.length > 0);
    assert.equal(hub.endings[0]?.ending.failure?.class, 'cli_missing');
    install('result();');
    await until(() => hub.of('completed').length === 1);
    await stop(running);
    assert.deepEqual(hub.of('failed'), []);
  });

  it('leaves behind no folder in which the runner has probed the agent', async () => {
    const hub = new Queue(taskOf('one'));
    const seen = `${folder}/seen`;
    installStandIn(
      `${folder}/bin`,
      `listen(); fs.appendFileSync(${JSON.stringify(seen)}, process.cwd() + '\\n'); ${failing(NOT_LOGGED_IN)}`,
    );
    const running = start(hub);
    await until(() => existsSync(seen) && readFileSync(seen, 'utf8').split('\n').length > 3);
    await stop(running);
    const folders = readFileSync(seen, 'utf8').trim().split('\n');
    assert.deepEqual(folders.filter(existsSync), []);
    assert.ok(folders.slice(1).every((one) => !one.startsWith(folder)));
  });
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

describe('a task that is returned repeatedly', () => {
  const outagesOf = (output: string[]) =>
    new Outages({
      tools: ['CLAUDECODE'],
      waits: false,
      probe: async () => true,
      say: (message) => void output.push(message),
      clock: quickClock(),
      ending: new AbortController().signal,
    });

  it('fails after three returns if probes of the agent succeed in between', () => {
    const outages = outagesOf([]);
    const failure = new AttemptFailure('authentication', 'No access to this model');
    const noted = () => outages.note('CLAUDECODE', 'one', failure).returnAfterSeconds !== undefined;
    assert.deepEqual([noted(), noted(), noted(), noted()], [true, true, true, false]);
  });

  it('does not fail if the agent reports the end of its limit each time', () => {
    const outages = outagesOf([]);
    const failure = new AttemptFailure('rate_limit', 'Limit', { resetsAt: Date.parse('2026-11-27T12:00:00Z') });
    for (let count = 0; count < 20; count++)
      assert.ok(outages.note('CLAUDECODE', 'one', failure).returnAfterSeconds !== undefined);
  });

  it('is not returned if the failure was caused by the task itself', () => {
    const output: string[] = [];
    const failures = (['crashed', 'no_output', 'acceptance_failed', 'cancelled', 'runner_lost'] as const).map(
      (one) => new AttemptFailure(one, 'x'),
    );
    const outages = outagesOf(output);
    for (const failure of failures) assert.equal(outages.note('CLAUDECODE', 'one', failure), failure);
    assert.deepEqual([output, outages.working], [[], ['CLAUDECODE']]);
  });
});

describe('the error text of a coding agent', () => {
  for (const [text, expected] of [
    [NOT_LOGGED_IN, 'authentication'],
    ['Invalid API key · Fix external API key', 'authentication'],
    ['Your ANTHROPIC_API_KEY belongs to a disabled organization', 'authentication'],
    ['Credit balance is too low', 'authentication'],
    [
      'Please set an Auth method in your /home/a/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GENAI_USE_GCA',
      'authentication',
    ],
    ['API key not valid. Please pass a valid API key.', 'authentication'],
    ["You've hit your session limit · resets 3pm", 'rate_limit'],
    ["You've hit your weekly limit · resets Oct 6, 1pm", 'rate_limit'],
    ["You've hit your monthly spend limit.", 'rate_limit'],
    ["You've hit your org's monthly spend limit", 'rate_limit'],
    ["You're out of usage credits", 'rate_limit'],
    ['Claude AI usage limit reached|1754388000', 'rate_limit'],
    ['API Error: 529 overloaded_error', 'rate_limit'],
    ['TerminalQuotaError: You have exhausted your daily quota on this model.', 'rate_limit'],
    ['{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}', 'rate_limit'],
    ['TypeError: undefined is not a function', 'crashed'],
  ] as const)
    it(`is classified as ${expected} if it is "${text.slice(0, 60)}"`, () => assert.equal(classify(text), expected));

  it('is less important than the HTTP status', () => assert.equal(classify('rate limit', 401), 'authentication'));

  const NOW = Date.parse('2026-11-26T12:00:00Z');
  for (const [text, expected] of [
    ['Claude AI usage limit reached|1795700000', 1795700000_000],
    ['limit reached|1795700000123', 1795700000123],
    ['resets 3pm (UTC)', Date.parse('2026-11-26T15:00:00Z')],
    ['resets 3:45pm (UTC)', Date.parse('2026-11-26T15:45:00Z')],
    ['resets 11am (UTC)', Date.parse('2026-11-27T11:00:00Z')],
    ['resets 12am (UTC)', Date.parse('2026-11-27T00:00:00Z')],
    ['resets 3pm (Europe/Berlin)', Date.parse('2026-11-26T14:00:00Z')],
    ['resets Nov 29, 1pm (UTC)', Date.parse('2026-11-29T13:00:00Z')],
    ['resets Jan 2, 1pm (UTC)', Date.parse('2027-01-02T13:00:00Z')],
    ['Your quota will reset after 18h34m17s.', NOW + ((18 * 60 + 34) * 60 + 17) * 1000],
    ['Please retry in 34.5s.', NOW + 34_500],
    ['"retryDelay": "34s"', NOW + 34_000],
    ['Too many requests', undefined],
  ] as const)
    it(`contains ${expected} as the end of the limit if it is "${text}"`, () =>
      assert.equal(resetIn(text, NOW), expected));
});

describe('the wait for a coding agent', () => {
  const at = (minutes: number) => ({ wall: 1_000_000 + minutes * 60_000, steady: minutes * 60_000 });

  it('ends when the wall clock reaches the end of the limit', () => {
    const wait = firstWait(at(0), at(300).wall);
    assert.equal(timeLeft(wait, at(299)), 60_000);
    assert.equal(timeLeft(wait, { wall: at(300).wall, steady: 0 }), 0);
  });

  it('ends with a probe if the end of the limit is unknown, in the past or 30 days away', () => {
    for (const resetsAt of [undefined, at(-1).wall, at(60 * 24 * 30).wall])
      assert.equal(firstWait(at(0), resetsAt).kind, 'probe');
  });

  it('takes 1 to 15 minutes before each probe, measured by the steady clock', () => {
    assert.ok(timeLeft(firstWait(at(0), at(0).wall + 1), at(0)) >= 60_000);
    let wait = firstWait(at(0), undefined);
    const waits: number[] = [];
    for (let probe = 0; probe < 7; probe++) {
      waits.push(timeLeft(wait, at(0)) / 60_000);
      assert.ok(wait.kind === 'probe');
      wait = nextWait(wait, at(0));
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 15, 15, 15]);
    assert.equal(timeLeft(firstWait(at(0), undefined), { wall: 0, steady: 60_000 }), 0);
  });
});
