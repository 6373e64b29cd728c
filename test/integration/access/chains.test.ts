/**
 * Random chains of links: people, sign-ins, credentials, terminals and invitations, with restrictions. The test
 * revokes one link. Within 5 seconds, this link and all links below it must lose access to tools, streams and both
 * databases. All other links must have the rights that the model predicts.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { defaultOrNightly } from '../../support/nightly.ts';
import { Forest } from './chains/forest.ts';
import { type Choice, chainOf, depthOf, type Link, ROLES, rightsOf, TOOLSETS } from './chains/model.ts';

const MAX_DEPTH = 6;
const LEADS: Choice = { role: 'leader', readonly: false };

const often = <Value>(value: Value, other: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other });

const choice: fc.Arbitrary<Choice> = fc.record({
  role: often<Choice['role']>('leader', fc.constantFrom(...ROLES)),
  toolsets: often<Choice['toolsets']>(undefined, fc.subarray([...TOOLSETS], { minLength: 1 })),
  heldTo: often<Choice['heldTo']>(undefined, fc.constantFrom('here', 'elsewhere')),
  readonly: often(false, fc.boolean()),
});

/** Position in the list of links. It is often -1 (the last link), so that chains become long. */
const place = fc.oneof({ weight: 2, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat(20) });

const step = fc.record({
  kind: fc.constantFrom('key', 'key', 'key', 'app', 'terminal', 'invitation', 'narrow', 'renew'),
  place,
  choice,
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function chosen(links: readonly Link[], at: number): Link | undefined {
  return links.length === 0 ? undefined : links.at(at < 0 ? at : at % links.length);
}

async function take(forest: Forest, { kind, place: at, choice: wanted }: Step, name: string): Promise<void> {
  const of = (...kinds: readonly Link['kind'][]): readonly Link[] =>
    forest.links.filter((link) => kinds.includes(link.kind) && depthOf(link) < MAX_DEPTH);
  const person = chosen(of('person'), at);
  const parent = chosen(of('person', 'app', 'key'), at);
  assert.ok(person && parent);
  switch (kind) {
    case 'app':
      return forest.app(name, person, wanted);
    case 'terminal': {
      const from = chosen(of('app', 'key'), at);
      return from && forest.terminal(name, from);
    }
    case 'invitation':
      return forest.invitation(name, parent);
    case 'narrow': {
      const app = chosen(of('app'), at);
      return app?.from && forest.app(app.name, app.from, wanted, app);
    }
    case 'renew': {
      const key = chosen(of('key'), at);
      return key && forest.renew(key, wanted);
    }
    default:
      return forest.key(name, parent, wanted);
  }
}

describe('credential chains', function () {
  this.timeout(defaultOrNightly('3m', { night: '40m' }));

  const check = async (spine: readonly Choice[], steps: readonly Step[], at: number, narrowed: Step) => {
    const forest = new Forest();
    try {
      await forest.begin();
      for (const name of ['ann', 'bea']) await forest.person(name, LEADS);
      await forest.app('app', forest.links[0] ?? assert.fail('no person exists'), LEADS);
      const deeper = spine.map((own): Step => ({ kind: 'key', place: -1, choice: own }));
      for (const [index, one] of [...deeper, ...steps].entries()) await take(forest, one, `link-${index}`);
      await forest.open();
      await take(forest, { ...narrowed, kind: 'narrow' }, 'narrowed');
      const link = chosen(
        forest.links.filter(({ kind }) => !['terminal', 'invitation'].includes(kind)),
        at,
      );
      assert.ok(link);
      const below = forest.links.filter((one) => one !== link && one.kind === 'key' && chainOf(one).includes(link));
      const ended = await forest.revoke(link);
      if (ended !== undefined)
        assert.deepEqual([...ended].sort(), below.map(({ name }) => name).sort(), 'agents listed as revoked');
      assert.ok(below.every((one) => rightsOf(one) === undefined));
      forest.pass();
      await forest.compare(`after ${link.name} was revoked`);
      await forest.compareStreams();
      await forest.compareInvitations();
    } finally {
      await forest.end();
    }
  };

  it('lose access at and below a revoked link, and keep their rights at all other links', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(choice, { maxLength: MAX_DEPTH - 1 }),
        fc.array(step, { minLength: 3, maxLength: 9 }),
        fc.nat(20),
        step,
        check,
      ),
      { numRuns: defaultOrNightly(4, { night: 60 }), endOnFailure: true },
    );
  });
});
