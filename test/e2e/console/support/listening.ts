/** Records a page's Firestore listeners from the page's requests. */
import type { Page, Request } from 'playwright-core';
import { z } from 'zod';
import { eventually } from '../../support/waiting.ts';

/** Source: https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#listenrequest */
const listenRequest = z.object({
  addTarget: z
    .object({ query: z.unknown(), documents: z.unknown(), targetId: z.number() })
    .partial({ query: true, documents: true })
    .optional(),
  removeTarget: z.number().optional(),
});
type ListenRequest = z.infer<typeof listenRequest>;

/** Maximum wait for the page. A page without a connection, or with a stopped clock, sends no further requests. */
const GOODBYE_MS = 5000;

export class Listening {
  /** Targets (queries) of all requests for a listener. If a target was requested twice, it appears twice. */
  readonly asked: string[] = [];
  /** Ids of the targets that the page listens to now. */
  private readonly open = new Set<number>();
  /** Requests that have no response yet. */
  private readonly underWay = new Set<Request>();
  private removed = 0;
  private readonly page: Page;

  constructor(page: Page) {
    this.page = page;
    page.on('request', (request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) this.open.clear();
      const asked = listenRequests(request);
      if (asked.length > 0) this.underWay.add(request);
      for (const { addTarget } of asked) {
        if (addTarget === undefined) continue;
        this.open.add(addTarget.targetId);
        this.asked.push(JSON.stringify([addTarget.query, addTarget.documents]));
      }
    });
    page.on('requestfailed', (request) => this.underWay.delete(request));
    // A response shows that Firestore has received the request.
    page.on('response', (response) => {
      this.underWay.delete(response.request());
      for (const { removeTarget } of listenRequests(response.request())) {
        if (removeTarget === undefined) continue;
        this.open.delete(removeTarget);
        this.removed += 1;
      }
    });
  }

  /**
   * Dispatches "pagehide", and waits until the page has no listener, or until all its requests have a response. The
   * page need not remove targets that Firestore refused.
   * @returns whether the page has removed all its listeners
   */
  async end(): Promise<boolean> {
    const before = this.removed;
    await this.page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide'))`).catch(() => undefined);
    let isQuiet = false;
    const isOver = async () => {
      const wasQuiet = isQuiet;
      isQuiet = this.removed > before && this.underWay.size === 0;
      return this.open.size === 0 || (wasQuiet && isQuiet) || undefined;
    };
    await eventually('the page has no listener', isOver, GOODBYE_MS).catch(() => undefined);
    return this.open.size === 0;
  }
}

function listenRequests(request: Request): readonly ListenRequest[] {
  if (!request.url().includes('/Listen/channel')) return [];
  return [...new URLSearchParams(request.postData() ?? '')]
    .filter(([name]) => /^req\d+___data__$/.test(name))
    .map(([, value]) => listenRequest.parse(JSON.parse(value)));
}
