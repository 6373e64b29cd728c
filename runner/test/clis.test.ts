/** Parses output of coding agents. The output was recorded from the real programs. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { forAll } from '../../test/support/properties.ts';
import { claude } from '../src/clis/claude.ts';
import type { AgentResult, CodingCli, RunWishes } from '../src/clis/cli.ts';
import { gemini } from '../src/clis/gemini.ts';

const NOTHING_ALLOWED = { model: undefined, allowedTools: [], unsafe: false };

function argumentsOf(cli: CodingCli, wishes: Partial<RunWishes>): readonly string[] {
  const { args, dispose } = cli.prepare({ ...NOTHING_ALLOWED, ...wishes }, { folder: '/nowhere', env: {} });
  dispose();
  return args;
}

function resultIn(cli: CodingCli, line: object): AgentResult {
  const [event] = cli.read(JSON.stringify(line)) ?? [];
  assert.ok(event?.kind === 'result');
  return event;
}

function eventsOf(cli: CodingCli, lines: readonly object[]): unknown[] {
  return lines.flatMap((line): readonly unknown[] => cli.read(JSON.stringify(line)) ?? ['unread']);
}

describe('the adapter for Claude Code', () => {
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
    const [event] = claude.read('{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":3}') ?? [];
    assert.ok(event?.kind === 'result' && !event.succeeded && event.text === 'error_max_turns');
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

  it('skips the permission checks of Claude Code only with --unsafe', () => {
    assert.ok(!argumentsOf(claude, {}).join(' ').includes('dangerously'));
    assert.ok(argumentsOf(claude, { unsafe: true }).includes('--dangerously-skip-permissions'));
  });

  it('passes each allowed tool as one JSON string of the settings', () =>
    forAll(fc.array(fc.string()), (allowedTools) => {
      const args = argumentsOf(claude, { allowedTools });
      const settings: unknown = JSON.parse(args[args.indexOf('--settings') + 1] ?? '');
      const permissions = allowedTools.length > 0 ? { permissions: { allow: allowedTools } } : {};
      assert.deepEqual(settings, { workflowKeywordTriggerEnabled: false, ...permissions });
      assert.ok(!args.includes('--allowedTools'));
    }));
});

describe('the adapter for Gemini CLI', () => {
  it('converts each kind of output line to an event', () => {
    const lines: readonly object[] = [
      { type: 'init', timestamp: '2026-11-22T04:36:23.399Z', session_id: 's', model: 'auto' },
      { type: 'message', role: 'user', content: 'Implement it' },
      { type: 'message', role: 'assistant', content: 'Do', delta: true },
      { type: 'tool_use', tool_name: 'run_shell_command', tool_id: 'x', parameters: { command: 'npm test' } },
      { type: 'tool_result', tool_id: 'x', status: 'error', error: { type: 'tool_not_registered', message: 'No' } },
      { type: 'error', severity: 'warning', message: 'Loop detected' },
      {
        type: 'result',
        status: 'success',
        stats: { total_tokens: 62, input_tokens: 41, output_tokens: 21, cached: 1, tool_calls: 3 },
      },
    ];
    assert.deepEqual(eventsOf(gemini, lines), [
      { kind: 'started', model: 'auto' },
      { kind: 'said', text: 'Do', partial: true },
      { kind: 'toolUse', tool: 'run_shell_command', command: 'npm test', file: undefined },
      { kind: 'toolResult', failed: true, text: 'No' },
      { kind: 'warned', text: 'Loop detected' },
      {
        kind: 'result',
        succeeded: true,
        text: '',
        httpStatus: undefined,
        turns: undefined,
        tokens: { input: 40, output: 21, cacheRead: 1, cacheWrite: 0 },
        tokensOf: 'session',
        costUsd: undefined,
      },
    ]);
  });

  it('counts cached tokens only once, and counts thoughts as output tokens', () => {
    const tokens = (stats: object | null) => resultIn(gemini, { type: 'result', status: 'success', stats }).tokens;
    const whole = { total_tokens: 112, input_tokens: 100, output_tokens: 5, cached: 40, input: 60 };
    assert.deepEqual(tokens(whole), { input: 60, output: 12, cacheRead: 40, cacheWrite: 0 });
    assert.deepEqual(tokens({ input_tokens: 9, output_tokens: 3, cached: null }), {
      input: 9,
      output: 3,
      cacheRead: 0,
      cacheWrite: 0,
    });
    assert.equal(tokens(null), undefined);
  });

  it('approves only edits automatically, unless --unsafe is set', () => {
    assert.ok(argumentsOf(gemini, {}).includes('auto_edit'));
    assert.ok(argumentsOf(gemini, { unsafe: true }).includes('yolo'));
  });
});

describe('the adapters for coding agents', () => {
  const both: readonly CodingCli[] = [claude, gemini];

  it('accept any output line without an exception', () => {
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      fc.object().map((value) => JSON.stringify({ type: 'result', ...value })),
    );
    forAll(line, (text) => {
      for (const cli of both) {
        const events = cli.read(text);
        assert.ok(events === undefined || Array.isArray(events));
      }
    });
    for (const cli of both) assert.equal(cli.read('Warning: 256-color support not detected.'), undefined);
  });
});
