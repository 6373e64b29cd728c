import assert from 'node:assert/strict';
import { DEFAULT_PROOF, type ProofSettings } from '../../../functions/src/access/rules/proofSettings.ts';
import type { ApprovalRule } from '../../../functions/src/access/rules/workspace.ts';
import { type Change, changeLoosening } from '../../../functions/src/composition/changes.ts';
import { type Budget, limitSettersAfter } from '../../../functions/src/graph/rules/budget.ts';
import type { Invitation } from '../../../functions/src/identity/rules/people.ts';
import type { Actor } from '../../../functions/src/kernel/auditLog.ts';
import { LooseningError, looseningsIn, requireNoLoosening } from '../../../functions/src/kernel/loosening.ts';
import { sampleAgent } from '../../support/builders.ts';

const AGENT: Actor = {
  uid: 'agent:a',
  agent_id: 'a',
  owner_uid: 'ada',
  tool: 'access.set_member',
  workspace: 'alpha',
  request_id: 'one',
};

const { agent_id: _, ...rest } = AGENT;
const PERSON: Actor = { ...rest, uid: 'ada' };

/** Returns who must approve the changes ("in person" if only people may make them); undefined if no limit loosens. */
function decides(changes: readonly Change[], by: Actor = AGENT): string | undefined {
  try {
    requireNoLoosening(changeLoosening, changes, by);
    return undefined;
  } catch (error) {
    if (!(error instanceof LooseningError)) throw error;
    const { inPerson, approver = by.owner_uid } = error.loosening;
    return inPerson ? 'in person' : approver;
  }
}

/** Returns the descriptions of the changes that the approver sees. */
function wouldOf(changes: readonly Change[]): readonly string[] {
  return looseningsIn(changeLoosening, changes, AGENT).map(({ would }) => would);
}

function ruled(before: readonly ApprovalRule[], approvals: readonly ApprovalRule[]): Change[] {
  return [{ kind: 'setApprovalRules', workspace: 'alpha', approvals, before }];
}

const at = new Date(0);
const member = (role: 'viewer' | 'worker' | 'leader') =>
  ({ uid: 'ben', workspace: 'alpha', role, added_by: 'ada', added_at: at }) as const;

const invitation: Invitation = {
  id: 'i',
  workspace: 'alpha',
  email: 'ben@example.com',
  invited_by: 'ada',
  role: 'viewer',
  created_at: at,
  expires_at: at,
};

describe('change that may loosen a limit', () => {
  const PR = 'github.createPR';
  const CODE = 'coding.create_task';
  const cases: readonly [string, readonly Change[], string | undefined][] = [
    ['an approval is added', ruled([], [{ tool: PR }]), undefined],
    ['approvals stay', ruled([{ tool: PR, above_usd: 1 }], [{ tool: PR, above_usd: 1 }]), undefined],
    ['an amount is lowered', ruled([{ tool: PR, above_usd: 2 }], [{ tool: PR, above_usd: 1 }]), undefined],
    ['an amount is removed', ruled([{ tool: PR, above_usd: 2 }], [{ tool: PR }]), undefined],
    ['an amount is raised', ruled([{ tool: PR, above_usd: 1 }], [{ tool: PR, above_usd: 2 }]), 'ada'],
    ['an amount is added', ruled([{ tool: PR }], [{ tool: PR, above_usd: 0 }]), 'ada'],
    ['an approval is removed', ruled([{ tool: PR }], []), 'ada'],
    ['an approval that names a person is removed', ruled([{ tool: PR, asks: 'cyd' }], []), 'cyd'],
    ['another approver is named', ruled([{ tool: PR, asks: 'cyd' }], [{ tool: PR, asks: 'ada' }]), 'cyd'],
    ['an approver is named', ruled([{ tool: PR }], [{ tool: PR, asks: 'cyd' }]), 'ada'],
    ['one approval is replaced by another', ruled([{ tool: PR, asks: 'cyd' }], [{ tool: CODE }]), 'cyd'],
    ['a member is added', [{ kind: 'setMember', member: member('viewer') }], 'ada'],
    ['a role is raised', [{ kind: 'setMember', member: member('leader'), before: member('worker') }], 'ada'],
    ['a role is lowered', [{ kind: 'setMember', member: member('viewer'), before: member('worker') }], undefined],
    [
      'a new workspace gets its first leader',
      [
        { kind: 'nameWorkspace', workspace: 'alpha', access: 'private' },
        { kind: 'setMember', member: member('leader') },
      ],
      undefined,
    ],
    [
      'a member is added while another workspace is new',
      [
        { kind: 'nameWorkspace', workspace: 'beta', access: 'private' },
        { kind: 'setMember', member: member('leader') },
      ],
      'ada',
    ],
    ['a member is removed', [{ kind: 'removeMember', workspace: 'alpha', uid: 'ben' }], undefined],
    ['a person is invited', [{ kind: 'invite', invitation }], 'ada'],
    ['an invitation ends', [{ kind: 'endInvitation', id: 'i', before: invitation }], undefined],
    [
      'a workspace is opened',
      [{ kind: 'nameWorkspace', workspace: 'alpha', access: 'open', before: 'private' }],
      'ada',
    ],
    [
      'a workspace is closed',
      [{ kind: 'nameWorkspace', workspace: 'alpha', access: 'private', before: 'open' }],
      undefined,
    ],
    [
      'a repository is added',
      [{ kind: 'listRepositories', workspace: 'alpha', repositories: ['a/b', 'a/c'], before: ['a/b'] }],
      'ada',
    ],
    [
      "one repository replaces all of its owner's",
      [{ kind: 'listRepositories', workspace: 'alpha', repositories: ['A/b'], before: ['a/*'] }],
      undefined,
    ],
    [
      'all repositories of an owner replace one',
      [{ kind: 'listRepositories', workspace: 'alpha', repositories: ['a/*'], before: ['a/b'] }],
      'ada',
    ],
    [
      'a new workspace has a repository',
      [{ kind: 'createWorkspace', name: 'beta', workspace: { repositories: ['a/b'] } }],
      'ada',
    ],
    [
      'a new workspace has no repository',
      [{ kind: 'createWorkspace', name: 'b', workspace: { repositories: [] } }],
      undefined,
    ],
    [
      'a model is allowed again',
      [{ kind: 'routeWorkspace', workspace: 'alpha', routing: { forbidden: [] }, before: { forbidden: ['gemini'] } }],
      'ada',
    ],
    [
      'a model is forbidden',
      [{ kind: 'routeWorkspace', workspace: 'alpha', routing: { forbidden: ['gemini'] }, before: { forbidden: [] } }],
      undefined,
    ],
    [
      'another model is pinned',
      [{ kind: 'routeWorkspace', workspace: 'alpha', routing: { pins: [] }, before: { pins: [] } }],
      undefined,
    ],
    [
      "an agent's role is raised",
      [
        {
          kind: 'replaceAgent',
          agent: sampleAgent({ role: 'leader' }),
          before: sampleAgent({ role: 'worker' }),
          version: '1',
        },
      ],
      'in person',
    ],
    [
      "an agent's role is lowered",
      [
        {
          kind: 'replaceAgent',
          agent: sampleAgent({ role: 'viewer' }),
          before: sampleAgent({ role: 'worker' }),
          version: '1',
        },
      ],
      undefined,
    ],
    [
      'a disabled account is enabled',
      [{ kind: 'limitAccount', uid: 'ben', account: 'good', isNews: true }],
      'in person',
    ],
    ['a deployment role is assigned', [{ kind: 'setPerson', uid: 'ben', role: 'viewer' }], 'in person'],
  ];

  for (const [what, changes, who] of cases)
    it(`${who === undefined ? 'needs no decision of a person' : `needs a decision of a person (${who})`} if ${what}`, () => {
      assert.equal(decides(changes), who);
      assert.equal(decides(changes, PERSON), undefined, 'a person does it');
      if (who === undefined || who === 'in person') return;
      assert.equal(decides(changes, { ...AGENT, approved_by: who }), undefined, 'the right person has approved');
      assert.equal(decides(changes, { ...AGENT, approved_by: 'eve' }), who, 'another person has approved');
      const shown = wouldOf(changes);
      assert.equal(
        decides(changes, { ...AGENT, approved_by: who, shown }),
        undefined,
        'the approver saw exactly this change',
      );
      assert.equal(
        decides(changes, { ...AGENT, approved_by: who, shown: ['do less'] }),
        who,
        'the approver saw a smaller change',
      );
    });

  it('is refused if different people must approve different parts of one call', () => {
    const both = ruled([{ tool: PR, asks: 'cyd' }, { tool: CODE }], []);
    assert.throws(() => decides(both), /approval from different people/);
  });

  describe('budget limit', () => {
    const budget = (fields: Partial<Budget>): Budget => ({
      kind: 'todo',
      thing_id: 't',
      owner_uid: 'ada',
      round: 1,
      set_at: at,
      ...fields,
    });
    const set = (before: Budget, after: Partial<Budget>, by: Actor = AGENT) =>
      decides([{ kind: 'setBudget', budget: budget(after), before: { value: before, version: '1' } }], by);

    it('is raised or removed only by a decision of the person who set it', () => {
      const before = budget({ cost_usd: 5, cost_set_by: 'cyd' });
      assert.equal(set(before, { cost_usd: 6 }), 'cyd');
      assert.equal(set(before, {}), 'cyd');
      assert.equal(set(before, { cost_usd: 4 }), undefined);
      assert.equal(set(before, { cost_usd: 5, tokens: 10 }), undefined, 'another limit is new');
    });

    it('counts as set by the owner of the item if no setter is recorded', () =>
      assert.equal(set(budget({ tokens: 5 }), {}), 'ada'));

    it("is raised by an agent only for the agent's own item; otherwise the item's owner decides", () => {
      assert.equal(set(budget({ cost_usd: 5, cost_set_by: 'agent:a' }), { cost_usd: 9 }), undefined);
      assert.equal(set(budget({ cost_usd: 5, cost_set_by: 'agent:b' }), { cost_usd: 9 }), 'ada');
    });

    it('keeps its setter if an agent lowers the limit; a person who changes it becomes its setter', () => {
      const before = budget({ cost_usd: 5, cost_set_by: 'cyd' });
      const agent = { uid: 'agent:a', kind: 'agent' } as const;
      const person = { uid: 'ada', kind: 'person' } as const;
      assert.deepEqual(limitSettersAfter(before, { cost_usd: 1 }, agent), { cost_set_by: 'cyd' });
      assert.deepEqual(limitSettersAfter(before, { cost_usd: 1, tokens: 7 }, agent), {
        cost_set_by: 'cyd',
        tokens_set_by: 'agent:a',
      });
      assert.deepEqual(limitSettersAfter(before, { cost_usd: 1 }, person), { cost_set_by: 'ada' });
      assert.deepEqual(limitSettersAfter(before, { cost_usd: 5, tokens: 7 }, person), {
        cost_set_by: 'cyd',
        tokens_set_by: 'ada',
      });
      assert.deepEqual(limitSettersAfter(budget({ cost_usd: 5 }), { cost_usd: 1 }, agent), { cost_set_by: 'ada' });
    });
  });

  it('decides whether fewer results must be proven, or by fewer others', () => {
    const proof = (changes: Partial<ProofSettings>): ProofSettings => ({ ...DEFAULT_PROOF, ...changes });
    const set = (before: ProofSettings, after: ProofSettings): Change[] => [
      { kind: 'setProof', workspace: 'alpha', proof: after, before },
    ];
    const review = proof({ defaults: [{ review: 'any' }] });
    assert.equal(decides(set(DEFAULT_PROOF, review)), undefined);
    assert.equal(decides(set(review, proof({ defaults: [{ command: 'npm test' }, { review: 'any' }] }))), undefined);
    assert.equal(decides(set(review, DEFAULT_PROOF)), 'ada');
    assert.equal(decides(set(review, { ...review, terminals: true })), 'ada');
    assert.equal(decides(set(review, DEFAULT_PROOF), PERSON), undefined);
  });
});
