/** Reads stored limits of agents, and finds the limits that were loosened between two readings. */
import type { ApprovalRule } from '../../../functions/src/access/rules/workspace.ts';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import { BUDGET_KINDS } from '../../../functions/src/graph/rules/budget.ts';
import { hasRole, type Role, type WorkspaceAccess } from '../../../functions/src/identity/rules/role.ts';
import type { TenancyFixture } from './fixture.ts';
import type { Ids } from './things.ts';

export interface Walls {
  readonly access: ReadonlyMap<string, WorkspaceAccess | undefined>;
  readonly approvals: ReadonlyMap<string, ApprovalRule>;
  readonly repositories: ReadonlyMap<string, unknown>;
  readonly forbidden: ReadonlyMap<string, unknown>;
  readonly members: ReadonlyMap<string, Role>;
  readonly invitations: ReadonlyMap<string, Role>;
  readonly limits: ReadonlyMap<string, number>;
  readonly agents: ReadonlyMap<string, Role>;
  /** Restrictions of the agents' credentials, by agent id and kind of restriction. */
  readonly restrictions: ReadonlyMap<string, unknown>;
}

export async function wallsOf(fixture: TenancyFixture, ids: Ids): Promise<Walls> {
  const { access: known, graph } = fixture.app;
  const workspaces = [fixture.alpha, fixture.beta, fixture.empty, fixture.open];
  const access = await known.ports.people.workspaces();
  const each = await Promise.all(workspaces.map((name) => workspaceWalls(known.ports, name)));
  const things = { workspace: fixture.alpha, todo: ids.todo, task: ids.task, run: ids.run };
  const keys = BUDGET_KINDS.map((kind) => `${kind}-${things[kind]}`);
  const budgets = await Promise.all(keys.map(async (key) => [key, await graph.ports.budgets.find(key)] as const));
  const agentIds = (['viewer', 'worker', 'leader'] as const).map((role) => fixture.agentId(role));
  const agents = await known.ports.agents.findAll(agentIds);
  const credentials = await known.ports.agents.credentialsOf(agentIds);
  return {
    access: new Map(workspaces.map((name) => [name, access[name]])),
    approvals: new Map(each.flatMap(({ approvals }) => approvals)),
    repositories: new Map(each.flatMap(({ repositories }) => repositories)),
    forbidden: new Map(each.flatMap(({ forbidden }) => forbidden)),
    members: new Map(each.flatMap(({ members }) => members)),
    invitations: new Map(each.flatMap(({ invitations }) => invitations)),
    limits: new Map(
      budgets.flatMap(([key, found]) => {
        const { cost_usd: costUsd, tokens } = found?.value ?? {};
        return [
          ...(costUsd === undefined ? [] : [[`${key} money`, costUsd] as const]),
          ...(tokens === undefined ? [] : [[`${key} tokens`, tokens] as const]),
        ];
      }),
    ),
    agents: new Map(agents.map(({ value: { id, role } }) => [id, role])),
    restrictions: new Map(
      credentials.flatMap(({ agent_id: agentId, toolsets, held_to: heldTo, readonly }) =>
        Object.entries({ toolsets, heldTo, readonly }).flatMap(([name, value]) =>
          value === undefined ? [] : [[`${agentId} ${name}`, value] as const],
        ),
      ),
    ),
  };
}

async function workspaceWalls({ workspaces, people }: Composition['access']['ports'], name: string) {
  const [found, { items }, invited] = await Promise.all([
    workspaces.find(name),
    people.members(name, 100, undefined),
    people.invitationsTo(name),
  ]);
  const { approvals = [], repositories = [], forbidden_agents: forbiddenAgents = [] } = found?.value ?? {};
  return {
    approvals: approvals.map((rule) => [`${name} ${rule.tool}`, rule] as const),
    repositories: repositories.map((one) => [`${name} ${one}`, true] as const),
    forbidden: forbiddenAgents.map((one) => [`${name} ${one}`, true] as const),
    members: items.map(({ uid, role }) => [`${name} ${uid}`, role] as const),
    invitations: invited.map(({ id, role }) => [`${name} ${id}`, role] as const),
  };
}

/** Returns a description of each limit that is looser in the second reading. */
export function loosenedBetween(before: Walls, after: Walls): readonly string[] {
  const missing = (what: string, one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>) =>
    [...one.keys()].filter((key) => !other.has(key)).map((key) => `${what} ${key}`);
  const raised = (what: string, one: ReadonlyMap<string, Role>, other: ReadonlyMap<string, Role>) =>
    [...other].flatMap(([key, role]) => {
      const was = one.get(key);
      return was === undefined || !hasRole(was, role) ? [`${what} ${key}: ${role}`] : [];
    });
  const weaker = [...before.approvals].filter(([key, rule]) => {
    const now = after.approvals.get(key);
    if (now === undefined) return true;
    return now.asks !== rule.asks || (now.above_usd ?? -1) > (rule.above_usd ?? -1);
  });
  const higher = [...before.limits].filter(([key, limit]) => (after.limits.get(key) ?? Infinity) > limit);
  const opened = [...before.access].filter(([key, access]) => access === 'private' && after.access.get(key) === 'open');
  return [
    ...weaker.map(([key]) => `approval ${key}`),
    ...higher.map(([key]) => `limit ${key}`),
    ...opened.map(([key]) => `access ${key}`),
    ...missing('repository', after.repositories, before.repositories),
    ...missing('forbidden', before.forbidden, after.forbidden),
    ...raised('member', before.members, after.members),
    ...raised('invitation', before.invitations, after.invitations),
    ...[...after.agents].flatMap(([id, role]) => {
      const was = before.agents.get(id);
      return was !== undefined && !hasRole(was, role) ? [`agent ${id}: ${role}`] : [];
    }),
    ...missing('restriction', before.restrictions, after.restrictions),
  ];
}
