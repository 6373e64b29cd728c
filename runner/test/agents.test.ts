/** Parses output of coding agents. The output was recorded from the real programs. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { z } from 'zod';
import { forAll } from '../../test/support/properties.ts';
import type { AgentEvent, AgentProgram, AgentResult, RunWishes } from '../src/agents/agent.ts';
import { claude } from '../src/agents/claude.ts';
import { KNOWN_AGENTS } from '../src/agents/known.ts';

const NOTHING_ALLOWED: RunWishes = { allowedTools: [], unsafe: false };

async function argumentsOf(agent: AgentProgram, wishes: Partial<RunWishes>): Promise<readonly string[]> {
  return (await agent.launch({ ...NOTHING_ALLOWED, ...wishes }, {})).args;
}

/** Opens a session without a process. Returns the lines that it writes, and the events of lines that it reads. */
function sessionWith(agent: AgentProgram) {
  const sent: string[] = [];
  const events: AgentEvent[] = [];
  const port = { send: (line: string) => void sent.push(line), close: () => undefined };
  const order = { prompt: { id: 'prompt', text: 'Task: x' }, wishes: NOTHING_ALLOWED, folder: '/nowhere' };
  const session = agent.open(order, { ...port, emit: (event) => void events.push(event) });
  return { session, sent, events };
}

function eventsOf(agent: AgentProgram, lines: readonly object[]): readonly AgentEvent[] {
  const { session, events } = sessionWith(agent);
  for (const line of lines) assert.ok(session.read(JSON.stringify(line)));
  return events;
}

function resultIn(agent: AgentProgram, line: object): AgentResult {
  const [event] = eventsOf(agent, [line]);
  assert.ok(event?.kind === 'result');
  return event;
}

describe('the driver for Claude Code', () => {
  it('converts each kind of output line to an event', () => {
    const use = { type: 'tool_use', id: 'toolu_0', name: 'Edit', input: { file_path: '/w/a.ts', old_string: 'a' } };
    const lines: readonly object[] = [
      { type: 'system', subtype: 'init', model: 'claude-opus-4-8[1m]', apiKeySource: 'none' },
      { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }, use] } },
      {
        type: 'user',
        message: { content: [{ tool_use_id: 'toolu_0', type: 'tool_result', content: 'No', is_error: true }] },
      },
      { type: 'rate_limit_event', anything: 1 },
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        api_error_status: null,
        num_turns: 5,
        result: 'Done.',
        total_cost_usd: 0.0015,
        usage: { input_tokens: 50, output_tokens: 40, cache_read_input_tokens: 30 },
      },
    ];
    assert.deepEqual(eventsOf(claude, lines), [
      { kind: 'started', model: 'claude-opus-4-8[1m]', hasKey: false },
      { kind: 'said', text: 'Hello', partial: false },
      { kind: 'toolUse', tool: 'Edit', command: undefined, file: '/w/a.ts' },
      { kind: 'toolResult', failed: true, text: 'No' },
      {
        kind: 'result',
        succeeded: true,
        text: 'Done.',
        httpStatus: undefined,
        turns: 5,
        tokens: { input: 50, output: 40, cacheRead: 30, cacheWrite: 0 },
        tokensOf: 'prompt',
        costUsd: 0.0015,
      },
    ]);
  });

  it('reads the end of a rate limit only from events that report a reached limit', () => {
    const line = (info: object) => ({ type: 'rate_limit_event', rate_limit_info: info });
    const rejected = { status: 'rejected', resetsAt: 1795700000, rateLimitType: 'five_hour' };
    assert.deepEqual(eventsOf(claude, [line(rejected), line({ status: 'allowed_warning', resetsAt: 1795700000 })]), [
      { kind: 'limited', endsAt: 1795700000_000 },
    ]);
    assert.deepEqual(eventsOf(claude, [line({ status: 'rejected' })]), [{ kind: 'limited', endsAt: undefined }]);
  });

  it('reports a failure if the agent has used all its turns', () => {
    const line = { type: 'result', subtype: 'error_max_turns', is_error: true, num_turns: 3 };
    const { succeeded, text } = resultIn(claude, line);
    assert.deepEqual({ succeeded, text }, { succeeded: false, text: 'error_max_turns' });
  });

  it('reads the tokens of a result, even if fields are null or missing', () => {
    const tokens = (usage: object | null) => resultIn(claude, { type: 'result', usage }).tokens;
    const whole = {
      input_tokens: 12,
      cache_creation_input_tokens: 60_000,
      cache_read_input_tokens: 7,
      output_tokens: 1,
    };
    assert.deepEqual(tokens(whole), { input: 12, output: 1, cacheRead: 7, cacheWrite: 60_000 });
    const partial = { input_tokens: 12, cache_creation_input_tokens: null, cache_read_input_tokens: null };
    assert.deepEqual(tokens(partial), { input: 12, output: 0, cacheRead: 0, cacheWrite: 0 });
    assert.equal(tokens(null), undefined);
  });

  it('adds up the tokens of all models if the result lists the tokens by model', () => {
    const { tokens, tokensOf } = resultIn(claude, {
      type: 'result',
      usage: { input_tokens: 1, output_tokens: 1 },
      modelUsage: {
        'claude-opus-4-8[1m]': {
          inputTokens: 36,
          outputTokens: 9,
          cacheReadInputTokens: 150,
          cacheCreationInputTokens: 1800,
        },
        'claude-haiku-4-5': { inputTokens: 4, outputTokens: 1, cacheReadInputTokens: null, webSearchRequests: 0 },
      },
    });
    assert.deepEqual(tokens, { input: 40, output: 10, cacheRead: 150, cacheWrite: 1800 });
    assert.equal(tokensOf, 'session');
  });

  it('acknowledges a message when Claude Code passes it to the model, and only once', () => {
    for (const acknowledge of [
      (uuid: string) => ({ type: 'command_lifecycle', command_uuid: uuid, state: 'started' }),
      (uuid: string) => ({ type: 'user', uuid, isReplay: true, message: { content: 'x' } }),
    ]) {
      const { session, sent, events } = sessionWith(claude);
      session.say({ id: 'm', text: 'A message' });
      const { uuid } = z.object({ uuid: z.string() }).parse(JSON.parse(sent[1] ?? ''));
      session.read(JSON.stringify({ type: 'command_lifecycle', command_uuid: uuid, state: 'queued' }));
      assert.deepEqual(events, []);
      for (const line of [acknowledge(uuid), acknowledge(uuid)]) session.read(JSON.stringify(line));
      assert.deepEqual(events, [{ kind: 'heard', id: 'm' }]);
    }
  });

  it('ends with the second refusal of the credential, without waiting for ten retries', () => {
    const retry = (attempt: number) => ({ type: 'system', subtype: 'api_retry', attempt, error_status: 401 });
    const kinds = eventsOf(claude, [retry(1), retry(2)]).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['warned', 'result']);
  });

  it('passes each allowed tool as one JSON string of the settings', () =>
    forAll(fc.array(fc.string()), (allowedTools) => {
      const { args } = z
        .object({ args: z.array(z.string()) })
        .parse(claude.launch({ allowedTools, unsafe: false }, {}));
      const settings: unknown = JSON.parse(args[args.indexOf('--settings') + 1] ?? '');
      const permissions = allowedTools.length > 0 ? { permissions: { allow: allowedTools } } : {};
      assert.deepEqual(settings, { workflowKeywordTriggerEnabled: false, ...permissions });
      assert.ok(!args.includes('--allowedTools'));
    }));
});

describe('the drivers for coding agents', () => {
  it('read any line of output without an exception', () => {
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      fc.object().map((value) => JSON.stringify({ type: 'result', ...value })),
      fc.object().map((value) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...value })),
      fc.object().map((params) => JSON.stringify({ method: 'turn/completed', params })),
    );
    for (const agent of KNOWN_AGENTS) {
      const { session } = sessionWith(agent);
      forAll(line, (text) => assert.equal(typeof session.read(text), 'boolean'));
      assert.equal(session.read('Warning: 256-color support not detected.'), false);
    }
  });

  it('turn off permission checks only with --unsafe', async () => {
    const flags = (unsafe: boolean) =>
      Promise.all(KNOWN_AGENTS.map(async (agent) => (await argumentsOf(agent, { unsafe })).join(' ')));
    assert.doesNotMatch((await flags(false)).join(), /dangerous|yolo/);
    assert.match((await flags(true)).join(), /--dangerously-skip-permissions.*yolo/);
  });
});
