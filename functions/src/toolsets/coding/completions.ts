/** What completes the variables of coding's resources: names that the workspace's latest tasks have. */
import { LOG_TYPES } from '../../domain/coding/log.ts';
import type { CodingTask } from '../../domain/coding/task.ts';
import type { CallContext, Completion } from '../../mcp/tool.ts';

/** How many tasks are looked at for names. */
const MAX_TASKS = 100;

const DAYS = 14;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

const ofTasks =
  (names: (task: CodingTask) => readonly string[]): Completion =>
  async ({ services, workspace }) => {
    const { items } = await services.codingView.list(workspace, {}, MAX_TASKS);
    return items.flatMap(names);
  };

const ofList =
  (names: readonly string[]): Completion =>
  async () =>
    names;

export const taskIds = ofTasks(({ id }) => [id]);

export const branchNames = ofTasks(({ coding }) => [coding.branch]);

export const projectPaths = ofTasks(({ coding }) => (coding.project === undefined ? [] : [coding.project]));

export const logTypes = ofList(LOG_TYPES);

export const sessionTypes = ofList(['coding', 'coordination']);

const runnerSessions = ofTasks(({ id, claim, coding }) => [
  ...(claim ? [`${id}.${claim.epoch}`] : []),
  ...coding.attempts.map(({ epoch }) => `${id}.${epoch}`),
]);

export const sessionIds: Completion = async (context, chosen) => {
  const { sessionType } = chosen;
  const coding = sessionType === 'coordination' ? [] : await runnerSessions(context, chosen);
  const coordination = sessionType === 'coding' ? [] : await openSession(context);
  return [...coding, ...coordination];
};

async function openSession({ services, workspace }: CallContext): Promise<readonly string[]> {
  const open = await services.codingView.openSessionId(workspace);
  return open === undefined ? [] : [open];
}

/** The latest days, today first. */
export const days: Completion = async ({ services }) => {
  const now = services.codingView.now().getTime();
  return Array.from({ length: DAYS }, (_, ago) =>
    new Date(now - ago * DAY_MILLISECONDS).toISOString().slice(0, 10),
  );
};
