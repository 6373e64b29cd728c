/** What a page has Firestore tell it of, as its requests say. */
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

/** A page that cannot be reached, or whose clock stands still, says no more. */
const GOODBYE_MILLISECONDS = 5000;

export class Listening {
  /** All that the page has asked to be told of, each time that it asked. */
  readonly asked: string[] = [];
  /** What the page is told of now, by the numbers that it gave. */
  private readonly open = new Set<number>();
  /** What it has asked, and has not been answered yet. */
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
    // What was asked is known to have arrived when it is answered.
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
   * Tells the page that it is left, and waits until it listens to nothing. What was refused stays open here, since the page
   * need not say that it listens to that no more: then it is over when nothing more is under way.
   * @returns whether the page has said of everything that it listens to it no more
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
    await eventually('the page listens to nothing', isOver, GOODBYE_MILLISECONDS).catch(() => undefined);
    return this.open.size === 0;
  }
}

function listenRequests(request: Request): readonly ListenRequest[] {
  if (!request.url().includes('/Listen/channel')) return [];
  return [...new URLSearchParams(request.postData() ?? '')]
    .filter(([name]) => /^req\d+___data__$/.test(name))
    .map(([, value]) => listenRequest.parse(JSON.parse(value)));
}
