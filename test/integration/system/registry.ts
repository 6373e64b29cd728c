/** The count of all agents of the deployment, made true. */
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS, REGISTRY_SHARDS, registryPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { Team } from '../coordination/team.ts';

/**
 * Other tests leave agents behind, and put some there or take some away without counting them. Afterwards no sweep
 * up to `seconds` from now has anything to do with those, and the registry has as many agents as there are.
 */
export async function settleRegistry(team: Team, seconds: number): Promise<void> {
  team.pass(seconds);
  let swept: number;
  do {
    const { leases, liveness, backoffs, queueEnds } = await team.sweep();
    const counts = { ...liveness, ...backoffs, ...queueEnds, released: leases?.['released'] ?? 0 };
    swept = Object.values(counts).reduce((sum, count) => sum + count, 0);
  } while (swept > 0);
  await recount();
}

async function recount(): Promise<void> {
  const agents = firestore().collection(COLLECTIONS.agents);
  const [total, active] = await Promise.all(
    [agents, agents.where('status', '==', 'active')].map(
      async (query) => (await query.count().get()).data().count,
    ),
  );
  const batch = firestore().batch();
  for (let shard = 0; shard < REGISTRY_SHARDS; shard++) {
    const counts = shard === 0 ? { total, active } : { total: 0, active: 0 };
    batch.set(firestore().doc(registryPath(shard)), counts);
  }
  await batch.commit();
}
