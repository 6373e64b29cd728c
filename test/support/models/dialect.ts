/** Common interface of the two vendors' protocols for the local server. */

export type Vendor = 'anthropic' | 'gemini';

export interface Question {
  readonly model: string;
  readonly prompt: string;
  readonly system: string;
  readonly maxOutputTokens: number;
  readonly streamed: boolean;
}

export type Ending = 'complete' | 'limit' | 'full' | 'refusal';

export interface Said {
  readonly question: Question;
  readonly text: string;
  readonly thinking: string;
  readonly ending: Ending;
}

/** A request that the vendor would reject. */
export class Unacceptable extends Error {}

export interface Dialect {
  readonly vendor: Vendor;
  /** Whether the path is one of its endpoints. */
  serves(path: string): boolean;
  /** @throws Unacceptable if the vendor's description does not allow it */
  read(path: string, headers: Readonly<Record<string, unknown>>, body: unknown): Question;
  /** Whether the headers contain a key that does not start with `wrong`. */
  admits(headers: Readonly<Record<string, unknown>>): boolean;
  whole(said: Said): unknown;
  /** Events before the text, one event per piece of text, and events after it. */
  events(said: Said, pieces: readonly string[]): readonly string[];
  error(status: number): unknown;
  /** Event for an error within a stream. */
  errorEvent(): string;
}

/** Approximates the vendors' token counts; deterministic. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 4);
}
