/** What the tools' examples speak of: a run, and models that answer. */

import type { Composition } from '../../../functions/src/composition/compose.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { runOrderPath, runPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { released } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { builtIn } from '../../../functions/src/toolsets/orchestration/rules/workflows/library.ts';
import { sampleRun } from '../../support/builders.ts';
import type { LocalModels } from '../../support/models/server.ts';
import type { Team, TeamBindings } from '../coordination/team.ts';
import { agentsAt, unkeyed } from './orchestra.ts';

const RUN = 'run-abcdefghijklmnopqrst';

/** Puts a run there that nobody has begun to execute, and a workflow of the leader's. */
export async function setRun({ app, now, leader, workspace }: Team): Promise<void> {
  const workflow = builtIn('direct');
  if (workflow === undefined) throw new Error('There is no workflow "direct".');
  const run = sampleRun({
    id: RUN,
    owner_uid: leader.owner_uid,
    started_by: leader.uid,
    workspace,
    title: 'Do it',
    created_at: now,
    deadline: new Date(now.getTime() + 3_600_000),
  });
  const order = {
    workflow,
    input: 'Do it',
    context: {},
    budget: { tokens: 1000, cost_usd: 1 },
    parallel: true,
    forbidden: [],
  };
  await app.kernel.store.commit([{ kind: 'createRun', run: released(run, now), order }]);
  const saved = { name: 'plan-and-check', steps: [{ agent: 'claude' }] };
  await app.services.orchestration.workflows.save(leader.owner_uid, saved, undefined, unkeyed);
}

/** The id is the same for every test, so one must make room for the next. */
export async function clearRun(): Promise<void> {
  const batch = firestore().batch();
  for (const path of [runPath(RUN), runOrderPath(RUN)]) batch.delete(firestore().doc(path));
  await batch.commit();
}

/** The bindings of a deployment that asks these models, and executes its runs itself. */
export function withModels(models: LocalModels, app: () => Composition): TeamBindings {
  return {
    hosted: () => agentsAt(models.url),
    budget: { tokens: 1_000_000, cost_usd: 10 },
    dispatch: {
      // Not awaited: what dispatches a run does not wait for it.
      dispatch: async (runId) => void app().services.runExecution.deliver({ runId }),
    },
  };
}
