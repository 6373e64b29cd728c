/** Lists of large items. Each page is small enough for clients to show, and the pages contain all items. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { byteLength, MAX_RESPONSE_BYTES, MAX_SHOWN_BYTES } from '../../../functions/src/kernel/json.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { tokensOf } from '../../support/tokens.ts';
import { call } from './calls.ts';
import { Team } from './team.ts';

const LETTERS = '見" and '.repeat(900);

/** Claude Code's token limit. Source: https://code.claude.com/docs/en/mcp#mcp-output-limits-and-warnings */
const SHOWN_TOKENS = 25_000;
const TASKS = 30;
const DISCOVERIES = 20;
const TODOS = 40;
const FINISHED = 3;
/** A finished task has three audit entries: claimed, started and completed. */
const EVENTS = DISCOVERIES + TODOS + 3 * FINISHED;

/** A list tool: its arguments, and the response fields that contain the items and the cursor. */
interface Listing {
  readonly count: number;
  readonly args: JsonObject;
  readonly items: string;
  readonly next: 'next_cursor' | 'nextCursor';
}

describe('lists of large items', function () {
  this.timeout(300_000); // The tests take seconds on an idle machine, but much longer on a busy one.

  const team = new Team();
  let ann = '';

  before(async () => {
    ann = await team.join('ann');
    const tasks = Array.from({ length: TASKS }, () => ({ description: LETTERS, hints: LETTERS }));
    await team.create(...tasks);
    await Promise.all(
      Array.from({ length: DISCOVERIES }, (_, at) =>
        done('coordination_add_discovery', { agent_id: ann, content: `${at}${LETTERS.repeat(2)}` }),
      ),
    );
    const description = LETTERS.slice(0, 5000);
    await Promise.all(
      Array.from({ length: TODOS }, (_, at) => done('todo_add_task', { title: `Large ${at}`, description })),
    );
    for (let at = 0; at < FINISHED; at += 1) await finish();
  });

  async function done(name: string, args: JsonObject): Promise<JsonObject> {
    const { structuredContent, isError } = await call(team, name, args);
    assert.equal(isError, undefined, JSON.stringify(structuredContent).slice(0, 500));
    return structuredContent;
  }

  async function finish(): Promise<void> {
    const { task } = z
      .object({ task: z.object({ id: z.string() }) })
      .parse(await done('coordination_claim_task', { agent_id: ann }));
    const held = { agent_id: ann, task_id: task.id };
    await done('coordination_start_task', held);
    await done('coordination_complete_task', { ...held, output: '見"'.repeat(35_000) });
  }

  /** Reads a list page by page, checks the size of each response, and returns the ids of all items. */
  async function walk(name: string, { args, items, next }: Listing) {
    const ids: string[] = [];
    for (let pages = 1; pages < 100; pages += 1) {
      const result = await call(team, name, args);
      const { structuredContent, isError } = result;
      assert.equal(isError, undefined, JSON.stringify(structuredContent).slice(0, 500));
      const bytes = Buffer.byteLength(JSON.stringify(result));
      assert.ok(bytes <= MAX_RESPONSE_BYTES, `${name}: ${bytes} bytes`);
      const page = z.array(z.looseObject({})).parse(structuredContent[items]);
      assert.ok(page.length > 0);
      // An item that is larger than the page limit is returned whole, alone on its page.
      if (page.length > 1) {
        assert.ok(byteLength(structuredContent) <= MAX_SHOWN_BYTES, name);
        assert.ok(tokensOf(JSON.stringify(structuredContent)) <= SHOWN_TOKENS, name);
      }
      // The list system_getTaskQueue truncates a large task. A claim returns the whole task.
      if (name !== 'system_getTaskQueue')
        assert.doesNotMatch(JSON.stringify(structuredContent), /more characters/, name);
      ids.push(...page.map((item) => JSON.stringify(item['id'] ?? item['task_id'] ?? item['event_id'])));
      const cursor = structuredContent[next];
      assert.equal(structuredContent['truncated'], cursor !== undefined);
      if (typeof cursor !== 'string') return { ids, pages };
      args = { ...args, cursor };
    }
    assert.fail('the list has more than 99 pages');
  }

  const listings: Readonly<Record<string, Listing>> = {
    'coordination.get_all_tasks': { count: TASKS, args: { limit: 500 }, items: 'tasks', next: 'next_cursor' },
    'coordination.get_discoveries': {
      count: DISCOVERIES,
      args: { limit: 500 },
      items: 'discoveries',
      next: 'next_cursor',
    },
    'coordination.get_results': { count: FINISHED, args: { limit: 500 }, items: 'results', next: 'next_cursor' },
    'system.getTaskQueue': { count: TASKS - FINISHED, args: { limit: 100 }, items: 'tasks', next: 'nextCursor' },
    'system.getAudit': { count: EVENTS, args: { limit: 100 }, items: 'events', next: 'nextCursor' },
    'todo.list_tasks': { count: TODOS, args: { limit: 100 }, items: 'tasks', next: 'next_cursor' },
    'todo.filter_tasks': { count: TODOS, args: { limit: 100, completed: false }, items: 'tasks', next: 'next_cursor' },
    'todo.sort_tasks': {
      count: TODOS,
      args: { limit: 100, sort_by: 'created_at' },
      items: 'tasks',
      next: 'next_cursor',
    },
    'todo.search_tasks': { count: TODOS, args: { limit: 100, query: 'large' }, items: 'tasks', next: 'next_cursor' },
  };

  for (const [name, listing] of Object.entries(listings))
    it(`${name} returns all items in several pages`, async () => {
      const { ids, pages } = await walk(name.replace('.', '_'), listing);
      assert.equal(new Set(ids).size, listing.count);
      assert.equal(ids.length, listing.count);
      assert.ok(pages > 1, 'the list fits on one page, so paging is not tested');
    });

  it('get_results for given tasks returns some results, and the ids of the remaining tasks', async () => {
    const { results } = z
      .object({ results: z.array(z.object({ task_id: z.string() })) })
      .parse(await done('coordination_get_results', { limit: 1 }));
    const [first] = results;
    assert.ok(first);
    const all: string[] = [];
    for (
      let wanted = (await walk('coordination_get_results', listings['coordination.get_results'] ?? assert.fail())).ids;
      wanted.length > 0;
    ) {
      const task_ids = wanted.map((id) => z.string().parse(JSON.parse(id)));
      const result = await call(team, 'coordination_get_results', { task_ids });
      assert.ok(Buffer.byteLength(JSON.stringify(result)) <= MAX_RESPONSE_BYTES);
      const shown = z
        .object({ results: z.array(z.object({ task_id: z.string() })), left_out: z.array(z.string()).optional() })
        .parse(result.structuredContent);
      all.push(...shown.results.map(({ task_id }) => task_id));
      wanted = (shown.left_out ?? []).map((id) => JSON.stringify(id));
    }
    assert.equal(new Set(all).size, FINISHED);
    assert.equal(all.length, FINISHED);
  });

  it('claim_task returns a large task, and get_results its large result, without truncation', async () => {
    const description = '見"'.repeat(9000);
    await team.create({ description, hints: description, priority: 1 });
    const { task } = await done('coordination_claim_task', { agent_id: ann });
    assert.equal(Object(task).description, description);
    await done('coordination_complete_task', { agent_id: ann, task_id: Object(task).id, output: description });
    const { results } = await done('coordination_get_results', { task_ids: [Object(task).id] });
    assert.ok(JSON.stringify(results).includes(JSON.stringify(description)));
  });

  it('every tool with a cursor is tested here or in its own test', () => {
    const elsewhere = [
      // Lists of short items. Their pages never reach the size limit.
      'access.list_connections',
      'access.list_members',
      'orchestration.list_runs',
      'system.getTree',
      'system.undo',
      'todo.list_reminders',
      // Lists that use the tested code to limit pages. Creating long items for them would take long.
      'coding.get_task_logs',
      'inbox.list',
      'firebase.pollEvents',
      'orchestration.list_workflows',
      'system.getAgents',
      'todo.get_task_history',
      'todo.list_recurring_tasks',
    ];
    const listing = toolsets.flatMap(({ name: toolset, tools }) =>
      tools.filter(({ input }) => 'cursor' in input.shape).map(({ name }) => `${toolset}.${name}`),
    );
    assert.deepEqual(listing.sort(), [...Object.keys(listings), ...elsewhere].sort());
  });
});
