/** What a page has Firestore tell it of, as its requests say. */
import type { Page, Request } from 'playwright-core';
import { z } from 'zod';

/** Source: https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#listenrequest */
const listenRequest = z.object({
  addTarget: z
    .object({ query: z.unknown(), documents: z.unknown(), targetId: z.number() })
    .partial({ query: true, documents: true })
    .optional(),
  removeTarget: z.number().optional(),
});

type ListenRequest = z.infer<typeof listenRequest>;

export class Listening {
  /** All that the page has asked to be told of, each time that it asked. */
  readonly asked: string[] = [];
  /** What the page is told of now, by the numbers that it gave. */
  private readonly open = new Set<number>();

  constructor(page: Page) {
    page.on('request', (request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) this.open.clear();
      for (const { addTarget } of listenRequests(request)) {
        if (addTarget === undefined) continue;
        this.open.add(addTarget.targetId);
        this.asked.push(JSON.stringify([addTarget.query, addTarget.documents]));
      }
    });
    // What was asked is known to have arrived when it is answered.
    page.on('response', (response) => {
      for (const { removeTarget } of listenRequests(response.request()))
        if (removeTarget !== undefined) this.open.delete(removeTarget);
    });
  }

  get isOver(): boolean {
    return this.open.size === 0;
  }
}

function listenRequests(request: Request): readonly ListenRequest[] {
  if (!request.url().includes('/Listen/channel')) return [];
  return [...new URLSearchParams(request.postData() ?? '')]
    .filter(([name]) => /^req\d+___data__$/.test(name))
    .map(([, value]) => listenRequest.parse(JSON.parse(value)));
}
