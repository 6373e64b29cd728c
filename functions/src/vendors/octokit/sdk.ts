/** GitHub's SDK with its plugins, as Muster uses it. */
import type { Octokit } from '@octokit/core';
import type { ThrottlingOptions } from '@octokit/plugin-throttling';
import type { Log } from '../../kernel/ports.ts';

/** How soon GitHub is asked, asked again, and given up. */
export interface Pace {
  /**
   * What requests of these kinds wait in. Left out, the SDK's own, which keep the pace that GitHub asks of programs: a
   * write a second, a search every two. Source: https://github.com/octokit/plugin-throttling.js
   */
  readonly queues?: Required<Pick<ThrottlingOptions, 'write' | 'search' | 'notifications'>>;
  /** The first wait before another try; the second is four times as long. */
  readonly retryBaseMilliseconds: number;
  /** For one request, its wait for a turn and its retries included, so that a tool's few fit into its call. */
  readonly timeoutMilliseconds: number;
}

/** Of a deployment. */
export const USUAL_PACE: Pace = { retryBaseMilliseconds: 500, timeoutMilliseconds: 20_000 };

/** A rate limit that ends within so many seconds is waited for, once. */
const WORTH_WAITING_SECONDS = 3;

/** How often what GitHub or the network breaks is tried again, where trying again does no harm. */
const RETRIES = 2;

/** What another try does not mend. Rate limits are the throttling plugin's. */
const FINAL_STATUSES = [400, 401, 403, 404, 409, 410, 422, 429, 451];

export async function octokitClass(
  baseUrl: string,
  log: Log,
  { queues, retryBaseMilliseconds }: Pace,
): Promise<typeof Octokit> {
  const [core, { retry }, { throttling }] = await Promise.all([
    import('@octokit/core'),
    import('@octokit/plugin-retry'),
    import('@octokit/plugin-throttling'),
  ]);
  const wait = (retryAfter: number, _options: unknown, _octokit: unknown, retryCount: number): boolean =>
    retryAfter <= WORTH_WAITING_SECONDS && retryCount === 0;
  const sdkLog = silentButFor(log);
  return core.Octokit.plugin(retry, throttling).defaults({
    baseUrl,
    userAgent: 'muster',
    log: sdkLog,
    request: { log: sdkLog },
    retry: { retries: RETRIES, retryAfterBaseValue: retryBaseMilliseconds, doNotRetry: FINAL_STATUSES },
    // Queues are per id: deployments in one process, as tests have them, must not wait for each other.
    throttle: { id: baseUrl, onRateLimit: wait, onSecondaryRateLimit: wait, ...queues },
  });
}

/** The SDK's own notes may quote what GitHub said: only that there was one is logged. */
function silentButFor(log: Log) {
  const note = (): void => log.info('github_sdk_note', {});
  const nothing = (): void => undefined;
  return { debug: nothing, info: nothing, warn: note, error: note };
}
