/** Probes a coding agent with a run in an empty folder, so that no task is needed to find out whether it works. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentProgram } from '../agents/agent.ts';
import { versionOf } from '../agents/index.ts';
import { startAgent } from '../agents/startAgent.ts';
import type { FailureClass } from '../task/failure.ts';

const TIMEOUT_MS = 2 * 60_000;
const PROMPT = 'Reply with the word OK. Use no tools.';

export interface ProbeOptions {
  readonly agent: AgentProgram;
  /** Class of the agent's failure that started the outage. */
  readonly failure: FailureClass;
  readonly env: NodeJS.ProcessEnv;
  readonly mark: string;
  readonly signal: AbortSignal;
}

/** Returns whether the agent works again. */
export async function probeAgent({ agent, failure, env, mark, signal }: ProbeOptions): Promise<boolean> {
  if (failure === 'cli_missing') return (await versionOf(agent.command[0], env)) !== undefined;
  const folder = mkdtempSync(`${tmpdir()}/muster-probe-`);
  let succeeded = false;
  const over = new AbortController();
  try {
    const { program } = await startAgent({
      agent,
      order: { prompt: { id: 'probe', text: PROMPT }, wishes: { allowedTools: [], unsafe: false }, folder },
      env,
      mark,
      onEvent: (event) => {
        if (event.kind !== 'result') return;
        succeeded = event.succeeded;
        over.abort();
      },
      onLine: () => undefined,
    });
    const patience = delay(TIMEOUT_MS, undefined, { signal: AbortSignal.any([signal, over.signal]), ref: false });
    await Promise.race([program.exited.catch(() => undefined), patience.catch(() => undefined)]);
    await program.end();
    return succeeded;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
