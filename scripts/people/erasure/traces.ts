/** Finds texts that name a person, and replaces the name, address and uid with a pseudonym. */
import { DocumentReference, GeoPoint, Timestamp } from '@google-cloud/firestore';
import type { UserRecord } from 'firebase-admin/auth';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';

const PSEUDONYM = /^erased-[0-9a-f]{20}$/;
const PSEUDONYM_DIGITS = 20;
export const ERASED_NAME = 'erased person';

/**
 * Returns a person's pseudonym, which does not reveal the uid. It is the same in every erasure, so that the person
 * can be found again after a backup has been restored.
 */
export function pseudonymOf(uid: string): string {
  return `erased-${systemHashing.sha256(`erased person\n${uid}`).slice(0, PSEUDONYM_DIGITS)}`;
}

export function isPseudonym(text: string): boolean {
  return PSEUDONYM.test(text);
}

/** Minimum length of a uid that cannot occur in a text by chance. The uids of Firebase have 28 characters. */
const UNMISTAKABLE_LENGTH = 20;

type Field = string | number;

export class Traces {
  readonly uid: string;
  readonly pseudonym: string;
  private readonly patterns: readonly (readonly [RegExp, string])[];

  /** @param account account in Firebase Auth, if it still exists */
  constructor(uid: string, account: UserRecord | undefined) {
    this.uid = uid;
    this.pseudonym = pseudonymOf(uid);
    const all = [account, ...(account?.providerData ?? [])];
    const valuesOf = (of: 'email' | 'displayName' | 'phoneNumber'): readonly string[] => [
      ...new Set(all.flatMap((one) => one?.[of]?.trim() || [])),
    ];
    // The uid is replaced last, because a name or address can contain it.
    this.patterns = [
      ...valuesOf('email').map((mail) => [mailPattern(mail), `${this.pseudonym}@erased.invalid`] as const),
      ...valuesOf('displayName').map((name) => [namePattern(name), ERASED_NAME] as const),
      ...valuesOf('phoneNumber').map((number) => [new RegExp(literal(number), 'g'), ERASED_NAME] as const),
      [uidPattern(uid), this.pseudonym],
    ];
  }

  /** Returns the text with the pseudonym, or the unchanged text if it does not name the person. */
  replaced(text: string): string {
    return this.patterns.reduce((rest, [pattern, other]) => rest.replace(pattern, other), text);
  }

  /** Like `replaced`, for all keys and texts in a value. Returns the same object if nothing changes. */
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

/** Returns whether a Firestore value is a map, and not an instance of a type such as Timestamp. */
function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Timestamp || value instanceof GeoPoint || value instanceof DocumentReference) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** Returns a pattern for the uid. A short uid can be a word, such as `operator`, so it must be between separators. */
function uidPattern(uid: string): RegExp {
  const text = literal(uid);
  return new RegExp(uid.length < UNMISTAKABLE_LENGTH ? `(?<![^/:"|,])${text}(?![^/:"|,])` : text, 'g');
}

function mailPattern(mail: string): RegExp {
  return new RegExp(`(?<![\\w.+-])${literal(mail)}(?![\\w-])`, 'gi');
}

/** Returns a pattern for the name. A name of one word can be an ordinary word, so it must be the whole text. */
function namePattern(name: string): RegExp {
  const text = literal(name);
  return /\s/.test(name)
    ? new RegExp(`(?<![\\p{L}\\p{N}])${text}(?![\\p{L}\\p{N}])`, 'giu')
    : new RegExp(`^${text}$`, 'iu');
}
