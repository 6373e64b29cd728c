import assert from 'node:assert/strict';
import fc from 'fast-check';
import { NO_ROUTING } from '../../../functions/src/access/rules/workspace.ts';
import { systemHashing, systemRandomness } from '../../../functions/src/kernel/platform.ts';
import type { Situation } from '../../../functions/src/toolsets/orchestration/rules/agents/roster.ts';
import { requestFor, requestOf } from '../../../functions/src/toolsets/orchestration/rules/requests.ts';
import {
  cacheKeyOf,
  ordersOf,
  type RunRequest,
} from '../../../functions/src/toolsets/orchestration/rules/runs/order.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { PROFILES } from '../../support/models/agents.ts';
import { forAll } from '../../support/properties.ts';

const situation: Situation = {
  workspace: 'w',
  routing: NO_ROUTING,
  work: {},
  agentStatuses: PROFILES.map((profile) => ({ ...profile, availability: { available: true } as const })),
};

const GIVEN = { input: 'Do it.', context: {}, budget: { tokens: 100_000, cost_usd: 1 } };

function keyOf(request: RunRequest): string | undefined {
  const { asked } = ordersOf(request, systemRandomness);
  return cacheKeyOf(systemHashing, request, asked, { ownerUid: 'ann', workspace: 'w', models: ['m'] });
}

const keyFor = (steps: readonly object[], cache: boolean, overrides = {}) =>
  keyOf(requestOf(readWorkflow({ name: 'mine', steps }, 'workflow'), { ...GIVEN, cache }, overrides, situation));

describe('cache key of a run', () => {
  const hosted = fc.constantFrom({ agent: 'claude' }, { agent: 'auto' }, { agents: ['claude', 'gemini'] });
  const step = fc.oneof(
    { weight: 4, arbitrary: hosted },
    { weight: 1, arbitrary: fc.constantFrom({ agent: 'network' }, { agent: 'claude', repeatable: false }) },
  );
  const entry = fc.oneof(
    { weight: 3, arbitrary: step },
    fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => ({ repeat: { until: 'true', max: 2 }, steps })),
  );

  it('exists only if the caller requests caching, and if every step is hosted and repeatable', () =>
    forAll(fc.array(entry, { minLength: 1, maxLength: 5 }), fc.boolean(), (steps, cache) => {
      const isOutside = /network|"repeatable":false/.test(JSON.stringify(steps));
      assert.equal(keyFor(steps, cache) !== undefined, cache && !isOutside);
    }));

  it('is undefined if an override assigns a step to live agents', () => {
    const steps = [{ name: 'work', agent: 'claude' }];
    assert.equal(keyFor(steps, true, { agents: { work: 'network' } }), undefined);
    assert.ok(keyFor(steps, true, { agents: { work: 'gemini' } }));
  });

  it('exists for the tool orchestrate, unless the caller disables caching', () => {
    const { budget } = GIVEN;
    assert.ok(keyOf(requestFor({ prompt: 'Do it.' }, {}, { budget }, situation)));
    assert.equal(keyOf(requestFor({ prompt: 'Do it.' }, { cache: false }, { budget }, situation)), undefined);
  });
});
