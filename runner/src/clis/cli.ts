/** Interface to a coding agent's command line, with one implementation per file. */
import { z } from 'zod';
import type { CodingTool } from '../hub/hub.ts';

export interface CodingCli {
  /** Name of the tool in tasks. */
  readonly tool: CodingTool;
  /** Name of the program, also listed in the runner's capabilities. */
  readonly program: string;
  /** Matches each at sign in a prompt that the CLI could read as a reference to a file, an agent or a resource. */
  readonly reference: RegExp;
  /**
   * Prepares a headless run with streamed JSON. The prompt goes to standard input.
   * @throws AttemptFailure if the CLI cannot express an allowed tool
   */
  prepare(wishes: RunWishes, place: RunPlace): Launch;
  /** Parses a line of standard output. Returns undefined if it is not an event. */
  read(line: string): readonly AgentEvent[] | undefined;
}

export interface RunWishes {
  readonly model: string | undefined;
  /** Rules, in the CLI's language, for tools that need no confirmation; excludes rules that the runner refuses. */
  readonly allowedTools: readonly string[];
  /** Turns off the CLI's permission checks. */
  readonly unsafe: boolean;
}

export interface RunPlace {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Launch {
  readonly args: readonly string[];
  /** Removes the files written for the run. Call it after the run. */
  dispose(): void;
}

export type AgentEvent =
  | {
      readonly kind: 'started';
      readonly model: string | undefined;
      /** Whether the agent pays by use with an API key; undefined if unknown. */
      readonly hasKey?: boolean | undefined;
    }
  /** `partial`: a `said` event that follows directly continues this one. */
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
  /** Command line, if the tool is a shell. */
  readonly command: string | undefined;
  readonly file: string | undefined;
}

/** Problem after which the agent continues. */
export interface Warning {
  readonly kind: 'warned';
  readonly text: string;
  /** HTTP status, if the model refused the request. */
  readonly httpStatus?: number | undefined;
}

/** Final event of an agent. */
export interface AgentResult {
  readonly kind: 'result';
  readonly succeeded: boolean;
  /** Final message, or the error. */
  readonly text: string;
  /** HTTP status of the model's last refusal. */
  readonly httpStatus: number | undefined;
  readonly turns: number | undefined;
  readonly tokens: Tokens | undefined;
  /** Range of `tokens`: the session so far, or since the previous result. `turns` always covers the latter. */
  readonly tokensOf: 'session' | 'prompt';
  /** Cost of the session so far. */
  readonly costUsd: number | undefined;
}

/** Token counts. The three kinds of input do not overlap. */
export interface Tokens {
  /** Input that was neither read from a cache nor written to one. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Adds two token counts. */
export function addTokens(one: Tokens, other: Tokens): Tokens {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  };
}

/** Number of tokens as a CLI reports it; null and missing mean 0. */
export const count = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);

/** Returns a parser for lines of JSON. Lines of an unknown shape are newer events, which are ignored. */
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
