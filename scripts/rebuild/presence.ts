/**
 * Rebuilds the time at which each active agent was last seen. Without an entry, the sweep would never mark the agent
 * offline. Firestore has only the time of the agent's last claim or registration. Therefore, for five minutes after
 * entries are restored, no agent is marked offline, as after an outage of the Realtime Database.
 */
import { agentFromDocument, homeWorkspaceOf } from '../../functions/src/agents/rules/agent.ts';
import { agentPath, COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { PRESENCE, presencePath } from '../../functions/src/kernel/realtime/database.ts';
import { forEach, pagesOf, readable } from '../operator/documents.ts';
import { childrenOf, Progress, type Rebuilding, unread } from './rebuilding.ts';

export async function rebuildPresence(rebuilding: Rebuilding): Promise<void> {
  const { database, realtime, ports, isDry, say } = rebuilding;
  let sparing: Promise<void> | undefined;
  /** Called before the first entry is written, so that the sweep marks no agent offline because of an old entry. */
  const spareEverybody = (): Promise<void> => {
    const now = ports.clock.now();
    sparing ??= ports.sweepRecord.saveOutage({ since: now, back_at: now });
    return sparing;
  };

  const active = new Progress('Active agents', rebuilding);
  const agents = database.collection(COLLECTIONS.agents).where('status', '==', 'active');
  for await (const page of pagesOf(agents))
    await forEach(readable(page, agentFromDocument, unread(say)), async ({ value: agent }) => {
      const home = homeWorkspaceOf(agent);
      const node = await realtime.ref(presencePath(agent.id)).get();
      const isWrong = node.child('workspace').val() !== home || !node.child('last_seen').exists();
      if (isWrong && !isDry) {
        await spareEverybody();
        await ports.presence.restore(agent.id, home, agent.last_seen);
      }
      active.add(isWrong);
    });
  active.end();

  const seen = new Progress('Agents with presence', rebuilding);
  for await (const page of childrenOf(realtime, PRESENCE)) {
    const ids = page.flatMap(({ key }) => key ?? []);
    const found = await database.getAll(...ids.map((id) => database.doc(agentPath(id))), { fieldMask: [] });
    await forEach(
      ids.map((id, index) => ({ id, isThere: found[index]?.exists })),
      async ({ id, isThere }) => {
        if (!isThere && !isDry) await ports.presence.remove(id, ports.clock.now());
        seen.add(!isThere);
      },
    );
  }
  seen.end();
}
