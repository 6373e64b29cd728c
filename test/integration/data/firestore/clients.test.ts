import assert from 'node:assert/strict';
import type { CallerTokens } from '../../../../functions/src/access/store/idTokens.ts';
import type { Caller } from '../../../../functions/src/identity/rules/principal.ts';
import { CallerClients } from '../../../../functions/src/toolsets/firebase/firestore/callerClients.ts';
import type { Lease } from '../../../../functions/src/toolsets/firebase/firestore/watch.ts';
import { agentCaller } from '../callers.ts';

const START = Date.parse('2040-01-01T00:00:00Z');
const HOUR = 3_600_000;

/** Returns a pool of clients for callers. Tokens are fake: the caller's uid, valid for an hour. */
function fixture() {
  const time = { now: START };
  const clock = { now: () => new Date(time.now) };
  const tokens: CallerTokens = {
    of: async ({ principal }) => ({ idToken: principal.uid, claims: {}, expiresAt: new Date(START + HOUR) }),
  };
  return { clients: new CallerClients({ tokens, clock }), time };
}

/** Returns an object whose field shows whether the client that the lease provides is closed. */
function watched(lease: Lease): { closed: boolean } {
  const state = { closed: false };
  const { terminate } = lease.client;
  lease.client.terminate = async () => {
    state.closed = true;
    await terminate.call(lease.client);
  };
  return state;
}

describe('Firestore clients of callers', () => {
  const callers = Array.from({ length: 101 }, () => agentCaller('worker'));
  const [first = agentCaller('worker'), ...others] = callers;

  const leaseAndRelease = async (clients: CallerClients, all: readonly Caller[]): Promise<void> => {
    for (const caller of all) (await clients.lease(caller)).release();
  };

  it('are shared by all calls with the same ID token, including concurrent calls', async () => {
    const { clients } = fixture();
    const [one, two] = await Promise.all([clients.lease(first), clients.lease(first)]);
    assert.equal(one.client, two.client);
    assert.notEqual((await clients.lease(others[0] ?? first)).client, one.client);
  });

  it('are closed, the least recently used client first, if there are too many', async () => {
    const { clients } = fixture();
    const oldest = await clients.lease(first);
    const second = await clients.lease(others[0] ?? first);
    const states = [watched(oldest), watched(second)];
    oldest.release();
    second.release();
    await leaseAndRelease(clients, [first]);
    await leaseAndRelease(clients, others.slice(1));
    assert.deepEqual(states, [{ closed: false }, { closed: true }]);
    assert.equal((await clients.lease(first)).client, oldest.client);
  });

  it('stay open while a call uses them', async () => {
    const { clients } = fixture();
    const one = await clients.lease(first);
    const two = await clients.lease(first);
    const state = watched(one);
    await leaseAndRelease(clients, others);
    assert.notEqual((await clients.lease(first)).client, one.client);
    one.release();
    one.release();
    assert.equal(state.closed, false);
    two.release();
    assert.equal(state.closed, true);
  });

  it('are closed after their ID token has expired', async () => {
    const { clients, time } = fixture();
    const lease = await clients.lease(first);
    const state = watched(lease);
    lease.release();
    time.now += HOUR;
    await leaseAndRelease(clients, others.slice(0, 1));
    assert.equal(state.closed, true);
  });

  it('are released even if the call that uses them fails', async () => {
    const { clients, time } = fixture();
    const lease = await clients.lease(first);
    const state = watched(lease);
    lease.release();
    await assert.rejects(
      clients.use(first, () => Promise.reject(new Error('it broke'))),
      /it broke/,
    );
    time.now += HOUR;
    await leaseAndRelease(clients, others.slice(0, 1));
    assert.equal(state.closed, true);
  });
});
