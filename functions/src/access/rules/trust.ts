/**
 * Credential cache of an instance. Every 5 seconds it reads the access changes once, and evicts only affected
 * entries: unchanged callers cost no read, and a revoked credential stops working everywhere after 5 seconds. Source:
 * docs/decisions/0010-limits-trust-and-presence.md.
 */
import { type AccessSubject, EVERYBODY } from '../../identity/rules/credential.ts';
import type { AccessChangeQueries } from '../../identity/rules/ports.ts';
import type { Principal } from '../../identity/rules/principal.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type KernelPorts, Service } from '../../kernel/ports.ts';

/** Maximum staleness of a cached credential: a revoked one stops working everywhere within this time. */
export const TRUSTED_MILLISECONDS = 5000;

/**
 * TTL of a cached credential without access changes. Shorter than the retention of access changes, and finite so that
 * changes made outside Muster take effect.
 */
export const LASTING_MILLISECONDS = 60 * 60_000;

/** Cache size. An entry takes about 1 kB. */
const MAX_TRUSTED = 20_000;

/** Exceeds the number of changes in the overlap of two reads. */
const MAX_SEEN = 2000;

/** Result of a credential lookup. */
export interface Checked {
  readonly principal: Principal;
  /** Subjects whose changes evict the entry. */
  readonly subjects: readonly AccessSubject[];
  /** Expiry; absent if the result can change without an access change. */
  readonly endsAt?: Date;
}

interface Trusted extends Checked {
  readonly checkedAt: number;
  /** Whether every access change since the lookup is read. */
  readonly isFollowed: boolean;
}

/** State at the start of a lookup. */
export interface Begun {
  readonly at: number;
  readonly heard: number;
}

export class TrustedCredentials extends Service<
  Pick<KernelPorts, 'clock'> & { readonly accessChanges: AccessChangeQueries }
> {
  private readonly entries = new BoundedMap<string, Trusted>(MAX_TRUSTED);
  private readonly seen = new BoundedMap<string, true>(MAX_SEEN);
  private position: Date | undefined;
  /** Start of the last successful read of changes. */
  private askedAt = Number.NEGATIVE_INFINITY;
  private asking: Promise<void> | undefined;
  /** Number of reads that returned changes. */
  private heard = 0;

  /** Returns whether the credential was valid at its last lookup. */
  knows(digest: string): boolean {
    return this.entries.has(digest);
  }

  /** Returns the cached principal of a credential; undefined if a lookup is needed. */
  async find(digest: string): Promise<Principal | undefined> {
    const known = this.entries.get(digest);
    if (known === undefined) return undefined;
    const now = this.now();
    if (now - known.checkedAt < TRUSTED_MILLISECONDS) return known.principal;
    const end = Math.min(known.endsAt?.getTime() ?? 0, known.checkedAt + LASTING_MILLISECONDS);
    if (!known.isFollowed || now >= end) return undefined;
    if (now - this.askedAt >= TRUSTED_MILLISECONDS) await this.ask();
    const isFresh = this.now() - this.askedAt < TRUSTED_MILLISECONDS;
    return isFresh && this.entries.get(digest) === known ? known.principal : undefined;
  }

  /** Must be called before the lookup of a credential that will be cached. */
  begin(): Begun {
    if (this.position === undefined) void this.ask();
    return { at: this.now(), heard: this.heard };
  }

  keep(digest: string, checked: Checked, begun: Begun): void {
    const isFollowed = this.position !== undefined && this.heard === begun.heard;
    this.entries.set(digest, { ...checked, checkedAt: begun.at, isFollowed });
  }

  forget(digest: string): void {
    this.entries.delete(digest);
  }

  /** Reads access changes, once for concurrent callers. Never fails: without a read, entries are looked up again. */
  private ask(): Promise<void> {
    this.asking ??= this.read(this.now())
      .catch(() => undefined)
      .finally(() => {
        this.asking = undefined;
      });
    return this.asking;
  }

  private async read(began: number): Promise<void> {
    const { changes, position } = await this.ports.accessChanges.since(this.position);
    this.position = position;
    this.askedAt = began;
    const fresh = changes.filter(({ id }) => !this.seen.has(id));
    if (fresh.length === 0) return;
    this.heard += 1;
    const subjects = new Set<string>(fresh.map(({ subject }) => subject));
    for (const { id } of fresh) this.seen.set(id, true);
    const isConcerned = ({ subjects: own }: Trusted): boolean => own.some((one) => subjects.has(one));
    const isEverybody = subjects.has(EVERYBODY);
    for (const [digest, trusted] of this.entries)
      if (isEverybody || isConcerned(trusted)) this.entries.delete(digest);
  }

  private now(): number {
    return this.ports.clock.now().getTime();
  }
}
