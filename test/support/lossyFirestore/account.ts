/** Replaces generated names and times in responses and writes, so that two executions can be compared. */
import protos from '@google-cloud/firestore-api/protos';
import type { Write } from './proxy.ts';

const v1 = protos.google.firestore.v1;

export interface CommitEffects {
  readonly answer: unknown;
  readonly written: readonly Write[];
}

export interface Circumstances {
  /** Name of the workspace or item of the execution, which is replaced wherever it appears. */
  readonly place: string;
  /** Start of the execution. Times are shown relative to it. If the start is omitted, times become `<time>`. */
  readonly now?: Date | undefined;
  /** Names of fields with random values. */
  readonly chance: ReadonlySet<string>;
}

export interface Account {
  readonly answer: string;
  /** One line per write, in alphabetical order. */
  readonly written: readonly string[];
}

/** Matches random names: ids, secrets and digests. */
const BY_CHANCE = new RegExp(
  [
    '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
    '(?<=task/)[a-z0-9]{8}(?=-)',
    '(?<=task-)[a-z0-9]{12,}',
    '(?<![0-9A-Za-z])[0-9]{6,13}(?=-[0-9]+(?![0-9-]))',
    '(?<=session-)[a-z2-7]{12}',
    '(?<=(?:run-|mk_|invitation-))[a-z2-7]{20}(?![0-9a-z])',
    '(?<=request-)[a-z0-9]{20}',
    '(?<=[a-z]-)[0-9a-f]{8}(?![A-Za-z0-9-])',
    '[0-9a-f]{40,}',
    '(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])',
    '(?<![A-Za-z0-9_-])[A-Za-z0-9]{20}(?![A-Za-z0-9_-])',
  ].join('|'),
  'g',
);

/** Prefix of Firestore paths. It is removed, because executions may use different projects. */
const PROJECT = /^projects\/[^/]+\/databases\//;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Matches shards of a counter. They are treated as one document, because the shard is chosen at random. */
const SHARD = /\/(counters|gates|agentCounts|agentMeasures)\/([a-z]*-?)\d+$/;

/** A time that differs from `now` by more than this comes from the server, not from the simulated clock. */
const FAR_MS = 5 * 365 * 86_400_000;

export function accountOf({ answer, written }: CommitEffects, circumstances: Circumstances): Account {
  const telling = new NormalizedState(circumstances);
  const reported = JSON.stringify(telling.tell(answer, true));
  return {
    answer: reported,
    written: effective(written)
      .map((write) => telling.write(write))
      .sort(),
  };
}

/** Removes repeated equal writes, which change nothing. Keeps repeated increments, because each of them counts. */
function effective(writes: readonly Write[]): readonly Write[] {
  const seen = new Set<string>();
  return writes.filter((write) => {
    if (write.transform || (write.updateTransforms?.length ?? 0) > 0) return true;
    const text = JSON.stringify(plain(write));
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}

function plain(write: Write): Record<string, unknown> {
  return v1.Write.toObject(v1.Write.fromObject(write), { longs: Number, bytes: String });
}

class NormalizedState {
  private readonly circumstances: Circumstances;
  /** Labels of the random names in the response. In writes, all other random names become `<other>`. */
  private readonly named = new Map<string, string>();

  constructor(circumstances: Circumstances) {
    this.circumstances = circumstances;
  }

  write(write: Write): string {
    const { currentDocument: _, ...rest } = plain(write);
    return JSON.stringify(this.tell(rest, false));
  }

  tell(value: unknown, naming: boolean): unknown {
    if (typeof value === 'string') {
      const stored = storedJson(value);
      return stored === undefined ? this.text(value, naming) : this.tell(stored, naming);
    }
    if (Array.isArray(value)) return value.map((each) => this.tell(each, naming));
    if (typeof value !== 'object' || value === null) return value;
    if ('timestampValue' in value) return this.stamp(value.timestampValue);
    const isByChance = 'fieldPath' in value && this.circumstances.chance.has(lastOf(value.fieldPath));
    const entries = Object.entries(value).map(([name, each]) => {
      const isOmitted = this.circumstances.chance.has(name) || (isByChance && name !== 'fieldPath');
      return [this.text(name, naming), isOmitted ? '<chance>' : this.tell(each, naming)];
    });
    return entries
      .map((entry) => [JSON.stringify(entry), entry] as const)
      .sort(byText)
      .map(([, entry]) => entry);
  }

  private text(text: string, naming: boolean): string {
    return text
      .replaceAll(this.circumstances.place, '<place>')
      .replace(PROJECT, '')
      .replace(SHARD, '/$1/$2<shard>')
      .replace(TIME, (time) => this.time(new Date(time)))
      .replace(BY_CHANCE, (name) => this.name(name, naming));
  }

  private name(name: string, naming: boolean): string {
    const known = this.named.get(name);
    if (known !== undefined || !naming) return known ?? '<other>';
    const label = `<${this.named.size + 1}>`;
    this.named.set(name, label);
    return label;
  }

  private stamp(stamp: unknown): string {
    const { seconds = 0, nanos = 0 } = Object(stamp);
    return this.time(new Date(Number(seconds) * 1000 + Number(nanos) / 1e6));
  }

  private time(time: Date): string {
    const { now } = this.circumstances;
    if (now === undefined) return '<time>';
    const distance = time.getTime() - now.getTime();
    return Math.abs(distance) < FAR_MS ? `<now${distance < 0 ? '' : '+'}${distance}ms>` : '<time>';
  }
}

/** Parses a stored response, which is JSON text. Returns undefined for any other text. */
function storedJson(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function lastOf(fieldPath: unknown): string {
  return String(fieldPath).split('.').at(-1) ?? '';
}

function byText([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : Number(one > other);
}

/** Maximum length of a shown difference, in characters. */
const SHOWN = 300;

/** Number of characters shown before the first difference. */
const SHOWN_BEFORE = 60;

export function differences(expected: Account, found: Account): readonly string[] {
  const missing = without(expected.written, found.written);
  const surplus = without(found.written, expected.written);
  return [
    ...(found.answer === expected.answer ? [] : [`returned ${short(found.answer)}`, `not ${short(expected.answer)}`]),
    ...missing.map((write, index) => `did not write ${differing(write, surplus[index])}`),
    ...surplus.map((write, index) => `also wrote ${differing(write, missing[index])}`),
  ];
}

/** Returns the part of the text around its first difference from the other text. */
function differing(text: string, other = ''): string {
  const at = [...text].findIndex((character, index) => character !== other[index]);
  return at <= SHOWN_BEFORE ? short(text) : `…${short(text.slice(at - SHOWN_BEFORE))}`;
}

/** Returns the elements of the first list that the second list lacks. Duplicates count. */
function without(all: readonly string[], some: readonly string[]): readonly string[] {
  const left = [...some];
  return all.filter((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

export function short(what: unknown): string {
  const text = typeof what === 'string' ? what : JSON.stringify(what);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
