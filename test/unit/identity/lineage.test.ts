/** What a credential remembers of where it comes from, and what is left of what it opens. */
import assert from 'node:assert/strict';
import type { Credential, Link } from '../../../functions/src/identity/rules/credential.ts';
import {
  descentOf,
  MAX_ANCESTORS,
  narrowedBy,
  type Opening,
  openedIn,
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

const opening = (changes: Partial<Opening> = {}): Opening => ({
  role: 'leader',
  endsAt: secondsAfterStart(60),
  ...changes,
});

const through = (...ancestors: readonly Partial<Opening>[]) =>
  ancestors.map((changes, index) => ({ ...link(`${index}`), opens: opening(changes) }));

describe('the lineage of a credential', () => {
  it('narrows it to what all of its ancestors open, and lets it end with the first of them', () => {
    const own = opening({ toolsets: ['todo', 'coding'] });
    assert.deepEqual(narrowedBy(own, []), own);
    assert.deepEqual(narrowedBy(own, through({})), own, 'an ancestor that opens more takes nothing away');
    const ancestors = through(
      { role: 'worker', toolsets: ['todo', 'inbox'] },
      { held_to: 'alpha', endsAt: secondsAfterStart(5) },
      { readonly: true, held_to: 'alpha' },
    );
    assert.deepEqual(narrowedBy(own, ancestors), {
      role: 'worker',
      endsAt: secondsAfterStart(5),
      toolsets: ['todo'],
      held_to: 'alpha',
      readonly: true,
    });
  });

  it('leaves nothing of it if two of them are held to different workspaces', () => {
    assert.equal(narrowedBy(opening({ held_to: 'beta' }), through({ held_to: 'alpha' })), undefined);
    assert.equal(narrowedBy(opening(), through({ held_to: 'alpha' }, { held_to: 'beta' })), undefined);
  });

  it('ends it if one of them does not stand', () => {
    const [one] = through({});
    assert.ok(one);
    const standing = new Map([[one.subject, one]]);
    assert.ok(openedIn(standing, opening(), [one.subject]));
    assert.equal(openedIn(standing, opening(), [one.subject, 'key:gone']), undefined);
  });

  it('is the caller’s, with the caller’s own credential, for an agent that it registers; nothing for a person', () => {
    assert.deepEqual(descentOf({ lineage: [link('a'), link('b')] }, []), {
      ancestors: [link('a'), link('b')],
    });
    assert.deepEqual(descentOf({}, [credential('b')]), { ancestors: [] });
  });

  it('stays if an agent renews its own key, and starts again if another caller registers it again', () => {
    const lineage = [link('a'), link('b')];
    const ancestors = [link('a')];
    assert.deepEqual(descentOf({ lineage }, [credential('b', { ancestors })]), { ancestors, line: 'b' });
    const renewed = credential('c', { line: 'b', agent_id: 'agent-of-b', ancestors });
    assert.deepEqual(descentOf({ lineage }, [renewed]), { ancestors: [link('a')], line: 'b' });
    assert.deepEqual(descentOf({ lineage: [link('z')] }, [renewed]), { ancestors: [link('z')] });
    // The key that a thief still presents was withdrawn a moment ago: what it makes comes from that.
    assert.deepEqual(descentOf({ lineage }, []), { ancestors: lineage });
  });

  it('keeps an agent from replacing one that it comes from', async () => {
    const lineage = [link('a'), link('b')];
    const error = await refusal(() => descentOf({ lineage }, [credential('a')]));
    assert.deepEqual([error.code, error.details.reason], ['FORBIDDEN', 'REGISTERED_THROUGH_IT']);
  });

  it('is bounded', async () => {
    const lineage = Array.from({ length: MAX_ANCESTORS + 1 }, (_, index) => link(`${index}`));
    assert.equal(descentOf({ lineage: lineage.slice(1) }, []).ancestors?.length, MAX_ANCESTORS);
    const error = await refusal(() => descentOf({ lineage }, []));
    assert.deepEqual([error.code, error.details.reason], ['QUOTA_EXCEEDED', 'LINEAGE_TOO_LONG']);
    // It may still renew its own key.
    const own = credential(`${MAX_ANCESTORS}`, { ancestors: lineage.slice(0, -1) });
    assert.equal(descentOf({ lineage }, [own]).ancestors?.length, MAX_ANCESTORS);
  });
});
