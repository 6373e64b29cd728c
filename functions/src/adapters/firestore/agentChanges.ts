import { FieldPath, FieldValue, type Firestore, type WriteBatch } from '@google-cloud/firestore';
import type { Agent } from '../../domain/agents/agent.ts';
import type { Randomness } from '../../domain/ports.ts';
import type { Change, ClosedWork } from '../../domain/store.ts';
import { agentToDocument, credentialToDocument } from './agentDocument.ts';
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

/** Adds a change of an agent or its credential to the batch; another change adds nothing. */
export function addAgentChange(
  database: Firestore,
  batch: WriteBatch,
  change: Change,
  randomness: Randomness,
): void {
  switch (change.kind) {
    case 'createAgent':
      batch.create(database.doc(agentPath(change.agent.id)), agentToDocument(change.agent));
      break;
    case 'replaceAgent':
      batch.update(
        database.doc(agentPath(change.agent.id)),
        { ...agentToDocument(change.agent) },
        atVersion(change.version),
      );
      break;
    case 'holdTask':
      batch.update(
        database.doc(agentPath(change.agent.id)),
        ...heldFields(change.agent, change.taskId),
        atVersion(change.version),
      );
      break;
    case 'dropTask':
      batch.update(database.doc(agentPath(change.agentId)), ...droppedFields(change));
      break;
    case 'countMembers': {
      const { total, leaders, active } = change.by;
      const shard = `${membersPath(change.workspace)}/${randomness.integer(MEMBER_SHARDS)}`;
      const by = {
        total: FieldValue.increment(total),
        leaders: FieldValue.increment(leaders),
        active: FieldValue.increment(active),
      };
      batch.set(database.doc(shard), by, { merge: true });
      break;
    }
    case 'countAgents': {
      const { total, active } = change.by;
      const shard = registryPath(randomness.integer(REGISTRY_SHARDS));
      const by = { total: FieldValue.increment(total), active: FieldValue.increment(active) };
      batch.set(database.doc(shard), by, { merge: true });
      break;
    }
    case 'offerSkill':
      batch.set(
        database.doc(skillPath(change.skill.id)),
        { ...skillToDocument(change.skill), agents: FieldValue.increment(change.agents) },
        { merge: true },
      );
      break;
    case 'withdrawSkill':
      batch.set(database.doc(skillPath(change.id)), { agents: FieldValue.increment(-1) }, { merge: true });
      break;
    case 'issueCredential':
      batch.create(
        database.doc(credentialPath(change.credential.apiKey)),
        credentialToDocument(change.credential),
      );
      break;
    case 'withdrawCredential':
      // Two registrations may write the same profile, which Firestore takes for no change: this tells them apart.
      batch.delete(database.doc(credentialPath(change.apiKey)), { exists: true });
      break;
  }
}

type UpdatePairs = [field: string | FieldPath, value: unknown, ...more: unknown[]];

/** What a claim changes of its agent. */
function heldFields(agent: Agent, taskId: string): UpdatePairs {
  const { held, status, last_seen, active_since, milestones, held_count, free_slots } =
    agentToDocument(agent);
  const fields = { status, last_seen, active_since, milestones, held_count, free_slots };
  return [new FieldPath('held', taskId), held[taskId], ...Object.entries(fields).flat()];
}

/** Nobody has read the agent: what is counted is counted from what is there. */
function droppedFields({ taskId, wasHeld, closed }: Extract<Change, { kind: 'dropTask' }>): UpdatePairs {
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
