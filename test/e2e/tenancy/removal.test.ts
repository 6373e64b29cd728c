/**
 * A person who is removed from a workspace loses access to it, as do the agents of the person. Open streams end.
 * test/integration/access/leaving.test.ts tests the effects on tasks and runs.
 */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { isRecord } from '../support/clients.ts';
import { eventually } from '../support/waiting.ts';
import { mayRead } from './direct.ts';
import { type CallerName, TenancyFixture } from './fixture.ts';

/** Reasons in errors of the permission check or a database for the removed member. */
const OUT = /^(NO_ROLE|RIGHTS_CHANGED|PERMISSION_DENIED)$/;

/** The longest wait for changes that the tools accept. */
const MAX_WAIT_MS = 25_000;
const MODERN = '2026-07-28';
const CASS = ['cas the worker', 'cas himself'] as const;

/** A stream: the text that it has sent so far, and a promise that resolves when it ends. */
interface Followed {
  readonly output: () => string;
  readonly ended: Promise<void>;
}

function follow(response: Response): Followed {
  assert.equal(response.status, 200);
  let output = '';
  const read = async () => {
    assert.ok(response.body);
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) output += text;
  };
  return { output: () => output, ended: read() };
}

describe('a person who is removed from a workspace', function () {
  this.timeout('2m');
  const fixture = new TenancyFixture();
  const loud = () => `messages/${fixture.alpha}/loud`;
  const quiet = () => `messages/${fixture.alpha}/quiet`;

  before(() => fixture.begin());
  after(() => fixture.end());

  const succeed = (caller: CallerName, tool: string, args: JsonObject) =>
    fixture.result(caller, fixture.alpha, tool, args);

  async function subscribe(caller: CallerName, path: string, name: string): Promise<string> {
    const subscriptionId = `${name}-${fixture.mark}`;
    const watched = { subscriptionId, database: 'realtime', path, eventType: 'child_added' };
    await succeed(caller, 'firebase.subscribe', watched);
    return subscriptionId;
  }

  async function openEvents(caller: CallerName, subscriptionId: string): Promise<Followed> {
    const url = fixture.url('/events', { workspace: fixture.alpha, subscriptionId });
    const headers = { authorization: `Bearer ${fixture.credential(caller)}`, accept: 'text/event-stream' };
    return follow(await fetch(url, { headers }));
  }

  async function listen(caller: CallerName, uri: string): Promise<Followed> {
    const method = 'subscriptions/listen';
    const params = {
      notifications: { resourceSubscriptions: [uri] },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      },
    };
    const response = await fetch(fixture.url('', { workspace: fixture.alpha }), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${fixture.credential(caller)}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': MODERN,
        'mcp-method': method,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return follow(response);
  }

  const order = (text: string) => ({
    tool: 'CLAUDECODE',
    description: `${fixture.secret} ${text}`,
    instructions: fixture.secret,
  });

  it('loses all streams, waiting calls, tools and database paths of the workspace', async () => {
    const write = (text: string) =>
      succeed('ann the worker', 'firebase.write', {
        database: 'realtime',
        path: `${loud()}/${text}`,
        operation: 'set',
        data: { text },
      });
    const streams: Followed[] = [];
    for (const caller of CASS) {
      const received = await subscribe(caller, loud(), 'loud');
      const heardElsewhere = await subscribe(caller, loud(), 'listened');
      streams.push(await openEvents(caller, received));
      streams.push(await listen(caller, `firebase://subscriptions/${heardElsewhere}`));
    }
    await write('before');
    await eventually(
      'every stream has sent the written event',
      async () => streams.every(({ output }) => /before|resources\/updated/.test(output())) || undefined,
    );
    const { result } = await succeed('ann the worker', 'coding.create_task', order('before'));
    assert.ok(isRecord(result));
    const uri = `task://${result['taskId']}`;
    for (const caller of CASS) streams.push(await listen(caller, uri));
    await eventually(
      'every stream is acknowledged',
      async () => streams.slice(-CASS.length).every(({ output }) => output().includes(uri)) || undefined,
    );
    let answered = 0;
    const waits = CASS.map(async (caller) => {
      const subscriptionId = await subscribe(caller, quiet(), 'quiet');
      return fixture.call(caller, fixture.alpha, 'firebase.pollEvents', { subscriptionId, waitMs: MAX_WAIT_MS });
    });
    const runner = { programs: [{ name: 'gemini', version: '0.49.0' }], serves: 'workspace' };
    await succeed('cas the worker', 'coding.register_runner', runner);
    waits.push(fixture.call('cas the worker', fixture.alpha, 'coding.claim_task', { waitMs: MAX_WAIT_MS }));
    for (const wait of waits) void wait.then(() => answered++);
    const person = fixture.credential('cas himself');
    assert.ok(await mayRead(person, 'realtime', loud()));
    assert.ok(await mayRead(person, 'firestore', `workspaces/${fixture.alpha}/members/${fixture.ann}`));

    assert.equal(answered, 0, 'a waiting call returned before the removal');
    await succeed('ann the leader', 'access.remove_member', { uid: fixture.cas });
    // test/unit/mcp/eventsEnds.test.ts tests that streams end immediately. Here, they must end before the timeout.
    await Promise.all(streams.map(({ ended }) => ended));
    await eventually('every call is refused', async () => {
      const made = CASS.map((caller) => fixture.call(caller, fixture.alpha, 'coordination.get_status', {}));
      const outcomes = await Promise.all(made);
      return outcomes.every(({ error }) => error?.reason === 'NO_ROLE') || undefined;
    });
    assert.equal(await mayRead(person, 'realtime', loud()), false);
    assert.equal(await mayRead(person, 'firestore', `workspaces/${fixture.alpha}/members/${fixture.ann}`), false);

    // This is the data for which the calls are waiting. It is written only after the removal.
    await write('after');
    await succeed('ann the worker', 'coding.create_task', { ...order('after'), tool: 'GEMINI' });
    await succeed('ann the worker', 'firebase.write', {
      database: 'realtime',
      path: `${quiet()}/after`,
      operation: 'set',
      data: { text: fixture.secret },
    });
    for (const { error } of await Promise.all(waits)) {
      assert.ok(error, 'a waiting call returned a result after the removal');
      assert.match(error.reason, OUT);
      assert.ok(!error.message.includes(fixture.secret), error.message);
    }
    assert.ok(streams.every(({ output }) => !output().includes('after')));
  });
});
