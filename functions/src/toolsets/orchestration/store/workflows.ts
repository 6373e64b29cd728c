/** Saved workflows and the measures of agents as Firestore keeps them. */

import type { Versioned } from '../../../kernel/commit.ts';
import {
  agentMeasurePath,
  COLLECTIONS,
  MEASURE_SHARDS,
  workflowPath,
} from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { type ChangeWriters, increments } from '../../../kernel/firestore/store.ts';
import type { Slice } from '../../../kernel/paging.ts';
import { type AgentMeasure, type MeasureChanges, measureFromDocument } from '../rules/agents/profile.ts';
import type { AgentMeasures, WorkflowQueries } from '../rules/ports.ts';
import type { WorkflowChanges } from '../rules/workflows/savedWorkflow.ts';
import {
  type SavedWorkflow,
  workflowFromDocument,
  workflowToDocument,
} from '../rules/workflows/savedWorkflow.ts';

function namedDocument(saved: SavedWorkflow): Record<string, unknown> {
  return { ...workflowToDocument(saved), name: saved.workflow.name };
}

export class FirestoreWorkflowQueries extends FirestoreReader implements WorkflowQueries {
  async find(id: string): Promise<Versioned<SavedWorkflow> | undefined> {
    const snapshot = await this.database.doc(workflowPath(id)).get();
    return this.documents.findVersioned(snapshot, workflowFromDocument);
  }

  list(ownerUid: string, limit: number, after: string | undefined): Promise<Slice<SavedWorkflow>> {
    const owned = this.database
      .collection(COLLECTIONS.workflows)
      .where('owner_uid', '==', ownerUid)
      .orderBy('name');
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
      Array.from({ length: MEASURE_SHARDS }, (_, shard) =>
        this.database.doc(agentMeasurePath(`${agent}-${shard}`)),
      ),
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
