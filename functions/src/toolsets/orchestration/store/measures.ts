/** What has been measured of hosted agents: counters, spread over several documents for each. */

import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import { type ChangeWriters, increments } from '../../../kernel/firestore/commitWrites.ts';
import { agentMeasurePath, MEASURE_SHARDS } from '../../../kernel/firestore/paths.ts';
import type { DocumentReading } from '../../../kernel/firestore/reading.ts';
import type { AgentMeasure, MeasureChanges } from '../rules/agents/profile.ts';

const counters = z.object({
  agent: z.string(),
  requests: z.number(),
  answered: z.number(),
  milliseconds: z.number(),
});

/** What one shard has of an agent. */
export function measureFromDocument(data: unknown): AgentMeasure {
  return counters.parse(data);
}

export const measureWriters: ChangeWriters<MeasureChanges> = {
  measureAgent({ measure: { agent, ...counted } }, writes) {
    const shard = agentMeasurePath(`${agent}-${writes.randomness.integer(MEASURE_SHARDS)}`);
    writes.set(shard, { agent, ...increments(counted) }, { merge: true });
  },
};

export class FirestoreAgentMeasures {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  /** Those of the agents that have been measured. */
  async read(agents: readonly string[]): Promise<ReadonlyMap<string, AgentMeasure>> {
    const shards = agents.flatMap((agent) =>
      Array.from({ length: MEASURE_SHARDS }, (_, shard) =>
        this.database.doc(agentMeasurePath(`${agent}-${shard}`)),
      ),
    );
    const measures = new Map<string, AgentMeasure>();
    if (shards.length === 0) return measures;
    for (const snapshot of await this.database.getAll(...shards)) {
      const [measure] = this.documents.readable(snapshot, measureFromDocument);
      if (measure === undefined) continue;
      const { agent, ...counted } = measure;
      const before = measures.get(agent) ?? { requests: 0, answered: 0, milliseconds: 0 };
      measures.set(agent, {
        agent,
        requests: before.requests + counted.requests,
        answered: before.answered + counted.answered,
        milliseconds: before.milliseconds + counted.milliseconds,
      });
    }
    return measures;
  }
}
