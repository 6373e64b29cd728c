/**
 * The credentials that an instance has looked up and goes on trusting. It asks every 5 seconds, once for all of them, what
 * has changed, and looks up anew only those who are concerned: a caller that nobody has changed anything of costs nothing,
 * and a credential that was withdrawn opens nothing anywhere after 5 seconds. Source: docs/decisions/0010-limits-trust-and-presence.md.
 */
import { type AccessSubject, EVERYBODY } from '../../identity/rules/credential.ts';
import type { AccessChangeQueries } from '../../identity/rules/ports.ts';
import type { Principal } from '../../identity/rules/principal.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type KernelPorts, Service } from '../../kernel/ports.ts';

/** How old what an instance knows of a credential may be: a revoked one stops working everywhere within this time. */
export const TRUSTED_MILLISECONDS = 5000;

/**
 * How long an instance trusts what it has looked up once, as long as it hears of no change. Short of the time for which
 * changes are kept, and so that what somebody has changed past Muster is seen.
 */
export const LASTING_MILLISECONDS = 60 * 60_000;

/** One takes about a kilobyte. */
const MAX_TRUSTED = 20_000;

/** More than there are in the time that two readings of changes overlap. */
const MAX_SEEN = 2000;

/** What was found out about a credential. */
export interface Checked {
  readonly principal: Principal;
  /** Whose changes concern it. */
  readonly subjects: readonly AccessSubject[];
  /** When it ends by itself; absent where what it rests on may change without Muster hearing of it. */
  readonly endsAt?: Date;
}

interface Trusted extends Checked {
  readonly checkedAt: number;
  /** Whether every change since it was looked up is heard of. */
  readonly isFollowed: boolean;
}

/** The state of things as a check begins. */
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
  /** When the last reading of changes began that has ended well. */
  private askedAt = Number.NEGATIVE_INFINITY;
  private asking: Promise<void> | undefined;
  /** How many readings have brought changes. */
  private heard = 0;

  /** Whether the credential was good when it was last looked up. */
  knows(digest: string): boolean {
    return this.entries.has(digest);
  }

  /** Who has the credential, where that need not be looked up. */
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

  /** To be called before a credential is looked up that is to be kept. */
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

  /** One reading at a time. Never fails: without an answer everybody is looked up anew. */
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
