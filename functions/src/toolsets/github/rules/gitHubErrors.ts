/**
 * What GitHub's tools can be refused for: errors.json has the words, by the codes of "Specific Error Codes". The
 * specification's names are the errors' `reason`. Nothing that GitHub answered is in a message.
 * Source: the network specification, "github.readFile", "Error Scenarios".
 */
import { type ErrorDetails, MusterError } from '../../../kernel/errors.ts';
import texts from './errors.json' with { type: 'json' };

/** In braces stands what the error is about: `There is no branch "{branch}".` */
interface Text {
  readonly field?: string;
  readonly reason: string;
  readonly message: string;
  readonly suggestion?: string;
}

const SHOWN_LENGTH = 200;

type Codes = keyof typeof texts;

const TEXTS: { readonly [Code in Codes]: Readonly<Record<keyof (typeof texts)[Code], Text>> } = texts;

/** What the words name, and what else the error says. */
type Said = Pick<ErrorDetails, 'field' | 'entries' | 'retryAfter' | 'cause'> &
  Readonly<Record<string, unknown>>;

/** A path is cut where it is long. */
export function refusal<Code extends Codes>(
  code: Code,
  name: keyof (typeof texts)[Code],
  { field, entries, retryAfter, cause, ...about }: Said = {},
): MusterError {
  const { message, suggestion, ...text } = TEXTS[code][name];
  const filled = (words: string) =>
    words.replace(/\{(\w+)\}/g, (_, key: string) => {
      const value = String(about[key]);
      return key === 'path' && value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value;
    });
  return new MusterError(code, filled(message), {
    ...text,
    ...(suggestion !== undefined && { suggestion: filled(suggestion) }),
    ...(field !== undefined && { field }),
    ...(entries !== undefined && { entries }),
    ...(retryAfter !== undefined && { retryAfter }),
    cause,
  });
}
