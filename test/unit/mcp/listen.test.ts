/** The MCP method `subscriptions/listen` over HTTP, with an SDK client and the event log in memory. */
import assert from 'node:assert/strict';
import { Client, type McpSubscription, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { JSON_BY_LEADER, LEADER, MODERN_META } from '../../support/mcp-endpoint.ts';
import { LogStage, UID } from './logFixture.ts';

const OTHER: Principal = { ...LEADER, uid: 'agent:other', agent_id: 'other' };

interface Listener {
  readonly client: Client;
  /** URIs in the update notifications, in the order of arrival. */
  readonly updated: string[];
}

describe('subscriptions/listen', () => {
  const fixture = new LogStage();
  const { ports, log } = fixture;
  const clients: Client[] = [];
  let id = '';
  let uri = '';

  async function connect(bearer = 'leader-key', { url } = fixture.endpoint): Promise<Listener> {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri);
    });
    const requestInit = { headers: { Authorization: `Bearer ${bearer}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
    clients.push(client);
    return { client, updated };
  }

  const listen = ({ client }: Listener, ...resourceSubscriptions: string[]): Promise<McpSubscription> =>
    client.listen({ resourceSubscriptions });

  beforeEach(() => {
    id = fixture.subscriptionId;
    uri = `firebase://subscriptions/${id}`;
  });

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await eventually('no log is read', async () => log.following === 0 || undefined);
  });

  it('is announced only in the revision 2026-07-28', async () => {
    const { client } = await connect();
    assert.deepEqual(client.getServerCapabilities()?.resources, { subscribe: true });
    const legacy = await fetch(`${fixture.endpoint.url}/mcp`, {
      method: 'POST',
      headers: JSON_BY_LEADER,
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      }),
    });
    assert.match(await legacy.text(), /"resources":\{\}/);
  });

  it('notifies the client of each new event, which the resource then contains', async () => {
    const listener = await connect();
    const subscription = await listen(listener, uri);
    assert.deepEqual(subscription.honoredFilter, { resourceSubscriptions: [uri] });
    await eventually('the stream follows the log', async () => log.following === 1 || undefined);
    assert.deepEqual(listener.updated, []);
    log.add(UID, id, { id: 'task-456' });
    await eventually('the client is notified', async () => listener.updated.length === 1 || undefined);
    log.add(UID, id, 2);
    await eventually('the client is notified again', async () => listener.updated.length === 2 || undefined);
    assert.deepEqual(listener.updated, [uri, uri]);
    const { contents } = await listener.client.readResource({ uri });
    const [content] = contents;
    assert.ok(content !== undefined && 'text' in content);
    const { events, cursor } = JSON.parse(content.text);
    const eventData = events.map(({ data }: { data: unknown }) => data);
    assert.deepEqual(eventData, [{ id: 'task-456' }, 2]);
    assert.equal(events[0].eventType, 'child_added');
    assert.equal(cursor, '2');
  });

  it('notifies the client immediately if events already exist', async () => {
    log.add(UID, id, 1);
    const listener = await connect();
    await listen(listener, uri);
    await eventually('the client is notified', async () => listener.updated.length === 1 || undefined);
  });

  it('notifies two callers separately, even if their subscriptions have the same id', async () => {
    log.begin(OTHER.uid, id);
    const [mine, theirs] = [await connect(), await connect('other')];
    await listen(mine, uri);
    await listen(theirs, uri);
    await eventually('both are followed', async () => log.following === 2 || undefined);
    log.add(OTHER.uid, id, 1);
    await eventually('the other client is notified', async () => theirs.updated.length === 1 || undefined);
    log.add(UID, id, 1);
    await eventually('the first client is notified', async () => mine.updated.length === 1 || undefined);
    assert.equal(theirs.updated.length, 1);
  });

  it('acknowledges only those resources that support subscriptions', async () => {
    const book = 'firebase://shelves/a/books/b';
    const missing = 'firebase://subscriptions/nope';
    ports.entries.length = 0;
    const listener = await connect();
    const some = await listen(listener, missing, uri, book, 'x', uri);
    assert.deepEqual(some.honoredFilter, { resourceSubscriptions: [uri] });
    const none = await listen(listener, missing);
    assert.deepEqual(none.honoredFilter, {});
    assert.equal(await none.closed, 'graceful');
    const ended = ports.entries.filter(({ event }) => event === 'stream_ended');
    assert.equal(ended.length, 1, 'no end is logged for a stream that never started');
    const others = await listen(await connect('other'), uri);
    assert.deepEqual(others.honoredFilter, {});
  });

  it('watches at most 20 resources for one request', async () => {
    const uris = Array.from({ length: 25 }, (_, number) => `${uri}-${number}`);
    for (let number = 0; number < 25; number += 1) log.begin(UID, `${id}-${number}`);
    const { honoredFilter } = await listen(await connect(), ...uris);
    assert.deepEqual(honoredFilter.resourceSubscriptions, uris.slice(0, 20));
  });

  it('stops reading the event log when the client disconnects', async () => {
    const subscription = await listen(await connect(), uri);
    await eventually('the stream follows the log', async () => log.following === 1 || undefined);
    await subscription.close();
    await eventually('the stream stopped reading', async () => log.following === 0 || undefined);
  });

  it('ends after its maximum lifetime without an error, and logs the end', async () => {
    const brief = await fixture.serve({ streams: { lifetimeMs: 200, keepAliveMs: 60_000 } });
    ports.entries.length = 0;
    const subscription = await listen(await connect(undefined, brief), uri);
    assert.equal(await subscription.closed, 'graceful');
    await eventually('the stream stopped reading', async () => log.following === 0 || undefined);
    assert.deepEqual(
      ports.entries.map(({ event, fields }) => [event, fields['tool'] ?? fields['stream'], fields['outcome']]),
      [
        ['call', 'subscriptions/listen', 'OK'],
        ['stream_ended', 'subscriptions/listen', 'OK'],
      ],
    );
  });

  it('ends without an error when the last of its subscriptions has ended', async () => {
    const subscription = await listen(await connect(), uri);
    await eventually('the stream follows the log', async () => log.following === 1 || undefined);
    log.end(UID, id);
    assert.equal(await subscription.closed, 'graceful');
  });

  it('sends no further notification after the credential is revoked', async () => {
    ports.principals.set('fleeting', LEADER);
    const listener = await connect('fleeting');
    const subscription = await listen(listener, uri);
    await eventually('the stream follows the log', async () => log.following === 1 || undefined);
    ports.principals.delete('fleeting');
    log.add(UID, id, 1);
    assert.equal(await subscription.closed, 'graceful');
    assert.deepEqual(listener.updated, []);
  });

  it('watches nothing if the credential does not include the toolset firebase', async () => {
    const { polled } = log;
    const { honoredFilter } = await listen(await connect('confined'), uri);
    assert.deepEqual(honoredFilter, {});
    assert.equal(log.polled, polled, 'the subscription is not looked up');
  });

  it('rejects a malformed filter with the error "invalid params"', async () => {
    for (const notifications of [undefined, 5, { resourceSubscriptions: 'x' }, { resourceSubscriptions: [5] }]) {
      const response = await fetch(`${fixture.endpoint.url}/mcp`, {
        method: 'POST',
        headers: { ...JSON_BY_LEADER, 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'subscriptions/listen',
          params: { notifications, _meta: MODERN_META },
        }),
      });
      assert.match(await response.text(), /"code":-32602/);
    }
  });
});
