/** Options with which tests run a coding agent outside of an attempt. */
import { claude } from '../../src/agents/claude.ts';
import type { AgentRunOptions } from '../../src/task/agentRun.ts';
import { Conversation } from '../../src/task/conversation.ts';
import type { TaskLog } from '../../src/task/log.ts';

/** Longer than any test, so that the timeout never expires. */
export const LONG_MS = 10 * 60_000;

/** @param folder of the test. Its subfolder `bin` is the agent's PATH, and its name becomes the mark of processes */
export function optionsFor(folder: string, log: TaskLog, more: Partial<AgentRunOptions> = {}): AgentRunOptions {
  return {
    agent: claude,
    wishes: { allowedTools: [], unsafe: false },
    caps: {},
    prompt: 'Do it.',
    conversation: new Conversation([], { log, frame: ({ text }) => text, taken: new Set() }),
    folder,
    env: { PATH: `${folder}/bin` },
    mark: markOf(folder),
    log,
    silenceMs: LONG_MS,
    signal: new AbortController().signal,
    onResult: () => undefined,
    ...more,
  };
}

export function markOf(folder: string): string {
  return `test-${folder.split('/').pop()}`;
}
