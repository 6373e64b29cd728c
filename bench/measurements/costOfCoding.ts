/** Calls every coding tool and reads every coding resource, in the course of one task. */
import type { Cast, Ledger } from './costLedger.ts';

const PROJECT = 'owner/name';

/** Number of lines in one call, which is the capacity of one chunk of the log. */
const LINES = 500;

export async function playCoding({ leader, worker }: Cast, ledger: Ledger): Promise<void> {
  const coding = (tool: string, args: object, situation?: string) =>
    ledger.call(worker, `coding.${tool}`, args, situation);
  const draft = {
    tool: 'CLAUDECODE',
    description: 'Add authentication',
    instructions: 'Use JWT',
    branch: 'feature/auth',
    config: { project: PROJECT },
  };
  await coding('register_runner', { programs: [{ name: 'claude', version: '2.1.197' }] });
  const { result } = await ledger.call(leader, 'coding.create_task', draft);
  const taskId = taskIdOf(result);
  await coding('claim_task', { project: PROJECT }, 'claims the only task');
  await coding('claim_task', { project: PROJECT }, 'no task is available');

  const mine = { taskId, epoch: 1 };
  await coding('append_logs', { ...mine, entries: entries(0, 1) }, 'appends the first line, which starts the task');
  await coding('append_logs', { ...mine, entries: entries(1, 100) }, 'appends 100 lines');
  await coding('append_logs', { ...mine, entries: entries(101, LINES) }, `appends ${LINES} lines to two chunks`);
  await coding('heartbeat_task', mine, 'does not need to renew the lease');
  await coding('heartbeat_task', { ...mine, progress: 'Writes tests' }, 'reports its progress');
  await coding('heartbeat_task', { ...mine, files: ['src/a.ts'] }, 'reports changed files for the first time');
  await coding('heartbeat_task', { ...mine, files: ['src/a.ts', 'src/b.ts'] }, 'reports changed files');
  await ledger.call(leader, 'coding.update_task', { taskId, log: 'Mind the tests.' }, 'adds a log line');
  await look({ leader, taskId }, ledger);
  await coding('end_task', { ...mine, status: 'completed', result: { summary: 'Done.' } });
  await ledger.call(leader, 'coding.report_task', { taskId }, 'of a completed task');
  await ledger.read(leader, `task://${taskId}/result`, '', 'task://{taskId}/result');
}

async function look(
  { leader, taskId }: { readonly leader: Cast['leader']; readonly taskId: string },
  ledger: Ledger,
): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  const read = (uri: string, situation?: string, template?: string) => ledger.read(leader, uri, situation, template);
  await ledger.call(leader, 'coding.report_task', { taskId }, 'of a task in progress');
  await ledger.call(leader, 'coding.get_task_logs', { taskId }, 'returns 200 lines of a log that has two chunks');
  await read('agent://status', 'returns one runner');
  await read('task://list', 'returns the only task');
  await read('agent://tasks', 'returns the only task');
  await read(`task://${taskId}`, 'of a task whose log has two chunks', 'task://{taskId}');
  await read(`task://${taskId}/logs`, 'reads a log that has two chunks', 'task://{taskId}/logs');
  await read(`session://coding/${taskId}.1`, 'of a runner', 'session://{sessionType}/{sessionId}');
  await read('branch://feature/auth/tasks', 'returns one task', 'branch://{branchName}/tasks');
  await read(`project://${PROJECT}/status`, 'returns one task', 'project://{projectPath}/status');
  await read(`log://agent/${day}`, 'reads a log that has two chunks', 'log://{logType}/{date}');
}

function entries(first: number, count: number): object[] {
  const at = new Date().toISOString();
  return Array.from({ length: count }, (_, number) => ({
    sequence: first + number,
    at,
    level: 'info',
    type: 'agent',
    message: `Line ${first + number}`,
  }));
}

function taskIdOf(result: unknown): string {
  if (typeof result === 'object' && result !== null && 'taskId' in result) return String(result.taskId);
  throw new Error('No task was returned.');
}
