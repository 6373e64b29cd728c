/** Data for the examples of the inbox tools: two open questions of the leader to its owner. */
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { requestPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { sampleRequest } from '../../support/builders.ts';
import type { Team } from '../coordination/team.ts';

const [REGION, OWN] = ['request-region', 'request-own'];

export async function setInbox({ app, leader, workspace, now }: Team): Promise<void> {
  const question = {
    workspace,
    asked_by: leader.uid,
    owner_uid: leader.owner_uid,
    asked_of: leader.owner_uid,
    created_at: now,
    expires_at: new Date(now.getTime() + 86_400_000),
  };
  const options = ['europe-west1', 'us-central1'];
  await app.kernel.store.commit([
    { kind: 'createRequest', request: sampleRequest({ ...question, id: REGION, kind: 'choice', options }) },
    { kind: 'createRequest', request: sampleRequest({ ...question, id: OWN }) },
  ]);
}

/** Deletes the example data, because every test uses its ids. */
export async function clearInbox(): Promise<void> {
  const batch = firestore().batch();
  for (const id of [REGION, OWN]) batch.delete(firestore().doc(requestPath(id)));
  await batch.commit();
}
