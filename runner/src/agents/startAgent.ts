/** Starts a coding agent's program and a session with it. */
import { type Program, startProgram } from '../process/program.ts';
import { AttemptFailure } from '../task/failure.ts';
import type { AgentEvent, AgentOrder, AgentProgram, AgentSession } from './agent.ts';

export interface AgentStart {
  readonly agent: AgentProgram;
  readonly order: AgentOrder;
  readonly env: NodeJS.ProcessEnv;
  readonly mark: string;
  readonly onEvent: (event: AgentEvent) => void;
  /** Called with each line of output, and whether the line is part of the session's protocol. */
  readonly onLine: (line: string, stream: 'stdout' | 'stderr', isProtocol: boolean) => void;
}

export interface RunningAgent {
  readonly program: Program;
  readonly session: AgentSession;
  /** Command line, for the log. */
  readonly commandLine: string;
}

/** @throws AttemptFailure if the agent cannot fulfill a wish of the order */
export async function startAgent({ agent, order, env, mark, onEvent, onLine }: AgentStart): Promise<RunningAgent> {
  if (order.wishes.maxCostUsd !== undefined && !agent.reportsCost)
    throw new AttemptFailure('crashed', withoutCost(agent), { retryable: false });
  const launch = await agent.launch(order.wishes, env);
  const [file, ...first] = agent.command;
  const args = [...first, ...launch.args];
  const program = startProgram({
    program: file,
    args,
    cwd: order.folder,
    env: { ...env, ...launch.env },
    mark,
    // The program prints nothing before this function has created the session.
    onOutput: (line, stream) => onLine(line, stream, stream === 'stdout' && session.read(line)),
  });
  const session = agent.open(order, { send: program.send, close: program.closeInput, emit: onEvent });
  return { program, session, commandLine: [file, ...args].join(' ') };
}

function withoutCost({ title }: AgentProgram): string {
  return `config.maxCostUsd: ${title} does not report its cost. Set config.maxTokens instead.`;
}
