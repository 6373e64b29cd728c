/** Authentication of bearer credentials, with stores in memory. */
import assert from 'node:assert/strict';
import { CredentialAuthenticator } from '../../../functions/src/access/rules/authentication.ts';
import type { Agent } from '../../../functions/src/agents/rules/agent.ts';
import { type Credential, lineOf } from '../../../functions/src/identity/rules/credential.ts';
import type { Grant } from '../../../functions/src/identity/rules/grant.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { START, sampleAgent, sampleGrant, secondsAfterStart } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { personOf } from '../../support/principals.ts';
import { refusal } from '../../support/refusal.ts';
import { redeemed } from '../identity/grantSamples.ts';

const API_KEY = 'mk_aaaabbbbccccdddd2345';
const SECRET = 'a-secret-of-some-length_123';
const BEARER = `${API_KEY}.${SECRET}`;
const ADA: Principal = personOf('ada', 'viewer');
const ROLES = { role: 'worker', workspaces: { alpha: 'leader' }, access: { alpha: 'private' } } as const;

const sampleCredential = (changes: Partial<Credential> = {}): Credential => ({
  api_key: API_KEY,
  agent_id: 'terminal-2',
  secret_hash: systemHashing.sha256(SECRET),
  created_at: START,
  expires_at: secondsAfterStart(1000),
  ancestors: [],
  ...changes,
});

describe('authentication', () => {
  let now: Date;
  let stored: { credential: Credential; agent: Agent } | undefined;
  let grant: Grant | undefined;
  /** Credentials through which the tested credential was registered, in addition to the app's grant. */
  let others: { credential: Credential; agent: Agent }[];
  let lookups: string[];
  let tokens: string[];
  let compared: [string, string][];
  let revived: string[];
  let changes: { id: string; subject: string }[];
  let readings: number;
  let hasChanges: boolean;
  let authenticator: CredentialAuthenticator;
  let isOut: true | undefined;
  let standing: { readonly validSince?: number };

  beforeEach(() => {
    now = START;
    isOut = undefined;
    standing = {};
    stored = { credential: sampleCredential(), agent: sampleAgent() };
    grant = undefined;
    [lookups, tokens, compared, revived, changes, others] = [[], [], [], [], [], []];
    [readings, hasChanges] = [0, true];
    authenticator = new CredentialAuthenticator(
      portsOf<ConstructorParameters<typeof CredentialAuthenticator>[0]>({
        agents: {
          findWithAgent: async (apiKey) => {
            lookups.push(apiKey);
            return stored;
          },
          find: async (id) => (stored?.agent.id === id ? { value: stored.agent, version: '1' } : undefined),
          findAll: async (ids) =>
            [stored?.agent, ...others.map(({ agent }) => agent)].flatMap((agent) =>
              agent && ids.includes(agent.id) ? [{ value: agent, version: '1' }] : [],
            ),
          ofLines: async (lines) =>
            others.flatMap(({ credential }) => (lines.includes(lineOf(credential)) ? [credential] : [])),
        },
        accessChanges: {
          since: async () => {
            readings += 1;
            if (!hasChanges) throw new Error('Firestore is away.');
            return { changes, position: now };
          },
        },
        grants: {
          find: async (id) => (grant?.id === id ? { value: grant, version: '1' } : undefined),
          findAll: async (ids) => (grant && ids.includes(grant.id) ? [grant] : []),
        },
        idTokens: {
          verify: async (token) => {
            tokens.push(token);
            return { uid: 'ada', signedInAt: 100, role: 'viewer' };
          },
        },
        roles: {
          of: async (uid, claimed) => {
            const role = await claimed?.();
            if (uid === 'person') return isOut ? { workspaces: {}, access: {}, isOut } : ROLES;
            return { workspaces: {}, access: {}, ...(role && { role }), isClaimed: true, ...standing };
          },
        },
        hashing: {
          ...systemHashing,
          equal: (left, right) => {
            compared.push([left, right]);
            return systemHashing.equal(left, right);
          },
        },
        clock: { now: () => now },
        liveness: { markOnline: async (agentId: string) => void revived.push(agentId) },
      }),
    );
  });

  it('returns the agent as the caller if the credential is that of an agent', async () => {
    stored = {
      credential: sampleCredential({ toolsets: ['coordination'] }),
      agent: sampleAgent({ role: 'leader', workspace: 'alpha' }),
    };
    assert.deepEqual(await authenticator.authenticate(BEARER), {
      uid: 'agent:terminal-2',
      kind: 'agent',
      agent_id: 'terminal-2',
      owner_uid: 'person',
      maxRole: 'leader',
      owner: ROLES,
      toolsets: ['coordination'],
      workspace: 'alpha',
      lineage: [{ subject: `key:${API_KEY}`, agent_id: 'terminal-2' }],
    });
  });

  it("rejects an agent whose owner's account is disabled or deleted", async () => {
    isOut = true;
    await assert.rejects(authenticator.authenticate(BEARER), { code: 'UNAUTHORIZED' });
    isOut = undefined;
    assert.deepEqual((await authenticator.authenticate(BEARER)).owner, ROLES);
  });

  it("rejects a sign-in older than the end of the person's sessions, and accepts a later one", async () => {
    standing = { validSince: 101 };
    await assert.rejects(authenticator.authenticate('a.good.token'), { code: 'UNAUTHORIZED' });
    standing = { validSince: 100 };
    const { owner } = await authenticator.authenticate('a.good.token');
    assert.deepEqual(owner, { workspaces: {}, access: {}, role: 'viewer' });
  });

  it('restricts an agent to the workspace and to the read-only mode of its credential', async () => {
    const credential = sampleCredential({ held_to: 'beta', readonly: true });
    stored = { credential, agent: sampleAgent({ workspace: 'alpha' }) };
    const { held_to: heldTo, readonly, workspace } = await authenticator.authenticate(BEARER);
    assert.deepEqual([heldTo, readonly, workspace], ['beta', true, 'beta']);
  });

  it('reads a cached credential from the database again if the request requires a fresh read', async () => {
    await authenticator.authenticate(BEARER);
    await authenticator.reauthenticate(BEARER);
    await authenticator.authenticate(BEARER);
    assert.equal(lookups.length, 2);
    stored = undefined;
    assert.equal((await refusal(() => authenticator.reauthenticate(BEARER))).code, 'UNAUTHORIZED');
    assert.equal((await refusal(() => authenticator.authenticate(BEARER))).code, 'UNAUTHORIZED');
  });

  it('uses a cached credential for five seconds, and then reads the access changes', async () => {
    const expiresAt = secondsAfterStart(10_000);
    stored = { credential: sampleCredential({ expires_at: expiresAt }), agent: sampleAgent() };
    for (const [seconds, expected] of [
      [0, [1, 1]],
      [4.999, [1, 1]],
      [5, [1, 2]],
      [9.999, [1, 2]],
      [100, [1, 3]],
      [3599, [1, 4]],
      [3600, [2, 4]],
    ] as const) {
      now = secondsAfterStart(seconds);
      await authenticator.authenticate(BEARER);
      assert.deepEqual([lookups.length, readings], expected, `after ${seconds} s`);
    }
  });

  it('reads the access changes once for all concurrent callers', async () => {
    await authenticator.authenticate(BEARER);
    now = secondsAfterStart(6);
    await Promise.all(Array.from({ length: 20 }, () => authenticator.authenticate(BEARER)));
    assert.deepEqual([lookups.length, readings], [1, 2]);
  });

  for (const subject of ['agent:terminal-2', 'person:person', `key:${API_KEY}`, 'everybody'])
    it(`reads the credential once more, after five seconds, if ${subject} has changed`, async () => {
      await authenticator.authenticate(BEARER);
      stored = undefined;
      changes = [{ id: '1', subject }];
      now = secondsAfterStart(4);
      await authenticator.authenticate(BEARER);
      now = secondsAfterStart(6);
      assert.equal((await refusal(() => authenticator.authenticate(BEARER))).code, 'UNAUTHORIZED');
      stored = { credential: sampleCredential(), agent: sampleAgent() };
      await authenticator.authenticate(BEARER);
      now = secondsAfterStart(20);
      await authenticator.authenticate(BEARER);
      assert.equal(lookups.length, 3, 'a change already read is ignored');
    });

  it('keeps a cached credential if an access change concerns only other callers', async () => {
    await authenticator.authenticate(BEARER);
    changes = [{ id: '1', subject: 'agent:terminal-3' }];
    now = secondsAfterStart(6);
    await authenticator.authenticate(BEARER);
    assert.equal(lookups.length, 1);
  });

  it('reads credentials again every five seconds if access changes cannot be read', async () => {
    hasChanges = false;
    for (const seconds of [0, 4, 6, 12]) {
      now = secondsAfterStart(seconds);
      await authenticator.authenticate(BEARER);
    }
    assert.equal(lookups.length, 3);
  });

  it('reads credentials again every five seconds if a role depends on data outside Firestore', async () => {
    stored = { credential: sampleCredential(), agent: sampleAgent({ owner_uid: 'ada' }) };
    for (const seconds of [0, 4, 6, 12]) {
      now = secondsAfterStart(seconds);
      await authenticator.authenticate(BEARER);
    }
    assert.equal(lookups.length, 3);
  });

  it('rejects an expired credential, and explains how to renew the credential', async () => {
    now = secondsAfterStart(1000);
    const error = await refusal(() => authenticator.authenticate(BEARER));
    assert.deepEqual([error.code, error.message], ['TOKEN_EXPIRED', 'The credential has expired.']);
    assert.match(error.details.suggestion ?? '', /onboarding\.registerAgent .*npm run agents -- create/);
  });

  it('rejects a wrong secret even if the credential is cached, and never caches a rejection', async () => {
    await authenticator.authenticate(BEARER);
    for (let attempt = 0; attempt < 2; attempt++) {
      const wrong = authenticator.authenticate(`${API_KEY}.${'x'.repeat(27)}`);
      assert.equal((await refusal(() => wrong)).code, 'UNAUTHORIZED');
    }
    assert.equal(lookups.length, 3);
  });

  it('compares a secret even if the key is unknown, so that the response takes equally long', async () => {
    const wrong = await refusal(() => authenticator.authenticate(`${API_KEY}.${'x'.repeat(27)}`));
    stored = undefined;
    const unknown = await refusal(() => authenticator.authenticate(BEARER));
    assert.deepEqual([unknown.code, unknown.message], [wrong.code, wrong.message]);
    assert.equal(compared.length, 2, 'both are compared');
    for (const [left, right] of compared) assert.equal(left.length, right.length);
  });

  for (const bearer of [
    'eyJhbGciOiJub25lIn0.e30.x',
    `${API_KEY}`,
    `${API_KEY}.`,
    `${API_KEY}.short`,
    `mk_AAAABBBBCCCCDDDD2345.${SECRET}`,
    `${API_KEY}.${SECRET}.more`,
    `${API_KEY}.${SECRET}\n`,
  ])
    it(`passes a credential in another format to Firebase Auth: ${JSON.stringify(bearer.slice(0, 40))}`, async () => {
      assert.deepEqual(await authenticator.authenticate(bearer), ADA);
      assert.deepEqual([tokens, lookups], [[bearer], []]);
    });

  it("returns an agent as the caller for a connected app, within the limits of the app's grant", async () => {
    const given = redeemed({ toolsets: ['todo'], held_to: 'alpha', readonly: true });
    grant = given.grant;
    assert.deepEqual(await authenticator.authenticate(given.tokens.accessToken), {
      uid: 'agent:terminal-2',
      kind: 'agent',
      agent_id: 'terminal-2',
      owner_uid: 'person',
      maxRole: 'worker',
      owner: ROLES,
      toolsets: ['todo'],
      held_to: 'alpha',
      readonly: true,
      workspace: 'alpha',
      grant: { id: grant.id, resource: grant.resource },
      lineage: [{ subject: `grant:${grant.id}`, agent_id: 'terminal-2' }],
    });
    assert.deepEqual(tokens, [], "the token is not a person's");
  });

  it("rejects an app's access token after the token, its grant or its agent has ended", async () => {
    const given = redeemed();
    grant = given.grant;
    const { accessToken, refreshToken } = given.tokens;
    const codeOf = async (bearer: string): Promise<string> =>
      (await refusal(() => authenticator.authenticate(bearer))).code;
    assert.equal(await codeOf(`${accessToken.slice(0, -1)}-`), 'UNAUTHORIZED');
    now = secondsAfterStart(3600);
    assert.equal(await codeOf(accessToken), 'TOKEN_EXPIRED');
    now = START;
    await authenticator.authenticate(accessToken);
    stored = undefined;
    assert.equal((await refusal(() => authenticator.reauthenticate(accessToken))).code, 'UNAUTHORIZED');
    stored = { credential: sampleCredential(), agent: sampleAgent() };
    await authenticator.reauthenticate(accessToken);
    changes = [{ id: '1', subject: `grant:${grant.id}` }];
    grant = undefined;
    await authenticator.authenticate(accessToken);
    now = secondsAfterStart(5);
    assert.equal(await codeOf(accessToken), 'UNAUTHORIZED', 'within 5 seconds');
    // Neither token is the app's access token, so both tokens are passed to Firebase Auth.
    for (const other of [refreshToken, accessToken.replace('ma_', 'mc_')])
      assert.deepEqual(await authenticator.authenticate(other), ADA);
  });

  it("rejects the key of an app's agent after the app's grant has ended", async () => {
    grant = redeemed().grant;
    const ancestors = [{ subject: `grant:${grant.id}`, agent_id: grant.agent_id }] as const;
    stored = { credential: sampleCredential({ grant: grant.id, ancestors }), agent: sampleAgent() };
    const principal = await authenticator.authenticate(BEARER);
    assert.deepEqual(principal.grant, { id: grant.id }, 'without the address that tokens are bound to');
    for (const ended of [undefined, sampleGrant({ expires_at: START })]) {
      grant = ended;
      assert.equal((await refusal(() => authenticator.reauthenticate(BEARER))).code, 'UNAUTHORIZED');
    }
  });

  describe('key that was registered through other keys', () => {
    const LEADER = { subject: 'key:mk_leader', agent_id: 'leader' } as const;
    const leads = (changes: Partial<Credential> = {}, role: Agent['role'] = 'leader') => ({
      credential: sampleCredential({ api_key: 'mk_leader', agent_id: 'leader', ...changes }),
      agent: sampleAgent({ id: 'leader', role }),
    });

    beforeEach(() => {
      const credential = sampleCredential({ ancestors: [LEADER], readonly: true });
      stored = { credential, agent: sampleAgent({ role: 'leader' }) };
      others = [leads()];
    });

    it('permits only what every key of its credential chain permits, and reports the chain', async () => {
      assert.deepEqual((await authenticator.authenticate(BEARER)).lineage, [
        LEADER,
        { subject: `key:${API_KEY}`, agent_id: 'terminal-2' },
      ]);
      others = [leads({ toolsets: ['todo'], held_to: 'alpha' }, 'viewer')];
      const { maxRole, toolsets, held_to: heldTo, readonly } = await authenticator.reauthenticate(BEARER);
      assert.deepEqual([maxRole, toolsets, heldTo, readonly], ['viewer', ['todo'], 'alpha', true]);
    });

    it('is valid only while its registering key (or a renewal) is valid in the same workspace', async () => {
      others = [leads({ api_key: 'mk_renewed', line: 'mk_leader' })];
      await authenticator.authenticate(BEARER);
      const credential = sampleCredential({ ancestors: [LEADER], held_to: 'alpha' });
      stored = { credential, agent: sampleAgent() };
      for (const ended of [[], [leads({ expires_at: START })], [leads({ held_to: 'beta' })]]) {
        others = ended;
        const error = await refusal(() => authenticator.reauthenticate(BEARER));
        assert.equal(error.code, 'UNAUTHORIZED');
      }
      others = [leads({ held_to: 'alpha' })];
      await authenticator.reauthenticate(BEARER);
    });

    it('is read again after a change of a key that registered it, and expires with that key', async () => {
      const expiresAt = secondsAfterStart(500);
      others = [leads({ expires_at: expiresAt })];
      for (const subject of ['key:mk_leader', 'agent:leader']) {
        await authenticator.authenticate(BEARER);
        const before = lookups.length;
        changes = [{ id: subject, subject }];
        now = new Date(now.getTime() + 6000);
        await authenticator.authenticate(BEARER);
        assert.equal(lookups.length, before + 1, subject);
      }
      now = secondsAfterStart(499);
      await authenticator.authenticate(BEARER);
      now = expiresAt;
      assert.equal((await refusal(() => authenticator.authenticate(BEARER))).code, 'UNAUTHORIZED');
    });
  });

  it("restricts a key to the current access of the app's grant if the app registered the key", async () => {
    grant = { ...redeemed().grant, toolsets: ['todo'], readonly: true };
    const ancestors = [{ subject: `grant:${grant.id}`, agent_id: grant.agent_id }] as const;
    stored = { credential: sampleCredential({ grant: grant.id, ancestors }), agent: sampleAgent() };
    const { toolsets, readonly, lineage } = await authenticator.authenticate(BEARER);
    assert.deepEqual([toolsets, readonly], [['todo'], true]);
    assert.equal(lineage?.[0]?.subject, `grant:${grant.id}`);
  });

  it('marks an agent as online only if the agent is offline', async () => {
    await authenticator.authenticate(BEARER);
    stored = { credential: sampleCredential(), agent: sampleAgent({ status: 'offline' }) };
    changes = [{ id: '1', subject: 'agent:terminal-2' }];
    now = secondsAfterStart(6);
    await authenticator.authenticate(BEARER);
    assert.deepEqual(revived, ['terminal-2']);
  });

  it('does not mark an agent as online if the credential is wrong or expired', async () => {
    stored = { credential: sampleCredential(), agent: sampleAgent({ status: 'offline' }) };
    await refusal(() => authenticator.authenticate(`${API_KEY}.${'x'.repeat(27)}`));
    now = secondsAfterStart(2000);
    await refusal(() => authenticator.authenticate(BEARER));
    assert.deepEqual(revived, []);
  });

  it('limits the number of cached credentials, and evicts the oldest one', async () => {
    await authenticator.authenticate(BEARER);
    for (let count = 0; count < 20_000; count++) await authenticator.authenticate(`token-${count}`);
    await authenticator.authenticate('token-19999');
    assert.equal(tokens.length, 20_000, 'the latest is cached');
    await authenticator.authenticate(BEARER);
    assert.equal(lookups.length, 2, 'the first was evicted');
  });
});
