/** Sessions with stand-ins for coding agents: results, limits, messages and permissions. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AgentProgram } from '../src/agents/agent.ts';
import { codex } from '../src/agents/codex.ts';
import { KNOWN_AGENTS, namedAgent } from '../src/agents/known.ts';
import type { LogEntry, Message } from '../src/hub/hub.ts';
import { createRedactor } from '../src/redaction.ts';
import { type AgentRun, type AgentRunOptions, runAgent } from '../src/task/agentRun.ts';
import { Conversation } from '../src/task/conversation.ts';
import { TaskLog } from '../src/task/log.ts';
import { optionsFor } from './support/agentRuns.ts';
import { newFolder, removeFolder } from './support/folders.ts';
import { acpStandIn, codexStandIn } from './support/protocols.ts';
import { FOREVER, installProgram, installStandIn } from './support/standIn.ts';
import { until } from './support/waiting.ts';

const goose = namedAgent('goose', ['goose', 'acp']);
const knownAgent = (tool: string): AgentProgram => {
  const agent = KNOWN_AGENTS.find((one) => one.tool === tool);
  assert.ok(agent);
  return agent;
};
const messageOf = (id: string): Message => ({ id, from: 'ada', text: `Text of ${id}`, at: '2026-11-30T10:00:00Z' });

describe('a session with a coding agent', () => {
  let folder: string;
  let entries: Omit<LogEntry, 'sequence'>[];
  let log: TaskLog;
  let conversation: Conversation;

  beforeEach(() => {
    folder = newFolder();
    mkdirSync(`${folder}/work`);
    entries = [];
    log = new TaskLog(createRedactor([], {}), (entry) => entries.push(entry));
    conversation = new Conversation([], { log, frame: ({ text }) => `A message: ${text}`, taken: new Set() });
  });
  afterEach(() => removeFolder(folder));

  function start(options: Partial<AgentRunOptions>): Promise<AgentRun> {
    const env = { PATH: `${folder}/bin`, HOME: folder };
    return runAgent(optionsFor(folder, log, { folder: `${folder}/work`, env, conversation, ...options }));
  }

  function run(agent: AgentProgram, turn: string, options: Partial<AgentRunOptions> = {}): Promise<AgentRun> {
    const source = agent === codex ? codexStandIn(turn) : acpStandIn(turn);
    installProgram(`${folder}/bin`, source, agent.command[0]);
    return start({ agent, ...options });
  }

  const said = (text: string): boolean => entries.some(({ message }) => message === text);
  const heard = (): readonly string[] => entries.flatMap(({ data }) => data?.message_id ?? []);

  it('reports the work of Codex: commands, files, tokens, and the last text', async () => {
    const { failure, exit, transcript } = await run(
      codex,
      `item({ type: 'commandExecution', command: "/bin/bash -lc 'npm test'", commandActions: [{ command: 'npm test' }], status: 'completed', aggregatedOutput: 'ok' });
       item({ type: 'fileChange', changes: [{ path: process.cwd() + '/a.ts' }], status: 'completed' });
       spend({ inputTokens: 100, cachedInputTokens: 40, cacheWriteInputTokens: 10, outputTokens: 20 });
       item({ type: 'agentMessage', text: 'I did: ' + text });`,
    );
    assert.equal(failure, undefined);
    assert.deepEqual(exit, { code: 0, signal: null });
    const { commands, tools, tokens, summary, model, costUsd } = transcript.work();
    assert.deepEqual(commands, ['npm test']);
    assert.deepEqual(tools, { shell: 1, apply_patch: 1 });
    assert.deepEqual(tokens, { input: 50, output: 20, cacheRead: 40, cacheWrite: 10 });
    assert.deepEqual({ summary, model, costUsd }, { summary: 'I did: Do it.', model: 'gpt', costUsd: undefined });
  });

  for (const [info, expected] of [
    ['{ httpConnectionFailed: { httpStatusCode: 401 } }', 'authentication'],
    ['{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }', 'rate_limit'],
    ["'usageLimitExceeded'", 'rate_limit'],
    ["'serverOverloaded'", 'rate_limit'],
    ["'unauthorized'", 'authentication'],
    ["'sessionBudgetExceeded'", 'over_budget'],
    ["'other'", 'crashed'],
  ] as const)
    it(`fails with ${expected} if Codex reports ${info}`, async () => {
      const { failure } = await run(codex, `throw { message: 'The model refused.', codexErrorInfo: ${info} };`);
      assert.equal(failure?.failureClass, expected);
    });

  it('reports when the limit of a Codex subscription ends', async () => {
    const limits =
      '{ primary: { usedPercent: 100, resetsAt: 1795700000 }, secondary: { usedPercent: 20, resetsAt: 9 } }';
    const turn = `note('account/rateLimits/updated', { rateLimits: ${limits} });
      throw { message: 'Limit', codexErrorInfo: 'usageLimitExceeded' };`;
    assert.equal((await run(codex, turn)).failure?.resetsAt, 1795700000_000);
  });

  it('fails without another attempt if the sandbox of Codex cannot start', async () => {
    const { failure } = await run(codex, "throw { message: 'No sandbox.', codexErrorInfo: 'sandboxError' };");
    assert.deepEqual([failure?.retryable, failure?.message], [false, 'codex: No sandbox.']);
  });

  it('fails if the agent used its model but said nothing and used no tool, as after a refusal', async () => {
    const { failure } = await run(codex, 'spend({ inputTokens: 5, outputTokens: 1 });');
    assert.match(failure?.message ?? '', /did no work/);
  });

  it('reports the work of an agent with the Agent Client Protocol', async () => {
    const { failure, exit, transcript } = await run(
      goose,
      `update({ sessionUpdate: 'tool_call', toolCallId: 'a', kind: 'execute', status: 'pending', title: 'bash' });
       update({ sessionUpdate: 'tool_call_update', toolCallId: 'a', status: 'in_progress', rawInput: { command: 'npm test' } });
       update({ sessionUpdate: 'tool_call_update', toolCallId: 'a', status: 'completed' });
       update({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } });
       update({ sessionUpdate: 'unknown_news' });
       say('Do'); say('ne.');
       return { usage: { inputTokens: 60, outputTokens: 20, cachedReadTokens: 40 } };`,
    );
    assert.equal(failure, undefined);
    assert.deepEqual(exit, { code: 0, signal: null });
    const { commands, tools, tokens, summary, model, costUsd } = transcript.work();
    assert.deepEqual({ commands, tools }, { commands: ['npm test'], tools: { execute: 1 } });
    assert.deepEqual(tokens, { input: 60, output: 20, cacheRead: 40, cacheWrite: 0 });
    assert.deepEqual({ summary, model, costUsd }, { summary: 'Done.', model: 'm', costUsd: 0.5 });
  });

  for (const [turn, expected] of [
    ["throw { code: 401, message: 'No.' };", 'authentication'],
    ["throw { code: 429, message: 'No.' };", 'rate_limit'],
    ["throw { code: -32000, message: 'Sign in first.' };", 'authentication'],
    ["throw { code: -32603, message: 'Internal error: rate limit' };", 'rate_limit'],
    ["say('Request failed: 401 Unauthorized');", 'authentication'],
    ["say('I will not.'); return { stopReason: 'refusal' };", 'crashed'],
    ["say('And then'); return { stopReason: 'max_tokens' };", 'crashed'],
  ] as const)
    it(`fails with ${expected} if an agent with the Agent Client Protocol runs ${turn}`, async () =>
      assert.equal((await run(goose, turn)).failure?.failureClass, expected));

  it('allows each permission at most once, and only within the worktree and the rules', async () => {
    symlinkSync(folder, `${folder}/work/out`);
    writeFileSync(`${folder}/work/in.ts`, '');
    const asks = [
      ["{ kind: 'edit', locations: [{ path: 'in.ts' }] }", 'allow_once'],
      ["{ kind: 'edit', locations: [{ path: 'new/file.ts' }] }", 'allow_once'],
      ["{ kind: 'edit', locations: [{ path: '../x.ts' }] }", 'reject_once'],
      ["{ kind: 'edit', locations: [{ path: 'in.ts' }, { path: '/etc/passwd' }] }", 'reject_once'],
      ["{ kind: 'edit', locations: [{ path: 'out/x.ts' }] }", 'reject_once'],
      ["{ kind: 'edit', locations: [{ path: '.git/config' }] }", 'reject_once'],
      ["{ kind: 'edit' }", 'reject_once'],
      ["{ kind: 'read', locations: [{ path: '/etc/passwd' }] }", 'reject_once'],
      ["{ kind: 'execute', rawInput: { command: 'npm test' } }", 'allow_once'],
      ["{ kind: 'execute', rawInput: { command: 'npm test && rm -rf /' } }", 'reject_once'],
      ["{ kind: 'execute', rawInput: { command: 'git log --oneline' } }", 'allow_once'],
      ["{ kind: 'execute', rawInput: { command: 'git log; rm x' } }", 'reject_once'],
      ["{ kind: 'execute', rawInput: { command: 'git logs' } }", 'reject_once'],
      ["{ kind: 'execute', title: 'npm test' }", 'reject_once'],
      ["{ kind: 'fetch', title: 'https://example.com' }", 'reject_once'],
      ['{}', 'reject_once'],
    ] as const;
    const turn = `for (const call of [${asks.map(([ask]) => ask).join(', ')}]) say(await ask(call) + ' ');`;
    const wishes = { allowedTools: ['Bash(npm test)', 'Bash(git log:*)'], unsafe: false };
    await run(goose, turn, { wishes });
    const answers = entries
      .filter(({ type, level }) => type === 'agent' && level === 'info')
      .map(({ message }) => message);
    assert.deepEqual(
      answers
        .filter((text) => /^(?:allow|reject)/.test(text))
        .slice(0, asks.length)
        .map((text) => text.trim()),
      asks.map(([, answer]) => answer),
    );
  });

  it('asks Copilot CLI to continue, because it ends its turn if a permission is refused', async () => {
    const turn = `if (text.startsWith('Do')) { await ask({ kind: 'execute', rawInput: { command: 'rm x' } }); say('Cancelled.'); }
      else say('Then: ' + text);`;
    const { transcript } = await run(knownAgent('COPILOT'), turn);
    assert.equal(transcript.work().summary, 'Then: Not allowed (execute): rm x. Continue without it.');
  });

  it('answers a request with an unknown method', async () => {
    const turn = `const id = 'x'; const answer = new Promise((resolve) => answers.set(id, resolve));
      send({ id, method: 'fs/read_text_file', params: { sessionId: 's', path: '/etc/passwd' } });
      say('code ' + (await answer).outcome.outcome);`;
    assert.equal((await run(goose, turn)).transcript.work().summary, 'code -32601');
  });

  it('passes a message to Codex and Claude Code during a turn', async () => {
    const codexRun = run(
      codex,
      "note('x', {}); item({ type: 'agentMessage', text: 'Working.' }); spend({ outputTokens: 9 }); item({ type: 'agentMessage', text: 'Got ' + await steered() });",
    );
    await until(() => said('Working.'));
    assert.deepEqual(heard(), []);
    conversation.receive([messageOf('m1')]);
    assert.equal((await codexRun).transcript.work().summary, 'Got A message: Text of m1');
    assert.deepEqual(heard(), ['m1']);

    conversation = new Conversation([], { log, frame: ({ text }) => text, taken: new Set() });
    installStandIn(`${folder}/bin`, "listen(); said('Ready.'); said('Got ' + listen()); result('');");
    const claudeRun = start({});
    await until(() => said('Ready.'));
    conversation.receive([messageOf('m2'), messageOf('m2')]);
    assert.equal((await claudeRun).failure, undefined);
    assert.ok(said('Got Text of m2'));
    assert.deepEqual(heard(), ['m1', 'm2']);
  });

  it('passes a message in another turn if Codex refuses it because the turn is ending', async () => {
    const turn = `spend({ outputTokens: 9 }); item({ type: 'agentMessage', text: 'Turn ' + turns + ': ' + text });
      if (turns === 1) await refused();`;
    const running = run(codex, turn);
    await until(() => said('Turn 1: Do it.'));
    conversation.receive([messageOf('m1')]);
    assert.equal((await running).transcript.work().summary, 'Turn 2: A message: Text of m1');
    assert.deepEqual(heard(), ['m1']);
  });

  it('passes messages to an agent with the Agent Client Protocol only after its turn', async () => {
    const go = `${folder}/go`;
    const waits = `while (!require('node:fs').existsSync(${JSON.stringify(go)})) await new Promise(setImmediate);`;
    const turn = `say('Start of ' + text.trim() + '. '); if (text.startsWith('Do')) { ${waits} say('End.'); }`;
    const running = run(goose, turn);
    await until(() => entries.some(({ message }) => message.startsWith('Started')));
    conversation.receive([messageOf('m1'), messageOf('m2')]);
    writeFileSync(go, '');
    assert.equal((await running).failure, undefined);
    const texts = entries.filter(({ type }) => type === 'agent').map(({ message }) => message.trim());
    assert.ok(texts.includes('Start of Do it.. End.'), texts.join('|'));
    assert.ok(
      texts.some((text) => text.includes('A message: Text of m1\n\nA message: Text of m2')),
      texts.join('|'),
    );
    assert.deepEqual(heard(), ['m1', 'm2']);
  });

  it('does not report a message as heard if the turn for it fails', async () => {
    const go = `${folder}/go`;
    const waits = `while (!require('node:fs').existsSync(${JSON.stringify(go)})) await new Promise(setImmediate);`;
    const turn = `if (!text.startsWith('Do')) throw { code: 401, message: 'No.' }; say('Busy.'); ${waits}`;
    const running = run(goose, turn);
    await until(() => entries.some(({ message }) => message.startsWith('Started')));
    conversation.receive([messageOf('m1')]);
    writeFileSync(go, '');
    assert.equal((await running).failure?.failureClass, 'authentication');
    assert.deepEqual(heard(), []);
  });

  it('leaves a message about no task to other attempts if the agent has not heard it', () => {
    const taken = new Set<string>();
    const got: string[] = [];
    const [one, other] = ['one', 'other'].map((name) => {
      const made = new Conversation([], { log, frame: ({ text }) => text, taken });
      made.attach(({ id }) => got.push(`${name} ${id}`) > 0);
      return made;
    });
    const about = { ...messageOf('m2'), task_id: 'task-1' };
    for (const conversation of [one, other]) conversation?.receive([messageOf('m1'), about]);
    assert.deepEqual(got, ['one m1', 'one m2', 'other m2']);
    one?.detach();
    other?.receive([messageOf('m1')]);
    assert.equal(got.at(-1), 'other m1');
  });

  it('stops Codex before its next step if it has used more tokens than allowed', async () => {
    const turn =
      "spend({ outputTokens: 60 }); spend({ outputTokens: 60 }); await interrupt; throw { message: 'x', codexErrorInfo: 'interrupted' };";
    const { failure, transcript } = await run(codex, turn, { caps: { maxTokens: 100 } });
    assert.deepEqual([failure?.failureClass, failure?.retryable], ['over_budget', false]);
    assert.match(failure?.message ?? '', /120 tokens of at most 100/);
    assert.equal(transcript.work().tokens?.output, 120);
  });

  it('stops Claude Code during a turn if its requests have used more tokens than allowed', async () => {
    const answer = (id: string) =>
      `print({ type: 'assistant', message: { id: '${id}', content: [{ type: 'text', text: 'x' }], usage: { output_tokens: 60 } } });`;
    const source = `listen(); ${answer('a')} ${answer('a')} said('Once.'); ${answer('b')} ${FOREVER}`;
    installStandIn(`${folder}/bin`, source);
    const { failure } = await start({ caps: { maxTokens: 100 } });
    assert.equal(failure?.message, 'claude used 120 tokens of at most 100, and was stopped.');
  });

  it('stops opencode after a turn that cost more than allowed', async () => {
    const turn =
      "update({ sessionUpdate: 'usage_update', cost: { amount: 2, currency: 'USD' } }); await cancel; return { stopReason: 'cancelled' };";
    const { failure } = await run(knownAgent('OPENCODE'), turn, { caps: { maxCostUsd: 1 } });
    assert.equal(failure?.message, 'opencode used $2 of at most $1, and was stopped.');
  });

  it('refuses a limit of the cost for an agent that does not report its cost', () =>
    assert.rejects(
      run(codex, '', { wishes: { allowedTools: [], unsafe: false, maxCostUsd: 1 } }),
      /maxTokens instead/,
    ));

  it('explains a silence after half of the time, and then stops the agent', async () => {
    const { failure } = await run(goose, 'await new Promise(() => undefined);', { silenceMs: 1500 });
    assert.equal(failure?.failureClass, 'no_output');
    assert.ok(said('No output from goose for 0.75 s. It may be waiting for its model.'));
  });

  it('runs Codex with the key of the environment only if no one is signed in or chose a provider', async () => {
    const flags = async (env: NodeJS.ProcessEnv, login: string) => {
      installProgram(`${folder}/bin`, `process.exit(${login})`, 'codex');
      const whole = { PATH: `${folder}/bin`, HOME: folder, ...env };
      return (await codex.launch({ allowedTools: [], unsafe: false }, whole)).args.join(' ');
    };
    const key = { OPENAI_API_KEY: 'sk-x' };
    assert.match(await flags(key, '1'), /model_provider="muster".*env_key="OPENAI_API_KEY"/);
    assert.equal(await flags(key, '0'), 'app-server');
    assert.equal(await flags({}, '1'), 'app-server');
    mkdirSync(`${folder}/.codex`);
    writeFileSync(`${folder}/.codex/config.toml`, 'model_provider = "azure"\n');
    assert.equal(await flags(key, '1'), 'app-server');
  });
});
