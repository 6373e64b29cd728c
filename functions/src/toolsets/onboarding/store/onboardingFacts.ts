import { FieldPath } from '@google-cloud/firestore';
import { COLLECTIONS } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { discoveryFromDocument, taskFromDocument } from '../../coordination/index.ts';
import type { OnboardingFacts } from '../rules/onboarding.ts';

/** Firestore queries for an agent's first actions. Each query costs one read. */
export class FirestoreOnboardingFacts extends FirestoreReader implements OnboardingFacts {
  async discovery(agentId: string): Promise<Date | undefined> {
    const own = this.database
      .collection(COLLECTIONS.discoveries)
      .where('agent_id', '==', agentId)
      .orderBy('created_at');
    return (await this.documents.firstVersioned(own, 1, discoveryFromDocument))[0]?.value.created_at;
  }

  async createdTask(agentId: string): Promise<Date | undefined> {
    const own = this.database
      .collection(COLLECTIONS.tasks)
      .where('created_by', '==', agentId)
      .orderBy(FieldPath.documentId());
    return (await this.documents.firstVersioned(own, 1, taskFromDocument))[0]?.value.created_at;
  }
}
