/**
 * Plays a new agent that knows only what the tools return. It makes, without changes, the calls that getWelcome
 * suggests, and then the calls that its checklist suggests.
 */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { bearerOf } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect, ERAS, type Era } from './support/clients.ts';
import { endpointUrl, newAgentName, newWorkspace, type Seeded, tokenOf } from './support/endpoint.ts';
import { request, send } from './support/http.ts';

const welcome = z.object({
  welcome: z.object({ message: z.string(), systemOverview: z.string(), roleDescription: z.string() }),
  quickStart: z.array(z.object({ step: z.number(), title: z.string(), description: z.string(), action: z.string() })),
  resources: z.object({
    documentation: z.array(z.string()),
    tutorials: z.array(z.string()),
    contacts: z.array(z.string()),
  }),
  language: z.string(),
});

const checklist = z.object({
  checklist: z.array(
    z.object({
      id: z.string(),
      required: z.boolean(),
      completed: z.boolean(),
      completedAt: z.iso.datetime().optional(),
      dependencies: z.array(z.string()),
      resources: z.array(z.string()),
    }),
  ),
  progress: z.object({
    completed: z.number(),
    total: z.number(),
    percentage: z.number(),
    requiredRemaining: z.number(),
  }),
});

const registered = z.object({
  agentId: z.string(),
  credentials: z.object({ apiKey: z.string(), secret: z.string() }),
  endpoints: z.record(z.string(), z.url()),
});

/** Maximum number of checklist calls. No checklist has so many items. */
const ENOUGH = 10;

interface Newcomer {
  readonly role: string;
  readonly language: string;
  readonly invitedBy: Seeded;
  readonly era: Era;
  /** Whether the agent reconnects with its own new credential. Otherwise it keeps the credential of its client. */
  readonly reconnects: boolean;
  /** Ids of checklist items that the agent must complete. */
  readonly achieves: readonly string[];
}

const WORK = ['register', 'connect', 'join', 'claim', 'complete'];

const NEWCOMERS: readonly Newcomer[] = [
  {
    role: 'researcher',
    language: 'pt-BR',
    invitedBy: 'leader',
    era: ERAS[0],
    reconnects: true,
    achieves: [...WORK, 'discover'],
  },
  {
    role: 'coordinator',
    language: 'tlh',
    invitedBy: 'person',
    era: ERAS[1],
    reconnects: true,
    achieves: ['register', 'connect', 'join', 'create'],
  },
  // This client cannot reconnect with another credential.
  { role: 'developer', language: 'de', invitedBy: 'worker1', era: ERAS[2], reconnects: false, achieves: WORK },
];

for (const { role, language, invitedBy, era, reconnects, achieves } of NEWCOMERS) {
  const where = reconnects ? 'with its own credential' : 'with its client’s credential';
  describe(`onboarding of a ${role} by ${invitedBy}, ${where}`, () => {
    const url = endpointUrl('', { workspace: newWorkspace(`arrival-${role}`) });
    let connection: Connection;
    let greeting: z.output<typeof welcome>;
    let identity: z.output<typeof registered> | undefined;
    let token: string;

    before(async () => {
      const leader = await connect('client 2026-07-28', url, await tokenOf('leader'));
      await succeed(leader, 'coordination_create_task', { description: 'The first work there is' });
      await leader.close();
      token = await tokenOf(invitedBy);
      connection = await connect(era, url, token);
    });
    after(() => connection?.close());

    /** Makes the suggested call unchanged. If the response contains a credential, later calls use that credential. */
    async function follow(action: string): Promise<Readonly<Record<string, unknown>>> {
      const answer = await succeed(connection, ...parsed(action));
      if (!('credentials' in answer)) return answer;
      identity = registered.parse(answer);
      if (!reconnects) return answer;
      token = bearerOf(identity.credentials);
      await connection.close();
      connection = await connect(era, url, token);
      return answer;
    }

    it('welcomes the agent by its name, and describes its role and specializations', async () => {
      assert.match(connection.instructions ?? '', /onboarding: Start here: .*getWelcome/);
      const agentName = newAgentName(role);
      const args = { agentName, role, specializations: ['code-review'], language };
      greeting = welcome.parse(await succeed(connection, 'onboarding_getWelcome', args));
      assert.ok(greeting.welcome.message.includes(agentName));
      assert.match(greeting.welcome.roleDescription, /code-review/);
    });

    it('suggests a quick start whose calls succeed unchanged and register the agent', async () => {
      const steps = greeting.quickStart.map(({ step }) => step);
      const expected = greeting.quickStart.map((_, index) => index + 1);
      assert.deepEqual(steps, expected);
      for (const { action } of greeting.quickStart) await follow(action);
      assert.ok(identity, 'the quick start did not register the agent');
    });

    it('gives the agent endpoints and pages that it can request with its credential', async () => {
      const urls = greeting.resources.documentation.filter((one) => one.startsWith('http'));
      assert.ok(urls.length > 1);
      for (const endpoint of urls) {
        const { status, text } = await request(endpoint, token, 'tools/list');
        assert.equal(status, 200, `${endpoint}: ${text}`);
      }
      const pages = Object.entries(identity?.endpoints ?? {});
      assert.deepEqual(pages.map(([name]) => name).sort(), ['messages', 'status', 'tasks']);
      for (const [name, page] of pages) {
        const { status, text, json } = await send(page, { headers: { Authorization: `Bearer ${token}` } });
        assert.equal(status, 200, `${name}: ${text}`);
        assert.ok(json !== null && typeof json === 'object', name);
        assert.ok(({ messages: 'data', status: 'metrics', tasks: 'queueStats' }[name] ?? '') in json, text);
        assert.equal((await send(page, {})).status, 401, name);
      }
      for (const uri of greeting.resources.documentation.filter((one) => !one.startsWith('http')))
        await connection.read(uri).catch((error: Error) => assert.match(error.message, /no goal/, uri));
    });

    it('suggests checklist calls that complete every required item of the checklist', async () => {
      const [look = ''] = greeting.resources.tutorials;
      for (let count = 0; count < ENOUGH; count++) {
        const { checklist: items, progress } = checklist.parse(await follow(look));
        const done = new Set(items.filter(({ completed }) => completed).map(({ id }) => id));
        assert.deepEqual([progress.completed, progress.total], [done.size, items.length]);
        assert.equal(progress.percentage, Math.floor((done.size * 100) / items.length));
        const next = items.find(
          ({ id, required, dependencies }) =>
            required && !done.has(id) && dependencies.every((before) => done.has(before)),
        );
        if (next === undefined) {
          assert.equal(progress.requiredRemaining, 0);
          const missing = [...achieves].filter((id) => !done.has(id));
          assert.deepEqual(missing, []);
          for (const { completed, completedAt } of items) assert.equal(completedAt !== undefined, completed);
          return;
        }
        const [call = ''] = next.resources;
        await follow(call);
      }
      assert.fail('required checklist items remain');
    });

    it('leads the agent to complete its first task, unless the agent is a coordinator', async () => {
      if (!achieves.includes('complete')) return;
      const { results } = await succeed(connection, 'coordination_get_results');
      assert.ok(Array.isArray(results) && results.length === 1);
      assert.equal(results[0].description, 'The first work there is');
    });
  });
}

/** Parses a suggested call, which is the tool's name, a space, and the arguments as JSON. */
function parsed(action: string): [tool: string, args: Readonly<Record<string, unknown>>] {
  const at = action.indexOf(' ');
  return [action.slice(0, at), z.record(z.string(), z.unknown()).parse(JSON.parse(action.slice(at)))];
}
