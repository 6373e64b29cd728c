/** Runs of misbehaving coding agents, with real processes and signals. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { LogEntry } from '../src/hub/hub.ts';
import { GENTLE_MS } from '../src/process/ending.mjs';
import { findProcesses } from '../src/process/identity.ts';
import { createRedactor } from '../src/redaction.ts';
import { MAX_HEARTBEAT_MS } from '../src/runner.ts';
import { type AgentRun, type AgentRunOptions, runAgent } from '../src/task/agentRun.ts';
import { TaskLog } from '../src/task/log.ts';
import { markOf, optionsFor } from './support/agentRuns.ts';
import { newFolder, removeFolder } from './support/folders.ts';
import { DEAF, FOREVER, installStandIn, withChildren } from './support/standIn.ts';
import { until } from './support/waiting.ts';

describe('a run of a coding agent', () => {
  let folder: string;
  let mark: string;
  let log: TaskLog;
  let entries: Omit<LogEntry, 'sequence'>[];
  let stopping: AbortController;
  let results: number;

  beforeEach(() => {
    folder = newFolder();
    mark = markOf(folder);
    entries = [];
    log = new TaskLog(createRedactor(['hunter2hunter2'], {}), (entry) => entries.push(entry));
    stopping = new AbortController();
    results = 0;
  });
  afterEach(() => {
    assert.deepEqual(findProcesses(mark), [], 'no process is left');
    removeFolder(folder);
  });

  function run(body: string, options: Partial<AgentRunOptions> = {}): Promise<AgentRun> {
    installStandIn(`${folder}/bin`, body);
    const onResult = (): void => {
      results += 1;
    };
    return runAgent(optionsFor(folder, log, { signal: stopping.signal, onResult, ...options }));
  }

  it('passes the prompt through standard input, and reports the work of the agent', async () => {
    const { transcript, exit, failure } = await run(`
      const prompt = listen();
      const tool = (name, input) => print({ type: 'assistant', message: { content: [{ type: 'tool_use', name, input }] } });
      tool('Write', { file_path: process.cwd() + '/src/a.ts' });
      tool('Bash', { command: 'npm test' });
      tool('Bash', { command: 'echo hunter2hunter2' });
      said('I was told: ' + prompt);
      result();
    `);
    assert.equal(failure, undefined);
    assert.deepEqual(exit, { code: 0, signal: null });
    const { commands, tools, turns, tokens, costUsd, summary } = transcript.work();
    assert.deepEqual(commands, ['npm test', 'echo [redacted]']);
    assert.deepEqual(tools, { Write: 1, Bash: 2 });
    assert.deepEqual(
      { turns, tokens, costUsd, summary },
      {
        turns: 2,
        tokens: { input: 20, output: 10, cacheRead: 5, cacheWrite: 0 },
        costUsd: undefined,
        summary: 'Done.',
      },
    );
    assert.ok(entries.some(({ type, message }) => type === 'tool' && message === 'Write src/a.ts'));
    assert.ok(entries.some(({ type, message }) => type === 'agent' && message === 'I was told: Do it.'));
    assert.ok(!JSON.stringify(entries).includes('hunter2'));
    assert.equal(results, 1);
  });

  it('reports a cost only if the agent is paid by use, not by a subscription', async () => {
    const priced = async (apiKeySource: string, more: NodeJS.ProcessEnv = {}) => {
      const env = { PATH: `${folder}/bin`, ...more };
      const init = JSON.stringify({ type: 'system', subtype: 'init', apiKeySource });
      const { transcript } = await run(`print(${init}); result();`, { env });
      const { costUsd, tokens } = transcript.work();
      assert.deepEqual(tokens, { input: 20, output: 10, cacheRead: 5, cacheWrite: 0 });
      return costUsd;
    };
    assert.equal(await priced('ANTHROPIC_API_KEY'), 0.01);
    assert.equal(await priced('none'), undefined);
    assert.equal(await priced('none', { CLAUDE_CODE_USE_BEDROCK: '1' }), 0.01);
    const { transcript } = await run('result();', { env: { PATH: `${folder}/bin`, ANTHROPIC_API_KEY: 'key' } });
    assert.equal(transcript.work().costUsd, 0.01, 'the agent does not report how it is paid');
  });

  it('fails, and can be retried, if the result reports neither a turn nor a token', async () => {
    const nothing = (more: object) => {
      const event = { type: 'result', subtype: 'success', is_error: false, result: 'No such command.', ...more };
      return run(`said('No such command.'); print(${JSON.stringify(event)});`);
    };
    const usage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: null };
    for (const more of [{ num_turns: 0, usage, modelUsage: {} }, { num_turns: 0 }]) {
      const { failure } = await nothing(more);
      assert.equal(failure?.failureClass, 'crashed');
      assert.equal(failure?.retryable, true);
      assert.match(failure?.message ?? '', /did no work.*No such command/s);
    }
    const cached = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 9 };
    assert.equal((await nothing({ num_turns: 0, usage: cached })).failure, undefined);
    assert.equal((await nothing({ num_turns: 1, usage })).failure, undefined);
  });

  it('adds up the tokens of several results, unless the results contain session totals', async () => {
    const results = (one: object, other: object) =>
      run(
        [one, other]
          .map((event) => `print(${JSON.stringify({ type: 'result', is_error: false, ...event })});`)
          .join('\n'),
      );
    const usage = { input_tokens: 10, output_tokens: 2, cache_creation_input_tokens: 100 };
    const prompts = await results({ num_turns: 2, usage }, { num_turns: 1, usage });
    const summed = prompts.transcript.work();
    assert.deepEqual(summed.tokens, { input: 20, output: 4, cacheRead: 0, cacheWrite: 200 });
    assert.equal(summed.turns, 3);
    const session = (inputTokens: number) => ({ num_turns: 1, usage, modelUsage: { opus: { inputTokens } } });
    const whole = (await results(session(24), session(36))).transcript.work();
    assert.deepEqual(whole.tokens, { input: 36, output: 0, cacheRead: 0, cacheWrite: 0 });
  });

  it('ends after the result of the agent, even if the process does not exit', async () => {
    const { failure, transcript } = await run(`${DEAF} result('All done.'); ${FOREVER}`);
    assert.equal(failure, undefined);
    assert.equal(transcript.work().summary, 'All done.');
  });

  it('ends within ten seconds after a heartbeat reports that its task is cancelled', () =>
    assert.ok(MAX_HEARTBEAT_MS + GENTLE_MS < 9000));

  it('leaves no process of an agent that ignores SIGTERM and has processes in other sessions', async () => {
    const pids = `${folder}/pids`;
    const running = run(`${DEAF} ${withChildren(pids, "said('Started them.');")} ${FOREVER}`);
    await until(() => entries.some(({ message }) => message === 'Started them.'));
    stopping.abort();
    const { failure } = await running;
    assert.equal(failure?.failureClass, 'cancelled');
    assert.equal(readFileSync(pids, 'utf8').trim().split('\n').length, 5);
    assert.deepEqual(findProcesses(mark), []);
  });

  it('leaves no process that an agent started in the background', async () => {
    const { failure } = await run(withChildren(`${folder}/pids`, 'result(); process.exit(0);'));
    assert.equal(failure, undefined);
  });

  it('sends SIGTERM before SIGKILL, so that an agent can finish its work', async () => {
    const running = run(`
      process.on('SIGTERM', () => { fs.writeFileSync('asked', ''); process.exit(0); });
      said('Working.');
      ${FOREVER}
    `);
    await until(() => entries.some(({ message }) => message === 'Working.'));
    stopping.abort();
    await running;
    assert.ok(existsSync(`${folder}/asked`));
  });

  it('stops an agent that prints nothing for longer than the timeout', async () => {
    const { failure } = await run(FOREVER, { silenceMs: 1500 });
    assert.equal(failure?.failureClass, 'no_output');
  });

  it('reports the error text of an agent that crashed', async () => {
    const died = await run("console.error('segmentation of faults'); process.exit(3);");
    assert.equal(died.failure?.failureClass, 'crashed');
    assert.match(died.failure?.message ?? '', /exit code 3.*segmentation of faults/s);
    const killed = await run("process.kill(process.pid, 'SIGKILL');");
    assert.match(killed.failure?.message ?? '', /SIGKILL/);
    assert.deepEqual(killed.exit, { code: null, signal: 'SIGKILL' });
  });

  it("recognizes a refused credential and a rate limit in the agent's result", async () => {
    const refused = (status: number, text: string) =>
      run(
        `print({ type: 'result', subtype: 'success', is_error: true, api_error_status: ${status}, result: '${text}' });`,
      );
    assert.equal((await refused(401, 'Invalid API key')).failure?.failureClass, 'authentication');
    assert.equal((await refused(429, 'Slow down')).failure?.failureClass, 'rate_limit');
    assert.equal(
      (await run("console.error('Please run /login'); process.exit(1)")).failure?.failureClass,
      'authentication',
    );
  });

  it('fails with a rate limit if an agent crashed while it retried a request to its model', async () => {
    const retry =
      "print({ type: 'system', subtype: 'api_retry', attempt: 7, max_retries: 10, error_status: 429, error: 'rate_limit' });";
    const { failureClass, message } = (await run(`${retry} process.exit(1);`)).failure ?? {};
    assert.equal(failureClass, 'rate_limit');
    assert.match(message ?? '', /rate_limit; retry 7 of 10/);
  });

  it('fails with the class cli_missing if the program of the agent is missing', async () => {
    const { failure } = await run('', { env: { PATH: `${folder}/nowhere` } });
    assert.equal(failure?.failureClass, 'cli_missing');
  });

  it('sends less than 9 MiB of an output of 40 MB to the log', async () => {
    const { failure, transcript } = await run(`
      const line = 'x'.repeat(1000);
      let left = 40_000;
      const more = () => {
        while (left-- > 0) if (!process.stdout.write(line + '\\n')) return process.stdout.once('drain', more);
        result('Flooded.');
      };
      more();
    `);
    assert.equal(failure, undefined);
    assert.equal(transcript.work().summary, 'Flooded.');
    const characters = entries.reduce((sum, { message }) => sum + message.length, 0);
    assert.ok(characters < 9 * 1024 * 1024, `${characters} characters`);
  });

  it('removes private keys and color codes from the log', async () => {
    await run(`
      console.error('-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA\\n-----END RSA PRIVATE KEY-----');
      console.error('\\u001b[31mred\\u001b[0m');
      result();
    `);
    const lines = entries.map(({ message }) => message);
    assert.ok(!lines.some((message) => message.includes('MIIEpAIBAAKCAQEA')));
    assert.ok(lines.includes('red'));
  });
});
