/** What a runner knows of a coding agent's command line. One file each implements it. */
import { z } from 'zod';
import type { CodingTool } from '../hub/hub.ts';

export interface CodingCli {
  /** As tasks call it. */
  readonly tool: CodingTool;
  /** The program, which is also its name among the runner's capabilities. */
  readonly program: string;
  /** Matches each at sign of a prompt that the CLI could read as a reference to a file, an agent or a resource. */
  readonly reference: RegExp;
  /**
   * Prepares a headless run with streamed JSON. The prompt goes to standard input.
   * @throws AttemptFailure if the CLI cannot express an allowed tool
   */
  prepare(wishes: RunWishes, place: RunPlace): Launch;
  /** Reads a line of its standard output; undefined where it is no event. */
  read(line: string): readonly AgentEvent[] | undefined;
}

export interface RunWishes {
  readonly model: string | undefined;
  /** Rules of the CLI's own language for tools that need no confirmation, without rules that the runner refuses. */
  readonly allowedTools: readonly string[];
  /** Switch its permission checks off. */
  readonly unsafe: boolean;
}

export interface RunPlace {
  /** Working directory of the run. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Launch {
  readonly args: readonly string[];
  /** Removes the files that were written for the run. Call it when the run has ended. */
  dispose(): void;
}

export type AgentEvent =
  | {
      readonly kind: 'started';
      readonly model: string | undefined;
      /** Whether it pays with a key, by use; undefined where it does not say. */
      readonly hasKey?: boolean | undefined;
    }
  /** `partial`: the next one, if it follows at once, continues it. */
  | { readonly kind: 'said'; readonly text: string; readonly partial: boolean }
  | ToolUse
  | { readonly kind: 'toolResult'; readonly failed: boolean; readonly text: string }
  | Warning
  /** A limit of the account is reached; `endsAt` is in milliseconds since 1970. */
  | { readonly kind: 'limited'; readonly endsAt: number | undefined }
  | AgentResult;

export interface ToolUse {
  readonly kind: 'toolUse';
  readonly tool: string;
  /** Of a shell. */
  readonly command: string | undefined;
  readonly file: string | undefined;
}

/** Something is wrong; the agent goes on. */
export interface Warning {
  readonly kind: 'warned';
  readonly text: string;
  /** Of its model's refusal, if it is one. */
  readonly httpStatus?: number | undefined;
}

/** The agent is done. */
export interface AgentResult {
  readonly kind: 'result';
  readonly succeeded: boolean;
  /** What it says at the end, or what went wrong. */
  readonly text: string;
  /** The HTTP status of its model's last refusal. */
  readonly httpStatus: number | undefined;
  readonly turns: number | undefined;
  readonly tokens: Tokens | undefined;
  /** Range that `tokens` counts: the session so far, or the work since the previous result. `turns` is always the latter. */
  readonly tokensOf: 'session' | 'prompt';
  /** Cost of the session so far. */
  readonly costUsd: number | undefined;
}

/** Numbers of tokens. The three kinds of input do not overlap. */
export interface Tokens {
  /** Input that was neither read from a cache nor written to one. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Adds two counts of tokens. */
export function addTokens(one: Tokens, other: Tokens): Tokens {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  };
}

/** A number of tokens as a CLI reports it: null and missing are 0. */
export const count = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);

/**
 * Reads lines of JSON. What does not have the shape is an event of a kind that this version does not know, and says
 * nothing to us.
 */
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
