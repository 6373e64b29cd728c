/** Random calls of agents that claim, report, release and cancel tasks whose files overlap. */
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import type { Team } from '../coordination/team.ts';
import { unkeyed } from '../coordination/team.ts';

/** Globs of the tasks. Most of them overlap. */
export const GLOBS = [['src/**'], ['src/a.ts'], ['src/*.ts', 'docs/'], ['docs/x.md'], ['lib/'], [], ['**/*.md']];

export const CALLS = [
  'claim',
  'share',
  'complete',
  'fail',
  'retry',
  'park',
  'release',
  'cancel',
  'requeue',
  'sweep',
] as const;
export type RandomCall = readonly [call: (typeof CALLS)[number], agent: number, task: number];

/** Performs a call. Errors of calls that are not possible are ignored. @param app the instance that gets the call */
export async function perform(team: Team, app: Team['app'], agents: readonly string[], [call, who, which]: RandomCall) {
  const agentId = agents[who % agents.length] ?? '';
  const tasks = await team.tasks();
  const own = tasks.find(({ claim, status }) => claim?.claimed_by === agentId && status === 'claimed');
  const task_id = tasks[which % tasks.length]?.id ?? '';
  const report = (outcome: Parameters<Team['app']['services']['taskQueue']['reportOutcome']>[2]['outcome']) =>
    app.services.taskQueue.reportOutcome(
      team.leader,
      own?.id ?? task_id,
      { claimant: { agent_id: agentId }, outcome },
      unkeyed,
    );
  const claim = {
    workspace: team.workspace,
    agentId,
    leaseSeconds: 600,
    sharesFiles: call === 'share',
    by: { uid: `agent:${agentId}` },
  };
  const failed = { kind: 'failed', error: 'It broke' } as const;
  const calls: Readonly<Record<RandomCall[0], () => Promise<unknown>>> = {
    claim: () => app.services.taskClaims.claim(claim, unkeyed),
    share: () => app.services.taskClaims.claim(claim, unkeyed),
    complete: () => report({ kind: 'done', result: { output: 'Made it', files_modified: ['src/a.ts'] } }),
    fail: () => report({ ...failed, retryable: false }),
    retry: () => report({ ...failed, retryable: true }),
    park: () => report({ kind: 'done', result: { output: 'Mine' }, whenPartsDone: true }),
    release: () => app.services.taskLevers.release(team.leader, { taskId: task_id }, unkeyed),
    cancel: () => app.services.taskLevers.cancel(team.leader, { taskId: task_id }, unkeyed),
    requeue: () => app.services.taskLevers.retry(team.leader, { taskId: task_id, withDependents: false }, unkeyed),
    sweep: async () => {
      team.pass(300);
      await team.sweep(app);
    },
  };
  await calls[call]().catch((error: unknown) => {
    if (!(error instanceof MusterError)) throw error;
  });
}
