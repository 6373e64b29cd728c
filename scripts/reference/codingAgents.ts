/** The coding agents' half of the page "Which agents and models work", from the definitions of the runner. */
import type { AgentProgram } from '../../runner/src/agents/agent.ts';
import { KNOWN_AGENTS } from '../../runner/src/agents/known.ts';
import { table } from './tables.ts';

const HEARING: Readonly<Record<AgentProgram['hearing'], string>> = {
  between_steps: 'with its next request to its model',
  between_turns: 'after its current turn',
};

const rows = await Promise.all(
  KNOWN_AGENTS.map(async (agent) => {
    const { title, tool, command, hearing, minVersion = '', canCommit, reportsCost } = agent;
    const { args } = await agent.launch({ allowedTools: [], unsafe: false }, {});
    // The settings of Claude Code are long JSON.
    const shown = args.filter((arg) => !arg.startsWith('{') && arg !== '--settings');
    const start = `\`${[command[0], ...shown].join(' ')}\``;
    return [title, `\`${tool}\``, start, minVersion, HEARING[hearing], yes(reportsCost), yes(canCommit)];
  }),
);

export const codingAgentSections: readonly string[] = [
  '## Coding agents',
  'The runner starts these programs for [coding tasks](../guides/runner.md#coding-agents). With `--agent NAME="COMMAND"`, it uses every other agent that supports the Agent Client Protocol.',
  table(['agent', '`tool`', 'started with', 'oldest version', 'hears a message', 'reports its cost', 'commits'], rows),
];

function yes(value: boolean): string {
  return value ? 'yes' : 'no';
}
