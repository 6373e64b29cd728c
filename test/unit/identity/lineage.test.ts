import assert from 'node:assert/strict';
import type { Credential, Link } from '../../../functions/src/identity/rules/credential.ts';
import {
  descentOf,
  type GrantedAccess,
  MAX_ANCESTORS,
  resolveInLinks,
  restrictedBy,
} from '../../../functions/src/identity/rules/lineage.ts';
import { START, secondsAfterStart } from '../../support/builders.ts';
import { refusal } from '../../support/refusal.ts';

const link = (name: string): Link => ({ subject: `key:${name}`, agent_id: `agent-of-${name}` });

const credential = (apiKey: string, changes: Partial<Credential> = {}): Credential => ({
  api_key: apiKey,
  agent_id: `agent-of-${apiKey}`,
  secret_hash: 'none',
  created_at: START,
  expires_at: secondsAfterStart(60),
  ancestors: [],
  ...changes,
});

const opening = (changes: Partial<GrantedAccess> = {}): GrantedAccess => ({
  role: 'leader',
  endsAt: secondsAfterStart(60),
  ...changes,
});

const through = (...ancestors: readonly Partial<GrantedAccess>[]) =>
  ancestors.map((changes, index) => ({ ...link(`${index}`), opens: opening(changes) }));

describe('credential chain of an agent', () => {
  it('restricts the agent to the access of all its credentials, until the first of them expires', () => {
    const own = opening({ toolsets: ['todo', 'coding'] });
    assert.deepEqual(restrictedBy(own, []), own);
    assert.deepEqual(restrictedBy(own, through({})), own, 'an ancestor with more access restricts nothing');
    const ancestors = through(
      { role: 'worker', toolsets: ['todo', 'inbox'] },
      { held_to: 'alpha', endsAt: secondsAfterStart(5) },
      { readonly: true, held_to: 'alpha' },
    );
    assert.deepEqual(restrictedBy(own, ancestors), {
      role: 'worker',
      endsAt: secondsAfterStart(5),
      toolsets: ['todo'],
      held_to: 'alpha',
      readonly: true,
    });
  });

  it('leaves no access if two of its credentials are restricted to different workspaces', () => {
    assert.equal(restrictedBy(opening({ held_to: 'beta' }), through({ held_to: 'alpha' })), undefined);
    assert.equal(restrictedBy(opening(), through({ held_to: 'alpha' }, { held_to: 'beta' })), undefined);
  });

  it('leaves no access if one of its credentials is missing', () => {
    const [one] = through({});
    assert.ok(one);
    const standing = new Map([[one.subject, one]]);
    assert.ok(resolveInLinks(standing, opening(), [one.subject]));
    assert.equal(resolveInLinks(standing, opening(), [one.subject, 'key:gone']), undefined);
  });

  it("of a new agent is the caller's chain and credential, or empty if the caller is a person", () => {
    assert.deepEqual(descentOf({ lineage: [link('a'), link('b')] }, []), { ancestors: [link('a'), link('b')] });
    assert.deepEqual(descentOf({}, [credential('b')]), { ancestors: [] });
  });

  it('is kept if the agent renews its key, and replaced if another caller registers the agent', () => {
    const lineage = [link('a'), link('b')];
    const ancestors = [link('a')];
    assert.deepEqual(descentOf({ lineage }, [credential('b', { ancestors })]), { ancestors, line: 'b' });
    const renewed = credential('c', { line: 'b', agent_id: 'agent-of-b', ancestors });
    assert.deepEqual(descentOf({ lineage }, [renewed]), { ancestors: [link('a')], line: 'b' });
    assert.deepEqual(descentOf({ lineage: [link('z')] }, [renewed]), { ancestors: [link('z')] });
    // Even if the stolen key was revoked just before, a key that it registers has the stolen key in its chain.
    assert.deepEqual(descentOf({ lineage }, []), { ancestors: lineage });
  });

  it('prevents an agent from replacing a credential through which it was registered', async () => {
    const lineage = [link('a'), link('b')];
    const error = await refusal(() => descentOf({ lineage }, [credential('a')]));
    assert.deepEqual([error.code, error.details.reason], ['FORBIDDEN', 'REGISTERED_THROUGH_IT']);
  });

  it('has a maximum length, beyond which no new agent can be registered', async () => {
    const lineage = Array.from({ length: MAX_ANCESTORS + 1 }, (_, index) => link(`${index}`));
    assert.equal(descentOf({ lineage: lineage.slice(1) }, []).ancestors?.length, MAX_ANCESTORS);
    const error = await refusal(() => descentOf({ lineage }, []));
    assert.deepEqual([error.code, error.details.reason], ['QUOTA_EXCEEDED', 'LINEAGE_TOO_LONG']);
    // The agent may still renew its own key, because that does not extend the chain.
    const own = credential(`${MAX_ANCESTORS}`, { ancestors: lineage.slice(0, -1) });
    assert.equal(descentOf({ lineage }, [own]).ancestors?.length, MAX_ANCESTORS);
  });
});
