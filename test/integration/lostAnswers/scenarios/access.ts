/** Scenarios for members, invitations, workspaces and connections. */

import type { Principal } from '../../../../functions/src/identity/rules/principal.ts';
import type { MemberRole } from '../../../../functions/src/identity/rules/role.ts';
import { answer } from '../../coordination/calls.ts';
import { type Scene, scenariosOf } from '../scene.ts';

/** Makes the leader lead the workspace of the scene, with one other member. */
async function ledBy(scene: Scene, other: MemberRole = 'worker'): Promise<Principal> {
  const { workspace, leader, now: addedAt } = scene;
  const member = (uid: string, role: MemberRole) => ({
    uid,
    workspace,
    role,
    added_by: 'ada',
    added_at: addedAt,
  });
  await scene.app.kernel.store.commit([
    { kind: 'createWorkspace', name: workspace, workspace: { repositories: [] } },
    { kind: 'nameWorkspace', workspace, access: 'private' },
    { kind: 'setMember', member: member(leader.owner_uid, 'leader') },
  ]);
  await scene.app.kernel.store.commit([{ kind: 'setMember', member: member(benIn(scene), other) }]);
  return leader;
}

/** The leader's owner in person, because only people can loosen a limit. */
function personIn({ leader: { owner_uid: ownerUid, owner } }: Scene): Principal {
  return { uid: ownerUid, kind: 'person', owner_uid: ownerUid, maxRole: 'admin', owner };
}

function benIn({ workspace }: Scene): string {
  return `ben-${workspace}`;
}

export const access = scenariosOf('access', {
  invite: async (scene) => {
    await ledBy(scene);
    return {
      args: { email: `cyd-${scene.workspace}@example.com`, role: 'worker' },
      principal: personIn(scene),
    };
  },
  accept_invitation: async (scene) => {
    await ledBy(scene);
    const email = `cyd-${scene.workspace}@example.com`;
    await answer(scene, 'access_invite', { email, role: 'worker' }, personIn(scene));
    const uid = `cyd-${scene.workspace}`;
    const owner = await scene.app.access.ports.roles.of(uid);
    const principal: Principal = { uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner, email };
    return { args: {}, principal };
  },
  set_member: {
    'for a worker': async (scene) => {
      await ledBy(scene);
      return { args: { uid: benIn(scene), role: 'viewer' } };
    },
    'for one of two leaders': async (scene) => {
      await ledBy(scene, 'leader');
      return { args: { uid: benIn(scene), role: 'viewer' } };
    },
  },
  remove_member: async (scene) => {
    await ledBy(scene);
    return { args: { uid: benIn(scene) } };
  },
  create_workspace: async (scene) => {
    const args = { name: scene.workspace, repositories: ['sartor-ai/muster'] };
    return { args, principal: personIn(scene) };
  },
  update_workspace: async (scene) => {
    await ledBy(scene);
    const routing = { pin: { review: 'claude' }, forbid: ['gemini'] };
    return { args: { repositories: ['sartor-ai/*'], routing }, principal: personIn(scene) };
  },
  revoke_connection: async (scene) => {
    const { agentId } = await answer(scene, 'onboarding_registerAgent', {
      agentInfo: { name: 'coder', type: 'developer', version: '1.0.0' },
      capabilities: [{ name: 'coding', category: 'work' }],
    });
    return { args: { agent_id: String(agentId) } };
  },
});
