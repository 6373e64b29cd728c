/** Stores saved workflows and the measurements of agents in Firestore. */
import { FieldValue } from '@google-cloud/firestore';
import type { Versioned } from '../../../kernel/commit.ts';
import { effectsOf } from '../../../kernel/effects.ts';
import {
  agentMeasurePath,
  COLLECTIONS,
  MEASURE_SHARDS,
  workflowPath,
  workRecordPath,
} from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { type ChangeWriters, type EffectsOf, increments } from '../../../kernel/firestore/store.ts';
import type { ListPage } from '../../../kernel/paging.ts';
import { type AgentMeasure, type MeasureChanges, measureFromDocument } from '../rules/agents/profile.ts';
import { type WorkChanges, type WorkRecord, workFromDocument } from '../rules/agents/scoring.ts';
import type { AgentMeasures, WorkflowQueries, WorkRecordQueries } from '../rules/ports.ts';
import type { Run, RunChanges } from '../rules/runs/run.ts';
import {
  type SavedWorkflow,
  type WorkflowChanges,
  workflowFields,
  workflowFromDocument,
  workflowToDocument,
} from '../rules/workflows/validation.ts';

function namedDocument(saved: SavedWorkflow): Record<string, unknown> {
  return { ...workflowToDocument(saved), name: saved.definition.name };
}

export class FirestoreWorkflowQueries extends FirestoreReader implements WorkflowQueries {
  async find(id: string): Promise<Versioned<SavedWorkflow> | undefined> {
    const snapshot = await this.database.doc(workflowPath(id)).get();
    return this.documents.findVersioned(snapshot, workflowFromDocument);
  }

  list(ownerUid: string, limit: number, after: string | undefined): Promise<ListPage<SavedWorkflow>> {
    const owned = this.database.collection(COLLECTIONS.workflows).where('owner_uid', '==', ownerUid).orderBy('name');
    const page = after === undefined ? owned : owned.startAfter(after);
    return this.documents.page(page, limit, workflowFromDocument);
  }
}

export const workflowWriters: ChangeWriters<WorkflowChanges> = {
  createWorkflow({ saved }, writes) {
    writes.create(workflowPath(saved.id), namedDocument(saved));
  },
  replaceWorkflow({ saved, version }, writes) {
    writes.replace(workflowPath(saved.id), namedDocument(saved), version);
  },
  deleteWorkflow({ saved: { id }, version }, writes) {
    writes.deleteAt(workflowPath(id), version);
  },
};

export const measureWriters: ChangeWriters<MeasureChanges> = {
  measureAgent({ measure: { agent, ...counted } }, writes) {
    const shard = agentMeasurePath(`${agent}-${writes.randomness.integer(MEASURE_SHARDS)}`);
    writes.merge(shard, { agent, ...increments(counted) });
  },
};

export class FirestoreAgentMeasures extends FirestoreReader implements AgentMeasures {
  async read(agents: readonly string[]): Promise<ReadonlyMap<string, AgentMeasure>> {
    const shards = agents.flatMap((agent) =>
      Array.from({ length: MEASURE_SHARDS }, (_, shard) => this.database.doc(agentMeasurePath(`${agent}-${shard}`))),
    );
    const measures = new Map<string, AgentMeasure>();
    if (shards.length === 0) return measures;
    for (const snapshot of await this.database.getAll(...shards)) {
      for (const { agent, ...counted } of this.documents.readable(snapshot, measureFromDocument)) {
        const before = measures.get(agent) ?? { requests: 0, answered: 0, milliseconds: 0 };
        measures.set(agent, {
          agent,
          requests: before.requests + counted.requests,
          answered: before.answered + counted.answered,
          milliseconds: before.milliseconds + counted.milliseconds,
        });
      }
    }
    return measures;
  }
}

const ofWorkflow = effectsOf(
  ({ id, owner_uid }: SavedWorkflow) => ({ kind: 'workflow', id, owner_uid }),
  workflowFields.of,
);

/** The fields do not contain the input, because leaders may see the audit entries. */
const ofRun = effectsOf(
  ({ id, workspace, owner_uid }: Run) => ({ kind: 'run', id, workspace, owner_uid }),
  ({ status, workflow, cancel_requested }) => ({ status, workflow, cancel_requested }),
);

export const orchestrationEffects: EffectsOf<WorkflowChanges & RunChanges> = {
  createWorkflow: ({ saved }) => ofWorkflow(saved, { after: saved }),
  replaceWorkflow: ({ saved, before }) => ofWorkflow(saved, { before, after: saved }),
  deleteWorkflow: ({ saved }) => ofWorkflow(saved, { before: saved }),
  createRun: ({ run }) => ofRun(run, { after: run }),
  replaceRun: ({ run, before }) => ofRun(run, { before, after: run }),
};

export class FirestoreWorkRecordQueries extends FirestoreReader implements WorkRecordQueries {
  async find(workspace: string): Promise<WorkRecord> {
    const snapshot = await this.database.doc(workRecordPath(workspace)).get();
    const [work] = this.documents.readable(snapshot, workFromDocument);
    return work?.kinds ?? {};
  }
}

export const workWriters: ChangeWriters<WorkChanges> = {
  recordOutcomes({ workspace, bookings }, writes) {
    const kinds = bookings.map(({ kind, outcomes, bucket, tallies, faded }) => {
      const counted = Object.entries(tallies).map(([agent, tally]) => [agent, increments(tally)]);
      const dropped = faded.map((one) => [one, FieldValue.delete()]);
      const buckets = Object.fromEntries([[bucket, Object.fromEntries(counted)], ...dropped]);
      return [kind, { ...increments({ outcomes }), buckets }];
    });
    writes.merge(workRecordPath(workspace), { kinds: Object.fromEntries(kinds) });
  },
};
