/** Secrets in environment variables. */
import { hasOnlyWords, looksLikePath } from './words.ts';

/** Minimum length. Shorter values are words, ports and flags, which occur in ordinary text. */
export const MIN_SECRET_LENGTH = 8;

/** Minimum length of one line of a multi-line value; ordinary text has many shorter lines. */
const MIN_LINE_LENGTH = 16;

/** Longer texts of words are passphrases, which ordinary text does not contain. */
const MAX_ORDINARY_WORDS_LENGTH = 15;

/** Words in names of secrets. */
const SECRET_WORD =
  /^(?:(?:API|ACCESS|AUTH|SECRET|PRIVATE|SIGNING|ENCRYPTION)?(?:KEY|TOKEN|SECRET)S?|(?:\w*PASS(?:WORD|WD|PHRASE|CODE)|CREDENTIAL|COOKIE|DSN)S?|CREDS|PASS|SSHPASS|BEARER|JWT|PAT|CONNSTR)$/;

/** Words in names of secrets, except at the start: PWD is the current folder. */
const SECRET_LATER = /^PWD$/;

/** Last words in names of secrets: AUTH_PROVIDER is not one. */
const SECRET_LAST = /^AUTH$/;

/** Last words of names whose value describes the secret or its location. */
const FACT_LAST =
  /^(?:FILE|PATH|DIR|DIRECTORY|FOLDER|NAME|HEADER|ISSUER|AUDIENCE|TYPE|KIND|PROVIDER|REGION|TTL|EXPIRY|EXPIRES|LENGTH|SOCK|SOCKET|ENABLED|DISABLED|ALGORITHM|ALG|PREFIX|COUNT|LIMIT|BUDGET)$/;

const ADDRESS_HOST = String.raw`\.?(?:localhost|(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?\/?`;
const HOST = new RegExp(`^${ADDRESS_HOST}$`);
const EMAIL = new RegExp(`^[A-Za-z0-9._%+-]{1,64}@${ADDRESS_HOST}$`);
const NUMBER = /^[\d.,:+\-_ TZ/]+$/;
const CONNECTION_PASSWORD = /(?:password|passwd|pwd|accountkey|sharedaccesskey|secret)\s{0,4}=\s{0,4}([^;\s]+)/gi;
const URL_PARTS = /^[a-z][a-z0-9+.-]*:\/\/(?:([^\s/?#@:]*)(?::([^\s/?#]*))?@)?/i;

/**
 * Returns the environment's secret values.
 * @param exists whether a path exists on this machine
 */
export function secretsOf(env: NodeJS.ProcessEnv, exists: (path: string) => boolean): readonly string[] {
  return Object.entries(env).flatMap(([name, value = '']) => secretsIn(name, value.trim(), exists));
}

/** Returns whether a variable's name suggests a secret. */
export function meansSecret(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .map((word) => word.replace(/(?<=[A-Z])\d+$/, ''))
    .filter(Boolean);
  const last = words.at(-1) ?? '';
  if (FACT_LAST.test(last)) return false;
  return (
    words.some((word) => SECRET_WORD.test(word)) ||
    words.slice(1).some((word) => SECRET_LATER.test(word)) ||
    SECRET_LAST.test(last) ||
    words.join('_').includes('CONNECTION_STRING')
  );
}

function secretsIn(name: string, value: string, exists: (path: string) => boolean): readonly string[] {
  const url = URL_PARTS.exec(value);
  if (url !== null) return credentialsIn(url, meansSecret(name));
  if (!meansSecret(name)) return [];
  const fields = value.startsWith('{') ? parsed(value) : undefined;
  if (fields !== undefined) return [value, ...secretFields(fields, exists)];
  if (/[\r\n]/.test(value)) return [value, ...secretLines(value)];
  if (isOrdinary(value) || looksLikePath(value) || exists(value)) return [];
  return [value, ...[...value.matchAll(CONNECTION_PASSWORD)].flatMap(([, one = '']) => withoutOrdinary([one]))];
}

/** In a URL, the credential precedes the host. */
function credentialsIn([, user = '', password = '']: RegExpExecArray, named: boolean): readonly string[] {
  const credential = password === '' && named ? user : password;
  return withoutOrdinary([credential, decoded(credential)]);
}

/** Texts in a JSON value whose names suggest a secret. */
function secretFields(fields: object, exists: (path: string) => boolean): readonly string[] {
  return Object.entries(fields).flatMap(([name, one]: [string, unknown]) => {
    if (typeof one === 'string') return secretsIn(name, one, exists);
    return typeof one === 'object' && one !== null ? secretFields(one, exists) : [];
  });
}

/** Lines of a key: a log can contain one without the others. */
function secretLines(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return withoutOrdinary(lines.filter((line) => line.length >= MIN_LINE_LENGTH && !/[ :]/.test(line)));
}

function withoutOrdinary(values: readonly string[]): readonly string[] {
  return values.filter((value) => !isOrdinary(value));
}

/** Returns whether ordinary text often contains this value. */
function isOrdinary(value: string): boolean {
  if (value.length < MIN_SECRET_LENGTH || NUMBER.test(value)) return true;
  if (HOST.test(value) || EMAIL.test(value)) return true;
  return value.length <= MAX_ORDINARY_WORDS_LENGTH && hasOnlyWords(value);
}

function parsed(value: string): object | undefined {
  try {
    const json: unknown = JSON.parse(value);
    return typeof json === 'object' && json !== null ? json : undefined;
  } catch {
    return undefined;
  }
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
