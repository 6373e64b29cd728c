/** The subscription tools, called as a client calls them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { type JsonObject, sentBytes } from '../../../functions/src/kernel/json.ts';
import { callTool } from '../../../functions/src/mcp/call.ts';
import type { Notification } from '../../../functions/src/mcp/callContext.ts';
import { authenticatorOf } from '../../support/principals.ts';
import { answer, call as callPlainly, directory, toolNamed } from '../coordination/calls.ts';
import { silent, Team } from '../coordination/team.ts';
import { agentCaller } from '../data/callers.ts';
import { newPath, write } from './instance.ts';

describe('subscription tools', () => {
  const team = new Team();
  const { principal } = agentCaller('viewer');
  const call = (name: string, args: JsonObject) => answer(team, `firebase_${name}`, args, principal);
  const newId = (): string => `sub-${randomUUID()}`;

  before(() => {
    team.now = new Date(); // The tokens of callers are valid only at the current time.
  });

  it('return the existing data in the formats of firebase.read', async () => {
    const path = newPath();
    const initialData = async (args: JsonObject) =>
      (await call('subscribe', { subscriptionId: newId(), path, ...args }))['initialData'];
    assert.equal(await initialData({ database: 'realtime', eventType: 'child_added' }), null);
    assert.equal(await initialData({ database: 'realtime' }), null);
    await write(path, { a: 1 });
    assert.deepEqual(await initialData({ database: 'realtime', eventType: 'child_added' }), { a: 1 });
    assert.deepEqual(await initialData({ database: 'realtime', path: `${path}/a` }), { '.value': 1 });
    assert.deepEqual(await initialData({ database: 'firestore', eventType: 'document_added' }), []);
    await firestore().doc(`${path}/one`).set({ n: 1 });
    await firestore().doc(`${path}/two`).set({ id: 'other' });
    const documents = [
      { id: 'one', n: 1 },
      { __name__: 'two', id: 'other' },
    ];
    assert.deepEqual(await initialData({ database: 'firestore', eventType: 'document_added' }), documents);
    assert.deepEqual(await initialData({ database: 'firestore' }), documents);
    assert.equal(await initialData({ database: 'firestore', includeInitial: false }), undefined);
  });

  it('return the first response if a key is repeated, but with the current data', async () => {
    const path = newPath();
    const key = randomUUID();
    const args = {
      subscriptionId: newId(),
      database: 'realtime',
      path,
      eventType: 'child_added',
      idempotency_key: key,
    };
    const first = await call('subscribe', args);
    await write(path, { a: 1 });
    assert.deepEqual(await call('subscribe', args), { ...first, initialData: { a: 1 } });

    const removal = { subscriptionId: args.subscriptionId, idempotency_key: randomUUID() };
    const removed = await call('unsubscribe', removal);
    assert.deepEqual(removed, { success: true, subscriptionId: args.subscriptionId });
    assert.deepEqual(await call('unsubscribe', removal), removed);
    const again = { subscriptionId: args.subscriptionId };
    const refused = await callPlainly(team, 'firebase_unsubscribe', again, principal);
    assert.match(JSON.stringify(refused.structuredContent), /Subscription not found/);
  });

  it('send each event as a notification before the response that contains the event', async () => {
    const path = newPath();
    const subscriptionId = newId();
    await call('subscribe', { subscriptionId, database: 'realtime', path, eventType: 'child_added' });
    await write(path, { a: { n: 1 }, b: { n: 2 } });
    const notified: Notification[] = [];
    const exchange = {
      principal,
      credential: '',
      workspace: team.workspace,
      requestId: 'a-request',
      baseUrl: 'https://muster.example/mcp',
      directory,
      disconnectSignal: () => new AbortController().signal,
      timeLeft: () => 50_000,
    };
    const ports = { ...team.app.calls, authenticator: authenticatorOf(principal), log: silent };
    const poll = toolNamed('firebase_pollEvents');
    const outcome = await callTool(ports, exchange, poll, {
      args: { subscriptionId },
      channel: { notify: (one) => notified.push(one), bytesOf: sentBytes },
    });
    assert.ok('answer' in outcome && Array.isArray(outcome.answer['events']));
    const expected = outcome.answer['events'].map((params) => ({ method: 'firebase.event', params }));
    assert.deepEqual(notified, expected);
    assert.deepEqual(
      notified.map(({ params }) => [params['subscriptionId'], params['eventType'], params['key'], params['data']]),
      [
        [subscriptionId, 'child_added', 'a', { n: 1 }],
        [subscriptionId, 'child_added', 'b', { n: 2 }],
      ],
    );
  });
});
