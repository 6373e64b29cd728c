/** Probes a coding agent with a run in an empty folder, so that no task is needed to find out whether it works. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { CLIS, versionOf } from '../clis/index.ts';
import type { CodingTool } from '../hub/hub.ts';
import { startProgram } from '../process/program.ts';
import type { FailureClass } from '../task/failure.ts';

const TIMEOUT_MS = 2 * 60_000;
const PROMPT = 'Reply with the word OK. Use no tools.';

/** Command-line arguments for a headless run that prints streamed JSON and in which no tool is approved. */
const ARGUMENTS: Readonly<Record<CodingTool, readonly string[]>> = {
  CLAUDECODE: ['-p', '--output-format', 'stream-json', '--verbose', '--max-turns', '1'],
  GEMINI: ['-p', '', '--output-format', 'stream-json', '--approval-mode', 'default', '--skip-trust'],
};

export interface ProbeOptions {
  readonly tool: CodingTool;
  /** Class of the agent's failure that started the outage. */
  readonly failure: FailureClass;
  readonly env: NodeJS.ProcessEnv;
  readonly mark: string;
  readonly signal: AbortSignal;
}

/** Returns whether the agent works again. */
export async function probeAgent({ tool, failure, env, mark, signal }: ProbeOptions): Promise<boolean> {
  const { program, read } = CLIS[tool];
  if (failure === 'cli_missing') return (await versionOf(program, env)) !== undefined;
  const folder = mkdtempSync(`${tmpdir()}/muster-probe-`);
  let succeeded = false;
  const over = new AbortController();
  try {
    const run = startProgram({
      program,
      args: ARGUMENTS[tool],
      cwd: folder,
      env,
      mark,
      input: PROMPT,
      onOutput: (line, stream) => {
        const results = stream === 'stdout' ? (read(line) ?? []) : [];
        for (const event of results) {
          if (event.kind !== 'result') continue;
          succeeded = event.succeeded;
          over.abort();
        }
      },
    });
    const patience = delay(TIMEOUT_MS, undefined, { signal: AbortSignal.any([signal, over.signal]), ref: false });
    await Promise.race([run.exited.catch(() => undefined), patience.catch(() => undefined)]);
    await run.end();
    return succeeded;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
