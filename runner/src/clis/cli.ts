/** Interface to a coding agent's command line, with one implementation per file. */
import { z } from 'zod';
import type { CodingTool } from '../hub/hub.ts';

export interface CodingCli {
  readonly tool: CodingTool;
  /** Name of the executable, which the runner also sends to the hub when it registers. */
  readonly program: string;
  /** Matches each "@" in a prompt that the CLI could read as a reference to a file, an agent or a resource. */
  readonly reference: RegExp;
  /**
   * Prepares a headless run that prints streamed JSON and reads the prompt from standard input.
   * @throws AttemptFailure if the CLI's language for permission rules cannot express an allowed tool
   */
  prepare(wishes: RunWishes, place: RunPlace): Launch;
  /** Parses a line of standard output. Returns undefined if the line is not an event. */
  read(line: string): readonly AgentEvent[] | undefined;
}

export interface RunWishes {
  readonly model: string | undefined;
  /** Rules, in the CLI's language, for the tools that need no confirmation. The runner has checked the rules. */
  readonly allowedTools: readonly string[];
  /** Whether the CLI's permission checks are turned off. */
  readonly unsafe: boolean;
}

export interface RunPlace {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Launch {
  readonly args: readonly string[];
  /** Deletes the files that `prepare` wrote for the run. Call it when the run has ended. */
  dispose(): void;
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
  | Warning
  /** An account limit is reached. `endsAt` is in milliseconds since 1970. */
  | { readonly kind: 'limited'; readonly endsAt: number | undefined }
  | AgentResult;

export interface ToolUse {
  readonly kind: 'toolUse';
  readonly tool: string;
  /** Command that the agent runs, if the tool is a shell. */
  readonly command: string | undefined;
  readonly file: string | undefined;
}

/** Problem that does not end the agent's run. */
export interface Warning {
  readonly kind: 'warned';
  readonly text: string;
  /** HTTP status of the response, if the model refused the request. */
  readonly httpStatus?: number | undefined;
}

export interface AgentResult {
  readonly kind: 'result';
  readonly succeeded: boolean;
  readonly text: string;
  readonly httpStatus: number | undefined;
  readonly turns: number | undefined;
  readonly tokens: Tokens | undefined;
  /** `session`: `tokens` covers the session so far. `prompt`: like `turns`, only the time since the last result. */
  readonly tokensOf: 'session' | 'prompt';
  /** Cost in US dollars since the start of the session. */
  readonly costUsd: number | undefined;
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

/** Schema of a number of tokens in a CLI's output. If the number is null or missing, it is 0. */
export const count = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);

/** Returns a parser for lines of JSON. The parser ignores lines of an unknown form, which newer CLIs may print. */
export function eventReader<Shape extends z.ZodType>(
  shape: Shape,
  eventsOf: (event: z.output<Shape>) => readonly AgentEvent[],
): CodingCli['read'] {
  return (line) => {
    const value = objectIn(line);
    if (value === undefined) return undefined;
    const parsed = shape.safeParse(value);
    return parsed.success ? eventsOf(parsed.data) : [];
  };
}

function objectIn(line: string): object | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
