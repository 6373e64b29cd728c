/** The firebase examples of the network specification, as printed: through `/mcp/rpc`, and through MCP in each era. */
import assert from 'node:assert/strict';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { agentPath } from '../../functions/src/kernel/firestore/paths.ts';
import { emptyQueueMirror } from '../support/queueMirror.ts';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { type Answer, type Connection, connect, ERAS, isRecord } from './support/clients.ts';
import { endpointUrl, tokenOf } from './support/endpoint.ts';
import { openEvents } from './support/eventStream.ts';
import { post } from './support/http.ts';
import { assertShape } from './support/shape.ts';

type Fields = Readonly<Record<string, unknown>>;

const READ = {
  request: { database: 'firestore', path: 'agents/agent-001', query: { limit: 10 } },
  result: {
    success: true,
    data: {
      id: 'agent-001',
      name: 'Research Agent',
      status: 'active',
      capabilities: ['research', 'analysis'],
    },
    metadata: { path: 'agents/agent-001', timestamp: '2025-11-03T10:30:00Z', count: 1 },
  },
};

const WRITE = {
  request: {
    database: 'firestore',
    path: 'messages/conversations/conv-123',
    data: {
      from: 'agent-001',
      to: 'agent-002',
      message: 'Task completed successfully',
      timestamp: '2025-11-03T10:35:00Z',
    },
    operation: 'push',
  },
  result: {
    success: true,
    key: 'msg-xyz789',
    metadata: {
      path: 'messages/conversations/conv-123',
      timestamp: '2025-11-03T10:35:01Z',
      operation: 'push',
    },
  },
};

const SUBSCRIBE = {
  subscriptionId: 'sub-tasks-001',
  database: 'realtime',
  path: 'tasks/queue',
  eventType: 'child_added',
  includeInitial: false,
};

const EVENT = {
  subscriptionId: 'sub-tasks-001',
  eventType: 'child_added',
  data: { id: 'task-456', type: 'analysis', priority: 'high' },
  key: 'task-456',
  timestamp: '2025-11-03T10:40:00Z',
};

interface Way {
  /** Calls a tool by the name that the specification gives it, and answers its bare result. */
  call(tool: string, args: Fields): Promise<Fields>;
  close(): Promise<void>;
}

async function throughRpc({ token }: TestAgent): Promise<Way> {
  let id = 0;
  return {
    async call(method, params) {
      id += 1;
      const message = JSON.stringify({ jsonrpc: '2.0', id: String(id), method, params });
      const { status, json, text } = await post(endpointUrl('/rpc'), token, message);
      assert.equal(status, 200, text);
      assert.ok(isRecord(json) && isRecord(json['result']), text);
      assert.deepEqual([json['jsonrpc'], json['id']], ['2.0', String(id)]);
      return json['result'];
    },
    close: async () => undefined,
  };
}

async function throughMcp(era: (typeof ERAS)[number], { token }: TestAgent): Promise<Way> {
  const connection = await connect(era, endpointUrl('/network'), token);
  const structured = ({ isError, text, structured: answer }: Answer): Fields => {
    assert.equal(isError, false, text);
    return answer;
  };
  return {
    call: async (tool, args) => structured(await connection.call(tool, args)),
    close: () => connection.close(),
  };
}

const WAYS: readonly (readonly [string, (agent: TestAgent) => Promise<Way>])[] = [
  ['/mcp/rpc', throughRpc],
  ...ERAS.map((era) => [era, (agent: TestAgent) => throughMcp(era, agent)] as const),
];

/** Adds a task to the queue that `tasks/queue` mirrors. */
async function createTask(leader: Connection): Promise<string> {
  const task = { description: 'Analyse the survey', priority: 3 };
  const { task: created } = await succeed(leader, 'coordination_create_task', task);
  assert.ok(isRecord(created));
  return String(created['id']);
}

/** The event of one task among those of others: the queue belongs to all of the workspace. */
function eventOf(events: unknown, task: string): Fields | undefined {
  assert.ok(Array.isArray(events));
  return events.filter(isRecord).find((event) => event['key'] === task);
}

describe('the firebase examples of the network specification', () => {
  let leader: Connection;

  before(async () => {
    // What other tests have left in the queue may be more than can be watched.
    await emptyQueueMirror();
    // Another test may have had it taken for silent.
    await firestore().doc(agentPath('agent-001')).update({ status: READ.result.data.status });
    // `tasks/queue` is the queue of the default workspace.
    leader = await connect('client 2026-07-28', endpointUrl(''), await tokenOf('leader'));
    await succeed(leader, 'coordination_init_coordination', { goal: 'Fill the queue' });
  });
  after(() => leader?.close());

  for (const [name, open] of WAYS) {
    describe(`through ${name}`, () => {
      let agent: TestAgent;
      let way: Way;
      before(async () => {
        agent = await registerAgent('examples');
        way = await open(agent);
      });
      after(() => way?.close());

      it('firebase.read', async () => {
        const result = await way.call('firebase.read', READ.request);
        assertShape(result, READ.result);
        const { data, metadata } = result;
        assert.ok(isRecord(data) && isRecord(metadata));
        const { id, name: called, status, capabilities } = data;
        assert.deepEqual({ id, name: called, status, capabilities }, READ.result.data);
        assert.deepEqual([metadata['path'], metadata['count']], ['agents/agent-001', 1]);
      });

      it('firebase.write', async () => {
        const result = await way.call('firebase.write', WRITE.request);
        assertShape(result, WRITE.result);
        const path = `${WRITE.request.path}/${result['key']}`;
        const { data } = await way.call('firebase.read', { database: 'firestore', path });
        assert.deepEqual(data, WRITE.request.data);
      });

      it('firebase.subscribe, with its event', async () => {
        const subscribed = await way.call('firebase.subscribe', SUBSCRIBE);
        const { success, subscriptionId } = subscribed;
        assert.deepEqual({ success, subscriptionId }, { success: true, subscriptionId: 'sub-tasks-001' });
        assert.equal('initialData' in subscribed, false);
        const stream = await openEvents(agent.token, { subscriptionId: 'sub-tasks-001' });
        try {
          const task = await createTask(leader);
          let polled: Fields | undefined;
          for (let cursor = subscribed['cursor']; polled === undefined; ) {
            const answer = await way.call('firebase.pollEvents', { subscriptionId, cursor, waitMs: 20_000 });
            polled = eventOf(answer['events'], task);
            cursor = answer['cursor'];
          }
          assertEvent(polled, task);
          const streamed = await stream.until(({ key }) => key === task);
          assert.deepEqual(streamed, polled, 'both are read from one log');
        } finally {
          await stream.close();
        }
        const cancelled = await way.call('firebase.unsubscribe', { subscriptionId: 'sub-tasks-001' });
        assert.equal(cancelled['success'], true);
      });
    });
  }

  function assertEvent(event: Fields, task: string): void {
    assertShape(event, EVENT);
    assert.deepEqual(Object.keys(event).sort(), Object.keys(EVENT).sort(), 'nothing but the schema');
    const { subscriptionId, eventType, key, data } = event;
    assert.deepEqual([subscriptionId, eventType, key], ['sub-tasks-001', 'child_added', task]);
    assert.ok(isRecord(data));
    assert.deepEqual([data['id'], data['priority']], [task, 'high']);
  }
});
