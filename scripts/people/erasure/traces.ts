/** What names a person, and what stands in its place once the person is erased. */
import { DocumentReference, GeoPoint, Timestamp } from '@google-cloud/firestore';
import type { UserRecord } from 'firebase-admin/auth';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';

const PSEUDONYM = /^erased-[0-9a-f]{20}$/;

const PSEUDONYM_DIGITS = 20;

/** What people read where a name stood. */
export const ERASED_NAME = 'erased person';

/**
 * Stands for a person from now on. It is the same whenever they are erased, so that a backup from before can be
 * searched for them, and nobody learns the uid by it.
 */
export function pseudonymOf(uid: string): string {
  return `erased-${systemHashing.sha256(`erased person\n${uid}`).slice(0, PSEUDONYM_DIGITS)}`;
}

export function isPseudonym(text: string): boolean {
  return PSEUDONYM.test(text);
}

/** A uid that Firebase makes has 28 letters and stands nowhere by chance. */
const UNMISTAKABLE_LENGTH = 20;

type Field = string | number;

/** Finds what names one person, and replaces it. */
export class Traces {
  readonly uid: string;
  readonly pseudonym: string;
  private readonly patterns: readonly (readonly [RegExp, string])[];

  /** @param account as Firebase Auth has it, where there still is one */
  constructor(uid: string, account: UserRecord | undefined) {
    this.uid = uid;
    this.pseudonym = pseudonymOf(uid);
    const all = [account, ...(account?.providerData ?? [])];
    const said = (of: 'email' | 'displayName' | 'phoneNumber'): readonly string[] => [
      ...new Set(all.flatMap((one) => one?.[of]?.trim() || [])),
    ];
    // The uid last: a name or an address may be made of it.
    this.patterns = [
      ...said('email').map((mail) => [mailPattern(mail), `${this.pseudonym}@erased.invalid`] as const),
      ...said('displayName').map((name) => [namePattern(name), ERASED_NAME] as const),
      ...said('phoneNumber').map((number) => [new RegExp(literal(number), 'g'), ERASED_NAME] as const),
      [uidPattern(uid), this.pseudonym],
    ];
  }

  /** The very same text where it names nobody. */
  replaced(text: string): string {
    return this.patterns.reduce((rest, [pattern, other]) => rest.replace(pattern, other), text);
  }

  /** The same of a value with all that is in it, keys too. The very same value where nothing in it names the person. */
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

function same(
  entry: readonly [Field, unknown] | undefined,
  [name, field]: readonly [Field, unknown],
): boolean {
  return entry !== undefined && entry[0] === name && entry[1] === field;
}

function sameUnless(value: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  return other.every((item, index) => item === value[index]) ? value : other;
}

/** Of what Firestore gives, whatever has fields and is no value of a type of its own. */
function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Timestamp || value instanceof GeoPoint || value instanceof DocumentReference)
    return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** A short uid, such as `operator`, may be a word: it counts where it stands by itself, or as a part of a name. */
function uidPattern(uid: string): RegExp {
  const text = literal(uid);
  return new RegExp(uid.length < UNMISTAKABLE_LENGTH ? `(?<![^/:"|,])${text}(?![^/:"|,])` : text, 'g');
}

function mailPattern(mail: string): RegExp {
  return new RegExp(`(?<![\\w.+-])${literal(mail)}(?![\\w-])`, 'gi');
}

/** A name of one word may be a word: it counts where it stands by itself. */
function namePattern(name: string): RegExp {
  const text = literal(name);
  return /\s/.test(name)
    ? new RegExp(`(?<![\\p{L}\\p{N}])${text}(?![\\p{L}\\p{N}])`, 'giu')
    : new RegExp(`^${text}$`, 'iu');
}
