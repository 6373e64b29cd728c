/** Coding agents that the runner finds without configuration. */
import { AcpSession, type AcpTraits } from './acp.ts';
import type { AgentProgram, Launch, RunWishes } from './agent.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';

/** How to start an agent that supports the Agent Client Protocol. */
interface AcpAgent extends Pick<AgentProgram, 'tool' | 'title' | 'program' | 'command' | 'minVersion'> {
  readonly reportsCost?: boolean;
  readonly traits?: AcpTraits;
  readonly launch: (wishes: RunWishes) => Launch;
}

/** Gemini CLI 0.61.0 and opencode 1.18.33 read no "@" in this protocol as a reference. Other agents could. */
const REFERENCE = /(?<!\\)@/g;

/** Settings without which opencode asks for no permission, and ends its turn if a permission is refused. */
const OPENCODE_CONFIG = {
  permission: { bash: 'ask', webfetch: 'ask', edit: 'allow', external_directory: 'deny' },
  experimental: { continue_loop_on_deny: true },
};

const gemini = acpAgent({
  tool: 'GEMINI',
  title: 'Gemini CLI',
  program: 'gemini',
  command: ['gemini'],
  minVersion: '0.61.0',
  traits: { commandInTitle: true, modelByFlag: true },
  launch: ({ model, unsafe }) => ({
    args: [
      '--acp',
      '--skip-trust', // The owner started the runner for this folder, and so has shown that they trust it.
      '--approval-mode',
      unsafe ? 'yolo' : 'auto_edit',
      ...(model === undefined ? [] : ['-m', model]),
    ],
  }),
});

const opencode = acpAgent({
  tool: 'OPENCODE',
  title: 'opencode',
  program: 'opencode',
  command: ['opencode'],
  reportsCost: true,
  launch: ({ unsafe }) => ({
    args: ['acp'],
    ...(!unsafe && { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(OPENCODE_CONFIG) } }),
  }),
});

const copilot = acpAgent({
  tool: 'COPILOT',
  title: 'Copilot CLI',
  program: 'copilot',
  command: ['copilot'],
  traits: { stopsAtRefusal: true },
  launch: () => ({ args: ['--acp'] }),
});

export const KNOWN_AGENTS: readonly AgentProgram[] = [claude, codex, gemini, opencode, copilot];

/** Returns an agent that the owner named with `--agent`. The command must start its Agent Client Protocol server. */
export function namedAgent(name: string, command: readonly [string, ...string[]]): AgentProgram {
  const program = name.toLowerCase();
  return acpAgent({ tool: name.toUpperCase(), title: name, program, command, launch: () => ({ args: [] }) });
}

function acpAgent({ launch, reportsCost = false, traits = {}, ...named }: AcpAgent): AgentProgram {
  return {
    ...named,
    hearing: 'between_turns',
    canCommit: true,
    reportsCost,
    reference: REFERENCE,
    launch,
    open: (order, port) => new AcpSession(order, port, traits),
  };
}
