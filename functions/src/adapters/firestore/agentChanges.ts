import { FieldPath, FieldValue } from '@google-cloud/firestore';
import type { Agent, AgentChanges, ClosedWork } from '../../domain/agents/agent.ts';
import type { SkillChanges } from '../../domain/system/skill.ts';
import { agentToDocument, credentialToDocument } from './agentDocument.ts';
import { type ChangeWriters, increments } from './commitWrites.ts';
import {
  agentPath,
  credentialPath,
  MEMBER_SHARDS,
  membersPath,
  REGISTRY_SHARDS,
  registryPath,
  skillPath,
} from './paths.ts';
import { skillToDocument } from './skillDocument.ts';
import { atVersion } from './timestamp.ts';

export const agentWriters: ChangeWriters<AgentChanges> = {
  createAgent({ agent }, writes) {
    writes.create(agentPath(agent.id), agentToDocument(agent));
  },
  replaceAgent({ agent, version }, writes) {
    writes.replace(agentPath(agent.id), agentToDocument(agent), version);
  },
  holdTask({ agent, taskId, version }, writes) {
    const fields = heldFields(agent, taskId);
    writes.batch.update(writes.document(agentPath(agent.id)), ...fields, atVersion(version));
  },
  dropTask(change, writes) {
    writes.batch.update(writes.document(agentPath(change.agentId)), ...droppedFields(change));
  },
  countMembers({ workspace, by }, writes) {
    const shard = `${membersPath(workspace)}/${writes.randomness.integer(MEMBER_SHARDS)}`;
    writes.set(shard, increments({ ...by }), { merge: true });
  },
  countAgents({ by }, writes) {
    const shard = registryPath(writes.randomness.integer(REGISTRY_SHARDS));
    writes.set(shard, increments({ ...by }), { merge: true });
  },
  issueCredential({ credential }, writes) {
    writes.create(credentialPath(credential.apiKey), credentialToDocument(credential));
  },
  withdrawCredential({ apiKey }, writes) {
    // Two registrations may write the same profile, which Firestore takes for no change: this tells them apart.
    writes.delete(credentialPath(apiKey), { exists: true });
  },
};

export const skillWriters: ChangeWriters<SkillChanges> = {
  offerSkill({ skill, agents }, writes) {
    const offered = { ...skillToDocument(skill), agents: FieldValue.increment(agents) };
    writes.set(skillPath(skill.id), offered, { merge: true });
  },
  withdrawSkill({ id }, writes) {
    writes.set(skillPath(id), { agents: FieldValue.increment(-1) }, { merge: true });
  },
};

type UpdatePairs = [field: string | FieldPath, value: unknown, ...more: unknown[]];

/** What a claim changes of its agent. */
function heldFields(agent: Agent, taskId: string): UpdatePairs {
  const { status, last_seen, active_since, milestones, held_count, free_slots } = agentToDocument(agent);
  const fields = { status, last_seen, active_since, milestones, held_count, free_slots };
  const task = agent.held[taskId];
  const held = task && { session: task.session, claim_epoch: task.epoch };
  return [new FieldPath('held', taskId), held, ...Object.entries(fields).flat()];
}

/** Nobody has read the agent: what is counted is counted from what is there. */
function droppedFields({ taskId, wasHeld, closed }: AgentChanges['dropTask']): UpdatePairs {
  const freed = {
    held_count: FieldValue.increment(-1),
    free_slots: FieldValue.increment(1),
  };
  const fields = { ...(wasHeld && freed), ...(closed && closedFields(closed)) };
  return [new FieldPath('held', taskId), FieldValue.delete(), ...Object.entries(fields).flat()];
}

function closedFields({ status, at, milliseconds }: ClosedWork) {
  const work = { work_milliseconds: FieldValue.increment(milliseconds), last_failed: status === 'failed' };
  return status === 'done'
    ? { ...work, tasks_completed: FieldValue.increment(1), last_completed_at: at }
    : { ...work, tasks_failed: FieldValue.increment(1) };
}
