/**
 * Credential cache of an instance. The cache reads the latest access changes every 5 seconds, and evicts only the
 * entries that they affect. Calls of unchanged callers therefore cost no read, and a revoked credential stops working
 * at every instance after 5 seconds. Source: docs/decisions/0010-limits-trust-and-presence.md.
 */
import { type AccessSubject, EVERYONE } from '../../identity/rules/credential.ts';
import type { AccessChangeQueries } from '../../identity/rules/ports.ts';
import type { Principal } from '../../identity/rules/principal.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { HOUR_MS, type KernelPorts, Service } from '../../kernel/ports.ts';

/** Time after which a revoked credential has stopped working at every instance, in milliseconds. */
export const CACHE_TTL_MS = 5000;

/**
 * Lifetime of a cached credential without access changes, in milliseconds. It is shorter than the time for which
 * access changes are kept, and limited so that changes made outside Muster take effect.
 */
export const MAX_TTL_MS = HOUR_MS;

/** Maximum number of cached credentials. Each takes about 1 kB. */
const MAX_CACHED = 20_000;

/** Maximum number of remembered changes. It exceeds the number of changes that two successive reads both return. */
const MAX_SEEN_CHANGES = 2000;

export interface CheckedCredential {
  readonly principal: Principal;
  /** Credentials, agents and people whose changes evict the entry. */
  readonly subjects: readonly AccessSubject[];
  /** Time at which the entry expires. If absent, it expires after CACHE_TTL_MS: not all changes are announced. */
  readonly endsAt?: Date;
}

interface CachedCredential extends CheckedCredential {
  readonly checkedAt: number;
  /** Whether the instance has read all access changes that were made before the end of the lookup. */
  readonly isFollowed: boolean;
}

export class CredentialCache extends Service<
  Pick<KernelPorts, 'clock'> & { readonly accessChanges: AccessChangeQueries }
> {
  private readonly entries = new BoundedMap<string, CachedCredential>(MAX_CACHED);
  private readonly seen = new BoundedMap<string, true>(MAX_SEEN_CHANGES);
  private position: Date | undefined;
  /** Time at which the last successful read of changes started, in milliseconds since 1970. */
  private polledAt = Number.NEGATIVE_INFINITY;
  private polling: Promise<void> | undefined;
  private changeReads = 0;

  /** Returns whether the cache contains the credential, which means that it was valid at its last lookup. */
  has(digest: string): boolean {
    return this.entries.has(digest);
  }

  async find(digest: string): Promise<Principal | undefined> {
    const known = this.entries.get(digest);
    if (known === undefined) return undefined;
    const now = this.now();
    if (now - known.checkedAt < CACHE_TTL_MS) return known.principal;
    const end = Math.min(known.endsAt?.getTime() ?? 0, known.checkedAt + MAX_TTL_MS);
    if (!known.isFollowed || now >= end) return undefined;
    if (now - this.polledAt >= CACHE_TTL_MS) await this.poll();
    const isFresh = this.now() - this.polledAt < CACHE_TTL_MS;
    return isFresh && this.entries.get(digest) === known ? known.principal : undefined;
  }

  /** Starts a lookup. Call this before the lookup of a credential that `put` will store. */
  begin() {
    if (this.position === undefined) void this.poll();
    return { at: this.now(), changeReads: this.changeReads };
  }

  put(digest: string, checked: CheckedCredential, start: ReturnType<CredentialCache['begin']>): void {
    const isFollowed = this.position !== undefined && this.changeReads === start.changeReads;
    this.entries.set(digest, { ...checked, checkedAt: start.at, isFollowed });
  }

  evict(digest: string): void {
    this.entries.delete(digest);
  }

  /** Reads new access changes; concurrent callers share the read. Never throws: if a read fails, no entry is used. */
  private poll(): Promise<void> {
    this.polling ??= this.read(this.now())
      .catch(() => undefined)
      .finally(() => {
        this.polling = undefined;
      });
    return this.polling;
  }

  private async read(startedAt: number): Promise<void> {
    const { changes, position } = await this.ports.accessChanges.since(this.position);
    this.position = position;
    this.polledAt = startedAt;
    const fresh = changes.filter(({ id }) => !this.seen.has(id));
    if (fresh.length === 0) return;
    this.changeReads += 1;
    const subjects = new Set<string>(fresh.map(({ subject }) => subject));
    for (const { id } of fresh) this.seen.set(id, true);
    const isConcerned = ({ subjects: own }: CachedCredential): boolean => own.some((one) => subjects.has(one));
    const isEverybody = subjects.has(EVERYONE);
    for (const [digest, trusted] of this.entries) if (isEverybody || isConcerned(trusted)) this.entries.delete(digest);
  }

  private now(): number {
    return this.ports.clock.now().getTime();
  }
}
