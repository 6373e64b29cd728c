/** Links to pages of the console, for emails and push messages. */

export type LinkedItem =
  | { readonly kind: 'todo'; readonly id: string }
  /** A request has no separate page. The start page lists all requests, and opens the one that the URL names. */
  | { readonly kind: 'request'; readonly id: string; readonly workspace: string | undefined }
  | { readonly kind: 'workspace'; readonly workspace: string };

export class ConsoleLinks {
  private readonly origin: string;

  /** @param origin from the deployment's configuration, never from a request or from stored data */
  constructor(origin: string) {
    this.origin = origin;
  }

  /** Returns the URL of an item's console page. The routes are in console/src/shell/Shell.tsx. */
  to(thing: LinkedItem): string {
    const url = new URL(thing.kind === 'todo' ? `/d/${encodeURIComponent(thing.id)}` : '/', this.origin);
    if (thing.kind === 'request') url.searchParams.set('request', thing.id);
    if (thing.kind !== 'todo' && thing.workspace !== undefined) url.searchParams.set('workspace', thing.workspace);
    return url.href;
  }
}
