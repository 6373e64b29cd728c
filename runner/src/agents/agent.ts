/** Interface to a coding agent: its program, and a session in which the runner can send messages to it. */
import { z } from 'zod';
import type { CodingTool, Hearing } from '../hub/hub.ts';
import type { FailureClass } from '../task/failure.ts';

export interface AgentProgram {
  readonly tool: CodingTool;
  readonly title: string;
  /** Name that the runner sends to the hub when it registers, and that prefixes the agent's output in the log. */
  readonly program: string;
  /** Executable and its first arguments. */
  readonly command: readonly [string, ...string[]];
  readonly hearing: Hearing;
  /** First version that the runner supports, if older versions do not work. */
  readonly minVersion?: string;
  /** Whether the agent can commit in a worktree. */
  readonly canCommit: boolean;
  readonly reportsCost: boolean;
  /** Matches each "@" in a prompt that the agent could read as a reference to a file, an agent or a resource. */
  readonly reference?: RegExp;
  /**
   * Returns how to start the agent's program.
   * @throws AttemptFailure if the agent cannot fulfill a wish
   */
  launch(wishes: RunWishes, env: NodeJS.ProcessEnv): Launch | Promise<Launch>;
  /** Begins a session with the program that has just been started, and sends the prompt. */
  open(order: AgentOrder, port: AgentPort): AgentSession;
}

export interface RunWishes {
  readonly model?: string | undefined;
  /** Rules for the tools that need no confirmation. The runner has checked the rules. */
  readonly allowedTools: readonly string[];
  /** Whether the agent's permission checks are turned off. */
  readonly unsafe: boolean;
  /** Set only if the agent reports its cost. */
  readonly maxCostUsd?: number | undefined;
}

export interface Launch {
  readonly args: readonly string[];
  /** Variables that are added to the environment. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Text for an agent. The agent acknowledges it with the event `heard` and the same id. */
export interface Said {
  readonly id: string;
  readonly text: string;
}

export interface AgentOrder {
  readonly prompt: Said;
  readonly wishes: RunWishes;
  /** Folder of the worktree. */
  readonly folder: string;
}

/** Connection of a session to the agent's process and to the runner. */
export interface AgentPort {
  /** Writes a line to the program's standard input. */
  send(line: string): void;
  /** Closes the program's standard input. */
  close(): void;
  emit(event: AgentEvent): void;
}

export interface AgentSession {
  /** Processes a line of standard output. Returns false if the line is not part of the protocol. */
  read(line: string): boolean;
  /** Sends a message to the agent. The event `heard` or `unheard` with its id follows. */
  say(message: Said): void;
  /** Asks the agent to stop before its next request to the model. */
  interrupt(): void;
  /** Ends the session, so that the program exits. */
  finish(): void;
}

export type AgentEvent =
  | {
      readonly kind: 'started';
      readonly model: string | undefined;
      /** Whether the agent uses an API key, which is charged by use; undefined if unknown. */
      readonly hasKey?: boolean | undefined;
    }
  /** `partial`: a `said` event that follows directly is the next part of the same text. */
  | { readonly kind: 'said'; readonly text: string; readonly partial: boolean }
  | ToolUse
  | { readonly kind: 'toolResult'; readonly failed: boolean; readonly text: string }
  /** The runner has refused a permission. */
  | { readonly kind: 'refused'; readonly text: string }
  | Warning
  /** The agent's program has passed a message to the agent, or has dropped it. */
  | { readonly kind: 'heard' | 'unheard'; readonly id: string }
  /** Use since the start of the session. */
  | { readonly kind: 'spent'; readonly tokens?: Tokens | undefined; readonly costUsd?: number | undefined }
  /** An account limit is reached. `endsAt` is in milliseconds since 1970. */
  | { readonly kind: 'limited'; readonly endsAt: number | undefined }
  | AgentResult;

export interface ToolUse {
  readonly kind: 'toolUse';
  readonly tool: string;
  /** Command that the agent runs, if the tool is a shell. */
  readonly command?: string | undefined;
  readonly file?: string | undefined;
}

/** Problem that does not end the agent's run. */
export interface Warning {
  readonly kind: 'warned';
  readonly text: string;
  /** HTTP status of the response, if the model refused the request. */
  readonly httpStatus?: number | undefined;
}

/** End of a turn. The session ends with it, unless a message is waiting for the next turn. */
export interface AgentResult {
  readonly kind: 'result';
  readonly succeeded: boolean;
  readonly text: string;
  readonly httpStatus?: number | undefined;
  /** Class of the failure, if the agent reports it by a code. */
  readonly failureClass?: FailureClass | undefined;
  /** Whether the same task would fail again. */
  readonly isFinal?: boolean | undefined;
  readonly turns?: number | undefined;
  readonly tokens?: Tokens | undefined;
  /** `session`: `tokens` covers the session so far. `prompt`: like `turns`, only the time since the last result. */
  readonly tokensOf: 'session' | 'prompt';
  /** Cost in US dollars since the start of the session. */
  readonly costUsd?: number | undefined;
}

/** Numbers of tokens. Each input token is counted once: in `input`, `cacheRead` or `cacheWrite`. */
export interface Tokens {
  /** Input tokens that were neither read from a cache nor written to a cache. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export function addTokens(one: Tokens, other: Tokens): Tokens {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  };
}

export function totalOf({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

/** Schema of a number of tokens in an agent's output. If the number is null or missing, it is 0. */
export const count = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);

/** Parses a line of JSON. Returns undefined if the line is not an object. */
export function objectIn(line: string): object | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
