/** The count of all agents of the deployment, made true. */
import { firestore } from '../../../functions/src/adapters/firestore/client.ts';
import {
  COLLECTIONS,
  REGISTRY_SHARDS,
  registryPath,
} from '../../../functions/src/adapters/firestore/paths.ts';
import { AgentLiveness } from '../../../functions/src/domain/agents/liveness.ts';
import { TaskSweep } from '../../../functions/src/domain/tasks/sweep.ts';
import { silent, type Team } from '../coordination/team.ts';

/**
 * Other tests leave agents behind, and put some there or take some away without counting them. Afterwards no sweep
 * up to `seconds` from now has anything to do with those, and the registry has as many agents as there are.
 */
export async function settleRegistry(team: Team, seconds: number): Promise<void> {
  team.pass(seconds);
  const ports = { ...team.app.ports, log: silent };
  while ((await new AgentLiveness(ports).sweep()) > 0);
  const tasks = new TaskSweep(ports);
  for (let swept = 1; swept > 0; ) {
    const { released, retried, unclaimed } = await tasks.run();
    swept = released + retried + unclaimed;
  }
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
