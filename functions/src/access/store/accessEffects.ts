/** What the trail tells of agents, their connections, members, invitations and workspaces. */
import type { EffectsOf } from '../../kernel/firestore/store.ts';
import type { Fields } from '../../kernel/trail.ts';
import type { Agent, AgentChanges } from '../rules/agent.ts';
import type { GrantChanges } from '../rules/grant.ts';
import { type Member, memberToDocument, type PeopleChanges } from '../rules/people.ts';
import { type RoutingChanges, type WorkspaceChanges, workspaceToDocument } from '../rules/workspace.ts';
import { agentToDocument } from './agents.ts';
import { invitationToDocument } from './people.ts';
import { approvalToDocument, routingToFields } from './workspaces.ts';

/** What calls do not change by themselves: what an agent holds and has done, and when it was seen. */
const FOLLOWING = ['held', 'last_seen', 'status', 'milestones', 'active_since'];

function toldOf(agent: Agent): Fields {
  const fields = Object.entries(agentToDocument(agent)).filter(([name]) => !FOLLOWING.includes(name));
  return Object.fromEntries(fields);
}

export const agentEffects: EffectsOf<AgentChanges & GrantChanges> = {
  createAgent: ({ agent }) => ({
    kind: 'agent',
    id: agent.id,
    owner_uid: agent.owner_uid,
    after: toldOf(agent),
  }),
  replaceAgent: ({ agent, before }) =>
    before && {
      kind: 'agent',
      id: agent.id,
      owner_uid: agent.owner_uid,
      before: toldOf(before),
      after: toldOf(agent),
    },
  issueCredential: ({ credential: { api_key, agent_id } }) => ({
    kind: 'connection',
    id: api_key,
    after: { agent_id },
  }),
  withdrawCredential: ({ apiKey }) => ({ kind: 'connection', id: apiKey, before: {} }),
  endGrant: ({ id }) => ({ kind: 'connection', id, before: {} }),
};

/** By which the trail names a member. */
function memberKey({ workspace, uid }: Pick<Member, 'workspace' | 'uid'>): string {
  return `${workspace}/${uid}`;
}

export const peopleEffects: EffectsOf<PeopleChanges & RoutingChanges & WorkspaceChanges> = {
  setMember: ({ member, before }) => ({
    kind: 'member',
    id: memberKey(member),
    workspace: member.workspace,
    ...(before && { before: memberToDocument(before) }),
    after: memberToDocument(member),
  }),
  removeMember: ({ before }) =>
    before && {
      kind: 'member',
      id: memberKey(before),
      workspace: before.workspace,
      before: memberToDocument(before),
    },
  invite: ({ invitation }) => ({
    kind: 'invitation',
    id: invitation.id,
    workspace: invitation.workspace,
    after: invitationToDocument(invitation),
  }),
  endInvitation: ({ id, before }) =>
    before && { kind: 'invitation', id, workspace: before.workspace, before: invitationToDocument(before) },
  nameWorkspace: ({ workspace, access, before }) => ({
    kind: 'workspace',
    id: workspace,
    workspace,
    ...(before && { before: { access: before } }),
    after: { access },
  }),
  createWorkspace: ({ name, workspace }) => ({
    kind: 'workspace',
    id: name,
    workspace: name,
    after: workspaceToDocument(workspace),
  }),
  demandApprovals: ({ workspace, approvals, before }) =>
    before && {
      kind: 'workspace',
      id: workspace,
      workspace,
      before: { approvals: before.map(approvalToDocument) },
      after: { approvals: approvals.map(approvalToDocument) },
    },
  listRepositories: ({ workspace, repositories, before }) =>
    before && {
      kind: 'workspace',
      id: workspace,
      workspace,
      before: { repositories: before },
      after: { repositories },
    },
  routeWorkspace: ({ workspace, routing, before }) =>
    before && {
      kind: 'workspace',
      id: workspace,
      workspace,
      before: routingToFields(before),
      after: routingToFields(routing),
    },
};
