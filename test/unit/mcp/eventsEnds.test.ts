/** Errors and ends of `/mcp/events` streams over HTTP, with the event log in memory. */
import assert from 'node:assert/strict';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import type { StreamPorts } from '../../../functions/src/mcp/http/streams.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { systemToolset } from '../../support/fixture-toolset.ts';
import { LEADER, type RunningEndpoint } from '../../support/mcp-endpoint.ts';
import { type Asked, dataOf, EventsStage } from './eventsFixture.ts';
import { UID } from './logFixture.ts';

describe('/mcp/events stream', () => {
  const fixture = new EventsStage();

  it('is refused if the caller exceeds the rate limit', async () => {
    const details = { retryAfter: 2 };
    const limits = { take: () => Promise.reject(new MusterError('RATE_LIMITED', 'Too many calls.', details)) };
    const { response } = await fixture.ask({ at: await fixture.serve({ limits }) });
    assert.equal(response.status, 429);
    assert.equal(response.headers.get('retry-after'), '2');
  });

  it('ends after its maximum lifetime without an error, and the end is logged', async () => {
    const brief = await fixture.serve({ streams: { lifetimeMs: 100, keepAliveMs: 60_000 } });
    fixture.log.add(UID, fixture.subscriptionId, 1);
    fixture.ports.entries.length = 0;
    const stream = await fixture.open({ at: brief });
    assert.deepEqual((await stream.rest()).map(dataOf), [1]);
    await eventually('the stream stopped reading', async () => fixture.log.following === 0 || undefined);
    assert.deepEqual(
      fixture.ports.entries.map(({ event, fields }) => [event, fields['tool'] ?? fields['stream'], fields['outcome']]),
      [
        ['call', 'firebase.events', 'OK'],
        ['stream_ended', 'firebase.events', 'OK'],
      ],
    );
  });

  it('is refused with an HTTP status and an error code if it cannot start', async () => {
    const refused = async (asked: Asked, status: number, code: number) => {
      const { response } = await fixture.ask(asked);
      const body = (await response.json()) as { error: { code: number } };
      assert.equal(response.status, status, JSON.stringify(body));
      assert.equal(body.error.code, code);
    };
    await refused({ query: { subscriptionId: 'nope' } }, 404, -32200);
    await refused({ query: { subscriptionId: '../x y' } }, 404, -32200);
    await refused({ headers: { Authorization: 'Bearer other' } }, 404, -32200);
    await refused({ query: { subscriptionId: '' } }, 400, -32301);
    await refused({ query: { cursor: 'x' } }, 400, -32302);
    await refused({ headers: { 'Last-Event-ID': '\u00ff' } }, 400, -32302);
    await refused({ headers: { Authorization: '' } }, 401, -32100);
    await refused({ headers: { Authorization: 'Bearer nobody' } }, 401, -32100);
    await refused({ headers: { Authorization: 'Bearer confined' } }, 403, -32101);
    await refused({ headers: { Origin: 'https://evil.example' } }, 403, -32000);
    await refused({ query: { workspace: '../x' } }, 400, -32300);
  });

  it('sends an error as its last event if it fails after its start', async () => {
    const stream = await fixture.open();
    await eventually('the stream follows the log', async () => fixture.log.following === 1 || undefined);
    fixture.log.end(UID, fixture.subscriptionId);
    const [frame, ...others] = await stream.rest();
    assert.deepEqual(others, []);
    assert.equal(frame?.event, 'error');
    assert.deepEqual(JSON.parse(frame?.data ?? ''), {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32200, message: 'Subscription not found.', data: {} },
    });
  });

  it('ends after its credential is revoked, even without events, and its agent goes offline', async () => {
    const quick = await fixture.serve({ streams: { lifetimeMs: 60_000, keepAliveMs: 20 } });
    fixture.ports.principals.set('fleeting', LEADER);
    const stream = await fixture.open({ at: quick, headers: { Authorization: 'Bearer fleeting' } });
    assert.deepEqual(await stream.take(1), [{ comment: 'keep-alive' }]);
    fixture.ports.principals.delete('fleeting');
    const output = (await stream.rest()).filter(({ comment }) => comment === undefined);
    const rows = output.map(({ event, data }) => [event, JSON.parse(data ?? '').error.code]);
    assert.deepEqual(rows, [['error', -32100]]);
    fixture.ports.seen.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.deepEqual(fixture.ports.seen, []);
  });

  describe("after a change of the owner's roles", () => {
    let news: () => void;
    const watched = () => {
      const watch: StreamPorts['people']['watch'] = (_uid, reported) => {
        news = reported;
        return () => undefined;
      };
      // The intervals are so long that only the change of roles causes a check during the test.
      return fixture.serve({ people: { watch }, streams: { lifetimeMs: 600_000, keepAliveMs: 600_000 } });
    };

    const begin = async () => {
      fixture.ports.principals.set('changing', LEADER);
      const headers = { Authorization: 'Bearer changing' };
      const stream = await fixture.open({ at: await watched(), headers });
      await eventually('the stream follows the log', async () => fixture.log.following === 1 || undefined);
      return stream;
    };

    it('ends with an error if its credential is no longer valid', async () => {
      const stream = await begin();
      fixture.ports.principals.delete('changing');
      news();
      const [frame, ...others] = await stream.rest();
      assert.deepEqual(others, []);
      assert.match(frame?.data ?? '', /-32100/);
    });

    it('ends if the roles of its caller changed, and otherwise stays open', async () => {
      const stream = await begin();
      news();
      fixture.log.add(UID, fixture.subscriptionId, 'heard');
      const frame = (await stream.next()) ?? assert.fail('the stream has ended');
      assert.equal(dataOf(frame), 'heard');
      fixture.ports.principals.set('changing', { ...LEADER, owner: { ...LEADER.owner, role: 'worker' } });
      news();
      assert.deepEqual(await stream.rest(), []);
    });
  });

  it('sends no further event after its credential is revoked', async () => {
    fixture.ports.principals.set('fleeting', LEADER);
    const stream = await fixture.open({ headers: { Authorization: 'Bearer fleeting' } });
    await eventually('the stream follows the log', async () => fixture.log.following === 1 || undefined);
    fixture.ports.principals.delete('fleeting');
    fixture.log.add(UID, fixture.subscriptionId, 'secret');
    const frames = await stream.rest();
    const events = frames.map(({ event }) => event);
    assert.deepEqual(events, ['error']);
    assert.match(frames[0]?.data ?? '', /-32100/);
    await eventually('the stream stopped reading', async () => fixture.log.following === 0 || undefined);
  });

  it('does not reveal the text of an unexpected error', async () => {
    const broken = {
      poll: fixture.log.poll.bind(fixture.log),
      follow() {
        throw new TypeError('at /srv/secret');
      },
    };
    const at = await fixture.serve({ services: () => ({ subscriptions: broken }) as never });
    const [frame] = await (await fixture.open({ at })).rest();
    assert.match(frame?.data ?? '', /"code":-32603,"message":"Internal error\. Report request id/);
  });

  it('accepts only the method GET, including requests from allowed web pages', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'HEAD']) {
      const { response } = await fixture.ask({ method });
      assert.equal(response.status, 405, method);
      assert.equal(response.headers.get('allow'), 'GET', method);
    }
    const origin = 'https://console.example';
    const { response } = await fixture.ask({
      method: 'OPTIONS',
      headers: { Origin: origin, 'Access-Control-Request-Method': 'GET', Authorization: '' },
    });
    assert.equal(response.status, 204);
    assert.equal(response.headers.get('access-control-allow-methods'), 'GET');
    assert.match(response.headers.get('access-control-allow-headers') ?? '', /Last-Event-ID/);
    const stream = await fixture.open({ headers: { Origin: origin } });
    assert.equal(stream.response.headers.get('access-control-allow-origin'), origin);
  });

  it('is listed only if the toolset firebase is served', async () => {
    const endpointsOf = async (at: RunningEndpoint) => {
      const response = await fetch(`${at.url}/mcp/nope`);
      return ((await response.json()) as { endpoints: string[] }).endpoints;
    };
    assert.ok((await endpointsOf(fixture.endpoint)).includes('/mcp/events'));
    const other = await fixture.serve({ toolsets: [systemToolset] });
    assert.ok(!(await endpointsOf(other)).includes('/mcp/events'));
    assert.equal((await fixture.ask({ at: other })).response.status, 404);
  });
});
