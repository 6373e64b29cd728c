/** Compares responses of both versions. The current version must return every value that the release returns. */
import assert from 'node:assert/strict';
import type { Cast } from './scenario.ts';
import type { Answer, Version } from './version.ts';

/** Read-only calls that the leader makes in each workspace. */
const READS: readonly (readonly [tool: string, args: object])[] = [
  ['coordination_get_all_tasks', {}],
  ['coordination_get_results', {}],
  ['coordination_get_discoveries', {}],
  ['coordination_get_master_plan', {}],
  ['coordination_get_status', {}],
  ['system_getTaskQueue', {}],
  ['todo_list_recurring_tasks', {}],
  ['todo_list_reminders', {}],
  ['orchestration_list_workflows', { filter: 'custom' }],
  ['orchestration_list_runs', {}],
];

/** Fields that are not compared, because their values depend on the time of the call or on the version. */
const PASSING = /^(timestamp|cursor|next_cursor|nextCursor|duration|estimated|agents|session_age|recommendation|tool$)/;

export type Readings = ReadonlyMap<string, Answer>;

/** Returns the responses of all `READS` in the workspaces of the scenarios. */
export async function readings(version: Version, casts: readonly Cast[]): Promise<Readings> {
  const found = new Map<string, Answer>();
  for (const { workspace, lead } of new Map(casts.map((cast) => [cast.workspace, cast])).values())
    for (const [tool, args] of READS) {
      const answer = await version.call(lead.credential, workspace, tool, args);
      found.set(`${tool} in ${workspace}`, answer);
    }
  return found;
}

/** @throws AssertionError if the current version omits or changes a value that the release returned */
export function assertShown(old: Readings, today: Readings): void {
  const missing: string[] = [];
  for (const [what, answer] of old) missing.push(...differences(what, answer, today.get(what)));
  assert.deepEqual(missing, []);
}

function differences(path: string, old: unknown, today: unknown): readonly string[] {
  if (Array.isArray(old)) {
    if (!Array.isArray(today) || today.length !== old.length)
      return [`${path}: ${JSON.stringify(old)} and ${JSON.stringify(today)}`];
    return old.flatMap((one, index) => differences(`${path}[${index}]`, one, today[index]));
  }
  if (typeof old === 'object' && old !== null)
    return Object.entries(old)
      .filter(([name]) => !PASSING.test(name))
      .flatMap(([name, value]) => differences(`${path}.${name}`, value, Reflect.get(Object(today), name)));
  return Object.is(old, today) ? [] : [`${path}: ${JSON.stringify(old)} and ${JSON.stringify(today)}`];
}
