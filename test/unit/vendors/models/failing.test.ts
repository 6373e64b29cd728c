/** Failed requests to models: their failure class, and whether their outcome is known. No error reveals a secret. */
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { FailureClass } from '../../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import type { Behavior } from '../../../support/models/behavior.ts';
import { failedEvents } from '../../../support/models/openai/responses.ts';
import {
  AGENTS,
  type AgentName,
  agentAt,
  ask,
  failureOf,
  fixture,
  KEY,
  LocalIdentity,
  question,
  TWO_PIECES,
} from './fixture.ts';

interface Case {
  readonly title: string;
  readonly does: Behavior;
  readonly kind: FailureClass;
  /** If true, the vendor may have processed the request. */
  readonly unknown: boolean;
  readonly agents?: readonly AgentName[];
}

/** Address whose port is closed, because only the root user could listen on that port. */
const DESERTED = 'http://127.0.0.1:2';

/** Text of the vendor that must not occur in any message of Muster. */
const VENDORS_WORDS = 'words of the vendor';

/** An empty turn of OpenAI's model. */
const TURN = {
  model: 'openai-test',
  number: 1,
  thinking: '',
  text: '',
  calls: [],
  ending: 'complete',
  usage: { input: 0, cached: 0, output: 0, reasoning: 0 },
} as const;

const anthropicSays = (type: string, message: string, details?: object) => ({
  type: 'error',
  error: { type, message: `${message} ${VENDORS_WORDS} ${KEY}`, ...(details && { details }) },
  request_id: 'req_1',
});

const geminiSays = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, status, message: `${message} ${VENDORS_WORDS} ${KEY}`, details },
});

const status = (code: number, kind: FailureClass, unknown = false): Case => ({
  title: `HTTP ${code}`,
  does: { does: 'error', status: code },
  kind,
  unknown,
});

const openAiSays = (code: string, type: string) => ({
  error: { message: `${VENDORS_WORDS} ${KEY}`, type, param: null, code },
});

const refused = (
  agent: AgentName,
  status: number,
  body: unknown,
  { kind, title }: Pick<Case, 'kind' | 'title'>,
): Case => ({ title, does: { does: 'error', status, body }, kind, unknown: false, agents: [agent] });

const unknownOutcome = (title: string, kind: Case['kind'], does: Case['does']): Case => ({
  title,
  does,
  kind,
  unknown: true,
});

const cases: readonly Case[] = [
  status(400, 'invalid_request'),
  status(401, 'authentication'),
  status(402, 'quota'),
  status(403, 'authentication'),
  status(404, 'invalid_request'),
  status(408, 'timeout', true),
  status(413, 'context_too_long'),
  status(429, 'rate_limited'),
  status(500, 'server_error', true),
  status(502, 'server_error', true),
  status(503, 'overloaded'),
  status(504, 'timeout', true),
  status(529, 'overloaded'),
  unknownOutcome("a gateway's page instead of the vendor's error", 'server_error', {
    does: 'error',
    status: 502,
    body: `<h1>${VENDORS_WORDS}</h1>`,
  }),
  refused('claude', 400, anthropicSays('invalid_request_error', 'prompt is too long: 215000 tokens > 200000 maximum'), {
    kind: 'context_too_long',
    title: 'a prompt that is too long',
  }),
  refused(
    'claude',
    400,
    anthropicSays('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    { kind: 'quota', title: 'no credit' },
  ),
  refused('claude', 429, anthropicSays('rate_limit_error', 'Spent.', { error_code: 'enforced_spend_limit_reached' }), {
    kind: 'quota',
    title: 'a spending limit',
  }),
  refused(
    'gemini',
    400,
    geminiSays(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
    { kind: 'context_too_long', title: 'a prompt that is too long' },
  ),
  refused(
    'gemini',
    400,
    geminiSays(400, 'INVALID_ARGUMENT', 'API key not valid.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ]),
    { kind: 'authentication', title: 'an invalid key' },
  ),
  refused('gemini', 400, geminiSays(400, 'FAILED_PRECONDITION', 'The free tier is not available in your country.'), {
    kind: 'quota',
    title: 'no billing',
  }),
  refused(
    'gemini',
    429,
    geminiSays(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
      },
    ]),
    { kind: 'quota', title: "the day's quota" },
  ),
  refused('gemini', 429, geminiSays(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded, limit: 0, model: gemini-test'), {
    kind: 'quota',
    title: 'a quota of zero',
  }),
  refused('openai', 429, openAiSays('insufficient_quota', 'insufficient_quota'), { kind: 'quota', title: 'no credit' }),
  refused('local', 400, openAiSays('context_length_exceeded', 'invalid_request_error'), {
    kind: 'context_too_long',
    title: 'a prompt that is too long',
  }),
  refused('openai', 400, openAiSays('content_policy_violation', 'invalid_request_error'), {
    kind: 'refused',
    title: "a prompt that the vendor's filter refuses",
  }),
  {
    ...unknownOutcome('a response that the vendor could not complete', 'rate_limited', {
      does: 'babble',
      type: 'text/event-stream',
      body: failedEvents(TURN, 'rate_limit_exceeded').join(''),
    }),
    agents: ['openai'],
  },
  { title: 'a refusal to answer', does: { does: 'answer', end: 'refusal' }, kind: 'refused', unknown: false },
  { title: 'an empty answer', does: { does: 'answer', text: '' }, kind: 'malformed', unknown: false },
  unknownOutcome('a connection lost before the first word', 'network', { does: 'hangUp' }),
  unknownOutcome('a connection lost in the middle', 'truncated', { does: 'break', after: 2, how: 'loss' }),
  unknownOutcome('a stream that ends in the middle', 'truncated', { does: 'break', after: 2, how: 'end' }),
  unknownOutcome('a stream that ends with an error', 'overloaded', { does: 'break', after: 2, how: 'error' }),
  unknownOutcome('a page instead of a stream', 'malformed', { does: 'babble', body: `<html>${VENDORS_WORDS}</html>` }),
  unknownOutcome('events that are not JSON', 'malformed', {
    does: 'babble',
    type: 'text/event-stream',
    body: `event: x\ndata: {"${VENDORS_WORDS}\n\n`,
  }),
  unknownOutcome('events of another form', 'malformed', {
    does: 'babble',
    type: 'text/event-stream',
    body: [{ type: 'message_start', candidates: VENDORS_WORDS }, { type: 'response.output_text.delta' }]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  }),
  unknownOutcome('nothing at all', 'malformed', { does: 'babble', type: 'text/event-stream', body: '' }),
];

describe('failed request to a model', function () {
  this.timeout(120_000);
  const { models, agent } = fixture();

  for (const name of AGENTS)
    describe(name, () => {
      for (const { title, does, kind, unknown, agents = AGENTS } of cases) {
        if (!agents.includes(name)) continue;
        it(`is classified as ${kind}: ${title}`, async () => {
          const { prompt, match } = question(name, title);
          models.when(match, does);
          const { failure, printed } = await watched(() => failureOf(ask(agent(name), { prompt })));
          assert.equal(failure.kind, kind);
          assert.equal(failure.outcome_unknown, unknown);
          assert.equal(models.askedAbout(prompt).length, 1, 'asked exactly once');
          const shown = `${inspect(failure, { depth: 10, showHidden: true })} ${printed}`;
          assert.ok(failure.message.startsWith(`${name} `), failure.message);
          for (const secret of [KEY, VENDORS_WORDS, 'its own words', prompt])
            assert.ok(!shown.includes(secret), `${secret} is in: ${shown}`);
          assert.equal(printed, '');
        });
      }

      it('counts the usage up to a refusal or an interruption', async () => {
        const { prompt, match } = question(name, 'Count.');
        models.when({ ...match, times: 1 }, { does: 'break', after: TWO_PIECES[name], how: 'end' });
        const broken = await failureOf(ask(agent(name), { prompt }));
        assert.ok((broken.usage?.input_tokens ?? 0) >= Math.ceil(prompt.length / 5), JSON.stringify(broken.usage));
        models.when({ ...match, times: 1 }, { does: 'answer', end: 'refusal' });
        const refusal = await failureOf(ask(agent(name), { prompt }));
        assert.equal(refusal.usage?.input_tokens, Math.ceil(prompt.length / 4));
      });

      for (const how of ['end', 'loss', 'error'] as const)
        it(`counts at least the text that was received before an interruption: ${how}`, async () => {
          const { prompt, match } = question(name, 'Break off.');
          const text = 'word '.repeat(300_000);
          models.when(match, { does: 'break', after: TWO_PIECES[name], how, text });
          let received = '';
          const asking = ask(agent(name), { prompt }, { onText: (piece) => (received += piece) });
          const { usage, outcome_unknown: outcomeUnknown } = await failureOf(asking);
          assert.ok(received.length >= 900_000, String(received.length));
          assert.equal(outcomeUnknown, true);
          assert.ok(usage && usage.output_tokens >= received.length / 4, JSON.stringify(usage));
          assert.ok(usage.input_tokens >= Math.ceil(prompt.length / 5), JSON.stringify(usage));
        });

      it('reports the retry delay if the header contains a number of seconds', async () => {
        const { prompt, match } = question(name, 'Again.');
        models.when(match, { does: 'error', status: 429, headers: { 'retry-after': '7' } });
        assert.equal((await failureOf(ask(agent(name), { prompt }))).retry_after_ms, 7000);
      });

      it('reports the retry delay if the header contains a date', async () => {
        const { prompt, match } = question(name, 'Later.');
        const until = new Date(Date.now() + 3_600_000).toUTCString();
        models.when(match, { does: 'error', status: 503, headers: { 'retry-after': until } });
        const { retry_after_ms: retryAfterMs = 0 } = await failureOf(ask(agent(name), { prompt }));
        assert.ok(retryAfterMs > 3_000_000 && retryAfterMs <= 3_600_000, String(retryAfterMs));
      });

      it('reports no retry delay if the header is unreadable', async () => {
        const { prompt, match } = question(name, 'Soon.');
        models.when(match, { does: 'error', status: 429, headers: { 'retry-after': 'soon' } });
        assert.equal((await failureOf(ask(agent(name), { prompt }))).retry_after_ms, undefined);
      });

      it('has a known outcome if the connection was refused', async () => {
        const failure = await failureOf(ask(agentAt(name, { baseUrl: DESERTED }), { prompt: 'Hello?' }));
        assert.equal(failure.kind, 'network');
        assert.equal(failure.outcome_unknown, false);
      });

      it('never sends the key to the target of a redirect', async () => {
        const { prompt, match } = question(name, 'Elsewhere.');
        const location = `${models.url}/elsewhere`;
        models.when(match, { does: 'redirect', location });
        const failure = await failureOf(ask(agent(name), { prompt }));
        assert.equal(failure.kind, 'network');
      });

      it('reports a wrong key as an authentication failure', async () => {
        const { prompt } = question(name, 'Let me in.');
        const failure = await failureOf(ask(agent(name, { apiKey: 'wrong-key' }), { prompt }));
        assert.equal(failure.kind, 'authentication');
        assert.equal(models.askedAbout(prompt).length, 0);
      });
    });

  it('of claude is classified as context_too_long if the prompt fills the context', async () => {
    const { prompt, match } = question('claude', 'Full.');
    models.when({ ...match, times: 1 }, { does: 'answer', text: '', end: 'full' });
    assert.equal((await failureOf(ask(agent('claude'), { prompt }))).kind, 'context_too_long');
    models.when({ ...match, times: 1 }, { does: 'answer', text: 'Some', end: 'full' });
    assert.equal((await ask(agent('claude'), { prompt })).complete, false);
  });

  for (const name of ['vertex-claude', 'vertex-gemini'] as const) {
    it(`of ${name} is an authentication failure if Google issues no token, and quotes nothing`, async () => {
      const lost = agentAt(name, { baseUrl: models.url }, new LocalIdentity(undefined));
      const failure = await failureOf(ask(lost, { prompt: 'Who am I?' }));
      assert.deepEqual([failure.kind, failure.outcome_unknown], ['authentication', false]);
      assert.match(failure.message, /\(no Google credentials\)\.$/);
      assert.ok(!inspect(failure, { depth: 10, showHidden: true }).includes(KEY));
    });

    it(`of ${name} names the role if Vertex AI refuses access`, async () => {
      const { prompt, match } = question(name, 'May I?');
      models.when(match, { does: 'error', status: 403 });
      assert.match((await failureOf(ask(agent(name), { prompt }))).message, /roles\/aiplatform\.user/);
    });
  }

  it('of gemini has the retry delay of the response body if no header contains one', async () => {
    const { prompt, match } = question('gemini', 'Wait.');
    const delay = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' };
    const body = geminiSays(429, 'RESOURCE_EXHAUSTED', 'Please retry in 34.07s.', [delay]);
    models.when(match, { does: 'error', status: 429, body });
    const failure = await failureOf(ask(agent('gemini'), { prompt }));
    assert.equal(failure.kind, 'rate_limited');
    assert.equal(failure.retry_after_ms, 34_070);
  });
});

/** Collects the console output of the SDKs. Nothing else prints while the request runs. */
async function watched<Failure>(work: () => Promise<Failure>) {
  const methods = ['log', 'info', 'warn', 'error', 'debug'] as const;
  const originals = methods.map((method) => console[method]);
  let printed = '';
  for (const method of methods)
    console[method] = (...args: unknown[]) => {
      printed += `${inspect(args)}\n`;
    };
  try {
    return { failure: await work(), printed };
  } finally {
    methods.forEach((method, index) => {
      console[method] = originals[index]!;
    });
  }
}
