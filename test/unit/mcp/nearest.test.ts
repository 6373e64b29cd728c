/** Suggestions in the error for a tool name that does not exist. */
import assert from 'node:assert/strict';
import { Catalogs } from '../../../functions/src/mcp/catalog.ts';
import { nearestMethods, unknownTool } from '../../../functions/src/mcp/names.ts';
import type { Dialect } from '../../../functions/src/mcp/urlSelection.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';

const catalogs = new Catalogs(toolsets);

interface Where {
  readonly at?: readonly string[];
  readonly dialect?: Dialect;
  readonly readonly?: boolean;
}

function reported(name: string, { at = catalogs.names, dialect = 'prefixed', readonly = false }: Where = {}) {
  const listed = catalogs.of({ toolsets: at, readonly, workspace: undefined, dialect, listing: 'light' });
  return unknownTool(name, listed, listed.directory.tools);
}

describe('error for an unknown tool', () => {
  for (const [asked, meant] of [
    ['create_tasks_batch', 'coordination_create_tasks_batch'],
    ['coordination.createTask', 'coordination_create_task'],
    ['coordination-create-task', 'coordination_create_task'],
    ['github.create_pr', 'github_createPR'],
    ['mcp__muster__todo_add_task', 'todo_add_task'],
    ['todo_ad_task', 'todo_add_task'],
    ['claim_task', 'coordination_claim_task or coding_claim_task'],
  ] as const)
    it(`suggests ${meant} for ${asked}`, () =>
      assert.equal(reported(asked), `Unknown tool: ${asked}. Did you mean ${meant}?`));

  it('suggests the name in the form in which the URL lists tools', () => {
    const at = { at: ['coordination'], dialect: 'own' } as const;
    assert.equal(reported('get_statuss', at), 'Unknown tool: get_statuss. Did you mean get_status?');
  });

  it('names the right URL if the tool exists but the URL does not select it', () =>
    assert.equal(
      reported('todo.addTask', { at: ['coordination'], dialect: 'own' }),
      'Unknown tool: todo.addTask. This URL does not select todo.add_task. Use /mcp/todo or /mcp.',
    ));

  it('explains that a read-only URL does not offer tools that write', () =>
    assert.equal(
      reported('todo_add_task', { readonly: true }),
      'Unknown tool: todo_add_task. todo.add_task changes data, but this URL is read-only. Use the URL without "readonly".',
    ));

  it('refers to tools/list if no tool has a similar name', () => {
    for (const name of ['', '🙈', 'x'.repeat(500_000), 'archive_everything_there_is'])
      assert.match(reported(name), /^Unknown tool: .*\. Call tools\/list for the available tools\.$/);
  });

  it('suggests similar method names in plain JSON-RPC', () => {
    const methods = ['todo.add_task', 'todo.delete_task', 'coordination.claim_task'];
    assert.deepEqual(nearestMethods('todo.addTask', methods), ['todo.add_task']);
    assert.deepEqual(nearestMethods('claim_task', methods), ['coordination.claim_task']);
    assert.deepEqual(nearestMethods('nothing', methods), []);
  });
});
