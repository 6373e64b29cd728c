/** The tools that return the caller's identity and explain access. */
import { z } from 'zod';
import { type AccessQuestion, type Subject, subjectIn } from '../../../access/rules/decision.ts';
import { permissionFor } from '../../../access/rules/permissions.ts';
import { DEFAULT_WORKSPACE } from '../../../identity/rules/principal.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { chosenId, idOf } from '../../../kernel/ids.ts';
import type { CallContext, ListedToolInfo } from '../../../mcp/callContext.ts';
import { guidance, reading, textUpTo } from '../../../mcp/tool.ts';
import type { AccessServices } from '../create.ts';
import type { Explanation } from '../rules/explanations.ts';
import type { Identity } from '../rules/identity.ts';
import { accessArgument, anyRole, defineTool, memberRole, workspaceName } from './accessResponses.ts';

export const whoami = defineTool({
  name: 'whoami',
  title: 'Identity and roles',
  description: 'Returns the current user: owner, roles and permissions, limits, default workspace.',
  details:
    "First accepts invitations to your verified email address. A role comes from membership, from the deployment (in open workspaces), or from the agent's own role if that is weaker than its owner's.",
  input: z.strictObject({}),
  output: z.object({
    uid: z.string(),
    kind: z.enum(['agent', 'person']),
    agent: z.object({ id: z.string(), name: z.string().optional() }).optional(),
    owner: z
      .object({ uid: z.string(), name: z.string().optional(), email: z.string().optional() })
      .describe('The person you act for.'),
    home: z.object({ workspace: z.string(), why: z.string() }).describe('Workspace of calls that name no workspace.'),
    this_call: z.string().describe('The workspace of this call.'),
    deployment_role: anyRole.optional(),
    workspaces: z
      .array(
        z.object({
          workspace: z.string(),
          access: accessArgument,
          role: anyRole,
          from: z.string().describe("membership, deployment, or own (the agent's own role)."),
          owners_role: anyRole.optional(),
        }),
      )
      .describe('Every workspace in which you have a role.'),
    administers: z
      .array(z.object({ workspace: z.string(), access: accessArgument }))
      .optional()
      .describe(
        'Other workspaces: an admin can change their members, settings and connections, but cannot see their work.',
      ),
    truncated: z.boolean().describe('Whether either list is truncated.'),
    limits: z
      .object({
        role: anyRole.optional().describe("Maximum role of the agent, regardless of its owner's."),
        toolsets: z.array(z.string()).optional(),
        held_to: z.string().optional(),
        readonly: z.boolean().optional(),
        expires_at: z.iso.datetime().optional(),
      })
      .describe('Limits of your credential.'),
    accepted: z
      .array(z.object({ workspace: z.string(), role: memberRole }))
      .describe('Invitations accepted by this call.'),
    advice: z.string().optional(),
  }),
  ...reading,
  scope: 'anyone',
  openToAll: true,
  example: {},
  handler: async ({ services, caller, workspace }) => {
    const identity = await services.access.identities.describe(caller);
    const { principal, owner, agentName, home, expiresAt, accepted } = identity;
    const { uid, kind, agent_id, owner_uid, maxRole, toolsets, held_to, readonly } = principal;
    return {
      uid,
      kind,
      agent: agent_id === undefined ? undefined : { id: agent_id, name: agentName },
      owner: { uid: owner_uid, name: owner.name, email: kind === 'person' ? owner.email : undefined },
      home,
      this_call: workspace,
      deployment_role: identity.deploymentRole,
      workspaces: identity.workspaces.map(({ ownersRole, ...standing }) => ({ ...standing, owners_role: ownersRole })),
      administers: identity.administers,
      truncated: identity.truncated,
      limits: { role: kind === 'agent' ? maxRole : undefined, toolsets, held_to, readonly, expires_at: expiresAt },
      accepted,
      advice: adviceFor(identity),
    };
  },
});

function adviceFor({ principal, workspaces, owner }: Identity): string | undefined {
  if (workspaces.length > 0) return undefined;
  if (principal.kind === 'agent') return 'You have no role here because your owner has none. Ask your owner.';
  return owner.email !== undefined && principal.email === undefined
    ? 'You have no role here yet. To accept invitations, verify your email address and sign in again.'
    : 'You have no role here yet. Ask a workspace leader to invite your email address, or the operator for a role.';
}

const input = z.strictObject({
  tool: textUpTo(100).optional().describe('Like todo.add_task'),
  task: idOf('a task').optional().describe('Waiting task'),
  run: idOf('a run').optional().describe('Waiting run'),
  database: z.enum(['firestore', 'realtime']).optional().describe('Needs path'),
  path: textUpTo(1500).optional().describe('Database path'),
  operation: z.enum(['read', 'write', 'push']).default('read').describe('Operation'),
  workspace: workspaceName.optional().describe('Workspace'),
  agent: chosenId().optional().describe('Your agent'),
});
type Question = z.output<typeof input>;

export const explain = defineTool({
  name: 'explain',
  title: 'Explain access',
  description: 'Explains why a tool or path is refused, or a task or run waits.',
  details:
    'Pass a tool, a task, a run, or a database, path and operation. To ask about another workspace or your agent, set workspace or agent. Hidden and missing data get the same result. A tool can still refuse a particular object that belongs to someone else.',
  rare: ['agent'],
  input,
  output: z.object({
    allowed: z.boolean(),
    for: z.object({ uid: z.string(), agent: z.string().optional() }),
    workspace: z.string().optional(),
    needs: z.string().describe('Minimum role, or the required owner.'),
    waits: z
      .array(z.object({ why: guidance(), remedy: guidance() }))
      .optional()
      .describe('What the call, task or run waits for, and what changes that.'),
    has: z
      .object({ role: anyRole, from: z.string().optional() })
      .optional()
      .describe("The role that counts, and its source: membership, deployment or the agent's own."),
    why: guidance(),
    rule: z.string().optional().describe('Path of the security rule that decides.'),
    changeable_by: z
      .object({ who: guidance(), people: z.array(z.object({ uid: z.string(), name: z.string().optional() })) })
      .optional(),
  }),
  ...reading,
  scope: 'anyone',
  openToAll: true,
  example: { tool: 'coordination.create_task' },
  handler: async (context, question) => {
    const { services, principal, workspace: here } = context;
    const { explanations } = services.access;
    const { tool, database, path, task, run } = question;
    if ([tool, task, run, database ?? path].filter((one) => one !== undefined).length !== 1) throw unclear(question);
    if (task !== undefined || run !== undefined) {
      const kind = task === undefined ? 'run' : 'task';
      const { state, waits } = await explanations.progress(principal, kind, task ?? run ?? '');
      const { uid, agent_id: agent } = principal;
      return { allowed: true, for: { uid, agent }, needs: 'a role in its workspace', why: state, waits };
    }
    if (tool !== undefined) {
      const found = toolNamed(context, tool);
      const asked = await explanations.subject(principal, here, question.agent);
      const workspace = question.workspace ?? asked.workspace ?? DEFAULT_WORKSPACE;
      return explanationResponse(await explanations.tool(asked.principal, workspace, found));
    }
    if (database === undefined || path === undefined) throw unclear(question);
    const asked = await explanations.subject(principal, here, question.agent);
    const about = { database, path: plainPath(path), operation: question.operation };
    const read = () => subjectOf(context, { ...question, database }, about.path);
    return explanationResponse(await explanations.path(asked.principal, about, read));
  },
});

function explanationResponse({ principal, isAllowed, held, changeableBy, ...explained }: Explanation) {
  const { uid, agent_id: agent } = principal;
  return { ...explained, allowed: isAllowed, for: { uid, agent }, has: held, changeable_by: changeableBy };
}

/** @throws MusterError NOT_FOUND if the deployment has no tool with this name */
function toolNamed({ directory }: CallContext<AccessServices>, name: string): ListedToolInfo {
  const found = directory.tools.find(({ fullName, toolset }) => {
    const bare = fullName.slice(toolset.length + 1);
    return [fullName, `${toolset}_${bare}`, directory.wireName(fullName)].includes(name);
  });
  if (found !== undefined) return found;
  throw new MusterError('NOT_FOUND', 'Unknown tool.', {
    field: 'tool',
    suggestion: 'Use a name from tools/list, or the name with its toolset, such as coordination.create_task.',
  });
}

/** Returns the owner or workspace of stored data, read with the caller's rights. Hidden data counts as missing. */
async function subjectOf(
  { services, caller }: CallContext<AccessServices>,
  { database, workspace }: Pick<Question, 'workspace'> & Pick<AccessQuestion, 'database'>,
  path: string,
): Promise<Subject | undefined> {
  const { permission, isList } = permissionFor({ database, path });
  if (isList) return workspace === undefined ? { owner: caller.principal.owner_uid } : { workspace };
  // Nodes below the rule's path do not contain the owner, so the node at the rule's path is read.
  const whole = path.split('/').slice(0, permission.path.split('/').length).join('/');
  try {
    const { data } = await services.data.read(caller, database, whole, { shallow: false });
    return subjectIn(permission, stored.parse(data));
  } catch (error) {
    if (error instanceof MusterError && HIDDEN_TEXT.includes(error.code)) return undefined;
    throw error;
  }
}

const HIDDEN_TEXT: readonly string[] = ['NOT_FOUND', 'FORBIDDEN', 'INVALID_FORMAT', 'VALIDATION_ERROR'];
const stored = z.record(z.string(), z.unknown()).catch({});

/** @throws MusterError INVALID_FORMAT if the path has no segments or an empty one */
function plainPath(path: string): string {
  const plain = path.replace(/^\/+|\/+$/g, '');
  if (plain !== '' && !plain.split('/').includes('')) return plain;
  throw new MusterError('INVALID_FORMAT', 'The path is empty or has an empty segment.', {
    field: 'path',
    suggestion: 'Separate segments with "/", as in messages/conversations.',
  });
}

/** Returns the error for arguments that name several things, or none. */
function unclear({ tool, task, run, database }: Question): MusterError {
  const isSeveral = [tool, task, run].some((one) => one !== undefined);
  const field = isSeveral ? 'tool' : database === undefined ? 'database' : 'path';
  return new MusterError(
    isSeveral ? 'VALIDATION_ERROR' : 'REQUIRED_FIELD',
    'Name either a tool, a task, a run, or a database and a path.',
    { field, suggestion: 'For example {"tool": "coordination.create_task"}.' },
  );
}
