/** Takes secrets out of what leaves the machine. */

export const REDACTED = '[redacted]';

/** Shorter values are words, ports and flags, which would be blotted out everywhere. */
const LEAST_SECRET_LENGTH = 8;

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE|PRIVATE|DSN|CONNECTION_STRING/i;

/** Variables with such a name whose value is where something is, not the thing. */
const LOCATION = /^(?:\/|\.{0,2}\/|~)|^(?:true|false)$/i;

/** Secrets that are known by their form, whoever has them. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    `-----BEGIN PRIVATE KEY----- ${REDACTED}`,
  ],
  [/\bsk-[A-Za-z0-9_-]{16,}/g, REDACTED],
  [/\bAIza[0-9A-Za-z_-]{30,}/g, REDACTED],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g, REDACTED],
  [/\bglpat-[A-Za-z0-9_-]{16,}/g, REDACTED],
  [/\bnpm_[A-Za-z0-9]{30,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, REDACTED],
  [/\bxox[abeprs]-[A-Za-z0-9-]{10,}/g, REDACTED],
  [/\bya29\.[A-Za-z0-9_-]{20,}/g, REDACTED],
  [/\bmk_[A-Za-z0-9]{16,}(?:\.[A-Za-z0-9_-]+)?/g, REDACTED],
  [/\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g, REDACTED],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/-]{12,}=*/gi, `$1 ${REDACTED}`],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${REDACTED}@`],
];

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface Redactor {
  text(text: string): string;
  /** The same for every text in it, keys included. */
  json(value: Json): Json;
}

/**
 * @param secrets what is secret whatever it looks like
 * @param env an environment, of which the variables count whose names speak of secrets
 */
export function createRedactor(secrets: readonly string[], env: NodeJS.ProcessEnv): Redactor {
  const named = Object.entries(env).flatMap(([name, value = '']) =>
    SECRET_NAME.test(name) && !LOCATION.test(value) ? [value.trim()] : [],
  );
  const known = [...new Set([...secrets, ...secrets.flatMap((one) => one.split('.')), ...named])]
    .filter((value) => value.length >= LEAST_SECRET_LENGTH)
    .sort((one, other) => other.length - one.length);
  const text = (value: string): string => {
    const without = known.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), value);
    return FORMS.reduce((rest, [form, instead]) => rest.replace(form, instead), without);
  };
  const json = (value: Json): Json => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [text(key), json(one)]));
  };
  return { text, json };
}

/**
 * A private key printed line by line is recognisable by its first line alone: of such a block only that line
 * is kept, with a note.
 */
export function redactKeyBlocks(): (line: string) => string | undefined {
  let inside = false;
  return (line) => {
    const ends = /-----END [A-Z ]*PRIVATE KEY-----/.test(line);
    if (inside) {
      inside = !ends;
      return undefined;
    }
    inside = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(line) && !ends;
    return line;
  };
}
