/** Finds secrets in environment variables. */
import { hasOnlyWords, looksLikePath } from './words.ts';

/** Minimum length of a secret. Shorter values are words, ports and flags, which occur in ordinary text. */
export const MIN_SECRET_LENGTH = 8;

/** Minimum length of a secret line in a value with several lines. Shorter lines often occur in ordinary text. */
const MIN_LINE_LENGTH = 16;

/** Maximum length of words that are not a secret. Longer values that consist of words are passphrases. */
const MAX_ORDINARY_WORDS_LENGTH = 15;

/** Words that mark a variable as a secret anywhere in its name. */
const SECRET_WORD =
  /^(?:(?:API|ACCESS|AUTH|SECRET|PRIVATE|SIGNING|ENCRYPTION)?(?:KEY|TOKEN|SECRET)S?|(?:\w*PASS(?:WORD|WD|PHRASE|CODE)|CREDENTIAL|COOKIE|DSN)S?|CREDS|PASS|SSHPASS|BEARER|JWT|PAT|CONNSTR)$/;

/** Words that mark a variable as a secret except at the start of its name: PWD alone is the current folder. */
const SECRET_LATER = /^PWD$/;

/** Words that mark a variable as a secret only at the end of its name: AUTH_PROVIDER is not a secret. */
const SECRET_LAST = /^AUTH$/;

/** Last words of a name which show that the value only describes a secret or its location. */
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
 * @param exists returns whether a path exists on this machine; an existing path is not a secret
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

/** Returns the credentials in a URL, which precede the host. */
function credentialsIn([, user = '', password = '']: RegExpExecArray, named: boolean): readonly string[] {
  const credential = password === '' && named ? user : password;
  return withoutOrdinary([credential, decoded(credential)]);
}

/** Returns the texts in a JSON value whose keys suggest a secret. */
function secretFields(fields: object, exists: (path: string) => boolean): readonly string[] {
  return Object.entries(fields).flatMap(([name, one]: [string, unknown]) => {
    if (typeof one === 'string') return secretsIn(name, one, exists);
    return typeof one === 'object' && one !== null ? secretFields(one, exists) : [];
  });
}

/** Returns the lines of a multi-line key, because a log can contain one line without the others. */
function secretLines(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return withoutOrdinary(lines.filter((line) => line.length >= MIN_LINE_LENGTH && !/[ :]/.test(line)));
}

function withoutOrdinary(values: readonly string[]): readonly string[] {
  return values.filter((value) => !isOrdinary(value));
}

/** Returns whether a value is likely to occur in ordinary text. */
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
