/** Rate limiters of several instances that share one bucket, with a simulated clock and a simulated ledger. */
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

/** Time at which the simulated clock starts, in milliseconds. */
const START = 1_000_000;

export class LimiterFixture {
  readonly instances: readonly RateLimiter[];
  readonly warnings: unknown[] = [];
  passed = 0;
  readonly refusals: MusterError[] = [];
  /** Number of calls that wait for the limiter. */
  waiting = 0;
  /** Requests to the ledger that it has not answered. */
  readonly asked: (() => void)[] = [];
  /** Number of leases that were requested from the ledger so far. */
  leases = 0;
  isAway = false;
  /** Caller whose lease requests fail although the ledger is available. */
  contended: string | undefined;
  /** If true, the ledger answers immediately; otherwise `answer` must be called. */
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

  /** Starts a call without waiting for its end; `settle` lets the call continue. */
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

  /** Runs calls one at a time, and returns how many of them the limiter allowed. */
  async callTimes(count: number, instance = 0, principal = ANN): Promise<number> {
    const before = this.passed;
    for (let made = 0; made < count; made++) {
      this.call(instance, principal);
      await settle();
    }
    return this.passed - before;
  }

  /** Lets the ledger answer its oldest request. */
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

/** Waits until all pending microtasks have run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
