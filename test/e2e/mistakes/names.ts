import { request } from '../support/http.ts';
import type { MistakesFixture } from './fixture.ts';
import type { Mistake } from './mistake.ts';

const called =
  (name: string, path = '') =>
  (fixture: MistakesFixture) =>
    fixture.call(name, {}, { path });

async function asked(fixture: MistakesFixture, method: string, params: unknown, path = ''): Promise<string> {
  return (await request(fixture.url(path), fixture.leader.token, method, { params })).text;
}

const UNKNOWN = /Unknown tool/;

export const nameMistakes: readonly Mistake[] = [
  {
    who: 'misspells a tool',
    make: called('get_statuss', '/coordination'),
    happened: UNKNOWN,
    where: /get_statuss/,
    next: /Did you mean get_status\b/,
  },
  {
    who: 'writes a tool in camel case with a dot',
    make: called('coordination.createTask'),
    happened: UNKNOWN,
    where: /coordination\.createTask/,
    next: /Did you mean coordination_create_task\b/,
  },
  {
    who: 'omits the toolset',
    make: called('create_tasks_batch'),
    happened: UNKNOWN,
    where: /create_tasks_batch/,
    next: /Did you mean coordination_create_tasks_batch\b/,
  },
  {
    who: 'omits the toolset of a name that several toolsets have',
    make: called('claim_task'),
    happened: UNKNOWN,
    where: /claim_task/,
    next: /coordination_claim_task.*coding_claim_task|coding_claim_task.*coordination_claim_task/,
  },
  {
    who: 'writes a tool in snake case if the specification uses camel case',
    make: called('github.create_pr'),
    happened: UNKNOWN,
    where: /github\.create_pr/,
    next: /Did you mean github_createPR\b/,
  },
  {
    who: 'keeps the prefix that a client adds',
    make: called('mcp__muster__todo_add_task'),
    happened: UNKNOWN,
    where: /mcp__muster__todo_add_task/,
    next: /Did you mean todo_add_task\b/,
  },
  {
    who: 'invents a tool',
    make: called('todo_archive_everything', '/todo'),
    happened: UNKNOWN,
    where: /todo_archive_everything/,
    next: /tools\/list/,
  },
  {
    who: 'calls a tool of a toolset that the URL does not select',
    make: called('todo_add_task', '/coordination'),
    happened: /Unknown tool.*not select/s,
    where: /todo_add_task.*URL/s,
    next: /\/mcp\/todo\b|\/mcp\b/,
  },
  {
    who: 'calls a writing tool at a read-only URL',
    make: called('create_task', '/coordination/readonly'),
    happened: /Unknown tool.*(read-only|writes)/s,
    where: /create_task.*URL/s,
    next: /without .{0,4}readonly/,
  },
  {
    who: 'calls a tool without its name',
    make: (fixture) => asked(fixture, 'tools/call', { arguments: {} }),
    happened: /-32602|Invalid/i,
    where: /name/,
    next: /string/,
  },
  {
    who: 'sends the arguments as text',
    make: (fixture) => fixture.call('todo_add_task', 'title: Milk'),
    happened: /-32602|Invalid/i,
    where: /arguments/,
    next: /expected (an )?(record|object)/,
  },
  {
    who: 'sends an MCP method to the plain JSON-RPC endpoint',
    make: (fixture) => asked(fixture, 'initialize', {}, '/rpc'),
    happened: /Unknown method/,
    where: /initialize/,
    next: /\/mcp/,
  },
  {
    who: 'passes arguments by position',
    make: (fixture) => asked(fixture, 'todo.add_task', ['Milk'], '/rpc'),
    happened: /Invalid params/,
    where: /"field":"params"/,
    next: /as an object/,
  },
  {
    who: 'misspells a method of plain JSON-RPC',
    make: (fixture) => asked(fixture, 'todo.addTask', { title: 'Milk' }, '/rpc'),
    happened: /Unknown method/,
    where: /todo\.addTask/,
    next: /Did you mean .*todo\.add_task\b/,
  },
];
