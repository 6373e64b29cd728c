/** Which fields an update changes, keeps and removes, for every tool with the argument `clear`. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { fullName } from '../../../functions/src/mcp/tool.ts';
import { proofResponse } from '../../../functions/src/toolsets/coordination/tools/proofResponses.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { inRuns } from '../../support/properties.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer, call } from '../coordination/calls.ts';

/** An item that a tool updates. */
interface Subject {
  /** Arguments of the tool that identify the item. */
  readonly named: JsonObject;
  /** Returns the item's fields, by the names of their arguments. In this test, every field has a value. */
  read(latest: JsonObject | undefined): Promise<JsonObject>;
}

interface Updated {
  /** Fields that an argument changes in addition to its own field. The keys are names of arguments. */
  readonly alongWith?: Readonly<Record<string, readonly string[]>>;
  /** A new value for each argument that changes a field. */
  readonly values: JsonObject;
  create(fixture: AccessFixture, ada: Principal): Promise<Subject>;
}

const picked = (from: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, from[name] ?? null]));

const inList = (items: unknown, id: string): JsonObject =>
  (items as JsonObject[]).find((item) => item['id'] === id) ?? assert.fail(`no ${id}`);

const UPDATED: Readonly<Record<string, Updated>> = {
  'todo.update_task': {
    values: { title: 'B', description: 'Y', due_date: '2041-05-05T05:00:00Z', priority: 'LOW', tags: ['b'] },
    async create(fixture, ada) {
      const due_date = '2041-01-01T10:00:00Z';
      const draft = { title: randomUUID(), description: 'X', due_date, priority: 'HIGH', tags: ['a'] };
      const { task } = await answer(fixture, 'todo_add_task', draft, ada);
      const { id } = Object(task);
      return {
        named: { task_id: id },
        read: async () => {
          const { tasks } = await answer(fixture, 'todo_list_tasks', { limit: 100 }, ada);
          return picked(inList(tasks, id), Object.keys(draft));
        },
      };
    },
  },
  'todo.update_recurring_task': {
    alongWith: { timezone: ['end_date'], frequency: ['interval'] },
    values: {
      title: 'B',
      description: 'Y',
      priority: 'LOW',
      tags: ['b'],
      frequency: 'WEEKLY',
      interval: 2,
      reminder_lead_minutes: 20,
      end_date: '2045-05-05T05:00:00Z',
      timezone: 'Europe/Berlin',
    },
    async create(fixture, ada) {
      const draft = {
        title: randomUUID(),
        description: 'X',
        priority: 'HIGH',
        tags: ['a'],
        frequency: 'DAILY',
        interval: 3,
        reminder_lead_minutes: 10,
        end_date: '2044-04-04T04:00:00Z',
        timezone: 'Asia/Tokyo',
      };
      const asked = { ...draft, start_date: '2041-01-01T10:00:00Z' };
      const { recurring_task } = await answer(fixture, 'todo_create_recurring_task', asked, ada);
      const { id } = Object(recurring_task);
      return {
        named: { recurring_task_id: id },
        read: async () => {
          const { recurring_tasks } = await answer(fixture, 'todo_list_recurring_tasks', { limit: 100 }, ada);
          return picked(inList(recurring_tasks, id), Object.keys(draft));
        },
      };
    },
  },
  'coordination.update_task': {
    values: {
      description: 'B',
      priority: 9,
      dependencies: [],
      required_capabilities: ['b'],
      hints: 'Y',
      context_files: ['b.ts'],
      deadline: '2041-05-05T05:00:00Z',
      acceptance: { review: 'any' },
    },
    async create(fixture, ada) {
      const { task: first } = await answer(fixture, 'coordination_create_task', { description: 'First' }, ada);
      const draft = {
        description: 'A',
        priority: 2,
        dependencies: [String(Object(first).id)],
        required_capabilities: ['a'],
        hints: 'X',
        context_files: ['a.ts'],
        deadline: '2041-01-01T10:00:00Z',
        acceptance: { command: 'npm test' },
      };
      const { task } = await answer(fixture, 'coordination_create_task', draft, ada);
      const { id } = Object(task);
      return {
        named: { task_id: id },
        read: async () => {
          const { value } = (await fixture.app.coordination.ports.tasks.find(id)) ?? assert.fail(id);
          const {
            description,
            priority,
            dependencies,
            context,
            deadline,
            required_capabilities: requiredCapabilities,
          } = value;
          return {
            description,
            priority,
            dependencies,
            required_capabilities: requiredCapabilities,
            hints: context.hints ?? null,
            context_files: context.files,
            deadline: deadline?.toISOString() ?? null,
            acceptance: proofResponse(value).acceptance
              ? JSON.parse(JSON.stringify(proofResponse(value).acceptance))
              : null,
          };
        },
      };
    },
  },
  'system.setBudget': {
    values: { money: 7, tokens: 7000 },
    async create(fixture, ada) {
      const named = { kind: 'workspace', id: fixture.workspace };
      const first = await answer(fixture, 'system_setBudget', { ...named, money: 5, tokens: 5000 }, ada);
      return { named, read: async (latest = first) => picked(Object(latest['limit']), ['money', 'tokens']) };
    },
  },
  'onboarding.registerAgent': {
    values: { toolsets: ['onboarding'], heldTo: 'default', readonly: false },
    async create(fixture, ada) {
      const named = {
        agentInfo: { name: 'narrow', type: 'developer', version: '1.0.0' },
        capabilities: [{ name: 'coding', category: 'general' }],
      };
      const limits = { toolsets: ['onboarding', 'todo'], heldTo: fixture.workspace, readonly: true };
      const first = await answer(fixture, 'onboarding_registerAgent', { ...named, ...limits }, ada);
      return {
        named,
        read: async (latest = first) => {
          const { apiKey, secret } = Object(latest['credentials']);
          const { authenticator } = fixture.anotherInstance().services;
          const principal = await authenticator.authenticate(`${apiKey}.${secret}`);
          const { toolsets: chosen = null, held_to: heldTo = null, readonly = false } = principal;
          return { toolsets: chosen && [...chosen], heldTo, readonly };
        },
      };
    },
  },
};

/** Optional arguments without a field, or whose field a registration replaces even if the argument is omitted. */
const NOT_KEPT: readonly string[] = ['idempotency_key', 'clear', 'days', 'configuration', 'role', 'workspace'];

describe('updates', () => {
  const updating = toolsets.flatMap(({ name: toolset, tools }) =>
    tools
      .filter(({ input }) => 'clear' in input.shape)
      .map((tool) => ({ name: fullName(toolset, tool.name), wire: `${toolset}_${tool.name}`, tool })),
  );

  it('are tested for every tool with the argument clear', () =>
    assert.deepEqual(updating.map(({ name }) => name).sort(), Object.keys(UPDATED).sort()));

  for (const { name, wire, tool } of updating)
    describe(`${name}`, () => {
      const { values, create, alongWith = {} } = UPDATED[name] ?? assert.fail(name);
      const fields = Object.keys(values);
      const clearable: readonly string[] = Object(tool.input.shape['clear']).unwrap().element.options;
      let fixture: AccessFixture;
      let ada: Principal;

      beforeEach(async () => {
        fixture = new AccessFixture();
        await fixture.closeTo({ ada: 'leader' });
        ada = await fixture.person('ada');
      });

      /** Returns the fields that have another value after the call. */
      async function changedBy(given: JsonObject): Promise<readonly string[]> {
        // Two to-dos with the same title would be duplicates.
        const args: JsonObject = typeof given['title'] === 'string' ? { ...given, title: randomUUID() } : given;
        const { named, read } = await create(fixture, ada);
        const before = await read(undefined);
        assert.ok(
          Object.values(before).every((value) => value !== null),
          JSON.stringify(before),
        );
        const after = await read(await answer(fixture, wire, { ...named, ...args }, ada));
        for (const field of fields)
          if (args[field] !== undefined && args[field] !== null)
            assert.deepEqual(canonical(after[field]), canonical(args[field]), field);
        return fields.filter((field) => JSON.stringify(after[field]) !== JSON.stringify(before[field]));
      }

      const expectedOf = (some: readonly string[]) =>
        fields.filter((field) => some.some((one) => one === field || alongWith[one]?.includes(field)));

      const nulls = Object.fromEntries(
        Object.entries(tool.input.shape)
          .filter(([, schema]) => schema.safeParse(undefined).success)
          .map(([argument]) => [argument, null]),
      );

      it('changes only the given fields; it ignores null, which strict clients send', async () => {
        assert.deepEqual(
          Object.keys(nulls)
            .filter((argument) => !NOT_KEPT.includes(argument))
            .sort(),
          [...fields].sort(),
        );
        for (const field of fields)
          assert.deepEqual(await changedBy({ ...nulls, [field]: values[field] }), expectedOf([field]));
        await inRuns(5).forAllAsync(fc.subarray(fields, { minLength: 2 }), async (some) => {
          assert.deepEqual(await changedBy({ ...nulls, ...picked(values, some) }), expectedOf(some));
        });
      });

      it('removes only the fields in clear', async () => {
        for (const field of clearable) {
          assert.deepEqual(await changedBy({ ...nulls, clear: [field] }), [field]);
          const other = fields.find((one) => !clearable.includes(one));
          if (other === undefined) continue;
          const both = await changedBy({ [other]: values[other], clear: [field, field] });
          assert.deepEqual([...both].sort(), [field, other].sort());
        }
        assert.deepEqual([...(await changedBy({ clear: [...clearable] }))].sort(), [...clearable].sort());
      });

      it('rejects a field that is both set and cleared, and a field that cannot be cleared', async () => {
        const { named, read } = await create(fixture, ada);
        const before = await read(undefined);
        const refused = async (args: JsonObject): Promise<JsonObject> => {
          const { isError, structuredContent } = await call(fixture, wire, { ...named, ...args }, ada);
          assert.equal(isError, true, JSON.stringify(structuredContent));
          return Object(structuredContent['error']);
        };
        for (const field of clearable) {
          const output = JSON.stringify(await refused({ [field]: values[field], clear: [field] }));
          assert.match(output, /listed in clear/);
          assert.match(output, new RegExp(field));
        }
        const unknown = JSON.stringify(await refused({ clear: ['id'] }));
        for (const word of ['clear', ...clearable]) assert.ok(unknown.includes(word), unknown);
        // After a rejected registration, the fields cannot be read, because its response contains no credential.
        if (name !== 'onboarding.registerAgent') assert.deepEqual(await read(undefined), before);
      });
    });
});

/** Converts times to numbers. Arguments and responses have different formats for milliseconds. */
function canonical(value: unknown): unknown {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : value;
}
