/** Fixture: rate limiters of several instances over one bucket, with a simulated clock and ledger. */

import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import type { KernelPorts } from '../../../functions/src/kernel/ports.ts';
import {
  type Bucket,
  type Draw,
  draw,
  type Lease,
  type RateLimit,
  RateLimiter,
} from '../../../functions/src/limits/rules/rateLimiter.ts';
import { portsOf } from '../../support/ports.ts';
import { personOf } from '../../support/principals.ts';

export const ANN: Principal = personOf('ann', 'worker');
export const BOB: Principal = { ...ANN, uid: 'bob', owner_uid: 'bob' };

/** Start time in milliseconds. */
const START = 1_000_000;

export class LimiterFixture {
  readonly instances: readonly RateLimiter[];
  readonly warnings: unknown[] = [];
  passed = 0;
  readonly refusals: MusterError[] = [];
  /** Number of pending calls. */
  waiting = 0;
  /** Pending requests to the ledger. */
  readonly asked: (() => void)[] = [];
  /** Number of requested leases, answered or not. */
  leases = 0;
  isAway = false;
  /** User whose leases fail while the ledger is available. */
  contended: string | undefined;
  /** Whether the ledger answers automatically. */
  isPrompt = true;
  bucket: Bucket | undefined;
  private elapsed = 0;

  constructor(limit: RateLimit, instances = 1) {
    const ledger: ConstructorParameters<typeof RateLimiter>[1] = {
      lease: (uid, ofLimit, wanted) => this.lease(uid, ofLimit, wanted),
    };
    const log = { info() {}, warn: (_event: string, fields: unknown) => this.warnings.push(fields), error() {} };
    const clock = { now: () => new Date(START + this.elapsed) };
    this.instances = Array.from(
      { length: instances },
      () => new RateLimiter(limit, ledger, portsOf<KernelPorts>({ clock, log })),
    );
  }

  get seconds(): number {
    return this.elapsed / 1000;
  }

  pass(milliseconds: number): void {
    this.elapsed += milliseconds;
  }

  /** Starts a call; `settle` lets it continue as far as possible. */
  call(instance = 0, principal = ANN): void {
    this.waiting += 1;
    const taken = this.instances[instance]?.take(principal) ?? Promise.reject(new Error('no such instance'));
    void taken
      .then(
        () => {
          this.passed += 1;
        },
        (error: unknown) => {
          if (!(error instanceof MusterError)) throw error;
          this.refusals.push(error);
        },
      )
      .finally(() => {
        this.waiting -= 1;
      });
  }

  /** Runs calls sequentially and returns how many passed. */
  async callTimes(count: number, instance = 0, principal = ANN): Promise<number> {
    const before = this.passed;
    for (let made = 0; made < count; made++) {
      this.call(instance, principal);
      await settle();
    }
    return this.passed - before;
  }

  /** Completes the oldest pending request to the ledger. */
  answer(): void {
    this.asked.shift()?.();
  }

  private async lease(uid: string, limit: RateLimit, wanted: Draw): Promise<Lease> {
    this.leases += 1;
    if (!this.isPrompt) await new Promise<void>((resolve) => this.asked.push(resolve));
    if (this.isAway) throw new Error('away');
    if (uid === this.contended) throw new Error('contended');
    const { bucket, ...lease } = draw(this.bucket, limit, wanted, START + this.elapsed);
    this.bucket = bucket;
    return lease;
  }
}

/** Runs all pending microtasks. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
