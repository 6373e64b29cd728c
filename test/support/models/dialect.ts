/** What the two vendors' protocols have in common, as the local server sees them. */

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

/** A request that the vendor would not take. */
export class Unacceptable extends Error {}

export interface Dialect {
  readonly vendor: Vendor;
  /** Whether the path is one of its endpoints. */
  serves(path: string): boolean;
  /** @throws Unacceptable where the vendor's description does not allow it */
  read(path: string, headers: Readonly<Record<string, unknown>>, body: unknown): Question;
  /** Whether the key is in the headers, and not one that begins with `wrong`. */
  admits(headers: Readonly<Record<string, unknown>>): boolean;
  whole(said: Said): unknown;
  /** The events before the text, one for each of the pieces, and those after it. */
  events(said: Said, pieces: readonly string[]): readonly string[];
  error(status: number): unknown;
  /** What tells of an error in the middle of a stream. */
  errorEvent(): string;
}

/** Roughly as vendors count; exactly the same each time. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 4);
}
