/** The interface through which the local server implements the protocol of each vendor. */

export const VENDORS = ['anthropic', 'gemini', 'openai', 'chat', 'vertex-claude', 'vertex-gemini'] as const;
export type Vendor = (typeof VENDORS)[number];

export interface Question {
  readonly model: string;
  readonly prompt: string;
  readonly maxOutputTokens: number;
  readonly streamed: boolean;
}

export type Ending = 'complete' | 'limit' | 'full' | 'refusal';

export interface Said {
  readonly question: Question;
  readonly text: string;
  readonly thinking: string;
  readonly ending: Ending;
  /** Whether the server reports usage. Only servers with OpenAI's Chat Completions API may report none. */
  readonly usage: boolean;
  /** Cost that the server reports. */
  readonly costUsd?: number | undefined;
}

/** A request that the vendor would reject. */
export class Unacceptable extends Error {}

export interface Dialect {
  readonly vendor: Vendor;
  /** Returns whether the path is one of the vendor's endpoints. */
  serves(path: string): boolean;
  /** @throws Unacceptable if the vendor would reject the request */
  read(path: string, headers: Readonly<Record<string, unknown>>, body: unknown): Question;
  /** Returns whether the headers contain a key that does not start with `wrong`. */
  admits(headers: Readonly<Record<string, unknown>>): boolean;
  whole(output: Said): unknown;
  /** Returns the events of a stream: those before the text, one per piece of text, and those after the text. */
  events(output: Said, pieces: readonly string[]): readonly string[];
  error(status: number): unknown;
  /** Returns the event that reports an error within a stream. */
  errorEvent(): string;
}

/** Approximates the vendors' token counts by one token per four characters. */
export const tokensIn = (text: string): number => Math.ceil(text.length / 4);
