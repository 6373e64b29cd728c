/** Texts that name a person, and their replacement after erasure. */
import { DocumentReference, GeoPoint, Timestamp } from '@google-cloud/firestore';
import type { UserRecord } from 'firebase-admin/auth';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';

const PSEUDONYM = /^erased-[0-9a-f]{20}$/;

const PSEUDONYM_DIGITS = 20;

/** Name that people see instead of an erased one. */
export const ERASED_NAME = 'erased person';

/**
 * Returns a person's pseudonym. It is the same for every erasure, so that older backups can be searched, and it does
 * not reveal the uid.
 */
export function pseudonymOf(uid: string): string {
  return `erased-${systemHashing.sha256(`erased person\n${uid}`).slice(0, PSEUDONYM_DIGITS)}`;
}

export function isPseudonym(text: string): boolean {
  return PSEUDONYM.test(text);
}

/** Firebase's uids have 28 characters and do not occur in text by chance. */
const UNMISTAKABLE_LENGTH = 20;

type Field = string | number;

/** Finds and replaces texts that name one person. */
export class Traces {
  readonly uid: string;
  readonly pseudonym: string;
  private readonly patterns: readonly (readonly [RegExp, string])[];

  /** @param account in Firebase Auth, if it still exists */
  constructor(uid: string, account: UserRecord | undefined) {
    this.uid = uid;
    this.pseudonym = pseudonymOf(uid);
    const all = [account, ...(account?.providerData ?? [])];
    const said = (of: 'email' | 'displayName' | 'phoneNumber'): readonly string[] => [
      ...new Set(all.flatMap((one) => one?.[of]?.trim() || [])),
    ];
    // Replace the uid last: a name or address can contain it.
    this.patterns = [
      ...said('email').map((mail) => [mailPattern(mail), `${this.pseudonym}@erased.invalid`] as const),
      ...said('displayName').map((name) => [namePattern(name), ERASED_NAME] as const),
      ...said('phoneNumber').map((number) => [new RegExp(literal(number), 'g'), ERASED_NAME] as const),
      [uidPattern(uid), this.pseudonym],
    ];
  }

  /** Returns the text itself if it does not name the person. */
  replaced(text: string): string {
    return this.patterns.reduce((rest, [pattern, other]) => rest.replace(pattern, other), text);
  }

  /** Like `replaced`, for a value with all nested keys and values. Returns the value itself if nothing changes. */
  in(value: unknown): unknown {
    if (typeof value === 'string') return this.replaced(value);
    if (Array.isArray(value))
      return sameUnless(
        value,
        value.map((item) => this.in(item)),
      );
    if (!isMap(value)) return value;
    const entries = Object.entries(value);
    const others = entries.map(([name, field]) => [this.replaced(name), this.in(field)] as const);
    const isSame = others.every(([name, field], index) => same(entries[index], [name, field]));
    return isSame ? value : Object.fromEntries(others);
  }
}

function same(entry: readonly [Field, unknown] | undefined, [name, field]: readonly [Field, unknown]): boolean {
  return entry !== undefined && entry[0] === name && entry[1] === field;
}

function sameUnless(value: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  return other.every((item, index) => item === value[index]) ? value : other;
}

/** Returns whether a Firestore value is a map instead of an instance of a special type. */
function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Timestamp || value instanceof GeoPoint || value instanceof DocumentReference) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** A short uid, such as `operator`, can be a word, so it matches only as a separate word or part of a name. */
function uidPattern(uid: string): RegExp {
  const text = literal(uid);
  return new RegExp(uid.length < UNMISTAKABLE_LENGTH ? `(?<![^/:"|,])${text}(?![^/:"|,])` : text, 'g');
}

function mailPattern(mail: string): RegExp {
  return new RegExp(`(?<![\\w.+-])${literal(mail)}(?![\\w-])`, 'gi');
}

/** A name of one word can be an ordinary word, so it matches only as a separate word. */
function namePattern(name: string): RegExp {
  const text = literal(name);
  return /\s/.test(name)
    ? new RegExp(`(?<![\\p{L}\\p{N}])${text}(?![\\p{L}\\p{N}])`, 'giu')
    : new RegExp(`^${text}$`, 'iu');
}
