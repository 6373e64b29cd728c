/** Decides which access changes loosen a limit. Source: docs/security.md#two-rules. */
import type { AgentChanges } from '../../agents/rules/agent.ts';
import type { GrantChanges } from '../../identity/rules/grant.ts';
import type { PeopleChanges } from '../../identity/rules/people.ts';
import { hasRole } from '../../identity/rules/role.ts';
import type { AnyChange, ChangeOf } from '../../kernel/commit.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { type Loosening, type LooseningOf, noLoosening } from '../../kernel/loosening.ts';
import { DEFAULT_PROOF, type ProofSettings } from './proofSettings.ts';
import { type ApprovalRule, isListed, type RoutingChanges, type WorkspaceChanges } from './workspace.ts';

type AccessChangeKinds = AgentChanges & GrantChanges & PeopleChanges & RoutingChanges & WorkspaceChanges;

function isNaming(change: AnyChange): change is ChangeOf<Pick<PeopleChanges, 'nameWorkspace'>> {
  return change.kind === 'nameWorkspace';
}

export const accessLoosening: LooseningOf<AccessChangeKinds> = {
  ...noLoosening('createAgent', 'holdTask', 'releaseTask', 'setHasMessages', 'countAgents'),
  // identity/rules/lineage.ts gives a new credential no more rights than its issuer's credential has.
  ...noLoosening('issueCredential', 'withdrawCredential', 'offerSkill', 'withdrawSkill'),
  ...noLoosening('removeAgent', 'removeSkill'),
  // A person consents to each of these changes on the sign-in page.
  ...noLoosening('createGrant', 'replaceGrant', 'endGrant'),
  ...noLoosening('expectMember', 'removeMember', 'endInvitation', 'queueEmail'),
  replaceAgent: ({ agent, before }) =>
    before === undefined || hasRole(before.role, agent.role)
      ? []
      : [{ what: 'agent', would: `give the agent "${agent.id}" the role ${agent.role}`, inPerson: true }],
  setPerson: ({ uid }) => [{ what: 'member', would: `change the role of "${uid}" in the deployment`, inPerson: true }],
  limitAccount: ({ uid }) => [{ what: 'member', would: `change whether "${uid}" may sign in`, inPerson: true }],
  setMember({ member: { uid, workspace, role }, before }, _by, all) {
    const isNew = all.some((one) => isNaming(one) && one.workspace === workspace && one.before === undefined);
    // The first leader of a new workspace gets access to no existing data, so nothing is loosened.
    if (isNew || (before !== undefined && hasRole(before.role, role))) return [];
    const now = before === undefined ? 'who is not a member' : `who has the role ${before.role}`;
    const would = `give "${uid}", ${now}, the role ${role} in the workspace "${workspace}"`;
    return [{ what: 'member', workspace, would }];
  },
  invite: ({ invitation: { email, workspace, role } }) => [
    { what: 'member', workspace, would: `invite ${email} into the workspace "${workspace}" as ${role}` },
  ],
  nameWorkspace: ({ workspace, access, before }) =>
    before === 'private' && access === 'open'
      ? [{ what: 'access', workspace, would: `open the workspace "${workspace}" to everyone` }]
      : [],
  // A new workspace has no members who could approve, so the caller's owner approves, in the call's workspace.
  createWorkspace: ({ name, workspace: { repositories } }) =>
    reachedAccess(name, [], repositories).map((one) => ({ ...one, workspace: undefined })),
  listRepositories: ({ workspace, repositories, before = [] }) => reachedAccess(workspace, before, repositories),
  routeWorkspace({ workspace, routing, before }) {
    const { forbidden } = routing;
    const allowed = before?.forbidden?.filter((agent) => forbidden !== undefined && !forbidden.includes(agent));
    if (allowed === undefined || allowed.length === 0) return [];
    return [
      { what: 'routing', workspace, would: `let the workspace "${workspace}" use ${allowed.join(' and ')} again` },
    ];
  },
  setProof: ({ workspace, proof, before }) => weakenedProof(workspace, before, proof),
  setApprovalRules: ({ workspace, approvals, before = [] }) =>
    before.flatMap((rule) => weakenedRule(workspace, rule, approvals)),
};

function reachedAccess(workspace: string, before: readonly string[], after: readonly string[]): readonly Loosening[] {
  const added = after.filter((one) => !isListed(before, one));
  if (added.length === 0) return [];
  return [{ what: 'repositories', workspace, would: `let the workspace "${workspace}" access ${added.join(' and ')}` }];
}

/** Returns how a change weakens an approval rule. The approver is the rule's approver, or else the agent's owner. */
function weakenedRule(workspace: string, rule: ApprovalRule, after: readonly ApprovalRule[]): readonly Loosening[] {
  const { tool, above_usd, asks } = rule;
  const now = after.find((one) => one.tool === tool);
  const isHigher = now?.above_usd !== undefined && (above_usd === undefined || now.above_usd > above_usd);
  if (now !== undefined && !isHigher && now.asks === asks) return [];
  const of = `the approval of ${tool} in the workspace "${workspace}"`;
  const would =
    now === undefined
      ? `remove ${of} (${ruleText(rule)})`
      : `change ${of} from "${ruleText(rule)}" to "${ruleText(now)}"`;
  return [{ what: 'approvals', workspace, would, approver: asks }];
}

/** Returns how a change weakens what a workspace requires of results. */
function weakenedProof(workspace: string, before: ProofSettings = DEFAULT_PROOF, after: ProofSettings): Loosening[] {
  const isKept = (one: ProofSettings['defaults'][number]) =>
    after.defaults.some((now) => canonicalJson(now) === canonicalJson(one));
  const weakened = !before.defaults.every(isKept) || (after.terminals && !before.terminals);
  const would = `let tasks of the workspace "${workspace}" be done with less proof`;
  return weakened ? [{ what: 'proof', workspace, would }] : [];
}

function ruleText({ above_usd, asks }: ApprovalRule): string {
  const calls = above_usd === undefined ? 'every call' : `calls that may cost more than $${above_usd}`;
  return `${calls}, approved by ${asks === undefined ? "the caller's owner" : `"${asks}"`}`;
}
