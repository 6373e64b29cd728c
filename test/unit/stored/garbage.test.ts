/** A list shows or skips a damaged document. In the test, each field in turn gets values of every other type. */
import assert from 'node:assert/strict';
import { Timestamp } from '@google-cloud/firestore';
import { agentFromDocument, withHeldTask } from '../../../functions/src/agents/rules/agent.ts';
import { agentToDocument } from '../../../functions/src/agents/store/agents.ts';
import { lastSeenIn } from '../../../functions/src/agents/store/presence.ts';
import {
  discoveryFromDocument,
  discoveryToDocument,
} from '../../../functions/src/toolsets/coordination/rules/session.ts';
import { taskFromDocument, taskToDocument } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { START, sampleAgent, sampleCodingTask, sampleTask } from '../../support/builders.ts';
import { EMPTY_DIRECTORY } from '../../support/mcp-endpoint.ts';

type Fields = Record<string, unknown>;

/** Values of different types with which a field is replaced. */
const GARBAGE: readonly unknown[] = [
  undefined,
  null,
  'x',
  'a/b',
  '{',
  true,
  0.5,
  -1,
  1e300,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  {},
  [{}],
  ['x'],
  new Timestamp(-62_135_596_800, 0),
  new Timestamp(253_402_300_799, 0),
];

/** Yields a damaged copy of the document for each field and replacement value, including nested fields. */
function* broken(whole: Fields): Generator<Fields> {
  for (const [field, value] of Object.entries(whole)) {
    for (const garbage of GARBAGE) yield { ...whole, [field]: garbage };
    if (isMap(value)) for (const inner of broken(value)) yield { ...whole, [field]: inner };
    if (Array.isArray(value) && isMap(value[0]))
      for (const inner of broken(value[0])) yield { ...whole, [field]: [inner] };
  }
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns the value as Firestore would return it. */
function stored(value: unknown): unknown {
  if (value instanceof Date) return Timestamp.fromDate(value);
  if (Array.isArray(value)) return value.map(stored);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, stored(inner)]));
}

/** Returns the values of those damaged documents that can still be read. */
function readable<Value>(document: object, fromDocument: (data: unknown) => Value): Value[] {
  return [...broken(stored({ ...document }) as Fields)].flatMap((data) => {
    try {
      return [fromDocument(data)];
    } catch {
      return [];
    }
  });
}

/** Calls the tool with services that return these values. Its output schema then validates the response. */
async function answered(name: string, services: object, args: Fields = {}): Promise<void> {
  const [toolset, tool] = name.split('.');
  const found = toolsets.find((one) => one.name === toolset)?.tools.find((one) => one.name === tool);
  assert.ok(found, name);
  await found.prepare(args).run({ services, workspace: 'alpha', directory: EMPTY_DIRECTORY } as never);
}

const now = START;

describe('list that includes damaged documents', () => {
  it('shows every agent whose document can be read', async () => {
    const agent = withHeldTask(
      sampleAgent({ last_completed_at: now }),
      'task-1',
      { session: 's', claim_epoch: 1 },
      now,
    );
    const capability = { name: 'coding', category: 'work', parameters: { depth: 1 } };
    const document = agentToDocument({ ...agent, capability_details: [capability] });
    const agents = readable(document, agentFromDocument);
    assert.ok(agents.length > 50);
    for (const one of agents) {
      const overview = { list: async () => ({ agents: [one], asOf: now }), summary: async () => ({}) };
      await answered('system.getAgents', { system: { overview } }, { includeMetrics: true });
    }
  });

  it('shows every task whose document can be read', async () => {
    const claim = { claimed_by: 'a', claim_epoch: 1, claimed_at: now, lease_seconds: 1, lease_expires_at: now };
    const lateResult = { agent_id: 'b', claim_epoch: 1, received_at: now, error: 'late' };
    const whole = sampleTask({
      status: 'claimed',
      claim_epoch: 1,
      claim,
      late_result: lateResult,
      lapsed_claims: [{ agent_id: 'a', claim_epoch: 1 }],
    });
    for (const task of [whole, sampleCodingTask(), sampleTask({ status: 'done', result: { output: 'x' } })]) {
      const tasks = readable(taskToDocument(task), taskFromDocument);
      assert.ok(tasks.length > 50);
      for (const one of tasks) {
        const page = { tasks: [one], truncated: false };
        await answered('system.getTaskQueue', { system: { tasks: { list: async () => ({ page, stats: NOTHING }) } } });
        const list = async () => ({ items: [one], more: true });
        await answered('coordination.get_all_tasks', { coordination: { listTasks: list } });
        await answered('coordination.get_results', { coordination: { listDone: list } });
      }
    }
  });

  it('shows every discovery whose document can be read', async () => {
    const discovery = {
      id: 'd',
      session: 's',
      workspace: 'alpha',
      agent_id: 'a',
      content: 'x',
      tags: ['t'],
      created_at: now,
    };
    for (const one of readable(discoveryToDocument(discovery), discoveryFromDocument))
      await answered('coordination.get_discoveries', {
        coordination: { listDiscoveries: async () => ({ items: [one], more: true }) },
      });
  });

  it('ignores presence values that are not a time', () => {
    for (const garbage of [1e300, -1e300, Number.NaN, 'x', null, {}, []])
      for (const value of [garbage, { last_seen: garbage }])
        assert.ok(!Number.isNaN(new Date(lastSeenIn(value)).getTime()), JSON.stringify(value));
    assert.equal(lastSeenIn({ last_seen: 5 }), 5);
  });
});

const NOTHING = { total: 0, pending: 0, assigned: 0, inProgress: 0, blocked: 0 };
