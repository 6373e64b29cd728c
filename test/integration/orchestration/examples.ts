/** Fixture for the examples of the orchestration tools: a run, a workflow and models. */

import type { Composition } from '../../../functions/src/composition/compose.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { runOrderPath, runPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { releasedRun } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { builtIn } from '../../../functions/src/toolsets/orchestration/rules/workflows/library.ts';
import { sampleRun } from '../../support/builders.ts';
import type { LocalModels } from '../../support/models/server.ts';
import type { Team, TeamBindings } from '../coordination/team.ts';
import { agentsAt, unkeyed } from './fixture.ts';

const RUN = 'run-abcdefghijklmnopqrst';

/** Stores a pending run and a workflow of the leader. */
export async function setRun({ app, now, leader, workspace }: Team): Promise<void> {
  const workflow = builtIn('direct');
  if (workflow === undefined) throw new Error('Workflow "direct" not found.');
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
  await app.kernel.store.commit([{ kind: 'createRun', run: releasedRun(run, now), order }]);
  const saved = { name: 'plan-and-check', steps: [{ agent: 'claude' }] };
  await app.services.orchestration.workflows.save(leader.owner_uid, saved, undefined, unkeyed);
}

/** Deletes the fixture, because every test uses the same ids. */
export async function clearRun(): Promise<void> {
  const batch = firestore().batch();
  for (const path of [runPath(RUN), runOrderPath(RUN)]) batch.delete(firestore().doc(path));
  await batch.commit();
}

/** Returns bindings with which a deployment calls these models, and executes the runs that it dispatches. */
export function withModels(models: LocalModels, app: () => Composition): TeamBindings {
  return {
    hosted: () => agentsAt(models.url),
    budget: { tokens: 1_000_000, cost_usd: 10 },
    dispatch: {
      // The run is not awaited, because a dispatch returns before its run ends.
      dispatch: async (runId) => void app().services.runExecution.deliver({ runId }),
    },
  };
}
