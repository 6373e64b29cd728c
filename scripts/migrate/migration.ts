/** The migration from version 0.1.0, in the order in which its parts need each other. */
import { compose } from '../../functions/src/app.ts';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { systemClock } from '../../functions/src/kernel/platform.ts';
import { realtimeDatabase } from '../../functions/src/kernel/realtime/database.ts';
import { carryAgents } from './agents.ts';
import { carryCounts } from './counts.ts';
import { carryPeople } from './people.ts';
import { carryRealtime, requireRealtime } from './realtime.ts';
import { carryTasks } from './tasks.ts';
import { carryWorkspaces } from './workspaces.ts';

/** @param say is told what was done, a sentence at a time */
export async function migrate(say: (sentence: string) => void): Promise<void> {
  const { ports, services } = compose({ clock: systemClock });
  const carrying = { database: firestore(), realtime: realtimeDatabase, ports, services, say };
  await requireRealtime(carrying);
  const agents = await carryAgents(carrying);
  const people = await carryPeople(carrying, agents);
  const makers = await carryTasks(carrying);
  const workspaces = await carryWorkspaces(carrying, agents, people, makers);
  await carryCounts(carrying, agents, workspaces);
  await carryRealtime(carrying, agents);
  say('Everything is carried over. Run it once more after the deployment, for what came meanwhile.');
}
