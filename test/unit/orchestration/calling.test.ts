/** Calls of hosted agents: attempts, waits, fallback agents and records of the attempts. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  FAILURE_CLASSES,
  type FailureClass,
  ModelFailure,
} from '../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { measuresOf } from '../../../functions/src/toolsets/orchestration/rules/calls/attempt.ts';
import {
  costOf,
  estimatedTokens,
  NO_DOLLAR_LIMIT,
  RunBudget,
} from '../../../functions/src/toolsets/orchestration/rules/calls/budget.ts';
import {
  backoff,
  type Call,
  MAX_WAIT_MS,
  REACTIONS,
} from '../../../functions/src/toolsets/orchestration/rules/calls/calling.ts';
import { UnknownPriceError } from '../../../functions/src/toolsets/orchestration/rules/calls/journal.ts';
import { forAll, forAllAsync } from '../../support/properties.ts';
import { type Act, call, calling, callOf, NotedAttempts, ScriptedAgent } from './scripted.ts';
import { VirtualTime } from './virtualTime.ts';

const PASSING: readonly FailureClass[] = [
  'overloaded',
  'rate_limited',
  'network',
  'timeout',
  'server_error',
  'truncated',
];

const FINAL: readonly FailureClass[] = ['refused', 'invalid_request', 'aborted'];

describe('call of a hosted agent', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = new VirtualTime();
  });

  const agent = (name: string, ...script: ConstructorParameters<typeof ScriptedAgent>[2]) =>
    new ScriptedAgent(name, time, script);

  for (const kind of PASSING)
    it(`is retried with increasing waits after ${kind}, and then sent to the fallback agent`, async () => {
      const claude = agent('claude', { fails: kind });
      const gemini = agent('gemini', { says: 'Done.' });
      const journal = new NotedAttempts();
      const result = await time.during(call(callOf(time, [claude, gemini]), ...calling(time, { journal })));
      assert.equal(result.kind, 'answered');
      const rows = result.attempts.map(({ agent: who, number, end, waited }) => [who, number, end, waited]);
      assert.deepEqual(rows, [
        ['claude', 1, kind, 0],
        ['claude', 2, kind, 250],
        ['claude', 3, kind, 500],
        ['gemini', 1, 'answered', 0],
      ]);
      assert.deepEqual(journal.ended, result.attempts);
      assert.deepEqual(result.warnings, [`gemini answered instead of claude (${kind}): claude failed.`]);
    });

  for (const kind of FINAL)
    it(`fails after ${kind} without another attempt`, async () => {
      const gemini = agent('gemini', { says: 'Done.' });
      const claude = agent('claude', { fails: kind });
      const result = await time.during(call(callOf(time, [claude, gemini]), ...calling(time)));
      assert.equal(result.kind, 'failed');
      assert.deepEqual([result.end, claude.requests.length, gemini.requests.length], [kind, 1, 0]);
    });

  for (const kind of ['authentication', 'quota'] as const)
    it(`is sent only to agents of other providers after ${kind}, in this and later calls of the run`, async () => {
      const claude = agent('claude', { fails: kind });
      const sibling = agent('sibling', { says: 'Same key.' }, { says: 'Same key.' });
      Object.assign(sibling, { provider: claude.provider });
      const gemini = agent('gemini', { says: 'Done.' });
      const [ports, accounts] = calling(time);
      const result = await time.during(call(callOf(time, [claude, sibling, gemini]), ports, accounts));
      const rows = result.attempts.map(({ agent: who, end, provider }) => [who, end, provider]);
      assert.deepEqual(rows, [
        ['claude', kind, 'claude-provider'],
        ['sibling', 'unavailable', 'claude-provider'],
        ['gemini', 'answered', 'gemini-provider'],
      ]);
      const later = await time.during(call(callOf(time, [claude]), ports, accounts));
      assert.deepEqual([later.kind, claude.requests.length], ['failed', 1]);
      assert.deepEqual(measuresOf(result.attempts), measuresOf(result.attempts.slice(2)), 'counts for no agent');
    });

  it('asks no agent without a price under a limit in US dollars; otherwise counts its tokens', async () => {
    const unpriced = Object.assign(agent('local', { says: 'Free?' }), { price: undefined });
    const gemini = agent('gemini', { says: 'Done.' });
    const dollars = { budget: new RunBudget({ cost_usd: 1 }) };
    const limited = await time.during(call(callOf(time, [unpriced, gemini]), ...calling(time, dollars)));
    assert.ok(limited.kind === 'answered');
    assert.deepEqual(limited.warnings, [
      'gemini answered instead of local (over_budget): No price for "local" in models.json, so a budget in US dollars cannot cover it.',
    ]);
    assert.equal(unpriced.requests.length, 0);
    for (const limit of [{}, { tokens: 5000 }, { cost_usd: NO_DOLLAR_LIMIT }]) {
      const free = await time.during(
        call(callOf(time, [unpriced]), ...calling(time, { budget: new RunBudget(limit) })),
      );
      assert.deepEqual([free.attempts[0]?.cost_usd, free.attempts[0]?.unpriced_tokens], [0, 15]);
    }
    const above = { begin: () => Promise.reject(new UnknownPriceError()), end: async () => undefined };
    const refused = await time.during(call(callOf(time, [unpriced]), ...calling(time, { journal: above })));
    assert.equal(refused.kind === 'failed' && refused.end, 'over_budget');
  });

  it('requests no more output than the model accepts and its window has room for', async () => {
    const asked = async (maxOutputTokens: number, contextWindow: number) => {
      const one = Object.assign(agent('local', { says: 'Done.' }), { maxOutputTokens });
      Object.assign(one, { capabilities: { ...one.capabilities, contextWindow } });
      await time.during(call(callOf(time, [one], { maxOutputTokens: 32_000 }), ...calling(time)));
      return one.requests[0]?.maxOutputTokens;
    };
    assert.deepEqual(
      [await asked(16_000, 128_000), await asked(64_000, 8000), await asked(64_000, 1000)],
      [16_000, 8000 - estimatedTokens('Do it.'), 2048],
    );
  });

  it('uses a fallback agent after context_too_long only if that agent has a larger context', async () => {
    const claude = agent('claude', { fails: 'context_too_long' });
    const gemini = agent('gemini', { fails: 'context_too_long' });
    const larger = await time.during(call(callOf(time, [claude, gemini]), ...calling(time)));
    const agents = larger.attempts.map(({ agent: who }) => who);
    assert.deepEqual(agents, ['claude', 'gemini']);
    const smaller = await time.during(call(callOf(time, [gemini, claude]), ...calling(time)));
    const attemptAgents = smaller.attempts.map(({ agent: who }) => who);
    assert.deepEqual(attemptAgents, ['gemini']);
  });

  it('uses the fallback agent immediately if an agent is unavailable, and reports the reason', async () => {
    const reason = 'There is no key.';
    const claude = new ScriptedAgent('claude', time, [], { available: false, reason });
    const gemini = agent('gemini', { says: 'Done.' });
    const result = await time.during(call(callOf(time, [claude, gemini]), ...calling(time)));
    assert.equal(result.kind, 'answered');
    assert.deepEqual(result.warnings, [`gemini answered instead of claude (unavailable): ${reason}`]);
    assert.equal(time.elapsed, 0);
  });

  it('reports the requested agent and the reasons of all agents if no agent can answer', async () => {
    const without = (name: string) =>
      new ScriptedAgent(name, time, [], { available: false, reason: `${name} has no key.` });
    const nobody = await time.during(call(callOf(time, [without('claude'), without('gemini')]), ...calling(time)));
    assert.ok(nobody.kind === 'failed');
    assert.deepEqual(
      [nobody.agent, nobody.end, nobody.reason],
      ['claude', 'unavailable', 'claude has no key. gemini has no key.'],
    );
    const busy = agent('claude', { fails: 'rate_limited' });
    const asked = await time.during(call(callOf(time, [busy, without('gemini')]), ...calling(time)));
    assert.ok(asked.kind === 'failed');
    assert.deepEqual(
      [asked.agent, asked.end, asked.reason],
      ['claude', 'rate_limited', 'claude failed. gemini has no key.'],
    );
  });

  it('waits as long as the vendor asks, but uses the fallback agent if that time is too long', async () => {
    const asks = (retryAfterMs: number) =>
      agent('claude', { fails: 'rate_limited', details: { retry_after_ms: retryAfterMs } }, { says: 'Done.' });
    const patient = await time.during(call(callOf(time, [asks(7000)]), ...calling(time)));
    const waited = patient.attempts.map(({ waited }) => waited);
    assert.deepEqual(waited, [0, 7000]);
    const gemini = agent('gemini', { says: 'Done.' });
    const result = await time.during(call(callOf(time, [asks(MAX_WAIT_MS + 1), gemini]), ...calling(time)));
    const rows = result.attempts.map(({ agent: who, waited }) => [who, waited]);
    assert.deepEqual(rows, [
      ['claude', 0],
      ['gemini', 0],
    ]);
  });

  it('is cancelled at its timeout, and its whole reservation counts as spent', async () => {
    const claude = agent('claude', 'hangs');
    const budget = new RunBudget({ tokens: 10_000 });
    const result = await time.during(
      call(callOf(time, [claude], { attempts: 1, timeout: 5000 }), ...calling(time, { budget })),
    );
    assert.equal(result.kind, 'failed');
    assert.deepEqual([result.end, claude.calledOff], ['timeout', [5000]]);
    assert.equal(result.attempts[0]?.outcome_unknown, true);
    const input = estimatedTokens('Do it.');
    assert.deepEqual(budget.spent.usage, { input_tokens: input, output_tokens: 1000 });
    assert.equal(budget.describe(), `${10_000 - 1000 - input} tokens`);
  });

  describe('whose answer is truncated before any text', () => {
    const CUT = { says: '', complete: false } as const;
    const roomsOf = ({ requests }: ScriptedAgent) => requests.map(({ maxOutputTokens }) => maxOutputTokens);

    it('is retried immediately with more output tokens, and both attempts are recorded', async () => {
      const claude = agent('claude', CUT, { says: 'Done.' });
      const budget = new RunBudget({});
      const journal = new NotedAttempts();
      const changes = { maxOutputTokens: 8192 };
      const result = await time.during(call(callOf(time, [claude], changes), ...calling(time, { budget, journal })));
      assert.equal(result.kind === 'answered' && result.answer.text, 'Done.');
      assert.deepEqual(roomsOf(claude), [8192, 32_000]);
      const rows = result.attempts.map(({ end, usage, waited }) => [end, usage.output_tokens, waited]);
      assert.deepEqual(rows, [
        ['truncated', 5, 0],
        ['answered', 5, 0],
      ]);
      assert.match(result.attempts[0]?.reason ?? '', /used up its 8192 output tokens before it wrote any text/);
      assert.deepEqual(budget.spent.usage, { input_tokens: 20, output_tokens: 10 });
      assert.deepEqual(journal.ended, result.attempts);
    });

    it('uses the fallback agent if more tokens do not help, and fails if that agent gives no text', async () => {
      const claude = agent('claude', CUT);
      const gemini = agent('gemini', CUT);
      const result = await time.during(call(callOf(time, [claude, gemini]), ...calling(time)));
      assert.equal(result.kind, 'failed');
      assert.deepEqual(
        [roomsOf(claude), roomsOf(gemini)],
        [
          [1000, 32_000, 64_000],
          [32_000, 64_000],
        ],
      );
      assert.ok(result.attempts.every(({ end }) => end === 'truncated'));
    });

    it('uses the fallback agent if the first agent rejects a request for more output tokens', async () => {
      const claude = agent('claude', CUT, { fails: 'invalid_request' });
      const gemini = agent('gemini', { says: 'Done.' });
      const changes = { maxOutputTokens: 32_000 };
      const result = await time.during(call(callOf(time, [claude, gemini], changes), ...calling(time)));
      assert.equal(result.kind === 'answered' && result.agent, 'gemini');
      assert.deepEqual([roomsOf(claude), roomsOf(gemini)], [[32_000, 64_000], [32_000]]);
    });

    it('uses the fallback agent immediately if a budget caused the truncation', async () => {
      const claude = agent('claude', CUT);
      const gemini = agent('gemini', { says: 'Done.' });
      const budget = new RunBudget({ tokens: 4000 });
      const changes = { maxOutputTokens: 32_000 };
      const result = await time.during(call(callOf(time, [claude, gemini], changes), ...calling(time, { budget })));
      assert.equal(result.kind === 'answered' && result.agent, 'gemini');
      assert.equal(claude.requests.length, 1);
    });

    it('requests only as many output tokens as the other budgets of the run allow', async () => {
      const claude = agent('claude', CUT);
      const gemini = agent('gemini', { says: 'Done.' });
      const journal = { begin: async () => ({ cutTo: 3000 }), end: async () => undefined };
      const changes = { maxOutputTokens: 32_000 };
      await time.during(call(callOf(time, [claude, gemini], changes), ...calling(time, { journal })));
      assert.deepEqual([roomsOf(claude), roomsOf(gemini)], [[3000], [3000]]);
    });

    it('is neither sent nor charged again when the run is repeated after a crash', async () => {
      const usage = { input_tokens: 7, output_tokens: 8192 };
      const cut = { answer: { text: ' \n', model: 'm', usage, complete: false } };
      const asked: number[] = [];
      const journal = {
        begin: async (planned: { readonly number: number; readonly max_output_tokens: number }) => {
          const { number, max_output_tokens } = planned;
          asked.push(max_output_tokens);
          return number === 1 ? cut : undefined;
        },
        end: async () => undefined,
      };
      const claude = agent('claude', { says: 'Done.' });
      const budget = new RunBudget({});
      const changes = { maxOutputTokens: 8192 };
      const result = await time.during(call(callOf(time, [claude], changes), ...calling(time, { journal, budget })));
      assert.deepEqual([result.kind, asked, claude.requests.length], ['answered', [8192, 32_000], 1]);
      assert.deepEqual(budget.spent.usage, { input_tokens: 10, output_tokens: 5 });
    });

    it('uses the fallback agent if the answer is complete but blank', async () => {
      const claude = agent('claude', { says: ' \n ' });
      const gemini = agent('gemini', { says: 'Done.' });
      const result = await time.during(call(callOf(time, [claude, gemini]), ...calling(time)));
      const rows = result.attempts.map(({ agent: who, end }) => [who, end]);
      assert.deepEqual(rows, [
        ['claude', 'malformed'],
        ['gemini', 'answered'],
      ]);
    });

    it('returns the truncated answer if it has some text', async () => {
      const claude = agent('claude', { says: 'Hal', complete: false });
      const result = await time.during(call(callOf(time, [claude]), ...calling(time)));
      assert.equal(result.kind, 'answered');
      assert.match(result.kind === 'answered' ? result.warnings.join() : '', /truncated at the output token limit/);
    });
  });

  describe('whose answer is interrupted', () => {
    const COUNTED = { usage: { input_tokens: 7, output_tokens: 1 }, outcome_unknown: true };
    const text = 'word '.repeat(200);

    async function booked(act: Act, changes: Partial<Call> = {}) {
      const budget = new RunBudget({ tokens: 100_000 });
      const request = callOf(time, [agent('claude', act)], { attempts: 1, ...changes });
      const result = await time.during(call(request, ...calling(time, { budget })));
      const [attempt] = result.attempts;
      assert.ok(attempt);
      assert.deepEqual(attempt.usage, budget.spent.usage);
      assert.equal(attempt.cost_usd, costOf(attempt.usage, { inputPerMillion: 1, outputPerMillion: 2 }));
      return attempt;
    }

    for (const kind of ['truncated', 'overloaded', 'server_error', 'network', 'malformed', 'timeout'] as const)
      it(`is charged for the received text, or for the whole reservation: ${kind}`, async () => {
        const some = await booked({ fails: kind, begins: text, details: COUNTED });
        assert.deepEqual(some.usage, { input_tokens: 7, output_tokens: estimatedTokens(text) });
        const none = await booked({ fails: kind, details: COUNTED });
        assert.deepEqual(none.usage, { input_tokens: 7, output_tokens: 1000 });
      });

    it("is charged for the vendor's count if it exceeds the text's tokens, up to the reservation", async () => {
      const counted = { usage: { input_tokens: 7, output_tokens: 900 }, outcome_unknown: true };
      const details = { details: counted };
      assert.equal((await booked({ fails: 'truncated', begins: 'word', ...details })).usage.output_tokens, 900);
      const long = await booked({ fails: 'truncated', begins: text.repeat(100), ...details });
      assert.equal(long.usage.output_tokens, 1000);
    });

    it('is charged for the received text after a timeout', async () => {
      const attempt = await booked({ hangsAfter: text });
      assert.deepEqual([attempt.end, attempt.outcome_unknown], ['timeout', true]);
      assert.equal(attempt.usage.output_tokens, estimatedTokens(text));
    });

    it('is charged for the received text after a cancellation', async () => {
      const stopping = new AbortController();
      void time.wait(10, new AbortController().signal).then(() => stopping.abort());
      const attempt = await booked({ hangsAfter: text }, { signal: stopping.signal });
      assert.equal(attempt.end, 'aborted');
      assert.equal(attempt.usage.output_tokens, estimatedTokens(text));
    });

    it('is charged for every attempt', async () => {
      const budget = new RunBudget({});
      const claude = agent('claude', { fails: 'truncated', begins: text, details: COUNTED });
      await time.during(call(callOf(time, [claude]), ...calling(time, { budget })));
      assert.equal(budget.spent.usage.output_tokens, 3 * estimatedTokens(text));
    });
  });

  it('is not retried if its outcome is unknown and its step is not repeatable', async () => {
    const claude = agent('claude', { fails: 'network', details: { outcome_unknown: true } });
    const gemini = agent('gemini', { says: 'Done.' });
    const result = await time.during(call(callOf(time, [claude, gemini], { repeatable: false }), ...calling(time)));
    assert.deepEqual([result.kind, claude.requests.length, gemini.requests.length], ['failed', 1, 0]);
    const clean = agent('claude', { fails: 'overloaded' }, { says: 'Done.' });
    const again = await time.during(call(callOf(time, [clean], { repeatable: false }), ...calling(time)));
    assert.equal(again.kind, 'answered');
  });

  it('makes no attempt after its deadline', async () => {
    const deadline = new Date(time.now().getTime() + 1000);
    const claude = agent('claude', { fails: 'overloaded', after: 800 });
    const result = await time.during(call(callOf(time, [claude], { deadline }), ...calling(time)));
    assert.equal(result.kind, 'failed');
    assert.ok(time.elapsed <= 1000);
    assert.equal(claude.requests.length, 1);
  });

  it('ends if it is cancelled while it waits', async () => {
    const stopping = new AbortController();
    const claude = agent('claude', { fails: 'rate_limited', details: { retry_after_ms: 20_000 } });
    const gemini = agent('gemini', { says: 'Done.' });
    const pending = call(callOf(time, [claude, gemini], { signal: stopping.signal }), ...calling(time));
    void time.wait(1000, new AbortController().signal).then(() => stopping.abort());
    const result = await time.during(pending);
    assert.equal(result.kind, 'failed');
    assert.deepEqual([result.end, time.elapsed, gemini.requests.length], ['aborted', 1000, 0]);
  });

  it('is neither sent nor charged if the journal already has its outcome', async () => {
    const answer = { text: 'Before.', model: 'm', usage: { input_tokens: 7, output_tokens: 3 }, complete: true };
    const settled = [{ failure: new ModelFailure('overloaded', 'Busy.') }, { answer }];
    const budget = new RunBudget({ tokens: 5000 });
    const claude = agent('claude', { says: 'Now.' });
    const ended: unknown[] = [];
    const journal = {
      begin: async ({ number }: { readonly number: number }) => settled[number - 1],
      end: async (attempt: unknown) => {
        ended.push(attempt);
      },
    };
    const result = await time.during(call(callOf(time, [claude]), ...calling(time, { journal, budget })));
    assert.equal(result.kind === 'answered' && result.answer.text, 'Before.');
    assert.deepEqual([claude.requests.length, ended.length, budget.describe()], [0, 0, '5000 tokens']);
    assert.deepEqual(result.attempts[1]?.usage, answer.usage);
  });

  it('is charged once if its answer is too large to store, and then the fallback agent is asked', async () => {
    const reported: string[] = [];
    const claude = agent('claude', { says: 'é'.repeat(400_001) });
    const gemini = agent('gemini', { says: 'Done.' });
    const budget = new RunBudget({});
    const journal = new NotedAttempts();
    const onAnswer = ({ text }: { readonly text: string }): void => void reported.push(text);
    const result = await time.during(
      call(callOf(time, [claude, gemini], { onAnswer }), ...calling(time, { budget, journal })),
    );
    const rows = result.attempts.map(({ agent: who, end, reason, usage }) => [who, end, reason, usage.output_tokens]);
    assert.deepEqual(rows, [
      ['claude', 'malformed', 'The response of claude has 800002 bytes; the limit is 800000.', 5],
      ['gemini', 'answered', undefined, 5],
    ]);
    assert.deepEqual([claude.requests.length, reported], [1, ['Done.']]);
    assert.deepEqual(budget.spent.usage, { input_tokens: 20, output_tokens: 10 });
    assert.deepEqual(journal.ended, result.attempts);
  });

  it('throws the error of the journal if the journal cannot store an attempt', async () => {
    const begin = () => Promise.reject(new Error('The database is away.'));
    const journal = { begin, end: async () => undefined };
    const pending = time.during(call(callOf(time, [agent('claude', { says: 'x' })]), ...calling(time, { journal })));
    await assert.rejects(pending, /database is away/);
  });

  it('sends at most the allowed number of requests to each agent, for any failures', async () => {
    const failure = fc.constantFrom(...FAILURE_CLASSES);
    const acts = fc.array(failure, { minLength: 1, maxLength: 6 });
    await forAllAsync(acts, acts, fc.integer({ min: 1, max: 5 }), async (first, second, attempts) => {
      const now = new VirtualTime();
      const agents = [['claude', first] as const, ['gemini', second] as const].map(
        ([name, kinds]) =>
          new ScriptedAgent(
            name,
            now,
            kinds.map((kind) => ({ fails: kind })),
          ),
      );
      const result = await now.during(call(callOf(now, agents, { attempts }), ...calling(now)));
      assert.equal(result.kind, 'failed');
      for (const { requests } of agents) assert.ok(requests.length <= attempts);
      const final = result.attempts.findIndex(({ end }) => FINAL.some((kind) => kind === end));
      assert.ok(final === -1 || final === result.attempts.length - 1, 'continued after a final failure');
      assert.equal(now.left, 0, 'a wait is pending');
    });
  });
});

describe('wait before a retry', () => {
  it('is at least as long as the vendor asks, and shorter than the remaining time', () => {
    const parts = [
      fc.integer({ min: 1, max: 10 }),
      fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined }),
      fc.integer({ min: 0, max: 100_000 }),
      fc.integer({ min: 0, max: 1000 }),
    ] as const;
    forAll(...parts, (failed, retryAfter, left, chance) => {
      const wait = backoff(failed, retryAfter, left, chance / 1000);
      if (wait === undefined) return;
      assert.ok(wait >= (retryAfter ?? 0) && wait < left && wait <= MAX_WAIT_MS);
      assert.ok(wait >= 250);
    });
  });

  it('is defined for every class of failure', () => {
    for (const kind of FAILURE_CLASSES) assert.ok(REACTIONS[kind]);
  });
});
