/** Calls every orchestration tool once. The execution of the runs is not counted. */
import type { Cast, Ledger } from './costLedger.ts';

const CACHED = 'the answer is in the cache';

export async function playOrchestration({ leader, runQueue }: Cast, ledger: Ledger): Promise<void> {
  const tool = (name: string, args: object, situation?: string) =>
    ledger.call(leader, `orchestration.${name}`, args, situation);
  /** Measures a cached answer, because a call that waits for its run reads the run a varying number of times. */
  const cached = async (name: string, args: object): Promise<void> => {
    await leader.call(`orchestration.${name}`, args);
    await tool(name, args, CACHED);
  };
  await cached('orchestrate', { prompt: 'Write a scraper' });
  await cached('orchestrate_workflow', { workflow: 'code-review', input: 'A login', cache: true });
  await cached('orchestrate_parallel', { prompt: 'Solve it', mode: 'all', cache: true });
  await cached('execute_code', { prompt: 'Sort a list' });
  await cached('execute_task', { task: { id: 'task-1', prompt: 'Sort a list' } });

  runQueue.models.when({ text: 'Never' }, { does: 'hang' });
  const started = await tool('orchestrate', { prompt: 'Never', options: { timeout: 0 } }, 'starts a run');
  const { runId } = started;
  await tool('get_run', { runId }, 'of a run with one step in progress');
  await tool('cancel_run', { runId });
  await tool('list_runs', {}, 'returns six runs');

  const workflow = { name: 'plan-and-check', steps: [{ agent: 'claude' }, { agent: 'gemini' }] };
  await tool('save_workflow', { workflow });
  await tool('list_workflows', {}, 'returns one workflow');
  await tool('delete_workflow', { name: workflow.name });
  await tool('list_agents', { includeMetrics: true }, 'returns two online agents');
  await tool('get_capabilities', { task: 'Process 1MB of text data' });
}
