import { request } from '../support/http.ts';
import type { MistakesFixture } from './fixture.ts';
import { type Mistake, mistake } from './mistake.ts';

const called =
  (name: string, path = '') =>
  (fixture: MistakesFixture) =>
    fixture.call(name, {}, { path });

async function asked(fixture: MistakesFixture, method: string, params: unknown, path = ''): Promise<string> {
  return (await request(fixture.url(path), fixture.leader.token, method, { params })).text;
}

/** A call of a tool that does not exist, whose error must contain the name and the suggestion. */
const unknown = (who: string, name: string, next: RegExp, path = ''): Mistake => ({
  who,
  make: called(name, path),
  happened: /Unknown tool/,
  where: new RegExp(name.replace('.', '\\.')),
  next,
});

export const nameMistakes: readonly Mistake[] = [
  unknown('misspells a tool', 'get_statuss', /Did you mean get_status\b/, '/coordination'),
  unknown(
    'writes a tool in camel case with a dot',
    'coordination.createTask',
    /Did you mean coordination_create_task\b/,
  ),
  unknown('omits the toolset', 'create_tasks_batch', /Did you mean coordination_create_tasks_batch\b/),
  unknown(
    'omits the toolset of a name that several toolsets have',
    'claim_task',
    /coordination_claim_task.*coding_claim_task|coding_claim_task.*coordination_claim_task/,
  ),
  unknown(
    'writes a tool in snake case if the specification uses camel case',
    'github.create_pr',
    /Did you mean github_createPR\b/,
  ),
  unknown('keeps the prefix that a client adds', 'mcp__muster__todo_add_task', /Did you mean todo_add_task\b/),
  unknown('invents a tool', 'todo_archive_everything', /tools\/list/, '/todo'),
  mistake('calls a tool of a toolset that the URL does not select', called('todo_add_task', '/coordination'), {
    happened: /Unknown tool.*not select/s,
    where: /todo_add_task.*URL/s,
    next: /\/mcp\/todo\b|\/mcp\b/,
  }),
  mistake('calls a writing tool at a read-only URL', called('create_task', '/coordination/readonly'), {
    happened: /Unknown tool.*(read-only|writes)/s,
    where: /create_task.*URL/s,
    next: /without .{0,4}readonly/,
  }),
  mistake('calls a tool without its name', (fixture) => asked(fixture, 'tools/call', { arguments: {} }), {
    happened: /-32602|Invalid/i,
    where: /name/,
    next: /string/,
  }),
  mistake('sends the arguments as text', (fixture) => fixture.call('todo_add_task', 'title: Milk'), {
    happened: /-32602|Invalid/i,
    where: /arguments/,
    next: /expected (an )?(record|object)/,
  }),
  mistake('sends an MCP method to the plain JSON-RPC endpoint', (fixture) => asked(fixture, 'initialize', {}, '/rpc'), {
    happened: /Unknown method/,
    where: /initialize/,
    next: /\/mcp/,
  }),
  mistake('passes arguments by position', (fixture) => asked(fixture, 'todo.add_task', ['Milk'], '/rpc'), {
    happened: /Invalid params/,
    where: /"field":"params"/,
    next: /as an object/,
  }),
  mistake(
    'misspells a method of plain JSON-RPC',
    (fixture) => asked(fixture, 'todo.addTask', { title: 'Milk' }, '/rpc'),
    { happened: /Unknown method/, where: /todo\.addTask/, next: /Did you mean .*todo\.add_task\b/ },
  ),
];
