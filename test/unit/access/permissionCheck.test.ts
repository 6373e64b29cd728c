/** Permission check of every tool and resource. `test/rules/rules` tests the access rules of both databases. */
import assert from 'node:assert/strict';
import { permissionError, type RequiredPermission } from '../../../functions/src/access/rules/permissionCheck.ts';
import type { Principal, Scope } from '../../../functions/src/identity/rules/principal.ts';
import { ROLES, type Role } from '../../../functions/src/identity/rules/role.ts';
import { fullName } from '../../../functions/src/mcp/tool.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { agentOf, personOf } from '../../support/principals.ts';

const NOBODY = personOf('nobody', undefined);
const worker = agentOf('a', 'ada', 'worker');
/** Leads the private workspace alpha, and has no role in any other workspace. */
const member = personOf('ben', 'leader', 'alpha');
const only: Principal = { ...member, owner: { workspaces: { alpha: 'leader' }, access: { alpha: 'private' } } };

const READS: RequiredPermission = {
  toolset: 'todo',
  what: 'todo.x',
  role: 'worker',
  scope: 'workspace',
  writes: false,
};
const WRITES: RequiredPermission = { ...READS, writes: true };

/** Caller, workspace, required permission, and reason of the rejection (undefined if the call is allowed). */
const TABLE: readonly (readonly [what: string, Principal, string, RequiredPermission, string | undefined])[] = [
  ['an agent with the role', worker, 'default', WRITES, undefined],
  ['an agent with a weaker role', agentOf('a', 'ada', 'viewer'), 'default', READS, 'ROLE_TOO_WEAK'],
  ['an agent with a stronger role', agentOf('a', 'ada', 'leader'), 'default', READS, undefined],
  [
    'an agent whose required role is weaker than that of people',
    worker,
    'default',
    { ...READS, role: 'admin', agentRole: 'worker' },
    undefined,
  ],
  [
    'an agent whose required role is stronger than that of people',
    worker,
    'default',
    { ...READS, agentRole: 'leader' },
    'ROLE_TOO_WEAK',
  ],
  [
    'a person whose required role is weaker than that of agents',
    personOf('ada', 'worker'),
    'default',
    { ...READS, agentRole: 'leader' },
    undefined,
  ],
  ['a person without a role', NOBODY, 'default', READS, 'NO_ROLE'],
  ['a person without a role if none is required', NOBODY, 'default', { ...READS, scope: 'anyone' }, undefined],
  ['a person without a role in the owner scope', NOBODY, 'default', { ...READS, scope: 'owner' }, 'NO_ROLE'],
  ['a member in their workspace', only, 'alpha', WRITES, undefined],
  ['a member in another workspace', only, 'default', READS, 'NO_ROLE'],
  ['a member in the owner scope', only, 'default', { ...WRITES, scope: 'owner' }, undefined],
  [
    'a leader of the deployment in a private workspace',
    { ...member, owner: { role: 'leader', workspaces: {}, access: { alpha: 'private' } } },
    'alpha',
    READS,
    'NO_ROLE',
  ],
  ['a worker in a missing workspace', personOf('ada', 'worker'), 'nowhere', READS, 'NO_ROLE'],
  ['a leader in a missing workspace', personOf('ada', 'leader'), 'nowhere', WRITES, undefined],
  ['a read-only credential that reads', { ...worker, readonly: true }, 'default', READS, undefined],
  ['a read-only credential that writes', { ...worker, readonly: true }, 'default', WRITES, 'READ_ONLY'],
  ['a credential with the toolset', { ...worker, toolsets: ['todo'] }, 'default', WRITES, undefined],
  ['a credential without the toolset', { ...worker, toolsets: ['coding'] }, 'default', READS, 'TOOLSET_NOT_ALLOWED'],
  [
    'a credential without the toolset, for a tool that is open to all',
    { ...worker, toolsets: [] },
    'default',
    { ...READS, openToAll: true },
    undefined,
  ],
  ['a credential restricted to the workspace', { ...worker, held_to: 'default' }, 'default', WRITES, undefined],
  ['a credential restricted to another workspace', { ...worker, held_to: 'alpha' }, 'default', READS, 'NO_ROLE'],
  [
    'a credential restricted to a private workspace, in the owner scope',
    { ...worker, held_to: 'alpha', owner: { role: 'worker', workspaces: {}, access: { alpha: 'private' } } },
    'default',
    { ...READS, scope: 'owner' },
    'NO_ROLE',
  ],
];

interface Entry {
  readonly name: string;
  readonly role: Role;
  readonly agentRole: Role;
  readonly scope: Scope;
  readonly writes: boolean;
  readonly openToAll: boolean;
  readonly method: string;
  readonly params: object;
}

/** Values for the variables of resource templates, except the id of a task. */
const NAMED: Readonly<Record<string, string>> = {
  sessionType: 'coding',
  sessionId: 'task-1.1',
  logType: 'output',
  date: '2026-11-22',
  runId: 'run-aaaaaaaaaaaaaaaaaaaa',
};

const entriesOf = ({
  name: toolset,
  tools,
  resources,
  templates = [],
  scope: own = 'workspace',
}: (typeof toolsets)[number]): readonly Entry[] => [
  ...tools.map(({ name, role, agentRole = role, scope = own, annotations, example, openToAll = false }) => ({
    name: fullName(toolset, name),
    role,
    agentRole,
    scope,
    openToAll,
    writes: !annotations.readOnlyHint,
    method: 'tools/call',
    params: { name: fullName(toolset, name), arguments: example },
  })),
  ...[...resources, ...templates].map((one) => {
    const uri =
      'uri' in one ? one.uri : one.uriTemplate.replace(/\{(\w+)\}/g, (_, name: string) => NAMED[name] ?? 'task-1');
    const { role, scope = 'workspace' } = one;
    return {
      name: uri,
      role,
      agentRole: role,
      scope,
      writes: false,
      openToAll: false,
      method: 'resources/read',
      params: { uri },
    };
  }),
];

describe('permission check', () => {
  for (const [what, principal, workspace, need, reason] of TABLE)
    it(`${reason === undefined ? 'allows' : `refuses (${reason})`} ${what}`, () => {
      const refusal = permissionError(principal, workspace, need);
      assert.equal(refusal?.details.reason, reason, refusal?.message);
      assert.ok(refusal === undefined || refusal.code === 'FORBIDDEN');
    });

  it('returns the same error for a private workspace as for one that does not exist', () => {
    const outside: Principal = {
      ...personOf('eve', 'worker'),
      owner: { role: 'worker', workspaces: {}, access: { alpha: 'private' } },
    };
    const [hidden, missing] = ['alpha', 'nowhere'].map((workspace) => permissionError(outside, workspace, READS));
    assert.equal(hidden?.message.replaceAll('alpha', 'nowhere'), missing?.message);
    assert.deepEqual({ ...hidden?.details }, { ...missing?.details });
  });

  const ports = memoryPorts();
  let endpoint: RunningEndpoint;

  before(async () => {
    endpoint = await serveEndpoint({ ...ports, toolsets });
  });

  after(() => endpoint.close());

  /** Returns the reason of a rejection, or undefined if the call passes the permission check. */
  async function refusedFor({ method, params }: Entry, principal: Principal): Promise<string | undefined> {
    ports.principals.set('caller', principal);
    const response = await fetch(`${endpoint.url}/mcp?toolsets=all`, {
      method: 'POST',
      headers: { Authorization: 'Bearer caller', 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const output = saidIn(await response.json());
    if (/requires the role (?:viewer|worker|leader|admin)/.test(output)) return 'ROLE_TOO_WEAK';
    if (/have no role/.test(output)) return 'NO_ROLE';
    if (/credential is read-only/.test(output)) return 'READ_ONLY';
    return /does not include the toolset/.test(output) ? 'TOOLSET_NOT_ALLOWED' : undefined;
  }

  for (const toolset of toolsets)
    it(`requires the declared role for every tool and resource of ${toolset.name}`, async () => {
      for (const entry of entriesOf(toolset))
        for (const [caller, principal, reason] of attemptsAt(entry, toolset.name))
          assert.equal(await refusedFor(entry, principal), reason, `${entry.name} as ${caller}`);
    });
});

/** Returns the text of a response's error, or an empty text if the response has no error. */
function saidIn(answer: unknown): string {
  const { result, error } = Object(answer);
  return result !== undefined && result.isError !== true ? '' : JSON.stringify(error ?? result);
}

type Attempt = readonly [caller: string, Principal, reason: string | undefined];

/** Returns the weakest allowed callers, the strongest refused callers, and a caller per kind of restriction. */
function attemptsAt({ role, agentRole, scope, writes, openToAll, method }: Entry, own: string): readonly Attempt[] {
  const strong = agentOf('a', 'ada', 'admin');
  const others = toolsets.map(({ name }) => name).filter((name) => name !== own);
  const ofRole = (min: Role, as: (has: Role) => Principal): readonly Attempt[] => {
    const weaker = scope === 'anyone' ? undefined : ROLES[ROLES.indexOf(min) - 1];
    return [
      [`a caller with ${min}`, as(min), undefined],
      ...(weaker === undefined ? [] : [[`a caller with ${weaker}`, as(weaker), 'ROLE_TOO_WEAK'] as const]),
    ];
  };
  return [
    ...ofRole(agentRole, (has) => agentOf('a', 'ada', has)),
    ...ofRole(role, (has) => personOf('ada', has)),
    ['a person without a role', NOBODY, scope === 'anyone' ? undefined : 'NO_ROLE'],
    ['a read-only agent', { ...strong, readonly: true }, writes ? 'READ_ONLY' : undefined],
    [
      'an agent restricted to another workspace',
      { ...strong, held_to: 'alpha' },
      scope === 'workspace' ? 'NO_ROLE' : undefined,
    ],
    ...(method === 'tools/call'
      ? [
          [
            'an agent with other toolsets',
            { ...strong, toolsets: others },
            openToAll ? undefined : 'TOOLSET_NOT_ALLOWED',
          ] as const,
        ]
      : []),
  ];
}
